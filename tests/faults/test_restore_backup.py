"""Going back to a backup: what is put in place, what is done again, and kill -9 at any step of it or of a migration."""

import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.file_swap import write_json
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.errors import SchemaTooNew
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.status import ShownRecovery
from tests.faults.losses import (
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
from tests.support import fake_worker, live_files
from tests.support.fakes import NOW
from tests.support.running import Machine, leave, query, turn, wait_until

STRIDE = 13
FIRST_STEP = int(os.environ.get("KILLED_FROM") or random.randrange(STRIDE))
RELEASED = Path(__file__).parents[1] / "db" / "released"


def order(home: Home, backup: Path) -> None:
    write_json(home.restore_order, {"backup": str(backup)})


def lay_out_released(home: Home) -> None:
    """Put the databases of the first version in place."""
    for name in ("inbox", "memory"):
        with closing(sqlite3.connect(home.root / f"{name}.db")) as db:
            db.executescript((RELEASED / f"0.1.0-{name}.sql").read_text())


def two_days(home: Home, clock: Moment) -> Path:
    """A home with a backup, and something that came after it."""
    with worked(home, clock) as loop:
        do(home, loop, "count the apples")
        remember(loop, "Pears are green")
        made = back_up(loop)
        clock.advance(days=1)
        do(home, loop, "count the plums")
        remember(loop, "Plums are blue")
    return made


ALL_PROMPTS = {"count the apples", "count the plums"}
ALL_NOTES = {"Pears are green", "Plums are blue"}


def test_a_backup_is_put_in_place_and_what_came_after_it_is_done_again(home: Home) -> None:
    clock = Moment()
    order(home, two_days(home, clock))
    with worked(home, clock):
        wait_until(lambda: len(backup_names(home)) == 2, "a backup of what was restored")
    assert (prompts(home), notes(home)) == (ALL_PROMPTS, ALL_NOTES)
    assert aside(home) == ["before-restore/memory.db"]
    (recovery,) = recovery_log.all_of(home)
    assert recovery.replayed == 4
    assert f"restore {home.root}/before-restore-" in recovery.undo
    assert not home.restore_order.exists()


def test_it_is_undone_by_restoring_what_was_kept(home: Home) -> None:
    clock = Moment()
    order(home, two_days(home, clock))
    with worked(home, clock) as loop:
        do(home, loop, "count the cherries")
    (kept,) = [path for path in home.root.iterdir() if path.name.startswith("before-restore-")]
    clock.advance(minutes=1)
    order(home, kept / "memory.db")
    with worked(home, clock):
        pass
    assert prompts(home) == {*ALL_PROMPTS, "count the cherries"}


def test_an_older_backup_does_not_hide_what_newer_ones_were_made_of(home: Home) -> None:
    """Counts of before a restore and of after it are not mixed up."""
    clock = Moment()
    first = two_days(home, clock)
    with worked(home, clock) as loop:
        newer = back_up(loop)
    order(home, first)
    with worked(home, clock) as loop:
        do(home, loop, "count the cherries")
    for one in backup_files.all_in(home.backups):
        if one.path not in (first, newer):
            one.path.unlink()
    home.memory_db.write_bytes(b"")
    with worked(home, clock):
        pass
    assert prompts(home) == {*ALL_PROMPTS, "count the cherries"}


def test_what_was_forgotten_since_the_backup_stays_forgotten(home: Home, tmp_path: Path) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        do(home, loop, "count the zanzibarium in the vault", session="s-gone")
        do(home, loop, "count the apples")
        own_copy = shutil.copy(back_up(loop), tmp_path / "copy.db")
        clock.advance(hours=1)
        forget(loop, secret)
        loop.commands.put({"command": "forget", "session": "s-gone"}).result(30)
    order(home, Path(own_copy))
    with worked(home, clock) as loop:
        assert loop.passes.wait_until_idle(30)
    assert prompts(home) == {"count the apples"}
    assert notes(home) == set()
    assert query(home.memory_db, "select id from sessions") == [("s-1",)]
    assert live_files.files_with(home.root, b"zanzibarium") == []


def test_the_way_back_stays_when_a_copy_from_before_a_forget_is_restored(home: Home, tmp_path: Path) -> None:
    """What was forgotten again leaves the backups; what was set aside had lost it before."""
    clock = Moment()
    with worked(home, clock) as loop:
        secret = remember(loop, "The vault opens with zanzibarium")
        do(home, loop, "count the apples")
        own_copy = shutil.copy(back_up(loop), tmp_path / "copy.db")
        forget(loop, secret)
        do(home, loop, "count the plums")
    before = backup_names(home)
    clock.advance(hours=1)
    order(home, Path(own_copy))
    with worked(home, clock):
        wait_until(lambda: len(backup_names(home)) > len(before), "a backup of what was restored")
    assert query(home.inbox_db, "select count(*) from leaving") == [(0,)]
    assert aside(home) == ["before-restore/memory.db"]
    assert notes(home) == set()

    (kept,) = [path for path in home.root.iterdir() if path.name.startswith("before-restore-")]
    clock.advance(hours=1)
    order(home, kept / "memory.db")
    with worked(home, clock):
        pass
    assert prompts(home) == ALL_PROMPTS
    assert "Nothing was restored" not in told(home)


def test_what_is_forgotten_after_a_restore_leaves_what_was_set_aside(home: Home) -> None:
    clock = Moment()
    order(home, two_days(home, clock))
    with worked(home, clock) as loop:
        (folder,) = [path for path in home.root.iterdir() if path.name.startswith("before-restore-")]
        (folder / "inbox.db").write_bytes(b"events")  # as of a newer version
        pear = remember(loop, "Pears are sour")  # not yet there when the folder was made
        forget(loop, pear)
        assert aside(home) == ["before-restore/memory.db"]
        ((plum,),) = query(home.memory_db, "select id from memories where summary = 'Plums are blue'")
        forget(loop, plum)
        assert aside(home) == []
        assert not folder.exists()


def test_a_session_that_went_on_after_it_was_forgotten_keeps_what_came_then(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        do(home, loop, "count the zanzibarium")
        loop.commands.put({"command": "forget", "session": "s-1"}).result(30)
        clock.advance(hours=1)
        do(home, loop, "count the apples")
        made = back_up(loop)
    order(home, made)
    with worked(home, clock):
        pass
    assert prompts(home) == {"count the apples"}


@pytest.mark.parametrize("what", ["missing", "garbage", "newer"])
def test_an_order_that_cannot_be_carried_out_changes_nothing_and_is_told(home: Home, what: str) -> None:
    clock = Moment()
    made = two_days(home, clock)
    if what == "missing":
        made.unlink()
    elif what == "garbage":
        made.write_bytes(b"no database")
    else:
        with closing(sqlite3.connect(made)) as db:
            db.execute("insert into migrations values ('m999_from_the_future', '2030')")
            db.commit()
    order(home, made)
    with worked(home, clock):
        pass
    assert prompts(home) == ALL_PROMPTS
    assert "Nothing was restored" in told(home)
    assert aside(home) == []
    assert not home.restore_order.exists()


# Killed.


@pytest.fixture(scope="module")
def crashing() -> Iterator["subprocess.Popen[str]"]:
    """A process that has imported what a start needs."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.faults.crash_at_step", str(STRIDE), str(FIRST_STEP)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def killed_starts(crashing: "subprocess.Popen[str]", home: Home) -> list[Home]:
    """Copies of a home on which a start was killed, every one at another step; over many runs, at all of them."""
    print(f"run again with KILLED_FROM={FIRST_STEP}")  # shown with a failure
    assert crashing.stdin is not None
    assert crashing.stdout is not None
    crashing.stdin.write(f"{home.root}\n")
    crashing.stdin.flush()
    made: list[Home] = []
    while (line := crashing.stdout.readline()) != "\n":
        assert line, "it died itself"
        made.append(Home(Path(line.rstrip("\n"))))
    assert len(made) > 8
    return made


def test_a_restore_that_is_killed_at_any_step_is_finished_by_the_next_start(
    crashing: "subprocess.Popen[str]", home: Home
) -> None:
    clock = Moment()
    order(home, two_days(home, clock))
    for copy in killed_starts(crashing, home):
        with worked(copy, clock):
            pass
        where = copy.root.name
        assert (prompts(copy), notes(copy)) == (ALL_PROMPTS, ALL_NOTES), where
        assert aside(copy) == ["before-restore/memory.db"], where
        assert len(recovery_log.all_of(copy)) == 1, where
        assert not [name for name in os.listdir(copy.root) if ".new" in name or name in ("restore.json",)], where
        shutil.rmtree(copy.root)


def test_a_recovery_that_is_killed_at_any_step_is_finished_by_the_next_start(
    crashing: "subprocess.Popen[str]", home: Home
) -> None:
    clock = Moment()
    two_days(home, clock)
    home.memory_db.write_bytes(home.memory_db.read_bytes()[:5000])
    for copy in killed_starts(crashing, home):
        with worked(copy, clock):
            pass
        where = copy.root.name
        assert (prompts(copy), notes(copy)) == (ALL_PROMPTS, ALL_NOTES), where
        assert aside(copy) == ["damaged/memory.db"], where
        shutil.rmtree(copy.root)


def test_a_migration_that_is_killed_at_any_step_is_done_by_the_next_start(
    crashing: "subprocess.Popen[str]", home: Home
) -> None:
    lay_out_released(home)
    for copy in killed_starts(crashing, home):
        with worked(copy):
            pass
        where = copy.root.name
        assert query(copy.memory_db, "select id from memories") == [("abcdefghij",)], where
        assert len(query(copy.memory_db, "select * from migrations")) == len(MEMORY_MIGRATIONS), where
        made = [backup_files.check(one.path) for one in backup_files.all_in(copy.backups)]
        assert [one.memories for one in made if one.steps_behind] == [1], where
        assert told(copy) == "", where
        shutil.rmtree(copy.root)


# Two versions.


def migrate_further(home: Home) -> None:
    """What a newer version does to a home: another migration of each database."""

    def m999_later(connection: sqlite3.Connection) -> None:
        connection.execute("alter table memories add column mood text not null default ''")

    def i999_later(connection: sqlite3.Connection) -> None:
        connection.execute("alter table inbox add column mood text not null default ''")

    with closing(open_for_writing(home.memory_db)) as db:
        migrate(db, (*MEMORY_MIGRATIONS, m999_later), NOW)
    with closing(open_for_writing(home.inbox_db)) as db:
        migrate(db, (*INBOX_MIGRATIONS, i999_later), NOW)


def test_an_older_version_refuses_and_goes_on_after_a_restore(home: Home) -> None:
    with worked(home) as loop:
        do(home, loop, "count the apples")
        back_up(loop)
        do(home, loop, "count the plums")
    migrate_further(home)
    before = home.memory_db.read_bytes()
    with pytest.raises(SchemaTooNew, match=r"newer version .*claude-mem-lite restore"), worked(home):
        pass
    assert home.memory_db.read_bytes() == before
    made = next(backup_files.restorable(home.backups, change_counter.of_file(home.memory_db)))
    order(home, made.path)
    with worked(home):
        pass
    assert prompts(home) == ALL_PROMPTS
    assert aside(home) == ["before-restore/inbox.db", "before-restore/memory.db"]


def test_a_newer_version_takes_over_with_a_backup_of_before(home: Home) -> None:
    lay_out_released(home)
    before = prompts(home)
    with worked(home) as loop:
        do(home, loop, "count the plums")
    assert prompts(home) == {*before, "count the plums"}
    (made,) = [backup_files.check(one.path) for one in backup_files.all_in(home.backups)]
    assert (made.memories, made.steps_behind > 0) == (1, True)


# The command.


def test_an_order_that_no_worker_can_carry_out_is_taken_back(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    two_days(home, Moment())
    home.worker_python.symlink_to(shutil.which("false") or "/bin/false")
    assert fake_worker.run("restore", "--yes") == 1
    assert "Nothing was restored." in capsys.readouterr().err
    assert not home.restore_order.exists()


def test_an_order_is_taken_back_when_the_user_has_enough(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        assert home.restore_order.exists()
        raise KeyboardInterrupt

    two_days(home, Moment())
    monkeypatch.setattr("claude_mem_lite.cli.transfer.backup.ensure_worker", interrupted)
    assert fake_worker.run("restore", "--yes") == 130
    assert "Nothing was restored." in capsys.readouterr().err
    assert not home.restore_order.exists()


def test_a_restore_that_was_refused_is_not_taken_for_a_recovery_that_came_after_it(
    home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Moment()
    made = two_days(home, clock)

    class Started:
        """A worker that found the backup gone, and memory.db damaged."""

        def __init__(self, *_: object) -> None:
            made.unlink()
            spoil_header(home.memory_db)
            with worked(home, clock):
                pass

        def recoveries(self) -> list[ShownRecovery]:
            return [response_from(ShownRecovery, recovery) for recovery in recovery_log.all_of(home)]

    monkeypatch.setattr("claude_mem_lite.cli.transfer.backup.ensure_worker", Started)
    assert fake_worker.run("restore", "--yes") == 1
    assert "Nothing was restored, and nothing was changed: there is no file" in capsys.readouterr().err
    assert not home.restore_order.exists()


# The whole path, with real processes.


def test_a_worker_that_is_killed_finds_its_damaged_memory_and_tells_the_user_once(machine: Machine) -> None:
    machine.start_worker()
    for given in turn("s-1", "count the apples"):
        leave(machine.home, given)
    machine.drain()
    path = Path(machine.post("/api/backup", {})["path"])
    assert backup_files.check(path).sessions == 1
    for given in turn("s-1", "count the plums"):
        leave(machine.home, given)
    machine.drain()
    machine.kill_worker()
    machine.home.memory_db.write_bytes(b"garbage" * 10_000)

    machine.start_worker()
    machine.drain()
    assert prompts(machine.home) == ALL_PROMPTS
    health = machine.get("/api/health")
    assert "memory.db was damaged" in health["recovered"]
    assert "done again" in health["recovered"]

    assert "claude-mem-lite: memory.db was damaged" in started(machine, "systemMessage")
    wait_until(lambda: recovery_log.not_shown(machine.home) == [], "it to count as told")
    assert "memory.db was damaged" not in started(machine, "hookSpecificOutput")


def started(machine: Machine, key: str) -> str:
    """What the first hook of several new sessions printed that has this key: a busy machine answers some too late."""
    answers: list[dict[str, object]] = []

    def is_answered() -> bool:
        payload = {"session_id": f"s-{key}-{len(answers)}", "cwd": "/", "hook_event_name": "SessionStart"}
        answers.append(json.loads(machine.hook("SessionStart", {**payload, "source": "startup"}).out or "{}"))
        return key in answers[-1]

    wait_until(is_answered, f"a start with {key}")
    return str(answers[-1])


def test_backup_and_restore_by_command(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(machine.home.root))
    machine.start_worker()
    for given in turn("s-1", "count the apples"):
        leave(machine.home, given)
    path = json.loads(machine.run("backup", "--json").stdout)["path"]
    for given in turn("s-1", "count the plums"):
        leave(machine.home, given)
    assert fake_worker.run("restore") == 2
    assert "needs --yes" in capsys.readouterr().err
    restored = machine.run("restore", Path(path).name, "--yes")
    assert "was put in the place of memory.db" in restored.stdout
    assert "undoes it" in restored.stdout
    machine.drain()
    assert prompts(machine.home) >= {"count the plums"}
    assert fake_worker.run("backup", "--list", "--json") == 0
    (first, *_) = json.loads(capsys.readouterr().out)
    assert first["problem"] == ""
    assert fake_worker.run("restore", "/etc/hostname", "--yes") == 1
    assert "is no backup of claude-mem-lite" in capsys.readouterr().err
