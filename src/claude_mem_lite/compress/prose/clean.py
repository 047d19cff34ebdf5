"""Text from terminals, files and pages, cleaned for reading and storing: without noise, with every cut marked.

Called on all text that compression reads; never raises on any text."""

import re

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.safety.own_blocks import without_own_blocks

# Codes that erase a line or move the cursor to the beginning: the following text overwrites the line.
_REWOUND = lazy(r"(?:\x1b\[|\x9b)(?:2K|[01]?G|\d{0,3}F)")
_ESCAPES = lazy(
    r"(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # titles, links, images
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"
    r"|(?:\x1b\[|\x9b)[0-?]{0,40}[ -/]{0,8}[@-~]?"
    r"|\x1b[ -/]{0,8}[0-~]?"
)
_HAS_ESCAPES = lazy(r"[\x1b\x90\x98\x9b\x9d-\x9f]")
_BACKSPACED = lazy(r"[^\n\x08]\x08")
_CONTROLS = lazy(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")
_SURROGATES = lazy(r"[\ud800-\udfff]")
_BLANK_LINES = lazy(r"\n(?:[ \t]*\n){2,}")

# Only from the beginning of a run: matching at each character would take quadratic time.
_BASE64 = lazy(r"(?<![A-Za-z0-9+/_-])(?:data:[\w/+.-]{1,60};base64,)?[A-Za-z0-9+/_-]{200,}={0,2}")
_WORDY = lazy(r"[-_/][a-z]{2,}[-_/]")

_LONG_LINE = 1_000
_VERY_LONG_LINE = 6_000
_MARK = "… ({:,} characters cut) …"


def clean(text: str) -> str:
    """Return the text without terminal noise, encoded blobs and injected blocks of claude-mem-lite."""
    text = _SURROGATES.sub("\ufffd", text)
    if _HAS_ESCAPES.search(text):
        text = _ESCAPES.sub("", _REWOUND.sub("\r", text))
    if "\x08" in text:
        text = _BACKSPACED.sub("", text)
    text = text.replace("\r\n", "\n")
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    text = _CONTROLS.sub("", text)
    text = without_own_blocks(text)
    if "\n" not in text and len(text) < 200:
        return text.strip()
    return _BLANK_LINES.sub("\n\n", "\n".join(map(_short_line, text.split("\n")))).strip()


def storable(text: str) -> str:
    """Return the text without control characters and lone surrogates, which a database refuses."""
    return _CONTROLS.sub("", _SURROGATES.sub("\ufffd", text))


def clip(text: str, limit: int) -> str:
    """Return head and tail of a text, at most `limit` characters, with a mark of the cut."""
    if len(text) <= limit:
        return text
    room = limit - len(_MARK.format(len(text))) - 2
    if room < 20:
        return text[: max(limit, 0)]
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}\n{_MARK.format(len(text) - room)}\n{text[-tail:]}"


def _last_state(line: str) -> str:
    """Return the visible text of an overwritten line."""
    if "\r" not in line:
        return line
    return next((state for state in reversed(line.split("\r")) if state.strip()), "")


def _short_line(line: str) -> str:
    if len(line) < 200:
        return line
    line = _BASE64.sub(_cut_base64, line)
    if len(line) > _LONG_LINE and sum(map(line.count, " \t")) * 14 < len(line):
        return f"{line[:200]} {_MARK.format(len(line) - 200)}"
    return clip(line, _VERY_LONG_LINE).replace("\n", " ")


def _cut_base64(match: re.Match[str]) -> str:
    blob = match[0]
    if not blob.startswith("data:") and (
        len(set(blob[:400])) < 12 or _WORDY.search(blob[:200]) or not any(c.isdigit() for c in blob)
    ):
        return blob
    return f"[base64, {len(blob):,} characters cut]"
