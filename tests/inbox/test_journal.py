"""The copies of events: what is written is read again, what is damaged is passed over, what is forgotten is gone."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.event_names import past_name
from claude_mem_lite.inbox import journal, journal_restore, replay
from claude_mem_lite.inbox.journal import FinishedUnit, Journal
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival

NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "kept"


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(open_for_writing(tmp_path / "inbox.db")) as db:
        migrate(db, INBOX_MIGRATIONS, NOW)
        yield db


def name_of(number: int, event: str = "PostToolUse") -> str:
    return f"{number:020d}-77-{number:08x}-{event}"


def arrival(number: int, said: str = "", *, problem: str = "") -> Arrival:
    payload = json.dumps({"said": said or f"word {number}"})
    return Arrival(name_of(number), "PostToolUse", "s-1", payload, 10, problem)


def names_in(folder: Path) -> list[str]:
    return [line.names[0] for line in journal.all_lines(folder) if line.kind == "event"]


def test_a_line_that_is_torn_or_damaged_costs_no_other(folder: Path) -> None:
    kept = Journal(folder)
    kept.keep([arrival(1), arrival(2), arrival(3)], 1.0)
    (path,) = journal.files(folder)
    path.write_bytes(path.read_bytes().replace(b"word 2", b"wort 2")[:-5])
    kept.keep([arrival(4)], 1.0)
    assert names_in(folder) == [name_of(1), name_of(4)]


def test_copies_are_private(folder: Path) -> None:
    Journal(folder).keep([arrival(1)], 1.0)
    (path,) = journal.files(folder)
    assert (folder.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


def test_an_event_is_copied_once_however_often_its_spool_file_is_read(folder: Path) -> None:
    kept = Journal(folder)
    for _ in range(3):
        kept.keep([arrival(1)], 1.0)
    assert names_in(folder) == [name_of(1)]


def test_what_is_imported_is_not_copied(folder: Path) -> None:
    past = Arrival(past_name("Stop", 5, "a"), "Stop", "s-1", "{}", 2)
    Journal(folder).keep([past], 1.0)
    assert journal.files(folder) == []


def test_what_two_hooks_told_of_has_one_copy(folder: Path, inbox: sqlite3.Connection) -> None:
    one = Arrival(name_of(1), "Stop", "s-1", "{}", 2, duplicate_within_s=5.0)
    twin = Arrival(name_of(2), "Stop", "s-1", "{}", 2, duplicate_within_s=5.0)
    Queue(inbox, journal=Journal(folder)).add([one, twin], 1.0)
    assert names_in(folder) == [name_of(1)]


def test_files_are_begun_anew_at_some_size_and_by_each_process(folder: Path) -> None:
    kept = Journal(folder, file_bytes=100)
    for number in range(1, 4):
        kept.keep([arrival(number)], 1.0)
    Journal(folder).keep([arrival(4)], 1.0)
    assert len(journal.files(folder)) == 4
    assert names_in(folder) == [name_of(number) for number in range(1, 5)]


def test_what_is_erased_is_overwritten_and_the_rest_stays(folder: Path) -> None:
    kept = Journal(folder)
    kept.keep([arrival(1), arrival(2, "Zanzibar"), arrival(3)], 1.0)
    kept.erase([name_of(2)])
    assert names_in(folder) == [name_of(1), name_of(3)]
    (path,) = journal.files(folder)
    assert b"Zanzibar" not in path.read_bytes()


def test_each_event_comes_back_as_it_stood(folder: Path, inbox: sqlite3.Connection) -> None:
    kept = Journal(folder)
    kept.keep([arrival(1), arrival(2), arrival(3), arrival(4, problem="no JSON")], 1.0)
    kept.note_done([name_of(1), name_of(2)], FinishedUnit(name_of(1), 7, 2.0, [name_of(2)]))
    assert journal_restore.is_behind(inbox, folder)
    assert journal_restore.restore_from_journal(inbox, folder) == 4
    assert not journal_restore.is_behind(inbox, folder)
    rows = inbox.execute("select name, status, turn, work, reason from inbox order by id").fetchall()
    assert [tuple(row) for row in rows] == [
        (name_of(1), "done", name_of(1), 7, ""),
        (name_of(2), "skipped", name_of(1), 7, ""),
        (name_of(3), "raw", "", 0, ""),
        (name_of(4), "error", "", 0, "no JSON"),
    ]
    assert journal_restore.restore_from_journal(inbox, folder) == 0


def test_what_was_to_be_done_again_is_still_to_be(folder: Path, inbox: sqlite3.Connection) -> None:
    kept = Journal(folder)
    kept.keep([arrival(1), arrival(2), arrival(3)], 1.0)
    for number in (1, 2, 3):
        kept.note_done([name_of(number)], FinishedUnit(name_of(number), number * 10, 2.0, []))
    kept.note_replay(15)
    kept.note_done([name_of(3)], FinishedUnit(name_of(3), 40, 2.0, []))
    journal_restore.restore_from_journal(inbox, folder)
    rows = inbox.execute("select status, work from inbox order by id").fetchall()
    assert [tuple(row) for row in rows] == [("done", 10), ("raw", 20), ("done", 40)]


def test_an_inbox_that_takes_what_is_done_for_undone_is_told(folder: Path, inbox: sqlite3.Connection) -> None:
    kept = Journal(folder)
    Queue(inbox, journal=kept).add([arrival(1)], 1.0)
    kept.note_done([name_of(1)], FinishedUnit(name_of(1), 7, 2.0, []))
    assert journal_restore.restore_from_journal(inbox, folder) == 0
    assert tuple(inbox.execute("select status, turn, work from inbox").fetchone()) == ("done", name_of(1), 7)


def test_what_an_inbox_has_put_back_to_work_is_not_taken_for_done(folder: Path, inbox: sqlite3.Connection) -> None:
    """The memory.db that had it was lost; of the copies, the note that it is to be done again is lost too."""
    kept = Journal(folder)
    Queue(inbox, journal=kept).add([arrival(1)], 1.0)
    inbox.execute("update inbox set status = 'done', work = 7, finished_at = 2")
    kept.note_done([name_of(1)], FinishedUnit(name_of(1), 7, 2.0, []))
    assert replay.requeue_after(inbox, 0) == 1
    assert journal_restore.restore_from_journal(inbox, folder) == 0
    assert tuple(inbox.execute("select status, work from inbox").fetchone()) == ("raw", 7)


def test_what_tells_of_an_event_stays_as_long_as_the_event(folder: Path) -> None:
    kept = Journal(folder, file_bytes=1)
    kept.keep([arrival(1)], 1.0)
    kept.keep([arrival(2)], 1.0)
    kept.note_done([name_of(1)], FinishedUnit(name_of(1), 7, 2.0, []))
    kept.note_replay(3)
    kept.trim(lambda names: {name_of(1)} & set(names))
    assert [line.kind for line in journal.all_lines(folder)] == ["event", "done", "again"]
    kept.trim(lambda _: set())
    assert journal.files(folder) == []
