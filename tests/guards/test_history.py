"""Tests of `guards/history.py`: tool calls of transcripts, with branch, outcome and the next prompt."""

import json
from datetime import datetime
from pathlib import Path

from claude_mem_lite.guards.history import (
    ByteBudget,
    PastCall,
    calls_named,
    past_calls,
    root_of,
    transcript_folders,
    transcripts_in,
)
from tests.support.past_sessions import SHOP, PastSession

ID = "5e55104a-0000-4000-8000-0000000000a1"


def everything(folder: str, at: datetime) -> bool:
    return bool(folder) and at.tzinfo is not None


def read(*paths: Path, left: ByteBudget | None = None) -> list[PastCall]:
    return [call for call in past_calls(paths, [SHOP], everything, left or ByteBudget()) if call is not None]


def test_calls_have_their_command_folder_and_outcome_and_the_prompt_after_their_turn(tmp_path: Path) -> None:
    session = PastSession(ID).prompt("install it").runs("npm ci", "ok").says("Done.").prompt("use pnpm")
    session.runs("pnpm i", "bad", 1)
    first, second = read(session.write(tmp_path))
    assert (first.session, first.call.tool_input["command"], first.outcome) == (ID, "npm ci", "ran")
    assert (first.next_prompt, first.call.folder, first.call.root) == ("use pnpm", SHOP, SHOP)
    assert (second.outcome, second.next_prompt) == ("ran", "")
    assert first.turn != second.turn


def test_the_branch_of_a_line_is_the_branch_of_its_call(tmp_path: Path) -> None:
    path = PastSession(ID).prompt("go").runs("git commit -m x", "ok").write(tmp_path)
    lines = [{**json.loads(line), "gitBranch": "main"} for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [call.call.branch for call in read(path)] == ["main"]


def test_a_call_that_the_user_or_a_rule_refused_did_not_run(tmp_path: Path) -> None:
    session = PastSession(ID).prompt("go")
    for reason in ("The user doesn't want to proceed with this tool use.", "PreToolUse:Bash hook error: use pnpm"):
        session.calls("Bash", {"command": "npm ci"}).gets(reason, error=True)
    session.calls("Bash", {"command": "npm ci"})
    assert [call.outcome for call in read(session.write(tmp_path))] == ["refused", "refused", "unknown"]


def test_text_of_the_client_is_no_prompt(tmp_path: Path) -> None:
    session = PastSession(ID).prompt("go").runs("npm ci", "ok").prompt("<command-name>/clear</command-name>")
    session.prompt("meta", isMeta=True).prompt("thanks")
    assert [call.next_prompt for call in read(session.write(tmp_path))] == ["thanks"]


def test_what_was_done_while_memory_was_off_is_left_out(tmp_path: Path) -> None:
    path = PastSession(ID).prompt("go").runs("npm ci", "ok").write(tmp_path)
    assert [call for call in past_calls([path], [SHOP], lambda _, __: False, ByteBudget()) if call] == []


def test_of_too_much_the_newest_end_is_read(tmp_path: Path) -> None:
    session = PastSession(ID).prompt("go")
    for number in range(50):
        session.runs(f"npm run job-{number}", "ok")
    path, left = session.write(tmp_path), ByteBudget(4_000)
    commands = [call.call.tool_input["command"] for call in read(path, left=left)]
    assert commands[-1] == "npm run job-49"
    assert len(commands) < 50
    assert not left.is_whole


def test_broken_lines_and_missing_files_are_left_out(tmp_path: Path) -> None:
    path = PastSession(ID).prompt("go").runs("npm ci", "ok").write(tmp_path)
    path.write_text('{"type": "user"\n"tool_use"\n' + path.read_text() + '{"type":"assistant","message":"tool_use"}\n')
    assert len(read(tmp_path / "none.jsonl", path)) == 1


def test_transcripts_of_a_folder_are_found_with_those_of_sub_agents_newest_first(tmp_path: Path) -> None:
    folder = tmp_path / "projects" / "-home-dev-shop"
    (folder / ID / "subagents").mkdir(parents=True)
    for name in (f"{ID}.jsonl", f"{ID}/subagents/agent-1.jsonl", "notes.txt"):
        (folder / name).touch()
    found = transcripts_in(transcript_folders([tmp_path, tmp_path / "none"], ["/home/dev/shop", "/other"]))
    assert sorted(path.name for path in found) == ["5e55104a-0000-4000-8000-0000000000a1.jsonl", "agent-1.jsonl"]


def test_the_root_of_a_folder_is_the_longest_known_checkout() -> None:
    assert root_of("/a/b/c", ["/a", "/a/b", "/a/bc"]) == "/a/b"
    assert root_of("/x", ["/a"]) == "/x"


def test_a_refused_call_is_found_by_its_id_in_the_transcript(tmp_path: Path) -> None:
    path = PastSession(ID).prompt("go").calls("Bash", {"command": "npm ci"}, "call-1").write(tmp_path)
    found = calls_named(path, {"call-1", "call-2"}, SHOP)
    assert {id_: call.tool_input["command"] for id_, call in found.items()} == {"call-1": "npm ci"}
