"""Secrets near their name: in code behind a type, a constructor or a call, in a form field of a test, on the next line
of YAML, in an HTTP header, in a sentence of prose. Called by `named_secrets` at a name or at a word for a password.

Sentences are read in English, German, French, Spanish, Chinese, Japanese and a few more languages."""

import re

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.positional_secrets import MARK
from claude_mem_lite.safety.secret_values import (
    FoundSecret,
    has_digit_and_letter,
    is_made_up,
    is_password_name,
    is_placeholder,
    is_user_and_password,
    looks_real,
)
from claude_mem_lite.safety.unescaped_view import LINE_PREFIX
from claude_mem_lite.values import frozen

WORDS = (
    "kennwort", "contrase", "пароль", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호",
    "login", "zugangsdaten", "anmeldedaten", "identifiants", "凭据", "認証情報",
)  # fmt: skip
"""Words for a password or credentials that are no names in code."""
_PASSWORD = lazy(
    r"(?i)(?:pass(?:words?|wd|phrase|code|wort)|(?<=mot de )passe|(?<=mots de )passe|kennwort|contrase[nñ]as?|senha"
    r"|wachtwoord|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호|(?<![a-z])pwd?)(?![\w]{0,20}[(.\[])"
)
_CREDENTIALS = lazy(
    r"(?i)(?:credentials|creds|login(?=[ :])|zugangsdaten|anmeldedaten|identifiants|credenciales|凭据|認証情報)"
)
_VALUE = r"[!#-&*-;=?-Z^_a-z~]{6,64}"
_OPEN = r"(?:\\{0,3}[\"'`´‘“«「『*]){0,3}"
_GIVES = r"(?:is|was|are|be|to|as|lautet|ist|war|heißt|auf|zu|als|est|sera|en|es|era|será|a|é)"
_NOW = r"(?:[ \t]{0,2}(?:now|jetzt|nun|ahora|maintenant)(?!\w))?"
_LINK = lazy(
    r"[\"'`*»”]{0,3}(?:"
    # Words, then a linking word: "for the database is", "für die Datenbank lautet", "de la base est".
    r"(?:[ \t]{1,3}[\w'’-]{1,20}){0,6}?"
    rf"(?:[ \t]{{1,3}}{_GIVES}{_NOW}[ \t]{{0,2}}[:：]?[ \t]{{1,4}}|[ \t]{{0,3}}[:：=＝→][ \t]{{0,4}})"
    # Chinese and Japanese have no spaces between words.
    r"|[^!-~\n]{1,14})"
    rf"{_OPEN}({_VALUE})"
)
_BESIDE = lazy(rf"[ \t]{{1,3}}{_OPEN}({_VALUE})")
_BESIDE_AFTER = lazy(
    r"(?i)(?:with|and|using|use|by|via|mit|und|avec|et|con|y|usa|以|用)"
    r"(?:[ \t]{1,2}(?:the|an?|this|its|my|dem|das|der|le|la|el|este))?[ \t]{0,2}(?:mot de |[\w-]{1,15}[ \t])?$"
    r"|[,/;:(]{1}[ \t]{0,2}$"
)
_USER_AND_PASSWORD = lazy(
    r"[\"'`*]{0,3}(?:[ \t]{1,3}[\w'’-]{1,20}){0,5}?"
    r"(?:[ \t]{1,3}(?:are|is|sind|sont|son)[ \t]{0,2}:?[ \t]{1,3}|[ \t]{0,3}[:：=は是][ \t]{0,4})"
    rf"{_OPEN}[\w.@+-]{{2,40}}{_OPEN}[ \t]{{0,3}}(?:/|:|,|，|、|\||and|und|et|y|和)[ \t]{{0,3}}{_OPEN}({_VALUE})"
)
# "Use VALUE as the password": the linking word, searched backwards.
_LINKS_BACK = (
    *(" as ", " is ", " was ", " als ", " ist ", " comme ", " est ", " como ", " es "),
    *("作为", "作為", "是", "を", "が", "は"),
)
_CLOSE = "\"'`*»”」』 \t"
_OF_VALUES = "".join(letter for letter in map(chr, range(0x21, 0x7F)) if letter not in "\"'`()<>[]{}|\\,")
_MAX_BETWEEN = 4
_END = ".,;:?*_"
_PROSE_REACH = 130
_BEARER = "[redacted:bearer-token]"
_SCHEME = lazy(r"(?i)(bearer|basic)([ \t]{1,8})([A-Za-z0-9._~+/-]{6,8000}={0,2})")
_AUTHORIZATION = lazy(
    r"(?i)(authorization\\{0,3}[\"']?\]?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}[\"']?)"
    r"(?:([a-z][a-z0-9-]{1,20})[ \t]{1,4})?([^\s\"'`\\,;<>(){}\[\]]{6,8000}+)(?![(\[{])"
)
_SCOPE_BEFORE = lazy(r"::\w{0,40}$")
_KNOWN_SCHEMES = ("bearer", "token", "apikey", "key", "ssws", "geniekey", "aws4-hmac-sha256", "splunk", "oauth")
_COOKIE = lazy(
    r"(?i)(cookies?\\{0,3}[\"']?\]?[ \t]{0,2}[:= ][ \t]{0,2}\\{0,3}[\"']?)"
    r"((?:[\w.-]{1,80}=[^\s;,\"'\\]{0,4096}(?:;[ \t]?)?(?:(?:secure|httponly)(?:;[ \t]?)?){0,2}){1,50})"
)
_COOKIE_PAIR = lazy(r"([\w.-]{1,80})=([^\s;,\"'\\]{6,4096})")
_COOKIE_ATTRIBUTES = ("expires", "max-age", "path", "domain", "samesite", "version", "priority")
_SESSION_NAME = lazy(r"(?i)sess|sid|auth|token|csrf|xsrf|jwt|key|secret|remember")
Secret = tuple[int, int, str]
"""Start and end of a secret, and the mark that replaces the secret."""


@frozen
class HeaderMatch:
    """Secrets found at a name, and the position to continue from; a header without a secret is skipped."""

    end: int
    secrets: tuple[Secret, ...] = ()


EXPECTED = ('"assword', "'assword", "?assword", "*assword", "]assword")
"""Prompts that scripts wait for before sending a password."""
_QUOTE = r"\\{0,3}[\"'`]"
_TEXT = r"[^\s\"'`\\]{4,200}"
_CONSTRUCTOR = (
    r"(?:[&\w:.<>\[\]]{0,40}?"
    r"(?:String|Str|str|Secret\w{0,12}|Password\w{0,10}|Sensitive|Zeroizing|Redacted|bytes?|from|new|Some|Just|Ok|of|wrap)"
    r"[<>\w]{0,10}\({1,2}){1,3}"
)
# `: TYPE = CONSTRUCTOR("VALUE")`; type and constructor are optional.
_TYPED = lazy(
    rf"(?:{_QUOTE})?[\]}}]{{0,2}}(?:[ \t]{{0,2}}:[ \t]{{0,2}}[&\w'<>\[\]?.: |]{{1,40}}?)?"
    rf"[ \t]{{0,4}}(?::=|=>|=|:)[ \t]{{0,4}}(?:new[ \t])?(?:{_CONSTRUCTOR})?[bru]?{_QUOTE}({_TEXT})(?={_QUOTE})"
)
_CALLED = lazy(rf"\w{{0,14}}(?:::new|\.new|::from|\.of)?\({{1,2}}[bru]?{_QUOTE}({_TEXT})(?={_QUOTE})")
_CALLED_BEFORE = lazy(r"(?i)(?:[.>:]|set_?|with_?|use_?|add_?)(?:\w{0,20}_)?\w{0,12}$|(?<![\w.])new[ \t]\w{0,20}$")
_PERL = lazy(r"[\"']?[}\]]?[ \t]{0,4}(?:=>|=)[ \t]{0,4}qq?[({\[|!/]([^\s(){}\[\]|!/]{4,100})")
_FILL = (
    r"(?:fill|type|send_keys|sendKeys|set_value|setValue|press_?[sS]equentially|enterText|typeText|type_text|input_text"
    r"|fill_in)"
)
_FILLED = lazy(
    rf"[\w -]{{0,20}}/?i?(?:{_QUOTE})?[\]}})\"'`]{{0,4}}"
    rf"(?:[^\n;\"'`]{{0,60}}?(?:\.{_FILL}\([ \t\n]{{0,8}}|value:[ \t]{{0,2}})"
    rf"|,[ \t\n]{{0,8}}(?:with:?[ \t]{{0,2}}=?>?[ \t]{{0,2}})?){_QUOTE}([^\"'`\n\\]{{4,200}})"
)
_FILL_BEFORE = lazy(
    rf"(?i:{_FILL}|select|change|find\w{{0,16}}|locator|get\w{{0,20}}|query\w{{0,12}}|\$)[ (][^\n;]{{0,80}}$"
)
_SENT = lazy(
    r"assword[^\n]{0,20}(?:\n[^\n]{0,80}?)?(?:send|sendline|send_line|exp_send|write)\b[ \t(]{0,3}"
    rf"(?:-[a-z][ \t])?(?:--[ \t])?(?:{_QUOTE})?([^\s\"'\\]{{4,100}})"
)
_BLOCK = lazy(
    rf"[\"']?[ \t]{{0,2}}:[ \t]{{0,4}}([|>][+-]?\d?)?[ \t]{{0,4}}\r?\n(?:{LINE_PREFIX}|- )?[ \t]{{1,40}}"
    r"[\"']?([^\s\"'\\]{4,300}(?<!:))[\"']?[ \t]{0,4}(?=[\n\"'<\\]|$)"
)
_REACH = 90


def literal_at(text: str, at: int, end: int, name: str) -> FoundSecret:
    """Return the secret behind the name that begins at `at` and ends at `end`."""
    for pattern in (_TYPED, _PERL):
        if (match := pattern.match(text, end)) and looks_real(name, match[1], quoted=True, tight=True):
            return match.start(1), match[1]
    match = _CALLED.match(text, end)
    if match and is_made_up(match[1], strict=True) and _CALLED_BEFORE.search(text, max(0, at - 40), at):
        return match.start(1), match[1]
    return _in_block(text, end, name) or _filled_in(text, at, end, name)


def sent_at(text: str, at: int) -> FoundSecret:
    """Return the text that a script sends at a password prompt."""
    match = _SENT.match(text, at + 1)
    return (match.start(1), match[1]) if match and looks_real("password", match[1], quoted=True, tight=True) else None


def _in_block(text: str, end: int, name: str) -> FoundSecret:
    match = _BLOCK.match(text, end)
    if not match:
        return None
    is_secret = looks_real(name, match[2], quoted=True, tight=True) if match[1] else is_made_up(match[2], strict=True)
    return (match.start(2), match[2]) if is_secret else None


def _filled_in(text: str, at: int, end: int, name: str) -> FoundSecret:
    match = _FILLED.match(text, end) if is_password_name(name) else None
    if not match or not _FILL_BEFORE.search(text, max(0, at - _REACH), at):
        return None
    return (match.start(1), match[1]) if looks_real(name, match[1], quoted=True, tight=True) else None


def scheme_at(text: str, at: int) -> HeaderMatch | None:
    """Read `Bearer VALUE` or `Basic VALUE` anywhere."""
    match = _SCHEME.match(text, at)
    if not match or text[at - 1 : at].isalnum() or is_placeholder(match[3]):
        return None
    value = match[3]
    if match[1].lower() == "basic":
        is_secret = is_user_and_password(value)
    else:
        is_secret = len(value) >= 12 and (any(c.isdigit() for c in value) or len(value) >= 24)
    if not is_secret:
        return None
    return HeaderMatch(match.end(), ((match.start(3), match.end(), _BEARER),))


def authorization_at(text: str, at: int) -> HeaderMatch | None:
    """Read `Authorization: SCHEME VALUE`, with or without a scheme."""
    match = _AUTHORIZATION.match(text, at)
    if not match or is_placeholder(match[3]) or _SCOPE_BEFORE.search(text, max(0, at - 42), at):
        return None
    scheme, value = (match[2] or "").lower(), match[3]
    if scheme == "basic":
        is_secret = is_user_and_password(value) or any(c.isdigit() for c in value)
    elif scheme in _KNOWN_SCHEMES:
        is_secret = len(value) >= 8 and (any(c.isdigit() for c in value) or len(value) >= 16)
    else:
        is_secret = looks_real("authorization", value, quoted=False, tight=False)
    if not is_secret:
        # A long value is skipped, because the value may repeat the header ("authorization:authorization:…").
        return HeaderMatch(match.end()) if len(value) > 200 else None
    return HeaderMatch(match.end(3), ((match.start(3), match.end(3), _BEARER),))


def cookie_at(text: str, at: int) -> HeaderMatch | None:
    """Read `Cookie: NAME=VALUE; …`: sessions are secrets, settings are not."""
    match = _COOKIE.match(text, at)
    if not match:
        return None
    pairs = _COOKIE_PAIR.finditer(text, match.start(2), match.end(2))
    return HeaderMatch(match.end(), tuple((*pair.span(2), MARK) for pair in pairs if _is_session(*pair.groups())))


def _is_session(name: str, value: str) -> bool:
    enough = 6 if _SESSION_NAME.search(name) else 16
    if name.lower() in _COOKIE_ATTRIBUTES or is_placeholder(value) or len(value) < enough:
        return False
    return has_digit_and_letter(value)


def password_at(text: str, at: int) -> FoundSecret:
    """Return the password in a sentence with a word for a password at `at`."""
    if credentials := _CREDENTIALS.match(text, at):
        return _value(_USER_AND_PASSWORD.match(text, credentials.end()), strict=True)
    named = _PASSWORD.match(text, at)
    if not named:
        return None
    end = named.end()
    if secret := _value(_LINK.match(text, end), strict=False):
        return secret
    if text[at] > "\x7f" or _BESIDE_AFTER.search(text, max(0, at - 40), at):
        secret = _value(_BESIDE.match(text, end), strict=True)
    return secret or _password_before(text, at)


def _password_before(text: str, at: int) -> FoundSecret:
    """Return the password named before its word at `at`."""
    before = text[max(0, at - _PROSE_REACH) : at].rpartition("\n")[2]
    link = max(_LINKS_BACK, key=before.rfind)
    head, separator, between = before.rpartition(link)
    if not separator or len(between.split()) > _MAX_BETWEEN:
        return None
    head = head.rstrip(_CLOSE)
    value = head[len(head.rstrip(_OF_VALUES)) :]
    start = at - len(before) + len(head) - len(value)
    return (start, value) if is_made_up(value, strict=True) else None


def _value(match: re.Match[str] | None, *, strict: bool) -> FoundSecret:
    if match is None:
        return None
    group = match.lastindex or 1
    value = match[group].rstrip(_END)
    return (match.start(group), value) if is_made_up(value, strict=strict) else None
