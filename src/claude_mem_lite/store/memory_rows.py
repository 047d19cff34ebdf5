"""Rows of the table `memories` <-> values. Called by the modules that read and write that table."""

import json
import sqlite3
from dataclasses import asdict, fields
from typing import Any

from claude_mem_lite.models import Memory, SymbolChange
from claude_mem_lite.timestamps import text_to_time, time_to_text

COLUMNS = tuple(field.name for field in fields(Memory))
_decode = json.JSONDecoder().raw_decode
_LISTS = ("facts", "files", "anchors", "tags")


def from_row(row: sqlite3.Row) -> Memory:
    """The memory that stands in a row."""
    stored = dict(zip(row.keys(), row, strict=True))  # a row looks a name up by going through all of them
    stored["commit"] = stored["commit_id"]
    values = {name: stored[name] for name in COLUMNS}
    for name in _LISTS:
        values[name] = tuple(_list(values[name]))
    values["symbols"] = tuple(SymbolChange(**symbol) for symbol in _list(values["symbols"]))
    values["created_at"] = text_to_time(values["created_at"])
    values["last_seen_at"] = text_to_time(values["last_seen_at"])
    values["pinned"] = bool(values["pinned"])
    return Memory(**values)


def values_of(memory: Memory) -> dict[str, object]:
    """What a memory is stored as, by the names of its fields."""
    values = {name: getattr(memory, name) for name in COLUMNS}
    for name in _LISTS:
        values[name] = json.dumps(values[name])
    values["symbols"] = json.dumps([asdict(symbol) for symbol in memory.symbols])
    values["created_at"] = time_to_text(memory.created_at)
    values["last_seen_at"] = time_to_text(memory.last_seen_at)
    return values


def _list(text: str) -> list[Any]:
    # Most are empty, and a context reads hundreds of rows: `json.loads` looks for spaces around it as well, which
    # `values_of` never writes.
    return [] if text == "[]" else _decode(text)[0]
