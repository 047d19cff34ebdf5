"""Secrets known by their format: tokens of well-known services, listed in `token_formats.toml`, private keys and signed
tokens, whole or cut off at either end.

Called by `redact` for every text of an event. Every pattern takes time in proportion to the text: `re` lets no other
thread run meanwhile, so a slow pattern would stop the whole worker."""

import binascii
import re
import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.prefilter import compiled
from claude_mem_lite.safety.secret_values import has_digit_and_letter, is_mixed_up
from claude_mem_lite.values import frozen

# Start of a token: not inside a word, but behind an escape ("\nghp_…" in a string that holds JSON, %3D, \u003d).
_EDGES = (r"(?<![A-Za-z0-9_]{})", r"(?<=\\[nrt]{})", r"(?<=%[0-9A-F][0-9A-F]{})", r"(?<=\\u00[0-9a-f][0-9a-f]{})")
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_EDGE = lazy(r"<edge(?: ([^>]+))?>")
_TABLE = Path(__file__).with_name("token_formats.toml")
Test = Callable[[str], bool]


@frozen
class Format:
    """One format of secrets, with its signs (see `prefilter`): every text with the secret has one of them."""

    kind: str
    signs: tuple[str, ...]
    pattern: str
    is_secret: Test | None = None
    may_be_glued: bool = False
    """Searched inside of words too, where the token must be random."""

    def without(self, text: str) -> str:
        """Return the text with the mark in place of each secret of this format."""
        mark = f"[redacted:{self.kind}]"
        is_secret = self.is_secret
        if self.may_be_glued:
            return compiled(self.pattern).sub(lambda token: mark if self._is_token(token) else token[0], text)
        if is_secret is None:
            return compiled(self.pattern).sub(mark, text)
        return compiled(self.pattern).sub(lambda token: mark if is_secret(token[0]) else token[0], text)

    def _is_token(self, token: re.Match[str]) -> bool:
        is_whole = compiled(edge()).match(token.string, token.start()) is not None
        is_placeholder = token[0].lower().endswith("x" * 12)
        return (
            not is_placeholder
            and (self.is_secret is None or self.is_secret(token[0]))
            and (is_whole or _is_unlike_a_name(token[0]))
        )


def _is_unlike_a_name(value: str) -> bool:
    """Return whether a token glued to a word differs from names with the same beginning."""
    digits = sum(map(str.isdigit, value))
    return len(value) >= 20 and digits >= 2 and (_is_mixed(value) or value.isupper() or digits >= 8)


def _is_random(value: str) -> bool:
    """Return whether a part is machine-made: `sk-folding-cube-container-2` is the name of a style."""
    parts = re.split(r"[_-]", value)
    return any(len(part) >= 16 and any(map(str.isdigit, part)) and any(map(str.isalpha, part)) for part in parts)


def _is_mixed(value: str) -> bool:
    """Return whether capitals, small letters and digits all occur."""
    return any(map(str.isdigit, value)) and value.lower() != value and value.upper() != value


def _is_no_data(value: str) -> bool:
    """Return whether a value has not the zeros that fill base64 of a file."""
    return _is_mixed(value) and value.count("AA", 4) <= 1


def _is_bot_token(value: str) -> bool:
    """Return whether the first and last part are machine-made: code may have long dotted names, too."""
    first, _, last = value.split(".")
    return _is_mixed(first) and _is_mixed(last)


def edge(before: str = "") -> str:
    """Return the pattern for the start of a token, as a lookbehind after `before`."""
    return f"(?:{'|'.join(edge.format(before) for edge in _EDGES)})"


def _at_edge(literal: str, rest: str) -> str:
    """Return a pattern whose literal begins a word. The literal is searched first: 1 ms for 500 KB instead of 15."""
    start = re.escape(literal)
    return start + edge(start) + rest


def is_glueable(literal: str) -> bool:
    """Return whether the start of a token may occur inside a word: it ends with a sign, or never occurs by chance."""
    is_word = literal in ("live_", "secret_", "key-", "api-", "sdk-", "sess-", "API-")
    return (len(literal) >= 4 and not literal[-1].isalnum() and not is_word) or literal in ("AKIA", "ASIA", "AIza")


def _begun(kind: str, literals: str, rest: str, is_secret: Test | None = None) -> list[Format]:
    """Return formats that begin a word with one of the literals and continue alike."""
    return [
        Format(kind, (literal,), re.escape(literal) + rest, is_secret, may_be_glued=True)
        if is_glueable(literal)
        else Format(kind, (literal,), _at_edge(literal, rest), is_secret)
        for literal in literals.split()
    ]


@cache
def formats() -> tuple[Format, ...]:
    """Return the formats of `token_formats.toml`, in its order."""
    with _TABLE.open("rb") as file:
        rows: list[dict[str, str]] = tomllib.load(file)["formats"]
    return tuple(format_ for row in rows for format_ in _read(row))


def _read(row: dict[str, str]) -> list[Format]:
    is_secret = _TESTS[row["test"]] if "test" in row else None
    if "begins" in row:
        return _begun(row["kind"], row["begins"], _expanded(row["rest"]), is_secret)
    return [Format(row["kind"], tuple(row["signs"].split()), _expanded(row["pattern"]), is_secret)]


def _expanded(pattern: str) -> str:
    return _EDGE.sub(lambda mark: edge(mark[1] or ""), pattern.replace("<uuid>", _UUID))


_TESTS: Mapping[str, Test] = {
    "random": _is_random,
    "mixed": _is_mixed,
    "no_data": _is_no_data,
    "bot_token": _is_bot_token,
}


_MARK = "[redacted:private-key]"
_NAME = r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?"
_BEGIN_KEY = lazy(rf"-----BEGIN {_NAME}-----|---- BEGIN {_NAME} ----")
_END_KEY = lazy(rf"-----END {_NAME}-----|---- END {_NAME} ----")
_KEY_BODY = lazy(r"[A-Za-z0-9+/=]{20,}")
# The next line of a key, behind the prefix of a listing, a log, a search or an escape.
_KEY_LINE = lazy(r"[^\x00]{0,100}?(?<![A-Za-z0-9+/])([A-Za-z0-9+/]{16,}+={0,2})")
_KEY_HEADER = lazy(r"[^\x00]{0,100}?(?:Proc-Type|DEK-Info|Version|Comment): ?[^\r\n\\]{0,100}")
_MAX_HEADERS = 4
_WHOLE_LINE = 48
_KEY_END = lazy(r"(?:[\r\n\x1e]|\\{1,15}[rn]){1,4}[ \t\d→+|>\"',-]{0,12}[A-Za-z0-9+/]{1,15}={0,2}(?![\w+/(.:=-])")
_TAIL_LINE = lazy(r"[ \t\d→+|\"',-]{0,12}([A-Za-z0-9+/=]+)[ \t\"',]*|[ \t\d→+|\"',-]{0,12}")
_SHORT_LINES = 6  # with the breaks between them
_CUT_LINE = lazy(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{40,}+={0,2}$")
_LINE_BREAKS = lazy(r"((?:\r|\n|\\r|\\n|\x1e)+)")
_MAX_KEY_LENGTH = 64_000

# Beginnings of key bodies without a BEGIN line: PKCS#8 of RSA and of curves, PKCS#1, SEC 1, OpenSSH.
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

_JWT_EDGE = lazy(edge())
_JWT = lazy(r"([A-Za-z0-9_-]{11,}+)((?:\.[A-Za-z0-9_-]*+){2,4})?")


def without_keys(text: str) -> str:
    """Return the text without private keys, in any wrapping."""
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
    """Return the text without JSON web tokens, signed or encrypted."""
    parts: list[str] = []
    done = 0
    at = text.find("eyJ")
    while at >= 0:
        end = at + 3
        if _JWT_EDGE.match(text, at) and (match := _JWT.match(text, at)):
            # A part without a following dot is skipped whole, because it may repeat its beginning ("-eyJ-eyJ…").
            end = match.end()
            if match[2] and any(len(part) >= 8 for part in match[2].split(".")):
                parts += (text[done:at], "[redacted:jwt]")
                done = end
        at = text.find("eyJ", end)
    return "".join(parts) + text[done:] if parts else text


def _encoded_key(match: re.Match[str]) -> str:
    """Return a mark for a PEM key in base64, as in a kubeconfig; certificates stay."""
    whole = min(len(match[1]) // 4 * 4, 80)
    return _MARK if b"PRIVATE KEY" in binascii.a2b_base64(match[1][:whole]) else match[0]


def _without_pem(text: str) -> str:
    """Return the text without PEM blocks, whole or cut off at either end; a header without a body is no secret."""
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
    """Return the end of a key's body without an END line; `start` if no body follows."""
    at = _after_headers(text, start)
    max_length = 0
    while (line := _KEY_LINE.match(text, at)) and _is_line_of_key(line[1]):
        at = line.end()
        max_length = max(max_length, len(line[1]))
        if len(line[1]) < max_length:
            break  # only the last line of a key is shorter than the others
    if max_length and (last := _KEY_END.match(text, at)):
        at = last.end()
    return at if max_length else start


def _is_line_of_key(line: str) -> bool:
    """Return whether a line is base64 of random data; a short line may be a name in code."""
    is_mixed = line.lower() != line and line.upper() != line and has_digit_and_letter(line)
    return is_mixed if len(line) >= _WHOLE_LINE else is_mixed_up(line)


def _after_headers(text: str, at: int) -> int:
    """Return the end of the headers of an encrypted key."""
    for _ in range(_MAX_HEADERS):
        if not (header := _KEY_HEADER.match(text, at)):
            break
        at = header.end()
    return at


def _without_tails(text: str) -> str:
    """Return the text without the lines before an END line whose BEGIN line is missing."""
    parts: list[str] = []
    at = 0
    for end in _END_KEY.finditer(text) if "PRIVATE KEY" in text else ():
        start = _start_of_lines(text, at, end.start())
        parts += (text[at:start], _MARK) if start < end.start() else (text[at : end.end()],)
        at = end.end()
    return "".join(parts) + text[at:] if parts else text


def _start_of_lines(text: str, begin: int, end: int) -> int:
    """Return the start of a key's body that stops at `end`, not before `begin`; `end` without a body."""
    pieces = _LINE_BREAKS.split(text[begin:end])  # lines, and the breaks between them
    count = len(pieces)
    while count and (count % 2 == 0 or _is_of_key(pieces[count - 1], is_last=count > len(pieces) - _SHORT_LINES)):
        count -= 1
    body = pieces[count + count % 2 :]
    if count and (first := _CUT_LINE.search(pieces[count - 1])):
        body = [first[0], *pieces[count:]]
    return end - sum(map(len, body)) if any(_KEY_BODY.search(piece) for piece in body) else end


def _is_of_key(line: str, *, is_last: bool) -> bool:
    """Return whether a line belongs to a key; only the last lines may be short, with the checksum."""
    match = _TAIL_LINE.fullmatch(line)
    return match is not None and (is_last or len(match[1] or "") >= 16)
