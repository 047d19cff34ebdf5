"""What lies in a home and is none of this memory: backups of another one, files by our names, the user's own."""

import shutil
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.db.integrity import damage_of
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers import prerendered
from tests.faults.losses import (
    AT_ONCE,
    Moment,
    aside,
    back_up,
    backup_names,
    do,
    empty,
    forget,
    notes,
    prompts,
    remember,
    spoil_header,
    told,
    worked,
)
from tests.support.running import query, wait_until


@pytest.fixture
def another(tmp_path: Path) -> Path:
    """A backup of the home of another machine, with more changes than any here."""
    home = Home(tmp_path / "another")
    home.make()
    with worked(home) as loop:
        do(home, loop, *(f"count the pears of tree {number}" for number in range(5)))
    change(home.memory_db, "update progress set done = 500")
    with worked(home) as loop:
        return back_up(loop)


def change(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as db:
        for one in statements:
            db.execute(one)
        db.commit()
    return path


def restored(home: Home, path: Path, clock: Moment | None = None) -> None:
    write_json(home.restore_order, {"backup": str(path)})
    with worked(home, clock):
        pass
    assert not home.restore_order.exists()


# A backup of another memory.


def test_a_backup_of_another_home_does_not_take_the_place_of_this_memory(home: Home, another: Path) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    home.backups.mkdir()
    shutil.copy(another, home.backups)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}
    assert told(home) == ""
    assert aside(home) == []


def test_beside_it_backups_are_still_made_and_pruned_and_it_stays(home: Home, another: Path) -> None:
    clock = Moment()
    with worked(home, clock, AT_ONCE) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    shutil.copy(another, home.backups)
    with worked(home, clock, replace(AT_ONCE, max_backups=2)) as loop:
        for number in range(3):
            clock.advance(days=2)
            do(home, loop, f"count the plums of tree {number}")
            day = f"memory-{clock.now:%Y%m%d}"
            wait_until(lambda: any(name.startswith(day) for name in backup_names(home)), "the next backup")  # noqa: B023
        assert loop.backups.backed_up < 500
    # Two of its own, of the last two days.
    assert len(backup_names(home)) == 3
    assert another.name in backup_names(home)


def test_a_damaged_memory_is_recovered_from_its_own_backup_rather_than_from_another_ones(
    home: Home, another: Path
) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    shutil.copy(another, home.backups)
    change(home.memory_db, "delete from progress")
    with worked(home):
        pass
    assert prompts(home) == {"count the apples"}


def test_the_backup_of_another_home_can_be_restored_and_what_happened_here_is_done_again(
    home: Home, another: Path
) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        remember(loop, "Plums are blue")
    own = change_counter.of_file(home.memory_db)
    there = {f"count the pears of tree {number}" for number in range(5)}
    clock.advance(minutes=1)
    restored(home, another, clock)
    assert prompts(home) == {"count the apples"} | there
    assert notes(home) == {"Plums are blue"}
    assert change_counter.of_file(home.memory_db) == own != change_counter.of_file(another)

    # It can be undone, and whatever follows is counted on from all of it.
    (kept,) = [path for path in home.root.iterdir() if path.name.startswith("before-restore-")]
    clock.advance(minutes=1)
    restored(home, kept / "memory.db", clock)
    assert prompts(home) == {"count the apples"}
    with worked(home, clock) as loop:
        do(home, loop, "count the cherries")
        newest = back_up(loop)
    assert backup_files.own(home.backups, own)[0].path == newest
    empty(home.memory_db)
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples", "count the cherries"}


# Files that are backups by their names alone.


@pytest.mark.parametrize("count", ["999999999999", "9" * 19])
def test_a_file_that_is_a_backup_by_its_name_alone_changes_nothing(home: Home, count: str) -> None:
    with worked(home, limits=AT_ONCE) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    (home.backups / f"memory-20260101T000000Z-{count}.db").write_text("garbage")
    (home.backups / f"memory-20260102T000000Z-{count}.db").mkdir()
    names = sorted(path.name for path in home.backups.iterdir())
    with worked(home, limits=AT_ONCE) as loop:
        for _ in range(3):
            assert loop.passes.wait_until_idle(30)
        done = query(home.memory_db, "select done from progress")[0][0]
    assert told(home) == ""
    assert done < 1_000
    assert sorted(path.name for path in home.backups.iterdir()) == names


def test_a_recovery_beside_it_goes_on_counting_from_what_is_true(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    (home.backups / "memory-20260101T000000Z-999999999999.db").write_text("garbage")
    spoil_header(home.memory_db)
    with worked(home) as loop:
        wait_until(lambda: loop.backups.kept == 2, "a backup of what was recovered")
    assert prompts(home) == {"count the apples"}
    assert query(home.memory_db, "select done from progress")[0][0] < 1_000


def test_more_than_twelve_digits_are_a_name_too(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    change(home.memory_db, "update progress set done = 1000000000001")
    with worked(home) as loop:
        made = back_up(loop)
        wait_until(lambda: loop.backups.kept == 1, "the backup to be noted")
    assert made.name in backup_names(home)


# A count that is none.


COUNTS = pytest.mark.parametrize(
    "spoil",
    [
        "delete from progress",
        "update progress set done = 'many'",
        "update progress set done = 9223372036854775807",
        "update progress set done = -1",
    ],
)


@COUNTS
def test_a_memory_whose_count_cannot_be_is_damaged(home: Home, spoil: str) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        do(home, loop, "count the plums")
    change(home.memory_db, spoil)
    with worked(home):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}
    assert "memory.db was damaged (the count of its changes" in told(home)


@COUNTS
def test_a_backup_whose_count_cannot_be_is_passed_over(home: Home, spoil: str) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        clock.advance(hours=1)
        do(home, loop, "count the plums")
        newest = back_up(loop)
    change(newest, spoil)
    spoil_header(home.memory_db)
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples", "count the plums"}


def test_a_count_that_goes_while_the_worker_runs_makes_the_next_one_look(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        change(home.memory_db, "delete from progress")
        with pytest.raises(MemoryLiteError, match="damaged"):
            remember(loop, "Plums are blue")
        wait_until(loop.shutdown.stopping.is_set, "the worker to end")
    assert home.suspect.exists()


@pytest.mark.parametrize("done", [10**12 + 1, 2**62, 2**63 - 1])
def test_a_file_with_a_count_that_cannot_be_is_not_restored(home: Home, another: Path, done: int) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    restored(home, change(another, f"update progress set done = {done}"))
    assert prompts(home) == {"count the apples"}
    assert "Nothing was restored" in told(home)


def test_a_restore_that_fails_is_told_once_and_the_worker_starts(
    home: Home, another: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")

    def fail(*_: object) -> None:
        raise OverflowError("int too large")

    with monkeypatch.context() as failing:
        failing.setattr("claude_mem_lite.worker.recovery.startup.migrate", fail)
        restored(home, another)
    (recovery,) = recovery_log.all_of(home)
    assert recovery.failed
    assert prompts(home) == {"count the apples"}
    assert aside(home) == []
    assert [path.name for path in home.root.iterdir() if ".new" in path.name] == []


def test_an_event_whose_count_cannot_be_is_not_believed(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
    change(home.inbox_db, "update inbox set work = 9223372036854775807 where id = 1")
    spoil_header(home.memory_db)
    with worked(home):
        pass
    assert query(home.memory_db, "select done from progress")[0][0] < 1_000


# What a file may define.


_ENDLESS = "(with recursive c(x) as (select 1 union all select x + 1 from c) select count(*) from c) is null"
STRANGE: Sequence[tuple[str, str]] = (
    ("trigger", "create trigger keep after insert on tombstones begin delete from tombstones; end"),
    ("view", f"create view everything as select * from memories where {_ENDLESS}"),
    ("table", 'create table "memories"" where ' + _ENDLESS + ' --" (a)'),
    ("table", "create table shopping (what)"),
    ("table", "create virtual table shopping using fts5 (what)"),
)


@pytest.mark.parametrize(("kind", "statement"), STRANGE)
def test_a_file_with_something_in_it_that_is_not_ours_is_not_restored(another: Path, kind: str, statement: str) -> None:
    change(another, statement)
    with pytest.raises(MemoryLiteError, match=f"holds a {kind} that no backup of ours has"):
        backup_files.check(another)


def test_looking_for_damage_runs_nothing_that_a_table_is_called(another: Path) -> None:
    change(another, 'create table "memories"" where no_such_function() --" (a)')
    assert damage_of(another, thoroughly=True) == ""


def test_what_the_user_made_in_memory_is_in_no_backup_and_keeps_none_from_being_restored(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
    change(home.memory_db, *(statement for _, statement in STRANGE[:4]), "insert into shopping values ('zanzibarium')")
    with worked(home) as loop:
        made = back_up(loop)
    assert backup_files.check(made).sessions == 1
    assert b"zanzibarium" not in made.read_bytes()
    assert query(home.memory_db, "select what from shopping") == [("zanzibarium",)]


# The user's own files.


@pytest.mark.parametrize("name", ["damaged-notes", "before-restore-2026", "damaged-20260101T000000Z-mine"])
def test_a_folder_of_the_users_is_neither_emptied_nor_counted(home: Home, name: str) -> None:
    folders = [home.root / f"{name}{number}" for number in ("", "a", "b", "c")]
    for folder in folders:
        folder.mkdir()
        (folder / "memory.db").write_text("mine")
    with worked(home) as loop:
        forget(loop, remember(loop, "Pears are green"))
    assert [(folder / "memory.db").read_text() for folder in folders] == ["mine"] * 4


def test_in_what_was_set_aside_only_what_was_put_there_goes(home: Home) -> None:
    folder = home.root / "damaged-20260101T000000Z"
    folder.mkdir()
    for name in ("memory.db", "memory.db-wal", "inbox.db", "notes.txt", "memory.db.txt"):
        (folder / name).write_text("x")
    with worked(home) as loop:
        forget(loop, remember(loop, "Pears are green"))
    assert sorted(path.name for path in folder.iterdir()) == ["memory.db.txt", "notes.txt"]


def test_among_what_was_rendered_only_our_names_are_deleted(home: Home) -> None:
    elsewhere = home.rendered_for("/elsewhere")
    ours = [home.rendered_for("/somewhere"), *(elsewhere.with_suffix(suffix) for suffix in (".new", ".tmp"))]
    theirs = [home.rendered / name for name in ("letter.txt", "deadbeef.txt", "DEADBEEF", "0123456789")]
    for path in (*ours, *theirs):
        path.write_text("x")
    prerendered.clear(home)
    assert sorted(home.rendered.iterdir()) == sorted(theirs)


def test_among_backups_only_what_a_worker_left_unfinished_is_deleted(home: Home) -> None:
    home.backups.mkdir()
    for name in (".making-4711", ".making-4711-journal", ".making-of.mp4", "holiday.tar"):
        (home.backups / name).write_text("x")
    (home.backups / ".making-1").mkdir()
    backup_files.remove_unfinished(home.backups)
    assert sorted(path.name for path in home.backups.iterdir()) == [".making-1", ".making-of.mp4", "holiday.tar"]
