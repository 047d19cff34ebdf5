"""A session's summary on demand: one call to the model, or the summary as it stands. Runs in the job thread."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from claude_mem_lite.clock import Clock
from claude_mem_lite.compress.model.prompts import load
from claude_mem_lite.compress.model.request import MAX_SUMMARY_TOKENS, Told, ask_summary
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import ModelError, ModelUnavailable, NotFound
from claude_mem_lite.knowledge import rewrite_turn, turn_rewrite
from claude_mem_lite.models import Provider, Session, SessionSummary, Usage
from claude_mem_lite.store import sessions, turns
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
        material = rewrite_turn.material_of(self._db, session)
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
            turn_rewrite.retell_session(self._db, session, latest, result.summary, self._clock())
        self._note_told(found.project)
        future.set_result(Summarized(turn_rewrite.over(found.summary, result.summary), made_by, result.usage))


def _ask(provider: Provider, material: str) -> Told:
    summary, usage, version = ask_summary(provider, material)
    return Told((), summary, usage, version)
