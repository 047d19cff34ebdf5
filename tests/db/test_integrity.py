"""Tables and columns that somebody dropped by hand."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.integrity import damage_of, first_missing_part, is_damage
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, Migration, migrate
from tests.db.expected_columns import FILE, made_by_migrations

# As in a database of an SQLite that did without it.
HIDDEN = "delete from sqlite_master where name = 'passages_fts_config'"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def lacking(migrations: Sequence[Migration], *statements: str) -> str:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        migrate(db, migrations, NOW)
        for statement in statements:
            db.execute(statement)
        return first_missing_part(db)


@pytest.mark.parametrize("migrations", [INBOX_MIGRATIONS, MEMORY_MIGRATIONS])
def test_a_database_after_any_of_its_migrations_lacks_nothing(migrations: Sequence[Migration]) -> None:
    assert [lacking(migrations[:number]) for number in range(len(migrations) + 1)] == [""] * (len(migrations) + 1)


@pytest.mark.parametrize("table", ["memories", "progress", "memories_fts"])
def test_a_dropped_table_of_memory_is_named(table: str) -> None:
    assert lacking(MEMORY_MIGRATIONS, f"drop table {table}").startswith(f"the table {table}")


def test_a_dropped_part_of_a_word_index_is_damage_too() -> None:
    with pytest.raises(sqlite3.DatabaseError) as raised:
        lacking(MEMORY_MIGRATIONS, "drop table memories_fts_data")
    assert is_damage(raised.value)


def test_a_dropped_table_of_the_inbox_is_named() -> None:
    assert lacking(INBOX_MIGRATIONS, "drop table inbox") == "the table inbox is missing"


def test_a_renamed_column_is_named() -> None:
    changed = lacking(INBOX_MIGRATIONS, "alter table inbox rename column raw_bytes to size")
    assert changed == "the column raw_bytes of inbox is missing"


@pytest.mark.parametrize(
    "statement", ["create table mine (x)", "insert into migrations values ('m999_of_a_newer_version', '')"]
)
def test_what_others_have_added_is_no_lack(statement: str) -> None:
    assert lacking(MEMORY_MIGRATIONS, statement) == ""


def test_the_tables_that_sqlite_keeps_for_a_word_index_are_not_asked_for() -> None:
    made = "insert into memories_fts (rowid, title) values (1, 'plums')"
    assert lacking(MEMORY_MIGRATIONS, made, "pragma writable_schema=on", HIDDEN) == ""


def test_a_lack_counts_as_damage_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, MEMORY_MIGRATIONS, NOW)
        assert damage_of(path, thoroughly=False) == ""
        db.execute("drop table sessions")
    assert damage_of(path, thoroughly=False) == "the table sessions is missing"


def test_the_columns_in_the_package_are_those_of_the_migrations() -> None:
    assert FILE.read_text() == made_by_migrations(), "run python -m tests.db.expected_columns"
