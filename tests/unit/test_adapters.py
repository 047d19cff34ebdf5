"""The payloads of other agents in the form of Claude Code's, by a table of what they send, and the answers they take.

What Codex CLI 0.166 and Gemini CLI 0.61 send was recorded from runs; Cursor's and Copilot CLI's is by documentation."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.agents.adapters import NAMES, adapted, is_foreign, reply, sender, takes, takes_claude_form
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, KNOWN_EVENTS, event_from_payload, why_skipped
from claude_mem_lite.agents.gemini import own_words
from claude_mem_lite.compress.tools.tool_calls import read_steps
from claude_mem_lite.errors import PayloadError
from tests.running import spool_name

SAMPLES = Path(__file__).parents[1] / "samples"
OTHERS = [agent for agent in NAMES if agent != CLAUDE_CODE]
Row = dict[str, Any]


def rows(agent: str) -> list[Row]:
    return [json.loads(line) for line in (SAMPLES / f"{agent}.jsonl").read_text("utf-8").splitlines()]


def named(row: Row, agent: str) -> str:
    return spool_name(f"{row['event']}_{agent}")


TABLE = [
    pytest.param(agent, row, id=f"{agent}-{number}-{row['event']}")
    for agent in OTHERS
    for number, row in enumerate(rows(agent))
]


@pytest.mark.parametrize(("agent", "row"), TABLE)
def test_a_payload_takes_the_form_of_claude_codes(agent: str, row: Row) -> None:
    found = adapted(named(row, agent), row["payload"])
    assert len(found) == len(row["expect"])
    for one, expected in zip(found, row["expect"], strict=True):
        assert {key: one.get(key) for key in expected} == expected
        assert one["agent"] == agent
        assert event_from_payload(named(row, agent), one).agent == agent


@pytest.mark.parametrize(("agent", "row"), TABLE)
def test_a_payload_that_was_adapted_stays_as_it_is(agent: str, row: Row) -> None:
    for one in adapted(named(row, agent), row["payload"]):
        assert adapted(named(row, agent), one) == (one,)


@pytest.mark.parametrize(("agent", "row"), [one for one in TABLE if one.values[0] in ("cursor", "copilot")])
def test_who_reads_the_settings_of_claude_code_is_known_by_the_payload(agent: str, row: Row) -> None:
    if row["event"] not in KNOWN_EVENTS:
        return
    name = spool_name(row["event"])
    assert sender(name, row["payload"]) == agent
    assert is_foreign(name, row["payload"])
    assert not is_foreign(named(row, agent), row["payload"])


def test_claude_codes_own_payloads_stay_untouched() -> None:
    for kind in KNOWN_EVENTS:
        own = {"session_id": "s", "transcript_path": "/home/dev/t.jsonl", "cwd": "/", "hook_event_name": kind}
        for payload in (own, {**own, "prompt_id": "p", "permission_mode": "default", "tool_use_id": "t"}):
            assert sender(spool_name(kind), payload) == CLAUDE_CODE
            assert adapted(spool_name(kind), payload) == (payload,)


def test_compression_understands_what_every_agent_edits_and_runs() -> None:
    for agent in OTHERS:
        told = set()
        for row in rows(agent):
            for one in adapted(named(row, agent), row["payload"]):
                event = event_from_payload(named(row, agent), one)
                told |= {type(step).__name__ for step in read_steps(event)}
        assert {"Edited", "Ran"} <= told, (agent, told)


def test_our_own_tools_are_captured_for_no_agent() -> None:
    for agent in ("gemini", "cursor"):
        own = [
            one
            for row in rows(agent)
            for one in adapted(named(row, agent), row["payload"])
            if "memory_search" in str(one)
        ]
        assert own
        assert all(why_skipped(event_from_payload(spool_name("PostToolUse"), one), one) for one in own)


def test_how_a_command_of_codex_ended_is_read_from_its_transcript(tmp_path: Path) -> None:
    item = {"type": "CommandExecution", "id": "call_1", "status": "failed", "exit_code": 3}
    line = {"type": "event_msg", "payload": {"type": "item_completed", "item": item}}
    transcript = tmp_path / "rollout.jsonl"
    transcript.write_text(f'{{"exit_code": "call_1"}}\n{json.dumps(line)}\nnot json call_1 exit_code\n')
    row = next(row for row in rows("codex") if row["payload"].get("tool_name") == "Bash")
    told = {**row["payload"], "transcript_path": str(transcript)}
    (found,) = adapted(named(row, "codex"), told)
    assert (found["hook_event_name"], found["error"]) == ("PostToolUseFailure", "Exit code 3\nok\n")


@pytest.mark.parametrize(
    ("agent", "event", "printed"),
    [
        (
            "codex",
            "SessionStart",
            {"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "told"}},
        ),
        ("codex", "PostToolUse", {"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "told"}}),
        (
            "gemini",
            "UserPromptSubmit",
            {"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "told"}},
        ),
        ("cursor", "SessionStart", {"additional_context": "told"}),
        ("cursor", "UserPromptSubmit", None),
        ("cursor", "PostToolUseFailure", None),
        ("copilot", "SessionStart", {"additionalContext": "told"}),
        ("copilot", "UserPromptSubmit", None),
        ("copilot", "PostToolUse", None),
    ],
)
def test_each_agent_is_answered_in_its_own_form_or_not_at_all(agent: str, event: str, printed: object) -> None:
    payload = {"session_id": "s", "agent": agent, "hook_event_name": event}
    one = event_from_payload(spool_name(f"{event}_{agent}"), payload)
    assert takes(one) == (printed is not None)
    assert takes_claude_form(one) == (agent in ("codex", "gemini"))
    if printed is not None:
        assert json.loads(reply(one, "told")) == printed


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        ("plain", "plain"),
        ("<hook_context>a</hook_context>\n\nmine\n\n<hook_context>b</hook_context>", "mine"),
        ("mine <hook_context>quoted</hook_context> too", "mine <hook_context>quoted</hook_context> too"),
        ("<hook_context>a</hook_context>", ""),
    ],
)
def test_what_hooks_gave_is_no_part_of_a_prompt(prompt: str, words: str) -> None:
    assert own_words(prompt) == words


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
keys = sorted({key for agent in OTHERS for row in rows(agent) for key in row["payload"]})


@given(
    st.sampled_from(OTHERS), st.sampled_from(KNOWN_EVENTS), st.dictionaries(st.sampled_from(keys), values, max_size=8)
)
def test_nothing_an_agent_sends_breaks_its_adapter(agent: str, event: str, payload: dict[str, Any]) -> None:
    name = spool_name(f"{event}_{agent}")
    for one in adapted(name, {**payload, "tool_name": payload.get("tool_name", "apply_patch")}):
        with suppress(PayloadError):
            event_from_payload(name, one)
