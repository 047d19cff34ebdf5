"""Model calls on demand: the summary of a session, and a small question that probes the provider. For the job thread
alone."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from claude_mem_lite.compress.model.turn_answer import TurnAnswer
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import ModelError, ModelUnavailable, NotFound
from claude_mem_lite.models import JsonObject, Session, SessionSummary
from claude_mem_lite.providers import CallLimits, Provider, Usage
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.models import spend_caps
from claude_mem_lite.worker.models.call_pool import CallPool, Result

if TYPE_CHECKING:
    from claude_mem_lite.responses.status import ModelTrial

_SYSTEM = "You are asked only to see whether you can be reached."
_QUESTION = 'Answer with {"answer": "ok"}.'
_FORM: JsonObject = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
# Some models write reasoning before the answer; a truncated answer would look like a failure.
_MAX_TOKENS = 256
_SESSION = "doctor"
"""Session of probes, for the caps of a session."""


@frozen
class SummaryResult:
    """Summary of a session; `reason` says why a configured model did not write the summary."""

    summary: SessionSummary
    made_by: str = "rules"
    usage: Usage = Usage()
    reason: str = ""


class SummaryRequests:
    """Summaries under way; `note_answer` is called with the project of each summary that a model wrote."""

    def __init__(
        self, memory_db: sqlite3.Connection, calls: CallPool, clock: Clock, note_answer: Callable[[str], None]
    ) -> None:
        self._db = memory_db
        self._calls = calls
        self._clock = clock
        self._note_answer = note_answer

    def find(self, session: str) -> Session:
        found = sessions.find(self._db, session)
        if found is None:
            raise NotFound(f"there is no session {session}", "`claude-mem-lite sessions` shows them")
        return found

    def ask(self, session: Session, provider: Provider, config: Config) -> Future[SummaryResult]:
        """Ask the model within the caps; the summary is stored, unless the session has gone on meanwhile."""
        # Late: see `worker/loading.py`.
        from claude_mem_lite.compress.model.request import MAX_SUMMARY_TOKENS, load
        from claude_mem_lite.knowledge import turn_rewrite

        future: Future[SummaryResult] = Future()
        material = turn_rewrite.material_of(self._db, session)
        sent = load("session").text + material
        max_usage = spend_caps.max_usage_of(provider.name, config, sent, MAX_SUMMARY_TOKENS)
        reached = spend_caps.reached(self._db, config, session.id, max_usage, self._clock())
        if reached or is_excluded(config, session.cwd):
            reason = reached.reason if reached else "its folder is excluded"
            future.set_result(SummaryResult(session.summary, reason=reason))
            return future
        latest = turns.latest_turn(self._db, session.id)
        self._calls.start(
            partial(_ask, provider, material),
            partial(self._note, session.id, latest, provider.name, future),
            turn="",
            session=session.id,
            made_by=provider.name,
            purpose="summary",
            max_usage=max_usage,
            sent=sent,
            timeout_s=provider.limits.timeout_s,
        )
        return future

    def give_up(self, reason: str) -> None:
        """Answer all requests with the stored summaries, and ignore later answers of the model."""
        for call in self._calls.under_way():
            if call.purpose == "summary":
                call.note(ModelUnavailable(reason, "ask again"))
                self._calls.release(call)

    def _note(self, session: str, latest: str, made_by: str, future: Future[SummaryResult], result: Result) -> None:
        from claude_mem_lite.knowledge import turn_rewrite

        try:
            found = self.find(session)
        except NotFound as error:
            future.set_exception(error)
            return
        if isinstance(result, ModelError) or result.summary is None:
            reason = result.message if isinstance(result, ModelError) else "the model's answer held no summary"
            future.set_result(SummaryResult(found.summary, reason=reason))
            return
        with atomic(self._db):
            turn_rewrite.retell_session(self._db, session, latest, result.summary, self._clock())
        self._note_answer(found.project)
        future.set_result(SummaryResult(turn_rewrite.over(found.summary, result.summary), made_by, result.usage))


def _ask(provider: Provider, material: str) -> TurnAnswer:
    from claude_mem_lite.compress.model.request import ask_summary

    summary, usage, version = ask_summary(provider, material)
    return TurnAnswer((), summary, usage, version)


def probe_provider(
    provider: Provider | None, config: Config | None, calls: CallPool, db: sqlite3.Connection, clock: Clock
) -> "Future[ModelTrial]":
    """Ask within the caps, counted like every call. Any answer is a success."""
    from claude_mem_lite.responses.status import ModelTrial

    future: Future[ModelTrial] = Future()
    if provider is None or config is None:
        future.set_result(ModelTrial("rules", "no model is configured", "set provider in config.toml"))
        return future
    sent = _SYSTEM + _QUESTION
    max_usage = spend_caps.max_usage_of(provider.name, config, sent, _MAX_TOKENS)
    if reached := spend_caps.reached(db, config, _SESSION, max_usage, clock()):
        future.set_result(ModelTrial(provider.name, reached.reason, "raise it in config.toml"))
        return future
    calls.start(
        partial(_ask_once, provider),
        partial(_note, provider.name, time.monotonic(), future),
        turn="",
        session=_SESSION,
        made_by=provider.name,
        purpose="summary",
        max_usage=max_usage,
        sent=sent,
        timeout_s=CallLimits().timeout_s,  # a caller waits
    )
    return future


def _ask_once(provider: Provider) -> TurnAnswer:
    done = provider.complete(_SYSTEM, _QUESTION, _FORM, _MAX_TOKENS)
    return TurnAnswer((), None, done.usage, "")


def _note(made_by: str, began: float, future: "Future[ModelTrial]", result: Result) -> None:
    from claude_mem_lite.responses.status import ModelTrial

    ms = round((time.monotonic() - began) * 1000, 1)
    tokens = result.usage.tokens_in + result.usage.tokens_out
    if isinstance(result, ModelError):
        future.set_result(ModelTrial(made_by, result.message, result.next_step, ms, tokens))
    else:
        future.set_result(ModelTrial(made_by, ms=ms, tokens=tokens))
