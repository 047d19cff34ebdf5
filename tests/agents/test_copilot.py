"""The closing message of a turn of Copilot CLI (`agents/copilot.py`, `agents/transcript_end.py`), from the log of the
session that the hook names."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from claude_mem_lite.agents.adapters import adapted, completed
from claude_mem_lite.agents.transcript_end import last_lines
from tests.support import agent_files as made
from tests.support.past_sessions import LONG_AGO, Json
from tests.support.running import spool_name

STOP_S = 8


def stop_line(second: int, at_ms: int = 0) -> Json:
    data = {"sessionId": "p1", "stopReason": "end_turn", "timestamp": at_ms or made.millis(second)}
    return made.copilot_line(second, "hook.start", hookType="agentStop", input=data)


def stop_payload(log: Path, stamp: str) -> Json:
    return {
        "session_id": "p1",
        "timestamp": stamp,
        "cwd": made.CWD,
        "stop_reason": "end_turn",
        "transcript_path": str(log),
    }


def stopped(log: Path, second: int = STOP_S, at: str = "", age_s: float = 0.0) -> object:
    """The closing message of the event that a stop at a second becomes; "incomplete" while the log may still get it."""
    name, stamp = spool_name("Stop_copilot"), at or made.stamp(second)
    now_s = datetime.fromisoformat(made.stamp(second)).timestamp() + age_s
    found = completed(name, adapted(name, stop_payload(log, stamp)), now_s)
    return "incomplete" if found is None else found[0].get("last_assistant_message")


def test_the_closing_message_is_read_from_the_log(tmp_path: Path) -> None:
    log = made.write_lines(tmp_path / "events.jsonl", [*made.copilot_session(), stop_line(STOP_S)])
    assert stopped(log) == made.SAID


def test_a_stop_is_incomplete_until_its_log_is_written(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    assert stopped(log, age_s=0.1) == "incomplete"
    made.write_lines(log, [*made.copilot_session(), stop_line(STOP_S)])
    assert stopped(log, age_s=0.2) == made.SAID


@pytest.mark.parametrize("age_s", [3.0, -3.0])
def test_a_stop_is_taken_without_its_log_after_some_seconds(tmp_path: Path, age_s: float) -> None:
    assert stopped(tmp_path / "events.jsonl", age_s=age_s) is None


def test_adapting_a_stop_reads_no_log(tmp_path: Path) -> None:
    log = made.write_lines(tmp_path / "events.jsonl", [*made.copilot_session(), stop_line(STOP_S)])
    (event,) = adapted(spool_name("Stop_copilot"), stop_payload(log, made.stamp(STOP_S)))
    assert "last_assistant_message" not in event


def test_the_message_of_an_earlier_turn_closes_no_later_one(tmp_path: Path) -> None:
    log = made.write_lines(tmp_path / "events.jsonl", [*made.copilot_session(), stop_line(STOP_S)])
    assert stopped(log, STOP_S + 60, age_s=3.0) is None


@pytest.mark.parametrize(
    "last",
    [
        made.copilot_line(8, "user.message", content="and now"),
        made.copilot_line(8, "assistant.message", content="I look first.", toolRequests=[{"toolCallId": "call-9"}]),
    ],
)
def test_a_turn_without_closing_words_has_none(tmp_path: Path, last: Json) -> None:
    log = made.write_lines(tmp_path / "events.jsonl", [*made.copilot_session(), last, stop_line(STOP_S)])
    assert stopped(log) is None


def test_words_of_a_sub_agent_are_passed_over(tmp_path: Path) -> None:
    said = made.copilot_line(8, "assistant.message", content="Searched.", parentToolCallId="call-3")
    log = made.write_lines(tmp_path / "events.jsonl", [*made.copilot_session(), said, stop_line(STOP_S)])
    assert stopped(log) == made.SAID


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    lines = [json.dumps(line) for line in made.copilot_session()]
    log = tmp_path / "events.jsonl"
    log.write_text("\n".join([*lines, "{broken", "7", json.dumps(stop_line(STOP_S))]))
    assert stopped(log) == made.SAID


@pytest.mark.parametrize("name", ["no/such/events.jsonl", "\x00", ""])
def test_a_log_that_nobody_has_gives_no_message(tmp_path: Path, name: str) -> None:
    assert stopped(tmp_path / name if name else Path(), age_s=3.0) is None


def test_the_time_of_the_stop_is_the_one_in_the_log() -> None:
    assert datetime.fromisoformat(made.stamp(STOP_S)).timestamp() * 1000 == made.millis(STOP_S)
    assert made.stamp(0, LONG_AGO).endswith("Z")


def test_only_the_end_of_a_long_log_is_read(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    log.write_bytes(b"x" * 2_000_000 + b"\nlast\n")
    assert last_lines(str(log))[1:] == [b"last", b""]
    assert len(last_lines(str(log))[0]) < 1_000_000
