"""Tests of `worker/pause_watch.py` and `cli/transfer/claude_mem_report.py`: no import brings in unasked the work of a
pause or of an excluded folder."""

import json
import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite import pauses
from claude_mem_lite.paths import Home
from claude_mem_lite.pauses import Pause
from tests.faults.losses import Moment, back_up, worked
from tests.support.claude_mem_databases import load
from tests.support.past_sessions import Json, PastSession
from tests.support.running import SILENT, Machine, leave, payload, query
from tests.worker.commands import run_here

HOUR = timedelta(hours=1)
DAY_NS = 24 * 3600 * 10**9


def ago(hours: float) -> datetime:
    return datetime.now(UTC) - hours * HOUR


def asked(session: PastSession, at: datetime, about: str) -> PastSession:
    """One more turn of a session, whose prompt is of that time."""
    session.at = at - timedelta(seconds=1)
    return session.prompt(f"What is {about}?").runs("ls", about).says(f"We decided to keep {about} in SQLite.")


def report(machine: Machine, folder: Path, *options: str) -> Json:
    return json.loads(run_here(machine, "import", "transcripts", folder, "--json", *options).stdout)


def counts(told: Json) -> tuple[int, int, int]:
    """Turns that were stored, and left out because it was off or the folder was excluded."""
    return told["turns"], told["off"], told["excluded_then"]


def prompts(home: Home) -> set[str]:
    return {text for (text,) in query(home.memory_db, "select text from prompts where text <> ''")}


def switch_off_since(home: Home, at: datetime) -> None:
    """The switch as somebody makes it by hand at that time."""
    home.off_switch.touch()
    os.utime(home.off_switch, (at.timestamp(), at.timestamp()))


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    unserved.start_worker()
    return unserved


# Off.


def test_a_session_of_a_time_when_it_was_off_is_not_imported(machine: Machine, tmp_path: Path) -> None:
    run_here(machine, "off")
    path = asked(PastSession("s1"), datetime.now(UTC), "the diary").write(tmp_path)
    run_here(machine, "on")

    done = run_here(machine, "import", "transcripts", tmp_path)
    assert done.stdout.splitlines() == [
        "There was nothing new to import.",
        "1 turn was left out: memory was off at the time.",
        f"  {path}: 1 turn",
        "To import one of these all the same, name its file and give --also-paused.",
        "Read 1 file of Claude Code.",
        "1 file gave nothing new: 1 from a time when memory was off "
        "(`claude-mem-lite import transcripts --verbose` lists them).",
    ]
    assert machine.files_with("the diary") == []


@pytest.mark.parametrize("source", ["transcripts", "claude-mem"])
def test_what_was_left_out_is_imported_by_name_only(machine: Machine, source: str) -> None:
    run_here(machine, "off")
    asked(PastSession("s1"), datetime.now(UTC), "the diary").write(machine.user_home / ".claude" / "projects" / "shop")
    load(machine.user_home / ".claude-mem" / "claude-mem.db")
    run_here(machine, "on")
    refused = run_here(machine, "import", source, "--also-paused", status=2).stderr
    assert "--also-paused needs a path" in refused
    assert machine.files_with("the diary") == []


def test_it_is_imported_when_it_is_asked_for(machine: Machine, tmp_path: Path) -> None:
    run_here(machine, "off")
    path = asked(PastSession("s1"), datetime.now(UTC), "the diary").write(tmp_path)
    run_here(machine, "on")
    assert counts(report(machine, path)) == (0, 1, 0)
    assert counts(report(machine, path, "--also-paused")) == (1, 0, 0)


def test_each_turn_is_judged_by_its_own_time(machine: Machine, tmp_path: Path) -> None:
    switch_off_since(machine.home, ago(2))
    session = asked(asked(PastSession("s1"), ago(3), "before"), ago(1), "meanwhile")
    run_here(machine, "on")
    asked(session, datetime.now(UTC) + HOUR, "after").write(tmp_path)
    assert counts(report(machine, tmp_path)) == (2, 1, 0)
    assert prompts(machine.home) == {"What is before?", "What is after?"}


def test_a_turn_that_goes_on_into_the_time_off_is_left_out(machine: Machine, tmp_path: Path) -> None:
    session = PastSession("s1", ago(3)).prompt("What is the diary?")
    session.at = ago(1)
    session.says("It is a book.").write(tmp_path)
    switch_off_since(machine.home, ago(2))
    assert counts(report(machine, tmp_path)) == (0, 1, 0)


def test_a_switch_by_hand_is_known_by_its_hooks_when_no_worker_saw_it(unserved: Machine, tmp_path: Path) -> None:
    unserved.home.make()
    unserved.home.off_switch.touch()
    began = datetime.now(UTC)
    for event in ("UserPromptSubmit", "Stop"):
        unserved.hook(event, payload(event, "s1", prompt="What is the diary?"))
    unserved.home.off_switch.unlink()
    asked(PastSession("s1"), began, "the diary").write(tmp_path)
    assert counts(report(unserved, tmp_path)) == (0, 1, 0)
    assert unserved.files_with("the diary") == []


def test_off_a_second_time_does_not_move_its_beginning(machine: Machine, tmp_path: Path) -> None:
    switch_off_since(machine.home, ago(2))
    run_here(machine, "off")
    run_here(machine, "on")
    run_here(machine, "on")
    asked(PastSession("s1"), ago(1), "the diary").write(tmp_path)
    assert counts(report(machine, tmp_path)) == (0, 1, 0)


def test_a_switch_that_is_made_anew_by_hand_begins_no_later(machine: Machine, tmp_path: Path) -> None:
    switch_off_since(machine.home, ago(3))
    machine.drain()
    switch_off_since(machine.home, ago(1))
    run_here(machine, "on")
    asked(PastSession("s1"), ago(2), "the diary").write(tmp_path)
    assert counts(report(machine, tmp_path)) == (0, 1, 0)


def test_the_end_of_a_switch_that_is_removed_by_hand_is_when_it_is_seen_gone(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        switch_off_since(home, clock.now)
        clock.advance(minutes=1)
        assert loop.passes.wait_until_idle(60.0)
        home.off_switch.unlink()
        clock.advance(minutes=1)
        assert loop.passes.wait_until_idle(60.0)
    (pause,) = pauses.load(home)
    assert pause.is_over
    assert pause.last_ns - pause.first_ns == pytest.approx(120 * 10**9, abs=10**7)


def test_a_clock_that_is_set_back_does_not_shorten_a_pause() -> None:
    pause = Pause("", "", 5 * DAY_NS, 6 * DAY_NS, is_over=False).ended(4 * DAY_NS)
    assert (pause.first_ns, pause.last_ns) == (4 * DAY_NS, 6 * DAY_NS)


@pytest.mark.parametrize("kind", ["name", "times", "pipe"])
def test_an_odd_file_among_the_pauses_stops_neither_worker_nor_hooks(machine: Machine, kind: str) -> None:
    machine.home.pauses.mkdir(mode=0o700, exist_ok=True)
    began_ns = 10**18
    path = machine.home.pauses / ("9" * 20 if kind == "name" else f"{began_ns:020d}")
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.write_text("" if kind == "name" else f"{'9' * 20} {'9' * 20} off\n")
    leave(machine.home, payload("UserPromptSubmit", "s-1", "/", prompt="Count the baskets"))
    machine.drain()
    machine.home.off_switch.touch()
    os.utime(machine.home.off_switch, ns=(began_ns, began_ns))
    assert machine.hook("Stop", payload("Stop", "s-1", "/")) == SILENT


def test_a_file_that_cannot_be_read_stands_for_a_pause_that_is_not_over(home: Home, tmp_path: Path) -> None:
    home.pauses.mkdir()
    (home.pauses / f"{7 * DAY_NS:020d}").write_bytes(b"\xff\x00")
    (home.pauses / "notes of mine").write_text("nothing")
    assert pauses.load(home) == [Pause(f"{7 * DAY_NS:020d}", "", 7 * DAY_NS, 7 * DAY_NS, is_over=False)]


# Excluded folders.


def test_a_folder_that_was_excluded_for_a_while_is_left_out_for_that_while(machine: Machine, tmp_path: Path) -> None:
    machine.drain()  # it is known that nothing is excluded yet
    config, folder = machine.home.config, str(tmp_path / "diary")
    config.write_text(f'exclude = ["{folder}*"]\n')
    os.utime(config, (ago(2).timestamp(), ago(2).timestamp()))
    machine.drain()
    config.unlink()
    session = asked(asked(PastSession("s1", cwd=folder), ago(3), "before"), ago(1), "meanwhile")
    asked(session, datetime.now(UTC) + HOUR, "after").write(tmp_path)
    asked(PastSession("s2", cwd=str(tmp_path)), ago(1), "elsewhere").write(tmp_path)

    told = report(machine, tmp_path)
    assert counts(told) == (3, 0, 1)
    assert told["paused"] == [{"file": str(tmp_path / "s1.jsonl"), "turns": 1}]
    assert "What is meanwhile?" not in prompts(machine.home)


def test_a_folder_that_was_excluded_at_the_first_look_was_so_ever_since(unserved: Machine, tmp_path: Path) -> None:
    unserved.home.make()
    unserved.home.config.write_text(f'exclude = ["{tmp_path}/diary"]\n')
    unserved.start_worker()
    unserved.drain()
    unserved.home.config.unlink()
    asked(PastSession("s1", cwd=f"{tmp_path}/diary"), ago(9), "the diary").write(tmp_path)
    assert counts(report(unserved, tmp_path)) == (0, 0, 1)


def test_what_is_excluded_now_is_not_imported_even_when_asked_for(machine: Machine, tmp_path: Path) -> None:
    machine.home.config.write_text(f'exclude = ["{tmp_path}"]\n')
    asked(PastSession("s1", cwd=str(tmp_path)), ago(1), "the diary").write(tmp_path)
    assert counts(report(machine, tmp_path, "--also-paused")) == (0, 0, 0)


def test_what_was_done_in_an_excluded_folder_is_not_imported_under_the_name_of_another(
    machine: Machine, tmp_path: Path
) -> None:
    config, diary, other = machine.home.config, tmp_path / "diary", tmp_path / "other"
    other.mkdir()
    asked(PastSession("s1", cwd=f"{diary}/may"), datetime.now(UTC), "the diary").write(tmp_path)
    config.write_text(f'exclude = ["{diary}"]\n')
    machine.drain()
    elsewhere = ("--project", f"diary={other}")
    told = report(machine, tmp_path, *elsewhere, "--also-paused")
    assert (counts(told), told["excluded"]) == ((0, 0, 0), 1)
    config.unlink()
    machine.drain()
    assert counts(report(machine, tmp_path, *elsewhere)) == (0, 0, 1)
    assert prompts(machine.home) == set()
    assert counts(report(machine, tmp_path, *elsewhere, "--also-paused")) == (1, 0, 0)


def test_what_is_excluded_now_takes_in_nothing_of_another_folder(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "diary").mkdir()
    machine.home.config.write_text(f'exclude = ["{tmp_path}/diary"]\n')
    asked(PastSession("s1", cwd=f"{tmp_path}/other"), ago(1), "the shop").write(tmp_path)
    assert report(machine, tmp_path, "--project", f"other={tmp_path}/diary")["excluded"] == 1


def test_a_folder_that_its_repository_excluded_is_left_out_and_not_named(machine: Machine, tmp_path: Path) -> None:
    diary = tmp_path / "shop" / "zanzibarium"
    diary.mkdir(parents=True)
    (tmp_path / "shop" / ".git").mkdir()
    (tmp_path / "shop" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    settings = tmp_path / "shop" / ".claude-mem-lite.toml"
    settings.write_text('exclude = ["zanzibarium"]\n')
    asked(PastSession("s1", cwd=str(diary)), datetime.now(UTC), "the diary").write(tmp_path)
    leave(machine.home, payload("UserPromptSubmit", "s1", str(diary), prompt="What is the diary?"))
    machine.drain()
    settings.unlink()
    asked(PastSession("s2", cwd=str(tmp_path / "shop")), ago(1), "the shop").write(tmp_path)
    assert counts(report(machine, tmp_path)) == (1, 0, 1)
    assert [path for path in machine.files_with("zanzibarium") if "log" not in path] == []


# Backups.


def test_a_home_that_is_made_of_a_backup_still_knows(home: Home, tmp_path: Path) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        switch_off_since(home, clock.now)
        assert loop.passes.wait_until_idle(60.0)
        home.off_switch.unlink()
        assert loop.passes.wait_until_idle(60.0)
        kept = shutil.copy(back_up(loop), tmp_path / "kept.db")
    known = pauses.load(home)
    shutil.rmtree(home.root)
    home.make()
    shutil.copy(kept, home.memory_db)
    with worked(home, clock):
        assert pauses.load(home) == known


def test_an_older_backup_takes_no_pause_away(home: Home) -> None:
    clock = Moment()
    with worked(home, clock) as loop:
        older = back_up(loop)
        clock.advance(days=1)
        switch_off_since(home, clock.now)
        assert loop.passes.wait_until_idle(60.0)
        home.off_switch.unlink()
        assert loop.passes.wait_until_idle(60.0)
    known = pauses.load(home)
    for name in ("memory.db-wal", "memory.db-shm"):
        (home.root / name).unlink(missing_ok=True)
    shutil.copy(older, home.memory_db)
    with worked(home, clock):
        assert pauses.load(home) == known
        names = query(home.memory_db, "select name from pauses where name <> ''")
        assert {name for (name,) in names} == {pause.name for pause in known}


# Another product's database.


def test_rows_of_claude_mem_of_a_time_when_it_was_off_are_left_out(machine: Machine) -> None:
    database = load(machine.user_home / ".claude-mem" / "claude-mem.db")
    before = json.loads(run_here(machine, "import", "claude-mem", database, "--dry-run", "--json").stdout)
    switch_off_since(machine.home, datetime(2025, 1, 1, tzinfo=UTC))
    run_here(machine, "on")
    told = json.loads(run_here(machine, "import", "claude-mem", database, "--json").stdout)
    kinds = ("observations", "summaries", "prompts")
    assert [told[kind]["paused"] for kind in kinds] == [before[kind]["found"] for kind in kinds]
    said = run_here(machine, "import", "claude-mem", database).stdout
    assert "of a time in which this memory was off or the folder was excluded." in said
    assert "name the database and give --also-paused" in said

    told = json.loads(run_here(machine, "import", "claude-mem", database, "--also-paused", "--json").stdout)
    assert [told[kind]["imported"] for kind in kinds] == [before[kind]["found"] for kind in kinds]
