"""`make demo`, run as a user would: it passes, it fails by name when a fact is lost, and it cleans up after itself."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from demo import facts, recording
from demo.machine import Machine

from tests.docs.pages import ROOT

TIMEOUT_S = 100


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """The folder for temporary files of the demo; nothing may be left in it."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def start_demo(scratch: Path, *arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "demo", *arguments],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(scratch)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def without_message(path: Path, words: str, changed: Path) -> Path:
    """A copy of the recording in which the closing message with these words was never said."""
    events = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for event in events:
        if words in event.get("last_assistant_message", "").replace("`", ""):
            event["last_assistant_message"] = ""
    changed.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    assert changed.read_text() != path.read_text("utf-8")
    return changed


def test_the_demo_finds_every_fact_and_says_so(scratch: Path) -> None:
    demo = start_demo(scratch)
    printed, errors = demo.communicate(timeout=TIMEOUT_S)
    assert (demo.returncode, errors) == (0, ""), printed
    for fact in facts.TOLD:
        assert f"✓ {fact.name}: {fact.words}" in printed
    for fact in facts.KEPT_OUT:
        assert f"✓ {fact.name}: in no file" in printed
    assert "<claude-mem-lite>" in printed
    assert "✗" not in printed
    assert "\x1b" not in printed, "no colours outside a terminal"


def test_the_demo_fails_and_names_the_fact_that_the_next_session_would_miss(scratch: Path, tmp_path: Path) -> None:
    decision = next(fact for fact in facts.TOLD if fact.name == "the decision")
    changed = without_message(recording.BUNDLED, decision.words, tmp_path / "changed.jsonl")
    demo = start_demo(scratch, "--recording", str(changed))
    printed, errors = demo.communicate(timeout=TIMEOUT_S)
    assert demo.returncode == 1
    assert errors == "demo: missing: the decision, its reason\n"
    assert "✗ the decision: MISSING" in printed
    assert "✓ the cause" in printed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_demo_leaves_nothing_behind_when_it_is_stopped(scratch: Path, number: signal.Signals) -> None:
    demo = start_demo(scratch)
    assert demo.stdout is not None
    assert demo.stdout.readline() == "claude-mem-lite\n"
    demo.send_signal(number)
    _, errors = demo.communicate(timeout=TIMEOUT_S)
    assert (demo.returncode, errors) == (128 + number, "")


@contextmanager
def played(*positions: int) -> Iterator[Machine]:
    """A machine on which these events of the recording have been sent to their hooks."""
    with Machine() as machine:
        events = recording.load(recording.BUNDLED, machine.project)
        machine.make_project(recording.files_at_start(events))
        machine.install()
        for position in positions:
            machine.hook(events[position])
        yield machine


def test_the_worker_ends_with_the_machine_it_was_started_on() -> None:
    with suppress(KeyboardInterrupt), played(0) as machine:
        lock = os.open(machine.home / "worker.lock", os.O_RDWR)
        with pytest.raises(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise KeyboardInterrupt
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock)
    assert not machine.root.exists()


def test_a_worker_that_is_just_starting_ends_as_well() -> None:
    with played(1) as machine:  # this hook starts the worker and does not wait for it
        lock = os.open(machine.home / "worker.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(lock)
    assert not machine.root.exists()


def test_every_fact_is_worded_as_in_the_recording(tmp_path: Path) -> None:
    events = recording.load(recording.BUNDLED, tmp_path)
    said = "\n".join(str(event.payload.get("last_assistant_message", "")) for event in events)
    assert [fact.name for fact in facts.TOLD if not facts.is_told(fact, said)] == []


def test_what_must_be_kept_out_is_in_the_recording() -> None:
    recorded = recording.BUNDLED.read_text("utf-8")
    assert all(fact.words in recorded for fact in facts.KEPT_OUT)


def test_the_edits_of_the_recording_follow_from_each_other(tmp_path: Path) -> None:
    events = recording.load(recording.BUNDLED, tmp_path)
    files = recording.files_at_start(events)
    for event in events:
        if edited := recording.file_after(event):
            path, content = edited
            response = event.payload["tool_response"]
            assert isinstance(response, dict)
            assert response["originalFile"] == files[path]
            files[path] = content
