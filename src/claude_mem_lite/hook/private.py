"""Take `<private>…</private>` spans out of a payload, before anything of it is written.

The kernel imports this only when a payload holds such a tag. What is in doubt is removed, and the event itself
never is: the hook ignores signals meanwhile, so every step here is linear and all of them together have a limit."""

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
# Also as JSON inside JSON spells them: \u003c for <, \/ for /, \n for a line break. What a pattern may repeat
# without bound it takes whole or not at all (++, *+): each character is then looked at once or twice, not n times.
HEAD = re.compile(r"(?:<|(?<!\\)\\++u003c)(\\*+/)?private(?=[\s>]|\\++[fnrtu])", re.IGNORECASE)
STOP = re.compile(r"[<>]|(?<!\\)\\++u003e", re.IGNORECASE)


class TookTooLong(BaseException):
    """The limit is reached: no kind of Exception, so that nothing on the way takes it for its own."""


def clean(data: bytes, limit_s: float = LIMIT_S) -> bytes:
    """The payload without its private spans, or without its texts when that takes longer than the limit."""
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
    """What the timer calls; a search that is under way ends with it too."""
    raise TookTooLong


def without_spans(data: bytes) -> bytes:
    """The payload without its private spans: as JSON, or byte by byte when it is none."""
    try:
        payload: Json = json.loads(data.decode("utf-8", "replace"), strict=False)
        hide_edit(payload)
        return json.dumps(hide_all(payload, {})).encode()
    except (ValueError, RecursionError):
        return hide(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def reduced(data: bytes) -> bytes:
    """What names the event: the short values at the top of the payload that hold no tag. Nothing when it is no JSON."""
    try:
        payload: Json = json.loads(data.decode("utf-8", "replace"), strict=False)
    except (ValueError, RecursionError):
        return b""
    members = payload.items() if isinstance(payload, dict) else ()
    return json.dumps({key: value if is_plain(value) else MARK for key, value in members if is_plain(key)}).encode()


def is_plain(value: Json) -> bool:
    """Whether a value of a payload may stay without a closer look."""
    if isinstance(value, str):
        return len(value) <= MAX_KEPT_LENGTH and not HEAD.search(value)
    return not isinstance(value, list | dict)


def tags(text: str) -> list[tuple[int, int, bool]]:
    """Where each tag begins and ends, and whether it closes; `<private/>` holds nothing and is none."""
    found: list[tuple[int, int, bool]] = []
    stop = None
    for head in HEAD.finditer(text):
        if found and head.start() < found[-1][1]:
            continue
        # The end of one unfinished tag is often that of all before it: looked for once, not once a tag.
        if stop is None or stop.start() < head.end():
            stop = STOP.search(text, head.end())
        if stop is None:
            break
        if stop[0] != "<" and text[stop.start() - 1] != "/":
            found.append((head.start(), stop.end(), bool(head[1])))
    return found


def spans(text: str) -> list[Span]:
    """The private stretches of `text` in order, with their tags.

    An opening that is never closed reaches to the end, a closing that was never opened from the beginning."""
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
    """The text with a mark in place of each private span."""
    pieces, at = [], 0
    for start, end in spans(text):
        pieces += [text[at:start], MARK]
        at = end
    return "".join([*pieces, text[at:]])


def hide_lines(lines: list[str]) -> list[str]:
    """The same for the lines of one text; lines that lie wholly inside a span are left out."""
    longest = max(re.findall("\n\0*", "".join(lines)), key=len, default="")
    between = "\n" + "\0" * len(longest)  # stands in none of the lines
    return hide(between.join(lines)).split(between) if lines else []


def hide_all(value: Json, known: dict[int, Ends]) -> Json:
    """The same for every string in a JSON value; a list of strings counts as one text."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, dict):
        return {hide(key): hide_all(item, known) for key, item in value.items()}
    if isinstance(value, list):
        lines = [item for item in value if isinstance(item, str)]
        return list[Json](hide_lines(lines)) if len(lines) == len(value) else hide_items(value, known)
    return value


def hide_items(items: list[Json], known: dict[int, Ends]) -> list[Json]:
    """The same for items such as hunks or blocks of text: one between an opening and its closing is private."""
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
    """Whether some text in it has a closing that was not opened, and an opening that is not closed.

    Lists within lists ask for the same again at each depth: `known` has what was found, by the value's id."""
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
    """The same for one text."""
    unopened, depth = False, 0
    for _, _, closes in tags(text):
        unopened |= closes and depth == 0
        depth = max(depth - 1, 0) if closes else depth + 1
    return unopened, depth > 0


def holds_tag(value: Json) -> bool:
    """Whether a tag stands in some text of a JSON value."""
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
    """The value with every text in it hidden."""
    if isinstance(value, str):
        return MARK
    if isinstance(value, dict):
        return {key: blank(item) for key, item in value.items()}
    return [blank(item) for item in value] if isinstance(value, list) else value


def hide_edit(payload: Json) -> None:
    """Hide an edit that lies inside a span of its file: it shows no tag, but the file before it does."""
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
    """Whether `old`, without a tag of its own, stands inside a span of the file as it was."""
    if not isinstance(old, str) or not old or tags(old):
        return False
    at = before.find(old)
    while at >= 0 and not overlap(found, at, at + len(old)):
        # The next that matters reaches into the next span: stepping through all before it would take n² steps.
        index = bisect_left(found, (at, 0))
        if index == len(found):
            return False
        at = before.find(old, max(at + 1, found[index][0] - len(old) + 1))
    return at >= 0


def overlap(found: list[Span], begin: int, end: int) -> bool:
    """Whether a stretch has something in common with one of the spans."""
    index = bisect_left(found, (end, 0))
    return index > 0 and found[index - 1][1] > begin


def member(value: Json, key: str) -> Json:
    """What an object has under `key`; None for anything that is no object."""
    return value.get(key) if isinstance(value, dict) else None
