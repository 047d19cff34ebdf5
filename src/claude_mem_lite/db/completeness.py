"""Tables and columns that the migrations of a database have made, compared with those that are there: what somebody
dropped by hand is damage, which no statement about the rest of the file would show."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, Migration, applied_to, migrate

_COLUMNS = """select tables.name, columns.name from sqlite_master as tables, pragma_table_info(tables.name) as columns
              where tables.type = 'table'"""
# What SQLite keeps of a word index in tables of its own is its own affair: a newer version may want others.
_NOT_OF_AN_INDEX = """ and not exists (select 1 from sqlite_master as indexes
              where indexes.sql like 'create virtual%' and tables.name like indexes.name || '\\_%' escape '\\')"""


def missing(db: sqlite3.Connection) -> str:
    """The first table or column that a database of ours lacks; '' when it has all, or is of a newer version or none."""
    applied = applied_to(db)
    for migrations in (INBOX_MIGRATIONS, MEMORY_MIGRATIONS):
        known = tuple(one for one in migrations if one.__name__ in applied)
        if known and len(known) == len(applied):
            return _first_missing(_made_by(known), _columns(db))
    return ""


def _first_missing(made: Sequence[tuple[str, str]], there: Sequence[tuple[str, str]]) -> str:
    columns, tables = set(there), {table for table, _ in there}
    for table, column in made:
        if table not in tables:
            return f"the table {table} is missing"
        if (table, column) not in columns:
            return f"the column {column} of {table} is missing"
    return ""


@cache
def _made_by(migrations: tuple[Migration, ...]) -> Sequence[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, migrations, datetime.now(UTC))
        return _columns(db, _NOT_OF_AN_INDEX)


def _columns(db: sqlite3.Connection, but_for: str = "") -> Sequence[tuple[str, str]]:
    return [(str(table), str(column)) for table, column in db.execute(_COLUMNS + but_for)]
