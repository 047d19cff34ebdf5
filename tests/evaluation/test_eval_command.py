"""Tests of `cli/figures/evaluation.py`: the real command on made-up transcripts."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.client.worker_process import wait_until
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.paths import HOME_VARIABLE
from tests.support import agent_files
from tests.support.past_sessions import LONG_AGO, PastSession, fixed_bug
from tests.support.running import hung, open_machine
from tests.worker.commands import run_here

COMMAND = Path(sys.executable).with_name("claude-mem-lite")


def run(folder: Path, *arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), HOME_VARIABLE: str(folder / "home")}
    return subprocess.run([COMMAND, "eval", *arguments], env=environment, capture_output=True, text=True, check=False)


def transcripts(folder: Path, count: int = 12) -> Path:
    for number in range(count):
        fixed_bug(f"s{number:02d}", number % 2, LONG_AGO + timedelta(days=number)).write(folder / "recorded")
    return folder / "recorded"


def test_the_report_says_what_is_covered_and_that_few_sessions_tell_little(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path), "--without", "sessions")
    assert ran.returncode == 0, ran.stderr
    assert "2 sessions measured" in ran.stdout
    assert "Too few sessions to tell" in ran.stdout
    assert "the newest 10 sessions" in ran.stdout
    (compared,) = [line for line in ran.stdout.splitlines() if "without sessions: " in line]
    assert compared.endswith("; too few sessions to tell")
    assert "may be chance" not in compared
    assert not (tmp_path / "home").exists()


def test_sessions_that_only_fill_the_memory_measure_nothing(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path, 3))
    assert "Nothing to measure: 3 sessions, and the first 10 only fill the memory" in ran.stdout


def test_a_time_after_all_sessions_leaves_nothing_to_measure(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path), "--since", "1d")
    assert "none of the 2 sessions after the first 10 began after --since" in ran.stdout


def test_json_has_every_figure(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path), "--json")
    (project,) = json.loads(ran.stdout)["projects"]
    assert project["name"] == "shop"
    assert project["problems"] == {}
    assert project["whole"]["sessions"] == 2
    assert set(project["whole"]["starts"]) == {"claude-mem-lite", "the newest 10 sessions", "nothing"}


def test_a_layer_that_does_not_exist_is_refused_with_the_names_of_all(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path, 1), "--without", "nonsense")
    assert ran.returncode != 0
    assert "there is no layer 'nonsense'" in ran.stderr
    assert "handoff" in ran.stderr


def test_a_preset_that_does_not_exist_is_refused_before_any_session_is_read(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path, 1), "--preset", "nonsense")
    assert ran.returncode != 0
    assert "there is no preset 'nonsense'" in ran.stderr


def test_a_time_that_is_none_is_refused_before_any_session_is_read(tmp_path: Path) -> None:
    ran = run(tmp_path, transcripts(tmp_path, 1), "--since", "nonsense")
    assert ran.returncode != 0
    assert ran.stderr.startswith("claude-mem-lite eval: Invalid value: 'nonsense' is not a time")


def test_without_stored_sessions_the_command_asks_for_a_folder(tmp_path: Path) -> None:
    ran = run(tmp_path)
    assert ran.returncode == 1
    assert "nothing is stored here yet; name a folder of transcripts as PATH" in ran.stderr


def test_paths_without_a_transcript_of_claude_code_are_refused_with_the_number_of_their_files(tmp_path: Path) -> None:
    folder = tmp_path / "others"
    agent_files.write_lines(folder / "rollout-c1.jsonl", agent_files.codex_session())
    (folder / "notes.txt").write_text("junk")
    ran = run(tmp_path, folder)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines()[-1] == (
        "claude-mem-lite: 2 files were found, and none is a transcript of Claude Code with a finished turn, which is "
        "all that eval reads; name a folder of transcripts as PATH, such as ~/.claude/projects"
    )


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = run(tmp_path, tmp_path / "empty", "--json")
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.startswith("claude-mem-lite: 0 files were found")


def test_stored_sessions_without_a_transcript_are_counted_by_their_reason() -> None:
    with open_machine() as machine:
        machine.start_worker()
        lost = fixed_bug("s1").write(machine.user_home / ".claude" / "projects" / "-home-dev-shop")
        agent_files.write_lines(machine.user_home / ".codex/sessions/rollout-c1.jsonl", agent_files.codex_session())
        run_here(machine, "import", "transcripts")
        lost.unlink()
        printed = run_here(machine, "eval", "--all-projects").stdout
    assert (
        "2 stored sessions were left out: 1 without a transcript on this machine (deleted, mostly), 1 of another agent."
        in printed
    )
    assert "none of this project was found. Name a folder of transcripts as PATH" in printed
    assert "after more sessions" not in printed


def test_a_project_without_stored_sessions_is_said_to_have_none() -> None:
    with open_machine() as machine:
        machine.start_worker()
        printed = run_here(machine, "eval").stdout
    assert printed.startswith("There is no stored session to evaluate. Name a folder")


def test_impatient_stops_leave_no_folder_and_a_partial_report(tmp_path: Path) -> None:
    recorded = transcripts(tmp_path, 30)
    with tempfile.TemporaryDirectory(prefix="e") as temporary:  # short: a socket is in it
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": temporary}
        command = [str(COMMAND), "eval", str(recorded), "--json"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            walked = Path(temporary, f"claude-mem-lite-walk-{os.getuid()}-a-b-c-d-e", "home", "memory.db")
            assert wait_until(walked.exists, Deadline.after(60))
            running.send_signal(signal.SIGINT)
            assert running.stderr is not None
            assert running.stderr.readline().startswith(b"Stopping")
            running.send_signal(signal.SIGINT)
            running.send_signal(signal.SIGTERM)
            printed, complained = running.communicate()
        assert running.returncode == 0, complained
        assert list(Path(temporary).iterdir()) == []
    (project,) = json.loads(printed)["projects"]
    assert project["is_partial"]


def test_ctrl_c_before_the_walk_says_that_nothing_was_measured() -> None:
    with open_machine() as machine:
        machine.start_worker()
        command = [str(COMMAND), "eval"]
        with (
            hung(machine),
            subprocess.Popen(
                command, env=machine.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            ) as running,
        ):
            assert running.stderr is not None
            assert running.stderr.readline().startswith("Reading")
            running.send_signal(signal.SIGINT)
            printed, complained = running.communicate()
    assert (running.returncode, printed) == (130, "")
    assert complained.strip() == "Stopped. Nothing was measured."


def test_a_walk_below_nohup_survives_the_end_of_the_terminal(tmp_path: Path) -> None:
    recorded = transcripts(tmp_path, 30)
    with tempfile.TemporaryDirectory(prefix="e") as temporary:  # short: a socket is in it
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "TMPDIR": temporary}
        command = ["nohup", str(COMMAND), "eval", str(recorded), "--json"]
        with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
            walked = Path(temporary, f"claude-mem-lite-walk-{os.getuid()}-a-b-c-d-e", "home", "memory.db")
            assert wait_until(walked.exists, Deadline.after(60))
            running.send_signal(signal.SIGHUP)
            printed, complained = running.communicate()
        assert running.returncode == 0, complained
    (project,) = json.loads(printed)["projects"]
    assert not project["is_partial"]


@pytest.mark.parametrize(
    "content",
    [
        "nonsense",
        "[1]",
        '[{"session": "s00"}]',
        '[{"session": "s00", "started": "2026-03-02T09:00:00", "files": []}]',
        '[{"session": "s00", "started": "2026-03-02T09:00:00Z", "files": 3}]',
        "[" * 100_000,
    ],
)
def test_a_list_of_sessions_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    folder = transcripts(tmp_path, 1)
    (folder / "sessions.json").write_text(content)
    ran = run(tmp_path, folder)
    assert ran.returncode == 1
    assert f"{folder}/sessions.json is no list of sessions" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("cwd", ["/", "", "e"])
def test_the_folder_of_a_session_may_be_any_text(tmp_path: Path, cwd: str) -> None:
    """Folders are replaced in all texts, and these would be found everywhere."""
    for number in range(12):
        session = PastSession(f"s{number:02d}", LONG_AGO + timedelta(days=number), cwd)
        session.prompt("see here").says("There was nothing to see, because the cache was stale.").write(
            tmp_path / "odd"
        )
    ran = run(tmp_path, tmp_path / "odd")
    assert ran.returncode == 0, ran.stderr
    assert "2 sessions measured" in ran.stdout
