"""Secrets known by their name: an assignment, a member, a flag, an element, a sentence.

Called by `redact` after secrets of a known format are removed. The costly patterns are matched only at words of names:
a case-insensitive search of 500 KB takes 200 ms."""

import re
from collections.abc import Iterator
from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety import nearby_secrets
from claude_mem_lite.safety.nearby_secrets import HeaderMatch, Secret, authorization_at, cookie_at, scheme_at
from claude_mem_lite.safety.positional_secrets import MARK
from claude_mem_lite.safety.secret_values import (
    MAX_JUDGED,
    FoundSecret,
    bare,
    is_argument,
    is_made_by_machine,
    is_password_name,
    is_random,
    is_setting,
    is_user_and_password,
    looks_real,
    looks_stated,
)
from claude_mem_lite.safety.table_secrets import secrets_in_tables
from claude_mem_lite.safety.unescaped_view import UnescapedView
from claude_mem_lite.values import frozen

_KEY_KINDS = (
    "api|access|secret|private|auth|signing|encryption|account|master|client|service|license|webhook|shared|app"
    "|application|subscription|consumer|admin|deploy|hmac|jwt|preshared|psk|ingest|ssh"
)
_SUFFIX = (
    r"(?:[_-]?(?:prod|production|dev|staging|test|live|old|new|current|value|key|base|base64|b64|hex|string|text"
    r"|confirm|confirmation|\d{1,3}))?"
)
_WORDS = r"password|passwd|passphrase|passwort|passcode|pwd|pw|secret|token|credentials?|creds"
_NAME_END = lazy(rf"(?i:(?:{_WORDS}|(?:^|[_-])pass|(?:{_KEY_KINDS})[_-]?key){_SUFFIX})$|(?<=[a-z0-9])Pass(?:word)?$")
_KEY_BEFORE = lazy(rf"(?:{_KEY_KINDS})[ _-]?$")
_NAME = rf"(?i)((?:{_WORDS}|pass|key){_SUFFIX})"
_NAMED = lazy(_NAME + r"(?=[ \t\n=:\"'`\\\]*>])")
# Prefixes of harmless tokens and keys: positions in a list, marks of a language, names of records.
_PLAIN_TOKEN_BEFORE = lazy(
    r"(?<![a-z])(?:next|page|lock|idempotency|continuation|pagination|request|change|input|output|sync|cancellation|resume|paging"
    r"|marker|bos|eos|pad|unk|sep|cls|mask|stop|start|starting|end|special|added)"
    r"(?:[_-]?(?:page|lock|forward|backward))?[ _-]?$"
)
_SCOPE_BEFORE = lazy(r"::\w{0,40}$")
_PLAIN_KEY_BEFORE = lazy(
    r"(?<![a-z])(?:public|primary|foreign|cache|partition|sort|row|hash|dedup|unique|composite|routing|object|s3|index|group|map"
    r"|lookup|translation|message|storage|query|i18n|react|sitekey|site|host|verify|publishable|metric|event|task|job"
    r"|content|item|record|data|search|hot|short|arrow|any|file|path|env|config|setting|param|header|field|column|tag"
    r"|label|state|store|node|block|chunk|tree|pub|known|min|max|first|last|next|by)[_-]?$"
)
_WORD = lazy(_NAME)
_NAMES_IN_CODE = ("password", "passwd", "secret", "token", "key", "pwd")
_NAME_GOES_ON = lazy(r"(?!s\b)[\w-]")
_MAX_NAME_END = 24
_SIGN = lazy(
    r"(\\{0,3}[\"'`]?\]?\*{0,2}[ \t]{0,4}(?:=>|:=|==|=|:)\*{0,2}[ \t]{0,4}(?:[bBrRuU](?=[\"']))?)(\\{0,3}[\"'`])?"
)
_UNQUOTED = lazy(rf"<?[^\s\"'`\\<>|]{{4,{MAX_JUDGED}}}")
_REST = lazy(r"[^\s\"'`\\<>|]{0,4000}")
_MAX_QUOTED = 500
_MAX_ESCAPED_QUOTES = 8
_PAIR = lazy(_NAME + r"(\\{0,3}[\"'],[ \t]{0,4}\\{0,3}[\"'])([^\s\"'\\]{8,300})(?=\\{0,3}[\"'])")
_SETTER_BEFORE = lazy(r"(?:define|setProperty|putenv|setenv)\(\s{0,4}[\"'][\w.-]{0,60}$")
_HEX = lazy(r"[0-9a-f]{32,128}")
_HASH_NAME = lazy(r"(?:SHA\d{0,3}|HASH|DIGEST|SUM|PATH|ID)$")
_FLAG_BEFORE = lazy(r"(?<![\w-])--?[A-Za-z-]{0,30}$")
_FLAG_VALUE = lazy(_NAME + r"([ ]{1,2}\\{0,3}[\"']?)([^\s\"'\\]{4,300})")
_ELEMENT_BEFORE = lazy(r"<[\w:.-]{0,40}$")
_ELEMENT = lazy(_NAME + r"([ \t]{0,4}>)([^<>\r\n]{4,300})(?=</)")
_STATED = lazy(
    _NAME + r"((?:[ \t]{1,4}\w{1,20}){0,4}?[ \t]{1,4}(?:is|was|ist|=)[ \t]{0,4}:?[ \t]{0,4}\\{0,3}[\"'`]?)"
    r"([^\s\"'`\\]{6,100})([^\n]{0,8})"
)
# Name and value as two members of a list, in YAML, JSON or XML.
_MEMBER_BEFORE = lazy(r"(?i)(?:\b|(?<=\\n))(?:name|key)\\{0,3}[\"']?\s{0,3}[=:]\s{0,3}\\{0,3}[\"']?[\w.-]{0,60}$")
_MEMBER = lazy(
    _NAME
    + r"(\\{0,3}[\"']?,?(?:\s|\\[nrt]|\d{1,6}→){1,60}\\{0,3}[\"']?value\\{0,3}[\"']?\s{0,3}[=:]\s{0,3}\\{0,3}[\"']?)"
    r"([^\s\"'\\<>]{4,300})"
)
_SQL_BEFORE = lazy(r"(?i)\b(?:with|role|user|set|encrypted)\b[^;\n'\"]{0,100}$")
_SQL = lazy(r"(?i)(password)([ \t]{1,4}(?:=[ \t]{0,4})?')([^'\n\\]{3,200})(?=')")
_MINE = lazy(r"(?i)(?:\b|(?<=\\n))(?:my|our|mein|unser)\b[\w ]{0,30}$")
_WORDS_TO_FIND = (
    *("pass", "pw", "secret", "token", "cred", "key", "bearer", "basic", "authorization", "cookie"),
    *nearby_secrets.WORDS,
)
_CROWD = 8
_CHARACTERS_PER_NAME = 14
_CHARACTERS_PER_WORD = 9


@frozen
class Assignment:
    """Value assigned to a name by a sign; `name` is the last word of the name, `start` the start of the value."""

    name: str
    sign: str
    value: str
    start: int
    quoted: bool


def words_in(lower: str) -> list[str]:
    """Return the words of names and headers in a lower-case text."""
    words = [word for word in _WORDS_TO_FIND if word in lower]
    if "assword" in lower:
        words += (word for word in nearby_secrets.EXPECTED if word in lower)
    if "\\u" in lower or "&" in lower:  # words in escapes are found in the unescaped view
        words += (word for word in (*nearby_secrets.WORDS, *nearby_secrets.EXPECTED) if word not in words)
    return words


def without_named(text: str, words: list[str], removed: set[str]) -> str:
    """Return the text without secrets behind a name; the removed secrets are added to `removed`."""
    lower = small(text)
    if not any(word in lower for word in words) and "\\u" not in lower and "&" not in lower:
        return text
    view = UnescapedView(text)
    parts: list[str] = []
    done = 0
    for start, end, mark in _secrets(view.text, words):
        removed.add(view.text[start:end])
        start, end = view.original(start, end)
        if start >= done:
            parts += (text[done:start], mark)
            done = end
    return "".join(parts) + text[done:] if parts else text


def _secrets(text: str, words: list[str]) -> list[Secret]:
    lower = small(text)
    positions = list(_outside_crowds(lower, _positions(lower, words)))
    secrets: list[Secret] = []
    done = 0
    for at in positions:
        if at >= done and (reading := _read(text, lower, at)):
            secrets += reading.secrets
            done = reading.end
    secrets += ((*span, MARK) for span in secrets_in_tables(text, positions, is_secret_name))
    return sorted(secrets)


@lru_cache(maxsize=2048)
def is_secret_name(name: str) -> bool:
    """Return whether the name of a member, a variable or a flag means a secret."""
    match = _NAME_END.search(name)
    return match is not None and not _is_plain(name.lower(), match.start(), len(name))


def is_secret_member(name: str, value: str) -> bool:
    """Return whether a member of a JSON object is a secret."""
    if is_secret_name(name):
        return looks_real(name, value, quoted=True, tight=True)
    lower = name.lower()
    if lower in ("auth", "_auth"):
        return is_user_and_password(value)
    if lower.endswith("key") and not _PLAIN_KEY_BEFORE.search(lower, 0, len(lower) - 3) and len(lower) > 3:
        return is_random(value) or (name.isupper() and _HEX.fullmatch(value) is not None)
    return name.isupper() and not _HASH_NAME.search(name) and is_made_by_machine(value)


def _is_plain(lower: str, at: int, end: int) -> bool:
    """Return whether the name that ends at `at` is one of many harmless names with token or key."""
    is_token = lower.startswith("token", at, end)
    return bool(_SCOPE_BEFORE.search(lower, max(0, at - 44), at)) or (
        is_token and bool(_PLAIN_TOKEN_BEFORE.search(lower, max(0, at - 44), at))
    )


def small(text: str) -> str:
    """Return the text in lower case, of the same length: İ is the only character with a longer lower case."""
    return text.replace("İ", "I").lower()


def _positions(lower: str, words: list[str]) -> list[int]:
    positions: list[int] = []
    for word in words:
        at = lower.find(word)
        while at >= 0:
            positions.append(at)
            at = lower.find(word, at + len(word))
    return sorted(positions)


def _outside_crowds(lower: str, positions: list[int]) -> Iterator[int]:
    """Yield the positions outside of crowds: where a name comes every few characters, no name has a value, but each
    would take as long as a real one. A name may hold several of the words, but not that many."""
    names: list[int] = []
    for number, at in enumerate(positions):
        before = positions[number - 1] if number else 0
        if not names or not lower[before:at].replace("_", "").replace("-", "").isalnum():
            names.append(at)
        is_crowd_of_names = len(names) > _CROWD and at - names[-1 - _CROWD] < _CROWD * _CHARACTERS_PER_NAME
        is_crowd_of_words = number >= _CROWD and at - positions[number - _CROWD] < _CROWD * _CHARACTERS_PER_WORD
        if not is_crowd_of_names and not is_crowd_of_words:
            yield at


def _read(text: str, lower: str, at: int) -> HeaderMatch | None:
    """Read the text at the word that begins at `at`."""
    if lower.startswith(("bearer", "basic"), at):
        return scheme_at(text, at)
    if lower.startswith("authorization", at):
        return authorization_at(text, at)
    if lower.startswith("cookie", at):
        return cookie_at(text, at)
    if lower.startswith(nearby_secrets.EXPECTED, at):
        secret = nearby_secrets.sent_at(text, at)
    else:
        named = _NAMED.match(text, at)
        secret = _value_at(text, lower, at, named) if named else None
        secret = secret or _around(text, lower, at)
    if secret is None or _is_plain(lower, at, at + 5):
        return None
    start, value = secret
    end = start + len(value)
    if len(value) >= MAX_JUDGED and (rest := _REST.match(text, end)):
        end = rest.end()
    return HeaderMatch(end, ((start, end, MARK),))


def _around(text: str, lower: str, at: int) -> FoundSecret:
    """Return a secret at some distance from its name, or in a sentence."""
    if lower.startswith(_NAMES_IN_CODE, at) and (word := _WORD.match(text, at)):
        after = text[word.end() : word.end() + _MAX_NAME_END]
        if _NAME_GOES_ON.match(after) and "(" not in after:
            return None
        is_key = not lower.startswith("key", at) or _KEY_BEFORE.search(lower, max(0, at - 14), at)
        if is_key and (secret := nearby_secrets.literal_at(text, at, word.end(), word[0])):
            return secret
    return nearby_secrets.password_at(text, at)


def _value_at(text: str, lower: str, at: int, named: re.Match[str]) -> FoundSecret:
    """Return the value behind a name, by the text after the name."""
    assigned = _assignment_at(text, named)
    if lower.startswith("key", at) and not _KEY_BEFORE.search(lower, max(0, at - 14), at):
        return _to_other_key(text, lower, at, assigned) if assigned else None
    name = _full_name(text, at, named[1])
    if not name:
        return None
    if assigned and (secret := _assigned(text, at, name, assigned)):
        return secret
    after = text[named.end()]
    if after in " \t":
        return (
            _behind_flag(text, at, name) or _behind(_SQL, _SQL_BEFORE, 120, text, at, name) or _stated(text, at, name)
        )
    if after == ">":
        return _behind(_ELEMENT, _ELEMENT_BEFORE, 42, text, at, name)
    return _paired(text, at, name) or _behind(_MEMBER, _MEMBER_BEFORE, 80, text, at, name)


def _full_name(text: str, at: int, name: str) -> str:
    """Return the name as far as it matters; '' at the end of a word, as in `compass`."""
    before = text[at - 1 : at]
    if name.lower() == "pw":
        return "" if before.isalnum() else name
    if name.lower() != "pass":
        return name
    if before in ("_", "-"):
        return f"_{name}"
    if before.isalnum():
        return "_pass" if name == "Pass" else "pass" if name == "PASS" and before.isupper() else ""
    return name


def _to_other_key(text: str, lower: str, at: int, assigned: Assignment) -> FoundSecret:
    """Return a random value of a key of no known kind, as `STORE_KEY=` or `mapKey:`."""
    is_hump = text[at] == "K" and text[at - 1 : at].islower()
    if text[at - 1 : at] not in ("_", "-") and not is_hump:
        return None
    if _PLAIN_KEY_BEFORE.search(lower, max(0, at - 24), at):
        return None
    value = assigned.value
    is_secret = is_random(value) or (assigned.name.isupper() and _HEX.fullmatch(value))
    return (assigned.start, value) if is_secret else None


def _assigned(text: str, at: int, name: str, assigned: Assignment) -> FoundSecret:
    if assigned.sign == ":" == text[at - 1 : at]:  # arn:…:secret:NAME
        return None
    value, start, quoted = assigned.value, assigned.start, assigned.quoted
    is_code = not quoted and (
        "==" in assigned.sign or (assigned.sign.endswith(":") and value.startswith(":"))
    )  # Pass::run
    if len(value) < 4 or is_code:
        return None
    tight = quoted or not assigned.sign.endswith((" ", "\t"))
    is_secret = looks_real(name, value, quoted=quoted, tight=tight)
    if not is_secret and not quoted:
        is_secret = is_setting(text, at, start, value, name)
    return (start, value) if is_secret else None


def _assignment_at(text: str, named: re.Match[str]) -> Assignment | None:
    """Return the assignment to a name. `str.find` finds the closing quote: a pattern up to the quote would read the
    same characters again for each name among them."""
    signed = _SIGN.match(text, named.end())
    if not signed:
        return None
    sign, quote = signed.groups()
    start = signed.end()
    if quote and text.startswith(quote * 2, start):  # three quotes, perhaps at the end of a line
        start += 2 * len(quote)
        start += text.startswith("\n", start)
    if quote and (end := _end_of_quoted(text, start, quote)) is not None:
        return Assignment(named[1], sign, text[start:end], start, quoted=True)
    loose = _UNQUOTED.match(text, start)
    if not loose or (loose[0].startswith("<") and text.startswith(">", loose.end())):
        return None
    return Assignment(named[1], sign, bare(loose[0]), loose.start(), quoted=False)


def _end_of_quoted(text: str, start: int, quote: str) -> int | None:
    """Return the position of the closing quote: on the same line, and not escaped."""
    limit = start + _MAX_QUOTED + len(quote)
    end = text.find(quote, start, limit)
    for _ in range(_MAX_ESCAPED_QUOTES):
        if end < 0 or not text.startswith("\\", end - 1):
            break
        end = text.find(quote, end + 1, limit)
    return None if end < 0 or text.find("\n", start, end) >= 0 else end


def _paired(text: str, at: int, name: str) -> FoundSecret:
    """Return the value of `define('DB_PASSWORD', 'VALUE')`; in other calls the value must be random."""
    match = _PAIR.match(text, at)
    if not match or not looks_real(name, match[3], quoted=True, tight=True):
        return None
    is_secret = is_random(match[3], 8) or _SETTER_BEFORE.search(text, max(0, at - 100), at)
    return (match.start(3), match[3]) if is_secret else None


def _behind_flag(text: str, at: int, name: str) -> FoundSecret:
    match = _FLAG_VALUE.match(text, at)
    if not match or not _FLAG_BEFORE.search(text, max(0, at - 33), at):
        return None
    is_secret = looks_real(name, match[3], quoted=not match[2].endswith(" "), tight=True)
    if not is_secret and is_password_name(name):
        is_secret = is_argument(text, match.start(3), match[3])
    return (match.start(3), match[3]) if is_secret else None


def _behind(
    pattern: re.Pattern[str], before: re.Pattern[str], reach: int, text: str, at: int, name: str
) -> FoundSecret:
    """Return the value that a pattern finds behind a name, if the text before the name matches too."""
    match = pattern.match(text, at)
    if not match or not before.search(text, max(0, at - reach), at):
        return None
    return (match.start(3), match[3]) if looks_real(name, match[3], quoted=True, tight=True) else None


def _stated(text: str, at: int, name: str) -> FoundSecret:
    match = _STATED.match(text, at)
    if not match or name.lower() == "pass":
        return None
    value = match[3].rstrip(".,;:!)*")
    is_mine = _MINE.search(text, max(0, at - 40), at) is not None and not match[4].strip(" .,;:!)]}\"'`")
    return (match.start(3), value) if looks_stated(name, value, mine=is_mine) else None
