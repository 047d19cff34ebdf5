"""`python -m tests.db.snapshot`: keeps the schema of a release, with a row in it, for later migrations to prove
themselves on. Run once when a version is released; the files are never edited. A schema between two releases
that homes may have is kept by the name of its last migration, as `0.1.0-m017-memory.sql`."""

import sqlite3
import tempfile
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite import __version__
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.knowledge import remember
from claude_mem_lite.models import Event, Location, Memory, SessionSummary
from claude_mem_lite.store import sessions

RELEASED = Path(__file__).parent / "released"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        with closing(open_for_writing(Path(folder) / "inbox.db")) as db:
            migrate(db, INBOX_MIGRATIONS, NOW)
            name = f"{int(NOW.timestamp() * 1e9):020d}-1-deadbeef-Stop"
            Queue(db).add([Arrival(name, "Stop", "s1", '{"session_id":"s1"}', 19)], NOW.timestamp())
            _write("inbox", db)
        with closing(open_for_writing(Path(folder) / "memory.db")) as db:
            migrate(db, MEMORY_MIGRATIONS, NOW)
            with atomic(db):
                _remember(db)
            _write("memory", db)


def _remember(db: sqlite3.Connection) -> None:
    place = Location("example.org/me/shop", "shop", "/home/me/shop", "main", "abc")
    sessions.touch(db, Event("n", "Stop", "s1", NOW, "/home/me/shop"), place)
    sessions.set_summary(db, "s1", SessionSummary(headline="Fix the login", next_steps=("Fix the logout",)), NOW)
    memory = Memory(
        id="abcdefghij",
        kind="bugfix",
        title="Fix the login",
        summary="The clock was not frozen.",
        created_at=NOW,
        last_seen_at=NOW,
        scope=f"project:{place.project}",
        project=place.project,
        session="s1",
    )
    remember.add(db, memory, "t1", NOW)


def _write(name: str, db: sqlite3.Connection) -> None:
    """The database as statements; tables that FTS5 keeps for itself are made by creating the index."""
    lines = []
    for row in db.execute("select name, sql from sqlite_master where sql is not null order by rowid"):
        if "_fts_" in row["name"] or row["name"].startswith("sqlite_"):
            continue
        lines.append(f"{row['sql']};")
        if not row["sql"].lower().startswith("create index"):
            lines += [_insert(db, row["name"], values) for values in db.execute(f"select * from {row['name']}")]
    (RELEASED / f"{__version__}-{name}.sql").write_text("\n".join(lines) + "\n")


def _insert(db: sqlite3.Connection, table: str, values: sqlite3.Row) -> str:
    quoted = ", ".join(db.execute("select quote(?)", (value,)).fetchone()[0] for value in values)
    return f"insert into {table} ({', '.join(values.keys())}) values ({quoted});"


if __name__ == "__main__":
    main()
