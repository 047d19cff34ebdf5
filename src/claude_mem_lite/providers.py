"""Interfaces of a language model and of an embedder; usage, prices and limits of calls."""

from collections.abc import Sequence
from typing import Protocol

from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen

# US dollars per million tokens sent and received: list prices of November 2025. A name stands for all versions that
# begin with the name.
_TABLE = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-1": (15.0, 75.0),
}
# Names of Claude models: `anthropic/claude-haiku-4.5` at gateways, `opus` in the client.
_FAMILIES = ("claude", "haiku", "sonnet", "opus")
_CACHE_WRITE = 1.25
_CACHE_READ = 0.1
_CHARACTERS_A_TOKEN = 3


@frozen
class Usage:
    """Cost of a model call."""

    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0


@frozen
class Spend:
    """Total of a number of model calls."""

    calls: int = 0
    tokens: int = 0
    cost_usd: float = 0.0


@frozen
class Completion:
    """Answer of a model as text, with the cost."""

    text: str
    usage: Usage = Usage()


@frozen
class CallLimits:
    """Limits of the calls to one provider."""

    timeout_s: float = 30.0
    parallel: int = 5
    digest_chars: int = 32_000


LOCAL_LIMITS = CallLimits(timeout_s=600.0, parallel=1, digest_chars=12_000)
"""For a server on this machine: without a GPU, such a server reads some 20 tokens a second, serves one call at a time,
and often has a context of at most 8,192 tokens."""


class Provider(Protocol):
    """Client of a model. Raises ModelUnavailable if a retry may help, else ModelRefused."""

    @property
    def limits(self) -> CallLimits: ...

    @property
    def name(self) -> str:
        """Provider and model, as stored in `made_by`: `anthropic/claude-haiku-4-5-20251001`."""

    def check(self) -> None:
        """Raise ModelRefused if a key or a program is missing. No request is sent."""

    def complete(self, system: str, user: str, schema: JsonObject, max_tokens: int) -> Completion: ...


class Embedder(Protocol):
    """Text to vector. Vectors of embedders with different names cannot be compared."""

    @property
    def name(self) -> str: ...

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return one vector a text: 256 signed bytes, all on one scale. A text without a known word gives zeros."""

    def release(self) -> None:
        """Free the loaded data; the next use loads the data again."""


@frozen
class Prices:
    """US dollars per million tokens; with unknown prices, zero, only the caps in tokens hold."""

    usd_in: float = 0.0
    usd_out: float = 0.0

    def usage(self, sent: int, received: int, cache_written: int = 0, cache_read: int = 0) -> Usage:
        """Return tokens and cost of a call; cached tokens count as sent, at the price of the cache."""
        weighted = sent + cache_written * _CACHE_WRITE + cache_read * _CACHE_READ
        cost = (weighted * self.usd_in + received * self.usd_out) / 1_000_000
        return Usage(sent + cache_written + cache_read, received, cost)

    def guess(self, sent: str, received: str) -> Usage:
        """Return a high estimate for a call without reported usage, so that the caps hold."""
        return self.usage(len(sent) // _CHARACTERS_A_TOKEN + 1, len(received) // _CHARACTERS_A_TOKEN + 1)


def prices_of(model: str, usd_in: float, usd_out: float) -> Prices:
    """Return the configured prices, else those of the table.

    A Claude model that the table lacks, by the name of a gateway or of the client, costs as much as the most expensive
    model, so that the caps hold; any other model is free."""
    name = model.lower()
    dearest = max(_TABLE.values()) if any(family in name for family in _FAMILIES) else (0.0, 0.0)
    known = next((prices for known, prices in _TABLE.items() if name.startswith(known)), dearest)
    return Prices(usd_in or known[0], usd_out or known[1])
