"""Scheduler of model calls: queue of turns, caps, retries, storing of answers. For the job thread.

Rules have stored every turn before; a model may improve the memories. No method waits for a model."""

import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from claude_mem_lite.compress.model.turn_answer import TurnAnswer
from claude_mem_lite.config import Config
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.inbox.model_queue import ModelTurns, RequestedTurn
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Provider
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.models import on_demand, spend_caps
from claude_mem_lite.worker.models.call_pool import CallPool, Result
from claude_mem_lite.worker.models.circuit_breaker import CircuitBreaker
from claude_mem_lite.worker.models.on_demand import SummaryRequests, SummaryResult

if TYPE_CHECKING:
    from claude_mem_lite.knowledge.turn_rewrite import TurnQuestion
    from claude_mem_lite.responses.status import ModelTrial
    from claude_mem_lite.worker.turn_job import StoredTurn

_LAST_WAIT_S = 2.0
_END_OF_PAUSE = "`claude-mem-lite queue --retry all` ends the pause"
MakeProvider = Callable[[Config, Home, Mapping[str, str]], Provider | None]
log = logging.getLogger(__name__)


@frozen
class ModelState:
    """State of the model, for `status` and `doctor`; an empty `problem` means none."""

    name: str
    problem: str = ""
    next_step: str = ""


class ModelScheduler:
    """Scheduler of calls to the configured model. For the job thread alone, except `state`."""

    def __init__(
        self,
        home: Home,
        turns: ModelTurns,
        memory_db: sqlite3.Connection,
        clock: Clock,
        make_provider: MakeProvider,
        wake: Callable[[], None],
        likeness: Likeness,
    ) -> None:
        self._home = home
        self._memory_db = memory_db
        self._clock = clock
        self._make_provider = make_provider
        self._turns = turns
        self._likeness = likeness
        self._calls = CallPool(memory_db, clock, wake)
        self._summaries = SummaryRequests(memory_db, self._calls, clock, self._note_answer)
        self._config: Config | None = None
        self._provider: Provider | None = None
        self._breaker = CircuitBreaker()
        self._capped: tuple[datetime, str] | None = None
        self._touched: set[str] = set()
        self.has_begun = False

    def state(self) -> ModelState:
        """Return the current state of the model. Any thread may ask."""
        now, provider, breaker = self._clock(), self._provider, self._breaker
        if provider is None:
            return ModelState("rules", *_unasked(self._config))
        if breaker.is_on:
            until = datetime.fromtimestamp(breaker.until, UTC)
            when = f"until {until:%H:%M} UTC" if until > now else "until a try succeeds"
            reason = f"rules alone {when}, after {breaker.failures} failures in a row: {breaker.reason}"
            return ModelState(provider.name, reason, "; ".join(filter(None, (breaker.next_step, _END_OF_PAUSE))))
        if (capped := self._capped) is not None and capped[0] == spend_caps.start_of_day(now):
            return ModelState(provider.name, f"{capped[1]}; rules alone until 00:00 UTC", "raise it in config.toml")
        if breaker.is_retrying:
            problem = f"the last call failed: {breaker.reason}; it is tried again"
            return ModelState(provider.name, problem, breaker.next_step)
        if breaker.failures:
            return ModelState(provider.name, f"the last turn failed: {breaker.reason}", breaker.next_step)
        try:
            provider.check()
        except ModelRefused as error:
            return ModelState(provider.name, error.message, error.next_step)
        return ModelState(provider.name)

    def begin(self) -> None:
        """Return the turns to the queue that the last worker was asking about."""
        self._calls.abandon_all()
        if returned := self._turns.release_all():
            log.info("turns returned to the model's queue", extra={"turns": returned})
        if self._turns.is_any_waiting():
            self._breaker.note_left_over(self._clock().timestamp())
            self._turns.hold_all()
        self.has_begun = True

    def end(self) -> set[str]:
        """Store answers that come within a moment, and requeue the rest; return the projects whose memories changed."""
        self._release_forgotten()
        self._calls.collect_for(_LAST_WAIT_S)
        self._summaries.give_up("the worker ended")
        self._calls.abandon_all()
        self._turns.release_all()
        return self._taken_touched()

    def configure(self, config: Config) -> None:
        """Follow the settings: a new model is tried at once; without a model the queue is dropped."""
        if config == self._config:
            return
        # First, because it may take long and `state` must not take the new settings for settings without a provider.
        self._provider = self._make_provider(config, self._home, os.environ)
        before, self._config, self._capped = self._config, config, None
        if self._provider is None:
            self._turns.drop_all(self._clock().timestamp())
        elif before is not None and _who(config) != _who(before):
            self._breaker.clear()
            self._turns.resume_all()

    def enqueue(self, stored: "StoredTurn") -> None:
        """Queue a turn for the model, if the turn is new, not imported, and worth a call."""
        turn = stored.turn
        if self._provider is None or not stored.is_new or any(event.imported for event in turn.events):
            return
        from claude_mem_lite.compress.model.turn_digest import is_worth_asking  # late: see `worker/loading.py`

        try:
            if is_worth_asking(turn, stored.digest):
                self._turns.request(turn.key, turn.session, self._clock().timestamp(), waiting=self._breaker.is_on)
        except Exception:  # rules have stored the turn: the unit must not fail any more
            log.exception("turn not put up for the model", extra={"turn": turn.key, "session": turn.session})

    def step(self) -> set[str]:
        """Store the answers that arrived, ask about further turns; return the projects whose memories changed."""
        self._release_forgotten()
        self._calls.collect()
        self._turns.release_all(but=[call.turn for call in self._calls.under_way()])
        if self._provider is not None and self._config is not None:
            for wanted in self._next(self._provider.limits.parallel):
                self._ask_about(wanted, self._provider, self._config)
        if self._breaker.is_retrying and not self.is_busy():
            self._breaker.note_all_tried()
        return self._taken_touched()

    def is_busy(self) -> bool:
        """Return whether a call is under way, or a turn waits for a call."""
        return bool(self._calls.under_way()) or self._turns.is_any_requested()

    def retry(self, event: int | None) -> int:
        """Ask again about a failed turn, by the number of its first event, or about all; a retry ends a pause."""
        if self._provider is None:
            return 0
        retried = self._turns.retry(event)
        if retried or event is None:
            self._breaker.clear()
        return retried

    def summarize(self, session: str) -> Future[SummaryResult]:
        """Return a session summary by the model, or the stored one when no call is possible; NotFound if unknown."""
        found = self._summaries.find(session)
        if self._provider is not None and self._config is not None and not self._breaker.is_on:
            return self._summaries.ask(found, self._provider, self._config)
        future: Future[SummaryResult] = Future()
        future.set_result(SummaryResult(found.summary, reason=self.state().problem))
        return future

    def probe(self) -> "Future[ModelTrial]":
        """Ask the model a small question, even during a pause, and return the result."""
        return on_demand.probe_provider(self._provider, self._config, self._calls, self._memory_db, self._clock)

    def note_command(self) -> None:
        """Give up summaries under way: they could bring back memories that the user had forgotten."""
        self._summaries.give_up("memories were changed by command meanwhile")

    def tidy(self) -> None:
        self._turns.trim(self._clock().timestamp())

    def _taken_touched(self) -> set[str]:
        touched, self._touched = self._touched, set()
        return touched

    def _release_forgotten(self) -> None:
        for call in self._calls.under_way():
            if call.purpose == "turn" and not self._turns.is_asking(call.turn):
                self._calls.release(call)

    def _next(self, parallel: int) -> list[RequestedTurn]:
        """Return the turns to ask about now; during an outage a single turn as a probe."""
        now = self._clock().timestamp()
        under_way = len(self._calls.under_way())
        room = max(parallel - under_way, 0)
        wanted = [] if self._breaker.is_on else self._turns.claim(now, room)
        if wanted or under_way or not self._breaker.may_probe(now):
            return wanted
        probe = self._turns.claim_probe()
        return [probe] if probe else []

    def _ask_about(self, wanted: RequestedTurn, provider: Provider, config: Config) -> None:
        # Late: see `worker/loading.py`.
        from claude_mem_lite.compress.model.request import MAX_TURN_TOKENS, ask
        from claude_mem_lite.knowledge import turn_rewrite

        now = self._clock()
        try:
            limit = provider.limits.digest_chars
            question = turn_rewrite.question_about(wanted.turn, self._turns, self._memory_db, config, limit)
        except Exception as error:  # a turn without a possible question must not block the others
            log.exception("no question could be made", extra={"turn": wanted.turn, "session": wanted.session})
            reason = f"no question could be made of it: {type(error).__name__}"
            self._turns.refuse(wanted.turn, reason, now.timestamp())
            return
        if isinstance(question, str):
            self._turns.drop(wanted.turn, question, now.timestamp())
            return
        max_usage = spend_caps.max_usage_of(provider.name, config, question.sent, MAX_TURN_TOKENS)
        reached = spend_caps.reached(self._memory_db, config, wanted.session, max_usage, now)
        if reached:
            self._capped = (spend_caps.start_of_day(now), reached.reason) if reached.of_the_day else self._capped
            self._turns.drop(wanted.turn, reached.reason, now.timestamp())
            return
        self._capped = None
        self._calls.start(
            partial(ask, provider, question.request),
            partial(self._note_turn, wanted, question, provider.name),
            turn=wanted.turn,
            session=wanted.session,
            made_by=provider.name,
            purpose="turn",
            max_usage=max_usage,
            sent=question.sent,
            timeout_s=provider.limits.timeout_s,
        )

    def _note_turn(self, wanted: RequestedTurn, question: "TurnQuestion", made_by: str, result: Result) -> None:
        now = self._clock()
        if isinstance(result, TurnAnswer):
            from claude_mem_lite.knowledge import turn_rewrite

            turn_rewrite.store(self._memory_db, question, result, made_by, self._likeness, now)
            self._turns.finish(wanted.turn, now.timestamp())
            self._note_answer(question.turn.project)
        else:
            self._note_failure(wanted, result, now.timestamp())

    def _note_answer(self, project: str) -> None:
        """Note that the model answers: turns that waited during an outage are queued again."""
        self._touched.add(project)
        self._breaker.clear()
        if brought := self._turns.resume_all():
            log.info("the model is back", extra={"turns": brought})

    def _note_failure(self, wanted: RequestedTurn, error: ModelError, now: float) -> None:
        failed = True
        if self._provider is None:
            self._turns.drop(wanted.turn, error.message, now)
            return
        if not isinstance(error, ModelUnavailable):
            self._turns.refuse(wanted.turn, error.message, now)
        elif wanted.is_probe:
            self._turns.fail_probe(wanted.turn, error.message)
        else:
            failed = self._turns.fail(wanted.turn, error.message, now)
        if failed:
            self._breaker.note_failure(error.message, error.next_step, now)
        else:
            self._breaker.note_try(error.message, error.next_step)
        if self._breaker.is_on:
            self._turns.hold_all()


def _unasked(config: Config | None) -> tuple[str, str]:
    """Return problem and next step for settings with a model or base_url, but without a provider."""
    named = [name for name in ("model", "base_url") if config is not None and getattr(config, name)]
    if not named:
        return "", ""
    problem = f"{' and '.join(named)} {'are' if len(named) > 1 else 'is'} set, but no provider, so no model is asked"
    return problem, "set provider in config.toml"


def _who(config: Config) -> tuple[str, str, str]:
    return config.provider, config.model, config.base_url
