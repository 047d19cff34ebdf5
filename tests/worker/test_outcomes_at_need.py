"""What a prompt was given and what came of it, through real hooks and a worker."""

from contextlib import closing
from datetime import UTC, datetime

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.models import Receipt, ReceiptItem
from claude_mem_lite.store import receipts
from tests.running import Json, Machine, payload
from tests.worker.moments import answered, ask, ask_now, prompted, remember, wait_until_given

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


def test_what_is_taken_up_after_the_prompt_was_used(asked: Machine, project: str) -> None:
    end(asked, project, "Then I leave the nightly tarball of the vault as it is.")
    assert outcome(asked) == "used"
    shown = next(one for one in asked.get("/api/stats")["sources"] if one["moment"] == "prompt")
    assert (shown["source"], shown["used"], shown["hit_rate"]) == ("decision", 1, 1.0)


def test_what_the_session_never_came_back_to_was_ignored(asked: Machine, project: str) -> None:
    end(asked, project, "It is raining.")
    assert outcome(asked) == "ignored"


def test_the_words_of_the_prompt_alone_are_no_use(asked: Machine, project: str) -> None:
    end(asked, project, "You asked where we keep the shopping carts, and why SQLite.")
    answered(asked, "UserPromptSubmit", prompted(MINE, project, f"Again: {PROMPT}"), 0.0)
    end(asked, project, "We keep the shopping carts in SQLite.")
    assert outcome(asked) == "ignored"


def test_what_was_said_before_the_prompt_is_no_use(machine: Machine, project: str) -> None:
    machine.start_worker()
    remember(machine, project, "decision", DECISION)
    answered(machine, "UserPromptSubmit", prompted(MINE, project, "Good morning"), 0.0)
    said = "The nightly tarball of the vault takes one file."
    machine.hook("Stop", payload("Stop", MINE, project, last_assistant_message=said))
    assert "Keep the shopping carts" in ask_now(machine, MINE, project, PROMPT)
    wait_until_given(machine, 1)
    end(machine, project, "It is raining.")
    assert outcome(machine) == "ignored"


def test_use_in_a_later_turn_counts(asked: Machine, project: str) -> None:
    asked.hook("Stop", payload("Stop", MINE, project, last_assistant_message="It is raining."))
    answered(asked, "UserPromptSubmit", prompted(MINE, project, "Go on"), 0.0)
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls vault/nightly.tarball"}, "tool_response": {}}
    asked.hook("PostToolUse", payload("PostToolUse", MINE, project, **tool))
    end(asked, project, "Done.")
    assert outcome(asked) == "used"


def test_what_prompts_were_given_in_vain_falls_silent_until_it_is_confirmed(machine: Machine, project: str) -> None:
    machine.start_worker()
    made = remember(machine, project, "decision", DECISION)
    machine.stop_worker()
    ignore(machine, project, made, 7)
    machine.start_worker()
    machine.drain()
    assert machine.get("/api/stats")["silent"]["items"] == []
    machine.stop_worker()
    ignore(machine, project, made, 8)
    machine.start_worker()
    assert [one["id"] for one in machine.get("/api/stats")["silent"]["items"]] == [made]
    assert ask(machine, MINE, project, PROMPT) == ""
    assert machine.ask("PATCH", f"/api/memories/{made}", {"status": "active", "cwd": project}).status == 200
    machine.drain()
    assert "Keep the shopping carts" in ask(machine, MINE, project, PROMPT)


def ignore(machine: Machine, project: str, source: str, times: int) -> None:
    """The prompts of so many sessions were given what the agent had once told, and none had use for it."""
    at = datetime.now(UTC)
    with closing(open_for_writing(machine.home.memory_db)) as db, atomic(db):
        db.execute("update memories set origin = 'assistant' where id = ?", (source,))
        for number in range(times):
            item = ReceiptItem(source, "decision", "words", 20, outcome="ignored")
            name = f"ignored-{number}"
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
