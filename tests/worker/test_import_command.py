"""`claude-mem-lite import transcripts` as a person runs it, with a real worker behind it."""

import json
import os
import pty
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from tests.past_sessions import LONG_AGO, Json, PastSession, fixed_bug
from tests.running import WAIT_S, Machine, dump, wait_until
from tests.unit.fake_worker import fake_worker
from tests.unit.fake_worker import run as run_here

COMMAND = Path(sys.executable).with_name("claude-mem-lite")


def run(machine: Machine, *arguments: str | Path, status: int = 0) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [COMMAND, "import", "transcripts", *arguments],
        env=machine.environment(),
        cwd=machine.user_home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
    )
    assert done.returncode == status, done.stderr
    return done


def report(machine: Machine, *arguments: str | Path) -> Json:
    return json.loads(run(machine, *arguments, "--json").stdout)


def three_sessions(folder: Path) -> None:
    for number in range(3):
        fixed_bug(f"s{number}", number, LONG_AGO + timedelta(days=number)).write(folder, packed=number == 1)


def test_it_reads_the_clients_own_folder_when_none_is_given(machine: Machine) -> None:
    three_sessions(machine.user_home / ".claude" / "projects" / "-home-dev-shop")
    done = run(machine)
    assert done.stdout == "Imported 3 turns of 3 sessions: 3 new memories.\n"
    assert done.stderr.startswith("Reading 3 transcripts, 0.0 MB.")


def test_a_second_time_adds_nothing(machine: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    run(machine, tmp_path)
    once, rows = dump(machine.view.memory_db), machine.rows()
    assert run(machine, tmp_path).stdout == "There was nothing new to import.\n3 turns were there already.\n"
    assert dump(machine.view.memory_db) == once
    assert machine.rows() == rows


def test_a_session_that_went_on_is_imported_from_where_it_was(machine: Machine, tmp_path: Path) -> None:
    session = fixed_bug("s1")
    session.write(tmp_path)
    run(machine, tmp_path)
    session.prompt("And the tax?").says("The tax is included.").write(tmp_path)
    told = report(machine, tmp_path)
    assert (told["sessions"], told["turns"], told["known"]) == (1, 1, 1)
    assert (told["excluded"], told["still_open"], told["waiting"], told["unreadable"]) == (0, 0, 0, [])


def test_the_report_tells_what_was_left_out_and_why(machine: Machine, tmp_path: Path) -> None:
    now = datetime.now(UTC)
    fixed_bug("s1").write(tmp_path)
    fixed_bug("s2", 2, now - timedelta(minutes=5)).prompt("still at it").write(tmp_path)
    fixed_bug("s3", 3, cwd="/home/dev/diary").write(tmp_path)
    broken = fixed_bug("s4", 4)
    broken.lines += ["{}{}"] * 22
    path = broken.write(tmp_path)
    machine.home.config.write_text('exclude = ["/home/dev/diary"]\n')

    told = run(machine, tmp_path).stdout.splitlines()

    assert told[:4] == [
        "Imported 3 turns of 3 sessions: 3 new memories.",
        "1 turn was in excluded folders and left out.",
        "1 turn still goes on; run it again later.",
        "22 lines could not be read:",
    ]
    assert (
        told[4] == f"  {path}:{len(broken.lines) - 21}: more than one JSON object on the line (the second at column 3)"
    )
    assert told[24:] == ["  and 2 more (--json names them all)"]
    assert len(report(machine, path)["unreadable"]) == 22


def test_where_there_are_no_transcripts_it_says_where_it_looked(machine: Machine, tmp_path: Path) -> None:
    folder = machine.user_home / ".claude" / "projects"
    assert run(machine).stdout == f"There are no transcripts in {folder}.\n"
    assert run(machine, tmp_path).stdout == f"There are no transcripts in {tmp_path}.\n"
    assert report(machine, tmp_path)["turns"] == 0


@pytest.mark.parametrize("name", ["missing.jsonl", "notes.txt"])
def test_a_wrong_path_is_told_in_one_sentence(machine: Machine, tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").touch()
    told = run(machine, tmp_path / name, status=2).stderr
    assert name in told
    assert told.count("\n") == 1


def test_a_broken_configuration_is_told_in_one_sentence(machine: Machine, tmp_path: Path) -> None:
    fixed_bug("s1").write(tmp_path)
    machine.home.config.write_text("exclude = 7\n")
    told = run(machine, tmp_path, status=1).stderr.splitlines()
    assert len(told) == 2
    assert "exclude" in told[1]


def test_a_terminal_is_shown_a_bar(machine: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [COMMAND, "import", "transcripts", tmp_path],
            env=machine.environment({"TERM": "xterm", "COLUMNS": "120"}),
            stdout=subprocess.PIPE,
            stderr=theirs,
            timeout=WAIT_S,
        )
        shown = os.read(ours, 65536).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    assert done.stdout == b"Imported 3 turns of 3 sessions: 3 new memories.\n"
    assert "3 transcripts" in shown
    assert "\u2501" in shown


def test_ctrl_c_ends_it_at_once_and_says_how_to_go_on(machine: Machine, tmp_path: Path) -> None:
    three_sessions(tmp_path)
    with fake_worker(machine.home) as worker:
        worker.held.add("/api/import/known")
        command = subprocess.Popen(
            [COMMAND, "import", "transcripts", tmp_path],
            env=machine.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: any(one.path == "/api/import/known" for one in worker.seen), "the first question")
        command.send_signal(signal.SIGINT)
        out, err = command.communicate(timeout=WAIT_S)
    assert command.returncode == 130
    assert out == "There was nothing new to import.\n"
    assert "Stopped. What is imported is kept; run it again to go on." in err
    assert "Traceback" not in err


def test_known_turns_are_not_sent(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = PastSession("s1").prompt("one").says("One.").prompt("two").says("Two.")
    session.write(tmp_path / "t")
    with fake_worker(home) as worker:
        worker.answer("POST /api/import/known", {"known": [], "excluded": []})
        worker.answer("POST /api/import", {"turns": 2, "memories": 1})
        assert run_here("import", "transcripts", str(tmp_path / "t")) == 0
        sent: Json = worker.last("/api/import").body
        names = [turn["name"] for turn in sent["turns"]]
        worker.answer("POST /api/import/known", {"known": names[:1], "excluded": []})
        worker.answer("POST /api/import", {"turns": 1, "memories": 1})
        run_here("import", "transcripts", str(tmp_path / "t"))
        again: Json = worker.last("/api/import").body
        assert [turn["name"] for turn in again["turns"]] == names[1:]
        worker.answer("POST /api/import/known", {"known": names, "excluded": []})
        asked = len(worker.seen)
        run_here("import", "transcripts", str(tmp_path / "t"))
        assert [one.path for one in worker.seen[asked:]] == ["/api/health", "/api/import/known"]
    assert "2 turns were there already." in capsys.readouterr().out
