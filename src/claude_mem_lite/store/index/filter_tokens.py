"""What a word index knows of a row besides its words: marks, words that no text contains, in their own column.

A filter that is asked by marks costs as little as a rare word; all others look at every row that has the words.

Filters -> SQL over `memories` and `passages`: what a hit must be besides relevant."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.models import GUIDANCE_KINDS, Filters, Kind, Memory, Status
from claude_mem_lite.timestamps import time_to_text

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


Condition = tuple[str, dict[str, object]]

# The signs keep SQLite from walking an index of scope or status where it is given the rows.
_HOLDS_IN_PROJECT = "(+memories.scope = :in_project or +memories.scope not like 'project:%')"
# Both may be given from a root of their own: one is the end of the other.
_NAMES_FILE = """exists (select 1 from json_each(memories.files) where value = :file
    or substr(value, -length(:file) - 1) = '/' || :file or substr(:file, -length(value) - 1) = '/' || value)"""


def of_memories(filters: Filters) -> Condition:
    """All that is asked of a memory, as a condition on a row of `memories`, with its values."""
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.project:
        parts.append(_HOLDS_IN_PROJECT)
        values["in_project"] = _sound(f"project:{filters.project}")
    if filters.kinds:
        parts.append("+memories.kind in (select value from json_each(:kinds))")
        values["kinds"] = json.dumps(filters.kinds)
    if filters.statuses:
        parts.append("+memories.status in (select value from json_each(:statuses))")
        values["statuses"] = json.dumps(filters.statuses)
    if filters.scope:
        parts.append("+memories.scope = :scope")
        values["scope"] = _sound(filters.scope)
    if filters.branch:
        parts.append("+memories.branch = :branch")
        values["branch"] = _sound(filters.branch)
    if filters.file:
        parts.append(_NAMES_FILE)
        values["file"] = _sound(filters.file)
    when, moments = _condition_when("memories", filters)
    return " and ".join((*parts, *when)) or "true", values | moments


def of_passages(filters: Filters) -> Condition:
    """The same for a row of `passages`."""
    if not filters.admits_passages():
        return "false", {}
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.project:
        parts.append("+passages.project = :project")
        values["project"] = _sound(filters.project)
    when, moments = _condition_when("passages", filters)
    return " and ".join((*parts, *when)) or "true", values | moments


def matching(db: sqlite3.Connection, filters: Filters, seqs: Sequence[int]) -> set[int]:
    """Which of these memories are all that is asked."""
    return _matching(db, "memories", of_memories(filters), seqs)


def matching_passages(db: sqlite3.Connection, filters: Filters, seqs: Sequence[int]) -> set[int]:
    """Which of these passages are all that is asked."""
    return _matching(db, "passages", of_passages(filters), seqs)


def _matching(db: sqlite3.Connection, table: str, condition: Condition, seqs: Sequence[int]) -> set[int]:
    where, values = condition
    rows = db.execute(
        f"select seq from {table} where seq in (select value from json_each(:seqs)) and {where}",
        {**values, "seqs": json.dumps(list(seqs))},
    )
    return {row["seq"] for row in rows}


def _condition_when(table: str, filters: Filters) -> tuple[list[str], dict[str, object]]:
    parts, values = [], dict[str, object]()
    if filters.since is not None:
        parts.append(f"+{table}.created_at >= :since")
        values["since"] = time_to_text(filters.since)
    if filters.until is not None:
        parts.append(f"+{table}.created_at <= :until")
        values["until"] = time_to_text(filters.until)
    return parts, values


def _sound(text: str) -> str:
    """The text with half characters replaced: SQLite takes none."""
    return text.encode("utf-8", "replace").decode()
