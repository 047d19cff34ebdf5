"""A damaged inbox: what can be read is copied, and a full disk costs no event."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox import erase, journal_restore
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.recovery import startup
from tests.faults.losses import aside, spoil_leaf, told
from tests.support.running import query

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
EVENTS = 200


@pytest.fixture
def damaged(home: Home) -> Path:
    """An inbox with some hundred events and names of what was forgotten; its tables have several pages each."""
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, INBOX_MIGRATIONS, NOW)
        db.executemany(
            """insert into inbox (name, event, session, payload, raw_bytes, received_at, status)
               values (?, 'Stop', 's-1', ?, 400, 0, 'done')""",
            [(f"event-{number}", "x" * 400) for number in range(EVENTS)],
        )
        erase.merge_tombstones(db, [(f"forgotten-{number}", NOW.isoformat()) for number in range(1_000)])
    return home.inbox_db


def test_a_disk_that_is_full_loses_no_event_of_a_damaged_inbox(
    home: Home, damaged: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on_a_full_disk(path: Path) -> sqlite3.Connection:
        db = open_for_writing(path)
        db.execute("pragma max_page_count=30")  # enough for the tables, and for a few events
        return db

    spoil_leaf(damaged, "inbox")
    home.suspect.touch()
    with monkeypatch.context() as patched:
        patched.setattr(startup, "open_for_writing", on_a_full_disk)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            startup.prepare(home, NOW)
    assert (aside(home), told(home)) == ([], "")

    startup.prepare(home, NOW)
    assert aside(home) == ["damaged/inbox.db"]
    assert query(home.inbox_db, "select name from inbox limit 1") == [("event-0",)]


def test_each_table_is_copied_up_to_what_cannot_be_read(damaged: Path, tmp_path: Path) -> None:
    spoil_leaf(damaged, "tombstones")
    with closing(open_for_writing(tmp_path / "new.db")) as db:
        migrate(db, INBOX_MIGRATIONS, NOW)
        assert journal_restore.copy_readable(damaged, db) == EVENTS
        (names,) = db.execute("select count(*) from tombstones").fetchone()
    assert 0 < names < 1_000
