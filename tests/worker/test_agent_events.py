"""Events of several agents in one worker: told apart, captured once and answered once, also across a restart."""

import json
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.agents.adapters import NUMBERED_WITHIN_S, WITHIN_S
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.answers.prompt import prompt_context
from claude_mem_lite.worker.answers.session_start import start_context
from claude_mem_lite.worker.services import Services
from tests.support.running import Json, Machine, leave, query, running_loop, spool_name
from tests.worker.conftest import SetClock

CLAUDE = {"transcript_path": "/home/dev/t.jsonl", "permission_mode": "default"}
CURSOR = {"conversation_id": "conv-1", "generation_id": "gen-1", "cursor_version": "2.4.0"}


def told(event: str, project: str, **more: Json) -> Json:
    return {"session_id": "s-1", "cwd": project, "hook_event_name": event, **CLAUDE, **more}


def rows(home: Home) -> list[tuple[str, str]]:
    return [(event, session) for event, session in query(home.inbox_db, "select event, session from inbox order by id")]


def now_name(clock: SetClock, label: str, ms: int = 0) -> str:
    return spool_name(label, int(clock.now.timestamp() * 1e9) + ms * 1_000_000)


def test_an_event_that_two_hooks_tell_of_is_captured_once(loop: Services, clock: SetClock, project: str) -> None:
    start = told("SessionStart", project, source="startup")
    call = told(
        "PostToolUse", project, prompt_id="p", tool_use_id="t", tool_name="Read", tool_input={"file_path": "/a"}
    )
    for at, payload in enumerate((start, start, call, call)):
        leave(loop.home, payload, name=now_name(clock, payload["hook_event_name"], at * 10))
    loop.passes.wait_until_idle(30)
    assert rows(loop.home) == [("SessionStart", "s-1"), ("PostToolUse", "s-1")]


def test_the_second_comes_after_the_worker_was_started_anew(home: Home, clock: SetClock, project: str) -> None:
    prompt = told("UserPromptSubmit", project, prompt_id="p", prompt="go on")
    for at in range(2):
        with running_loop(home, clock) as loop:
            leave(home, prompt, name=now_name(clock, "UserPromptSubmit", at * 100))
            loop.passes.wait_until_idle(30)
    assert rows(home) == [("UserPromptSubmit", "s-1")]


NUMBERED = {"prompt_id": "p"}
CALL = {"prompt_id": "p", "tool_use_id": "t", "tool_name": "Read", "tool_input": {"file_path": "/a"}}
UNNUMBERED_CALL = {**CALL, "tool_use_id": ""}


def test_what_has_an_id_of_its_own_is_one_though_its_second_hook_was_slow(
    loop: Services, clock: SetClock, project: str
) -> None:
    cases: list[tuple[str, Json, float]] = [
        ("UserPromptSubmit", NUMBERED, NUMBERED_WITHIN_S),
        ("UserPromptSubmit", {}, WITHIN_S),
        ("Stop", NUMBERED, NUMBERED_WITHIN_S),
        ("PostToolUse", CALL, NUMBERED_WITHIN_S),
        ("PostToolUse", UNNUMBERED_CALL, WITHIN_S),  # the same command may well be run again in one turn
    ]
    for case, (event, more, within_s) in enumerate(cases):
        for session, apart_s in ((f"near-{case}", within_s - 1), (f"far-{case}", within_s + 1)):
            given = told(event, project, prompt="go on", **more) | {"session_id": session}
            for at_s in (0.0, apart_s):
                leave(loop.home, given, name=now_name(clock, event, int(at_s * 1000)))
    loop.passes.wait_until_idle(30)
    kept = [(event, f"{how}-{case}") for case, (event, *_) in enumerate(cases) for how in ("far", "far", "near")]
    assert sorted(rows(loop.home)) == sorted(kept)


def test_what_only_looks_the_same_is_captured_each_time(loop: Services, clock: SetClock, project: str) -> None:
    for at in range(2):
        prompt = told("UserPromptSubmit", project, prompt_id=f"p{at}", prompt="again")
        leave(loop.home, prompt, name=now_name(clock, "UserPromptSubmit", at * 10))
        plain = {"session_id": "s-2", "cwd": project, "hook_event_name": "UserPromptSubmit", "prompt": "again"}
        leave(loop.home, plain, name=now_name(clock, "UserPromptSubmit", at * 10 + 5))
    loop.passes.wait_until_idle(30)
    assert sorted(rows(loop.home)) == [("UserPromptSubmit", "s-1")] * 2 + [("UserPromptSubmit", "s-2")] * 2


@pytest.fixture
def taught(loop: Services, project: str) -> Services:
    """Somebody has told it something worth giving."""
    told_of = [
        {
            "hook_event_name": "UserPromptSubmit",
            "prompt": "Always run the ledger tests with make ledger-test, never with pytest.",
        },
        {"hook_event_name": "Stop", "last_assistant_message": "Noted: the ledger tests run with make ledger-test."},
    ]
    for one in told_of:
        leave(loop.home, {"session_id": "s-0", "cwd": project, **one})
    loop.passes.wait_until_idle(30)
    return loop


def test_two_hooks_of_one_event_get_one_answer(taught: Services, clock: SetClock, project: str) -> None:
    start = told("SessionStart", project, source="startup")
    names = [now_name(clock, "SessionStart", at) for at in range(2)]
    raw = json.dumps(start).encode()
    answers = [start_context(taught, name, raw) for name in names]
    assert [answer is not None for answer in answers] == [True, False]
    assert start_context(taught, names[0], raw) is not None


def test_the_answer_of_the_worker_before_counts(home: Home, taught: Services, clock: SetClock, project: str) -> None:
    prompt = told("UserPromptSubmit", project, prompt_id="p", prompt="run the ledger tests with make ledger-test")
    raw = json.dumps(prompt).encode()
    first, second = (now_name(clock, "UserPromptSubmit", at) for at in range(2))
    assert prompt_context(taught, first, raw) is not None
    leave(home, prompt, name=first)
    taught.passes.wait_until_idle(30)
    taught.shutdown.stop()
    with running_loop(home, clock) as anew:
        assert prompt_context(anew, second, raw) is None


@pytest.mark.parametrize(
    ("label", "more", "key"),
    [
        ("SessionStart", {}, "hookSpecificOutput"),
        ("SessionStart_codex", {}, "hookSpecificOutput"),
        ("SessionStart_gemini", {"timestamp": "2026-11-15T02:46:07Z"}, "hookSpecificOutput"),
        ("SessionStart_cursor", CURSOR, "additional_context"),
        ("SessionStart", CURSOR, "additional_context"),
        ("SessionStart_copilot", {"timestamp": "2026-11-15T02:46:07Z"}, "additionalContext"),
    ],
)
def test_a_start_is_answered_in_the_form_of_its_agent(
    taught: Services, clock: SetClock, project: str, label: str, more: Json, key: str
) -> None:
    payload = {"session_id": "s-1", "cwd": project, "hook_event_name": "SessionStart", "source": "startup", **more}
    answer = start_context(taught, now_name(clock, label), json.dumps(payload).encode())
    assert answer is not None
    assert list(json.loads(answer)) == [key]
    assert b"make ledger-test" in answer


def test_an_agent_that_takes_nothing_at_a_prompt_is_given_nothing(
    taught: Services, clock: SetClock, project: str
) -> None:
    prompt = {**CURSOR, "workspace_roots": [project], "prompt": "run the ledger tests with make ledger-test"}
    name = now_name(clock, "UserPromptSubmit_cursor")
    assert prompt_context(taught, name, json.dumps(prompt).encode()) is None
    taught.passes.wait_until_idle(30)
    assert query(taught.home.memory_db, "select moment from receipts where moment = 'prompt'") == []


def leave_copilot_turn(home: Home, clock: SetClock, project: str, log: Path) -> None:
    more = {"session_id": "s-1", "cwd": project, "timestamp": clock.now.isoformat(), "transcript_path": str(log)}
    prompt = {"hook_event_name": "UserPromptSubmit", "prompt": "add a tax", **more}
    leave(home, prompt, name=now_name(clock, "UserPromptSubmit_copilot"))
    leave(home, {"hook_event_name": "Stop", **more}, name=now_name(clock, "Stop_copilot", 10))


def test_a_stop_whose_log_is_not_written_yet_keeps_no_other_project_waiting(
    loop: Services, clock: SetClock, project: str, tmp_path: Path
) -> None:
    log = tmp_path / "events.jsonl"
    leave_copilot_turn(loop.home, clock, project, log)
    other = told("UserPromptSubmit", "/srv/other", session_id="s-2", prompt_id="p", prompt="go on")
    leave(loop.home, other, name=now_name(clock, "UserPromptSubmit", 20))
    assert loop.passes.wait_until_stored(30)
    assert rows(loop.home) == [("UserPromptSubmit", "s-1"), ("UserPromptSubmit", "s-2")]
    assert not loop.passes.wait_until_idle(0.3, flush=True)
    said = {"type": "assistant.message", "data": {"content": "The tax is added."}}
    stop = {"type": "hook.start", "hookType": "agentStop", "timestamp": round(clock.now.timestamp() * 1000)}
    log.write_text(f"{json.dumps(said)}\n{json.dumps(stop)}\n")
    assert loop.passes.wait_until_idle(30)
    replies = query(loop.home.memory_db, "select text, reply from prompts where session = 's-1'")
    assert replies == [("add a tax", "The tax is added.")]


def test_a_stop_without_a_log_is_stored_as_it_is(loop: Services, clock: SetClock, project: str, tmp_path: Path) -> None:
    leave_copilot_turn(loop.home, clock, project, tmp_path / "events.jsonl")
    clock.now += timedelta(seconds=3)
    assert loop.passes.wait_until_idle(30)
    assert query(loop.home.memory_db, "select text, reply from prompts") == [("add a tax", "")]


def test_who_has_hooks_of_his_own_is_not_heard_by_those_of_claude_code(
    loop: Services, clock: SetClock, project: str
) -> None:
    sent = {**CURSOR, "workspace_roots": [project], "hook_event_name": "beforeSubmitPrompt", "prompt": "hello"}
    leave(loop.home, sent, name=now_name(clock, "UserPromptSubmit"))
    loop.passes.wait_until_idle(30)
    assert rows(loop.home) == [("UserPromptSubmit", "conv-1")]

    own = Path(project) / ".cursor" / "hooks.json"
    own.parent.mkdir()
    own.write_text('{"hooks": {"stop": [{"command": "py claude_mem_lite/hook/hook.py Stop cursor"}]}}')
    loop.home.installs.mkdir()
    record = {"version": 1, "agent": "cursor", "settings": str(own), "project": ""}
    (loop.home.installs / "one.json").write_text(json.dumps(record))
    leave(loop.home, {**sent, "generation_id": "gen-2"}, name=now_name(clock, "UserPromptSubmit", 10))
    loop.passes.wait_until_idle(30)
    assert rows(loop.home) == [("UserPromptSubmit", "conv-1")]
    leave(loop.home, {**sent, "generation_id": "gen-3"}, name=now_name(clock, "UserPromptSubmit_cursor", 20))
    loop.passes.wait_until_idle(30)
    assert rows(loop.home) == [("UserPromptSubmit", "conv-1")] * 2

    own.write_text('{"hooks": {"stop": [{"command": "notify"}]}}')
    leave(loop.home, {**sent, "generation_id": "gen-4"}, name=now_name(clock, "UserPromptSubmit", 30))
    loop.passes.wait_until_idle(30)
    assert rows(loop.home) == [("UserPromptSubmit", "conv-1")] * 3


def test_cursors_closing_words_become_those_of_its_turn(loop: Services, clock: SetClock, project: str) -> None:
    sent = {**CURSOR, "workspace_roots": [project]}
    said = "Decided to keep the tax rate in whole per cent, because the ledger rounds to cents."
    for at, (label, more) in enumerate(
        (
            ("UserPromptSubmit_cursor", {"prompt": "decide on the tax rate"}),
            ("AgentMessage_cursor", {"text": said}),
            ("Stop_cursor", {"status": "completed"}),
        )
    ):
        leave(loop.home, {**sent, **more}, name=now_name(clock, label, at), event=label)
    loop.passes.wait_until_idle(30)
    assert query(loop.home.memory_db, "select reply from prompts") == [(said,)]


def test_a_patch_of_several_files_is_several_calls(loop: Services, clock: SetClock, project: str) -> None:
    patch = "*** Begin Patch\n*** Add File: a.py\n+a = 1\n*** Add File: b.py\n+b = 1\n*** End Patch\n"
    call = told(
        "PostToolUse", project, turn_id="p", tool_use_id="t", tool_name="apply_patch", tool_input={"command": patch}
    )
    name = now_name(clock, "PostToolUse_codex")
    for _ in range(2):  # a worker that died before it removed the file reads it again
        leave(loop.home, call, name=name)
        loop.passes.wait_until_idle(30)
    files = query(loop.home.inbox_db, "select json_extract(payload, '$.tool_input.file_path') from inbox order by name")
    assert [str(path).rsplit("/", 1)[-1] for (path,) in files] == ["a.py", "b.py"]


def test_a_hook_is_run_with_the_name_of_its_agent(machine: Machine, tmp_path: Path) -> None:
    machine.start_worker()
    payload = {"session_id": "g-1", "cwd": str(tmp_path), "hook_event_name": "BeforeAgent", "timestamp": "t"}
    given = {**payload, "prompt": "<hook_context>ours</hook_context>\n\nhello"}
    command = [*machine.hook_command("UserPromptSubmit"), "gemini"]
    machine_hook(machine, command, given)
    machine.drain()
    (row,) = machine.rows()
    assert (row.event, row.name.rpartition("-")[2]) == ("UserPromptSubmit", "UserPromptSubmit_gemini")
    assert json.loads(row.payload)["prompt"] == "hello"


def machine_hook(machine: Machine, command: list[str], payload: Json) -> None:
    done = subprocess.run(
        command, input=json.dumps(payload).encode(), capture_output=True, env=machine.environment(), timeout=30
    )
    assert (done.returncode, done.stderr) == (0, b"")
