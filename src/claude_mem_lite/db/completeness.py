"""Comparison of the tables and columns of a database with those that its migrations create.

A table or column that somebody dropped by hand counts as corruption, and no statement about the rest of the file
would show the loss."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, Migration, applied_to, migrate

_COLUMNS = """select tables.name, columns.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
              where tables.type = 'table'"""
# SQLite keeps a word index in shadow tables of its own, and a newer SQLite version may use other tables.
_NOT_OF_AN_INDEX = """ and not exists (select 1 from sqlite_master as indexes
              where indexes.sql like 'create virtual%' and tables.name like indexes.name || '\\_%' escape '\\')"""


def missing(db: sqlite3.Connection) -> str:
    """Return the first table or column that a database lacks; '' for a complete, a newer or a foreign database."""
    applied = applied_to(db)
    for migrations in (INBOX_MIGRATIONS, MEMORY_MIGRATIONS):
        known = tuple(migration for migration in migrations if migration.__name__ in applied)
        if known and len(known) == len(applied):
            return _first_missing(_expected_columns(known), _columns(db))
    return ""


def _first_missing(expected: Sequence[tuple[str, str]], present: Sequence[tuple[str, str]]) -> str:
    columns, tables = set(present), {table for table, _ in present}
    for table, column in expected:
        if table not in tables:
            return f"the table {table} is missing"
        if (table, column) not in columns:
            return f"the column {column} of {table} is missing"
    return ""


@cache
def _expected_columns(migrations: tuple[Migration, ...]) -> Sequence[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, migrations, datetime.now(UTC))
        return _columns(db, _NOT_OF_AN_INDEX)


def _columns(db: sqlite3.Connection, condition: str = "") -> Sequence[tuple[str, str]]:
    return [(str(table), str(column)) for table, column in db.execute(_COLUMNS + condition)]
