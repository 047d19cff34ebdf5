"""Prompts, failing commands and opened files of sessions, and what a real worker answers to them."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from tests.support.running import WAIT_S, Json, Machine, leave, payload, query, spool_name, wait_until

_AHEAD_S = 1.5
_MAX_TRIES = 5


@dataclass(frozen=True, slots=True)
class Kept:
    """A receipt as it stands in the database."""

    name: str
    session: str
    moment: str
    tokens: int
    budget: int
    given_at: str | None


def ask(machine: Machine, session: str, cwd: str, prompt: str, **more: Json) -> str:
    """What a prompt is given, and prints; '' when that is nothing."""
    return answered(machine, "UserPromptSubmit", prompted(session, cwd, prompt, **more))


def ask_now(machine: Machine, session: str, cwd: str, prompt: str) -> str:
    """The same at this very moment, so that what follows comes after it; again if the answer came too late."""
    given = prompted(session, cwd, prompt)
    return next(filter(None, (answered(machine, "UserPromptSubmit", given, 0.0) for _ in range(10))), "")


def prompted(session: str, cwd: str, prompt: str, **more: Json) -> Json:
    return payload("UserPromptSubmit", session, cwd, prompt=prompt, **more)


def answered(machine: Machine, event: str, given: Json, ahead_s: float = _AHEAD_S) -> str:
    """What the hook of an event would print: it is left in the spool, the worker is asked, then told that it was so.

    Its name is dated ahead, so that it is never too late, however busy this machine is."""
    name = leave(machine.home, given, name=now_name(event, ahead_s))
    told = machine.ask("POST", f"/hook/{event}", headers={"X-Spool": name, "Content-Length": "0"})
    if told.status == 204:
        return ""
    machine.ask("POST", "/hook/printed", headers={"X-Spool": name, "Content-Length": "0"})
    return _context(event, told.body)


def hooked(machine: Machine, event: str, given: Json) -> str:
    """What the real hook of an event printed, as the client takes it."""
    ran = machine.hook(event, given)
    assert (ran.status, ran.err) == (0, b"")
    return _context(event, json.loads(ran.out)) if ran.out else ""


def hooked_in_time(machine: Machine, event: str, given: Json) -> str:
    """The same of whichever of some sessions was answered before its hook gave up: on a busy machine not each is."""
    sessions = (f"{given['session_id']}-{number}" for number in range(_MAX_TRIES))
    return next(filter(None, (hooked(machine, event, {**given, "session_id": one}) for one in sessions)), "")


def _context(event: str, reply: Json) -> str:
    told = reply["hookSpecificOutput"]
    assert told["hookEventName"] == event
    return str(told["additionalContext"])


def remember(machine: Machine, cwd: str, kind: str, text: str, **more: Json) -> str:
    """Have something remembered, ready to be found; returns its id."""
    kept = machine.post("/api/memories", {"kind": kind, "text": text, "cwd": cwd, **more})
    machine.drain()
    return str(kept["id"])


def now_name(event: str, ahead_s: float = 0.0) -> str:
    """A name as a hook makes it at this moment, or at one that is to come."""
    return spool_name(event, int((datetime.now(UTC).timestamp() + ahead_s) * 1e9))


def receipts(machine: Machine) -> list[Kept]:
    rows = query(
        machine.home.memory_db,
        "select spool_name, session, moment, tokens, budget, given_at from receipts order by created_at",
    )
    return [Kept(*row) for row in rows]


def items(machine: Machine) -> list[tuple[str, str]]:
    """The ids and sources of all that is on a receipt."""
    rows = query(machine.home.memory_db, "select source, layer from receipt_items order by receipt, position")
    return [(source, layer) for source, layer in rows]


def wait_until_given(machine: Machine, count: int) -> None:
    """Until so many receipts count as given."""
    wait_until(lambda: sum(1 for one in receipts(machine) if one.given_at) >= count, f"{count} receipts", WAIT_S)
