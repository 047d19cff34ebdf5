"""What a word index knows of a row besides its words: marks, words that no text contains, in their own column.

A filter that is asked by marks costs as little as a rare word; all others look at every row that has the words."""

import hashlib
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.models import GUIDANCE_KINDS, Filters, Kind, Memory, Status

_EVERYWHERE = "everywhere"
KINDS_OF_FILES: tuple[Kind, ...] = (*GUIDANCE_KINDS, "decision")
"""What may have to be minded where a file is opened; only of them the files are marked."""
# What is older or younger has the marks of the first or the last day: each year asked for takes 8 µs a word.
_FIRST_DAY, _LAST_DAY = date(2020, 1, 1), date(2039, 12, 31)


def of_memory(memory: Memory) -> str:
    marks = [scope_mark(memory.scope), kind_mark(memory.kind), branch_mark(memory.branch), *_moment(memory.created_at)]
    if not memory.scope.startswith("project:"):
        marks.append(scope_mark(_EVERYWHERE))
    if memory.status != "active":
        marks.append(status_mark(memory.status))
    if memory.kind in KINDS_OF_FILES:
        marks += dict.fromkeys(_marks_of_files(memory))
    return " ".join(marks)


def of_passage(project: str, created_at: datetime) -> str:
    return " ".join((_project_mark(project), *_moment(created_at)))


def for_memories(filters: Filters) -> str:
    """The marks of memories that may fit, as an expression of FTS5; empty when all may."""
    asked = []
    if filters.project:
        asked.append([_project_mark(filters.project), scope_mark(_EVERYWHERE)])
    if filters.scope:
        asked.append([scope_mark(filters.scope)])
    if filters.kinds:
        asked.append([kind_mark(kind) for kind in filters.kinds])
    if filters.branch:
        asked.append([branch_mark(filters.branch)])
    if filters.statuses and "active" not in filters.statuses:
        asked.append([status_mark(status) for status in filters.statuses])
    return _all_of((*asked, *_between(filters)))


def for_passages(filters: Filters) -> str:
    """The same for passages."""
    projects = [[_project_mark(filters.project)]] if filters.project else []
    return _all_of((*projects, *_between(filters)))


def scope_mark(scope: str) -> str:
    return _mark("sc", scope)


def kind_mark(kind: Kind) -> str:
    return _mark("ki", kind)


def branch_mark(branch: str) -> str:
    return _mark("br", branch)


def status_mark(status: Status) -> str:
    """Only memories that are not active have one: a mark that nearly all have would narrow nothing."""
    return _mark("st", status)


def anchor_mark(anchor: str) -> str:
    return _mark("an", anchor)


def file_mark(path: str) -> str:
    """A file or folder by its path, or by the end of one: as much of it as is known."""
    return _mark("fi", path.removeprefix("./").rstrip("/").lower())


def _marks_of_files(memory: Memory) -> Iterator[str]:
    """Files that a memory names or is tied to, each by what it is called there and by its name alone."""
    tied = (anchor.file for text in memory.anchors if (anchor := read_anchor(text)))
    for path in (*memory.files, *(symbol.file for symbol in memory.symbols), *tied):
        yield file_mark(path)
        yield file_mark(path.rstrip("/").rpartition("/")[2])


def _project_mark(project: str) -> str:
    return scope_mark(f"project:{project}")


def _mark(prefix: str, name: str) -> str:
    return prefix + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:20]


def _all_of(asked: Iterable[Iterable[str]]) -> str:
    return " AND ".join(f"marks : ({' OR '.join(marks)})" for marks in asked)


def _moment(at: datetime) -> tuple[str, str, str]:
    day = _day(at)
    return _when(day.year), _when(day.year, day.month), _when(day.year, day.month, day.day)


def _between(filters: Filters) -> list[list[str]]:
    if filters.since is None and filters.until is None:
        return []
    first = _day(filters.since) if filters.since else _FIRST_DAY
    last = _day(filters.until) if filters.until else _LAST_DAY
    return [list(_days(first, last)) or [_mark("no", "such day")]]


def _days(first: date, last: date) -> Iterator[str]:
    """The marks of all days from the first to the last: years and months where they are whole."""
    day = first
    while day <= last:
        if day.month == day.day == 1 and date(day.year, 12, 31) <= last:
            yield _when(day.year)
            day = date(day.year, 12, 31)
        elif day.day == 1 and (end := _end_of_month(day)) <= last:
            yield _when(day.year, day.month)
            day = end
        else:
            yield _when(day.year, day.month, day.day)
        day += timedelta(days=1)


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _day(at: datetime) -> date:
    """The day of a moment, within those that have marks."""
    return min(max(at.astimezone(UTC).date(), _FIRST_DAY), _LAST_DAY)


def _when(*parts: int) -> str:
    return "at" + "x".join(map(str, parts))
