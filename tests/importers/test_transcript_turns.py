"""Tests of `importers/transcripts.py`, `importers/transcript_entries.py` and `importers/transcript_entries.py`: a
transcript is read as the events that hooks would have sent."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.event_names import event_of, is_past, is_spool_name, time_of
from claude_mem_lite.importers.jsonl_reader import TranscriptProblem
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
from tests.support.past_sessions import LONG_AGO, SHOP, Json, PastSession, fixed_bug

LATER = LONG_AGO + timedelta(days=30)


def turns_of(session: PastSession, folder: Path, now: datetime = LATER) -> list[TranscriptTurn]:
    session.write(folder)
    return [turn for transcript in find_transcripts([folder]) for turn in read_transcript(transcript, now)]


def problems_of(session: PastSession, folder: Path, now: datetime = LATER) -> list[TranscriptProblem]:
    session.write(folder)
    (transcript,) = find_transcripts([folder])
    reading = read_transcript(transcript, now)
    list(reading)
    return reading.problems


def kinds(turns: Sequence[TranscriptTurn]) -> list[str]:
    return [event_of(event.name) for turn in turns for event in turn.events]


def payloads(turns: Sequence[TranscriptTurn], kind: str) -> list[Json]:
    return [event.payload for turn in turns for event in turn.events if event_of(event.name) == kind]


def prompts(turns: Sequence[TranscriptTurn]) -> list[str]:
    return [payload["prompt"] for payload in payloads(turns, "UserPromptSubmit")]


def test_a_turn_is_told_as_hooks_tell_it(tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("s1"), tmp_path)

    assert kinds(turns) == [
        "SessionStart", "UserPromptSubmit", "PostToolUseFailure", "PostToolUse", "PostToolUse", "Stop", "SessionEnd",
    ]  # fmt: skip
    failure, done = payloads(turns, "PostToolUseFailure")[0], payloads(turns, "PostToolUse")[0]
    assert failure["error"].startswith("Exit code 1\nAssertionError")
    assert (done["tool_name"], done["tool_input"]["file_path"]) == ("Edit", f"{SHOP}/total_0.py")
    assert done["tool_response"]["structuredPatch"]
    assert payloads(turns, "Stop")[0]["last_assistant_message"].startswith("Fixed total_0")


def test_every_event_says_where_it_comes_from(tmp_path: Path) -> None:
    (turn,) = turns_of(fixed_bug("s1"), tmp_path)

    for event in turn.events:
        read = event_from_payload(event.name, event.payload)
        assert (read.session, read.cwd, read.branch, read.imported) == ("s1", SHOP, "main", True)
        assert read.kind == event_of(event.name)
        assert is_spool_name(event.name)
        assert is_past(event.name)
    assert {event.payload.get("prompt_id") for event in turn.events[1:]} == {turn.prompt_id}
    assert turn.name == turn.events[1].name
    assert turn.began_at == LONG_AGO + timedelta(seconds=1)


def test_a_detached_head_is_no_branch(tmp_path: Path) -> None:
    turns = turns_of(PastSession("s1").prompt("look", gitBranch="HEAD").says("Looked."), tmp_path)
    assert payloads(turns, "UserPromptSubmit")[0]["git_branch"] == ""


def test_a_prompt_of_an_older_client_has_its_line_for_an_id(tmp_path: Path) -> None:
    session = PastSession("s1", prompt_ids=False).prompt("look around").says("Looked.")
    (turn,) = turns_of(session, tmp_path)
    assert turn.prompt_id == ""
    assert payloads([turn], "UserPromptSubmit")[0]["prompt_id"] == session.lines[0]["uuid"]


def test_each_prompt_begins_a_turn(tmp_path: Path) -> None:
    session = fixed_bug("s1").prompt("And now the tax").says("The tax is done.")
    first, second = turns_of(session, tmp_path)
    assert kinds([second]) == ["UserPromptSubmit", "Stop", "SessionEnd"]
    assert kinds([first])[-1] == "Stop"


def test_the_closing_message_is_all_the_text_of_the_last_message(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").says("I will look.").runs("ls", "a")
    for text in ("Part one.", "Part two."):
        session.answers([{"type": "text", "text": text}])
        session.lines[-1]["message"]["id"] = "msg_last"
    assert payloads(turns_of(session, tmp_path), "Stop")[0]["last_assistant_message"] == "Part one.\nPart two."


def test_thinking_is_never_used(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go")
    session.answers([{"type": "thinking", "thinking": "secret thoughts"}, {"type": "text", "text": "Done."}])
    (turn,) = turns_of(session, tmp_path)
    assert "secret thoughts" not in str(turn)


def test_a_turn_that_was_interrupted_has_no_closing_message(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").says("Half a sen").prompt("[Request interrupted by user]")
    first, _ = turns_of(session.prompt("go on").says("Done."), tmp_path)
    assert kinds([first]) == ["SessionStart", "UserPromptSubmit", "Stop"]
    assert "last_assistant_message" not in payloads([first], "Stop")[0]


def test_text_before_a_call_is_no_closing_message(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").says("Let me see.", stop_reason=None).runs("ls", "a")
    first, _ = turns_of(session.prompt("well?").says("Done."), tmp_path)
    assert "last_assistant_message" not in payloads([first], "Stop")[0]


def test_an_error_of_the_api_ends_a_turn_in_failure(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go")
    session.says("API Error: 529 overloaded", isApiErrorMessage=True, error="server_error")
    turns = turns_of(session, tmp_path)
    assert kinds(turns) == ["SessionStart", "UserPromptSubmit", "StopFailure", "SessionEnd"]
    failure = payloads(turns, "StopFailure")[0]
    assert (failure["error"], failure["last_assistant_message"]) == ("server_error", "API Error: 529 overloaded")


def test_what_the_client_itself_says_in_the_models_name_closes_nothing(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").says("Done.")
    session.says("No response requested.")
    session.lines[-1]["message"]["model"] = "<synthetic>"
    assert payloads(turns_of(session, tmp_path), "Stop")[0]["last_assistant_message"] == "Done."


@pytest.mark.parametrize(
    ("content", "more"),
    [
        ("a skill's own text", {"isMeta": True}),
        ("This session is being continued from a previous conversation that ran out of context.", {}),
        ("What was said so far", {"isCompactSummary": True}),
        ("Never run the tests.", {"isVisibleInTranscriptOnly": True}),
        ("Never run the tests.", {"origin": {"kind": "task-notification"}}),
        ("<command-name>/exit</command-name>\n<command-message>exit</command-message>", {}),
        ("<local-command-stdout>Bye</local-command-stdout>", {}),
        ("<local-command-caveat>Caveat: the user ran this</local-command-caveat>", {}),
        ("<bash-input>ls</bash-input>", {}),
        ("<bash-stdout>a.txt</bash-stdout><bash-stderr></bash-stderr>", {}),
        ("[Request interrupted by user for tool use]", {}),
        ("<system-reminder>You have new mail</system-reminder>", {}),
        ([{"type": "image", "source": {}}], {}),
    ],
)  # fmt: skip
def test_what_nobody_typed_is_no_prompt(tmp_path: Path, content: str | list[Json], more: Json) -> None:
    session = PastSession("s1").prompt("the real one").says("Done.").prompt(content, **more)
    assert prompts(turns_of(session, tmp_path)) == ["the real one"]


def test_what_the_client_put_into_a_prompt_is_cut_out(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "<ide_opened_file>The user opened shop.py</ide_opened_file>"},
        {"type": "text", "text": "fix <b>it</b> <system-reminder>\nremember the milk\n</system-reminder>now"},
        {"type": "text", "text": "<user-prompt-submit-hook>hook said this</user-prompt-submit-hook>"},
    ]
    assert prompts(turns_of(PastSession("s1").prompt(content).says("Done."), tmp_path)) == ["fix <b>it</b> now"]


def test_what_was_selected_or_given_with_attributes_is_cut_out_too(tmp_path: Path) -> None:
    content = [
        {"type": "text", "text": "<ide_selection>always push to main</ide_selection>"},
        {"type": "text", "text": 'why is <system-reminder kind="mail">\nread it\n</system-reminder>this so slow'},
        {"type": "text", "text": "<hook_context>from a hook</hook_context>"},
    ]
    assert prompts(turns_of(PastSession("s1").prompt(content).says("Done."), tmp_path)) == ["why is this so slow"]


def test_tags_that_only_begin_like_the_clients_are_the_users_words(tmp_path: Path) -> None:
    said = "close <ide_selections> before </ide_selection>, and <system-reminder> is never closed"
    assert prompts(turns_of(PastSession("s1").prompt(said).says("Done."), tmp_path)) == [said]


def test_a_command_of_the_users_own_asks_for_what_its_arguments_say(tmp_path: Path) -> None:
    tags = "<command-message>plan</command-message>\n<command-name>/plan</command-name>"
    session = PastSession("s1").prompt(f"{tags}\n<command-args>a way to refund orders</command-args>")
    session.prompt("Plan this as an architect would", isMeta=True).says("Planned.")
    session.prompt(tags).prompt("Plan this", isMeta=True).says("Planned again.")
    assert prompts(turns_of(session, tmp_path)) == ["a way to refund orders", "/plan"]


def test_a_call_that_was_not_let_run_is_no_failure(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go")
    session.calls("Bash", {"command": "rm -rf build"})
    session.gets("The user doesn't want to proceed with this tool use. The tool use was rejected.", error=True)
    session.calls("WebFetch", {"url": "http://example.invalid"})
    session.gets("You may not.", "Error: You may not.", error=True, toolDenialKind="user-rejected")
    assert kinds(turns_of(session.says("Fine."), tmp_path))[2:] == ["Stop", "SessionEnd"]


def test_the_error_of_a_tool_is_told_without_its_wrapping(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").calls("Read", {"file_path": "/nowhere"})
    session.gets("<tool_use_error>File does not exist.</tool_use_error>", "Error: File does not exist.", error=True)
    assert payloads(turns_of(session.says("Hm."), tmp_path), "PostToolUseFailure")[0]["error"] == "File does not exist."


def test_a_result_without_a_record_is_told_by_its_text(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").calls("Bash", {"command": "ls"})
    session.gets([{"type": "text", "text": "a.txt<system-reminder>be careful</system-reminder>"}]).says("Done.")
    assert payloads(turns_of(session, tmp_path), "PostToolUse")[0]["tool_response"] == "a.txt"


def test_calls_made_together_find_their_own_results(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go")
    session.calls("Bash", {"command": "first"}, "t1").calls("Bash", {"command": "second"}, "t2")
    session.gets("of the second", {"stdout": "of the second"}, id_="t2")
    session.gets("of the first", {"stdout": "of the first"}, id_="t1").says("Done.")
    found = payloads(turns_of(session, tmp_path), "PostToolUse")
    told = [(one["tool_input"]["command"], one["tool_response"]["stdout"]) for one in found]
    assert told == [("second", "of the second"), ("first", "of the first")]


@pytest.mark.parametrize("tool", ["Grep", "Glob", "mcp__claude-mem-lite__memory_search"])
def test_calls_that_hooks_do_not_capture_are_left_out(tmp_path: Path, tool: str) -> None:
    session = PastSession("s1").prompt("go").calls(tool, {"pattern": "x"}).gets("many lines").says("Done.")
    assert kinds(turns_of(session, tmp_path)) == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


def test_a_compaction_is_told_and_its_summary_is_not(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").runs("ls", "a")
    session.system("compact_boundary", compactMetadata={"trigger": "manual"})
    session.prompt("This session is being continued from a previous conversation", isCompactSummary=True)
    turns = turns_of(session.says("Done."), tmp_path)
    assert payloads(turns, "PreCompact")[0]["trigger"] == "manual"
    assert prompts(turns) == ["go"]


@pytest.mark.parametrize(
    "kind", ["attachment", "progress", "queue-operation", "summary", "something-new", "api-request"]
)
def test_lines_of_other_kinds_are_no_concern(tmp_path: Path, kind: str) -> None:
    session = PastSession("s1").prompt("go").line(kind, message={"role": "user", "content": "CTX"}, content="CTX")
    turns = turns_of(session.says("Done."), tmp_path)
    assert "CTX" not in str(turns)
    assert problems_of(session, tmp_path) == []


def test_a_background_task_that_ends_after_a_turn_makes_one_of_its_own(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("start the agents").says("They are at work.")
    session.prompt("<task-notification><result>found it</result></task-notification>").runs("ls", "a").says("All done.")
    first, second = turns_of(session, tmp_path)
    assert kinds([first])[-1] == "Stop"
    assert kinds([second]) == ["PostToolUse", "Stop", "SessionEnd"]
    assert second.name == second.events[0].name
    assert second.prompt_id == session.lines[2]["promptId"]


def test_a_prompt_belongs_to_the_session_that_answers_it(tmp_path: Path) -> None:
    session = PastSession("s2").prompt("implement the plan", sessionId="s1").runs("ls", "a").says("Done.")
    (turn,) = turns_of(session, tmp_path)
    assert turn.session == "s2"
    assert {event.payload["session_id"] for event in turn.events} == {"s2"}


# Names.


def test_a_line_has_the_same_name_wherever_it_is_repeated(tmp_path: Path) -> None:
    first = fixed_bug("s1")
    fork = PastSession("s2", lines=[{**line, "sessionId": "s2"} for line in first.lines], at=first.at)
    (of_first,) = turns_of(first, tmp_path / "a")
    of_fork = turns_of(fork.prompt("another way").says("Done."), tmp_path / "b")
    assert of_fork[0].name == of_first.name
    assert [event.name for event in of_fork[0].events] == [event.name for event in of_first.events[:-1]]


def test_names_go_up_whatever_the_clock_did(tmp_path: Path) -> None:
    session = fixed_bug("s1")
    for line in session.lines[3:6]:
        line["timestamp"] = session.lines[0]["timestamp"]
    session.lines[6]["timestamp"] = "yesterday"
    names = [event.name for turn in turns_of(session, tmp_path) for event in turn.events]
    times = [time_of(name) for name in names]
    assert names == sorted(names)
    assert len(set(times)) == len(times)


# The end of a file.


def test_a_session_that_was_left_long_ago_is_over(tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("s1"), tmp_path)
    assert payloads(turns, "SessionEnd")[0]["reason"] == "other"


def test_the_end_of_a_file_does_not_end_another_session_in_it(tmp_path: Path) -> None:
    session = PastSession("s2").prompt("begin").says("Begun.")
    session.prompt("go on", sessionId="s1").says("Done.", sessionId="s1")
    last = turns_of(session, tmp_path)[-1]
    assert (last.session, kinds([last])[-1]) == ("s1", "Stop")


def test_the_end_of_a_file_under_another_name_ends_the_session(tmp_path: Path) -> None:
    session = fixed_bug("s1")
    session.id = "backup"
    assert payloads(turns_of(session, tmp_path), "SessionEnd")[0]["session_id"] == "s1"


def test_a_session_of_today_may_go_on(tmp_path: Path) -> None:
    turns = turns_of(fixed_bug("s1"), tmp_path, LONG_AGO + timedelta(minutes=5))
    assert kinds(turns)[-1] == "Stop"


def test_a_session_of_today_is_over_when_the_client_was_left(tmp_path: Path) -> None:
    now = LONG_AGO + timedelta(minutes=5)
    session = fixed_bug("s1").line("cost-state", totalCostUSD=0.1)
    assert payloads(turns_of(session, tmp_path, now), "SessionEnd")[0]["reason"] == "other"
    session.prompt("once more").line("cost-state", totalCostUSD=0.1)
    assert len(turns_of(session, tmp_path, now)) == 1


def test_a_turn_that_was_broken_off_long_ago_was_interrupted(tmp_path: Path) -> None:
    session = fixed_bug("s1").prompt("and the tax?").runs("ls", "a")
    last = turns_of(session, tmp_path)[-1]
    assert kinds([last]) == ["UserPromptSubmit", "PostToolUse", "SessionEnd"]
    assert payloads([last], "SessionEnd")[0]["reason"] == "interrupted"


@pytest.mark.parametrize(
    "unfinished",
    [
        lambda session: session.runs("ls", "a"),
        lambda session: session.says("Let me look", stop_reason=None),
        lambda session: session.says("Let me look", stop_reason="tool_use"),
    ],
)
def test_a_turn_that_still_goes_on_is_left_out_and_counted(tmp_path: Path, unfinished: Json) -> None:
    session = unfinished(fixed_bug("s1").prompt("and the tax?"))
    session.write(tmp_path)
    (transcript,) = find_transcripts([tmp_path])
    reading = read_transcript(transcript, LONG_AGO + timedelta(minutes=5))
    assert len(list(reading)) == 1
    assert reading.still_open == 1


def test_the_client_may_say_that_a_turn_is_over_by_a_line_of_its_own(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("go").says("Done.", stop_reason=None).system("turn_duration")
    assert kinds(turns_of(session, tmp_path, LONG_AGO + timedelta(minutes=5)))[-1] == "Stop"


def test_a_turn_whose_sub_agent_is_at_work_still_goes_on(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("send someone").calls("Agent", {"description": "look"}).gets("launched")
    session.says("Someone is at work.")
    PastSession("s1", agent="a1").prompt("look").runs("ls", "a").write(tmp_path)
    assert turns_of(session, tmp_path, LONG_AGO + timedelta(minutes=5)) == []


def test_a_file_under_another_name_tells_of_the_session_it_holds(tmp_path: Path) -> None:
    fixed_bug("s1").write(tmp_path).rename(tmp_path / "kept.jsonl")
    (transcript,) = find_transcripts([tmp_path / "kept.jsonl"])
    (turn,) = read_transcript(transcript, LATER)
    assert (turn.session, kinds([turn])[-1]) == ("s1", "SessionEnd")


def test_a_closing_message_of_many_blocks_is_read_whole(tmp_path: Path) -> None:
    lines: list[Json] = [
        {"type": "user", "message": {"content": "look"}},
        {"type": "assistant", "message": {"id": "m1", "content": [{"type": "text", "text": "a"}] * 200_000}},
    ]
    at = {"timestamp": LONG_AGO.isoformat(), "sessionId": "s1", "cwd": SHOP}
    path = tmp_path / "s1.jsonl"
    path.write_text("".join(f"{json.dumps({**at, **line})}\n" for line in lines))
    (transcript,) = find_transcripts([path])
    turns = list(read_transcript(transcript, LATER))
    assert len(payloads(turns, "Stop")[0]["last_assistant_message"]) == 2 * 200_000 - 1
