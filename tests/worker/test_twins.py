"""One event that two hooks tell of is answered once; two events never pass for one."""

import json

from claude_mem_lite.agents.event_identity import NUMBERED_WITHIN_S, WITHIN_S
from claude_mem_lite.inbox import spool
from claude_mem_lite.models import JsonObject
from claude_mem_lite.worker.answers.duplicate_hooks import Twins
from claude_mem_lite.worker.loop import Loop
from tests.worker.moments import now_name

PROMPT: JsonObject = {
    "session_id": "s-1",
    "transcript_path": "/home/dev/t.jsonl",
    "cwd": "/home/dev/shop",
    "hook_event_name": "UserPromptSubmit",
    "prompt": "where do we keep the carts?",
}
NUMBERED: JsonObject = {**PROMPT, "prompt_id": "p-1"}
CALL: JsonObject = {**PROMPT, "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "t-1"}


def is_second(twins: Twins, payload: JsonObject) -> bool:
    return twins.is_second(now_name(str(payload["hook_event_name"])), payload)


def test_the_second_hook_of_an_event_gets_no_answer(loop: Loop) -> None:
    assert not is_second(loop.twins, PROMPT)
    assert is_second(loop.twins, dict(PROMPT))
    assert not is_second(loop.twins, CALL)
    assert is_second(loop.twins, {**CALL, "duration_ms": 12})


def test_two_prompts_in_a_moment_are_two(loop: Loop) -> None:
    assert not is_second(loop.twins, PROMPT)
    assert not is_second(loop.twins, {**PROMPT, "prompt": "and the invoices?"})
    assert not is_second(loop.twins, {**PROMPT, "session_id": "s-2"})


def test_a_hook_that_asks_again_is_the_first_still(loop: Loop) -> None:
    name = now_name("UserPromptSubmit")
    assert not loop.twins.is_second(name, PROMPT)
    assert not loop.twins.is_second(name, PROMPT)


def test_without_a_mark_nothing_is_a_second(loop: Loop) -> None:
    bare: JsonObject = {"session_id": "s-1", "hook_event_name": "UserPromptSubmit", "prompt": "yes"}
    assert not is_second(loop.twins, bare)
    assert not is_second(loop.twins, bare)


def test_what_the_worker_before_took_in_was_answered(loop: Loop) -> None:
    spool.leave(loop.home, now_name("UserPromptSubmit"), json.dumps(PROMPT).encode())
    assert loop.settle(10.0)
    fresh = Twins(loop.inbox_readers.open)
    assert is_second(fresh, PROMPT)
    assert not is_second(fresh, {**PROMPT, "prompt": "and the invoices?"})


def test_what_has_an_id_of_its_own_is_a_second_for_longer(loop: Loop) -> None:
    for payload, within_s in ((PROMPT, WITHIN_S), (NUMBERED, NUMBERED_WITHIN_S), (CALL, NUMBERED_WITHIN_S)):
        moments = iter((0.0, 0.0, within_s - 0.1, within_s + 0.1))
        twins = Twins(loop.inbox_readers.open, moments.__next__)
        assert [is_second(twins, payload) for _ in range(3)] == [False, True, False]


def test_a_slow_second_hook_comes_after_the_worker_was_started_anew(loop: Loop) -> None:
    cases = ((PROMPT, False), (NUMBERED, True), (CALL, True))
    for payload, _ in cases:
        name = now_name(str(payload["hook_event_name"]), -30.0)
        spool.leave(loop.home, name, json.dumps(payload).encode())
    assert loop.settle(10.0)
    for payload, is_known in cases:
        assert is_second(Twins(loop.inbox_readers.open), payload) is is_known
        assert not is_second(Twins(loop.inbox_readers.open), {**payload, "session_id": "s-2"})
