"""A failure that passes later, in its session or another, is told to nobody as a problem; one that does not, stays."""

from pathlib import Path

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.git_repositories import make_checkout
from tests.support.running import Json, leave, payload, query
from tests.support.turns import PYTEST_FAILED, PYTEST_PASSED


def failed(session: str, command: str = "pytest") -> Json:
    return payload(
        "PostToolUseFailure",
        session,
        tool_name="Bash",
        tool_input={"command": command},
        error=f"Exit code 1\n{PYTEST_FAILED}",
    )


def passed(session: str, command: str = "pytest") -> Json:
    return payload(
        "PostToolUse",
        session,
        tool_name="Bash",
        tool_input={"command": command},
        tool_response={"stdout": PYTEST_PASSED, "stderr": "", "interrupted": False},
    )


def work(home: Home, loop: Services, session: str, ran: Json, cwd: str = "/") -> None:
    asked = payload("UserPromptSubmit", session, prompt="run it")
    said = "There it is: pytest fails." if ran["hook_event_name"] == "PostToolUseFailure" else "There it is."
    for event in (asked, ran, payload("Stop", session, last_assistant_message=said)):
        leave(home, event | {"cwd": cwd})
    assert loop.passes.wait_until_idle(30)


def failures(home: Home) -> list[str]:
    return [status for (status,) in query(home.memory_db, "select status from memories where kind = 'failure'")]


def handoffs(home: Home) -> list[str]:
    return [status for (status,) in query(home.memory_db, "select status from memories where kind = 'handoff'")]


def test_a_failure_whose_command_passes_in_a_later_turn_is_retired_with_the_reason(home: Home, loop: Services) -> None:
    work(home, loop, "s-1", failed("s-1"))
    assert failures(home) == ["active"]
    work(home, loop, "s-1", passed("s-1"))
    assert failures(home) == ["retired"]
    assert query(home.memory_db, "select reason from retirements") == [("its command passed later in the session",)]


@pytest.mark.parametrize("command", ["pytest tests", "pytest tests -q"])
def test_a_failure_whose_command_passes_in_a_later_session_is_retired_with_what_was_left_open(
    home: Home, loop: Services, command: str
) -> None:
    work(home, loop, "s-1", failed("s-1", "pytest tests"))
    assert (failures(home), handoffs(home)) == (["active"], ["active"])
    work(home, loop, "s-2", passed("s-2", command))
    assert (failures(home), handoffs(home)) == (["retired"], ["retired"])
    assert ("its command passed in session s-2",) in query(home.memory_db, "select reason from retirements")


def test_the_same_command_in_another_folder_is_another(home: Home, loop: Services, tmp_path: Path) -> None:
    make_checkout(tmp_path)
    for name in ("api", "web"):
        (tmp_path / name).mkdir()
    work(home, loop, "s-1", failed("s-1"), str(tmp_path / "api"))
    work(home, loop, "s-2", passed("s-2"), str(tmp_path / "web"))
    assert len(set(query(home.memory_db, "select project from sessions"))) == 1
    assert (failures(home), handoffs(home)) == (["active"], ["active"])


@pytest.mark.parametrize(
    ("session", "command"),
    [
        ("s-2", "pytest tests/test_cart.py"),
        ("s-1", "pytest tests/test_cart.py"),
        ("s-1", "pytest -k empty"),
        ("s-1", "pytest --deselect tests/test_session.py"),
    ],
)
def test_what_is_only_a_part_leaves_it_standing(home: Home, loop: Services, session: str, command: str) -> None:
    work(home, loop, "s-1", failed("s-1"))
    work(home, loop, session, passed(session, command))
    assert failures(home) == ["active"]
