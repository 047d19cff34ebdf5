"""Every prompt that was typed in recorded sessions, in the order of time, asked of the product at its moment.

The walk is the package's own (evaluation/trigger_walk.py). What other floors would have given is built from the same
memories by the product's own rules, each floor with a memory of its own of what a session was given, so that nothing is
given twice at any of them."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

from benchmarks.prompts_plain import plain_choice
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.prompt.builder import PromptContext, ScoreMemories, build_for_prompt
from claude_mem_lite.context.prompt.scoring import FLOOR
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.evaluation.recording import ListedSession
from claude_mem_lite.evaluation.trigger_walk import (
    Answer,
    AnsweredPrompt,
    AnswerItem,
    PromptTrigger,
    answer_items,
)
from claude_mem_lite.search_values import Filters, ScoredMemory
from claude_mem_lite.store import memories
from claude_mem_lite.worker.answers.hook_request import LazyCheckoutView
from claude_mem_lite.worker.answers.prompt import budget_of_prompt, synonyms_of
from claude_mem_lite.worker.services import Services

FLOORS = tuple(sorted({0.9, 1.2, 1.5, 1.8, 2.1, 2.4, 2.7, 3.0, 3.3, 3.6, 4.0, 4.5, 5.0, FLOOR}))


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt at its moment."""

    session: ListedSession
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


@dataclass(frozen=True, slots=True)
class _Others:
    """What a prompt would have been given otherwise."""

    known: int
    at_floors: tuple[Answer, ...]
    plain: Answer
    build_ms: float


@dataclass(slots=True)
class _Given:
    """The ids that a session was given, by each way to choose."""

    at_start: frozenset[str]
    at_floors: list[set[str]] = field(default_factory=lambda: [set() for _ in FLOORS])
    plain: set[str] = field(default_factory=set)


class Observer:
    """Builds for each prompt what other floors and the plain formula would have given."""

    def __init__(self) -> None:
        self._given: dict[str, _Given] = {}
        self._others: list[_Others] = []

    def asked(self, prompts: Sequence[AnsweredPrompt]) -> list[Asked]:
        """The prompts of the walk that was observed."""
        return [
            Asked(
                session=answered.trigger.session,
                place=answered.trigger.place,
                number=answered.trigger.number,
                text=answered.trigger.prompt,
                has_edits=answered.trigger.has_edits,
                known=others.known,
                product=answered.answer,
                at_floors=others.at_floors,
                plain=others.plain,
                build_ms=others.build_ms,
            )
            for answered, others in zip(prompts, self._others, strict=True)
        ]

    def __call__(self, services: Services, trigger: PromptTrigger, root: str) -> None:
        with closing(services.readers.open()) as db:
            session = trigger.session.id
            if session not in self._given:
                self._given[session] = _Given(frozenset(services.in_flight.known(db, session).ids))
            self._others.append(self._built(services, db, trigger, self._given[session], root))

    def _built(
        self, services: Services, db: sqlite3.Connection, trigger: PromptTrigger, given: _Given, root: str
    ) -> _Others:
        place = find_location(root)
        checkout = LazyCheckoutView(services, db, place)
        request = ContextRequest(place, trigger.at, trigger.session.id, checkout=checkout)
        weigh = _remembering(services.search.score_memories)
        floors = [
            _at_floor(services, db, trigger.prompt, request, weigh, floor, ids, given.at_start)
            for floor, ids in zip(FLOORS, given.at_floors, strict=True)
        ]
        plain = plain_choice(db, trigger.prompt, request, given.plain | given.at_start, synonyms_of(services))
        given.plain |= {memory.id for memory in plain}
        return _Others(
            known=memories.count(db),
            at_floors=tuple(Answer(answer_items(db, built.items), built.tokens) for built in floors),
            plain=Answer(tuple(AnswerItem(memory.id, memory.session) for memory in plain)),
            build_ms=floors[0].build_ms,
        )


def _at_floor(
    services: Services,
    db: sqlite3.Connection,
    prompt: str,
    request: ContextRequest,
    weigh: ScoreMemories,
    floor: float,
    given: set[str],
    at_start: frozenset[str],
) -> PromptContext:
    budget = budget_of_prompt(services.settings.config, 0)
    ask = services.search.search
    built = build_for_prompt(db, prompt, request, given | at_start, budget, synonyms_of(services), weigh, floor, ask)
    given |= {item.source for item in built.items}
    return built


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
