"""Answer to a prompt: the few memories about it, or, mostly, nothing."""

import logging
import sqlite3
from collections.abc import Callable, Collection
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.context.prompt import lesson_question
from claude_mem_lite.context.prompt.builder import CandidateMemory, PromptContext, ScoreMemories, build_for_prompt
from claude_mem_lite.context.prompt.keywords import Synonyms, defaults, load
from claude_mem_lite.context.prompt.scoring import source_of
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import NEVER
from claude_mem_lite.errors import ConfigError
from claude_mem_lite.hook.kernel import ANSWER_WITHIN_S
from claude_mem_lite.models import Event, Location
from claude_mem_lite.paths import state_of
from claude_mem_lite.search.search_timeout import Params, Result, with_timeout
from claude_mem_lite.store import lesson_candidates
from claude_mem_lite.worker.answers.hook_request import HookRequest, find_raw, read_event, settings
from claude_mem_lite.worker.answers.in_flight import SessionInjections
from claude_mem_lite.worker.answers.reply import HookAnswer, ScoredCandidate, explain, reply_once
from claude_mem_lite.worker.services import Services

EVENT = "UserPromptSubmit"
# Search may have to load its index first. The rest of the time is for the steps after search.
_SHARE_OF_SEARCH = 0.7
_MAX_EXPLAINED = 5
log = logging.getLogger(__name__)


def prompt_context(services: Services, name: str, body: bytes) -> bytes | None:
    """Return the reply to a prompt, or None when no memory is worth injecting, or the hook waits no more."""
    request = HookRequest(services, name, ANSWER_WITHIN_S[EVENT])
    config = settings(services)
    if config is None or not config.prompt_budget_tokens or request.is_over():
        return None
    event = read_event(services, find_raw(services, name, body), name, (EVENT,), config)
    if event is None or not event.prompt:
        return None
    config, prompt = in_folder(config, event.cwd), event.prompt
    if not config.prompt_budget_tokens:
        return None

    def make(db: sqlite3.Connection, context_request: ContextRequest, known: SessionInjections) -> HookAnswer:
        budget = budget_of_prompt(config, known.tokens)
        built = build_now(services, db, prompt, context_request, known.ids, budget)
        if config.debug:
            best = built.candidates[:_MAX_EXPLAINED]
            explain(event, "prompt", [_scored(candidate) for candidate in best], built.why_silent)
        return HookAnswer(built.text, built.items, built.tokens, budget, built.build_ms)

    def ask(db: sqlite3.Connection, place: Location) -> str:
        return _question(services, db, request, event, config, place) if config.ask_agent else ""

    return reply_once(request, event, "prompt", make, ask)


def _question(
    services: Services, db: sqlite3.Connection, request: HookRequest, event: Event, config: Config, place: Location
) -> str:
    """Return the question about a candidate of the prompt, and record the question; mostly ''."""
    now = services.clock()
    if not services.questions.is_ready() or not services.questions.may_ask(db, event.session, now):
        return ""
    found = lesson_question.candidate_to_ask(db, event, place.project, config, services.likeness)
    if found is None or request.is_over() or not services.questions.claim(db, event.session, now):
        return ""
    candidate = lesson_question.asked(found, now)

    def write(db: sqlite3.Connection) -> None:
        with atomic(db):
            lesson_candidates.put(db, candidate)

    services.writes.execute_write(write, later=True)
    return lesson_question.question(candidate)


def budget_of_prompt(config: Config, used_tokens: int) -> int:
    """Return the tokens for one prompt: at most two thirds of the session's budget, and at most the rest of it."""
    whole = config.prompt_budget_tokens
    return max(min(whole * 2 // 3, whole - used_tokens), 0)


def build_now(
    services: Services,
    db: sqlite3.Connection,
    prompt: str,
    context_request: ContextRequest,
    already_given: Collection[str],
    budget_tokens: int,
) -> PromptContext:
    """Build the context of a prompt with search, within the deadline of the request."""
    weigh: ScoreMemories = services.search.score_memories
    ask: Search = services.search.search
    if context_request.deadline != NEVER:
        deadline = context_request.deadline.share(_SHARE_OF_SEARCH)
        weigh = _or_nothing(with_timeout(weigh, services.readers.open, deadline))
        ask = _or_nothing(with_timeout(ask, services.readers.open, deadline))
    return build_for_prompt(
        db, prompt, context_request, already_given, budget_tokens, synonyms_of(services), weigh, search=ask
    )


def _scored(candidate: CandidateMemory) -> ScoredCandidate:
    memory = candidate.memory
    return ScoredCandidate(memory.id, source_of(memory.kind), candidate.value, candidate.left_out)


def _or_nothing(search: Callable[Params, list[Result]]) -> Callable[Params, list[Result]]:
    """Return the search with an empty result in place of a timeout."""

    def asked(*given: Params.args, **named: Params.kwargs) -> list[Result]:
        try:
            return search(*given, **named)
        except TimeoutError:
            log.warning("search took too long for a prompt")
            return []

    return asked


def synonyms_of(services: Services) -> Synonyms:
    """Return the synonyms in force, read again when the file changed."""
    path = services.home.synonyms
    return _synonyms(path, state_of(path))


@lru_cache(maxsize=2)
def _synonyms(path: Path, state: tuple[int, int, int] | None) -> Synonyms:  # noqa: ARG001  the key is what counts
    try:
        return load(path)
    except ConfigError as error:
        log.error("the synonyms cannot be read; those of the package hold", extra={"why": str(error)})
        return defaults()
