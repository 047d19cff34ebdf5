"""A session has one id: whole wherever it is printed, and known by any unique beginning wherever it is asked for."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.client.client import Client
from tests.mcp.agent import Agent
from tests.support.running import Machine, open_machine, payload, wait_until
from tests.ui.conftest import browser_of
from tests.worker.commands import run_here
from tests.worker.test_handoffs import work

FIRST, SECOND = "2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e10", "2f6d1c0e-8a4b-4c55-9d1e-0b7a6f3c2e11"
OTHER = "77a01b2c-1111-4222-8333-abcdefabcdef"
IMPORTED = "deadbeef-1111-4222-8333-abcdefabcdef"
_CUT = re.compile(r"(?:2f6d1c0e|77a01b2c|deadbeef)(?!-[0-9a-f]{4}-)")


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Path]]:
    """A worker with three sessions, one of which was given a context, and a memory of a session it never saw."""
    root = tmp_path_factory.mktemp("shop")
    line = {"kind": "note", "title": "Wombats sleep by day", "summary": "Wombats sleep by day", "session": IMPORTED}
    (root / "memories.jsonl").write_text(json.dumps(line) + "\n")
    with open_machine() as machine:
        machine.start_worker()
        for number, session in enumerate((FIRST, SECOND)):
            said = f"Added the cart page {number}. Still to do: test the cart {number}."
            work(machine, session, root, f"Add the cart page {number}", {f"cart{number}.py": "RATE = 1\n"}, said)
        machine.hook("SessionStart", payload("SessionStart", OTHER, str(root), source="startup"))
        work(machine, OTHER, root, "Paint the doors", {"door.py": "RATE = 1\n"}, "Painted the doors.")
        run_here(machine, "import", "jsonl", root / "memories.jsonl", "--trust", cwd=root)
        wait_until(lambda: not Client(machine.home).index().waiting, "everything to be indexed")
        wait_until(lambda: machine.get("/api/receipts?all_projects=true")["receipts"], "the receipt")
        yield machine, root


def test_search_shows_a_session_by_its_own_id(told: tuple[Machine, Path]) -> None:
    machine, root = told
    shown = run_here(machine, "search", "paint the doors", cwd=root).stdout
    assert re.search(rf"^{OTHER}  .*\[session, ", shown, re.MULTILINE)
    hits = json.loads(run_here(machine, "search", "paint the doors", "--json", cwd=root).stdout)
    assert {(hit["id"], hit["session"]) for hit in hits if hit["kind"] == "session"} >= {(OTHER, OTHER)}


@pytest.mark.parametrize(
    "command",
    [
        ("sessions",),
        ("receipts",),
        ("receipts", "--json"),
        ("sessions", "cart", "page"),
        ("show", OTHER[:8]),
        ("show", OTHER, "--json"),
        ("timeline", OTHER[:8]),
        ("search", "cart page", "--explain"),
        ("context", "--explain"),
        ("list", "--json"),
    ],
    ids=" ".join,
)
def test_no_command_cuts_the_id_of_a_session(told: tuple[Machine, Path], command: tuple[str, ...]) -> None:
    machine, root = told
    shown = run_here(machine, *command, cwd=root).stdout
    assert OTHER in shown or FIRST in shown
    assert not _CUT.search(shown)


def test_a_receipt_in_full_and_what_it_gave_have_whole_ids(told: tuple[Machine, Path]) -> None:
    machine, root = told
    (receipt,) = [one for one in machine.get("/api/receipts?all_projects=true")["receipts"] if one["session"] == OTHER]
    shown = run_here(machine, "receipts", receipt["id"], cwd=root).stdout
    assert f"session: {OTHER}" in shown
    assert SECOND in shown
    assert not _CUT.search(shown)


def test_an_agent_is_told_whole_ids(told: tuple[Machine, Path]) -> None:
    machine, root = told
    agent = Agent(machine, root, OTHER, finds_worker=True)
    (memory,) = [one["id"] for one in machine.get(f"/api/timeline?id={SECOND}")["items"] if one["kind"] == "handoff"]
    for name, arguments in (("memory_timeline", {"id": memory}), ("memory_get", {"ids": [memory]})):
        shown = agent.call(name, **arguments).text
        assert f"ession {SECOND}" in shown
        assert not _CUT.search(shown)


def test_the_page_shows_whole_ids(told: tuple[Machine, Path]) -> None:
    machine, root = told
    (memory,) = [
        one["id"]
        for one in machine.get(f"/api/memories?cwd={root}&limit=100")["memories"]
        if one["session"] == IMPORTED
    ]
    html = browser_of(machine).get(f"/part/memories/{memory}").text
    assert f">{IMPORTED}</a>" in html
    assert not _CUT.search(html)


@pytest.mark.parametrize("command", [("show",), ("timeline",), ("receipts", "--session")], ids=" ".join)
def test_a_unique_beginning_is_enough(told: tuple[Machine, Path], command: tuple[str, ...]) -> None:
    machine, root = told
    whole = run_here(machine, *command, OTHER, "--json", cwd=root).stdout
    assert run_here(machine, *command, OTHER[:6], "--json", cwd=root).stdout == whole


@pytest.mark.parametrize(
    "command", [("show",), ("timeline",), ("receipts", "--session"), ("forget", "--yes", "--session")], ids=" ".join
)
def test_a_beginning_of_several_lists_them(told: tuple[Machine, Path], command: tuple[str, ...]) -> None:
    machine, root = told
    refused = run_here(machine, *command, "2f6d1c0e", cwd=root, status=1).stderr
    assert f"2f6d1c0e is the beginning of several ids: {FIRST}, {SECOND}; give more" in refused


def test_a_session_that_only_memories_tell_of_is_known_by_its_beginning_too(told: tuple[Machine, Path]) -> None:
    machine, root = told
    assert "Wombats sleep by day" in run_here(machine, "timeline", IMPORTED[:8], cwd=root).stdout
    refused = run_here(machine, "show", IMPORTED[:8], cwd=root, status=1).stderr
    assert f"nothing but memories is known of session {IMPORTED}; `claude-mem-lite timeline {IMPORTED}`" in refused
    assert run_here(machine, "forget", "--yes", "--session", "deadbee", cwd=root).stdout == "Forgot 1 memory.\n"
    run_here(machine, "import", "jsonl", root / "memories.jsonl", "--trust", cwd=root)


def test_the_beginning_of_a_memory_and_of_a_session_names_neither(told: tuple[Machine, Path]) -> None:
    machine, root = told
    (memory, *_) = [one["id"] for one in machine.get(f"/api/memories?cwd={root}&limit=100")["memories"]]
    session = f"{memory[:6]}-a-session"
    work(machine, session, root, "Water the plants", {"plant.py": "RATE = 1\n"}, "Watered the plants.")
    refused = run_here(machine, "show", memory[:5], cwd=root, status=1).stderr
    assert f"{memory[:5]} is the beginning of several ids: " in refused
    assert memory in refused
    assert session in refused
    assert json.loads(run_here(machine, "show", memory, "--json", cwd=root).stdout)[0]["id"] == memory
