"""Filters -> SQL over `memories` and `passages`: what a hit must be besides relevant."""

import json
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.models import Filters
from claude_mem_lite.timestamps import time_to_text

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
    when, moments = _when("memories", filters)
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
    when, moments = _when("passages", filters)
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


def _when(table: str, filters: Filters) -> tuple[list[str], dict[str, object]]:
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
