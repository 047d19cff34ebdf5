"""Tests of `importers/agent_reader.py`, `importers/agent_turns.py` and the readers of each agent's files."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.agents.adapters import adapted
from claude_mem_lite.event_names import event_of
from claude_mem_lite.importers import codex_rollout, copilot_log, gemini_chat, opencode_session
from claude_mem_lite.importers.agent_reader import open_reader
from claude_mem_lite.importers.agent_session import epoch_ns
from claude_mem_lite.importers.discovery import AGENTS, discover
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from tests.support import agent_files as made
from tests.support.past_sessions import LONG_AGO, Json

LATER = LONG_AGO + timedelta(days=30)
SOON = LONG_AGO + timedelta(seconds=20)
READERS = (codex_rollout, copilot_log, gemini_chat, opencode_session)


def read(path: Path, now: datetime = LATER) -> tuple[list[TranscriptTurn], int]:
    (transcript,) = discover([path], AGENTS, {}, []).transcripts
    reading = open_reader(transcript, now)
    turns = list(reading)
    assert reading.problems == []
    return turns, reading.still_open


def kinds(turn: TranscriptTurn) -> list[str]:
    return [event_of(event.name) for event in turn.events]


def tools(turn: TranscriptTurn) -> list[tuple[Json, Json]]:
    calls = [event.payload for event in turn.events if "tool_name" in event.payload]
    return [(call["tool_name"], call["tool_input"]) for call in calls]


def session_of(agent: str, folder: Path) -> Path:
    if agent == "codex":
        return made.write_lines(folder / "rollout-c1.jsonl", made.codex_session())
    if agent == "copilot":
        return made.write_lines(folder / "p1" / "events.jsonl", made.copilot_session())
    if agent == "gemini":
        chats = made.gemini_folder(folder)
        return made.write_lines(chats / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    return made.opencode_files(folder)


@pytest.mark.parametrize("agent", AGENTS[1:])
def test_a_session_is_read_as_the_events_of_its_hooks(tmp_path: Path, agent: str) -> None:
    ((turn,), still_open) = read(session_of(agent, tmp_path))
    assert still_open == 0
    assert (kinds(turn)[:2], kinds(turn)[-2:]) == (["SessionStart", "UserPromptSubmit"], ["Stop", "SessionEnd"])
    assert turn.cwd == made.CWD
    assert turn.events[1].payload["prompt"] == "decide on the rates"
    assert turn.events[-2].payload["last_assistant_message"] == made.SAID
    (failure,) = [one.payload for one in turn.events if event_of(one.name) == "PostToolUseFailure"]
    assert str(failure["error"]).rstrip("\n") == "Exit code 2\nno such file"
    assert ("Bash", {"command": "cat none"}) in tools(turn)
    assert ("Write", {"file_path": f"{made.CWD}/a.py", "content": "A = 1\n"}) in tools(turn)


@pytest.mark.parametrize("agent", AGENTS[1:])
def test_the_worker_keeps_the_agent_that_an_import_names(tmp_path: Path, agent: str) -> None:
    ((turn,), _) = read(session_of(agent, tmp_path))
    assert {part["agent"] for one in turn.events for part in adapted(one.name, one.payload)} == {agent}


@pytest.mark.parametrize("agent", AGENTS[1:])
def test_reading_again_gives_the_same_names(tmp_path: Path, agent: str) -> None:
    path = session_of(agent, tmp_path)
    assert read(path) == read(path)


@pytest.mark.parametrize("agent", ["codex", "copilot", "opencode"])
def test_a_turn_that_the_agent_ended_is_read_at_once(tmp_path: Path, agent: str) -> None:
    ((turn,), still_open) = read(session_of(agent, tmp_path), SOON)
    assert (kinds(turn)[-1], still_open) == ("Stop", 0)


def test_a_turn_of_gemini_is_over_when_its_reply_has_aged(tmp_path: Path) -> None:
    path = session_of("gemini", tmp_path)
    assert read(path, SOON) == ([], 1)
    ((turn,), still_open) = read(path, LONG_AGO + timedelta(minutes=20))
    assert (kinds(turn)[-1], still_open) == ("Stop", 0)


def test_codex_turns_have_the_ids_that_its_hooks_report(tmp_path: Path) -> None:
    lines = [*made.codex_session(), *made.codex_prompt(20, "c1-t2", "and now"), *made.codex_end(21, "c1-t2")]
    turns, _ = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert [(turn.session, turn.prompt_id) for turn in turns] == [("c1", "c1-t1"), ("c1", "c1-t2")]


def test_a_patch_of_codex_is_one_call_for_each_file(tmp_path: Path) -> None:
    ((turn,), _) = read(session_of("codex", tmp_path))
    edited = [given["file_path"] for tool, given in tools(turn) if tool in ("Write", "Edit")]
    assert edited == [f"{made.CWD}/a.py", f"{made.CWD}/b.py"]
    assert len({event.name for event in turn.events}) == len(turn.events)


def test_prompts_of_a_newer_codex_are_completed_items(tmp_path: Path) -> None:
    item = {"type": "UserMessage", "content": [{"type": "text", "text": "decide on the rates"}]}
    prompt = made.codex_line(1, "event_msg", type="item_completed", turn_id="t1", item=item)
    started = made.codex_line(1, "event_msg", type="task_started", turn_id="t1")
    lines = [made.codex_head("c1"), started, prompt, *made.codex_end(3, "t1")]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines), SOON)
    assert (turn.prompt_id, turn.events[1].payload["prompt"]) == ("t1", "decide on the rates")


def test_a_long_command_of_codex_ends_with_the_output_that_comes_later(tmp_path: Path) -> None:
    running = "Chunk ID: 1\nProcess running with session ID 7\nOutput:\none\n"
    goes_on = "Chunk ID: 2\nProcess running with session ID 7\nOutput:\ntwo\n"
    ended = "Chunk ID: 3\nProcess exited with code 3\nOutput:\nthree\n"
    lines = [
        made.codex_head("c1"),
        *made.codex_prompt(1, "t1", "run it"),
        *made.codex_call(2, "x1", "exec_command", {"cmd": "make"}, running),
        *made.codex_call(4, "x2", "write_stdin", {"session_id": 7, "chars": ""}, goes_on),
        *made.codex_call(6, "x3", "write_stdin", {"session_id": 7, "chars": ""}, ended),
        *made.codex_end(8, "t1"),
    ]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    (failure,) = [one.payload for one in turn.events if "tool_name" in one.payload]
    assert (failure["tool_input"], failure["error"]) == ({"command": "make"}, "Exit code 3\none\ntwo\nthree\n")


def test_output_that_looks_like_an_exit_code_is_output(tmp_path: Path) -> None:
    output = "Process exited with code 0\nOutput:\nProcess exited with code 9\n"
    calls = made.codex_call(2, "x1", "exec_command", {"cmd": "cat log"}, output)
    lines = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), *calls, *made.codex_end(4, "t1")]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert "PostToolUseFailure" not in kinds(turn)


def test_an_aborted_turn_of_codex_has_no_closing_message(tmp_path: Path) -> None:
    lines = [*made.codex_session()[:-1], made.codex_line(9, "event_msg", type="turn_aborted")]
    ((turn,), still_open) = read(made.write_lines(tmp_path / "r.jsonl", lines), SOON)
    assert still_open == 0
    assert "last_assistant_message" not in turn.events[-1].payload


def test_arguments_that_are_nested_too_deeply_are_left_out(tmp_path: Path) -> None:
    line = made.codex_line(2, "response_item", type="function_call", name="mcp__tracker__find", call_id="x1")
    line["payload"]["arguments"] = '{"a":' * 300 + "1" + "}" * 300
    output = made.codex_line(3, "response_item", type="function_call_output", call_id="x1", output="[]")
    lines = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), line, output, *made.codex_end(4, "t1")]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert tools(turn) == []


def test_half_a_character_in_arguments_is_replaced(tmp_path: Path) -> None:
    line = made.codex_line(2, "response_item", type="function_call", name="exec_command", call_id="x1")
    line["payload"]["arguments"] = '{"cmd": "echo \\ud83d"}'
    output = made.codex_line(3, "response_item", type="function_call_output", call_id="x1", output="")
    lines = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), line, output, *made.codex_end(4, "t1")]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert tools(turn) == [("Bash", {"command": "echo \ufffd"})]


def test_what_codex_says_on_the_way_closes_no_turn(tmp_path: Path) -> None:
    content = [{"type": "output_text", "text": "I look at the ledger first."}]
    spoken = made.codex_line(2, "response_item", type="message", role="assistant", phase="commentary", content=content)
    lines = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), spoken]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert kinds(turn)[-1] == "SessionEnd"
    assert "last_assistant_message" not in str(turn.events)


def test_the_memory_tools_of_the_package_are_left_out(tmp_path: Path) -> None:
    call = made.codex_call(2, "x1", "mcp__claude_mem_lite__memory_search", {"query": "rates"}, "[]")
    other = made.codex_call(4, "x2", "mcp__tracker__find", {"query": "rates"}, "[]")
    lines = [made.codex_head("c1"), *made.codex_prompt(1, "t1", "look"), *call, *other, *made.codex_end(6, "t1")]
    ((turn,), _) = read(made.write_lines(tmp_path / "r.jsonl", lines))
    assert [tool for tool, _ in tools(turn)] == ["mcp__tracker__find"]


@pytest.mark.parametrize("code", ["denied", "rejected"])
def test_a_refused_call_of_copilot_is_no_failure(tmp_path: Path, code: str) -> None:
    head, prompt, *rest = made.copilot_session()
    refused = made.copilot_call(2, "bash", {"command": "rm x"}, "", success=False, error={"code": code})
    ((turn,), _) = read(made.write_lines(tmp_path / "events.jsonl", [head, prompt, *refused, *rest]))
    assert [tool for tool, _ in tools(turn)] == ["Bash", "Write"]


def test_a_left_client_of_copilot_ends_the_session(tmp_path: Path) -> None:
    lines = [*made.copilot_session(), made.copilot_line(9, "session.shutdown", shutdownType="routine")]
    ((turn,), _) = read(made.write_lines(tmp_path / "events.jsonl", lines), SOON)
    assert kinds(turn)[-2:] == ["Stop", "SessionEnd"]


def test_a_later_line_of_gemini_replaces_a_message(tmp_path: Path) -> None:
    messages = made.gemini_messages()
    early = {**messages[2], "toolCalls": []}
    lines = [made.gemini_head(), *messages[:2], early, {"$set": {"lastUpdated": made.stamp(2)}}, *messages[2:]]
    path = made.write_lines(made.gemini_folder(tmp_path) / "session-g1.jsonl", lines)
    ((turn,), _) = read(path)
    assert [tool for tool, _ in tools(turn)] == ["Bash", "Write"]


def test_an_older_gemini_wrote_one_document(tmp_path: Path) -> None:
    chats = made.gemini_folder(tmp_path)
    lines = made.write_lines(chats / "session-g1.jsonl", [made.gemini_head(), *made.gemini_messages()])
    document = made.write_json(chats / "session-g2.json", made.gemini_head(messages=made.gemini_messages()))
    assert read(document) == read(lines)


def test_context_of_hooks_in_a_prompt_of_gemini_is_nobodys_words(tmp_path: Path) -> None:
    messages = made.gemini_messages()
    messages[1]["content"] = [{"text": "decide on the rates\n<hook_context>known: old</hook_context>"}]
    path = made.write_lines(made.gemini_folder(tmp_path) / "session-g1.jsonl", [made.gemini_head(), *messages])
    ((turn,), _) = read(path)
    assert turn.events[1].payload["prompt"] == "decide on the rates"


def test_the_folder_of_gemini_may_be_in_its_list_of_projects(tmp_path: Path) -> None:
    path = session_of("gemini", tmp_path)
    (path.parent.parent / ".project_root").unlink()
    made.write_json(tmp_path / ".gemini" / "projects.json", {"projects": {"/home/dev/other": "shop"}})
    ((turn,), _) = read(path)
    assert turn.cwd == "/home/dev/other"


def test_the_database_of_opencode_holds_the_same_as_its_files(tmp_path: Path) -> None:
    from_files, _ = read(made.opencode_files(tmp_path / "a"))
    from_database, _ = read(made.opencode_database(tmp_path / "b"))
    assert from_database == from_files


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("value", [None, 7, "x", [], [7], {}, {"type": 7}, {"id": []}, "\x00"])
def test_wrong_values_anywhere_give_no_exception(reader: object, value: Json) -> None:
    """Every field of every made-up line is replaced in turn."""
    messages = [{"info": info, "parts": parts} for info, parts in made.opencode_messages()]
    lines = {
        codex_rollout: made.codex_session(),
        copilot_log: made.copilot_session(),
        gemini_chat: [made.gemini_head(), *made.gemini_messages()],
        opencode_session: messages,
    }[reader]  # type: ignore[index]
    session = codex_rollout.head(made.codex_head("s1"))
    for at, line in enumerate(lines):
        for changed in _changed(line, value):
            list(reader.steps([*lines[:at], changed, *lines[at + 1 :]], session))  # type: ignore[attr-defined]


def _changed(line: Json, value: Json) -> list[Json]:
    found: list[Json] = []
    for key, inner in line.items():
        found.append({**line, key: value})
        if isinstance(inner, dict):
            found += [{**line, key: changed} for changed in _changed(inner, value)]
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            found += [{**line, key: [changed, *inner[1:]]} for changed in _changed(inner[0], value)]
    return found


@pytest.mark.parametrize("value", [None, True, "1", -1, 1e300, float("nan"), float("inf")])
def test_an_impossible_time_counts_as_none(value: Json) -> None:
    assert epoch_ns(value) == 0


def test_a_broken_line_is_a_problem_and_the_rest_is_read(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in made.codex_session()]
    path = tmp_path / "r.jsonl"
    path.write_text("\n".join([*lines[:3], "{broken", *lines[3:], ""]))
    (transcript,) = discover([path], AGENTS, {}, []).transcripts
    reading = open_reader(transcript, LATER)
    assert len(list(reading)) == 1
    assert [problem.line for problem in reading.problems] == [4]
