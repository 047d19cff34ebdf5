"""API of imports of turns: sort past turns, and store the unknown ones.

A request has whole turns. They go through the inbox like every event, without secrets and private passages. The
response comes when they are stored, so that an importer sends the next request after that."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import cache, partial
from typing import NamedTuple, cast

from pydantic import AwareDatetime

from claude_mem_lite import pauses
from claude_mem_lite.config import is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import is_past
from claude_mem_lite.inbox.past_arrival import past_arrival
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.imports import ImportedTurns, PastTurns
from claude_mem_lite.store import lesson_candidates, memories, turns
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.worker.api.routing import Body, Router, Running
from claude_mem_lite.worker.services import Services

WORK_TIMEOUT_S = 600.0
router = Router(prefix="/api/import")


class TurnMark(Body):
    session: str
    name: str
    end: str = ""
    """Key of the end of the session, when the end comes with the turn and is stored as an event of its own."""
    prompt_id: str
    began_at: AwareDatetime
    ended_at: AwareDatetime
    cwd: str
    folders: list[str]
    former_folders: list[str]
    """Original folders, when the turn is imported as work in other folders."""


class Known(Body):
    turns: list[TurnMark]


class PastEvent(Body):
    name: str
    payload: dict[str, object]

    def arrival(self, excludes: Callable[[str], bool]) -> Arrival | None:
        """Return the row of the inbox; None in an excluded folder."""
        return past_arrival(self.name, cast("JsonObject", self.payload), excludes)


class PastRow(Body):
    """Event that the importing command has read, without secrets and private passages."""

    name: str
    event: str
    session: str
    payload: str
    raw_bytes: int
    problem: str
    duplicate_within_s: float
    folder: str

    def arrival(self, excludes: Callable[[str], bool]) -> Arrival | None:
        """Return the row of the inbox; None in an excluded folder."""
        if not is_past(self.name):
            raise MemoryLiteError(f"{self.name!r} is not the name of an event of the past")
        if excludes(self.folder):
            return None
        fields = self.model_dump(exclude={"folder"})
        return Arrival(**fields)


class PastDigest(Body):
    """Digest that the importing command has made, and the key of the turn's content."""

    key: str
    digest: TurnDigest


class PastTurn(Body):
    session: str
    name: str
    events: list[PastEvent | PastRow]
    made_digest: PastDigest | None = None


class Import(Body):
    turns: list[PastTurn]


class PausedTurns(NamedTuple):
    """Names of turns while memory was off, and while their folder was excluded."""

    off: tuple[str, ...]
    excluded_then: tuple[str, ...]


@router.post("/known")
def known(asked: Known, services: Running) -> PastTurns:
    """Return the names of stored turns, of turns in excluded folders, and of turns during a pause."""
    config = load_config(services.home.config, os.environ)
    _wait_until_idle(services)  # turns that hooks have just reported count as known
    marks = [
        turns.PastTurnMark(turn.session, turn.name, turn.prompt_id, turn.began_at, turn.end) for turn in asked.turns
    ]
    with closing(services.readers.open()) as db:
        found = turns.known_turns(db, marks)
    excludes = cache(partial(is_excluded, config))
    excluded = [turn.name for turn in asked.turns if any(map(excludes, (turn.cwd, *turn.former_folders)))]
    paused = of_pauses(asked.turns, services)
    return PastTurns(tuple(sorted(found)), tuple(excluded), paused.off, paused.excluded_then)


@router.post("")
def take_in(given: Import, services: Running) -> ImportedTurns:
    """Store turns and wait until their memories are made."""
    config = load_config(services.home.config, os.environ)
    excludes = cache(partial(is_excluded, config))  # a turn's events share a folder; each look-up took 0.5 ms
    arrivals = [arrival for turn in given.turns for event in turn.events if (arrival := event.arrival(excludes))]
    before = _counts(services, given)
    _store(services, given, arrivals)
    with closing(services.readers.open()) as db:
        stored = turns.stored_turns(db, [turn.name for turn in given.turns])
        unsure = lesson_candidates.count(db, None, lesson_candidates.OPEN)
    made, ended = (now - then for now, then in zip(_counts(services, given), before, strict=True))
    return ImportedTurns(turns=len(stored), memories=made, ended=max(ended, 0), unsure_lessons=unsure)


def _store(services: Services, given: Import, arrivals: Sequence[Arrival]) -> None:
    """Store events with their digests, and wait until the inbox is idle."""
    with services.turn_notes.with_digests(
        {turn.made_digest.key: turn.made_digest.digest for turn in given.turns if turn.made_digest is not None}
    ):
        added = services.writes.execute_queue_write(lambda queue: queue.add(arrivals, services.clock().timestamp()))
        _wait_until_idle(services)
        added.result()


def of_pauses(marks: Sequence[TurnMark], services: Services) -> PausedTurns:
    """Return the names of the turns during a pause."""
    periods = pauses.load(services.home)
    off: list[str] = []
    excluded_then: list[str] = []
    for turn in marks:
        began_ns, ended_ns = (int(at.timestamp() * 1e9) for at in (turn.began_at, turn.ended_at))
        pause = pauses.covering(periods, began_ns, ended_ns, [*turn.folders, *turn.former_folders])
        if pause is not None:
            (excluded_then if pause.glob else off).append(turn.name)
    return PausedTurns(tuple(off), tuple(excluded_then))


def _counts(services: Services, given: Import) -> tuple[int, int]:
    """Return the number of memories that the sessions made, and the number of all retired or replaced memories."""
    with closing(services.readers.open()) as db:
        made = memories.count_in_sessions(db, sorted({turn.session for turn in given.turns}))
        return made, memories.count_ended(db)


def _wait_until_idle(services: Services) -> None:
    """Wait until the inbox is idle."""
    if not services.passes.wait_until_idle(WORK_TIMEOUT_S):
        raise MemoryLiteError("the worker is busy or about to end", "run the import again to go on")
