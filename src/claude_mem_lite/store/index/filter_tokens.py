"""Filter tokens of the word index, and filters as SQL over `memories` and `passages`.

A filter token is a word that no text contains, in the column `marks`: for scope, kind, branch, status, date and
files. A filter by tokens costs as little as a rare word; any other filter reads every row that has the words."""

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime, timedelta

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory, Status
from claude_mem_lite.search_values import Filters
from claude_mem_lite.timestamps import time_to_text

_EVERYWHERE = "everywhere"
KINDS_OF_FILES: tuple[Kind, ...] = (*GUIDANCE_KINDS, "decision")
"""Kinds that may matter when a file is opened; only these kinds have tokens for files."""
# Earlier and later times get the tokens of the first or the last day: each year in a query takes 8 µs a word.
_FIRST_DAY, _LAST_DAY = date(2020, 1, 1), date(2039, 12, 31)
Condition = tuple[str, dict[str, object]]

# The plus signs keep SQLite from using an index of scope or status when the rows are given.
_HOLDS_IN_PROJECT = "(+memories.scope = :in_project or +memories.scope not like 'project:%')"
# Each path may be relative to a root of its own, so either may be the end of the other.
_NAMES_FILE = """exists (select 1 from json_each(memories.files) where value = :file
    or substr(value, -length(:file) - 1) = '/' || :file or substr(:file, -length(value) - 1) = '/' || value)"""


def of_memory(memory: Memory) -> str:
    tokens = [
        scope_token(memory.scope),
        kind_token(memory.kind),
        branch_token(memory.branch),
        *_date_tokens(memory.created_at),
    ]
    if not memory.scope.startswith("project:"):
        tokens.append(scope_token(_EVERYWHERE))
    if memory.status != "active":
        tokens.append(status_token(memory.status))
    if memory.kind in KINDS_OF_FILES:
        tokens += dict.fromkeys(_file_tokens(memory))
    return " ".join(tokens)


def of_passage(project: str, created_at: datetime) -> str:
    return " ".join((_project_token(project), *_date_tokens(created_at)))


def for_memories(filters: Filters) -> str:
    """Return an FTS5 expression for the tokens of memories that may match the filters; '' if all may match."""
    groups = []
    if filters.project:
        groups.append([_project_token(filters.project), scope_token(_EVERYWHERE)])
    if filters.scope:
        groups.append([scope_token(filters.scope)])
    if filters.kinds:
        groups.append([kind_token(kind) for kind in filters.kinds])
    if filters.branch:
        groups.append([branch_token(filters.branch)])
    if filters.statuses and "active" not in filters.statuses:
        groups.append([status_token(status) for status in filters.statuses])
    return _all_of((*groups, *_between(filters)))


def for_passages(filters: Filters) -> str:
    """Return the FTS5 expression for passages."""
    projects = [[_project_token(filters.project)]] if filters.project else []
    return _all_of((*projects, *_between(filters)))


def scope_token(scope: str) -> str:
    return _token("sc", scope)


def kind_token(kind: Kind) -> str:
    return _token("ki", kind)


def branch_token(branch: str) -> str:
    return _token("br", branch)


def status_token(status: Status) -> str:
    """Return the token of a status. Active memories have no token, because a token of nearly all rows would narrow
    nothing."""
    return _token("st", status)


def anchor_token(anchor: str) -> str:
    return _token("an", anchor)


def file_token(path: str) -> str:
    """Return the token of a file or folder by its path, or by the end of its path."""
    return _token("fi", path.removeprefix("./").rstrip("/").lower())


def _file_tokens(memory: Memory) -> Iterator[str]:
    """Yield tokens for the files of a memory and of its anchors, each by path and by name alone."""
    anchored = (anchor.file for text in memory.anchors if (anchor := read_anchor(text)))
    for path in (*memory.files, *(symbol.file for symbol in memory.symbols), *anchored):
        yield file_token(path)
        yield file_token(path.rstrip("/").rpartition("/")[2])


def _project_token(project: str) -> str:
    return scope_token(f"project:{project}")


def _token(prefix: str, name: str) -> str:
    return prefix + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:20]


def _all_of(groups: Iterable[Iterable[str]]) -> str:
    return " AND ".join(f"marks : ({' OR '.join(tokens)})" for tokens in groups)


def _date_tokens(at: datetime) -> tuple[str, str, str]:
    day = _day(at)
    return _date_token(day.year), _date_token(day.year, day.month), _date_token(day.year, day.month, day.day)


def _between(filters: Filters) -> list[list[str]]:
    if filters.since is None and filters.until is None:
        return []
    first = _day(filters.since) if filters.since else _FIRST_DAY
    last = _day(filters.until) if filters.until else _LAST_DAY
    return [list(_days(first, last)) or [_token("no", "such day")]]


def _days(first: date, last: date) -> Iterator[str]:
    """Yield the tokens of all days from the first to the last: years and months where they are complete."""
    day = first
    while day <= last:
        if day.month == day.day == 1 and date(day.year, 12, 31) <= last:
            yield _date_token(day.year)
            day = date(day.year, 12, 31)
        elif day.day == 1 and (end := _end_of_month(day)) <= last:
            yield _date_token(day.year, day.month)
            day = end
        else:
            yield _date_token(day.year, day.month, day.day)
        day += timedelta(days=1)


def _end_of_month(day: date) -> date:
    return (day.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _day(at: datetime) -> date:
    """Return the day of a time, limited to the days that have tokens."""
    return min(max(at.astimezone(UTC).date(), _FIRST_DAY), _LAST_DAY)


def _date_token(*parts: int) -> str:
    return "at" + "x".join(map(str, parts))


def of_memories(filters: Filters) -> Condition:
    """Return the filters as an SQL condition on a row of `memories`, with its values."""
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.project:
        parts.append(_HOLDS_IN_PROJECT)
        values["in_project"] = _sound(f"project:{filters.project}")
    if filters.kinds:
        parts.append("+memories.kind in (select value from json_each(:kinds))")
        values["kinds"] = json.dumps(filters.kinds)
    if filters.origins:
        parts.append("+memories.origin in (select value from json_each(:origins))")
        values["origins"] = json.dumps(filters.origins)
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
    times, bounds = _time_conditions("memories", filters)
    return " and ".join((*parts, *times)) or "true", values | bounds


def of_passages(filters: Filters) -> Condition:
    """Return the filters as an SQL condition on a row of `passages`, with its values."""
    if not filters.admits_passages():
        return "false", {}
    parts: list[str] = []
    values: dict[str, object] = {}
    if filters.project:
        parts.append("+passages.project = :project")
        values["project"] = _sound(filters.project)
    times, bounds = _time_conditions("passages", filters)
    return " and ".join((*parts, *times)) or "true", values | bounds


def matching(db: sqlite3.Connection, filters: Filters, seqs: Sequence[int]) -> set[int]:
    """Return the memories of a list that match the filters."""
    return _matching(db, "memories", of_memories(filters), seqs)


def matching_passages(db: sqlite3.Connection, filters: Filters, seqs: Sequence[int]) -> set[int]:
    """Return the passages of a list that match the filters."""
    return _matching(db, "passages", of_passages(filters), seqs)


def _matching(db: sqlite3.Connection, table: str, condition: Condition, seqs: Sequence[int]) -> set[int]:
    where, values = condition
    rows = db.execute(
        f"select seq from {table} where seq in (select value from json_each(:seqs)) and {where}",
        {**values, "seqs": json.dumps(list(seqs))},
    )
    return {row["seq"] for row in rows}


def _time_conditions(table: str, filters: Filters) -> tuple[list[str], dict[str, object]]:
    parts, values = [], dict[str, object]()
    if filters.since is not None:
        parts.append(f"+{table}.created_at >= :since")
        values["since"] = time_to_text(filters.since)
    if filters.until is not None:
        parts.append(f"+{table}.created_at <= :until")
        values["until"] = time_to_text(filters.until)
    return parts, values


def _sound(text: str) -> str:
    """Return the text with lone surrogates replaced, because SQLite rejects them."""
    return text.encode("utf-8", "replace").decode()
