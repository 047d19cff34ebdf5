"""Secrets in the headers of requests: schemes, authorization, cookies. Called by `names` where such a word stands."""

import re

from claude_mem_lite.redaction.connections import is_user_and_password
from claude_mem_lite.redaction.spots import MARK, Change
from claude_mem_lite.redaction.values import has_digit_and_letter, is_placeholder, looks_real

_SCHEME = re.compile(r"(?i)(bearer|basic)([ \t]{1,8})([A-Za-z0-9._~+/-]{6,8000}={0,2})")
_AUTHORIZATION = re.compile(
    r"(?i)(authorization\\{0,3}[\"']?\]?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}[\"']?)"
    r"(?:([a-z][a-z0-9-]{1,20})[ \t]{1,4})?([^\s\"'`\\,;<>(){}\[\]]{6,8000}+)(?![(\[{])"
)
_SCOPE_BEFORE = re.compile(r"::\w{0,40}$")
_KNOWN_SCHEMES = ("bearer", "token", "apikey", "key", "ssws", "geniekey", "aws4-hmac-sha256", "splunk", "oauth")
_COOKIE = re.compile(
    r"(?i)(cookies?\\{0,3}[\"']?\]?[ \t]{0,2}[:= ][ \t]{0,2}\\{0,3}[\"']?)"
    r"((?:[\w.-]{1,80}=[^\s;,\"'\\]{0,4096}(?:;[ \t]?)?(?:(?:secure|httponly)(?:;[ \t]?)?){0,2}){1,50})"
)
_COOKIE_PAIR = re.compile(r"([\w.-]{1,80})=([^\s;,\"'\\]{6,4096})")
_COOKIE_ATTRIBUTES = ("expires", "max-age", "path", "domain", "samesite", "version", "priority")
_SESSION_NAME = re.compile(r"(?i)sess|sid|auth|token|csrf|xsrf|jwt|key|secret|remember")


def scheme_at(text: str, at: int, found: set[str]) -> Change:
    """`Bearer VALUE` or `Basic VALUE`, wherever it stands."""
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
    found.add(value)
    return match.end(), f"{match[1]}{match[2]}[redacted:bearer-token]"


def authorization_at(text: str, at: int, found: set[str]) -> Change:
    """`Authorization: SCHEME VALUE`, with a scheme or without."""
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
        # A long one is passed over: what it holds may begin again and again ("authorization:authorization:…").
        return (match.end(), match[0]) if len(value) > 200 else None
    found.add(value)
    return match.end(3), text[at : match.start(3)] + "[redacted:bearer-token]"


def cookie_at(text: str, at: int, found: set[str]) -> Change:
    """`Cookie: NAME=VALUE; …`: sessions go, settings stay."""
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
