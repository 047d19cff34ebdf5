"""Text from terminals, files and pages made fit to be read and stored: noise out, every cut marked.

Called on everything that compression looks at; never raises, whatever the text holds."""

import re
from collections import Counter

from claude_mem_lite.patterns import lazy

_OWN_BLOCKS = (
    ("<claude-mem-lite>", "</claude-mem-lite>"),
    ("--- memory (", "--- end memory ---"),
    ("--- the user's standing rules (", "--- end rules ---"),
)
# A line erased, or the cursor put to its beginning: what comes next is written over it.
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

# Only from the beginning of a run: tried at each of its characters it would take the square of its length.
_BASE64 = lazy(r"(?<![A-Za-z0-9+/_-])(?:data:[\w/+.-]{1,60};base64,)?[A-Za-z0-9+/_-]{200,}={0,2}")
_BASE64_LINE = lazy(r"[ \t]*[A-Za-z0-9+/]{57,}={0,2}[ \t]*")
_BASE64_LINES = 4
_WORDY = lazy(r"[-_/][a-z]{2,}[-_/]")

_PROGRESS = lazy(
    r"[█▉▊▋▌▍▎▏▓▒░━╸╺⣿]{4,}|[⠀-⣿].{0,80}\d|\[[#=>. *-]{8,}\]|\d{1,3}%\s*\|"
    r"|(?:objects|deltas|files|Downloading|Extracting|Resolving)[^\n]{0,40}:?\s+\d{1,3}%"
)
_LONG_LINE = 1_000
_VERY_LONG_LINE = 6_000
_FEW_REPEATS = 3
# A line this long that comes back this often is noise, even when others stand between.
_LEAST_TELLING = 20
_MANY_REPEATS = 10
# So many lines in a row that differ by their numbers only are a log, not a table somebody wants to read.
_MANY_ALIKE = 20
_KEPT_ALIKE = 3
_DIGITS = lazy(r"\d+")
_MARK = "… ({:,} characters cut) …"


def clean(text: str) -> str:
    """The text without terminal noise, repetition, encoded blobs and our own injected block."""
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
    lines = _fold_encoded([_short_line(line) for line in text.split("\n")])
    lines = _fold_alike(_fold_recurring(_fold_repeats(_fold_progress(lines))))
    return _BLANK_LINES.sub("\n\n", "\n".join(lines)).strip()


def storable(text: str) -> str:
    """The text without what no database takes: control characters and lone surrogates."""
    return _CONTROLS.sub("", _SURROGATES.sub("\ufffd", text))


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: head and tail kept, the cut marked with how much is missing."""
    if len(text) <= limit:
        return text
    room = limit - len(_MARK.format(len(text))) - 2
    if room < 20:
        return text[: max(limit, 0)]
    head = room * 2 // 3
    tail = room - head
    return f"{text[:head]}\n{_MARK.format(len(text) - room)}\n{text[-tail:]}"


def _last_state(line: str) -> str:
    """What a terminal shows of a line that was written over."""
    if "\r" not in line:
        return line
    states = [state for state in line.split("\r") if state.strip()]
    return states[-1] if states else ""


def without_own_blocks(text: str) -> str:
    """The text without the context that this product gave."""
    for begin, end in _OWN_BLOCKS:
        kept: list[str] = []
        after = 0
        while (at := text.find(begin, after)) >= 0:
            stop = text.find(end, at)
            if stop < 0:
                # An unclosed block is still ours: it was cut off on its way.
                text = text[:at] if begin.startswith("<") else text
                break
            kept.append(text[after:at])
            after = stop + len(end)
        text = "".join((*kept, text[after:])) if after else text
    return text


def _short_line(line: str) -> str:
    if len(line) < 200:
        return line
    line = _BASE64.sub(_cut_base64, line)
    if len(line) > _LONG_LINE and sum(map(line.count, " \t")) * 14 < len(line):
        return f"{line[:200]} {_MARK.format(len(line) - 200)}"
    return clip(line, _VERY_LONG_LINE).replace("\n", " ")


def _cut_base64(found: re.Match[str]) -> str:
    blob = found[0]
    if not blob.startswith("data:") and (
        len(set(blob[:400])) < 12 or _WORDY.search(blob[:200]) or not any(c.isdigit() for c in blob)
    ):
        return blob
    return f"[base64, {len(blob):,} characters cut]"


def _fold_encoded(lines: list[str]) -> list[str]:
    """Base64 that was broken into lines, as one mark."""
    kept: list[str] = []
    run: list[str] = []
    for line in [*lines, ""]:
        if _BASE64_LINE.fullmatch(line):
            run.append(line)
            continue
        if len(run) >= _BASE64_LINES and len(set("".join(run))) > 20:
            kept.append(f"[base64, {sum(map(len, run)):,} characters cut]")
        else:
            kept += run
        run = []
        kept.append(line)
    return kept[:-1]


def _fold_progress(lines: list[str]) -> list[str]:
    """Of a run of progress lines the last."""
    kept: list[str] = []
    was_progress = False
    for line in lines:
        is_progress = _PROGRESS.search(line[:400]) is not None
        if is_progress and was_progress:
            kept[-1] = line
        else:
            kept.append(line)
        was_progress = is_progress
    return kept


def _fold_repeats(lines: list[str]) -> list[str]:
    """A line that is repeated, once, with how often it came."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        times = 1
        while at + times < len(lines) and lines[at + times] == line:
            times += 1
        if times >= _FEW_REPEATS and line.strip():
            kept += (line, f"… (repeated {times} times)")
        else:
            kept += [line] * times
        at += times
    return kept


def _fold_recurring(lines: list[str]) -> list[str]:
    """A line that comes back again and again among others: its first occurrences."""
    often = {
        line: times
        for line, times in Counter(line for line in lines if len(line) >= _LEAST_TELLING).items()
        if times > _MANY_REPEATS
    }
    if not often:
        return lines
    kept: list[str] = []
    seen: Counter[str] = Counter()
    for line in lines:
        seen[line] += 1
        if line not in often or seen[line] <= _KEPT_ALIKE:
            kept.append(line)
            if seen[line] == _KEPT_ALIKE and line in often:
                kept.append(f"… (repeated {often[line]} times)")
    return kept


def _fold_alike(lines: list[str]) -> list[str]:
    """Of a long run of lines that differ by their numbers only, its first and its last."""
    kept: list[str] = []
    at = 0
    while at < len(lines):
        form = _DIGITS.sub("0", lines[at]) if _DIGITS.search(lines[at]) else ""
        end = at + 1
        while form and end < len(lines) and len(lines[end]) < 400 and _DIGITS.sub("0", lines[end]) == form:
            end += 1
        if end - at > _MANY_ALIKE:
            kept += lines[at : at + _KEPT_ALIKE]
            kept.append(f"… ({end - at - 2 * _KEPT_ALIKE} more lines like these)")
            kept += lines[end - _KEPT_ALIKE : end]
        else:
            kept += lines[at:end]
        at = end
    return kept
