"""What users teach in prompts is stored once, counted when it is said again, and stays away once it was forgotten."""

from pathlib import Path

import pytest

from tests.support import commit_turns
from tests.support.running import Json, Machine
from tests.worker.working_repository import WorkingRepository


@pytest.fixture
def work(machine: Machine, tmp_path: Path) -> WorkingRepository:
    machine.start_worker()
    return WorkingRepository.begin(machine, tmp_path / "shop", {"README.md": "# Shop\n"})


def memories(work: WorkingRepository, kind: str) -> list[Json]:
    found: list[Json] = work.machine.get(f"/api/memories?cwd={work.root}&kind={kind}")["memories"]
    return found


def test_a_rule_that_is_said_again_counts_and_is_seen_last_then(work: WorkingRepository) -> None:
    work.session("no, never use npm", {}, "I use pnpm now.")
    work.session("Please never use npm!", {}, "Sorry, pnpm it is.")
    (found,) = memories(work, "rule")
    assert (found["title"], found["times_seen"]) == ("Never use npm", 2)
    assert found["last_seen_at"] > found["created_at"]
    assert found["confidence"] >= 0.85


def test_what_is_to_hold_everywhere_is_known_in_another_project(work: WorkingRepository, tmp_path: Path) -> None:
    work.session("In all my projects: never add emojis to code", {}, "Understood.")
    other = work.at(tmp_path / "other")
    other.root.mkdir()
    other.git("init", "--quiet")
    assert "Never add emojis to code" in other.context()


def test_what_was_done_before_is_told_with_what_was_taught(work: WorkingRepository) -> None:
    name = "s-1"
    work._hook("UserPromptSubmit", name, prompt="Add a module that formats prices.")
    work._edit(name, "src/price.py", "def as_text(price):\n    return f'{price:.2f}'\n")
    for given in commit_turns.ending(name, str(work.root), "Added `as_text`, which formats a price.", "src/price.py"):
        work.machine.hook(given["hook_event_name"], given)
    work.machine.drain()
    work._hook("UserPromptSubmit", name, prompt="never use f-strings for money, they round")
    work._hook("Stop", name, last_assistant_message="Understood.")
    work.machine.drain()
    (found,) = memories(work, "rule")
    assert found["title"] == "Never use f-strings for money"
    assert found["detail"].startswith('The user said: "never use')
    assert "\nSaid after this work: " in found["detail"]
    assert "src/price.py" in found["detail"]
