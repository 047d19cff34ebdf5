"""Private keys and signed tokens: secrets of many lines or parts, whole or cut off at either end.

Called by `redact` before the formats of one word; every search takes time in proportion to the text."""

import binascii
import re

from claude_mem_lite.safety.prefilter import compiled
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_mixed_up
from claude_mem_lite.safety.token_formats import edge

_MARK = "[redacted:private-key]"
_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_BEGIN_KEY = re.compile(rf"-----BEGIN {_NAME}-----|---- BEGIN {_NAME} ----")
_END_KEY = re.compile(rf"-----END {_NAME}-----|---- END {_NAME} ----")
_KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{20,}")
# The next line of a key, behind whatever a listing, a log, a search or an escape puts before it.
_KEY_LINE = re.compile(r"[^\x00]{0,100}?(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{16,}+={0,2})")
_KEY_HEADER = re.compile(r"[^\x00]{0,100}?(?:Proc-Type|DEK-Info|Version|Comment): ?[^\r\n\\]{0,100}")
_MAX_HEADERS = 4
_WHOLE_LINE = 48
_KEY_END = re.compile(r"(?:[\r\n\x1e]|\\{1,15}[rn]){1,4}[ \t\d→+|>\"',-]{0,12}[A-Za-z0-9+/]{1,15}={0,2}(?![\w+/(.:=-])")
_TAIL_LINE = re.compile(r"[ \t\d→+|\"',-]{0,12}([A-Za-z0-9+/=]+)[ \t\"',]*|[ \t\d→+|\"',-]{0,12}")
_SHORT_LINES = 6  # with the breaks between them
_CUT_LINE = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}+={0,2}$")
_LINE_BREAKS = re.compile(r"((?:\r|\n|\\r|\\n|\x1e)+)")
_MAX_KEY_LENGTH = 64_000

# How the bodies of keys begin, should the line above be missing: PKCS#8 of RSA and of curves, PKCS#1, SEC 1, OpenSSH.
_BODIES = (
    "BgkqhkiG9w0BAQEFAASC", "BgkqhkiG9w0BBQ0w", "AgEAMBMGByqGSM49", "AgEAMBAGByqGSM49", "MC4CAQAwBQYDK2V",
    "IBAAKC", "MHcCAQEEI", "MIGkAgEBBD", "b3BlbnNzaC1rZXktdjE",
)  # fmt: skip
_MORE_LINES = r"(?:(?:[\r\n\x1e]|\\[rn]){1,4}[ \t\d→+|\"',-]{0,12}[A-Za-z0-9+/]{16,}+={0,2})*+"
_BODY = (
    r"(?:[A-Za-z0-9+/]{2,16}(?:BgkqhkiG9w0BAQEFAASC|BgkqhkiG9w0BBQ0w|AgEAMB[MA]GByqGSM49)|MC4CAQAwBQYDK2V"
    r"|MII[A-Za-z0-9+/]{3}IBAAKC|MHcCAQEEI|MIGkAgEBBD|b3BlbnNzaC1rZXktdjE)[A-Za-z0-9+/]{30,}+={0,2}" + _MORE_LINES
)
_PUTTY = r"(Private-Lines: \d{1,3})(?:(?:[\r\n\x1e]|\\[rn]){1,4}[ \t\d→+|\"',-]{0,12}[A-Za-z0-9+/=]{16,}+)++"
_ENCODED = r"(LS0tLS1CRUdJTi[A-Za-z0-9+/]{20,}+)={0,2}" + _MORE_LINES
_JWK_MEMBER = r"(\\{0,3}\"(?:d|p|q|dp|dq|qi|k)\\{0,3}\"\s{0,4}:\s{0,4}\\{0,3}\")[A-Za-z0-9_-]{20,}"

KEY_SIGNS = (
    "private key", "mii", "mig", "MHcCAQEEI", "MC4CAQAwBQYDK2V", "b3BlbnNzaC1rZXktdjE", "Private-Lines:",
    "LS0tLS1CRUdJTi", "kty.",
)  # fmt: skip
JWT_SIGNS = ("eyJ",)

_JWT_EDGE = re.compile(edge())
_JWT = re.compile(r"([A-Za-z0-9_-]{11,}+)((?:\.[A-Za-z0-9_-]*+){2,4})?")


def without_keys(text: str) -> str:
    """The text without private keys, in whatever they are wrapped."""
    if "PRIVATE KEY" in text:
        text = _without_pem(text)
    if any(body in text for body in _BODIES):
        text = compiled(_BODY).sub(_MARK, text)
    if "Private-Lines:" in text:
        text = compiled(_PUTTY).sub(rf"\1 {_MARK}", text)
    if "LS0tLS1CRUdJTi" in text:
        text = compiled(_ENCODED).sub(_encoded_key, text)
    if 'kty"' in text or 'kty\\"' in text:
        text = compiled(_JWK_MEMBER).sub(rf"\1{_MARK}", text)
    return text


def without_jwts(text: str) -> str:
    """The text without JSON web tokens, signed or encrypted."""
    parts: list[str] = []
    done = 0
    at = text.find("eyJ")
    while at >= 0:
        end = at + 3
        if _JWT_EDGE.match(text, at) and (found := _JWT.match(text, at)):
            # A part without a dot behind it is passed over whole: it may begin again and again ("-eyJ-eyJ…").
            end = found.end()
            if found[2] and any(len(part) >= 8 for part in found[2].split(".")):
                parts += (text[done:at], "[redacted:jwt]")
                done = end
        at = text.find("eyJ", end)
    return "".join(parts) + text[done:] if parts else text


def _encoded_key(found: re.Match[str]) -> str:
    """A PEM block in base64, as in a kubeconfig: keys go, certificates stay."""
    whole = min(len(found[1]) // 4 * 4, 80)
    return _MARK if b"PRIVATE KEY" in binascii.a2b_base64(found[1][:whole]) else found[0]


def _without_pem(text: str) -> str:
    """PEM blocks out, whole or cut off at either end; a header without a body is no secret."""
    parts: list[str] = []
    at = 0
    begin, end = _BEGIN_KEY.search(text), _END_KEY.search(text)
    while begin:
        if begin.start() < at:
            begin = _BEGIN_KEY.search(text, at)
            continue
        following = _BEGIN_KEY.search(text, begin.end())
        parts.append(_without_tails(text[at : begin.start()]))
        while end and end.start() < begin.end():
            end = _END_KEY.search(text, end.end())
        limit = min(begin.end() + _MAX_KEY_LENGTH, following.start() if following else len(text))
        if end and end.start() < limit and _KEY_BODY.search(text, begin.end(), end.start()):
            at = end.end()
        else:
            at = _end_of_lines(text, begin.end())
        parts.append(_MARK if at > begin.end() else begin[0])
        begin = following
    parts.append(_without_tails(text[at:]))
    return "".join(parts)


def _end_of_lines(text: str, start: int) -> int:
    """Where the body of a key without an END stops; `start` itself when no body follows."""
    at = _after_headers(text, start)
    longest = 0
    while (line := _KEY_LINE.match(text, at)) and _is_line_of_key(line[1]):
        at = line.end()
        longest = max(longest, len(line[1]))
        if len(line[1]) < longest:
            break  # only the last line of a key is shorter than the others
    if longest and (last := _KEY_END.match(text, at)):
        at = last.end()
    return at if longest else start


def _is_line_of_key(line: str) -> bool:
    """Whether it is base64 of what is random; a short one may be a name in code."""
    is_mixed = line.lower() != line and line.upper() != line and has_digit_and_letter(line)
    return is_mixed if len(line) >= _WHOLE_LINE else is_mixed_up(line)


def _after_headers(text: str, at: int) -> int:
    """Where the headers of an encrypted key end."""
    for _ in range(_MAX_HEADERS):
        if not (header := _KEY_HEADER.match(text, at)):
            break
        at = header.end()
    return at


def _without_tails(text: str) -> str:
    """The text without the lines before an END whose BEGIN was cut away."""
    parts: list[str] = []
    at = 0
    for end in _END_KEY.finditer(text) if "PRIVATE KEY" in text else ():
        start = _start_of_lines(text, at, end.start())
        parts += (text[at:start], _MARK) if start < end.start() else (text[at : end.end()],)
        at = end.end()
    return "".join(parts) + text[at:] if parts else text


def _start_of_lines(text: str, begin: int, end: int) -> int:
    """Where the body of a key that stops at `end` starts, not before `begin`; `end` itself when there is none."""
    pieces = _LINE_BREAKS.split(text[begin:end])  # lines, and the breaks between them
    kept = len(pieces)
    while kept and (kept % 2 == 0 or _is_of_key(pieces[kept - 1], is_last=kept > len(pieces) - _SHORT_LINES)):
        kept -= 1
    body = pieces[kept + kept % 2 :]
    if kept and (first := _CUT_LINE.search(pieces[kept - 1])):
        body = [first[0], *pieces[kept:]]
    return end - sum(map(len, body)) if any(_KEY_BODY.search(piece) for piece in body) else end


def _is_of_key(line: str, *, is_last: bool) -> bool:
    """Whether a line is one of a key; only the last ones may be short, the checksum among them."""
    found = _TAIL_LINE.fullmatch(line)
    return found is not None and (is_last or len(found[1] or "") >= 16)
