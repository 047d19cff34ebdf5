"""Pool of calls to a model, each in a thread of its own, so that the job thread never waits for a model.

The job thread alone starts calls and collects answers. A call is recorded before it starts, and never repeated."""

import logging
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from claude_mem_lite.compress.model.turn_answer import TurnAnswer
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import ModelError, ModelRefused, ModelUnavailable
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import model_calls
from claude_mem_lite.store.model_calls import Outcome, Purpose
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen

# Added to the timeout of a provider, which does not cover a slow name resolution.
_GRACE_S = 90.0
Result = TurnAnswer | ModelError
log = logging.getLogger(__name__)


@frozen
class ModelCall:
    """Call under way. `note` gets the result in the job thread, unless the call was released."""

    id: int
    turn: str
    session: str
    made_by: str
    purpose: Purpose
    began_at: datetime
    max_s: float
    note: Callable[[Result], None]


@frozen
class _ReceivedAnswer:
    call: ModelCall
    result: Result
    ms: float


class CallPool:
    """Calls under way and answers that arrived."""

    def __init__(self, memory_db: sqlite3.Connection, clock: Clock, wake: Callable[[], None]) -> None:
        self._db = memory_db
        self._clock = clock
        self._wake = wake
        self._under_way: dict[int, ModelCall] = {}
        self._came: deque[_ReceivedAnswer] = deque()
        self._arrival = threading.Event()

    def under_way(self) -> list[ModelCall]:
        return list(self._under_way.values())

    def start(
        self,
        ask: Callable[[], TurnAnswer],
        note: Callable[[Result], None],
        *,
        turn: str,
        session: str,
        made_by: str,
        purpose: Purpose,
        max_usage: Usage,
        sent: str,
        timeout_s: float,
    ) -> None:
        """Ask in a thread; the maximum usage counts as spent until the answer arrives. Only the size of `sent` is
        stored."""
        now, size = self._clock(), estimate_tokens(sent)
        with atomic(self._db):
            number = model_calls.begin(self._db, turn, session, made_by, purpose, max_usage, now, estimated_in=size)
        call = ModelCall(number, turn, session, made_by, purpose, now, timeout_s + _GRACE_S, note)
        self._under_way[number] = call
        # Daemon: a worker that ends does not wait for a model that hangs.
        threading.Thread(target=self._ask, args=(call, ask), name=f"model-{number}", daemon=True).start()

    def release(self, call: ModelCall) -> None:
        """Ignore the answer of a call; its usage still counts."""
        self._under_way.pop(call.id, None)

    def collect(self) -> None:
        """Pass on the answers that arrived. An answer that cannot be stored, on a full disk say, stays for the next
        time."""
        while self._came:
            answer = self._came[0]
            self._try_to_record(answer)
            if answer.call.id in self._under_way:
                _pass_on(answer)
                self.release(answer.call)
            self._came.popleft()
        # After the answers: on a machine that slept, an answer may have arrived but look late.
        for call in self.under_way():
            if self._clock() - call.began_at > timedelta(seconds=call.max_s):
                problem = f"{call.made_by} gave no answer within {call.max_s:g} s"
                call.note(ModelUnavailable(problem, "check the network and base_url in config.toml"))
                self.release(call)

    def collect_for(self, timeout_s: float) -> None:
        """Pass on answers until the timeout, or until no call is under way."""
        deadline = Deadline.after(timeout_s)
        self.collect()
        while self._under_way and (left := deadline.left_s()) > 0:
            self._arrival.wait(left)
            self._arrival.clear()
            self.collect()

    def abandon_all(self) -> None:
        """Record all calls under way as lost: for a worker that starts or ends."""
        self._under_way.clear()
        with atomic(self._db):
            model_calls.lose_open(self._db)

    def _ask(self, call: ModelCall, ask: Callable[[], TurnAnswer]) -> None:
        started = time.monotonic()
        result: Result
        try:
            result = ask()
        except ModelError as error:
            result = error
        except Exception as error:
            log.exception("call failed", extra={"call": call.id, "made_by": call.made_by})
            result = ModelRefused(f"the call failed with {type(error).__name__}", "see worker.log")
        self._came.append(_ReceivedAnswer(call, result, round((time.monotonic() - started) * 1000, 1)))
        self._arrival.set()
        self._wake()

    def _try_to_record(self, answer: _ReceivedAnswer) -> None:
        try:
            self._record(answer)
        except sqlite3.OperationalError:  # no room, or locked: recorded later
            raise
        except Exception:  # an answer that the table refuses must not block other answers
            log.exception("call not recorded", extra={"call": answer.call.id, "made_by": answer.call.made_by})

    def _record(self, answer: _ReceivedAnswer) -> None:
        call = answer.call
        usage: Usage | None = answer.result.usage
        outcome: Outcome = "told"
        if isinstance(answer.result, ModelError):
            outcome = "unavailable" if isinstance(answer.result, ModelUnavailable) else "refused"
            usage = None if answer.result.may_have_cost else usage
        with atomic(self._db):
            model_calls.end(self._db, call.id, outcome, usage, answer.ms)
        log.info(
            "model asked",
            extra={
                "call": call.id,
                "session": call.session,
                "made_by": call.made_by,
                "purpose": call.purpose,
                "outcome": outcome,
                "tokens_in": usage.tokens_in if usage else None,
                "tokens_out": usage.tokens_out if usage else None,
                "cost_usd": usage.cost_usd if usage else None,
                "ms": answer.ms,
            },
        )


def _pass_on(answer: _ReceivedAnswer) -> None:
    try:
        answer.call.note(answer.result)
    except sqlite3.OperationalError:  # no room, or locked: the answer was paid for and is stored later
        raise
    except Exception as error:
        log.exception("answer not stored", extra={"call": answer.call.id, "session": answer.call.session})
        answer.call.note(ModelRefused(f"its answer could not be stored: {type(error).__name__}", "see worker.log"))
