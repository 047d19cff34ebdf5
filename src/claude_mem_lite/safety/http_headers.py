"""Secrets in HTTP headers: schemes, authorization, cookies. Called by `named_secrets` at such a word."""

import re
from dataclasses import dataclass

from claude_mem_lite.safety.positional_secrets import MARK
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_placeholder, is_user_and_password, looks_real

_BEARER = "[redacted:bearer-token]"
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
Secret = tuple[int, int, str]
"""Start and end of a secret, and the mark that replaces the secret."""


@dataclass(frozen=True, slots=True)
class HeaderMatch:
    """Secrets found at a name, and the position to continue from; a header without a secret is skipped."""

    end: int
    secrets: tuple[Secret, ...] = ()


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
