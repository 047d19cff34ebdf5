"""A database that is damaged, in whatever way: the newest good backup and the inbox bring everything back."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker import recoveries
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
    spoil_page,
    told,
    truncate,
    worked,
)
from tests.running import dump, query

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
        loop.command({"command": "pin", "id": pear, "pinned": True}).result(30)
    before = dump(home.memory_db)
    mark_unclean(home)
    damage(home.memory_db)
    with worked(home):
        pass
    assert dump(home.memory_db) == before
    assert "The backup of " in told(home)
    assert recoveries.all_of(home)[0].replayed > 0
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


def test_most_events_of_an_inbox_with_one_bad_page_are_kept(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, *(f"count the apples of tree {number}" for number in range(40)))
    (before,) = query(home.inbox_db, "select count(*) from inbox")[0]
    with closing(sqlite3.connect(home.inbox_db)) as db:
        (leaf,) = db.execute(
            "select pageno from dbstat where name = 'inbox' and pagetype = 'leaf' order by path limit 1 offset 2"
        ).fetchone()
        (size,) = db.execute("pragma page_size").fetchone()
    with home.inbox_db.open("r+b") as file:
        file.seek((leaf - 1) * size)
        file.write(b"\xa5" * size)
    mark_unclean(home)
    with worked(home):
        pass
    (after,) = query(home.inbox_db, "select count(*) from inbox")[0]
    assert before * 0.8 < after < before


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
        assert loop.stopping.is_set()
    assert home.suspect.exists()
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}
    assert not home.suspect.exists()
    assert "damaged/memory.db" in aside(home)


def test_a_damaged_word_index_is_mended_where_it_is(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        id_ = remember(loop, "Rotate the signing keys")
        with closing(sqlite3.connect(home.memory_db)) as db:
            db.execute("update memories_fts_data set block = zeroblob(length(block)) where id > 1")
            db.commit()
        with pytest.raises(Exception, match="damaged"):
            loop.command({"command": "forget", "ids": [id_]}).result(30)
    clock.advance(minutes=1)  # what failed is tried again
    with worked(home, clock) as loop:
        check = "insert into memories_fts (memories_fts) values ('integrity-check')"
        loop.call(lambda db: db.execute(check)).result(30)
    assert notes(home) == set()
    assert aside(home) == []


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
