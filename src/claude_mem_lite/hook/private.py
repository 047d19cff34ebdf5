"""Removal of `<private>…</private>` spans from a payload, before any part is written.

The kernel imports this module only for payloads with such a tag. Doubtful text is removed, the event itself never: the
hook ignores signals meanwhile, so every step is linear and all steps together have a limit."""

import _signal  # type: ignore[import-not-found]
import json
import re
from bisect import bisect_left

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]
Span = tuple[int, int]
Ends = tuple[bool, bool]

MARK = "[private]"
LIMIT_S = 2.0
MAX_KEPT_LENGTH = 4096
# Tags also appear as JSON inside JSON: \u003c for <, \/ for /, \n for a line break. Unbounded repeats are possessive
# (++, *+): each character is read once or twice, not n times.
HEAD = re.compile(r"(?:<|(?<!\\)\\++u003c)(\\*+/)?private(?=[\s>]|\\++[fnrtu])", re.IGNORECASE)
STOP = re.compile(r"[<>]|(?<!\\)\\++u003e", re.IGNORECASE)


class TookTooLong(BaseException):
    """Limit reached; not an Exception, so that no handler on the way catches it."""


def clean(data: bytes, limit_s: float = LIMIT_S) -> bytes:
    """Return the payload without its private spans, or without its texts if the limit is exceeded."""
    _signal.signal(_signal.SIGVTALRM, give_up)
    try:
        _signal.setitimer(_signal.ITIMER_VIRTUAL, limit_s)
        try:
            return without_spans(data)
        finally:
            _signal.setitimer(_signal.ITIMER_VIRTUAL, 0)
    except TookTooLong:
        return reduced(data)


def give_up(_number: int, _frame: object) -> None:
    """Raise TookTooLong from the timer, also during a running search."""
    raise TookTooLong


def without_spans(data: bytes) -> bytes:
    """Return the payload without its private spans: as JSON, or byte by byte for other content."""
    try:
        payload: Json = json.loads(data.decode("utf-8", "replace"), strict=False)
        hide_edit(payload)
        return json.dumps(hide_all(payload, {})).encode()
    except (ValueError, RecursionError):
        return hide(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def reduced(data: bytes) -> bytes:
    """Return the fields that identify the event: short top-level values without a tag. b"" for invalid JSON."""
    try:
        payload: Json = json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return b""
    members = payload.items() if isinstance(payload, dict) else ()
    return json.dumps({key: value if is_plain(value) else MARK for key, value in members if is_plain(key)}).encode()


def is_plain(value: Json) -> bool:
    """Return whether a value of a payload may stay unchecked."""
    if isinstance(value, str):
        return len(value) <= MAX_KEPT_LENGTH and not HEAD.search(value)
    return not isinstance(value, list | dict)


def tags(text: str) -> list[tuple[int, int, bool]]:
    """Return start and end of each tag, and whether the tag closes; `<private/>` is empty and does not count."""
    found: list[tuple[int, int, bool]] = []
    stop = None
    for head in HEAD.finditer(text):
        if found and head.start() < found[-1][1]:
            continue
        # The end of an unfinished tag is often the end of all before it: searched once, not once a tag.
        if stop is None or stop.start() < head.end():
            stop = STOP.search(text, head.end())
        if stop is None:
            break
        if stop[0] != "<" and text[stop.start() - 1] != "/":
            found.append((head.start(), stop.end(), bool(head[1])))
    return found


def spans(text: str) -> list[Span]:
    """Return the private spans of `text` in order, with their tags.

    An unclosed opening tag reaches to the end, an unopened closing tag from the beginning."""
    found: list[Span] = []
    start = depth = 0
    for begin, end, closes in tags(text):
        if not closes:
            start = start if depth else begin
            depth += 1
        elif depth == 0:
            found = [(0, end)]
        else:
            depth -= 1
            if depth == 0:
                found.append((start, end))
    return [*found, (start, len(text))] if depth else found


def hide(text: str) -> str:
    """Return the text with a mark in place of each private span."""
    pieces, at = [], 0
    for start, end in spans(text):
        pieces += [text[at:start], MARK]
        at = end
    return "".join([*pieces, text[at:]])


def hide_lines(lines: list[str]) -> list[str]:
    """Return the lines of one text with marks; lines wholly inside a span are left out."""
    longest = max(re.findall("\n\0*", "".join(lines)), key=len, default="")
    between = "\n" + "\0" * len(longest)  # occurs in none of the lines
    return hide(between.join(lines)).split(between) if lines else []


def hide_all(value: Json, known: dict[int, Ends]) -> Json:
    """Hide the spans in every string of a JSON value; a list of strings counts as one text."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(key): hide_all(item, known) for key, item in value.items()}
    if isinstance(value, list):
        lines = [item for item in value if isinstance(item, str)]
        return list[Json](hide_lines(lines)) if len(lines) == len(value) else hide_items(value, known)
    return value


def hide_items(items: list[Json], known: dict[int, Ends]) -> list[Json]:
    """Hide the spans in items such as hunks or text blocks: an item between an opening and its closing tag is
    private."""
    hidden: set[int] = set()
    opened = None
    for index, item in enumerate(items):
        unopened, unclosed = open_ends(item, known)
        if unopened and opened is not None:
            hidden.update(range(opened + 1, index))
            opened = None
        if unclosed and opened is None:
            opened = index
    return [blank(item) if index in hidden else hide_all(item, known) for index, item in enumerate(items)]


def open_ends(value: Json, known: dict[int, Ends]) -> Ends:
    """Return whether a text in the value has an unopened closing tag, and an unclosed opening tag.

    Nested lists repeat the question at each depth: `known` caches the results by the value's id."""
    if isinstance(value, str):
        return open_ends_of_text(value)
    if not isinstance(value, list | dict):
        return False, False
    if id(value) not in known:
        items = value if isinstance(value, list) else list(value.values())
        found = [open_ends(item, known) for item in items if not (isinstance(value, list) and isinstance(item, str))]
        if isinstance(value, list):
            found.append(open_ends_of_text("\n".join(item for item in value if isinstance(item, str))))
        known[id(value)] = any(unopened for unopened, _ in found), any(unclosed for _, unclosed in found)
    return known[id(value)]


def open_ends_of_text(text: str) -> Ends:
    """Return the same for one text."""
    unopened, depth = False, 0
    for _, _, closes in tags(text):
        unopened |= closes and depth == 0
        depth = max(depth - 1, 0) if closes else depth + 1
    return unopened, depth > 0


def holds_tag(value: Json) -> bool:
    """Return whether a text of a JSON value has a tag."""
    if isinstance(value, str):
        return bool(tags(value))
    if isinstance(value, dict):
        return any(holds_tag(item) for item in value.values())
    if not isinstance(value, list):
        return False
    return bool(tags("\n".join(item for item in value if isinstance(item, str)))) or any(
        holds_tag(item) for item in value if not isinstance(item, str)
    )


def blank(value: Json) -> Json:
    """Return the value with every text hidden."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, dict):
        return {key: blank(item) for key, item in value.items()}
    return [blank(item) for item in value] if isinstance(value, list) else value


def hide_edit(payload: Json) -> None:
    """Hide an edit inside a span of its file: the edit has no tag, but the original file does."""
    given, response = member(payload, "tool_input"), member(payload, "tool_response")
    before = member(response, "originalFile")
    if not isinstance(before, str) or not (found := spans(before)):
        return
    edits = member(given, "edits")
    for edit in [given, response, *(edits if isinstance(edits, list) else [])]:
        for old, new in (("old_string", "new_string"), ("oldString", "newString")):
            if isinstance(edit, dict) and lies_inside(edit.get(old), before, found):
                edit[old] = edit[new] = MARK
    hunks = member(response, "structuredPatch")
    starts = [0, *(line.end() for line in re.finditer("\n", before)), len(before)]
    for hunk in hunks if isinstance(hunks, list) else []:
        first, count = member(hunk, "oldStart"), member(hunk, "oldLines")
        if not isinstance(hunk, dict) or not isinstance(first, int) or not isinstance(count, int):
            continue
        begin, end = (starts[min(max(line, 0), len(starts) - 1)] for line in (first - 1, first - 1 + count))
        if overlap(found, begin, end) and not holds_tag(hunk):
            hunk["lines"] = [MARK]


def lies_inside(old: Json, before: str, found: list[Span]) -> bool:
    """Return whether `old`, without a tag of its own, is inside a span of the original file."""
    if not isinstance(old, str) or not old or tags(old):
        return False
    at = before.find(old)
    while at >= 0 and not overlap(found, at, at + len(old)):
        # The next relevant match reaches into the next span: stepping through all matches before would take n² steps.
        index = bisect_left(found, (at, 0))
        if index == len(found):
            return False
        at = before.find(old, max(at + 1, found[index][0] - len(old) + 1))
    return at >= 0


def overlap(found: list[Span], begin: int, end: int) -> bool:
    """Return whether a range overlaps one of the spans."""
    index = bisect_left(found, (end, 0))
    return index > 0 and found[index - 1][1] > begin


def member(value: Json, key: str) -> Json:
    """Return the value of `key` in an object; None for any other value."""
    return value.get(key) if isinstance(value, dict) else None
