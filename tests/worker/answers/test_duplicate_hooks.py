"""One event that two hooks tell of is answered once; two events never pass for one."""

import json

from claude_mem_lite.agents.adapters import NUMBERED_WITHIN_S, WITHIN_S
from claude_mem_lite.inbox import spool
from claude_mem_lite.models import JsonObject
from claude_mem_lite.worker.answers.in_flight import DuplicateHookGuard
from claude_mem_lite.worker.services import Services
from tests.worker.trigger_events import now_name

PROMPT: JsonObject = {
    "session_id": "s-1",
    "transcript_path": "/home/dev/t.jsonl",
    "cwd": "/home/dev/shop",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "where do we keep the carts?",
}
NUMBERED: JsonObject = {**PROMPT, "prompt_id": "p-1"}
CALL: JsonObject = {**PROMPT, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t-1"}


def is_duplicate(twins: DuplicateHookGuard, payload: JsonObject) -> bool:
    return twins.is_duplicate(now_name(str(payload["hook_event_name"])), payload)


def test_the_second_hook_of_an_event_gets_no_answer(loop: Services) -> None:
    assert not is_duplicate(loop.duplicate_hooks, PROMPT)
    assert is_duplicate(loop.duplicate_hooks, dict(PROMPT))
    assert not is_duplicate(loop.duplicate_hooks, CALL)
    assert is_duplicate(loop.duplicate_hooks, {**CALL, "duration_ms": 12})


def test_two_prompts_in_a_moment_are_two(loop: Services) -> None:
    assert not is_duplicate(loop.duplicate_hooks, PROMPT)
    assert not is_duplicate(loop.duplicate_hooks, {**PROMPT, "prompt": "and the invoices?"})
    assert not is_duplicate(loop.duplicate_hooks, {**PROMPT, "session_id": "s-2"})


def test_a_hook_that_asks_again_is_the_first_still(loop: Services) -> None:
    name = now_name("UserPromptSubmit")
    assert not loop.duplicate_hooks.is_duplicate(name, PROMPT)
    assert not loop.duplicate_hooks.is_duplicate(name, PROMPT)


def test_without_a_mark_nothing_is_a_second(loop: Services) -> None:
    bare: JsonObject = {"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "yes"}
    assert not is_duplicate(loop.duplicate_hooks, bare)
    assert not is_duplicate(loop.duplicate_hooks, bare)


def test_what_the_worker_before_took_in_was_answered(loop: Services) -> None:
    spool.leave(loop.home, now_name("UserPromptSubmit"), json.dumps(PROMPT).encode())
    assert loop.passes.wait_until_idle(30)
    fresh = DuplicateHookGuard(loop.inbox_readers.open)
    assert is_duplicate(fresh, PROMPT)
    assert not is_duplicate(fresh, {**PROMPT, "prompt": "and the invoices?"})


def test_what_has_an_id_of_its_own_is_a_second_for_longer(loop: Services) -> None:
    for payload, within_s in ((PROMPT, WITHIN_S), (NUMBERED, NUMBERED_WITHIN_S), (CALL, NUMBERED_WITHIN_S)):
        moments = iter((0.0, 0.0, within_s - 0.1, within_s + 0.1))
        twins = DuplicateHookGuard(loop.inbox_readers.open, moments.__next__)
        assert [is_duplicate(twins, payload) for _ in range(3)] == [False, True, False]


def test_a_slow_second_hook_comes_after_the_worker_was_started_anew(loop: Services) -> None:
    cases = ((PROMPT, False), (NUMBERED, True), (CALL, True))
    for payload, _ in cases:
        name = now_name(str(payload["hook_event_name"]), -30.0)
        spool.leave(loop.home, name, json.dumps(payload).encode())
    assert loop.passes.wait_until_idle(30)
    for payload, is_known in cases:
        assert is_duplicate(DuplicateHookGuard(loop.inbox_readers.open), payload) is is_known
        assert not is_duplicate(DuplicateHookGuard(loop.inbox_readers.open), {**payload, "session_id": "s-2"})
