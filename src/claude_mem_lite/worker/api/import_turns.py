"""The API that imports come in by: which turns are there already, and taking in those that are not.

A turn comes whole, in one request, and goes the way of every event: through the inbox, without secrets and private
spans. The answer comes when it is worked on, so that whoever imports sends the next only when this one is stored."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import cache, partial

from pydantic import AwareDatetime

from claude_mem_lite import pauses
from claude_mem_lite.compress.prose.clean import without_own_blocks
from claude_mem_lite.config import is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import is_past
from claude_mem_lite.inbox.spool import Arrival, read_arrival
from claude_mem_lite.safety.clean_import import without_private
from claude_mem_lite.store import lesson_candidates, memories, turns
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Running
from claude_mem_lite.worker.loop import Loop

WORK_TIMEOUT_S = 600.0
_OWN_MARKS = (b"<claude-mem-lite>", b"--- memory (", b"--- the user's standing rules (")
router = Router(prefix="/api/import")


class TurnMark(Body):
    session: str
    name: str
    end: str = ""
    """The key of the end of its session, when that comes with it and is stored by itself."""
    prompt_id: str
    began_at: AwareDatetime
    ended_at: AwareDatetime
    cwd: str
    folders: list[str]
    former_folders: list[str]
    """Where it was done, when it is imported as if it had been done elsewhere."""


class Known(Body):
    turns: list[TurnMark]


class PastEvent(Body):
    name: str
    payload: dict[str, object]


class PastTurn(Body):
    session: str
    name: str
    events: list[PastEvent]


class Import(Body):
    turns: list[PastTurn]


@router.post("/known")
def known(asked: Known, loop: Running) -> dict[str, list[str]]:
    """The turns that are there already, those of folders of which nothing is kept, and those of a time in which memory
    was off or their folder was excluded."""
    config = load_config(loop.home.config, os.environ)
    _settle(loop)  # what hooks have just seen counts as there
    marks = [
        turns.PastTurnMark(turn.session, turn.name, turn.prompt_id, turn.began_at, turn.end) for turn in asked.turns
    ]
    with closing(loop.readers.open()) as db:
        found = turns.known_turns(db, marks)
    excludes = cache(partial(is_excluded, config))
    excluded = [turn.name for turn in asked.turns if any(map(excludes, (turn.cwd, *turn.former_folders)))]
    return {"known": sorted(found), "excluded": excluded, **of_pauses(asked.turns, loop)}


@router.post("")
def take_in(given: Import, loop: Running) -> dict[str, int]:
    """Store turns; return how many of them are there now, how many memories were made of them, how many were retired
    or replaced by what the turns tell, and how many unsure lessons wait."""
    config = load_config(loop.home.config, os.environ)
    excludes = cache(partial(is_excluded, config))  # a turn's events share a folder; each look-up took 0.5 ms
    arrivals = [arrival for turn in given.turns for event in turn.events if (arrival := arrival_of(event, excludes))]
    before = _counts(loop, given)
    added = loop.call_queue(lambda queue: queue.add(arrivals, loop.clock().timestamp()))
    _settle(loop)
    added.result()
    with closing(loop.readers.open()) as db:
        stored = turns.stored_turns(db, [turn.name for turn in given.turns])
        unsure = lesson_candidates.count(db, None, lesson_candidates.OPEN)
    made, ended = (now - then for now, then in zip(_counts(loop, given), before, strict=True))
    return {"turns": len(stored), "memories": made, "ended": max(ended, 0), "unsure_lessons": unsure}


def of_pauses(marks: Sequence[TurnMark], loop: Loop) -> dict[str, list[str]]:
    """Return the names of turns that were done while memory was off, and while their folder was excluded."""
    periods = pauses.load(loop.home)
    by_cause: dict[str, list[str]] = {"off": [], "excluded_then": []}
    for turn in marks:
        began_ns, ended_ns = (int(at.timestamp() * 1e9) for at in (turn.began_at, turn.ended_at))
        pause = pauses.covering(periods, began_ns, ended_ns, [*turn.folders, *turn.former_folders])
        if pause is not None:
            by_cause["excluded_then" if pause.glob else "off"].append(turn.name)
    return by_cause


def arrival_of(event: PastEvent, excludes: Callable[[str], bool]) -> Arrival | None:
    """Return an event of a transcript as the inbox takes it: without secrets, private spans and injected context; None
    in an excluded folder."""
    if not is_past(event.name):
        raise MemoryLiteError(f"{event.name!r} is not the name of an event of the past")
    raw = json.dumps(event.payload).encode()
    if any(mark in raw for mark in _OWN_MARKS):
        raw = json.dumps(_without_own_blocks(event.payload)).encode()
    return read_arrival(event.name, without_private(raw), excludes)


def _without_own_blocks(value: object) -> object:
    """The payload without context that was given earlier: memory must not feed on itself."""
    if isinstance(value, str):
        return without_own_blocks(value)
    if isinstance(value, Mapping):
        return {key: _without_own_blocks(item) for key, item in value.items()}
    return [_without_own_blocks(item) for item in value] if isinstance(value, list) else value


def _counts(loop: Loop, given: Import) -> tuple[int, int]:
    """Return how many memories the sessions have made so far, and how many of all hold no longer."""
    with closing(loop.readers.open()) as db:
        made = memories.count_in_sessions(db, sorted({turn.session for turn in given.turns}))
        return made, memories.count_ended(db)


def _settle(loop: Loop) -> None:
    """Wait until everything is worked on that can be."""
    if not loop.settle(WORK_TIMEOUT_S):
        raise MemoryLiteError("the worker is busy or about to end", "run the import again to go on")
