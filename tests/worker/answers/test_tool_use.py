"""Tests of `worker/answers/routes.py` and `worker/answers/tool_use.py`: answers of a real worker to a failing command
and to an opened file."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.running import Json, Machine, leave, payload, spool_name
from tests.worker.trigger_events import (
    answered,
    ask,
    hooked_in_time,
    items,
    now_name,
    receipts,
    remember,
    wait_until_given,
)

GOTCHA = "src/cart.py: the total is kept in cents, never in floats"
MARK = "kept in cents"
FAILURE = "Exit code 1\nFAILED tests/test_cart.py::test_total - AssertionError: assert 110 == 100\n1 failed in 0.03s"


@pytest.fixture
def project(tmp_path: Path) -> str:
    folder = tmp_path / "shop"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "cart.py").write_text("def total(prices):\n    return sum(prices)\n")
    return str(folder)


@pytest.fixture
def told(machine: Machine, project: str) -> Machine:
    """A worker that knows what to mind in one file."""
    machine.start_worker()
    remember(machine, project, "gotcha", GOTCHA)
    return machine


@pytest.fixture
def mended(machine: Machine, project: str) -> Machine:
    """A worker that has seen a failing test and what put it right."""
    machine.start_worker()
    _work(machine, _mending("earlier", project))
    return machine


def test_a_file_with_a_gotcha_brings_it_along(told: Machine, project: str) -> None:
    tools = ("Read", "Edit", "MultiEdit", "Write")
    for number, tool in enumerate(tools, 1):
        context = hooked_in_time(told, "PostToolUse", _opening(tool, project, tool=tool))
        assert MARK in context
        assert context.startswith("<claude-mem-lite>\n--- memory (1 item, for reference) ---\n[gotcha] ")
        wait_until_given(told, number)
    given = [one for one in receipts(told) if one.given_at]
    assert {(one.session.partition("-")[0], one.moment, one.budget) for one in given} == {
        (tool, "file", 120) for tool in tools
    }
    assert all(0 < one.tokens <= 120 for one in given)
    assert {layer for _, layer in items(told)} == {"file"}


def test_an_opened_file_brings_the_cause_of_an_earlier_fix(machine: Machine, project: str) -> None:
    machine.start_worker()
    cause = (
        "The total of the cart was 10 too high because `total` counted the shipping twice. I removed it in src/cart.py."
    )
    closing = payload("Stop", "earlier", project, last_assistant_message=cause)
    _work(machine, [*_mending("earlier", project)[:-1], closing])
    context = hooked_in_time(machine, "PostToolUse", _opening("later", project))
    assert context.startswith("<claude-mem-lite>\n--- memory (1 item, for reference) ---\n[bugfix] ")
    assert "because `total` counted the shipping twice" in context
    assert len(context.splitlines()) == 5


def test_a_file_that_was_only_edited_brings_nothing(machine: Machine, project: str) -> None:
    machine.start_worker()
    closing = "I renamed the parameter of total in src/cart.py. All tests pass."
    prompt, _, edit, *_ = _mending("earlier", project)
    _work(machine, [prompt, edit, payload("Stop", "earlier", project, last_assistant_message=closing)])
    assert opened(machine, "later", project) == ""


def test_a_file_is_told_of_once_a_session(told: Machine, project: str) -> None:
    assert MARK in opened(told, "s-1", project)
    assert opened(told, "s-1", project, tool="Edit") == ""
    wait_until_given(told, 1)
    remember(told, project, "gotcha", "src/cart.py: prices come sorted")
    assert opened(told, "s-1", project) == ""
    assert "sorted" in opened(told, "s-2", project)
    told.hook("PreCompact", payload("PreCompact", "s-1", project, trigger="auto"))
    told.drain()
    assert MARK in opened(told, "s-1", project)


def test_a_file_is_told_of_once_however_it_is_spelled_and_whoever_serves(told: Machine, project: str) -> None:
    for number in range(5):
        remember(told, project, "gotcha", f"src/cart.py: part {number} is sorted by {'abcde'[number] * 4}")
    assert opened(told, "s-1", project) != ""
    wait_until_given(told, 1)
    assert opened(told, "s-1", project, file="src/../src/cart.py") == ""
    told.stop_worker()
    told.start_worker()
    assert opened(told, "s-1", project) == ""
    assert opened(told, "s-2", project) != ""


def test_what_a_prompt_was_given_is_not_given_for_a_file(told: Machine, project: str) -> None:
    assert MARK in ask(told, "s-1", project, "is the total of src/cart.py kept in cents or in floats?")
    assert opened(told, "s-1", project) == ""


def test_a_sub_agent_counts_as_its_session(told: Machine, project: str) -> None:
    assert MARK in opened(told, "s-1", project, agent_id="a1", agent_type="Explore")
    assert opened(told, "s-1", project) == ""


def test_other_files_and_other_tools_get_nothing(told: Machine, project: str) -> None:
    assert opened(told, "s-1", project, file="src/other.py") == ""
    for tool in ("Bash", "Grep", "Glob", "WebFetch", "mcp__claude-mem-lite__memory_get"):
        assert opened(told, "s-1", project, tool=tool) == ""
    told.drain()
    assert receipts(told) == []


def test_calls_that_come_side_by_side_are_told_of_a_file_once(told: Machine, project: str) -> None:
    with ThreadPoolExecutor(6) as pool:
        contexts = list(pool.map(lambda _: opened(told, "s-1", project), range(6)))
    assert sum(1 for context in contexts if context) == 1


def test_silence_where_silence_is_wanted(told: Machine, project: str) -> None:
    configs = {
        "excluded": f'exclude = ["{project}"]',
        "switched off": "prompt_budget_tokens = 0",
        "broken configuration": "budget_tokens = ",
        "an ignored tool": 'ignored_tools = ["Read"]',
    }
    for name, config in configs.items():
        told.home.config.write_text(config)
        assert opened(told, name, project) == "", name
        told.home.config.unlink()
        assert MARK in opened(told, name, project), name


def test_an_answer_that_comes_too_late_is_not_made(told: Machine, project: str) -> None:
    late = spool_name("PostToolUse", int((datetime.now(UTC).timestamp() - 1) * 1e9))
    leave(told.home, _opening("s-1", project), name=late)
    assert told.ask("POST", "/hook/PostToolUse", headers={"X-Spool": late, "Content-Length": "0"}).status == 204
    told.drain()
    assert receipts(told) == []


def test_an_answer_that_was_not_printed_does_not_count(told: Machine, project: str) -> None:
    name = leave(told.home, _opening("s-1", project), name=now_name("PostToolUse", ahead_s=1))
    answer = told.ask("POST", "/hook/PostToolUse", headers={"X-Spool": name, "Content-Length": "0"})
    assert MARK in answer.body["hookSpecificOutput"]["additionalContext"]
    told.drain()
    assert [one.given_at for one in receipts(told)] == [None]


def test_a_payload_that_is_far_too_large_is_kept_and_not_looked_at(told: Machine, project: str) -> None:
    assert opened(told, "s-1", project, content="x" * 3_000_000) == ""
    told.drain()
    assert told.row_count("event = 'PostToolUse'") == 1


def test_a_failure_that_was_put_right_before_brings_the_fix(mended: Machine, project: str) -> None:
    context = hooked_in_time(mended, "PostToolUseFailure", _failing("s-1", project))
    assert "worked" in context
    assert context.startswith("<claude-mem-lite>\n--- memory (1 item, for reference) ---\n[bugfix] ")
    wait_until_given(mended, 1)
    (kept,) = [one for one in receipts(mended) if one.given_at]
    assert (kept.session[:3], kept.moment, kept.budget) == ("s-1", "failure", 300)
    assert {layer for _, layer in items(mended)} == {"fix"}
    assert failed(mended, kept.session, project) == ""
    assert failed(mended, "s-2", project) != ""


def test_another_failure_gets_nothing(mended: Machine, project: str) -> None:
    other = "Exit code 1\nFAILED tests/test_mail.py::test_send - ConnectionRefusedError: [Errno 111]\n1 failed in 0.02s"
    assert failed(mended, "s-1", project, error=other) == ""


def test_failures_files_and_prompts_share_one_budget(mended: Machine, project: str) -> None:
    remember(mended, project, "gotcha", GOTCHA)
    spent = _tokens(failed(mended, "s-0", project), mended)
    mended.home.config.write_text(f"prompt_budget_tokens = {spent + 10}\n")
    assert failed(mended, "s-1", project) != ""
    assert opened(mended, "s-1", project) == ""
    assert ask(mended, "s-1", project, "is the total of src/cart.py kept in cents or in floats?") == ""
    assert MARK in opened(mended, "s-2", project)


def _tokens(context: str, machine: Machine) -> int:
    assert context
    wait_until_given(machine, 1)
    return receipts(machine)[0].tokens


def _opening(
    session: str, cwd: str, *, tool: str = "Read", file: str = "src/cart.py", content: str = "", **more: Json
) -> Json:
    path = f"{cwd}/{file}"
    given = {"command": f"cat {path}"} if tool == "Bash" else {"file_path": path}
    response = {"type": "text", "file": {"filePath": path, "content": content}}
    return payload("PostToolUse", session, cwd, tool_name=tool, tool_input=given, tool_response=response, **more)


def opened(machine: Machine, session: str, cwd: str, **more: Json) -> str:
    """What a tool call that opened a file is told."""
    return answered(machine, "PostToolUse", _opening(session, cwd, **more))


def failed(machine: Machine, session: str, cwd: str, *, error: str = FAILURE) -> str:
    """What a failing test run is told."""
    return answered(machine, "PostToolUseFailure", _failing(session, cwd, error))


def _failing(session: str, cwd: str, error: str = FAILURE) -> Json:
    given = {"command": "pytest -q"}
    return payload("PostToolUseFailure", session, cwd, tool_name="Bash", tool_input=given, error=error)


def _work(machine: Machine, events: Sequence[Json]) -> None:
    for given in events:
        leave(machine.home, given, name=now_name(given["hook_event_name"]))
    machine.drain()


def _mending(session: str, cwd: str) -> list[Json]:
    """A turn in which a test fails, a file is edited, and the test passes."""
    path = f"{cwd}/src/cart.py"
    before, after = "    return sum(prices) + 10\n", "    return sum(prices)\n"
    run = {"tool_name": "Bash", "tool_input": {"command": "pytest -q"}}
    edit = {"file_path": path, "old_string": before, "new_string": after}
    hunk = {
        "oldStart": 2,
        "oldLines": 1,
        "newStart": 2,
        "newLines": 1,
        "lines": [f"-{before.strip()}", f"+{after.strip()}"],
    }
    edited = {"filePath": path, "originalFile": f"def total(prices):\n{before}", "structuredPatch": [hunk]}
    passed = {"stdout": "1 passed in 0.02s", "stderr": "", "interrupted": False}
    return [
        payload("UserPromptSubmit", session, cwd, prompt="The total of the cart is wrong, fix it"),
        payload("PostToolUseFailure", session, cwd, **run, error=FAILURE),
        payload("PostToolUse", session, cwd, tool_name="Edit", tool_input=edit, tool_response=edited),
        payload("PostToolUse", session, cwd, **run, tool_response=passed),
        payload("Stop", session, cwd, last_assistant_message="The total counted the shipping twice; it is right now."),
    ]
