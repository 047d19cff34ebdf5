"""Tests of `worker/models/scheduler.py` and `worker/models/on_demand.py`: a worker process asks a model over HTTP
with the real SDK: requests, failures and reports."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.compress.model.model_server import ModelServer, Reply, anthropic_reply, error_reply
from tests.support.running import Json, Machine, leave, payload, query, turn, wait_until
from tests.worker.model_turns import answer, long_turn, makers, outcomes, states

NAME = "anthropic/claude-haiku-4-5-20251001"
WELL = anthropic_reply(answer("Count every item of the basket", headline="The basket counts at last"))
HANGING = Reply(hang=True)
SDK = ("anthropic.resources.messages",)
"""Takes longer to import than all else that a worker does here."""


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer([WELL]) as server:
        yield server


@pytest.fixture
def asking(machine: Machine, model: ModelServer) -> Machine:
    """A machine whose configuration names the model, with a key, and no worker yet."""
    configure(machine, model)
    machine.home.api_key.write_text("sk-ant-test")
    machine.home.api_key.chmod(0o600)
    machine.also = SDK
    return machine


def configure(machine: Machine, model: ModelServer, more: str = "", provider: str = "anthropic") -> None:
    machine.home.config.write_text(f'provider = "{provider}"\nbase_url = "{model.url}"\n{more}')


def work(machine: Machine, session: str = "s-1", *, cwd: str = "/") -> None:
    for event in long_turn(session, "Count the items", cwd=cwd):
        leave(machine.home, event)
    machine.post("/api/drain", {"timeout_s": 0.2})


def wait_for_question(model: ModelServer) -> None:
    wait_until(lambda: bool(model.asked), "the question")


def test_a_turn_is_told_by_the_model_and_what_it_took_is_told(asking: Machine, model: ModelServer) -> None:
    asking.is_cold = True
    asking.start_worker()
    work(asking)
    asking.drain()
    assert (makers(asking.home), len(model.asked)) == ({NAME}, 1)
    told = asking.get("/api/health")
    assert (told["model"], told["model_problem"], told["queue_depth"]) == (NAME, "", 0)
    assert (told["calls_today"], told["spend_today"], told["tokens_today"]) == (1, 0.0015, 1_100)


def test_a_call_is_logged_with_its_size_and_nothing_of_what_was_said(asking: Machine, model: ModelServer) -> None:
    asking.start_worker()
    work(asking)
    asking.drain()
    (line,) = [one for one in asking.log_lines() if one["what"] == "model asked"]
    assert (line["session"], line["outcome"], line["tokens_in"], line["cost_usd"]) == ("s-1", "told", 1_000, 0.0015)
    assert line["ms"] > 0
    assert "basket" not in asking.home.worker_log.read_text()
    assert "sk-ant-test" not in asking.home.worker_log.read_text()


def test_drain_waits_for_a_model_that_is_busy_at_first(asking: Machine, model: ModelServer) -> None:
    model.replies = [error_reply(529), WELL]
    asking.start_worker()
    work(asking)
    asking.drain()
    assert (outcomes(asking.home), makers(asking.home)) == (["unavailable", "told"], {NAME})


def test_a_refused_key_is_told_with_what_to_do_and_the_turn_is_listed(asking: Machine, model: ModelServer) -> None:
    model.replies = [error_reply(401)]
    asking.start_worker()
    work(asking)
    asking.drain()
    assert makers(asking.home) == {"rules"}
    told = asking.get("/api/health")
    assert "status 401" in told["model_problem"]
    assert (told["model_next_step"], told["model_failed"]) == ("check the key", 1)
    (listed,) = asking.get("/api/queue")["events"]
    assert (listed["event"], listed["session"], listed["status"]) == ("model", "s-1", "failed")
    assert "status 401" in listed["reason"]
    model.replies = [WELL]
    assert asking.post("/api/queue/retry", {"id": listed["id"]}) == {"events": 0, "turns": 1}
    asking.drain()
    assert (makers(asking.home), asking.get("/api/queue")["events"]) == ({NAME}, [])


def test_without_a_key_nothing_is_sent_and_the_reason_is_told(machine: Machine, model: ModelServer) -> None:
    configure(machine, model)
    machine.start_worker()
    wait_until(lambda: "needs a key" in machine.get("/api/health")["model_problem"], "the first look at the settings")
    work(machine)
    machine.drain()
    assert (model.asked, states(machine.home), makers(machine.home)) == ([], ["failed"], {"rules"})
    assert "ANTHROPIC_API_KEY" in machine.get("/api/health")["model_next_step"]


def test_rules_send_nothing_although_a_key_and_an_address_are_there(asking: Machine, model: ModelServer) -> None:
    configure(asking, model, provider="rules")
    asking.start_worker()
    work(asking)
    asking.drain()
    assert asking.post("/api/summarize", {"session": "s-1"})["made_by"] == "rules"
    assert (model.asked, outcomes(asking.home)) == ([], [])


def test_a_session_starts_with_its_context_while_the_model_hangs(
    asking: Machine, model: ModelServer, tmp_path: Path
) -> None:
    model.replies = [HANGING]
    asking.start_worker()
    work(asking, cwd=str(tmp_path))
    wait_for_question(model)
    ran = asking.hook("SessionStart", payload("SessionStart", "s-2", str(tmp_path), source="startup"))
    told: Json = json.loads(ran.out)
    assert "Count the items" in told["hookSpecificOutput"]["additionalContext"]
    assert states(asking.home) == ["asking"]


def test_a_worker_killed_while_it_asks_leaves_the_turn_to_the_next(asking: Machine, model: ModelServer) -> None:
    model.replies = [HANGING]
    asking.start_worker()
    work(asking)
    wait_for_question(model)
    wait_until(lambda: states(asking.home) == ["asking"], "the turn to be asked about")
    asking.kill_worker()
    assert states(asking.home) == ["asking"]
    model.replies = [WELL]
    asking.start_worker()
    asking.drain()
    assert (states(asking.home), makers(asking.home)) == (["done"], {NAME})
    assert outcomes(asking.home) == ["lost", "told"]


def test_a_worker_told_to_end_returns_what_the_model_does_not_answer(asking: Machine, model: ModelServer) -> None:
    model.replies = [HANGING]
    worker = asking.start_worker()
    work(asking)
    wait_for_question(model)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(30) == 0
    assert (states(asking.home), makers(asking.home)) == (["wanted"], {"rules"})


def test_a_day_s_cap_in_the_settings_takes_effect_without_a_restart(asking: Machine, model: ModelServer) -> None:
    asking.start_worker()
    work(asking)
    asking.drain()
    configure(asking, model, "daily_usd = 0.002\n")
    work(asking)
    asking.drain()
    assert states(asking.home) == ["done", "dropped"]
    assert len(model.asked) == 1
    assert "the day's cap of $0.002 is reached" in asking.get("/api/health")["model_problem"]


def test_a_summary_is_made_by_the_model_and_stored(asking: Machine, model: ModelServer) -> None:
    asking.start_worker()
    for event in turn("s-1", "Count the apples"):
        leave(asking.home, event)
    asking.drain()
    model.replies = [anthropic_reply(json.dumps({"headline": "Apples are counted", "learned": "There are seven"}))]
    told = asking.post("/api/summarize", {"session": "s-1"})
    assert (told["made_by"], told["tokens"], told["reason"]) == (NAME, 1_100, "")
    assert (told["summary"]["headline"], told["summary"]["learned"]) == ("Apples are counted", "There are seven")
    assert set(told["summary"]) == {
        "headline", "request", "investigated", "learned", "completed", "next_steps", "files_read", "files_edited",
        "notes", "key_decisions",
    }  # fmt: skip
    assert told["summary"]["request"] == "Count the apples."
    assert query(asking.home.memory_db, "select headline from sessions") == [("Apples are counted",)]
    assert query(asking.home.memory_db, "select purpose, outcome from model_calls") == [("summary", "told")]
    assert "Count the apples" in model.asked[0].text


@pytest.mark.parametrize(("cap", "whose"), [("daily_usd", "day"), ("session_usd", "session")])
def test_a_summary_that_would_go_over_a_cap_is_the_one_by_rules(
    asking: Machine, model: ModelServer, cap: str, whose: str
) -> None:
    configure(asking, model, f"{cap} = 0.001\n")
    asking.start_worker()
    for event in turn("s-1", "Count the apples"):
        leave(asking.home, event)
    asking.drain()
    told = asking.post("/api/summarize", {"session": "s-1"})
    assert (told["made_by"], told["reason"]) == ("rules", f"the {whose}'s cap of $0.001 is reached")
    assert (told["summary"]["request"], model.asked) == ("Count the apples.", [])


@pytest.mark.parametrize("reply", [error_reply(500), error_reply(400), anthropic_reply("no JSON at all")])
def test_a_summary_the_model_does_not_make_is_the_one_by_rules(
    asking: Machine, model: ModelServer, reply: Reply
) -> None:
    model.replies = [reply]
    asking.start_worker()
    for event in turn("s-1", "Count the apples"):
        leave(asking.home, event)
    asking.drain()
    told = asking.post("/api/summarize", {"session": "s-1"})
    assert (told["made_by"], told["tokens"]) == ("rules", 0)
    assert told["reason"]
    assert told["summary"]["request"] == "Count the apples."


def test_nothing_is_summed_up_while_the_settings_cannot_be_read(asking: Machine, model: ModelServer) -> None:
    asking.start_worker()
    for event in turn("s-1", "Count the apples"):
        leave(asking.home, event)
    asking.drain()
    asking.home.config.write_text("nonsense = 1\n")
    wait_until(lambda: asking.get("/api/health")["status"] == "degraded", "the settings to be read")
    assert asking.ask("POST", "/api/summarize", {"session": "s-1"}).status == 400
    assert model.asked == []


def test_no_sdk_is_imported_before_a_model_is_asked() -> None:
    program = "import sys, claude_mem_lite.worker.api.app, claude_mem_lite.worker.composition; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True)
    assert {"anthropic", "openai", "httpx"} & set(ran.stdout.split()) == set()
