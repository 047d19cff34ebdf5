"""Passwords in prose, in English, German, French, Spanish, Chinese, Japanese and a few more languages. Called by
`named_secrets` at a word for a password."""

import re

from claude_mem_lite.safety.secret_values import FoundSecret, is_made_up

WORDS = (
    "kennwort", "contrase", "пароль", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호",
    "login", "zugangsdaten", "anmeldedaten", "identifiants", "凭据", "認証情報",
)  # fmt: skip
"""Words for a password or credentials that are no names in code."""
_PASSWORD = re.compile(
    r"(?i)(?:pass(?:words?|wd|phrase|code|wort)|(?<=mot de )passe|(?<=mots de )passe|kennwort|contrase[nñ]as?|senha"
    r"|wachtwoord|пароль|密码|密碼|口令|パスワード|暗証番号|비밀번호|(?<![a-z])pwd?)(?![\w]{0,20}[(.\[])"
)
_CREDENTIALS = re.compile(
    r"(?i)(?:credentials|creds|login(?=[ :])|zugangsdaten|anmeldedaten|identifiants|credenciales|凭据|認証情報)"
)
_VALUE = r"[!#-&*-;=?-Z^_a-z~]{6,64}"
_OPEN = r"(?:\\{0,3}[\"'`´‘“«「『*]){0,3}"
_GIVES = r"(?:is|was|are|be|to|as|lautet|ist|war|heißt|auf|zu|als|est|sera|en|es|era|será|a|é)"
_NOW = r"(?:[ \t]{0,2}(?:now|jetzt|nun|ahora|maintenant)(?!\w))?"
_LINK = re.compile(
    r"[\"'`*»”]{0,3}(?:"
    # Words, then a linking word: "for the database is", "für die Datenbank lautet", "de la base est".
    r"(?:[ \t]{1,3}[\w'’-]{1,20}){0,6}?"
    rf"(?:[ \t]{{1,3}}{_GIVES}{_NOW}[ \t]{{0,2}}[:：]?[ \t]{{1,4}}|[ \t]{{0,3}}[:：=＝→][ \t]{{0,4}})"
    # Chinese and Japanese have no spaces between words.
    r"|[^!-~\n]{1,14})"
    rf"{_OPEN}({_VALUE})"
)
_BESIDE = re.compile(rf"[ \t]{{1,3}}{_OPEN}({_VALUE})")
_BESIDE_AFTER = re.compile(
    r"(?i)(?:with|and|using|use|by|via|mit|und|avec|et|con|y|usa|以|用)"
    r"(?:[ \t]{1,2}(?:the|an?|this|its|my|dem|das|der|le|la|el|este))?[ \t]{0,2}(?:mot de |[\w-]{1,15}[ \t])?$"
    r"|[,/;:(]{1}[ \t]{0,2}$"
)
_USER_AND_PASSWORD = re.compile(
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
_REACH = 130


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
    before = text[max(0, at - _REACH) : at].rpartition("\n")[2]
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
