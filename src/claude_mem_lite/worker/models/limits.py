"""The hard caps on what models may take, in dollars and tokens, by day and by session: looked at before every call.

Whether the model can be trusted to answer: turns that failed in a row, and the cooling after too many of them."""

import math
import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime

from claude_mem_lite.compress.model.prices import prices_of
from claude_mem_lite.config import Config
from claude_mem_lite.models import Usage
from claude_mem_lite.store import model_calls

# What is sent along with every question: the form of the answer, and what a client adds of its own.
_FORM_TOKENS = 1_000


@dataclass(frozen=True, slots=True)
class Reached:
    """A cap that another call might go over."""

    reason: str
    of_the_day: bool


def most_of(made_by: str, config: Config, sent: str, tokens_out: int) -> Usage:
    """The most a call may take: hardly a text has so many tokens, and no answer is longer."""
    ascii_characters = sum(1 for character in sent if character < "\x80")
    tokens_in = _FORM_TOKENS + math.ceil(ascii_characters / 2) + 2 * (len(sent) - ascii_characters)
    prices = prices_of(made_by.partition("/")[2], config.usd_per_million_in, config.usd_per_million_out)
    return prices.usage(tokens_in, tokens_out)


def reached(db: sqlite3.Connection, config: Config, session: str, most: Usage, now: datetime) -> Reached | None:
    """The cap that keeps a call from being made; None when there is room for the most it may take."""
    day = model_calls.spent(db, since=start_of_day(now))
    whole = model_calls.spent(db, session=session)
    tokens = most.tokens_in + most.tokens_out
    if not config.daily_usd or day.cost_usd + most.cost_usd > config.daily_usd:
        return Reached(f"the day's cap of {_dollars(config.daily_usd)} is reached", of_the_day=True)
    if day.tokens + tokens > config.daily_tokens:
        return Reached(f"the day's cap of {config.daily_tokens:,} tokens is reached", of_the_day=True)
    if not config.session_usd or whole.cost_usd + most.cost_usd > config.session_usd:
        return Reached(f"the session's cap of {_dollars(config.session_usd)} is reached", of_the_day=False)
    if whole.tokens + tokens > config.session_tokens:
        return Reached(f"the session's cap of {config.session_tokens:,} tokens is reached", of_the_day=False)
    return None


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if round(amount, 2) == amount else f"${amount:g}"


def start_of_day(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


FAILURES_IN_A_ROW = 3
COOLING_S = 600.0


@dataclass(slots=True)
class Outage:
    """Changed by the job thread only. Times are seconds since the epoch."""

    failures: int = 0
    until: float = 0.0
    """Not before then is a model tried again with a turn that waits."""
    reason: str = ""
    next_step: str = ""
    is_retrying: bool = False
    """Whether the last call failed and its turn still has tries left."""

    @property
    def is_on(self) -> bool:
        """Too many turns failed: until one succeeds, all others wait."""
        return self.failures >= FAILURES_IN_A_ROW

    def may_probe(self, now: float) -> bool:
        """Whether it is time to try one turn; a time beyond the cooling is from before the clock was set back."""
        return bool(self.failures) and not now < self.until <= now + COOLING_S

    def note_failure(self, reason: str, next_step: str, now: float) -> None:
        self.failures += 1
        self.until = now + COOLING_S
        self.reason, self.next_step, self.is_retrying = reason, next_step, False

    def note_try(self, reason: str, next_step: str) -> None:
        """A call failed whose turn is tried again: worth telling, but no failure yet."""
        self.reason, self.next_step, self.is_retrying = reason, next_step, True

    def note_all_tried(self) -> None:
        """Nothing is left to be tried again: what it was may have been forgotten."""
        self.is_retrying = False

    def note_left_over(self, now: float) -> None:
        """Turns wait since the last worker: one of them may be tried at once."""
        self.failures, self.until, self.reason = FAILURES_IN_A_ROW, now, "the last worker found the model unavailable"

    def clear(self) -> None:
        self.failures, self.until, self.reason, self.next_step, self.is_retrying = 0, 0.0, "", "", False
