"""Every prompt that was typed in recorded sessions, in the order of time, asked of the product at its moment.

All that ended before is imported by then, whichever session it was of; the start hook of the session is answered first.
The answer to a prompt is made by the worker's own function for its hook, in this process, and printed as far as the
worker knows. The prompt is not stored as an event: its turn is imported when it is over. What other floors would have
given is built from the same memories by the product's own rules, each floor with a memory of its own of what a session
was given, so that nothing is given twice at any of them."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime

from benchmarks.injection_walk import FIRST, Listed, Walk
from benchmarks.injection_worker import hook_name, served, unhurried
from benchmarks.prompts_plain import plain_choice
from benchmarks.sightings import prompt_of
from benchmarks.transcripts import EDITING_TOOLS, is_typed
from claude_mem_lite.client.client import Client
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.prompt.builder import PromptContext, ScoreMemories, build_for_prompt
from claude_mem_lite.context.prompt.scoring import FLOOR
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.models import ReceiptItem
from claude_mem_lite.search_values import Filters, ScoredMemory
from claude_mem_lite.store import memories, receipts
from claude_mem_lite.store.index import passages
from claude_mem_lite.worker.answers.hook_request import LazyCheckoutView
from claude_mem_lite.worker.answers.prompt import EVENT, budget_of_prompt, prompt_context, synonyms_of
from claude_mem_lite.worker.answers.reply import mark_printed
from claude_mem_lite.worker.services import Services

FLOORS = tuple(sorted({0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0, 3.3, 3.6, 4.0, 4.5, 5.0, FLOOR}))
_DRAIN_S = 600.0
_NEWEST = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What a prompt was given: the session that each item is of, and the tokens of all."""

    sessions: tuple[str, ...] = ()
    tokens: int = 0


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt at its moment."""

    session: Listed
    place: int
    """Of its session in the order of time."""
    number: int
    """In its session, from 0."""
    text: str
    has_edits: bool
    """Whether the turn that followed changed a file."""
    known: int
    """How many memories there were."""
    product: Answer
    at_floors: tuple[Answer, ...]
    """Parallel to FLOORS."""
    plain: Answer
    """By the plain formula alone."""
    build_ms: float


@dataclass(slots=True)
class _Told:
    """The ids that a session was given, by each way to choose."""

    at_start: frozenset[str]
    at_floors: list[set[str]] = field(default_factory=lambda: [set() for _ in FLOORS])
    plain: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Moment:
    at: datetime
    place: int
    turn: TranscriptTurn | None
    """None when the session begins."""
    number: int = 0


def asked_in_time(walk: Walk) -> Iterator[Asked]:
    """All prompts from the eleventh session on."""
    told: dict[str, _Told] = {}
    moments = sorted(_moments(walk), key=lambda one: (one.at, one.place, one.number))
    with served(walk.home, walk.clock) as loop:
        here = -1
        for moment in moments:
            session = walk.listed[moment.place]
            is_elsewhere, here = here != moment.place, moment.place
            if moment.turn is None:
                walk.begin(moment.place)
                walk.start(session)
                Client(walk.home).drain(_DRAIN_S)
                told[session.id] = _Told(_given_to(loop, session.id))
                continue
            if is_elsewhere:
                walk.check_out(moment.place)
            walk.go_to(moment.at)
            yield _Asking(loop, walk, moment, told[session.id]).asked()


def _moments(walk: Walk) -> Iterator[_Moment]:
    for place, session in enumerate(walk.listed):
        if place < FIRST:
            continue
        yield _Moment(session.started_at, place, None, -1)
        typed = [turn for turn in walk.past[session.id].turns if is_typed(prompt_of(turn))]
        for number, turn in enumerate(typed):
            yield _Moment(max(turn.began_at, session.started_at), place, turn, number)


def _given_to(loop: Services, session: str) -> frozenset[str]:
    with closing(open_for_reading(loop.home.memory_db)) as db:
        return frozenset(loop.in_flight.known(db, session).ids)


class _Asking:
    """One prompt, in every way."""

    def __init__(self, loop: Services, walk: Walk, moment: _Moment, told: _Told) -> None:
        assert moment.turn is not None
        self._loop = loop
        self._walk = walk
        self._moment = moment
        self._turn = moment.turn
        self._told = told
        self._session = walk.listed[moment.place]
        self._prompt = prompt_of(moment.turn)

    def asked(self) -> Asked:
        with closing(open_for_reading(self._loop.home.memory_db)) as db:
            place = find_location(str(self._walk.root))
            checkout = LazyCheckoutView(self._loop, db, place)
            request = ContextRequest(place, self._moment.at, self._session.id, checkout=checkout)
            weigh = _remembering(self._loop.search.score_memories)
            built = [self._at_floor(db, request, weigh, *one) for one in zip(FLOORS, self._told.at_floors, strict=True)]
            told = self._told.plain | self._told.at_start
            plain = plain_choice(db, self._prompt, request, told, synonyms_of(self._loop))
            self._told.plain |= {one.id for one in plain}
            return Asked(
                session=self._session,
                place=self._moment.place,
                number=self._moment.number,
                text=self._prompt,
                has_edits=any(event.payload.get("tool_name") in EDITING_TOOLS for event in self._turn.events),
                known=memories.count(db),
                product=self._product(db),
                at_floors=tuple(Answer(_sessions(db, one.items), one.tokens) for one in built),
                plain=Answer(tuple(one.session for one in plain)),
                build_ms=built[0].build_ms,
            )

    def _at_floor(
        self, db: sqlite3.Connection, request: ContextRequest, weigh: ScoreMemories, floor: float, told: set[str]
    ) -> PromptContext:
        budget = budget_of_prompt(self._loop.settings.config, 0)
        known = told | self._told.at_start
        ask = self._loop.search.search
        built = build_for_prompt(db, self._prompt, request, known, budget, synonyms_of(self._loop), weigh, floor, ask)
        told |= {item.source for item in built.items}
        return built

    def _product(self, db: sqlite3.Connection) -> Answer:
        name = hook_name(EVENT, self._moment.at)
        payload = {
            "session_id": self._session.id,
            "transcript_path": str(self._walk.root / "t.jsonl"),
            "cwd": str(self._walk.root),
            "hook_event_name": EVENT,
            "prompt": self._prompt,
        }
        body = json.dumps(payload).encode()
        reply = unhurried(lambda: prompt_context(self._loop, name, body))
        if not reply:
            return Answer()
        mark_printed(self._loop, name)
        Client(self._loop.home).drain(_DRAIN_S)
        (given,) = (
            one for one in receipts.newest(db, session=self._session.id, limit=_NEWEST) if one.spool_name == name
        )
        return Answer(_sessions(db, given.items), given.tokens)


def _remembering(weigh: ScoreMemories) -> ScoreMemories:
    """The same search, done once: every floor asks for the same."""
    found: list[list[ScoredMemory]] = []

    def asked(
        db: sqlite3.Connection, query: str, words: Sequence[str], filters: Filters, limit: int
    ) -> list[ScoredMemory]:
        if not found:
            found.append(weigh(db, query, words, filters, limit))
        return found[0]

    return asked


def _sessions(db: sqlite3.Connection, items: Sequence[ReceiptItem]) -> tuple[str, ...]:
    """The session that each item is of; the summary of a session has its id."""
    found = ((item.source, memories.find(db, item.source) or passages.find(db, item.source)) for item in items)
    return tuple(one.session if one else source for source, one in found)
