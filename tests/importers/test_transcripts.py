"""Where transcripts are found, which files belong together, and what happens with those that are damaged."""

import gzip
import json
import os
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.event_names import event_of
from claude_mem_lite.importers.jsonl_reader import MAX_LINE_BYTES, TranscriptProblem
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import TranscriptReader, find_transcripts, read_transcript
from tests.support.past_sessions import LONG_AGO, Json, PastSession, fixed_bug

LATER = LONG_AGO + timedelta(days=30)


def read(path: Path, now: datetime = LATER) -> tuple[TranscriptReader, list[TranscriptTurn]]:
    (transcript,) = find_transcripts([path])
    reading = read_transcript(transcript, now)
    return reading, list(reading)


def agent_of(session: str, agent: str = "a1b2") -> PastSession:
    """A sub-agent that runs a command and reports, in the middle of `with_agent`."""
    work = PastSession(session, LONG_AGO + timedelta(seconds=2), agent=agent).prompt("look for the limit")
    return work.runs("cat limits.txt", "limit = 50000").says("The limit is 50000 cents.")


def with_agent(session: str) -> PastSession:
    asked = PastSession(session).prompt("find the limit").calls("Agent", {"description": "look for the limit"})
    asked.at += timedelta(seconds=20)
    return asked.gets("It is 50000.").says("The limit is 50000.")


def by_agents(turns: list[TranscriptTurn]) -> list[tuple[str, Json, Json]]:
    events = [event for turn in turns for event in turn.events if event.payload.get("agent_id")]
    return [(event_of(one.name), one.payload["agent_id"], one.payload["agent_type"]) for one in events]


# Finding them.


def test_a_folder_is_searched_to_its_bottom_the_oldest_session_first(tmp_path: Path) -> None:
    fixed_bug("young", at=LONG_AGO + timedelta(days=2)).write(tmp_path / "a")
    fixed_bug("old").write(tmp_path / "b" / "c", packed=True)
    fixed_bug("middle", at=LONG_AGO + timedelta(days=1)).write(tmp_path)
    assert [one.session for one in find_transcripts([tmp_path])] == ["old", "middle", "young"]


def test_a_file_that_is_named_twice_is_read_once(tmp_path: Path) -> None:
    path = fixed_bug("s1").write(tmp_path)
    assert len(find_transcripts([path, tmp_path, path])) == 1


def test_files_of_lines_that_are_no_transcripts_hold_nothing(tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_text('{"display": "fix it", "timestamp": 1}\n{"type": "user"}\n')
    reading, turns = read(tmp_path)
    assert (turns, reading.problems, reading.still_open) == ([], [], 0)


def test_where_there_is_nothing_nothing_is_found(tmp_path: Path) -> None:
    assert find_transcripts([tmp_path, tmp_path / "missing" / "folder"]) == []


def test_a_packed_transcript_holds_the_same(tmp_path: Path) -> None:
    _, plain = read(fixed_bug("s1").write(tmp_path / "a"))
    _, packed = read(fixed_bug("s1").write(tmp_path / "b", packed=True))
    assert packed == plain


@pytest.mark.parametrize("packed", [False, True])
def test_what_was_read_comes_to_the_size_of_the_files(tmp_path: Path, packed: bool) -> None:
    path = with_agent("s1").write(tmp_path, packed=packed)
    agent_of("s1").write(tmp_path, packed=packed)
    (transcript,) = find_transcripts([path])
    reading = read_transcript(transcript, LATER)
    list(reading)
    assert reading.bytes_read == transcript.size_bytes


# Sub-agents.


def test_what_sub_agents_did_is_part_of_their_sessions_turn(tmp_path: Path) -> None:
    agent_of("s1").write(tmp_path)
    (tmp_path / "s1" / "subagents" / "agent-a1b2.meta.json").write_text('{"agentType": "Explore"}')
    with_agent("s1").write(tmp_path)
    _, (turn,) = read(tmp_path)
    assert by_agents([turn]) == [("PostToolUse", "a1b2", "Explore"), ("SubagentStop", "a1b2", "Explore")]
    told = [event.payload["last_assistant_message"] for event in turn.events if event_of(event.name) == "SubagentStop"]
    assert told == ["The limit is 50000 cents."]
    assert [event_of(event.name) for event in turn.events][-3:] == ["PostToolUse", "Stop", "SessionEnd"]


def test_the_kind_of_a_sub_agent_may_stand_in_its_lines(tmp_path: Path) -> None:
    agent = agent_of("s1")
    for line in agent.lines:
        line["attributionAgent"] = "Plan"
    agent.write(tmp_path)
    _, turns = read(with_agent("s1").write(tmp_path))
    assert by_agents(turns) == [("PostToolUse", "a1b2", "Plan"), ("SubagentStop", "a1b2", "Plan")]


def test_older_clients_kept_sub_agents_beside_their_session(tmp_path: Path) -> None:
    agent_of("s1").write(tmp_path / "elsewhere").rename(tmp_path / "agent-a1b2.jsonl")
    fixed_bug("s2", at=LATER).write(tmp_path)
    with_agent("s1").write(tmp_path)
    found = [one for one in find_transcripts([tmp_path]) if one.path.parent == tmp_path]
    assert [(one.session, len(one.agents)) for one in found] == [("s1", 1), ("s2", 0)]
    assert by_agents(list(read_transcript(found[0], LATER)))


def test_the_oldest_clients_wrote_sub_agents_into_the_sessions_file(tmp_path: Path) -> None:
    session = with_agent("s1")
    inner = agent_of("s1").lines
    for line in inner:
        del line["agentId"]
    session.lines[2:2] = inner
    _, turns = read(session.write(tmp_path))
    assert by_agents(turns) == [("PostToolUse", "sidechain", "")]
    assert sum(event_of(event.name) == "UserPromptSubmit" for turn in turns for event in turn.events) == 1


@pytest.mark.parametrize("layout", ["below", "beside"])
def test_a_sub_agents_file_stands_for_its_session(tmp_path: Path, layout: str) -> None:
    path = agent_of("s1").write(tmp_path)
    if layout == "beside":
        path = path.rename(tmp_path / path.name)
    session = with_agent("s1").write(tmp_path)
    assert [one.path for one in find_transcripts([path])] == [session]


def test_a_sub_agents_file_without_its_session_is_nothing(tmp_path: Path) -> None:
    assert find_transcripts([agent_of("s1").write(tmp_path)]) == []


def test_the_clients_own_helpers_are_no_sub_agents(tmp_path: Path) -> None:
    agent_of("s1", agent="acompact-9f").write(tmp_path)
    _, turns = read(with_agent("s1").write(tmp_path))
    assert by_agents(turns) == []


def test_a_sub_agent_that_never_reported_leaves_its_calls(tmp_path: Path) -> None:
    agent = agent_of("s1")
    del agent.lines[-1]
    agent.write(tmp_path)
    _, turns = read(with_agent("s1").write(tmp_path))
    assert [kind for kind, _, _ in by_agents(turns)] == ["PostToolUse"]


# What cannot be read.


def reasons(reading: TranscriptReader) -> list[tuple[int, str]]:
    return [(problem.line, problem.reason) for problem in reading.problems]


def test_lines_that_cannot_be_read_are_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    session = fixed_bug("s1")
    two = json.dumps(session.lines[3]) + json.dumps(session.lines[4])
    session.lines[3:5] = [two, "not JSON", "[1, 2]", "", '{"a":' * 200 + "1" + "}" * 200]
    reading, turns = read(session.write(tmp_path))
    assert [line for line, _ in reasons(reading)] == [4, 5, 6, 8]
    assert [reason.split(" (")[0].split(":")[0] for _, reason in reasons(reading)] == [
        "more than one JSON object on the line",
        "no JSON",
        "a JSON list, not an object",
        "nested too deeply",
    ]
    assert len(turns) == 1


def test_a_line_that_is_too_long_is_passed_over(tmp_path: Path) -> None:
    session = fixed_bug("s1")
    path = session.write(tmp_path)
    with path.open("ab") as file:
        file.write(b'{"type": "user", "x": "')
        file.write(b"x" * MAX_LINE_BYTES)
        file.write(b'"}\n')
        file.write(PastSession("s1", session.at).prompt("after it").says("Done.").text().encode())
    reading, turns = read(path)
    assert reasons(reading) == [(len(session.lines) + 1, "longer than 64 MB")]
    assert len(turns) == 2


@pytest.mark.parametrize(("now", "reported"), [(LATER, 1), (LONG_AGO + timedelta(minutes=5), 0)])
def test_half_a_last_line_is_a_problem_only_when_nobody_writes_any_more(
    tmp_path: Path, now: datetime, reported: int
) -> None:
    path = fixed_bug("s1").write(tmp_path)
    with path.open("a") as file:
        file.write('{"type": "user", "mess')
    reading, turns = read(path, now)
    assert len(reading.problems) == reported
    assert len(turns) == 1


def test_a_packed_file_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    session = fixed_bug("s1").prompt("and the tax?")
    session.runs("cat noise", random.Random(1).randbytes(100_000).hex()).says("Done.")
    path = session.write(tmp_path, packed=True)
    path.write_bytes(path.read_bytes()[:-3000])
    reading, turns = read(path)
    assert len(turns) == 1
    (problem,) = reading.problems
    assert (problem.what, problem.line) == ("file", 0)
    assert problem.reason.startswith(f"cannot be read after line {len(fixed_bug('s1').lines) + 2}: ")
    assert reading.still_open == 0


def test_a_file_that_is_no_gzip_is_reported(tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl.gz").write_bytes(b"plainly not packed\n")
    reading, turns = read(tmp_path)
    assert turns == []
    assert [(one.what, one.line, one.reason.split(": ")[0]) for one in reading.problems] == [
        ("file", 0, "cannot be read")
    ]


@pytest.mark.parametrize("layout", ["below", "beside"])
def test_a_sub_agents_file_that_cannot_be_read_is_reported_once(tmp_path: Path, layout: str) -> None:
    session = with_agent("s1").write(tmp_path)
    agent = agent_of("s1").write(tmp_path)
    agent.unlink()
    if layout == "beside":
        agent = tmp_path / agent.name
    agent.symlink_to(agent)  # nobody can open it, not even root
    problems: list[TranscriptProblem] = []
    (transcript,) = find_transcripts([tmp_path, session], problems)
    reading = read_transcript(transcript, LATER)
    assert len(list(reading)) == 1
    assert [(one.path, one.what) for one in problems + reading.problems] == [(agent, "file")]


def test_half_a_character_does_no_harm(tmp_path: Path) -> None:
    session = PastSession("s1").prompt("half \ud83d a smile", sessionId="s\ud83d").says("Done.", sessionId="s\ud83d")
    (tmp_path / "s.jsonl").write_text(session.text())
    _, (turn,) = read(tmp_path)
    assert json.dumps(turn.as_json(), ensure_ascii=False).encode()


def test_bytes_that_are_no_text_do_no_harm(tmp_path: Path) -> None:
    path = PastSession("s1").prompt("caf\u00e9").says("Done.").write(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"caf\\u00e9", b"caf\xe9"))
    _, turns = read(path)
    assert len(turns) == 1


def test_an_empty_file_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / "s1.jsonl").touch()
    (tmp_path / "s2.jsonl.gz").write_bytes(gzip.compress(b""))
    for transcript in find_transcripts([tmp_path]):
        reading = read_transcript(transcript, LATER)
        assert (list(reading), reading.problems) == ([], [])


def test_a_pipe_or_a_device_among_them_is_reported_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "device.jsonl").symlink_to("/dev/zero")
    for transcript in find_transcripts([tmp_path]):
        reading = read_transcript(transcript, LATER)
        assert list(reading) == []
        assert [problem.reason for problem in reading.problems] == ["cannot be read: it is not a plain file"]


def test_a_pipe_beside_a_sub_agents_file_is_not_waited_for(tmp_path: Path) -> None:
    path = with_agent("s1").write(tmp_path)
    os.mkfifo(agent_of("s1").write(tmp_path).with_name("agent-a1b2.meta.json"))
    _, turns = read(path)
    assert [agent for _, agent, _ in by_agents(turns)] == ["a1b2", "a1b2"]


def test_a_file_with_a_thousand_lines_that_cannot_be_read_is_left(tmp_path: Path) -> None:
    path = tmp_path / "noise.jsonl"
    path.write_text("noise\n" * 5000 + fixed_bug("s1").text())
    reading, turns = read(path)
    assert turns == []
    (problem,) = reading.problems
    assert problem.what == "file"
    assert problem.reason.startswith("more than 1,000 lines could not be read, the first is line 1 (no JSON: ")
    assert problem.reason.endswith("); the rest of this file was left out")


def test_a_file_whose_name_is_no_text_names_a_session_that_can_be_stored(tmp_path: Path) -> None:
    session = fixed_bug("s1")
    for line in session.lines:
        del line["sessionId"]
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    path.write_text(session.text())
    _, turns = read(path)
    assert [turn.session for turn in turns] == ["\\udcff"]
