"""What a prompt was given and what came of it, through real hooks and a worker."""

from contextlib import closing
from datetime import UTC, datetime

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.models import Receipt, ReceiptItem
from claude_mem_lite.store import receipts
from tests.support.running import Json, Machine, payload
from tests.worker.trigger_events import ask, ask_now, remember, wait_until_given

MINE = "3113e000-0000-4000-8000-000000000002"
DECISION = "Keep the shopping carts in SQLite, because the nightly tarball of the vault takes one file"
PROMPT = "where do we keep the shopping carts, and why SQLite?"


@pytest.fixture
def asked(machine: Machine, project: str) -> Machine:
    """A worker, and a session whose prompt was given a decision."""
    machine.start_worker()
    remember(machine, project, "decision", DECISION)
    assert "Keep the shopping carts" in ask_now(machine, MINE, project, PROMPT)
    wait_until_given(machine, 1)
    return machine


def test_what_is_asked_for_by_its_id_after_the_prompt_was_used(asked: Machine, project: str) -> None:
    (item,) = given(asked)["items"]
    tool = {"tool_name": "Bash", "tool_input": {"command": f"claude-mem-lite show {item['source']}"}}
    asked.hook("PostToolUse", payload("PostToolUse", MINE, project, **tool, tool_response={}))
    end(asked, project, "Then I leave the nightly tarball of the vault as it is.")
    assert outcome(asked) == "used"
    shown = next(one for one in asked.get("/api/stats")["sources"] if one["moment"] == "prompt")
    assert (shown["source"], shown["used"], shown["unknown"], shown["hit_rate"]) == ("decision", 1, 0, 1.0)


@pytest.mark.parametrize(
    "reply", ["It is raining.", "We keep the shopping carts in SQLite.", "The nightly tarball of the vault stays."]
)
def test_what_words_tell_of_what_a_prompt_was_given_is_unknown(asked: Machine, project: str, reply: str) -> None:
    end(asked, project, reply)
    assert outcome(asked) == "unknown"
    shown = next(one for one in asked.get("/api/stats")["sources"] if one["moment"] == "prompt")
    assert (shown["used"], shown["ignored"], shown["unknown"], shown["hit_rate"]) == (0, 0, 1, 0.0)


def test_what_prompts_were_given_in_vain_never_falls_silent(machine: Machine, project: str) -> None:
    machine.start_worker()
    made = remember(machine, project, "decision", DECISION)
    machine.stop_worker()
    give_unknown(machine, project, made, 30)
    machine.start_worker()
    machine.drain()
    assert machine.get("/api/stats")["silent"] == {"items": []}
    assert "Keep the shopping carts" in ask(machine, MINE, project, PROMPT)


def give_unknown(machine: Machine, project: str, source: str, times: int) -> None:
    """The prompts of so many sessions were given what the agent had once told, and nobody knows whether it was used."""
    at = datetime.now(UTC)
    with closing(open_for_writing(machine.home.memory_db)) as db, atomic(db):
        db.execute("update memories set origin = 'assistant' where id = ?", (source,))
        for number in range(times):
            item = ReceiptItem(source, "decision", "words", 20, outcome="unknown")
            name = f"unknown-{number}"
            receipts.add(db, Receipt(name, name, project, "prompt", (item,), (), (), 20, 2000, 1.0, at, at))


def end(machine: Machine, project: str, reply: str) -> None:
    machine.hook("Stop", payload("Stop", MINE, project, last_assistant_message=reply))
    machine.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
    machine.drain()


def given(machine: Machine) -> Json:
    """The first answer to a prompt."""
    found = machine.get(f"/api/receipts?session={MINE}")["receipts"]
    return next(one for one in reversed(found) if one["moment"] == "prompt")


def outcome(machine: Machine) -> str:
    (item,) = given(machine)["items"]
    told: str = item["outcome"]
    return told
