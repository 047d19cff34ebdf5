"""Tests of `db/memory_schema.py`, `db/memory_schema_first.py` and `db/migrations.py`: a schema grown step by step
equals a schema made at once; a newer schema is refused."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, Migration, migrate
from claude_mem_lite.errors import SchemaTooNew

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RELEASED = Path(__file__).parent / "released"
BOTH = pytest.mark.parametrize("migrations", [INBOX_MIGRATIONS, MEMORY_MIGRATIONS], ids=["inbox", "memory"])


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path / "test.db")) as connection:
        yield connection


@BOTH
def test_a_schema_migrated_one_step_at_a_time_equals_a_fresh_one(
    db: sqlite3.Connection, tmp_path: Path, migrations: Sequence[Migration]
) -> None:
    for steps in range(len(migrations) + 1):
        migrate(db, migrations[:steps], NOW)
    with closing(open_for_writing(tmp_path / "fresh.db")) as fresh:
        migrate(fresh, migrations, NOW)
        assert _schema(db) == _schema(fresh)


@pytest.mark.parametrize("script", sorted(RELEASED.glob("*.sql")), ids=lambda path: path.stem)
def test_a_released_database_is_brought_to_the_fresh_schema_and_keeps_its_rows(
    db: sqlite3.Connection, tmp_path: Path, script: Path
) -> None:
    migrations = INBOX_MIGRATIONS if "inbox" in script.stem else MEMORY_MIGRATIONS
    table = "inbox" if "inbox" in script.stem else "memories"
    db.executescript(script.read_text())
    rows = db.execute(f"select count(*) from {table}").fetchone()[0]
    migrate(db, migrations, NOW)
    with closing(open_for_writing(tmp_path / "fresh.db")) as fresh:
        migrate(fresh, migrations, NOW)
        assert _schema(db) == _schema(fresh)
    assert rows == db.execute(f"select count(*) from {table}").fetchone()[0] == 1


def test_only_what_a_home_does_not_have_is_run_and_what_it_has_keeps_its_name(db: sqlite3.Connection) -> None:
    db.executescript((RELEASED / "0.1.0-m017-memory.sql").read_text())
    recorded = [row["name"] for row in db.execute("select name from migrations order by rowid")]
    names = [migration.__name__ for migration in MEMORY_MIGRATIONS]
    assert recorded == names[: names.index("m017_composers") + 1]
    assert migrate(db, MEMORY_MIGRATIONS, NOW) == names[len(recorded) :]
    (session,) = db.execute("select headline, headline_worth from sessions").fetchall()
    assert tuple(session) == ("Fix the login", 0)


@BOTH
def test_each_migration_is_run_once_and_recorded(db: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    names = [migration.__name__ for migration in migrations]
    assert migrate(db, migrations, NOW) == names
    assert migrate(db, migrations, NOW) == []
    assert [row["name"] for row in db.execute("select name from migrations order by rowid")] == names


def test_a_migration_that_fails_leaves_nothing_behind(db: sqlite3.Connection) -> None:
    def m999_broken(connection: sqlite3.Connection) -> None:
        connection.execute("create table half (id)")
        connection.execute("this is not sql")

    with pytest.raises(sqlite3.OperationalError):
        migrate(db, [m999_broken], NOW)
    assert _schema(db) == {"migrations": "create table migrations (name text primary key, applied_at text not null)"}
    assert db.execute("select count(*) from migrations").fetchone()[0] == 0


def test_a_database_of_a_newer_version_is_refused_by_name(db: sqlite3.Connection) -> None:
    migrate(db, MEMORY_MIGRATIONS, NOW)
    db.execute("insert into migrations values ('m999_from_the_future', '2030')")
    with pytest.raises(SchemaTooNew, match="m999_from_the_future"):
        migrate(db, MEMORY_MIGRATIONS, NOW)


def _schema(db: sqlite3.Connection) -> dict[str, str]:
    """Every table and index with its definition, white space and case aside."""
    rows = db.execute("select name, sql from sqlite_master where sql is not null")
    return {
        row["name"]: " ".join(row["sql"].replace("CREATE", "create").replace("TABLE", "table").split()) for row in rows
    }


def test_outcomes_by_the_rules_of_before_become_unknown_but_for_those_of_fixes(db: sqlite3.Connection) -> None:
    names = [migration.__name__ for migration in MEMORY_MIGRATIONS]
    before = names.index("m012_unknown_outcomes")
    migrate(db, MEMORY_MIGRATIONS[:before], NOW)
    for name, moment in (("a", "startup"), ("b", "prompt"), ("c", "failure")):
        db.execute(
            """insert into receipts (spool_name, session, project, moment, layers, layers_skipped, tokens, budget,
                 build_ms, created_at) values (?, 's1', 'shop', ?, '[]', '[]', 20, 2000, 1.0, '2026-01-02')""",
            (name, moment),
        )
        for position, outcome in enumerate(("used", "ignored", None)):
            db.execute("insert into receipt_items values (?, ?, 'm1', 'x', 'y', 7, 0.5, ?)", (name, position, outcome))
    migrate(db, MEMORY_MIGRATIONS, NOW)
    rows = db.execute("select receipt, outcome, tokens, score from receipt_items order by receipt, position").fetchall()
    assert [tuple(row)[:2] for row in rows] == [
        *((name, outcome) for name in "ab" for outcome in ("unknown", "unknown", None)),
        *(("c", outcome) for outcome in ("used", "ignored", None)),
    ]
    assert {tuple(row)[2:] for row in rows} == {(7, 0.5)}


def test_memories_keep_their_rows_numbers_and_indexes_when_teammates_become_an_origin(db: sqlite3.Connection) -> None:
    names = [migration.__name__ for migration in MEMORY_MIGRATIONS]
    before = names.index("m020_team_origin")
    db.executescript((RELEASED / "0.1.0-m017-memory.sql").read_text())
    migrate(db, MEMORY_MIGRATIONS[:before], NOW)
    db.execute("update memories set seq = 41, folder = '/home/me/shop', pinned = 1")
    rows = [dict(row) for row in db.execute("select * from memories")]
    indexes = _indexes_of_memories(db)
    migrate(db, MEMORY_MIGRATIONS[: before + 1], NOW)
    assert [dict(row) for row in db.execute("select * from memories")] == [{**row, "author": ""} for row in rows]
    after = _indexes_of_memories(db)
    assert after.pop("memories_of_team")
    assert after == indexes
    assert len(indexes) == 7


def test_a_memory_may_come_from_a_teammate_and_from_no_unknown_origin(db: sqlite3.Connection) -> None:
    db.executescript((RELEASED / "0.1.0-memory.sql").read_text())
    migrate(db, MEMORY_MIGRATIONS, NOW)
    db.execute("update memories set origin = 'team', author = 'Ana'")
    with pytest.raises(sqlite3.IntegrityError):
        db.execute("update memories set origin = 'rumour'")


def _indexes_of_memories(db: sqlite3.Connection) -> dict[str, str]:
    rows = db.execute("select name, sql from sqlite_master where type = 'index' and tbl_name = 'memories'")
    return {row["name"]: row["sql"] for row in rows if row["sql"]}
