"""Test of the experiment with two homes: a control session leaves no more behind than a session that was captured and
never answered."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.running import Json, Machine, leave, open_machine, payload, query
from tests.worker.test_experiment import CONTROL, MARKER, SHARE, events, named
from tests.worker.trigger_events import now_name, remember

FAILED = "Exit code 1\nFAILED tests/test_cart.py::test_total - AssertionError: assert 110 == 100\n1 failed in 0.03s"
TAUGHT = f"Remember: always run the {MARKER} ledger tests with make ledger-test before a release"
GOTCHA = "a.py: the total is kept in cents, never in floats"
AGE = re.compile(rb"just now|\d+m ago")
ANSWERED = {"SessionStart", "UserPromptSubmit", "PostToolUseFailure", "PostToolUse"}


class Pair:
    """Two homes that get the same events at the same time; only the first one has an experiment."""

    def __init__(self, tried: Machine, plain: Machine) -> None:
        self.tried = tried
        self.plain = plain
        for machine in self.machines:
            machine.start_worker()
        tried.home.config.write_text(f"experiment = {SHARE}\n")
        self.drain()
        self.gotchas = ("no gotcha", "no gotcha")

    @property
    def machines(self) -> tuple[Machine, Machine]:
        return self.tried, self.plain

    def drain(self) -> None:
        for machine in self.machines:
            machine.drain()

    def learn(self, cwd: str) -> None:
        """Take in a session that teaches, and what the user says on the command line."""
        for event, given in mending(named("treated", "teacher"), cwd):
            self.answered(event, given)
        self.drain()
        first, second = (remember(machine, cwd, "gotcha", GOTCHA) for machine in self.machines)
        self.gotchas = (first, second)

    def answered(self, event: str, given: Json) -> tuple[bytes, bytes]:
        """The replies of both homes to an event, byte for byte but for the id of the gotcha and for ages, because a
        minute may end between both; both hooks print them."""
        name = now_name(event, 1.5)
        first, second = (
            AGE.sub(b"AGE", reply(machine, event, given, name).replace(id_.encode(), b"ID"))
            for machine, id_ in zip(self.machines, self.gotchas, strict=True)
        )
        return first, second

    def answered_or_captured(self, event: str, given: Json) -> bytes:
        """The reply of the home with the experiment; the other home takes the event in and is asked nothing."""
        name = now_name(event, 1.5)
        leave(self.plain.home, given, name=name)
        return reply(self.tried, event, given, name)


def reply(machine: Machine, event: str, given: Json, name: str) -> bytes:
    leave(machine.home, given, name=name)
    header = {"X-Spool": name, "Content-Length": "0"}
    answer = machine.ask("POST", f"/hook/{event}", headers=header)
    if answer.status == 204:
        return b""
    machine.ask("POST", "/hook/printed", headers=header)
    return json.dumps(answer.body).encode()


@pytest.fixture
def pair() -> Iterator[Pair]:
    with open_machine() as tried, open_machine() as plain:
        yield Pair(tried, plain)


@pytest.fixture
def shop(tmp_path: Path) -> str:
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "a.py").write_text("def total(prices):\n    return sum(prices)\n")
    return str(folder)


def mending(session: str, cwd: str) -> list[tuple[str, Json]]:
    """A session that teaches a rule, and mends a failing test."""
    run = {"tool_name": "Bash", "tool_input": {"command": "pytest tests/test_cart.py"}}
    edit = {"file_path": f"{cwd}/a.py", "old_string": "sum(prices)", "new_string": "round(sum(prices))"}
    passed = {"stdout": "1 passed in 0.02s", "stderr": "", "interrupted": False}
    done = "The total was wrong, because a.py added up without rounding; fixed by rounding the sum."
    return [
        ("SessionStart", payload("SessionStart", session, cwd, source="startup")),
        ("UserPromptSubmit", payload("UserPromptSubmit", session, cwd, prompt=TAUGHT)),
        ("PostToolUseFailure", payload("PostToolUseFailure", session, cwd, **run, error=FAILED)),
        ("PostToolUse", payload("PostToolUse", session, cwd, tool_name="Edit", tool_input=edit, tool_response={})),
        ("PostToolUse", payload("PostToolUse", session, cwd, **run, tool_response=passed)),
        *ended(session, cwd, done),
    ]


def failing(session: str, cwd: str) -> tuple[str, Json]:
    run = {"tool_name": "Bash", "tool_input": {"command": "pytest tests/test_cart.py"}}
    return "PostToolUseFailure", payload("PostToolUseFailure", session, cwd, **run, error=FAILED)


def ended(session: str, cwd: str, words: str) -> list[tuple[str, Json]]:
    stop = payload("Stop", session, cwd, last_assistant_message=words)
    return [("Stop", stop), ("SessionEnd", payload("SessionEnd", session, cwd, reason="other"))]


def whole(session: str, cwd: str) -> list[tuple[str, Json]]:
    """Every event that is answered, a failure whose fix is known, and the end."""
    done = f"I ran the {MARKER} ledger tests with make ledger-test."
    return [*events(session, cwd), failing(session, cwd), *ended(session, cwd, done)]


def apart(part: str, cwd: str) -> list[tuple[str, Json]]:
    """Every event that is answered, each in a treated session of its own that has got nothing yet, and their ends."""
    ids = [named("treated", f"{part}-{number}") for number in range(len(whole("", cwd)))]
    told = [whole(session, cwd)[number] for number, session in enumerate(ids)]
    return [*told, *(end for session in ids for end in ended(session, cwd, "Done: prices are in cents."))]


def test_treated_sessions_get_the_same_bytes_as_if_control_sessions_had_been_captured_and_never_answered(
    pair: Pair, shop: str
) -> None:
    pair.learn(shop)

    control = [pair.answered_or_captured(event, given) for event, given in whole(CONTROL, shop)]
    pair.drain()

    assert not any(b"additionalContext" in reply for reply in control)
    for part in ("first", "second"):
        got = [(event, pair.answered(event, given)) for event, given in apart(part, shop)]
        pair.drain()
        assert {event for event, (tried, _) in got if b"additionalContext" in tried} == ANSWERED
        assert [tried for _, (tried, _) in got] == [plain for _, (_, plain) in got]


def test_control_sessions_leave_the_scores_of_memories_as_they_are(pair: Pair, shop: str) -> None:
    pair.learn(shop)
    for event, given in whole(CONTROL, shop):
        pair.answered_or_captured(event, given)
    pair.drain()
    tried, plain = (query(machine.home.memory_db, MARKS) for machine in pair.machines)
    assert tried == plain


MARKS = "select kind, title, status, confidence, times_seen from memories order by title"
