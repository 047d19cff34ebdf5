"""What a prompt is answered: the few memories that it is about, or nothing, which is the usual answer."""

import logging
import sqlite3
import time
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.context.prompt import lesson_question
from claude_mem_lite.context.prompt.answers import Ask
from claude_mem_lite.context.prompt.builder import PromptContext, Weigh, build_for_prompt
from claude_mem_lite.context.prompt.candidates import Candidate
from claude_mem_lite.context.prompt.keywords import Synonyms, defaults, load
from claude_mem_lite.context.prompt.scoring import source_of
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.models import Event, Place
from claude_mem_lite.paths import state_of
from claude_mem_lite.search.search_timeout import Params, Result, with_timeout
from claude_mem_lite.store import lesson_candidates
from claude_mem_lite.worker.answers.hook_request import Waiting, find_raw, read_event, settings
from claude_mem_lite.worker.answers.in_flight import Known
from claude_mem_lite.worker.answers.reply import Made, Weighing, explain, give
from claude_mem_lite.worker.loop import Loop

EVENT = "UserPromptSubmit"
# What search needs may have to be loaded first. What is left is for all that follows it.
_SHARE_OF_SEARCH = 0.7
_MAX_EXPLAINED = 5
log = logging.getLogger(__name__)


def prompt_context(loop: Loop, name: str, body: bytes) -> bytes | None:
    """The reply to a prompt, or None when there is nothing worth saying, or nobody waits any more."""
    waiting = Waiting(loop, name, ANSWER_WITHIN_S[EVENT])
    config = settings(loop)
    if config is None or not config.prompt_budget_tokens or waiting.is_over():
        return None
    event = read_event(loop, find_raw(loop, name, body), name, (EVENT,), config)
    if event is None or not event.prompt:
        return None
    config, prompt = in_folder(config, event.cwd), event.prompt
    if not config.prompt_budget_tokens:
        return None

    def make(db: sqlite3.Connection, occasion: Occasion, known: Known) -> Made:
        budget = budget_of_prompt(config, known.tokens)
        built = build_now(loop, db, prompt, occasion, known.ids, budget)
        if config.debug:
            best = built.candidates[:_MAX_EXPLAINED]
            explain(event, "prompt", [_weighing(one) for one in best], built.why_silent)
        return Made(built.text, built.items, built.tokens, budget, built.build_ms)

    def ask(db: sqlite3.Connection, place: Place) -> str:
        return _question(loop, db, waiting, event, config, place) if config.ask_agent else ""

    return give(waiting, event, "prompt", make, ask)


def _question(loop: Loop, db: sqlite3.Connection, waiting: Waiting, event: Event, config: Config, place: Place) -> str:
    """Return the question about a candidate of the prompt, and note that it was asked; '' mostly."""
    now = loop.clock()
    if not loop.questions.is_ready() or not loop.questions.may_ask(db, event.session, now):
        return ""
    found = lesson_question.candidate_to_ask(db, event, place.project, config, loop.likeness)
    if found is None or waiting.is_over() or not loop.questions.claim(db, event.session, now):
        return ""
    candidate = lesson_question.asked(found, now)

    def write(db: sqlite3.Connection) -> None:
        with atomic(db):
            lesson_candidates.put(db, candidate)

    loop.call(write, later=True)
    return lesson_question.question(candidate)


def budget_of_prompt(config: Config, used_tokens: int) -> int:
    """What one prompt may be given: two thirds of what a session has for all of them, and no more than is left."""
    whole = config.prompt_budget_tokens
    return max(min(whole * 2 // 3, whole - used_tokens), 0)


def build_now(
    loop: Loop, db: sqlite3.Connection, prompt: str, occasion: Occasion, told: Collection[str], budget_tokens: int
) -> PromptContext:
    """What a prompt is given with all that the worker knows, within the patience of who waits."""
    weigh: Weigh = loop.search.score_memories
    ask: Ask = loop.search.search
    if occasion.until is not None:
        now = time.monotonic()
        until = now + _SHARE_OF_SEARCH * (occasion.until - now)
        weigh = _or_nothing(with_timeout(weigh, loop.readers.open, until))
        ask = _or_nothing(with_timeout(ask, loop.readers.open, until))
    return build_for_prompt(db, prompt, occasion, told, budget_tokens, synonyms_of(loop), weigh, ask=ask)


def _weighing(one: Candidate) -> Weighing:
    return Weighing(one.memory.id, source_of(one.memory.kind), one.value, one.left_out)


def _or_nothing(search: Callable[Params, list[Result]]) -> Callable[Params, list[Result]]:
    """The same search, which finds nothing when it took too long."""

    def asked(*given: Params.args, **named: Params.kwargs) -> list[Result]:
        try:
            return search(*given, **named)
        except TimeoutError:
            log.warning("search took too long for a prompt")
            return []

    return asked


def synonyms_of(loop: Loop) -> Synonyms:
    """The synonyms in force, read anew when their file changed."""
    path = loop.home.synonyms
    return _synonyms(path, state_of(path))


@lru_cache(maxsize=2)
def _synonyms(path: Path, state: tuple[int, int, int] | None) -> Synonyms:  # noqa: ARG001  the key is what counts
    try:
        return load(path)
    except ConfigError as error:
        log.error("the synonyms cannot be read; those of the package hold", extra={"why": str(error)})
        return defaults()
