"""Tests of `worker/backup_scheduler.py` and `db/backup_files.py`: time and content of backups, and effects of a full
disk."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files, change_counter
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.integrity import damage_of
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.errors import MemoryLiteError, SchemaTooNew
from claude_mem_lite.inbox.queue import KEEP_FINISHED_S
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.api import admin
from claude_mem_lite.worker.composition import open_loop
from tests.faults.losses import (
    AT_ONCE,
    WAIT_S,
    Moment,
    aside,
    back_up,
    backup_names,
    do,
    forget,
    notes,
    prompts,
    remember,
    spoil_header,
    told,
    worked,
)
from tests.support import live_files
from tests.support.running import leave, query, turn, wait_until

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def small_home(home: Home, notes: int = 50) -> None:
    with closing(open_for_writing(home.memory_db)) as db:
        migrate(db, MEMORY_MIGRATIONS, NOW)
        db.executemany("insert into tombstones values (?, '2026')", [(f"{n:060d}",) for n in range(notes)])


def test_one_is_made_after_the_first_events_and_one_a_day_when_something_changed(home: Home) -> None:
    clock = Moment()
    with worked(home, clock, AT_ONCE) as loop:
        assert backup_names(home) == []
        do(home, loop, "count the apples")
        wait_until(lambda: len(backup_names(home)) == 1, "the first backup")
        clock.advance(hours=23)
        do(home, loop, "count the plums")
        assert loop.passes.wait_until_idle(30)
        assert len(backup_names(home)) == 1
        clock.advance(hours=2)
        loop.writes.wake()
        wait_until(lambda: len(backup_names(home)) == 2, "the next backup")
        clock.advance(days=2)
        assert loop.passes.wait_until_idle(30)
        assert len(backup_names(home)) == 2, "nothing had changed"


def test_the_newest_seven_are_kept_and_all_is_private(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        made = []
        for number in range(9):
            do(home, loop, f"count the apples of tree {number}")
            clock.advance(minutes=1)
            made.append(back_up(loop).name)
    assert backup_names(home) == made[:1:-1]
    assert home.backups.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in home.backups.iterdir()} == {0o600}
    assert sorted(os.listdir(home.backups)) == sorted(made[2:])


def test_a_backup_holds_what_was_stored_before_it(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        remember(loop, "Pears are green")
        made = back_up(loop)
        remember(loop, "Plums are blue")
    held = backup_files.check(made)
    assert (held.sessions, held.steps_behind) == (1, 0)
    assert query(made, "select summary from memories where kind = 'note'") == [("Pears are green",)]


def test_a_clock_that_was_ahead_keeps_no_backup_from_being_made(home: Home) -> None:
    clock = Moment()
    clock.advance(days=400)
    with worked(home, clock, AT_ONCE) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        clock.advance(days=-400)
        do(home, loop, "count the plums")
        wait_until(lambda: len(backup_names(home)) == 2, "a backup of now")
    assert backup_names(home)[0] < backup_names(home)[1], "the newest is the one that is further, whatever its date"


def test_the_inbox_keeps_what_no_backup_has(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        do(home, loop, "count the plums")
        clock.advance(seconds=KEEP_FINISHED_S + 1)
        wait_until(lambda: loop.backups.backed_up > 0, "the backup to be noted")
        done = loop.backups.backed_up
        loop.writes.execute_queue_write(lambda queue: queue.trim(clock().timestamp(), done)).result(30)
        kept = [json.loads(payload).get("prompt") for (payload,) in query(home.inbox_db, "select payload from inbox")]
        assert "count the plums" in kept
        assert "count the apples" not in kept


# What was forgotten.


def test_what_is_forgotten_leaves_the_backups_and_those_without_it_stay(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        first = back_up(loop)
        clock.advance(hours=1)
        secret = remember(loop, "The vault opens with zanzibarium")
        second = back_up(loop)
        clock.advance(hours=1)
        forget(loop, secret)
        assert first.exists()
        assert not second.exists()
        assert len(backup_names(home)) == 2, "a new one took its place"
        assert live_files.files_with(home.root, b"zanzibarium") == []
        assert loop.passes.wait_until_idle(30)
    assert query(home.inbox_db, "select count(*) from leaving") == [(0,)]


def test_a_worker_that_died_before_the_backups_were_cleaned_leaves_that_to_the_next(home: Home) -> None:
    with worked(home) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        made = back_up(loop)
        content = made.read_bytes()
        forget(loop, secret)
    made.write_bytes(content)
    with closing(sqlite3.connect(home.inbox_db)) as db:
        db.execute("insert into leaving values (?)", (secret,))
        db.commit()
    with worked(home):
        wait_until(lambda: not made.exists(), "the backup to go")


def test_what_is_forgotten_leaves_what_was_set_aside(home: Home) -> None:
    with worked(home) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
    spoil_header(home.memory_db)
    with worked(home) as loop:
        assert aside(home) == ["damaged/memory.db"]
        forget(loop, secret)
        assert aside(home) == []
    assert notes(home) == set()


def test_tombstones_outlive_the_loss_of_memory(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        do(home, loop, "count the apples")
        old = back_up(loop).read_bytes()
        forget(loop, secret)
    for one in backup_files.all_in(home.backups):
        one.path.unlink()
    # A copy of before the forgetting is all there is.
    (home.backups / "memory-20260101T000000Z-000000000001.db").write_bytes(old)
    home.memory_db.unlink()
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples"}
    assert notes(home) == set()
    assert "zanzibarium" not in str(query(home.memory_db, "select * from memories_fts"))


def test_each_database_has_the_names_that_the_other_has_lost(home: Home) -> None:
    with worked(home) as loop:
        forget(loop, remember(loop, "The vault opens with zanzibarium"))
        forget(loop, remember(loop, "The attic opens with tamarind"))
    names = {name for (name,) in query(home.inbox_db, "select name from tombstones")}
    first, *_, last = sorted(names)
    for path, column, name in ((home.inbox_db, "name", first), (home.memory_db, "memory", last)):
        with closing(sqlite3.connect(path)) as db:
            db.execute(f"delete from tombstones where {column} = ?", (name,))
            db.commit()
    with worked(home):
        pass
    assert {name for (name,) in query(home.inbox_db, "select name from tombstones")} == names
    assert {name for (name,) in query(home.memory_db, "select memory from tombstones")} == names


def holds(path: Path, words: bytes) -> bool:
    return words in path.read_bytes()


# What goes wrong.


def test_a_full_disk_leaves_no_debris_and_harms_nothing(home: Home) -> None:
    small_home(home, 5_000)
    program = (
        "import resource, sys; from datetime import datetime, UTC; from pathlib import Path\n"
        "from claude_mem_lite.db import backup_files as backups\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "backups.make(Path(sys.argv[1]), Path(sys.argv[2]), datetime.now(UTC))\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program, str(home.memory_db), str(home.backups)], capture_output=True, text=True
    )
    assert ran.returncode == 1
    assert "sqlite3." in ran.stderr
    assert list(home.backups.iterdir()) == []
    assert query(home.memory_db, "select count(*) from tombstones") == [(5_000,)]


def test_a_worker_on_a_full_disk_says_that_no_backup_was_made_and_works_on(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with worked(home) as loop:
        do(home, loop, "count the apples")
        with monkeypatch.context() as patched:
            patched.setattr(backup_files, "sync", no_room)
            asked = loop.backups.make_soon()
            loop.writes.wake()
            with pytest.raises(MemoryLiteError, match="No space left"):
                asked.result(30)
        assert "No space left" in loop.backups.problem
        assert list(home.backups.iterdir()) == []
        do(home, loop, "count the plums")
        back_up(loop)
        assert loop.backups.problem == ""
    assert prompts(home) == {"count the apples", "count the plums"}


def test_what_was_forgotten_waits_in_the_backups_until_there_is_room_for_a_new_one(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with worked(home) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        made = back_up(loop)
        with monkeypatch.context() as patched:
            patched.setattr(backup_files, "sync", no_room)
            forget(loop, secret)
            assert made.exists(), "it is all there is beside memory.db"
            assert loop.passes.wait_until_idle(30)
    with worked(home):
        wait_until(lambda: not made.exists(), "the backup to go")


def test_a_backup_that_a_killed_worker_left_unfinished_is_removed(home: Home) -> None:
    home.backups.mkdir()
    (home.backups / ".making-4194304").write_bytes(b"half")
    with worked(home):
        assert list(home.backups.iterdir()) == []


def test_a_backup_under_way_gives_way_and_is_made_afterwards(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    real, begun = backup_files.make, []

    def slow(source: Path, folder: Path, now: datetime, note: object) -> backup_files.Backup:
        def wait(db: sqlite3.Connection) -> None:
            note(db)  # type: ignore[operator]
            begun.append(db)
            if len(begun) == 1:  # a query without an end, until it is interrupted
                db.execute("with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n")

        return real(source, folder, now, wait)

    monkeypatch.setattr(backup_files, "make", slow)
    with worked(home) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        asked = loop.backups.make_soon()
        loop.writes.wake()
        wait_until(lambda: bool(begun), "the backup to begin")
        forget(loop, secret)
        made = asked.result(30)
    assert not holds(made.path, b"zanzibarium")


def test_who_hears_that_a_backup_is_made_finds_it_counted(home: Home) -> None:
    with open_loop(home, lambda: datetime.now(UTC)) as idle:  # nobody steps but this test
        loop = idle.services
        asked = loop.backups.make_soon()
        loop.backups.step(lambda: None, is_quiet=False)
        made = asked.result(30)
        newest = loop.backups.newest
        assert (loop.backups.kept, newest and newest.path) == (1, made.path)


def test_a_backup_that_nobody_waits_for_is_made_though_it_had_to_give_way(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, begun = backup_files.make, []

    def slow(source: Path, folder: Path, now: datetime, note: object) -> backup_files.Backup:
        def wait(db: sqlite3.Connection) -> None:
            note(db)  # type: ignore[operator]
            begun.append(db)
            if len(begun) == 1:  # a query without an end, until it is interrupted
                db.execute("with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n")

        return real(source, folder, now, wait)

    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        clock.advance(hours=1)
        monkeypatch.setattr(backup_files, "make", slow)
        secret = remember(loop, "The vault opens with zanzibarium")
        loop.backups.request_soon()
        loop.writes.wake()
        wait_until(lambda: bool(begun), "the backup to begin")
        forget(loop, secret)  # which no backup holds
        wait_until(lambda: len(backup_names(home)) == 2, "the backup that was wanted")


def test_a_backup_by_command_is_read_throughout_once(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []

    def noted(path: Path, *, thoroughly: bool) -> str:
        looks.append(path)
        return damage_of(path, thoroughly=thoroughly)

    with worked(home) as loop:
        remember(loop, "Pears are green")
        monkeypatch.setattr(backup_files, "damage_of", noted)
        made = admin.make(loop)
    assert made.memories == 1
    assert len(looks) == 1


def test_a_backup_is_made_while_nothing_can_be_taken_in(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        with closing(sqlite3.connect(home.inbox_db)) as db:
            db.execute("create trigger no_room before insert on inbox begin select raise(abort, 'no room'); end")
        leave(home, turn("s-1", "count the plums")[0])
        loop.writes.wake()
        wait_until(lambda: "IntegrityError" in loop.passes.failure, "a look at the spool that fails")
        made = back_up(loop)
    assert backup_files.check(made).sessions == 1


def test_whoever_asked_for_a_backup_hears_why_none_can_be_begun(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        loop.writes.execute_queue_write(lambda queue: queue.db.set_progress_handler(lambda: 1, 1)).result(WAIT_S)
        loop.backups.purge_from_backups(lambda: None)
        with pytest.raises(MemoryLiteError, match="no backup was made: interrupted"):
            back_up(loop)


def test_whoever_asks_a_worker_that_has_ended_for_a_backup_is_refused_at_once(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    with pytest.raises(MemoryLiteError, match="the worker ends"):
        loop.backups.make_soon().result(30)


# What is no backup.


def test_a_file_that_is_no_backup_is_refused_in_plain_words(home: Home, tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing of ours")
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("create table shopping (what)")
    for path in (text, other):
        with pytest.raises(MemoryLiteError, match="is no backup of claude-mem-lite"):
            backup_files.check(path)
    with pytest.raises(MemoryLiteError, match="there is no file"):
        backup_files.check(tmp_path / "nowhere.db")


def test_a_backup_of_a_newer_version_is_refused_and_not_chosen(home: Home) -> None:
    small_home(home)
    older = backup_files.make(home.memory_db, home.backups, NOW)
    with closing(open_for_writing(home.memory_db)) as db:
        db.execute("insert into migrations values ('m999_from_the_future', '2030')")
        db.execute("update progress set done = 100")
    newer = backup_files.make(home.memory_db, home.backups, NOW)
    with pytest.raises(SchemaTooNew, match="m999_from_the_future"):
        backup_files.check(newer.path)
    assert [one.path for one in backup_files.restorable(home.backups, change_counter.of_file(home.memory_db))] == [
        older.path
    ]


def test_nothing_is_told_of_backups_that_are_made_as_they_should(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    assert told(home) == ""


def test_a_file_with_a_time_that_there_is_not_is_no_backup(home: Home) -> None:
    home.backups.mkdir()
    (home.backups / "memory-20261301T000000Z-000000000001.db").touch()
    assert backup_files.all_in(home.backups) == []
