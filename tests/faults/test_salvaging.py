"""What becomes of the events of a damaged inbox: a damaged key costs no time, and a full disk no event."""

import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox import buried, replaying
from claude_mem_lite.paths import Home
from claude_mem_lite.worker import recovering, salvaging
from claude_mem_lite.worker.salvaging import salvage
from tests.faults.losses import aside, spoil_leaf, told
from tests.running import query

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
RELEASED = Path(__file__).parents[1] / "migrations" / "released"
EVENTS = 200
FAR = 2**60


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
        buried.add(db, [(f"forgotten-{number}", NOW.isoformat()) for number in range(1_000)])
    return home.inbox_db


def count(path: Path, table: str) -> int:
    ((found,),) = query(path, f"select count(*) from {table}")
    return int(found)


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
        patched.setattr(salvaging, "open_for_writing", on_a_full_disk)
        with pytest.raises(sqlite3.OperationalError, match="full"):
            recovering.prepare(home, NOW)
    assert (aside(home), told(home)) == ([], "")

    recovering.prepare(home, NOW)
    assert aside(home) == ["damaged/inbox.db"]
    assert count(home.inbox_db, "inbox") > EVENTS * 0.8


@pytest.mark.parametrize(("table", "rows"), [("inbox", EVENTS), ("tombstones", 1_000)])
def test_a_key_that_is_far_too_high_is_not_counted_up_to(damaged: Path, tmp_path: Path, table: str, rows: int) -> None:
    with closing(sqlite3.connect(damaged)) as db:
        db.execute(f"update {table} set rowid = ? where rowid = ?", (FAR, rows))
        db.commit()
    spoil_leaf(damaged, table)
    new = tmp_path / "new.db"
    salvage(damaged, new, NOW)
    assert rows * 0.8 < count(new, table) < rows


def test_what_waits_in_an_inbox_of_before_there_was_a_replay_is_not_taken_for_one(tmp_path: Path) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    with closing(sqlite3.connect(old)) as db:
        db.executescript((RELEASED / "0.1.0-inbox.sql").read_text())
        db.execute("""insert into inbox (name, event, session, payload, raw_bytes, received_at, status)
                      values ('done-1', 'Stop', 's-2', '{}', 2, 0, 'done')""")
        db.commit()
    assert salvage(old, new, NOW) == 2
    assert query(new, "select status, work from inbox order by id") == [("raw", 0), ("done", 1)]
    with closing(open_for_writing(new)) as db:
        assert replaying.next_unit(db) == []
