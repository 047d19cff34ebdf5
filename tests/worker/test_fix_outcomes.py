"""Whether what a session was given for a failing command helped: its command passed later, or it did not."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import count

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.knowledge import outcomes, remember
from claude_mem_lite.models import JsonObject, Memory, Receipt, ReceiptItem
from claude_mem_lite.paths import Home
from claude_mem_lite.store import receipts
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import spool_name
from tests.support.turns import PYTEST_FAILED, PYTEST_PASSED

HERE = "5e55104a-1111-4222-8333-abcdefabcdef"
ERROR = "error:0123456789ab"


@dataclass(slots=True)
class Working:
    """A session that fails, is given a fix, and goes on."""

    store: Store
    queue: Queue
    fix: Memory
    numbers: "count[int]"

    def call(self, tool: str, given: JsonObject, *, failed: str = "", response: JsonObject | None = None) -> str:
        """A tool call as the inbox keeps it; returns the name of its event."""
        event = "PostToolUseFailure" if failed else "PostToolUse"
        payload: dict[str, object] = {"hook_event_name": event, "session_id": HERE, "cwd": SHOP.root}
        payload |= {"tool_name": tool, "tool_input": given}
        payload |= {"error": failed} if failed else {"tool_response": response or {}}
        name = spool_name(event)
        self.queue.add([Arrival(name, event, HERE, json.dumps(payload), 1)], NOW.timestamp())
        for unit in self.queue.claim(NOW.timestamp(), flush=True):
            self.queue.finish([row.id for row in unit], NOW.timestamp())
        return name

    def fails(self, command: str = "pytest", output: str = PYTEST_FAILED) -> str:
        return self.call("Bash", {"command": command}, failed=f"Exit code 1\n{output}")

    def passes(self, command: str = "pytest", output: str = PYTEST_PASSED) -> None:
        self.call("Bash", {"command": command}, response={"stdout": output, "stderr": "", "interrupted": False})

    def given_for(self, event: str, *, reached: bool = True) -> None:
        item = ReceiptItem(self.fix.id, "fix", "same failure", 20, 0.67)
        given_at = NOW if reached else None
        made = Receipt(event, HERE, SHOP.project, "failure", (item,), (), (), 20, 300, 1.0, NOW, given_at=given_at)
        with atomic(self.store.db):
            receipts.add(self.store.db, made)

    def outcome(self) -> str | None:
        """What came of it, when the session is over."""
        self.store.turn(f"turn-{next(self.numbers)}", "Run the tests", "I did.", session=HERE)
        outcomes.judge(self.store.db, self.queue, HERE)
        (made,) = receipts.newest(self.store.db, limit=9)
        return made.items[0].outcome


@pytest.fixture
def working(home: Home, store: Store) -> Iterator[Working]:
    with closing(open_for_writing(home.inbox_db)) as inbox:
        migrate(inbox, INBOX_MIGRATIONS, NOW)
        fix = store.remember("Fix the flamingo clock", files=("src/clock.py",), anchors=(ERROR,), session="earlier")
        yield Working(store, Queue(inbox), fix, count())


def test_a_fix_is_used_when_the_command_passes_later(working: Working) -> None:
    working.given_for(working.fails())
    working.passes("python -m pytest -q")
    assert working.outcome() == "used"


def test_a_fix_is_ignored_when_the_command_never_passes(working: Working) -> None:
    working.given_for(working.fails())
    working.fails()
    working.passes("ls src", "auth.py")
    assert working.outcome() == "ignored"


def test_that_a_file_of_the_fix_was_touched_is_no_sign_that_it_helped(working: Working) -> None:
    working.given_for(working.fails())
    working.call("Edit", {"file_path": f"{SHOP.root}/src/clock.py"}, response={"filePath": "src/clock.py"})
    assert working.outcome() == "ignored"


def test_what_passed_before_does_not_count(working: Working) -> None:
    working.passes()
    working.given_for(working.fails())
    assert working.outcome() == "ignored"


def test_a_pass_whose_output_tells_of_failures_is_none(working: Working) -> None:
    working.given_for(working.fails())
    working.passes("pytest | tail", PYTEST_FAILED)
    assert working.outcome() == "ignored"


def test_a_session_that_goes_on_may_still_show_that_it_helped(working: Working) -> None:
    working.given_for(working.fails())
    assert working.outcome() == "ignored"
    working.passes()
    assert working.outcome() == "used"


def test_a_fix_that_was_seen_in_the_session_helped_though_its_events_are_gone(working: Working) -> None:
    working.given_for(spool_name("PostToolUseFailure"))
    assert working.outcome() is None
    working.store.turn("fixing", "Run the tests", "They pass now.", session=HERE)
    again = replace(working.fix, id="another00001", session=HERE, title="Set the flamingo clock right")
    with atomic(working.store.db):
        remember.add(working.store.db, again, "fixing", NOW)
    assert working.outcome() == "used"


def test_a_fix_that_did_not_reach_the_session_is_not_judged(working: Working) -> None:
    working.given_for(working.fails(), reached=False)
    working.passes()
    assert working.outcome() is None


def test_a_foreign_tool_that_works_later_was_helped(working: Working) -> None:
    given: JsonObject = {"title": "x"}
    working.given_for(working.call("mcp__tracker__create", given, failed="Error: the project key 41 is not known"))
    assert working.outcome() == "ignored"
    working.call("mcp__tracker__create", given, response={"id": "SHOP-1"})
    assert working.outcome() == "used"


@pytest.mark.parametrize(
    "other", ["pytest tests/zephyr", "pytest --deselect tests/test_session.py", "cd /srv && pytest"]
)
def test_that_other_tests_pass_is_no_sign_that_a_fix_helped(working: Working, other: str) -> None:
    working.given_for(working.fails())
    working.passes(other)
    assert working.outcome() == "ignored"
