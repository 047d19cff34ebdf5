"""Tests of the less usual forms in the files of other agents (`importers/codex_rollout.py`, `importers/copilot_log.py`,
`importers/gemini_chat.py`, `importers/opencode_session.py`): older clients, folders that change, sub-agents, aborts."""

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.agents.gemini import IGNORED_TOOLS
from claude_mem_lite.importers.agent_reader import open_reader
from claude_mem_lite.importers.agent_session import NO_FOLDER, OF_SUBAGENT
from claude_mem_lite.importers.discovery import AGENTS, discover
from claude_mem_lite.importers.jsonl_reader import MAX_FILE_BYTES, MAX_PROBLEMS, TranscriptProblem, read_object
from claude_mem_lite.importers.opencode_session import sessions_in
from tests.importers.test_agent_sessions import LATER, SOON, kinds, read, session_of, tools
from tests.support import agent_files as made
from tests.support.past_sessions import LONG_AGO, Json

OTHER = "/home/dev/other"
GUIDANCE = "Additional guidance from postToolUse hooks:\n"


def codex(folder: Path, *lines: Json) -> Path:
    """A turn of Codex with these lines between prompt and end."""
    whole = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), *lines, *made.codex_end(9, "t1")]
    return made.write_lines(folder / "r.jsonl", whole)


def copilot(folder: Path, *lines: Json, place: int = 2) -> Path:
    """The usual session of Copilot with these lines before the line at a place."""
    usual = made.copilot_session()
    return made.write_lines(folder / "events.jsonl", [*usual[:place], *lines, *usual[place:]])


def gemini(folder: Path, *lines: Json, head: Json | None = None) -> Path:
    return made.write_lines(made.gemini_folder(folder) / "session-g1.jsonl", [head or made.gemini_head(), *lines])


def folders(path: Path) -> list[Json]:
    ((turn,), _) = read(path)
    return [event.payload["cwd"] for event in turn.events if "tool_name" in event.payload]


@pytest.mark.parametrize(
    ("agent", "branch"), [("codex", "main"), ("copilot", "main"), ("gemini", ""), ("opencode", "")]
)
def test_the_branch_of_a_session_is_that_of_its_events(tmp_path: Path, agent: str, branch: str) -> None:
    ((turn,), _) = read(session_of(agent, tmp_path))
    assert {event.payload["git_branch"] for event in turn.events} == {branch}


def test_a_compaction_of_codex_closes_no_turn(tmp_path: Path) -> None:
    ((turn,), _) = read(codex(tmp_path, made.codex_line(3, "compacted", message="All in short.")))
    assert kinds(turn) == ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"]


def test_a_compaction_of_copilot_closes_no_turn(tmp_path: Path) -> None:
    ((turn,), _) = read(copilot(tmp_path, made.copilot_line(2, "session.compaction_start")))
    assert kinds(turn).count("PreCompact") == 1
    assert turn.events[-2].payload["last_assistant_message"] == made.SAID


def test_a_plan_of_codex_is_a_list_of_tasks(tmp_path: Path) -> None:
    given = {"plan": [{"step": "read the ledger", "status": "completed"}]}
    ((turn,), _) = read(codex(tmp_path, *made.codex_call(2, "x1", "update_plan", given, "Plan updated")))
    assert tools(turn) == [("TodoWrite", {"todos": [{"content": "read the ledger", "status": "completed"}]})]


def test_a_command_of_codex_that_a_signal_ended_has_failed(tmp_path: Path) -> None:
    call = made.codex_call(2, "x1", "exec_command", {"cmd": "make"}, "Process exited with code -9\nOutput:\nstopped\n")
    ((turn,), _) = read(codex(tmp_path, *call))
    assert [event.payload["error"] for event in turn.events if "error" in event.payload] == ["Exit code -9\nstopped\n"]


def test_a_call_after_the_closing_words_goes_on_with_the_turn(tmp_path: Path) -> None:
    path = codex(tmp_path, *made.codex_end(2, "t1"))
    call = made.codex_call(10, "x1", "exec_command", {"cmd": "cat log"}, "Exit code: 0\nOutput:\nok\n")
    made.write_lines(path, [*map(json.loads, path.read_text().splitlines()), *call])
    assert read(path, SOON) == ([], 1)


@pytest.mark.parametrize(("given", "expected"), [(OTHER, OTHER), ("web", f"{made.CWD}/web"), ("", made.CWD)])
def test_a_command_of_codex_in_another_folder_is_of_that_folder(tmp_path: Path, given: str, expected: str) -> None:
    arguments = {"cmd": "cat log", "workdir": given}
    call = made.codex_call(2, "x1", "exec_command", arguments, "Exit code: 0\nOutput:\nok\n")
    assert folders(codex(tmp_path, *call)) == [expected]


def test_a_turn_of_codex_in_another_folder_is_of_that_folder(tmp_path: Path) -> None:
    moved = made.codex_line(2, "turn_context", turn_id="t1", cwd=OTHER)
    call = made.codex_call(3, "x1", "exec_command", {"cmd": "cat log"}, "Exit code: 0\nOutput:\nok\n")
    assert folders(codex(tmp_path, moved, *call)) == [OTHER]


@pytest.mark.parametrize("words", [["bash", "-lc", "cat none"], ["cat", "none"]])
def test_an_older_codex_gives_the_words_of_a_command_and_wraps_its_output(tmp_path: Path, words: list[str]) -> None:
    output = json.dumps({"output": "no such file", "metadata": {"exit_code": 2}})
    ((turn,), _) = read(codex(tmp_path, *made.codex_call(2, "x1", "shell", {"command": words}, output)))
    (failure,) = [event.payload for event in turn.events if "tool_name" in event.payload]
    assert (failure["tool_input"], failure["error"]) == ({"command": "cat none"}, "Exit code 2\nno such file")


def test_a_tool_of_codex_with_a_namespace_has_the_whole_name(tmp_path: Path) -> None:
    called, output = made.codex_call(2, "x1", "_find", {"query": "rates"}, "[]")
    called["payload"]["namespace"] = "mcp__tracker"
    ((turn,), _) = read(codex(tmp_path, called, output))
    assert [tool for tool, _ in tools(turn)] == ["mcp__tracker__find"]


@pytest.mark.parametrize("kind", ["session.resume", "session.context_changed"])
def test_copilot_may_change_its_folder(tmp_path: Path, kind: str) -> None:
    path = copilot(tmp_path, made.copilot_line(2, kind, context={"cwd": OTHER}))
    assert folders(path) == [OTHER, OTHER]


def test_texts_of_skills_of_copilot_are_no_prompts(tmp_path: Path) -> None:
    skill = made.copilot_line(2, "user.message", content="how to make a chart", source="skill-charts")
    ((turn,), _) = read(copilot(tmp_path, skill))
    assert kinds(turn).count("UserPromptSubmit") == 1


def test_words_of_a_sub_agent_of_copilot_do_not_close_the_turn(tmp_path: Path) -> None:
    said = made.copilot_line(9, "assistant.message", content="Searched.", parentToolCallId="call-3")
    ((turn,), _) = read(copilot(tmp_path, said, place=99))
    assert turn.events[-2].payload["last_assistant_message"] == made.SAID


def test_a_step_of_copilot_with_tools_to_come_does_not_end_the_turn(tmp_path: Path) -> None:
    step = made.copilot_line(2, "assistant.turn_end", turnId="0")
    lines = [*made.copilot_session()[:3], step]
    assert read(made.write_lines(tmp_path / "events.jsonl", lines), SOON) == ([], 1)


def test_a_sub_agents_prompt_of_copilot_is_nobodys_and_its_calls_are_its_own(tmp_path: Path) -> None:
    asked = made.copilot_line(2, "user.message", content="look around", source="agent-p1")
    calls = made.copilot_call(3, "bash", {"command": "echo sub"}, "sub\n<shellId: 0 completed with exit code 0>")
    lines = [{**line, "agentId": "sub-1"} for line in (asked, *calls)]
    ((turn,), _) = read(copilot(tmp_path, *lines))
    assert kinds(turn).count("UserPromptSubmit") == 1
    agents = [event.payload.get("agent_id") for event in turn.events if "tool_name" in event.payload]
    assert agents == ["sub-1", None, None]


@pytest.mark.parametrize(
    "given", ["", '\n\nTool "bash" succeeded. Additional guidance from postToolUse hooks:\nknown: old']
)
def test_guidance_of_hooks_is_no_output_of_a_command_of_copilot(tmp_path: Path, given: str) -> None:
    shown = f"no such file\n<shellId: 4 completed with exit code 2>{given}"
    ((turn,), _) = read(copilot(tmp_path, *made.copilot_call(2, "bash", {"command": "cat none"}, shown)))
    failures = [event.payload["error"] for event in turn.events if "error" in event.payload]
    assert failures == ["Exit code 2\nno such file"] * 2


def test_an_aborted_turn_of_copilot_is_over_without_a_closing_message(tmp_path: Path) -> None:
    lines = [*made.copilot_session()[:-1], made.copilot_line(8, "abort", reason="user")]
    ((turn,), still_open) = read(made.write_lines(tmp_path / "events.jsonl", lines), SOON)
    assert still_open == 0
    assert "last_assistant_message" not in turn.events[-1].payload


def test_what_gemini_rewound_did_not_happen(tmp_path: Path) -> None:
    again: Json = {"id": "m9", "timestamp": made.stamp(9), "type": "user", "content": [{"text": "start over"}]}
    ((turn,), _) = read(gemini(tmp_path, *made.gemini_messages(), {"$rewindTo": "m1"}, again))
    assert [event.payload.get("prompt") for event in turn.events if "prompt" in event.payload] == ["start over"]
    assert tools(turn) == []


def test_many_returns_of_gemini_to_an_earlier_message_are_read(tmp_path: Path) -> None:
    typed = [{"id": f"p{at}", "timestamp": made.stamp(1), "type": "user", "content": "again"} for at in range(40_000)]
    rewound: list[Json] = [{"$rewindTo": f"p{at}"} for at in reversed(range(40_000))]
    path = gemini(tmp_path, *typed, *rewound, *made.gemini_messages())
    ((turn,), _) = read(path)
    assert [event.payload["prompt"] for event in turn.events if "prompt" in event.payload] == ["decide on the rates"]


def test_output_of_codex_that_is_asked_for_many_times_is_read_whole(tmp_path: Path) -> None:
    running = "Process running with session ID 7\nOutput:\n"
    more = made.codex_call(3, "x2", "write_stdin", {"session_id": 7}, "Output:\n" + "x" * 400) * 20_000
    ended = made.codex_call(5, "x3", "write_stdin", {"session_id": 7}, "Exit code: 3\nOutput:\nlast\n")
    path = codex(tmp_path, *made.codex_call(2, "x1", "exec_command", {"cmd": "make"}, running), *more, *ended)
    ((turn,), _) = read(path)
    (error,) = [str(event.payload["error"]) for event in turn.events if "error" in event.payload]
    assert len(error) == len("Exit code 3\nlast\n") + 400 * 20_000


def test_a_session_of_a_sub_agent_of_gemini_is_not_read(tmp_path: Path) -> None:
    path = gemini(tmp_path, *made.gemini_messages(), head=made.gemini_head(kind="subagent"))
    found = discover([path], AGENTS, {}, [])
    assert found.transcripts == []
    assert OF_SUBAGENT in str(found)


@pytest.mark.parametrize("typed", ["/memory show", "?"])
def test_a_command_of_gemini_itself_is_no_prompt(tmp_path: Path, typed: str) -> None:
    command: Json = {"id": "m9", "timestamp": made.stamp(9), "type": "user", "content": [{"text": typed}]}
    ((turn,), _) = read(gemini(tmp_path, *made.gemini_messages(), command))
    assert kinds(turn).count("UserPromptSubmit") == 1


def test_gemini_may_replace_all_messages(tmp_path: Path) -> None:
    before: Json = {"id": "m9", "timestamp": made.stamp(0), "type": "user", "content": [{"text": "look"}]}
    ((turn,), _) = read(gemini(tmp_path, before, {"$set": {"messages": made.gemini_messages()}}))
    assert [event.payload["prompt"] for event in turn.events if "prompt" in event.payload] == ["decide on the rates"]


def test_a_turn_of_gemini_without_a_reply_goes_on_however_old_its_calls_are(tmp_path: Path) -> None:
    assert read(gemini(tmp_path, *made.gemini_messages()[:3]), LONG_AGO + timedelta(minutes=20)) == ([], 1)


@pytest.mark.parametrize("status", ["cancelled", "awaiting_approval", ""])
def test_a_call_of_gemini_that_never_ran_is_left_out(tmp_path: Path, status: str) -> None:
    messages = made.gemini_messages()
    call = made.gemini_tool(3, "run_shell_command", {"command": "rm x"}, status, output="")
    messages[2]["toolCalls"] = [call]
    ((turn,), _) = read(gemini(tmp_path, *messages))
    assert tools(turn) == []


def test_words_of_gemini_beside_tool_calls_do_not_close_the_turn(tmp_path: Path) -> None:
    messages = made.gemini_messages()[:3]
    messages[2]["content"] = "I look at the ledger first."
    ((turn,), _) = read(gemini(tmp_path, *messages))
    assert "last_assistant_message" not in str(turn.events)


def test_the_folder_of_gemini_may_be_known_by_its_hash(tmp_path: Path) -> None:
    digest = hashlib.sha256(OTHER.encode()).hexdigest()
    path = gemini(tmp_path, *made.gemini_messages(), head=made.gemini_head(projectHash=digest))
    (path.parent.parent / ".project_root").unlink()
    made.write_json(tmp_path / ".gemini" / "projects.json", {"projects": {"/home/dev/a": "a", OTHER: "b"}})
    ((turn,), _) = read(path)
    assert turn.cwd == OTHER


def test_a_session_of_a_sub_agent_in_the_database_of_opencode_is_not_read(tmp_path: Path) -> None:
    path = made.opencode_database(tmp_path)
    with closing(sqlite3.connect(path)) as db:
        db.execute("insert into session values ('ses_o2', ?, 'ses_o1', ?)", (made.CWD, made.millis(5)))
        db.commit()
    assert [(session.id, session.unusable) for session in sessions_in(path)] == [
        ("ses_o1", ""),
        ("ses_o2", OF_SUBAGENT),
    ]


def changed_opencode(folder: Path, file: str, **more: Json) -> Path:
    """The usual session of OpenCode with other values in one file below its storage."""
    path = session_of("opencode", folder)
    changed = path.parent.parent.parent / file
    made.write_json(changed, {**json.loads(changed.read_text()), **more})
    return path


def test_an_aborted_turn_of_opencode_is_over_without_a_closing_message(tmp_path: Path) -> None:
    error = {"name": "MessageAbortedError"}
    ((turn,), still_open) = read(changed_opencode(tmp_path, "message/ses_o1/msg_2.json", finish="", error=error), SOON)
    assert still_open == 0
    assert "last_assistant_message" not in str(turn.events)


def test_messages_of_opencode_are_in_the_order_of_time_whatever_their_names(tmp_path: Path) -> None:
    path = session_of("opencode", tmp_path)
    storage = path.parent.parent.parent
    late: Json = {"id": "msg_0", "sessionID": "ses_o1", "role": "user", "time": {"created": made.millis(9)}}
    made.write_json(storage / "message" / "ses_o1" / "msg_0.json", late)
    made.write_json(storage / "part" / "msg_0" / "prt_0.json", {"id": "prt_0", "type": "text", "text": "and now"})
    turns, _ = read(path)
    prompts = [event.payload["prompt"] for turn in turns for event in turn.events if "prompt" in event.payload]
    assert prompts == ["decide on the rates", "and now"]


def test_a_compaction_of_opencode_closes_no_turn(tmp_path: Path) -> None:
    path = session_of("opencode", tmp_path)
    storage = path.parent.parent.parent
    asked: Json = {"id": "msg_3", "role": "user", "time": {"created": made.millis(5)}}
    summary: Json = {"id": "msg_4", "role": "assistant", "summary": True, "finish": "stop", "mode": "compaction"}
    made.write_json(storage / "message" / "ses_o1" / "msg_3.json", asked)
    made.write_json(storage / "part" / "msg_3" / "prt_6.json", {"type": "compaction", "auto": True})
    made.write_json(storage / "message" / "ses_o1" / "msg_4.json", {**summary, "time": {"created": made.millis(6)}})
    made.write_json(storage / "part" / "msg_4" / "prt_7.json", {"type": "text", "text": "All in short."})
    ((turn,), _) = read(path)
    assert kinds(turn).count("PreCompact") == 1
    assert turn.events[-2].payload["last_assistant_message"] == made.SAID


@pytest.mark.parametrize(
    ("stored", "typed"),
    [
        ('"decide on the rates"', "decide on the rates"),
        (r'"use the \"whole\" ones"', 'use the "whole" ones'),
        ('"whole" or "half"', '"whole" or "half"'),
        ('"', '"'),
    ],
)
def test_the_quotes_that_opencode_puts_around_an_argument_are_not_typed(
    tmp_path: Path, stored: str, typed: str
) -> None:
    ((turn,), _) = read(changed_opencode(tmp_path, "part/msg_1/prt_1.json", text=stored))
    assert turn.events[1].payload["prompt"] == typed


def test_a_database_of_opencode_may_have_the_name_of_a_channel(tmp_path: Path) -> None:
    path = made.opencode_database(tmp_path)
    channel = path.rename(path.with_name("opencode-dev.db"))
    assert [one.path for one in discover([tmp_path], AGENTS, {}, []).transcripts] == [channel]


def state(status: str, given: Json, **more: Json) -> Json:
    return {"status": status, "input": given, "time": {"end": made.millis(3)}, **more}


def test_a_failed_tool_of_opencode_is_a_failure(tmp_path: Path) -> None:
    failed = state("error", {"filePath": "a.py"}, error="File not found")
    path = changed_opencode(tmp_path, "part/msg_2/prt_2.json", tool="read", state=failed)
    ((turn,), _) = read(path)
    (failure,) = [event.payload for event in turn.events if event.payload["hook_event_name"] == "PostToolUseFailure"]
    assert (failure["tool_name"], failure["error"]) == ("Read", "File not found")
    given = failure["tool_input"]
    assert isinstance(given, dict)
    assert given["file_path"] == f"{made.CWD}/a.py"


@pytest.mark.parametrize("status", ["pending", "running"])
def test_a_tool_of_opencode_that_did_not_end_is_left_out(tmp_path: Path, status: str) -> None:
    path = changed_opencode(tmp_path, "part/msg_2/prt_2.json", state=state(status, {"command": "cat none"}))
    ((turn,), _) = read(path)
    assert [tool for tool, _ in tools(turn)] == ["Write"]


@pytest.mark.parametrize("finish", ["tool-calls", "unknown"])
def test_a_reply_of_opencode_with_more_to_come_does_not_end_the_turn(tmp_path: Path, finish: str) -> None:
    assert read(changed_opencode(tmp_path, "message/ses_o1/msg_2.json", finish=finish), SOON) == ([], 1)


def test_a_reply_of_opencode_in_another_folder_is_of_that_folder(tmp_path: Path) -> None:
    path = changed_opencode(tmp_path, "message/ses_o1/msg_2.json", path={"cwd": OTHER})
    assert folders(path) == [OTHER, OTHER]


def test_tasks_of_opencode_are_a_list_of_tasks(tmp_path: Path) -> None:
    todos = [{"content": "read the ledger", "status": "completed"}]
    path = changed_opencode(
        tmp_path, "part/msg_2/prt_2.json", tool="todowrite", state=state("completed", {"todos": todos})
    )
    ((turn,), _) = read(path)
    assert ("TodoWrite", {"todos": todos}) in tools(turn)


def test_an_edit_of_opencode_has_the_old_and_the_new_text(tmp_path: Path) -> None:
    given = {"filePath": f"{made.CWD}/a.py", "oldString": "A = 1", "newString": "A = 2"}
    path = changed_opencode(tmp_path, "part/msg_2/prt_3.json", tool="edit", state=state("completed", given))
    ((turn,), _) = read(path)
    ((_, edited),) = [call for call in tools(turn) if call[0] == "Edit"]
    assert (edited["old_string"], edited["new_string"]) == ("A = 1", "A = 2")


def test_a_file_of_opencode_that_is_too_large_is_a_problem(tmp_path: Path) -> None:
    path = made.write_json(tmp_path / "large.json", {"text": "x"})
    with path.open("ab") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    problems: list[TranscriptProblem] = []
    assert read_object(path, problems) == {}
    assert "larger than 64 MB" in str(problems)


def test_the_line_that_a_client_is_writing_is_no_problem(tmp_path: Path) -> None:
    path = made.write_lines(tmp_path / "r.jsonl", made.codex_session())
    with path.open("a") as file:
        file.write('{"type": "event_')
    ((turn,), _) = read(path, SOON)
    assert turn.prompt_id == "c1-t1"
    (transcript,) = discover([path], AGENTS, {}, []).transcripts
    reading = open_reader(transcript, LATER)
    assert len(list(reading)) == 1
    assert [problem.unfinished for problem in reading.problems] == [True], "nobody writes it any more"


def test_an_old_file_is_finished_whatever_the_clock_of_its_steps_said(tmp_path: Path) -> None:
    path = gemini(tmp_path, *made.gemini_messages())
    os.utime(path, ((LONG_AGO - timedelta(days=3)).timestamp(),) * 2)
    ((turn,), still_open) = read(path, SOON)
    assert (kinds(turn)[-1], still_open) == ("SessionEnd", 0)


def test_the_last_turn_of_a_file_that_cannot_be_read_to_its_end_is_left(tmp_path: Path) -> None:
    asked = made.codex_prompt(20, "c1-t2", "and now")
    path = made.write_lines(tmp_path / "r.jsonl", [*made.codex_session(), *asked])
    with path.open("a") as file:
        file.write("{\n" * (MAX_PROBLEMS + 1))
    (transcript,) = discover([path], AGENTS, {}, []).transcripts
    reading = open_reader(transcript, LATER)
    assert [turn.prompt_id for turn in reading] == ["c1-t1"]
    assert [problem.what for problem in reading.problems] == ["file"]


def test_the_id_of_a_codex_session_is_its_own_and_not_that_of_the_session_it_goes_on_with(tmp_path: Path) -> None:
    head, *rest = made.codex_session()
    path = made.write_lines(tmp_path / "r.jsonl", [{**head, "payload": {**head["payload"], "session_id": "c0"}}, *rest])
    ((turn,), _) = read(path)
    assert turn.session == "c1"


@pytest.mark.parametrize("session_of_it", [codex, copilot])
def test_a_line_without_a_time_has_that_of_the_line_before(tmp_path: Path, session_of_it: Callable[..., Path]) -> None:
    path = session_of_it(tmp_path)
    whole = [json.loads(line) for line in path.read_text().splitlines()]
    expected, _ = read(path)
    for line in whole[1:]:
        del line["timestamp"]
    ((turn,), _) = read(made.write_lines(path, whole))
    assert kinds(turn) == kinds(expected[0])


@pytest.mark.parametrize("source", [{"subagent": "review"}, {"subagent": {"other": "guardian"}}])
def test_a_session_that_codex_began_by_itself_is_not_read(tmp_path: Path, source: Json) -> None:
    path = made.write_lines(tmp_path / "r.jsonl", [made.codex_head("c9", source=source), *made.codex_session()[1:]])
    found = discover([path], AGENTS, {}, [])
    assert (found.transcripts, [one.reason for one in found.unused]) == ([], [OF_SUBAGENT])


def test_the_folder_noted_beside_the_chats_of_gemini_is_a_whole_path(tmp_path: Path) -> None:
    path = gemini(tmp_path, *made.gemini_messages())
    (path.parent.parent / ".project_root").write_text("shop\n")
    found = discover([path], AGENTS, {}, [])
    assert (found.transcripts, [one.reason for one in found.unused]) == ([], [NO_FOLDER])


def test_a_failed_tool_of_gemini_is_a_failure(tmp_path: Path) -> None:
    messages = made.gemini_messages()
    given = {"file_path": f"{made.CWD}/a.py", "old_string": "A", "new_string": "B"}
    messages[2]["toolCalls"] = [made.gemini_tool(3, "replace", given, "error", error="0 occurrences found")]
    ((turn,), _) = read(gemini(tmp_path, *messages))
    (failure,) = [event.payload for event in turn.events if "tool_name" in event.payload]
    assert failure["hook_event_name"] == "PostToolUseFailure"
    assert (failure["tool_name"], failure["error"]) == ("Edit", "0 occurrences found")


@pytest.mark.parametrize("tool", IGNORED_TOOLS)
def test_tools_of_gemini_that_hooks_leave_out_are_left_out(tmp_path: Path, tool: str) -> None:
    messages = made.gemini_messages()
    messages[2]["toolCalls"] = [made.gemini_tool(3, tool, {"path": "."}, output="found")]
    ((turn,), _) = read(gemini(tmp_path, *messages))
    assert tools(turn) == []


def test_a_session_of_copilot_that_was_left_and_goes_on_is_open_again(tmp_path: Path) -> None:
    again = [
        made.copilot_line(9, "session.shutdown", shutdownType="routine"),
        made.copilot_line(10, "session.resume", context={"cwd": made.CWD}),
        made.copilot_line(11, "user.message", content="and now"),
    ]
    lines = [*made.copilot_session(), *again]
    turns, still_open = read(made.write_lines(tmp_path / "events.jsonl", lines), SOON)
    assert (len(turns), still_open) == (1, 1)


@pytest.mark.parametrize("agent", AGENTS[1:])
def test_every_event_of_a_turn_has_the_id_of_its_prompt(tmp_path: Path, agent: str) -> None:
    ((turn,), _) = read(session_of(agent, tmp_path))
    ids = {event.payload.get("prompt_id") for event in turn.events[1:]}
    assert len(ids) == 1
    assert ids != {""}
