"""Secrets that are known by what stands before them: a name, a flag, a header, a command, a URL.

Called by `redact` after the secrets of a known form are out. Each pattern is bounded, and the costly ones are
matched only where a word of theirs was found: a case-blind search of 500 KB takes 200 ms."""

import binascii
import re
from collections.abc import Callable

from claude_mem_lite.redaction.values import bare, has_digit_and_letter, is_placeholder, looks_real, looks_told

MARK = "[redacted:secret]"

_KEY_KINDS = "api|access|secret|private|auth|signing|encryption|account|master|client|service|license|webhook|shared"
_SUFFIX = r"(?:[_-]?(?:prod|production|dev|staging|test|live|value|key|base|base64|b64|hex|\d{1,3}))?"
_WORDS = r"password|passwd|passphrase|pwd|secret|token|credentials?"
_NAME_END = re.compile(
    rf"(?i:(?:{_WORDS}|(?:^|[_-])pass|(?:{_KEY_KINDS})[_-]?key){_SUFFIX})$|(?<=[a-z0-9])Pass(?:word)?$"
)
_KEY_BEFORE = re.compile(rf"(?:{_KEY_KINDS})[ _-]?$")
_NAME = rf"(?i)((?:{_WORDS}|pass|key){_SUFFIX})"
_NAMED = re.compile(_NAME + r"(?=[ \t=:\"'`\\\]*>])")
_ASSIGNMENT = re.compile(
    _NAME + r"(\\{0,3}[\"'`]?\]?\*{0,2}[ \t]{0,4}(?:=>|:=|==|=|:)\*{0,2}[ \t]{0,4}(?:[bBrRuU](?=[\"']))?)"
    r"(?:(\\{0,3}[\"'`])(.{0,500}?)(?<!\\)\3|(\\{0,3}[\"'`]?)(<?[^\s\"'`\\<>|]{4,500})(>?))"
)
_FLAG_BEFORE = re.compile(r"(?<![\w-])--?[A-Za-z-]{0,30}$")
_FLAG_VALUE = re.compile(_NAME + r"([ ]{1,2}\\{0,3}[\"']?)([^\s\"'\\]{4,300})")
_ELEMENT_BEFORE = re.compile(r"<[\w:.-]{0,40}$")
_ELEMENT = re.compile(_NAME + r"([ \t]{0,4}>)([^<>\r\n]{4,300})(?=</)")
_TOLD = re.compile(
    _NAME + r"((?:[ \t]{1,4}\w{1,20}){0,4}?[ \t]{1,4}(?:is|was|ist)[ \t]{0,4}:?[ \t]{0,4}[\"'`]?)([^\s\"'`\\]{6,100})"
)

_SCHEME = re.compile(r"(?i)(bearer|basic)([ \t]{1,8})([A-Za-z0-9._~+/-]{6,8000}={0,2})")
_AUTHORIZATION = re.compile(
    r"(?i)(authorization\\{0,3}[\"']?\]?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}[\"']?)"
    r"(?:(bearer|basic|token|apikey|key|aws4-hmac-sha256)[ \t]{1,4})?([^\s\"'`\\,;<>(){}\[\]]{6,8000}+)(?![(\[{])"
)
_COOKIE = re.compile(
    r"(?i)(cookies?\\{0,3}[\"']?\]?[ \t]{0,2}[:= ][ \t]{0,2}\\{0,3}[\"']?)"
    r"((?:[\w.-]{1,80}=[^\s;,\"'\\]{0,4096}(?:;[ \t]?)?(?:(?:secure|httponly)(?:;[ \t]?)?){0,2}){1,50})"
)
_COOKIE_PAIR = re.compile(r"([\w.-]{1,80})=([^\s;,\"'\\]{6,4096})")
_COOKIE_ATTRIBUTES = ("expires", "max-age", "path", "domain", "samesite", "version", "priority")
_SESSION_NAME = re.compile(r"(?i)sess|sid|auth|token|csrf|xsrf|jwt|key|secret|remember")

_URL_PASSWORD = re.compile(r"(://[^\s/:@\"'<>`]{0,80}:)([^\s\"'<>`]{1,200}?)(@(?=[A-Za-z0-9_.\[\]${}%-]{1,255}+(?!@)))")
_URL_TOKEN = re.compile(r"(://)([A-Za-z0-9_-]{20,200})(@(?=[A-Za-z0-9_.\[-]))")
_URL_PLACEHOLDER = re.compile(r"\$[{(]|\$\w+$|[<{]|%[(s]|\[redacted|[xX*.]+$|\d{1,5}/")
_SIGNATURE = re.compile(
    r"(?i)((?<=[?&;])(?:sig|signature|x-(?:amz|goog)-(?:signature|security-token))=)([A-Za-z0-9%+/=_.~-]{8,4096})"
)

_VALUE = r"(?:(?<=\")[^\"\n\\]{3,200}|(?<=')[^'\n\\]{3,200}|[^\s\"'\\|;&]{3,200})"
_REST = r"[^\n|;&]{0,200}?"
# (a word that must occur, pattern of what stands before the secret and of the secret itself)
_COMMANDS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (word, re.compile(f"({before})({value})"))
    for word, before, value in (
        ("sshpass", r"sshpass[ \t]{1,8}-p[ \t]{0,8}\\{0,3}[\"']?", _VALUE),
        (
            " login",
            rf"\b(?:docker|podman|nerdctl|buildah|skopeo|oc|az|cf|helm registry)[ \t](?:acr )?login\b{_REST}"
            r"\s(?:-p[ =]{0,4}|--password[ =]{1,4})\\{0,3}[\"']?",
            _VALUE,
        ),
        ("redis-cli", rf"redis-cli\b{_REST}\s(?:-a|--pass)[ =]{{1,4}}\\{{0,3}}[\"']?", _VALUE),
        ("mysql", rf"mysql(?:dump|admin)?[ \t]{_REST}\s-p[\"']?", _VALUE),
        (
            "curl",
            r"\s(?:-u[ =]{0,4}|--user[ =]{1,4})\\{0,3}[\"']?[^\s:\"'/]{1,60}:",
            r"(?!\d{1,10}(?:\s|$))[^\s\"'\\]{3,200}",
        ),
        (" pass:", r"\s-pass(?:in|out)?[ =]{1,4}\\{0,3}[\"']?pass:", r"[^\s\"'\\]{3,200}"),
        (
            "htpasswd",
            r"htpasswd[ \t]{1,8}-\w{0,8}b\w{0,8}[ \t]{1,8}\S{1,200}[ \t]{1,8}\S{1,100}[ \t]{1,8}[\"']?",
            _VALUE,
        ),
        (
            "sudo -s",
            r"echo[ \t]{1,8}(?:-n[ \t]{1,8})?[\"']?",
            _VALUE + r"(?=[\"']?[ \t]{0,8}\|[ \t]{0,8}sudo[ \t]{1,8}-S)",
        ),
        (" password", r"login\s{1,8}\S{1,100}\s{1,8}password\s{1,8}", r"(?=\S{0,200}[\d!@#$%^&*+=~])\S{6,200}"),
        (
            "pgpass",
            r"(?:^|(?<=[\s→+\"'-]))[\w.*-]{1,100}:(?:\d{4,5}|\*):[^\s:]{1,64}:[^\s:]{1,64}:",
            r"[^\s:\"']{4,200}",
        ),
    )
)
_PGPASS_PORTS = (":5432:", ":5433:", ":6432:", ":*:")
_MARKED_WORDS = ("pass", "pwd", "secret", "token", "credential", "key", "bearer", "basic", "authorization", "cookie")

Change = tuple[int, str] | None
"""Where what was looked at ends, and what to put in its place; None when it holds no secret."""


def without_named_secrets(text: str, found: set[str]) -> str:
    """The text without the secrets that a name announces; what was taken out is added to `found`."""
    if "://" in text:
        text = _replaced(_URL_PASSWORD, text, found, "[redacted:password-in-url]", _is_url_password)
        text = _URL_TOKEN.sub(r"\1[redacted:password-in-url]\3", text)
    lower = _lower(text)
    for word, pattern in _COMMANDS:
        if word in lower or (word == "pgpass" and any(port in lower for port in _PGPASS_PORTS)):
            text = _replaced(pattern, text, found, MARK, _is_given)
    if "sig=" in lower or "signature=" in lower or "x-amz-security-token=" in lower:
        text = _replaced(_SIGNATURE, text, found, MARK, _is_given)
    return _without_marked(text, found)


def is_secret_name(name: str) -> bool:
    """Whether the name of a member, a variable or a flag is that of a secret."""
    return _NAME_END.search(name) is not None


def _lower(text: str) -> str:
    # İ is the one character whose lower case is longer.
    return text.replace("İ", "I").lower()


def _is_given(value: str) -> bool:
    return not is_placeholder(value)


def _is_url_password(value: str) -> bool:
    # A number before a slash is a port, and the @ stands in the path.
    return not _URL_PLACEHOLDER.match(value)


def _replaced(pattern: re.Pattern[str], text: str, found: set[str], mark: str, is_secret: Callable[[str], bool]) -> str:
    def change(match: re.Match[str]) -> str:
        before, value, *after = match.groups()
        if not is_secret(value):
            return match[0]
        found.add(value)
        return "".join((before, mark, *after))

    return pattern.sub(change, text)


def _without_marked(text: str, found: set[str]) -> str:
    lower = _lower(text)
    parts: list[str] = []
    done = 0
    for at in _positions(lower):
        if at >= done and (change := _change_at(text, lower, at, found)):
            parts += (text[done:at], change[1])
            done = change[0]
    return "".join(parts) + text[done:] if parts else text


def _positions(lower: str) -> list[int]:
    positions: list[int] = []
    for word in _MARKED_WORDS:
        at = lower.find(word)
        while at >= 0:
            positions.append(at)
            at = lower.find(word, at + len(word))
    return sorted(positions)


def _change_at(text: str, lower: str, at: int, found: set[str]) -> Change:
    if lower.startswith(("bearer", "basic"), at):
        return _scheme(text, at, found)
    if lower.startswith("authorization", at):
        return _authorization(text, at, found)
    if lower.startswith("cookie", at):
        return _cookie(text, at, found)
    if lower.startswith("key", at) and not _KEY_BEFORE.search(lower, max(0, at - 12), at):
        return None
    named = _NAMED.match(text, at)
    name = _full_name(text, at, named[1]) if named else ""
    if not name:
        return None
    return (
        _assignment(text, at, name, found)
        or _flag(text, at, name, found)
        or _element(text, at, name, found)
        or _told(text, at, name, found)
    )


def _full_name(text: str, at: int, name: str) -> str:
    """The name as far as it matters; nothing when it is only the end of a word, as in `compass`."""
    before = text[at - 1 : at]
    if name.lower() != "pass":
        return name
    if before in ("_", "-"):
        return f"_{name}"
    if before.isalnum():
        return "_pass" if name == "Pass" else "pass" if name == "PASS" and before.isupper() else ""
    return name


def _assignment(text: str, at: int, name: str, found: set[str]) -> Change:
    match = _ASSIGNMENT.match(text, at)
    if not match or (match[2] == ":" == text[at - 1 : at]):  # arn:…:secret:NAME
        return None
    quoted, loose = match[4], match[6]
    if quoted is not None:
        value, start, tight = quoted, match.start(4), True
    elif loose.startswith("<") and match[7]:
        return None
    else:
        value, start, tight = bare(loose), match.start(6), not match[2].endswith((" ", "\t"))
    if len(value) < 4 or not looks_real(name, value, quoted=quoted is not None, tight=tight):
        return None
    found.add(value)
    return start + len(value), text[at:start] + MARK


def _flag(text: str, at: int, name: str, found: set[str]) -> Change:
    match = _FLAG_VALUE.match(text, at)
    if not match or not _FLAG_BEFORE.search(text, max(0, at - 33), at):
        return None
    value, quoted = match[3], not match[2].endswith(" ")
    return _taken(match, text, at, found) if looks_real(name, value, quoted=quoted, tight=True) else None


def _element(text: str, at: int, name: str, found: set[str]) -> Change:
    match = _ELEMENT.match(text, at)
    if not match or not _ELEMENT_BEFORE.search(text, max(0, at - 42), at):
        return None
    return _taken(match, text, at, found) if looks_real(name, match[3], quoted=True, tight=True) else None


def _told(text: str, at: int, name: str, found: set[str]) -> Change:
    match = _TOLD.match(text, at)
    if not match or name.lower() == "pass":
        return None
    value = match[3].rstrip(".,;:)")
    if not looks_told(name, value):
        return None
    found.add(value)
    return match.start(3) + len(value), text[at : match.start(3)] + MARK


def _taken(match: re.Match[str], text: str, at: int, found: set[str]) -> Change:
    found.add(match[3])
    return match.end(3), text[at : match.start(3)] + MARK


def _scheme(text: str, at: int, found: set[str]) -> Change:
    match = _SCHEME.match(text, at)
    if not match or text[at - 1 : at].isalnum() or is_placeholder(match[3]):
        return None
    value = match[3]
    if match[1].lower() == "basic":
        is_secret = _is_user_and_password(value)
    else:
        is_secret = len(value) >= 12 and (any(c.isdigit() for c in value) or len(value) >= 24)
    if not is_secret:
        return None
    found.add(value)
    return match.end(), f"{match[1]}{match[2]}[redacted:bearer-token]"


def _authorization(text: str, at: int, found: set[str]) -> Change:
    match = _AUTHORIZATION.match(text, at)
    if not match or is_placeholder(match[3]):
        return None
    scheme, value = (match[2] or "").lower(), match[3]
    if scheme == "basic":
        is_secret = _is_user_and_password(value) or any(c.isdigit() for c in value)
    elif scheme:
        is_secret = len(value) >= 8 and (any(c.isdigit() for c in value) or len(value) >= 16)
    else:
        is_secret = looks_real("authorization", value, quoted=False, tight=False)
    if not is_secret:
        # A long one is passed over: what it holds may begin again and again ("authorization:authorization:…").
        return (match.end(), match[0]) if len(value) > 200 else None
    found.add(value)
    return match.end(3), text[at : match.start(3)] + "[redacted:bearer-token]"


def _is_user_and_password(value: str) -> bool:
    try:
        return b":" in binascii.a2b_base64(value + "=" * (-len(value) % 4), strict_mode=True)
    except ValueError:
        return False


def _cookie(text: str, at: int, found: set[str]) -> Change:
    match = _COOKIE.match(text, at)
    if not match:
        return None

    def change(pair: re.Match[str]) -> str:
        name, value = pair.groups()
        enough = 6 if _SESSION_NAME.search(name) else 16
        if name.lower() in _COOKIE_ATTRIBUTES or is_placeholder(value) or len(value) < enough:
            return pair[0]
        if not has_digit_and_letter(value):
            return pair[0]
        found.add(value)
        return f"{name}={MARK}"

    return match.end(), match[1] + _COOKIE_PAIR.sub(change, match[2])
