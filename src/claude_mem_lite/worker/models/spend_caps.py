"""Hard caps of model calls in dollars and tokens, by day and session, checked before every call."""

import math
import sqlite3
from datetime import UTC, datetime

from claude_mem_lite.config import Config
from claude_mem_lite.providers import Usage, prices_of
from claude_mem_lite.store import model_calls
from claude_mem_lite.values import frozen

# Sent with every question: the form of the answer, and the text that a client adds.
_FORM_TOKENS = 1_000


@frozen
class Reached:
    """Cap that another call might exceed."""

    reason: str
    of_the_day: bool


def max_usage_of(made_by: str, config: Config, sent: str, tokens_out: int) -> Usage:
    """Return the maximum usage of a call: hardly any text has so many tokens, and no answer is longer."""
    ascii_characters = sum(1 for character in sent if character < "\x80")
    tokens_in = _FORM_TOKENS + math.ceil(ascii_characters / 2) + 2 * (len(sent) - ascii_characters)
    prices = prices_of(made_by.partition("/")[2], config.usd_per_million_in, config.usd_per_million_out)
    return prices.usage(tokens_in, tokens_out)


def reached(db: sqlite3.Connection, config: Config, session: str, max_usage: Usage, now: datetime) -> Reached | None:
    """Return the cap that forbids a call; None when the maximum usage fits."""
    day = model_calls.spent(db, since=start_of_day(now))
    whole = model_calls.spent(db, session=session)
    tokens = max_usage.tokens_in + max_usage.tokens_out
    if not config.daily_usd or day.cost_usd + max_usage.cost_usd > config.daily_usd:
        return Reached(f"the day's cap of {_dollars(config.daily_usd)} is reached", of_the_day=True)
    if day.tokens + tokens > config.daily_tokens:
        return Reached(f"the day's cap of {config.daily_tokens:,} tokens is reached", of_the_day=True)
    if not config.session_usd or whole.cost_usd + max_usage.cost_usd > config.session_usd:
        return Reached(f"the session's cap of {_dollars(config.session_usd)} is reached", of_the_day=False)
    if whole.tokens + tokens > config.session_tokens:
        return Reached(f"the session's cap of {config.session_tokens:,} tokens is reached", of_the_day=False)
    return None


def _dollars(amount: float) -> str:
    return f"${amount:.2f}" if round(amount, 2) == amount else f"${amount:g}"


def start_of_day(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
