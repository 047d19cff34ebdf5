"""A session's summary on demand: one call to the model, or the summary as it stands. Runs in the job thread.

One small question to the model, because somebody wants to know whether it answers. Runs in the job thread."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from claude_mem_lite.compress.model.request import MAX_SUMMARY_TOKENS, Told, ask_summary, load
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import ModelError, ModelUnavailable, NotFound
from claude_mem_lite.knowledge import model_rewrite, turn_replacement
from claude_mem_lite.models import CallLimits, JsonObject, Provider, Session, SessionSummary, Usage
from claude_mem_lite.store import sessions, turns
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.models import limits
from claude_mem_lite.worker.models.call_pool import Calls, Result


@dataclass(frozen=True, slots=True)
class Summarized:
    """A session's summary; `reason` says why no model made it although one is configured."""

    summary: SessionSummary
    made_by: str = "rules"
    usage: Usage = Usage()  # noqa: RUF009  frozen
    reason: str = ""


class Summarizing:
    """Summaries under way; `note_told` hears the project of each that a model made."""

    def __init__(
        self, memory_db: sqlite3.Connection, calls: Calls, clock: Clock, note_told: Callable[[str], None]
    ) -> None:
        self._db = memory_db
        self._calls = calls
        self._clock = clock
        self._note_told = note_told

    def find(self, session: str) -> Session:
        found = sessions.find(self._db, session)
        if found is None:
            raise NotFound(f"there is no session {session}", "`claude-mem-lite sessions` shows them")
        return found

    def ask(self, session: Session, provider: Provider, config: Config) -> Future[Summarized]:
        """Ask the model within the caps; what it tells is stored, unless the session has gone on by then."""
        future: Future[Summarized] = Future()
        material = model_rewrite.material_of(self._db, session)
        sent = load("session").text + material
        most = limits.most_of(provider.name, config, sent, MAX_SUMMARY_TOKENS)
        reached = limits.reached(self._db, config, session.id, most, self._clock())
        if reached or is_excluded(config, session.cwd):
            reason = reached.reason if reached else "its folder is excluded"
            future.set_result(Summarized(session.summary, reason=reason))
            return future
        latest = turns.latest_turn(self._db, session.id)
        self._calls.start(
            partial(_ask, provider, material),
            partial(self._note, session.id, latest, provider.name, future),
            turn="",
            session=session.id,
            made_by=provider.name,
            purpose="summary",
            most=most,
            sent=sent,
            timeout_s=provider.limits.timeout_s,
        )
        return future

    def give_up(self, reason: str) -> None:
        """Answer with the summaries as they stand; what a model says to them later is not heard."""
        for call in self._calls.under_way():
            if call.purpose == "summary":
                call.note(ModelUnavailable(reason, "ask again"))
                self._calls.let_go(call)

    def _note(self, session: str, latest: str, made_by: str, future: Future[Summarized], result: Result) -> None:
        try:
            found = self.find(session)
        except NotFound as error:
            future.set_exception(error)
            return
        if isinstance(result, ModelError) or result.summary is None:
            reason = result.message if isinstance(result, ModelError) else "the model's answer held no summary"
            future.set_result(Summarized(found.summary, reason=reason))
            return
        with atomic(self._db):
            turn_replacement.retell_session(self._db, session, latest, result.summary, self._clock())
        self._note_told(found.project)
        future.set_result(Summarized(turn_replacement.over(found.summary, result.summary), made_by, result.usage))


def _ask(provider: Provider, material: str) -> Told:
    summary, usage, version = ask_summary(provider, material)
    return Told((), summary, usage, version)


_SYSTEM = "You are asked only to see whether you can be reached."
_QUESTION = 'Answer with {"answer": "ok"}.'
_FORM: JsonObject = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
# Some models think aloud before they answer; one that was cut short would be taken for one that fails.
_MAX_TOKENS = 256
_SESSION = "doctor"
"""Whose calls they are, for the caps of a session."""


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of it; no problem is an empty string."""

    model: str
    problem: str = ""
    next_step: str = ""
    ms: float = 0.0
    tokens: int = 0


def try_out(
    provider: Provider | None, config: Config | None, calls: Calls, db: sqlite3.Connection, clock: Clock
) -> Future[Tried]:
    """Ask, within the caps and counted like every call. What it answers is not looked at: it did."""
    future: Future[Tried] = Future()
    if provider is None or config is None:
        future.set_result(Tried("rules", "no model is configured", "set provider in config.toml"))
        return future
    sent = _SYSTEM + _QUESTION
    most = limits.most_of(provider.name, config, sent, _MAX_TOKENS)
    if reached := limits.reached(db, config, _SESSION, most, clock()):
        future.set_result(Tried(provider.name, reached.reason, "raise it in config.toml"))
        return future
    calls.start(
        partial(_ask_once, provider),
        partial(_note, provider.name, time.monotonic(), future),
        turn="",
        session=_SESSION,
        made_by=provider.name,
        purpose="summary",
        most=most,
        sent=sent,
        timeout_s=CallLimits().timeout_s,  # somebody waits for it
    )
    return future


def _ask_once(provider: Provider) -> Told:
    done = provider.complete(_SYSTEM, _QUESTION, _FORM, _MAX_TOKENS)
    return Told((), None, done.usage, "")


def _note(made_by: str, began: float, future: "Future[Tried]", result: Result) -> None:
    ms = round((time.monotonic() - began) * 1000, 1)
    tokens = result.usage.tokens_in + result.usage.tokens_out
    if isinstance(result, ModelError):
        future.set_result(Tried(made_by, result.message, result.next_step, ms, tokens))
    else:
        future.set_result(Tried(made_by, ms=ms, tokens=tokens))
