"""Whether what was given for a failing command helped: the command passed later in the session, or it did not.

Called by `outcomes` when a session is over, in the job thread."""

import sqlite3
from collections.abc import Sequence
from itertools import islice

from claude_mem_lite.agents.claude_code import event_from_payload
from claude_mem_lite.compress.toolcalls.steps import Called, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.compress.toolcalls.verification import verifies
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import HookMoment, Memory, Outcome
from claude_mem_lite.store import memories, sightings
from claude_mem_lite.store.index import fts
from claude_mem_lite.store.receipts import Giving

MOMENT: HookMoment = "failure"
_MOST_CALLS = 500
_MOST_FIXES = 40


def judge(db: sqlite3.Connection, queue: Queue, session: str, givings: Sequence[Giving]) -> dict[Giving, Outcome]:
    """What came of the items that were given for failures; those of which nothing can be told any more are left out."""
    outcomes: dict[Giving, Outcome] = {}
    later: dict[str, Outcome | None] = {}
    for giving in givings:
        memory = memories.find(db, giving.source)
        if giving.moment != MOMENT or memory is None:
            continue
        if giving.receipt not in later:
            later[giving.receipt] = _became_of(queue, session, giving.receipt)
        outcome: Outcome | None = "used" if _is_fixed_in(db, memory, session) else later[giving.receipt]
        if outcome:
            outcomes[giving] = outcome
    return outcomes


def _is_fixed_in(db: sqlite3.Connection, memory: Memory, session: str) -> bool:
    """Whether the session has a fix of its own of the same error: one is stored only when the command passed."""
    errors = [anchor for anchor in memory.anchors if anchor.startswith("error:")]
    rows = fts.tied_to(db, errors, memory.project, _MOST_FIXES)
    fixes = [one.id for one in memories.by_seq(db, rows).values() if one.kind == "bugfix"]
    return any(seen == session for _, seen, _ in sightings.seen_in(db, fixes))


def _became_of(queue: Queue, session: str, failed: str) -> Outcome | None:
    """Whether the call that failed in an event went well later; None when the event is not kept any more."""
    calls = event_history.calls_from(queue.db, session, failed, _MOST_CALLS)
    first = next((step for row in islice(calls, 1) for step in _steps(row) if _has_failed(step)), None)
    if first is None:
        return None
    later = (step for row in calls for step in _steps(row))
    return "used" if any(_puts_right(step, first) for step in later) else "ignored"


def _steps(row: Row) -> list[Step]:
    try:
        return read_steps(event_from_payload(row.name, row.told()))
    except PayloadError:
        return []


def _has_failed(step: Step) -> bool:
    return (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and bool(step.error))


def _puts_right(step: Step, failure: Step) -> bool:
    """Return whether a step shows that a failure is gone: as a fix is found in a turn."""
    if isinstance(failure, Ran) and isinstance(step, Ran):
        return verifies(step, failure)
    return isinstance(failure, Called) and isinstance(step, Called) and step.tool == failure.tool and not step.error
