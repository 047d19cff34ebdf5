"""Tests of `ui/pages/guards.py`: the pages of guards, and what the user decides there."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from claude_mem_lite.agents.client_settings import LOCAL_NAME
from tests.support.running import Json, Machine, open_machine, wait_until
from tests.ui.conftest import browser_of
from tests.ui.html_checks import faults
from tests.worker.commands import run_here


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    return folder


@pytest.fixture
def page(machine: Machine) -> TestClient:
    return browser_of(machine)


def propose(machine: Machine, project: Path, words: str = "Use pnpm, not npm") -> Json:
    machine.post("/api/memories", {"kind": "rule", "text": words, "cwd": str(project)})
    wait_until(lambda: all(one["is_replayed"] for one in listed(machine)), "the replay")
    return listed(machine)[0]


def listed(machine: Machine) -> list[Json]:
    found: list[Json] = machine.get("/api/guards?all_projects=true")["guards"]
    return found


def shown(page: TestClient, path: str) -> str:
    answer = page.get(f"/part{path}")
    assert answer.status_code == 200, answer.text
    assert faults(answer.text) == []
    return answer.text


def do(page: TestClient, name: str, **given: Json) -> Json:
    answer = page.post(f"/do/{name}", json=given)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_without_any_it_says_how_guards_begin(page: TestClient) -> None:
    assert "There are no guards yet." in shown(page, "/guards")


def test_a_proposal_is_listed_with_its_replay_and_accepted_in_a_mode(
    machine: Machine, page: TestClient, project: Path
) -> None:
    guard = propose(machine, project)
    html = shown(page, "/guards")
    assert "Proposed, not in force" in html
    assert "no earlier session to try it on" in html
    assert "would have fired" not in html
    assert "ask or remind · " in html
    do(page, "accept_guard", id=guard["id"], mode="deny")
    assert [(one["status"], one["mode"]) for one in listed(machine)] == [("active", "deny")]
    assert "In force" in shown(page, "/guards?only=list")


def test_one_guard_is_shown_with_rule_reason_ledger_and_replay(
    machine: Machine, page: TestClient, project: Path
) -> None:
    guard = propose(machine, project, "Use pnpm, not npm")
    html = shown(page, f"/guards/{guard['id']}")
    assert all(words in html for words in ("Use pnpm, not npm", "Ledger", "Replay over earlier sessions", "/memories/"))


def test_a_decision_on_the_page_puts_the_hook_into_the_settings_and_takes_it_out(
    machine: Machine, page: TestClient, project: Path
) -> None:
    run_here(machine, "install", cwd=project)
    guard = propose(machine, project)
    settings = project / ".claude" / LOCAL_NAME
    done = do(page, "accept_guard", id=guard["id"], mode="ask")
    assert "next session" in done["message"]
    assert "PreToolUse" in json.loads(settings.read_text())["hooks"]
    assert do(page, "remove_guard", id=guard["id"])["go"] == "/guards"
    assert not settings.exists()


def test_a_guard_that_does_not_hold_says_why(machine: Machine, page: TestClient, project: Path) -> None:
    guard = propose(machine, project)
    do(page, "accept_guard", id=guard["id"])
    machine.home.off_switch.touch()
    for path in ("/guards", f"/guards/{guard['id']}"):
        html = shown(page, path)
        assert "Accepted, but not in force" in html
        assert "claude-mem-lite on" in html


def test_a_guard_whose_hook_cannot_be_placed_is_stored_and_says_why(
    machine: Machine, page: TestClient, project: Path
) -> None:
    guard = propose(machine, project)
    (project / ".claude").mkdir()
    (project / ".claude" / LOCAL_NAME).write_text("{ broken")
    message = do(page, "accept_guard", id=guard["id"])["message"]
    assert message.startswith("Stored. But the hook could not be changed")


def test_a_guard_is_paused_resumed_and_dismissed_on_the_page(machine: Machine, page: TestClient, project: Path) -> None:
    guard = propose(machine, project)
    do(page, "accept_guard", id=guard["id"])
    do(page, "pause_guard", id=guard["id"])
    assert "Resume" in shown(page, "/guards")
    do(page, "resume_guard", id=guard["id"])
    assert [one["status"] for one in listed(machine)] == ["active"]
    other = propose(machine, project, "Never touch vendor/")
    proposed = next(one for one in listed(machine) if one["id"] != guard["id"])
    assert other["status"] == "active"
    do(page, "dismiss_guard", id=proposed["id"])
    assert [one["id"] for one in listed(machine)] == [guard["id"]]


def test_a_guard_of_a_folder_without_sessions_has_its_hook_back_when_resumed_on_the_page(
    machine: Machine, page: TestClient, project: Path
) -> None:
    run_here(machine, "install", cwd=project)
    run_here(machine, "guards", "add", "use pnpm, not npm", cwd=project)
    settings = project / ".claude" / LOCAL_NAME
    guard = listed(machine)[0]
    do(page, "pause_guard", id=guard["id"])
    assert not settings.exists()
    do(page, "resume_guard", id=guard["id"])
    assert "PreToolUse" in json.loads(settings.read_text())["hooks"]
