"""The API that imports come in by: which turns are there already, and taking in those that are not.

A turn comes whole, in one request, and goes the way of every event: through the inbox, without secrets and private
spans. The answer comes when it is worked on, so that whoever imports sends the next only when this one is stored."""

import json
import os
from collections.abc import Mapping
from contextlib import closing

from pydantic import AwareDatetime

from claude_mem_lite.compress.language.clean import without_own_blocks
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_file import load_config
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox.spool import Arrival, read_arrival
from claude_mem_lite.spool_names import is_past
from claude_mem_lite.store import memories, turns
from claude_mem_lite.worker.api import Running
from claude_mem_lite.worker.cleaning import without_private
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.routing import Body, Router

WORK_TIMEOUT_S = 600.0
_OWN_MARKS = (b"<claude-mem-lite>", b"--- memory (", b"--- the user's standing rules (")
router = Router(prefix="/api/import")


class TurnMark(Body):
    session: str
    name: str
    prompt_id: str
    began_at: AwareDatetime
    cwd: str


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
    """The turns that are there already, and those of folders of which nothing is kept."""
    config = load_config(loop.home.config, os.environ)
    _settle(loop)  # what hooks have just seen counts as there
    marks = [turns.PastTurnMark(turn.session, turn.name, turn.prompt_id, turn.began_at) for turn in asked.turns]
    with closing(open_for_reading(loop.home.memory_db)) as db:
        found = turns.known_turns(db, marks)
    excluded = [turn.name for turn in asked.turns if is_excluded(config, turn.cwd)]
    return {"known": sorted(found), "excluded": excluded}


@router.post("")
def take_in(given: Import, loop: Running) -> dict[str, int]:
    """Store turns; returns how many of them are there now, and how many memories were made of them."""
    config = load_config(loop.home.config, os.environ)
    arrivals = [arrival for turn in given.turns for event in turn.events if (arrival := _arrival(event, config))]
    before = _memories(loop, given)
    added = loop.call_queue(lambda queue: queue.add(arrivals, loop.clock().timestamp()))
    _settle(loop)
    added.result()
    with closing(open_for_reading(loop.home.memory_db)) as db:
        stored = turns.stored_turns(db, [turn.name for turn in given.turns])
    return {"turns": len(stored), "memories": _memories(loop, given) - before}


def _arrival(event: PastEvent, config: Config) -> Arrival | None:
    if not is_past(event.name):
        raise MemoryLiteError(f"{event.name!r} is not the name of an event of the past")
    raw = json.dumps(event.payload).encode()
    if any(mark in raw for mark in _OWN_MARKS):
        raw = json.dumps(_without_own_blocks(event.payload)).encode()
    return read_arrival(event.name, without_private(raw), lambda folder: is_excluded(config, folder))


def _without_own_blocks(value: object) -> object:
    """The payload without context that was given earlier: memory must not feed on itself."""
    if isinstance(value, str):
        return without_own_blocks(value)
    if isinstance(value, Mapping):
        return {key: _without_own_blocks(item) for key, item in value.items()}
    return [_without_own_blocks(item) for item in value] if isinstance(value, list) else value


def _memories(loop: Loop, given: Import) -> int:
    with closing(open_for_reading(loop.home.memory_db)) as db:
        return memories.count_in_sessions(db, sorted({turn.session for turn in given.turns}))


def _settle(loop: Loop) -> None:
    """Wait until everything is worked on that can be."""
    if not loop.settle(WORK_TIMEOUT_S):
        raise MemoryLiteError("the worker is busy or about to end", "run the import again to go on")
