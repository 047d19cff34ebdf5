"""Turns that a model is asked about, its answers, and a look at what came of them."""

import json
import sqlite3
from contextlib import closing

from claude_mem_lite.errors import ModelRefused, ModelUnavailable
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support import commit_turns
from tests.support.fakes import FakeProvider
from tests.support.running import Json, leave, payload, query, spool_name, wait_until
from tests.worker.conftest import SetClock

BUSY = ModelUnavailable("the model answered with status 529")
REFUSAL = ModelRefused("the model answered with status 400", "check the model")
CONFIG = 'provider = "anthropic"\n'


def long_turn(session: str, what: str, *, cwd: str = "/app", path: str = "/app/basket.py") -> list[Json]:
    """A turn with so much in it that a model is asked about it: an edit and a test run with a long output."""
    edit = payload(
        "PostToolUse",
        session,
        cwd,
        tool_name="Edit",
        tool_input={"file_path": path, "old_string": "return 1", "new_string": "return len(self.items)"},
        tool_response={"filePath": path, "structuredPatch": []},
    )
    passed = "\n".join(f"tests/test_basket.py::test_number_{number} PASSED" for number in range(150))
    ran = payload(
        "PostToolUse",
        session,
        cwd,
        tool_name="Bash",
        tool_input={"command": "pytest -v"},
        tool_response={"stdout": f"{passed}\n===== 150 passed in 1.20s =====", "stderr": "", "interrupted": False},
    )
    asked = payload("UserPromptSubmit", session, cwd, prompt=f"{what} in the basket")
    return [asked, edit, ran, *commit_turns.ending(session, cwd, f"{what} in the basket", path)]


def answer(title: str, *, headline: str = "", **session: Json) -> str:
    """What a model answers about a turn: one memory, and the session so far."""
    memory = {"kind": "feature", "title": title, "summary": f"{title}, because the user wanted it.", "files": []}
    return json.dumps({"memories": [memory], "session": {"headline": headline or f"So far: {title}", **session}})


def work(home: Home, loop: Services, *turns: list[Json]) -> list[str]:
    """Whole turns, stored by rules; returns their keys."""
    keys = []
    for events in turns:
        names = [(spool_name(event["hook_event_name"]), event) for event in events]
        keys.append(names[0][0])
        for name, event in names:
            leave(home, event, name=name)
    assert loop.passes.wait_until_idle(30)
    return keys


def rest(home: Home, loop: Services, clock: SetClock) -> None:
    """Let the worker ask until nothing is left that may be asked at this time."""
    due = f"""state = 'asking' or (state = 'wanted' and available_at <= {clock().timestamp()}
        and id in (select min(id) from model_turns where state in ('wanted', 'asking') group by session))"""
    wait_until(
        lambda: loop.passes.wait_until_idle(30) and not query(home.inbox_db, f"select 1 from model_turns where {due}"),
        "rest",
    )


def wait_for_question(provider: FakeProvider, loop: Services, number: int = 1) -> None:
    wait_until(lambda: loop.passes.wait_until_idle(30) and len(provider.asked) >= number, f"question {number}")


def states(home: Home) -> list[str]:
    return [state for (state,) in query(home.inbox_db, "select state from model_turns order by id")]


def reasons(home: Home) -> list[str]:
    return [reason for (reason,) in query(home.inbox_db, "select reason from model_turns order by id")]


def memories(home: Home, session: str = "s-1") -> list[tuple[str, str]]:
    """Titles of a session's memories and who made them, in the order they stand in their turns."""
    rows = query(home.memory_db, f"select title, made_by from memories where session = '{session}' order by seq")
    return [(title, made_by) for title, made_by in rows]


def makers(home: Home, session: str = "s-1") -> set[str]:
    return {made_by for _, made_by in memories(home, session)}


def headline(home: Home, session: str = "s-1") -> str:
    ((told,),) = query(home.memory_db, f"select headline from sessions where id = '{session}'")
    return str(told)


def outcomes(home: Home) -> list[str]:
    return [outcome for (outcome,) in query(home.memory_db, "select outcome from model_calls order by id")]


def change(path: str, statement: str) -> None:
    """Change a database as another worker, or the user, would have left it."""
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(statement)
