"""When a model is asked, about which turns, and what its answers change. Behind the job loop, in its thread.

Rules have told every turn before; a model tells it better or not at all. Nothing here waits for a model."""

import logging
import os
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from claude_mem_lite.compress.model.request import MAX_TURN_TOKENS, Told, ask
from claude_mem_lite.compress.model.turn_digest import is_worth_asking
from claude_mem_lite.config import Config
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.inbox.model_queue import ModelTurns, Wanted
from claude_mem_lite.knowledge import model_rewrite
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import Provider
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.models import limits, on_demand
from claude_mem_lite.worker.models.call_pool import Calls, Result
from claude_mem_lite.worker.models.limits import Outage
from claude_mem_lite.worker.models.on_demand import Summarized, Summarizing
from claude_mem_lite.worker.turn_job import StoredTurn

_LAST_WAIT_S = 2.0
_END_OF_PAUSE = "`claude-mem-lite queue --retry all` ends the pause"
MakeProvider = Callable[[Config, Home, Mapping[str, str]], Provider | None]
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ModelState:
    """How things stand with the model, for `status` and `doctor`; no problem is an empty string."""

    name: str
    problem: str = ""
    next_step: str = ""


class Modelling:
    """The part of the job loop that knows of models. Only `state` may be asked by other threads."""

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
        self._calls = Calls(memory_db, clock, wake)
        self._summaries = Summarizing(memory_db, self._calls, clock, self._note_told)
        self._config: Config | None = None
        self._provider: Provider | None = None
        self._outage = Outage()
        self._capped: tuple[datetime, str] | None = None
        self._touched: set[str] = set()

    def state(self) -> ModelState:
        """How things stand with the model at this moment."""
        now, provider, outage = self._clock(), self._provider, self._outage
        if provider is None:
            return ModelState("rules", *_unasked(self._config))
        if outage.is_on:
            until = datetime.fromtimestamp(outage.until, UTC)
            when = f"until {until:%H:%M} UTC" if until > now else "until a try succeeds"
            reason = f"rules alone {when}, after {outage.failures} failures in a row: {outage.reason}"
            return ModelState(provider.name, reason, "; ".join(filter(None, (outage.next_step, _END_OF_PAUSE))))
        if (capped := self._capped) is not None and capped[0] == limits.start_of_day(now):
            return ModelState(provider.name, f"{capped[1]}; rules alone until 00:00 UTC", "raise it in config.toml")
        if outage.is_retrying:
            told = f"the last call failed: {outage.reason}; it is tried again"
            return ModelState(provider.name, told, outage.next_step)
        if outage.failures:
            return ModelState(provider.name, f"the last turn failed: {outage.reason}", outage.next_step)
        try:
            provider.check()
        except ModelRefused as error:
            return ModelState(provider.name, error.message, error.next_step)
        return ModelState(provider.name)

    def begin(self) -> None:
        """Take back what the last worker was asking; whoever asked is gone."""
        self._calls.lose_all()
        if returned := self._turns.release_all():
            log.info("turns returned to the model's queue", extra={"turns": returned})
        if self._turns.is_any_waiting():
            self._outage.note_left_over(self._clock().timestamp())
            self._turns.hold_all()

    def end(self) -> set[str]:
        """Hear what is about to be answered, and return the rest; returns the projects whose memories changed."""
        self._let_go_of_forgotten()
        self._calls.hear_for(_LAST_WAIT_S)
        self._summaries.give_up("the worker ended")
        self._calls.lose_all()
        self._turns.release_all()
        return self._taken_touched()

    def configure(self, config: Config) -> None:
        """Follow the settings: another model is tried at once, and no model means that nothing is asked any more."""
        if config == self._config:
            return
        before, self._config, self._capped = self._config, config, None
        self._provider = self._make_provider(config, self._home, os.environ)
        if self._provider is None:
            self._turns.drop_all(self._clock().timestamp())
        elif before is not None and _who(config) != _who(before):
            self._outage.clear()
            self._turns.bring_back()

    def want(self, stored: StoredTurn) -> None:
        """Have a turn told by the model, when it is new, was seen as it happened, and is worth it."""
        turn = stored.turn
        if self._provider is None or not stored.is_new or any(event.imported for event in turn.events):
            return
        try:
            if is_worth_asking(turn, stored.digest):
                self._turns.want(turn.key, turn.session, self._clock().timestamp(), waiting=self._outage.is_on)
        except Exception:  # rules have told the turn: it must not fail any more
            log.exception("turn not put up for the model", extra={"turn": turn.key, "session": turn.session})

    def step(self) -> set[str]:
        """Store the answers that came and ask what may be asked; returns the projects whose memories changed."""
        self._let_go_of_forgotten()
        self._calls.hear()
        self._turns.release_all(but=[call.turn for call in self._calls.under_way()])
        if self._provider is not None and self._config is not None:
            for wanted in self._next(self._provider.limits.parallel):
                self._ask_about(wanted, self._provider, self._config)
        if self._outage.is_retrying and not self.is_busy():
            self._outage.note_all_tried()
        return self._taken_touched()

    def is_busy(self) -> bool:
        """Whether an answer is on its way, or a question will be asked soon."""
        return bool(self._calls.under_way()) or self._turns.is_any_wanted()

    def retry(self, event: int | None) -> int:
        """Ask again about a turn that failed, by the number of its first event, or about all; that ends a pause."""
        if self._provider is None:
            return 0
        retried = self._turns.retry(event)
        if retried or event is None:
            self._outage.clear()
        return retried

    def summarize(self, session: str) -> Future[Summarized]:
        """A session's summary by the model if it may be asked, else as it stands. NotFound: no such session."""
        found = self._summaries.find(session)
        if self._provider is not None and self._config is not None and not self._outage.is_on:
            return self._summaries.ask(found, self._provider, self._config)
        future: Future[Summarized] = Future()
        future.set_result(Summarized(found.summary, reason=self.state().problem))
        return future

    def try_out(self) -> Future[on_demand.Tried]:
        """Whether the model answers, found out by asking it, also after failures."""
        return on_demand.try_out(self._provider, self._config, self._calls, self._memory_db, self._clock)

    def note_command(self) -> None:
        """The user may have had something forgotten that a summary under way would bring back."""
        self._summaries.give_up("memories were changed by command meanwhile")

    def tidy(self) -> None:
        self._turns.trim(self._clock().timestamp())

    def _taken_touched(self) -> set[str]:
        touched, self._touched = self._touched, set()
        return touched

    def _let_go_of_forgotten(self) -> None:
        for call in self._calls.under_way():
            if call.purpose == "turn" and not self._turns.is_asking(call.turn):
                self._calls.let_go(call)

    def _next(self, parallel: int) -> list[Wanted]:
        """Return the turns to ask about now; while it is doubtful whether the model answers, one to try it with."""
        now = self._clock().timestamp()
        under_way = len(self._calls.under_way())
        room = max(parallel - under_way, 0)
        wanted = [] if self._outage.is_on else self._turns.claim(now, room)
        if wanted or under_way or not self._outage.may_probe(now):
            return wanted
        probe = self._turns.claim_probe()
        return [probe] if probe else []

    def _ask_about(self, wanted: Wanted, provider: Provider, config: Config) -> None:
        now = self._clock()
        try:
            limit = provider.limits.digest_chars
            question = model_rewrite.question_about(wanted.turn, self._turns, self._memory_db, config, limit)
        except Exception as error:  # a turn that no question can be made of must not keep the others from being asked
            log.exception("no question could be made", extra={"turn": wanted.turn, "session": wanted.session})
            reason = f"no question could be made of it: {type(error).__name__}"
            self._turns.refuse(wanted.turn, reason, now.timestamp())
            return
        if isinstance(question, str):
            self._turns.drop(wanted.turn, question, now.timestamp())
            return
        most = limits.most_of(provider.name, config, question.sent, MAX_TURN_TOKENS)
        reached = limits.reached(self._memory_db, config, wanted.session, most, now)
        if reached:
            self._capped = (limits.start_of_day(now), reached.reason) if reached.of_the_day else self._capped
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
            most=most,
            sent=question.sent,
            timeout_s=provider.limits.timeout_s,
        )

    def _note_turn(self, wanted: Wanted, question: model_rewrite.Question, made_by: str, result: Result) -> None:
        now = self._clock()
        if isinstance(result, Told):
            model_rewrite.store(self._memory_db, question, result, made_by, self._likeness, now)
            self._turns.finish(wanted.turn, now.timestamp())
            self._note_told(question.turn.project)
        else:
            self._note_failure(wanted, result, now.timestamp())

    def _note_told(self, project: str) -> None:
        """The model answers: what was told by rules during an outage is asked about once more."""
        self._touched.add(project)
        self._outage.clear()
        if brought := self._turns.bring_back():
            log.info("the model is back", extra={"turns": brought})

    def _note_failure(self, wanted: Wanted, error: ModelError, now: float) -> None:
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
            self._outage.note_failure(error.message, error.next_step, now)
        else:
            self._outage.note_try(error.message, error.next_step)
        if self._outage.is_on:
            self._turns.hold_all()


def _unasked(config: Config | None) -> tuple[str, str]:
    """What to tell somebody who named a model, or where it is, but nobody to ask."""
    named = [name for name in ("model", "base_url") if config is not None and getattr(config, name)]
    if not named:
        return "", ""
    told = f"{' and '.join(named)} {'are' if len(named) > 1 else 'is'} set, but no provider, so no model is asked"
    return told, "set provider in config.toml"


def _who(config: Config) -> tuple[str, str, str]:
    return config.provider, config.model, config.base_url
