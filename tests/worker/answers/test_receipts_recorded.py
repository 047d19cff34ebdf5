"""Receipts through hooks and worker: what was given, why, whether it arrived, and what came of it."""

import json
import os
import signal
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.models import Receipt
from claude_mem_lite.store import receipts
from tests.support.running import Json, Machine, leave, payload, turn, wait_until
from tests.worker.commands import run_here

EARLIER = "ea511e40-0000-4000-8000-000000000001"
MINE = "3113e000-0000-4000-8000-000000000002"


@pytest.fixture
def told(machine: Machine, project: str) -> Machine:
    """A worker that knows of an earlier session, and of something the user stated."""
    machine.start_worker()
    for given in turn(EARLIER, "Teach the flamingo ledger to count", cwd=project):
        leave(machine.home, given)
    machine.drain()
    machine.post("/api/memories", {"kind": "gotcha", "text": "The quokka sleeps at noon", "cwd": project})
    return machine


def started(machine: Machine, project: str) -> Json:
    """The receipt of the start; a prompt that asks something may have one of its own after it."""
    return next(one for one in listed(machine, project) if one["moment"] == "startup")


def test_a_session_that_is_over_tells_what_it_had_use_for(told: Machine, project: str) -> None:
    start(told, MINE, project)
    given = listed(told, project)[0]
    assert (given["session"], given["moment"], given["project"]) == (MINE, "startup", project)
    assert {item["outcome"] for item in given["items"]} == {None}
    for one in turn(MINE, "Does the flamingo ledger count twice?", cwd=project):
        told.hook(one["hook_event_name"], one)
    told.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
    told.drain()
    given = started(told, project)
    outcomes = {(item["title"], item["outcome"]) for item in given["items"]}
    assert ("The quokka sleeps at noon", "ignored") in outcomes
    assert {item["outcome"] for item in given["items"] if item["source"] == EARLIER} == {"unknown"}


def test_a_session_that_only_ran_a_script_had_use_for_nothing(told: Machine, project: str) -> None:
    text = "Open the cart of the user from the home page; what is in tmp is not kept"
    made = told.post("/api/memories", {"kind": "gotcha", "text": text, "cwd": project})["id"]
    start(told, MINE, project)
    told.hook("UserPromptSubmit", payload("UserPromptSubmit", MINE, project, prompt="run it"))
    for command in ("cd /home/user/tmp/cart && ./run.sh --open", "./run.sh"):
        printed = {"stdout": "open cart: /home/user/tmp/cart is kept", "stderr": "", "interrupted": False}
        more = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": printed}
        told.hook("PostToolUse", payload("PostToolUse", MINE, project, **more))
    told.hook("Stop", payload("Stop", MINE, project, last_assistant_message="It ran."))
    told.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
    told.drain()
    items = {item["source"]: item["outcome"] for item in listed(told, project)[0]["items"]}
    assert items[made] == "ignored"
    assert "used" not in items.values()


def test_a_session_that_goes_on_later_is_judged_again(told: Machine, project: str) -> None:
    start(told, MINE, project)
    for prompt in ("Does the flamingo ledger count twice?", "When does the quokka sleep, at noon?"):
        for one in turn(MINE, prompt, cwd=project):
            told.hook(one["hook_event_name"], one)
        told.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
        told.drain()
    assert {item["outcome"] for item in started(told, project)["items"]} == {"unknown"}


def test_the_same_end_told_twice_changes_nothing(told: Machine, project: str) -> None:
    start(told, MINE, project)
    for one in turn(MINE, "Does the flamingo ledger count twice?", cwd=project):
        told.hook(one["hook_event_name"], one)
    name = leave(told.home, payload("SessionEnd", MINE, project, reason="exit"))
    told.drain()
    before = listed(told, project)
    leave(told.home, payload("SessionEnd", MINE, project, reason="exit"), name=name)
    told.drain()
    assert listed(told, project) == before


def test_a_receipt_in_full_has_every_item_and_what_was_left_out(told: Machine, project: str) -> None:
    start(told, MINE, project)
    (brief,) = listed(told, project)
    whole = told.get(f"/api/receipts/{brief['id'][:6]}")
    assert whole == brief
    assert 0 < whole["tokens"] <= whole["budget"] == 2000
    assert whole["given_at"] >= whole["created_at"]
    assert {"source", "layer", "reason", "tokens", "score", "outcome", "kind", "title"} == set(whole["items"][0])
    assert {item["kind"] for item in whole["items"]} >= {"session", "gotcha"}
    assert all(one["layer"] and one["reason"] for one in whole["layers_skipped"])
    assert whole["layers_skipped"] != []


def test_a_context_that_was_rendered_ahead_has_its_items_too(told: Machine, project: str) -> None:
    told.drain()  # contexts are rendered after a command is answered
    pid = told.worker_pid()
    os.kill(pid, signal.SIGSTOP)
    try:
        told.hook("SessionStart", payload("SessionStart", MINE, project, source="startup"))
    finally:
        os.kill(pid, signal.SIGCONT)
    told.drain()
    given = next(one for one in listed(told, project) if one["given_at"])
    assert given["build_ms"] == 0
    assert EARLIER in {item["source"] for item in given["items"]}
    assert all(item["layer"] and item["reason"] and item["tokens"] for item in given["items"])
    assert all(one["reason"] for one in given["layers_skipped"])


def test_what_is_no_longer_there_is_told_without_its_title(told: Machine, project: str) -> None:
    start(told, MINE, project)
    told.post("/api/forget", {"session": EARLIER})
    assert all(item["title"] for item in listed(told, project)[0]["items"])
    assert EARLIER not in json.dumps(listed(told, project))


def test_a_session_of_which_nothing_else_is_kept_is_found_by_its_receipts(told: Machine, project: str) -> None:
    at = datetime.now(UTC)
    with closing(open_for_writing(told.home.memory_db)) as db, atomic(db):
        for session in ("never-started-1", "never-started-2"):
            receipts.add(db, Receipt(f"name-{session}", session, project, "asked", (), (), (), 20, 500, 1.0, at, at))
    (found,) = told.get("/api/receipts?session=never-started-1")["receipts"]
    assert found["session"] == "never-started-1"
    assert told.ask("GET", "/api/receipts?session=never-start").status == 409


def test_receipts_are_of_a_project_of_a_session_or_of_all(told: Machine, project: str, tmp_path: Path) -> None:
    start(told, MINE, project)
    assert listed(told, str(tmp_path)) == []
    assert len(told.get("/api/receipts?all_projects=true")["receipts"]) == 1
    assert len(told.get(f"/api/receipts?session={MINE[:8]}")["receipts"]) == 1
    assert told.get(f"/api/receipts?session={EARLIER}")["receipts"] == []
    refused = told.ask("GET", "/api/receipts?session=nobody-at-all")
    assert (refused.status, "sessions --all-projects" in refused.body["error"]["next_step"]) == (404, True)
    assert told.ask("GET", "/api/receipts/zzzzzz").status == 404


def test_the_command_shows_the_list_and_one_in_full(told: Machine, project: str) -> None:
    nothing = run_here(told, "receipts", cwd=project).stdout
    assert nothing.startswith("Nothing was given to a session here yet.")
    start(told, MINE, project)
    (brief,) = json.loads(run_here(told, "receipts", "--json", cwd=project).stdout)
    line = run_here(told, "receipts", cwd=project).stdout
    assert line.startswith(f"{brief['id']}\t")
    assert f"startup\t{MINE}\t" in line
    whole = run_here(told, "receipts", brief["id"], cwd=project).stdout
    assert "reached the agent" in whole
    assert "The quokka sleeps at noon" in whole
    assert json.loads(run_here(told, "receipts", brief["id"], "--json", cwd=project).stdout) == brief
    (memory,) = [item["source"] for item in brief["items"] if item["kind"] == "gotcha"]
    told.hook("UserPromptSubmit", payload("UserPromptSubmit", MINE, project, prompt=f"see {memory}"))
    told.hook("SessionEnd", payload("SessionEnd", MINE, project, reason="exit"))
    told.drain()
    assert "given: to 1 session, used in 1" in run_here(told, "show", memory, cwd=project).stdout


def start(machine: Machine, session: str, project: str) -> None:
    ran = machine.hook("SessionStart", payload("SessionStart", session, project, source="startup"))
    assert b"flamingo" in ran.out
    wait_until(lambda: any(one["given_at"] for one in listed(machine, project)), "the context to count as given")


def listed(machine: Machine, project: str) -> list[Json]:
    found: list[Json] = machine.get(f"/api/receipts?cwd={project}")["receipts"]
    return found
