"""One small question to the model, because somebody wants to know whether it answers. Runs in the job thread."""

import sqlite3
import time
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial

from claude_mem_lite.clock import Clock
from claude_mem_lite.compress.model.request import Told
from claude_mem_lite.config import Config
from claude_mem_lite.errors import ModelError
from claude_mem_lite.models import CallLimits, JsonObject, Provider
from claude_mem_lite.worker.models import limits
from claude_mem_lite.worker.models.call_pool import Calls, Result

_SYSTEM = "You are asked only to see whether you can be reached."
_QUESTION = 'Answer with {"answer": "ok"}.'
_FORM: JsonObject = {
    "type": "object",
    "properties": {"answer": {"type": "string"}},
    "required": ["answer"],
    "additionalProperties": False,
}
# Some models think aloud before they answer; one that was cut short would be taken for one that fails.
_MOST_TOKENS = 256
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
    most = limits.most_of(provider.name, config, sent, _MOST_TOKENS)
    if reached := limits.reached(db, config, _SESSION, most, clock()):
        future.set_result(Tried(provider.name, reached.reason, "raise it in config.toml"))
        return future
    calls.start(
        partial(_ask, provider),
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


def _ask(provider: Provider) -> Told:
    done = provider.complete(_SYSTEM, _QUESTION, _FORM, _MOST_TOKENS)
    return Told((), None, done.usage, "")


def _note(made_by: str, began: float, future: "Future[Tried]", result: Result) -> None:
    ms = round((time.monotonic() - began) * 1000, 1)
    tokens = result.usage.tokens_in + result.usage.tokens_out
    if isinstance(result, ModelError):
        future.set_result(Tried(made_by, result.message, result.next_step, ms, tokens))
    else:
        future.set_result(Tried(made_by, ms=ms, tokens=tokens))
