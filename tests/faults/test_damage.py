"""A database that is damaged, in whatever way: the newest good backup and the inbox bring everything back."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db import recovery_log
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.db.integrity import damage_of
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.recovery import set_aside, startup
from tests.faults.losses import (
    DAMAGES,
    Moment,
    aside,
    back_up,
    do,
    empty,
    fill_with_garbage,
    forget,
    notes,
    prompts,
    remember,
    spoil_header,
    spoil_leaf,
    spoil_page,
    spoil_root,
    told,
    truncate,
    worked,
)
from tests.support.running import Machine, dump, query, wait_until

EACH = pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)


def mark_unclean(home: Home) -> None:
    """What a worker leaves that was killed, or a machine that lost its power."""
    home.worker_pid.write_text("4194304")


@EACH
def test_a_damaged_memory_is_recovered_from_the_newest_backup_and_the_inbox(
    home: Home, damage: Callable[[Path], None]
) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        pear = remember(loop, "Pears are green")
        back_up(loop)
        do(home, loop, "count the plums")
        remember(loop, "Plums are blue")
        loop.commands.put({"command": "pin", "id": pear, "pinned": True}).result(30)
    before = dump(home.memory_db)
    mark_unclean(home)
    damage(home.memory_db)
    with worked(home):
        pass
    assert dump(home.memory_db) == before
    assert "The backup of " in told(home)
    assert recovery_log.all_of(home)[0].replayed > 0
    if damage.__name__ != "remove":
        assert aside(home) == ["damaged/memory.db"]


@pytest.mark.parametrize("damage", [fill_with_garbage, empty], ids=lambda damage: damage.__name__)
def test_without_any_backup_all_that_the_inbox_holds_is_done_again(home: Home, damage: Callable[[Path], None]) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        remember(loop, "Pears are green")
    mark_unclean(home)
    damage(home.memory_db)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}
    assert notes(home) == {"Pears are green"}
    assert "there is no backup" in told(home)


def test_a_lost_log_shows_as_a_memory_that_is_behind_the_inbox(home: Home, tmp_path: Path) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        with closing(sqlite3.connect(home.memory_db)) as db:  # what follows is in the log alone
            db.execute("pragma wal_checkpoint(truncate)")
        shutil.copy(home.memory_db, tmp_path / "memory.db")
        do(home, loop, "count the plums")
        remember(loop, "Plums are blue")
    shutil.copy(tmp_path / "memory.db", home.memory_db)
    assert prompts(home) == {"count the apples"}
    with worked(home):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}
    assert notes(home) == {"Plums are blue"}
    assert "had lost what was last written" in told(home)
    assert aside(home) == []


def test_a_memory_that_is_older_than_its_newest_backup_gives_way_to_it(home: Home, tmp_path: Path) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    shutil.copy(home.memory_db, tmp_path / "memory.db")
    with worked(home) as loop:
        do(home, loop, "count the plums")
        back_up(loop)
    home.inbox_db.unlink()
    shutil.copy(tmp_path / "memory.db", home.memory_db)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}
    assert "older than its newest backup" in told(home)


def test_a_backup_that_is_damaged_too_is_passed_over(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        clock.advance(hours=1)
        do(home, loop, "count the plums")
        newest = back_up(loop)
    fill_with_garbage(newest)
    spoil_header(home.memory_db)
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}
    assert newest.exists()


@pytest.mark.parametrize("number", [1, 3])
def test_backups_that_are_all_damaged_are_counted(home: Home, number: int) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        for _ in range(number):
            clock.advance(hours=1)
            fill_with_garbage(back_up(loop))
    spoil_header(home.memory_db)
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples"}
    why = "the only backup cannot be read" if number == 1 else "none of the 3 backups can be read"
    assert f"and {why}: a new one was begun." in told(home)
    assert "claude-mem-lite restore" not in told(home)


def test_when_no_backup_can_be_read_the_newest_sound_database_that_was_set_aside_is_named(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        made = back_up(loop)
    for _ in range(2):  # two restores leave what was there before
        clock.advance(hours=1)
        write_json(home.restore_order, {"backup": str(made)})
        with worked(home, clock) as loop:
            do(home, loop, "count the plums")
    oldest, newest = set_aside.folders(home)
    for one in home.backups.iterdir():
        fill_with_garbage(one)
    spoil_header(home.memory_db)
    clock.advance(hours=1)
    with worked(home, clock):
        pass
    assert f"`claude-mem-lite restore {newest / 'memory.db'}` puts it in place" in recovery_log.all_of(home)[-1].undo

    fill_with_garbage(newest / "memory.db")
    spoil_header(home.memory_db)
    for one in home.backups.iterdir():
        fill_with_garbage(one)
    clock.advance(hours=1)
    with worked(home, clock):
        pass
    assert f"`claude-mem-lite restore {oldest / 'memory.db'}` puts it in place" in recovery_log.all_of(home)[-1].undo


@pytest.mark.parametrize("damage", [truncate, fill_with_garbage, spoil_page], ids=lambda damage: damage.__name__)
def test_a_damaged_inbox_gives_what_can_be_read_to_a_new_one(home: Home, damage: Callable[[Path], None]) -> None:
    with worked(home) as loop:
        do(home, loop, *(f"count the apples of tree {number}" for number in range(20)))
        gone = remember(loop, "Pears are green")
        forget(loop, gone)
        before = prompts(home)
    mark_unclean(home)
    damage(home.inbox_db)
    with worked(home) as loop:
        do(home, loop, "count the plums")
    assert prompts(home) == before | {"count the plums"}
    assert notes(home) == set()
    assert "inbox.db was damaged" in told(home)
    assert aside(home) == ["damaged/inbox.db"]
    assert query(home.inbox_db, f"select count(*) from tombstones where name = '{gone}'") == [(1,)]


def test_every_event_of_an_inbox_with_one_bad_page_comes_back(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, *(f"count the apples of tree {number}" for number in range(40)))
    (before,) = query(home.inbox_db, "select count(*) from inbox")[0]
    spoil_leaf(home.inbox_db, "inbox")
    mark_unclean(home)
    with worked(home):
        pass
    (after,) = query(home.inbox_db, "select count(*) from inbox")[0]
    assert after == before


def test_both_damaged_at_once(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    fill_with_garbage(home.memory_db)
    truncate(home.inbox_db)
    with worked(home) as loop:
        do(home, loop, "count the plums")
    assert prompts(home) == {"count the apples", "count the plums"}
    assert aside(home) == ["damaged/inbox.db", "damaged/memory.db"]


def test_a_page_that_is_read_while_the_worker_runs_makes_the_next_one_look(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        with closing(sqlite3.connect(home.memory_db)) as db:
            db.execute("pragma wal_checkpoint(truncate)")
        spoil_page(home.memory_db)
        with pytest.raises(sqlite3.DatabaseError), closing(loop.readers.open()) as reader:
            reader.execute("select * from memories").fetchall()
        assert loop.shutdown.stopping.is_set()
    assert home.suspect.exists()
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}
    assert not home.suspect.exists()
    assert "damaged/memory.db" in aside(home)


def test_damage_that_is_met_while_the_databases_are_opened_makes_the_next_worker_look(machine: Machine) -> None:
    """A page that the quick look does not read, after a worker that ended in good order."""
    home = machine.home
    with worked(home) as loop:
        do(home, loop, "count the apples")
    spoil_root(home.inbox_db, "inbox_by_work")
    failing = machine.spawn_worker()
    wait_until(lambda: failing.poll() is not None, "the first worker to fail")
    assert failing.returncode != 0
    assert home.suspect.stat().st_mode & 0o777 == 0o600

    machine.start_worker()
    machine.drain()
    assert prompts(home) == {"count the apples"}
    assert "inbox.db was damaged" in told(home)
    assert not home.suspect.exists()


def test_a_log_that_somebody_left_makes_the_next_worker_look_at_all_of_it(home: Home, tmp_path: Path) -> None:
    """A worker that is killed while it opens its databases has left no other mark."""
    with worked(home) as loop:
        do(home, loop, "count the apples")
    spoil_root(home.memory_db, "memories_by_successor")
    assert damage_of(home.memory_db, thoroughly=False) == ""
    names = ("memory.db", "memory.db-wal")
    with closing(open_for_writing(home.memory_db)) as db:
        db.execute("update progress set done = done + 1")
        for name in names:
            shutil.copy(home.root / name, tmp_path / name)
    for name in names:
        shutil.copy(tmp_path / name, home.root / name)
    startup.prepare(home, Moment()())
    assert "memory.db was damaged" in told(home)
    assert "damaged/memory.db" in aside(home)


def test_a_start_that_fails_leaves_the_mark_of_the_worker_that_was_killed_before_it(machine: Machine) -> None:
    home = machine.home
    with worked(home) as loop:
        do(home, loop, "count the apples")
    with closing(sqlite3.connect(home.memory_db)) as db:
        db.execute("insert into migrations values ('m999_from_the_future', '2030')")
        db.commit()
    mark_unclean(home)
    failing = machine.spawn_worker()
    wait_until(lambda: failing.poll() is not None, "the worker to fail")
    assert home.worker_pid.read_text() == "4194304"
    assert not home.socket.exists()


def test_a_damaged_word_index_is_mended_where_it_is(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        id_ = remember(loop, "Rotate the signing keys")
        with closing(sqlite3.connect(home.memory_db)) as db:
            db.execute("update memories_fts_data set block = zeroblob(length(block)) where id > 1")
            db.commit()
        with pytest.raises(Exception, match="damaged"):
            loop.commands.put({"command": "forget", "ids": [id_]}).result(30)
    clock.advance(minutes=1)  # what failed is tried again
    with worked(home, clock) as loop:
        check = "insert into memories_fts (memories_fts) values ('integrity-check')"
        loop.writes.execute_write(lambda db: db.execute(check)).result(30)
    assert notes(home) == set()
    assert aside(home) == []


def test_a_damaged_word_index_keeps_nothing_from_being_forgotten_again(home: Home, tmp_path: Path) -> None:
    """A copy of before a forget is put in place, with such an index; the worker that met it has left its mark."""
    with worked(home) as loop:
        gone = remember(loop, "Rotate the signing keys")
        remember(loop, "Pears are green")
        copy = Path(shutil.copy(back_up(loop), tmp_path / "copy.db"))
        forget(loop, gone)
    with closing(sqlite3.connect(copy)) as db:
        db.execute("update memories_fts_data set block = zeroblob(length(block)) where id > 1")
        db.commit()
    write_json(home.restore_order, {"backup": str(copy)})
    home.suspect.touch()
    with worked(home):
        pass
    assert notes(home) == {"Pears are green"}


def test_a_sound_home_is_neither_changed_nor_told_of(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    before = dump(home.memory_db)
    for _ in range(2):
        with worked(home):
            pass
    mark_unclean(home)
    with worked(home):
        pass
    assert dump(home.memory_db) == before
    assert told(home) == ""
    assert not os.path.lexists(home.recoveries)


def test_only_the_last_few_damaged_files_are_kept(home: Home) -> None:
    clock = Moment()
    for number in range(5):
        with worked(home, clock) as loop:
            do(home, loop, f"count the apples of tree {number}")
        spoil_header(home.memory_db)
        clock.advance(minutes=1)
    with worked(home, clock):
        pass
    assert len(prompts(home)) == 5
    assert aside(home) == ["damaged/memory.db"] * 3


def test_a_folder_that_somebody_put_among_the_damaged_files_keeps_no_worker_from_starting(home: Home) -> None:
    old = [home.root / f"damaged-2026010{day}T000000Z" for day in range(1, 5)]
    for folder in old:
        folder.mkdir()
        (folder / "memory.db").write_bytes(b"damaged")
    (old[0] / "rescued").mkdir()
    (old[0] / "rescued" / "notes.txt").write_text("mine")
    with worked(home):
        pass
    assert sorted(path.name for path in old[0].rglob("*")) == ["notes.txt", "rescued"]
    assert [(folder / "memory.db").exists() for folder in old] == [False, True, True, True]
