"""Tests of `judge` in `experiment/session_outcomes.py`: a stored session with its events becomes an outcome."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, failed_step
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.event_names import new_name
from claude_mem_lite.experiment.session_outcomes import judge
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import JsonValue, SessionSummary, ToolCall
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.arms import StoredArm
from claude_mem_lite.store.experiment.outcomes import SessionOutcome
from tests.support.fakes import NOW, SHOP, Store

HERE = "here"
BEGAN = NOW - timedelta(hours=2)
COMMAND = "python check.py"
FAILURE = "Exit code 1\nTraceback (most recent call last):\nModuleNotFoundError: No module named 'flamingo'\n"


@dataclass(slots=True)
class Working:
    """A session of the experiment with one turn, and its inbox."""

    store: Store
    queue: Queue
    folder: Path

    def event(self, event: str, at: datetime = BEGAN, session: str = HERE, **more: JsonValue) -> None:
        self.events(1, event, at, session, **more)

    def events(self, number: int, event: str, at: datetime = BEGAN, session: str = HERE, **more: JsonValue) -> None:
        payload = json.dumps({"hook_event_name": event, "session_id": session, "cwd": SHOP.root, **more})
        arrivals = [Arrival(new_name(event, at), event, session, payload, 1) for _ in range(number)]
        self.queue.add(arrivals, NOW.timestamp())
        for unit in self.queue.claim(NOW.timestamp(), flush=True):
            self.queue.finish([row.id for row in unit], NOW.timestamp())

    def call(self, tool: str, given: dict[str, JsonValue]) -> None:
        self.event("PostToolUse", tool_name=tool, tool_input=given, tool_response={})

    def fail(self) -> None:
        self.event("PostToolUseFailure", tool_name="Bash", tool_input={"command": COMMAND}, error=FAILURE)

    def transcript(self, name: str, *lines: bytes) -> None:
        path = self.folder / name
        path.write_bytes(b"\n".join(lines))
        self.event("UserPromptSubmit", prompt="go on", transcript_path=str(path))

    def outcome(self) -> SessionOutcome | None:
        judge(self.store.db, self.queue, HERE)
        return next((each.outcome for each in outcomes.of_project(self.store.db, None)), None)


@pytest.fixture
def working(tmp_path: Path) -> Iterator[Working]:
    with Store(tmp_path / "memory.db") as store, closing(open_for_writing(tmp_path / "inbox.db")) as inbox:
        migrate(inbox, INBOX_MIGRATIONS, NOW)
        store.turn("t1", "tidy the cart", "Done.", session=HERE, at=BEGAN)
        arms.put_arm(store.db, StoredArm(HERE, "control", 0.5, BEGAN))
        yield Working(store, Queue(inbox), tmp_path)


def remember_fix(store: Store, kind: str, created_at: datetime) -> None:
    step = failed_step(ToolCall("Bash", {"command": COMMAND}, error=FAILURE), SHOP.root)
    assert step is not None
    anchors = tuple(anchors_of_step(step))
    store.remember("Install flamingo", kind=kind, anchors=anchors, created_at=created_at, session="earlier")


def test_a_session_of_an_experiment_that_has_ended_has_no_outcome(working: Working) -> None:
    working.event("SessionStart", source="startup")
    arms.begin_run(working.store.db, BEGAN)
    arms.end_run(working.store.db, NOW)
    assert working.outcome() is None


def test_a_session_whose_first_events_are_gone_has_no_counts_of_calls(working: Working) -> None:
    working.event("PostToolUse", BEGAN + timedelta(minutes=1), tool_name="Read", tool_input={}, tool_response={})
    outcome = working.outcome()
    assert outcome is not None
    assert (outcome.calls_before_edit, outcome.files_before_edit, outcome.repeated_failures) == (None, None, None)
    assert outcome.turns == 1


def test_calls_and_files_of_a_whole_session_are_counted(working: Working) -> None:
    working.event("SessionStart", source="startup")
    working.call("Read", {"file_path": f"{SHOP.root}/a.py"})
    working.call("Write", {"file_path": f"{SHOP.root}/b.py", "content": "x = 1\n"})
    working.call("Read", {"file_path": f"{SHOP.root}/c.py"})
    outcome = working.outcome()
    assert outcome is not None
    assert (outcome.calls_before_edit, outcome.files_before_edit, outcome.repeated_failures) == (1, 1, 0)


def test_a_session_that_is_not_read_to_its_end_has_no_counts_of_calls(working: Working) -> None:
    working.event("SessionStart", source="startup")
    working.events(5_000, "PostToolUse", tool_name="Read", tool_input={}, tool_response={})
    outcome = working.outcome()
    assert outcome is not None
    assert (outcome.calls_before_edit, outcome.files_before_edit, outcome.repeated_failures) == (None, None, None)


@pytest.mark.parametrize(("session", "arm"), [("silent", "control"), ("plain", None)])
def test_a_session_without_a_prompt_or_without_an_arm_has_no_outcome(
    working: Working, session: str, arm: arms.Arm | None
) -> None:
    working.store.session(session, SessionSummary(headline="Look at the cart", request="", completed=""), at=BEGAN)
    if arm is None:
        working.store.turn("t3", "tidy the lid", "Done.", session=session, at=BEGAN)
    else:
        arms.put_arm(working.store.db, StoredArm(session, arm, 0.5, BEGAN))
    judge(working.store.db, working.queue, session)
    assert working.store.db.execute("select session from experiment_outcomes").fetchall() == []


@pytest.mark.parametrize(
    ("kind", "made", "repeated"),
    [
        ("bugfix", BEGAN - timedelta(days=1), 1),
        ("bugfix", BEGAN + timedelta(minutes=1), 0),
        ("gotcha", BEGAN - timedelta(days=1), 0),
    ],
)
def test_a_failure_is_repeated_if_a_fix_of_it_was_stored_before_the_session(
    working: Working, kind: str, made: datetime, repeated: int
) -> None:
    remember_fix(working.store, kind, made)
    working.event("SessionStart", source="startup")
    working.fail()
    outcome = working.outcome()
    assert outcome is not None
    assert outcome.repeated_failures == repeated


def test_corrections_of_the_session_are_counted_and_those_of_others_not(working: Working) -> None:
    working.store.turn("t0", "no, use cents", "Done.", session="other", at=BEGAN)
    working.store.remember("Use cents", turn="t1", kind="correction")
    working.store.remember("Use whole numbers", turn="t0", kind="correction")
    working.store.remember("The cart is slow", turn="t1", kind="gotcha")
    outcome = working.outcome()
    assert outcome is not None
    assert outcome.corrections == 1


def test_the_time_of_a_session_is_from_its_first_to_its_last_event(working: Working) -> None:
    working.store.turn("t2", "and now", "Done.", session=HERE, at=BEGAN + timedelta(minutes=7))
    outcome = working.outcome()
    assert outcome is not None
    assert (outcome.seconds, outcome.ended_at) == (420.0, BEGAN + timedelta(minutes=7))


def test_tokens_are_known_only_if_every_transcript_tells_them(working: Working) -> None:
    used = json.dumps({"message": {"id": "m1", "usage": {"input_tokens": 10}}}).encode()
    working.transcript("a.jsonl", used)
    working.transcript("b.jsonl", b"{}")
    outcome = working.outcome()
    assert outcome is not None
    assert outcome.tokens is None


def test_tokens_are_unknown_if_a_transcript_is_gone(working: Working) -> None:
    working.transcript("a.jsonl", json.dumps({"message": {"id": "m1", "usage": {"input_tokens": 10}}}).encode())
    working.transcript("b.jsonl", b"{}")
    (working.folder / "b.jsonl").unlink()
    outcome = working.outcome()
    assert outcome is not None
    assert outcome.tokens is None


def test_tokens_of_all_transcripts_are_added_up(working: Working) -> None:
    for name, tokens in (("a.jsonl", 10), ("b.jsonl", 5)):
        working.transcript(name, json.dumps({"message": {"id": name, "usage": {"input_tokens": tokens}}}).encode())
    outcome = working.outcome()
    assert outcome is not None
    assert outcome.tokens == 15


def test_a_quiet_session_of_an_experiment_that_has_ended_waits_for_no_outcome(working: Working) -> None:
    assert outcomes.without(working.store.db, NOW) == [HERE]
    with atomic(working.store.db):
        arms.begin_run(working.store.db, BEGAN)
        arms.end_run(working.store.db, NOW)
    assert outcomes.without(working.store.db, NOW) == []


def test_outcomes_of_another_project_are_left_out(working: Working) -> None:
    assert working.outcome() is not None
    assert [each.outcome.session for each in outcomes.of_project(working.store.db, SHOP.project)] == [HERE]
    assert outcomes.of_project(working.store.db, "another") == []
