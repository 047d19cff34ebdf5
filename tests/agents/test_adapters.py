"""Tests of `agents/adapters.py`, `agents/codex.py`, `agents/copilot.py`, `agents/cursor.py` and
`agents/payload_builders.py`: by tables of what each agent sends and of the answers it takes.

Payloads of Codex CLI 0.166, Copilot CLI 1.0.102 and Gemini CLI 0.61 were recorded from runs; those of Cursor follow its
documentation."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any, SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.agents.adapters import NAMES, adapted, is_foreign, reply, sender, takes_claude_form, takes_context
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, KNOWN_EVENTS, event_from_payload, why_skipped
from claude_mem_lite.agents.gemini import typed_prompt
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.hook.kernel import OTHER_FORMS
from claude_mem_lite.inbox.spool import read_arrivals
from claude_mem_lite.worker.answers.hook_request import RawEvent
from tests.support.data_files import DATA
from tests.support.running import spool_name

OTHERS = [agent for agent in NAMES if agent != CLAUDE_CODE]
Row = dict[str, Any]


def rows(agent: str) -> list[Row]:
    return [json.loads(line) for line in (DATA / "agents" / f"{agent}.jsonl").read_text("utf-8").splitlines()]


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
def test_what_the_inbox_keeps_is_not_adapted_again(agent: str, row: Row) -> None:
    name, raw = named(row, agent), json.dumps(row["payload"]).encode()
    kept = read_arrivals(name, raw, lambda _: False)[0].payload.encode()
    assert (
        RawEvent(kept, is_adapted=True).payload(name) == RawEvent(raw).payload(name) == adapted(name, row["payload"])[0]
    )


@pytest.mark.parametrize("claimed", [*NAMES, "reviewer", "", 7, None, {"name": "cursor"}])
def test_what_a_payload_says_of_its_agent_is_not_believed(claimed: Any) -> None:
    own: Row = {"session_id": "s", "transcript_path": "/home/dev/t.jsonl", "cwd": "/", "hook_event_name": "Stop"}
    assert adapted(spool_name("Stop"), {**own, "agent": claimed}) == (own,)
    (found,) = adapted(spool_name("Stop_codex"), {**own, "agent": claimed, "turn_id": "t"})
    assert (found["agent"], found["prompt_id"]) == ("codex", "t")


def test_an_event_of_an_agent_that_nobody_knows_is_answered_as_claude_code_is() -> None:
    # Such rows are in inboxes of before.
    name = spool_name("SessionStart")
    event = event_from_payload(name, {"session_id": "s", "hook_event_name": "SessionStart", "agent": "reviewer"})
    assert takes_context(event)
    assert takes_claude_form(event)
    assert json.loads(reply(event, "known"))["hookSpecificOutput"]["additionalContext"] == "known"


@pytest.mark.parametrize(("agent", "row"), [one for one in TABLE if one.values[0] in ("cursor", "copilot")])
def test_who_reads_the_settings_of_claude_code_is_known_by_the_payload(agent: str, row: Row) -> None:
    if row["event"] not in KNOWN_EVENTS:
        return
    name = spool_name(row["event"])
    assert sender(name, row["payload"]) == agent
    assert is_foreign(name, agent)
    assert not is_foreign(named(row, agent), agent)


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
        assert {"FileEdited", "Ran"} <= told, (agent, told)


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
    ("shown", "output", "code"),
    [
        ("Output: a\nExit Code: 0\n2 failed\nExit Code: 1\nProcess Group PGID: 7", "a\nExit Code: 0\n2 failed", 1),
        ("Output: a\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 7", "a\nExit Code: 0", 1),
        ("Output: of old:\nExit Code: 2\nall is well\nProcess Group PGID: 8", "of old:\nExit Code: 2\nall is well", 0),
        ("Output: Error: no\nError: a line\n3 passed\n", "Error: no\nError: a line\n3 passed", 0),
        ("Output: a\nProcess Group PGID: 1\nb\nSignal: 9\nBackground PIDs: 1, 2", "a\nProcess Group PGID: 1\nb", 0),
        ("Output: \nExit Code: 1", "", 1),
        ("Command: x\nDirectory: (root)\nOutput: a\nError: (none)\nExit Code: 4\nSignal: (none)", "a", 4),
        ("Command was cancelled.\nOutput: a\nExit Code: 1", "Command was cancelled.\nOutput: a\nExit Code: 1", 0),
    ],
)
def test_what_a_command_of_gemini_prints_does_not_decide_how_it_ended(shown: str, output: str, code: int) -> None:
    row = next(row for row in rows("gemini") if row["payload"].get("tool_name") == "run_shell_command")
    for content in (shown, f"<untrusted_context>\n{shown}\n</untrusted_context>"):
        (found,) = adapted(named(row, "gemini"), {**row["payload"], "tool_response": {"llmContent": content}})
        if code:
            assert found["error"] == f"Exit code {code}\n{output}"
        else:
            assert found["tool_response"]["stdout"] == output  # type: ignore[index, call-overload]  # an object


def test_a_command_of_gemini_that_did_not_start_is_told_by_its_output_alone() -> None:
    row = next(row for row in rows("gemini") if row["payload"].get("tool_name") == "run_shell_command")
    content = "Output: Error: printed\nError: printed too\nError: spawn ENOENT\nProcess Group PGID: 7"
    told = {**row["payload"], "tool_response": {"llmContent": content, "error": {"message": "spawn ENOENT"}}}
    (found,) = adapted(named(row, "gemini"), told)
    assert (found["hook_event_name"], found["error"]) == ("PostToolUseFailure", "Error: printed\nError: printed too")


def test_of_a_patch_of_codex_only_so_many_files_are_told() -> None:
    patch = "*** Begin Patch\n" + "*** Add File: a\n+x\n" * 20_000 + "*** End Patch"
    payload: Row = {"session_id": "s", "cwd": "/p", "tool_name": "apply_patch", "tool_input": {"command": patch}}
    assert len(adapted(spool_name("PostToolUse_codex"), payload)) == 500


PATCHES_WITHOUT_LINES = (
    "*** Begin Patch\n*** Update File: a.py\n*** End Patch\n",
    "*** Begin Patch\n*** Update File: a.py\n@@\n*** End of File\n*** Update File: b.py\n*** End Patch",
    "*** Update File: a.py",
    "*** Begin Patch\n*** End Patch",
    "",
)


@pytest.mark.parametrize("patch", PATCHES_WITHOUT_LINES, ids=range(len(PATCHES_WITHOUT_LINES)))
def test_a_patch_of_codex_that_changes_nothing_is_told_as_it_came(patch: str) -> None:
    name = spool_name("PostToolUse_codex")
    payload: Row = {"session_id": "s", "cwd": "/home/dev", "tool_name": "apply_patch", "tool_input": {"command": patch}}
    (found,) = adapted(name, payload)
    assert found == {**payload, "hook_event_name": "PostToolUse", "agent": "codex"}
    (row,) = read_arrivals(name, json.dumps(payload).encode(), lambda _: False)
    assert (row.event, row.session, row.problem) == ("PostToolUse", "s", "")


def test_the_hook_knows_who_does_not_take_what_was_written_for_claude_code() -> None:
    def takes_it(agent: str) -> bool:
        payload = {"session_id": "s", "agent": agent, "hook_event_name": "SessionStart"}
        return takes_claude_form(event_from_payload(spool_name(f"SessionStart_{agent}"), payload))

    assert {agent for agent in OTHERS if not takes_it(agent)} == set(OTHER_FORMS)


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
        ("copilot", "UserPromptSubmit", {"additionalContext": "told"}),
        ("copilot", "PostToolUse", {"additionalContext": "told"}),
        ("copilot", "PostToolUseFailure", {"additionalContext": "told"}),
    ],
)
def test_each_agent_is_answered_in_its_own_form_or_not_at_all(agent: str, event: str, printed: object) -> None:
    payload = {"session_id": "s", "agent": agent, "hook_event_name": event}
    one = event_from_payload(spool_name(f"{event}_{agent}"), payload)
    assert takes_context(one) == (printed is not None)
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
        (" <hook_context>a</hook_context> <hook_context>b</hook_context> mine ", "mine "),
        ("mine <hook_context>a</hook_context> \n<hook_context>b</hook_context>\n", "mine"),
        ("mine</hook_context>", "mine</hook_context>"),
    ],
)
def test_what_hooks_gave_is_no_part_of_a_prompt(prompt: str, words: str) -> None:
    assert typed_prompt(prompt) == words


class Copied(str):
    """A text that counts the characters of its slices, and of theirs."""

    counts: list[int]

    def __new__(cls, given: str, counts: list[int]) -> "Copied":
        made = super().__new__(cls, given)
        made.counts = counts
        return made

    def __getitem__(self, key: SupportsIndex | slice) -> "Copied":
        found = Copied(super().__getitem__(key), self.counts)
        self.counts.append(len(found))
        return found


@pytest.mark.parametrize(
    "prompt", ["<hook_context></hook_context>" * 300 + "x", "x" + "<hook_context></hook_context>" * 300]
)
def test_a_prompt_with_many_contexts_is_not_copied_for_each(prompt: str) -> None:
    counts: list[int] = []
    assert typed_prompt(Copied(prompt, counts)) == "x"
    assert sum(counts) < 2 * len(prompt)


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
    found = adapted(name, {**payload, "tool_name": payload.get("tool_name", "apply_patch")})
    assert found
    for one in found:
        with suppress(PayloadError):
            event_from_payload(name, one)
