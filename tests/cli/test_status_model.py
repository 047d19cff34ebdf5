"""How commands speak of the model: what it took, what is wrong with it, and what to do."""

import json
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.cli.worker import awaited
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.install.doctor.worker_checks import check_worker
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.responses.status import Health
from tests.support.fake_worker import COUNTS, HEALTH, FakeWorker, fake_worker, run

MODEL = "anthropic/claude-haiku-4-5-20251001"
COOLING = "rules alone until 12:40 UTC, after 3 failures in a row: the model answered with status 529"
HEALTHY = {**HEALTH, "model": MODEL, "calls_today": 3, "spend_today": 0.014, "tokens_today": 4200, "model_problem": ""}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


def link_python(home: Home, folder: Path, script: str) -> Path:
    """A worker's Python that does no more than this, whatever it is asked to import."""
    made = folder / "python"
    made.write_text(f"#!/bin/sh\n{script}\n")
    made.chmod(0o700)
    home.worker_python.symlink_to(made)
    return made


def model_check(home: Home) -> list[Check]:
    return [check for check in check_worker(home) if check.name == "model"]


def test_status_tells_the_model_and_what_it_took_today(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/health", HEALTHY)
    assert run("status") == 0
    assert f"model:      {MODEL}, 3 calls, $0.01 today\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("spend", "told"),
    [(0.0025, "$0.0025"), (0.00003, "$0.00003"), (0.0, "$0.00"), (0.01, "$0.01"), (1.234, "$1.23")],
)
def test_status_tells_less_than_a_cent_with_its_digits(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str], spend: float, told: str
) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "spend_today": spend})
    assert run("status") == 0
    assert f"3 calls, {told} today\n" in capsys.readouterr().out


def test_status_tells_the_turns_that_the_model_is_asked_about(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "calls_today": 1, "model_waiting": 2})
    assert run("status") == 0
    assert f"{MODEL}, 1 call, $0.01 today; 2 turns under way\n" in capsys.readouterr().out


def test_status_tells_a_failure_with_what_to_do(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "model_problem": COOLING, "model_next_step": "start the server"})
    assert run("status") == 0
    assert f"; {COOLING}; start the server\n" in capsys.readouterr().out


def test_status_tells_what_is_wrong_and_what_was_left_to_rules(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "model_problem": COOLING, "model_failed": 2})
    assert run("status") == 0
    told = f"{MODEL}, 3 calls, $0.01 today; {COOLING}; 2 turns left to rules (`claude-mem-lite queue --errors`)"
    assert told in capsys.readouterr().out


def test_turns_the_model_did_not_tell_are_listed_with_their_reason(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    turn: JsonObject = {
        "id": 7,
        "event": "model",
        "reason": "the key was refused",
        "received_at": "2026-01-02T03:04:05+00:00",
    }
    worker.answer("GET /api/queue", {"events": [turn]})
    assert run("queue", "--errors") == 0
    told = capsys.readouterr().out
    assert told.startswith("7\tmodel\t")
    assert told.endswith("\tthe key was refused\n")


def test_a_drain_that_ends_before_the_model_says_so(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    worker.answer("POST /api/drain", {"drained": False, **COUNTS, "raw": 0, "processing": 0})
    assert run("worker", "drain", "--timeout", "1") == 1
    assert "the model has not answered everything after 1 s; run it again" in capsys.readouterr().err


def test_doctor_has_nothing_to_say_of_rules(worker: FakeWorker, home: Home) -> None:
    assert model_check(home) == []


def test_doctor_warns_of_a_model_without_a_provider(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", {**HEALTH, "model_problem": "nothing is asked", "model_next_step": "set provider"})
    assert model_check(home) == [Check("model", "warn", "nothing is asked", "set provider")]


@pytest.mark.parametrize(
    ("depth", "turns", "told"),
    [
        (1, 1, "Waiting for the model: 1 turn…"),
        (5, 2, "Waiting for 3 events and the model: 2 turns…"),
        (1, 0, "Waiting for 1 event…"),
        (0, 0, ""),
    ],
)
def test_what_is_awaited_is_one_line(depth: int, turns: int, told: str) -> None:
    assert awaited(Health(pid=1, queue_depth=depth, model_waiting=turns)) == told


def test_a_drain_at_a_terminal_says_what_it_waits_for(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "queue_depth": 1, "model_waiting": 1})
    worker.held.add("/api/drain")
    ours, theirs = pty.openpty()
    with open(ours, "rb", buffering=0) as terminal, open(theirs, "wb", buffering=0) as stderr:
        process = subprocess.Popen(
            [sys.executable, "-c", "from claude_mem_lite.cli.main import run; run()", "worker", "drain"],
            stderr=stderr,
        )
        told = terminal.readline().decode()
        worker.stopped.set()
        process.wait()
    assert told.startswith("Waiting for the model: 1 turn")


def test_doctor_finds_a_model_that_answers(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", HEALTHY)
    assert model_check(home) == [Check("model", "ok", f"{MODEL}, 3 calls, 4,200 tokens today")]


def test_doctor_warns_of_a_model_that_does_not_answer_and_says_what_to_do(
    worker: FakeWorker, home: Home, tmp_path: Path
) -> None:
    link_python(home, tmp_path, "exit 0")
    worker.answer("GET /api/health", {**HEALTHY, "model_problem": COOLING, "model_next_step": "wait"})
    assert model_check(home) == [Check("model", "warn", f"{MODEL}: {COOLING}", "wait")]


def test_doctor_finds_that_the_workers_python_lacks_the_sdk(worker: FakeWorker, home: Home, tmp_path: Path) -> None:
    bare = link_python(home, tmp_path, "exit 1")
    worker.answer("GET /api/health", HEALTHY)
    (check,) = model_check(home)
    assert (check.state, check.found) == ("fail", f"{bare} cannot import anthropic")


def test_status_in_json_has_all_that_is_known_of_the_model(
    worker: FakeWorker, capsys: pytest.CaptureFixture[str]
) -> None:
    worker.answer("GET /api/health", {**HEALTHY, "model_problem": COOLING})
    assert run("status", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["model"], told["model_problem"], told["tokens_today"]) == (MODEL, COOLING, 4200)
