"""Where a memory holds, from the words of a user: `universal`, `language:NAME`, `project`, `project:ID`."""

import sqlite3

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import Kind
from claude_mem_lite.scopes import SCOPES, UNIVERSAL_KINDS, written_scope
from claude_mem_lite.store.projects import lookup


def resolve_scope(db: sqlite3.Connection, scope: str, kind: Kind, project: str) -> str:
    """The full scope from what the user wrote; what holds everywhere by nature needs no word."""
    if not scope:
        return "universal" if kind in UNIVERSAL_KINDS else f"project:{project}"
    return named_scope(db, scope, project)


def named_scope(db: sqlite3.Connection, scope: str, project: str) -> str:
    """The full scope that is named; a project by its id, its name, or as the one at hand."""
    meant = written_scope(scope)
    if meant is None:
        raise MemoryLiteError(f"{scope!r} is no scope", f"use {SCOPES}")
    if meant in ("project", f"project:{project}"):
        return f"project:{project}"
    if meant.startswith("project:"):
        return f"project:{lookup.named(db, meant.removeprefix('project:'))}"
    return meant
