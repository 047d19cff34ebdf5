"""Session starts and prompts of recorded sessions in time, each answered by the product. One walk serves both.

All turns that ended before are imported by then, whichever session they are of. The worker's own function for the hook
answers a prompt, in this process, and the receipt counts as printed. The prompt itself is not stored: its turn is
imported after its end."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime

from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.evaluation.failures import RepeatedFailure, repeated_failures
from claude_mem_lite.evaluation.in_process_worker import noted_problems, served
from claude_mem_lite.evaluation.recording import EDITING_TOOLS, ListedSession
from claude_mem_lite.evaluation.session_walk import FIRST, SessionStart, Walk
from claude_mem_lite.evaluation.sightings import prompt_of
from claude_mem_lite.event_names import new_name
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.models import ReceiptItem
from claude_mem_lite.store import memories, receipts
from claude_mem_lite.store.index import passages
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.hook_request import LazyCheckoutView
from claude_mem_lite.worker.answers.prompt import EVENT, prompt_context
from claude_mem_lite.worker.answers.reply import mark_printed
from claude_mem_lite.worker.services import Services

_NEWEST = 5
# Texts of the client in place of a user's prompt.
_NOT_TYPED = ("<local-command", "<command-", "<task-notification>", "[Request interrupted", "<bash-")


@frozen
class AnswerItem:
    """Memory, passage or session summary that a prompt was given, and its session."""

    id: str
    session: str


@frozen
class Answer:
    """Items and tokens that a prompt was given."""

    items: tuple[AnswerItem, ...] = ()
    tokens: int = 0

    @property
    def sessions(self) -> tuple[str, ...]:
        return tuple(item.session for item in self.items)


@frozen
class PromptTrigger:
    """Prompt of a session at its time; `number` counts the prompts of the session from 0."""

    at: datetime
    place: int
    session: ListedSession
    turn: TranscriptTurn
    number: int

    @property
    def prompt(self) -> str:
        return prompt_of(self.turn)

    @property
    def has_edits(self) -> bool:
        return any(event.payload.get("tool_name") in EDITING_TOOLS for event in self.turn.events)


@frozen
class AnsweredPrompt:
    """Prompt with the answer of the product, and the failures of its turn whose fix was known."""

    trigger: PromptTrigger
    answer: Answer
    failures: tuple[RepeatedFailure, ...]


Observe = Callable[[Services, PromptTrigger, str], None]
"""Called with the prompt and the path of the checkout."""


def walk_in_time(walk: Walk, observe: Observe | None = None) -> Iterator[SessionStart | AnsweredPrompt]:
    """Yield starts and prompts from the eleventh session on; `observe` sees each prompt before its answer."""
    with noted_problems() as problems, served(walk.home, walk.clock) as services:
        walk.problems = problems.counts
        current = -1
        for at, place, trigger in sorted(_triggers(walk), key=_order):
            is_elsewhere, current = current != place, place
            if trigger is None:
                walk.begin(place)
                yield walk.start_of(services, walk.listed[place])
                continue
            if is_elsewhere:
                walk.check_out(place)
            walk.go_to(at)
            if observe is not None:
                observe(services, trigger, str(walk.root))
            yield _answered(services, walk, trigger)


def is_typed(text: str) -> bool:
    """Return whether a person typed a prompt, and not the client."""
    return bool(text.strip()) and not text.lstrip().startswith(_NOT_TYPED)


_Dated = tuple[datetime, int, PromptTrigger | None]


def _order(dated: _Dated) -> tuple[datetime, int, int]:
    at, place, trigger = dated
    return at, place, -1 if trigger is None else trigger.number


def _triggers(walk: Walk) -> Iterator[_Dated]:
    for place, session in enumerate(walk.listed):
        if place < FIRST:
            continue
        yield session.started_at, place, None
        typed = [turn for turn in walk.past[session.id].turns if is_typed(prompt_of(turn))]
        for number, turn in enumerate(typed):
            at = max(turn.began_at, session.started_at)
            yield at, place, PromptTrigger(at, place, session, turn, number)


def _answered(services: Services, walk: Walk, trigger: PromptTrigger) -> AnsweredPrompt:
    with closing(services.readers.open()) as db:
        location = find_location(str(walk.root))
        checkout = LazyCheckoutView(services, db, location)
        request = ContextRequest(location, trigger.at, trigger.session.id, checkout=checkout)
        failures = tuple(repeated_failures(db, walk.relocated(trigger.turn), request))
    return AnsweredPrompt(trigger, _answer(services, walk, trigger), failures)


def _answer(services: Services, walk: Walk, trigger: PromptTrigger) -> Answer:
    name = new_name(EVENT, trigger.at)
    payload = {
        "session_id": trigger.session.id,
        "transcript_path": str(walk.root / "t.jsonl"),
        "cwd": str(walk.root),
        "hook_event_name": EVENT,
        "prompt": trigger.prompt,
    }
    body = json.dumps(payload).encode()
    if not prompt_context(services, name, body):
        return Answer()
    mark_printed(services, name).result()
    with closing(services.readers.open()) as db:
        newest = receipts.newest(db, session=trigger.session.id, limit=_NEWEST)
        given = next((receipt for receipt in newest if receipt.spool_name == name), None)
        # A question to the agent about a lesson has no receipt.
        return Answer(answer_items(db, given.items), given.tokens) if given is not None else Answer()


def answer_items(db: sqlite3.Connection, items: Sequence[ReceiptItem]) -> tuple[AnswerItem, ...]:
    """Return the items of a receipt with their sessions; the summary of a session has the session's id."""
    found = ((item.source, memories.find(db, item.source) or passages.find(db, item.source)) for item in items)
    return tuple(AnswerItem(source, stored.session if stored else source) for source, stored in found)
