"""A failure that passes later in its session is told to nobody as a problem; one that does not, stays."""

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.loop import Loop
from tests.running import Json, leave, payload, query
from tests.unit.compress.build import PYTEST_FAILED, PYTEST_PASSED


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


def work(home: Home, loop: Loop, session: str, ran: Json) -> None:
    asked = payload("UserPromptSubmit", session, prompt="run it")
    for event in (asked, ran, payload("Stop", session, last_assistant_message="There it is.")):
        leave(home, event)
    assert loop.settle(30)


def failures(home: Home) -> list[str]:
    return [status for (status,) in query(home.memory_db, "select status from memories where kind = 'failure'")]


def test_a_failure_whose_command_passes_in_a_later_turn_is_retired_with_the_reason(home: Home, loop: Loop) -> None:
    work(home, loop, "s-1", failed("s-1"))
    assert failures(home) == ["active"]
    work(home, loop, "s-1", passed("s-1"))
    assert failures(home) == ["retired"]
    assert query(home.memory_db, "select reason from retirements") == [("its command passed later in the session",)]


@pytest.mark.parametrize(
    ("session", "command"),
    [
        ("s-2", "pytest"),
        ("s-1", "pytest tests/test_cart.py"),
        ("s-1", "pytest -k empty"),
        ("s-1", "pytest --deselect tests/test_session.py"),
    ],
)
def test_what_passes_elsewhere_or_is_only_a_part_leaves_it_standing(
    home: Home, loop: Loop, session: str, command: str
) -> None:
    work(home, loop, "s-1", failed("s-1"))
    work(home, loop, session, passed(session, command))
    assert failures(home) == ["active"]
