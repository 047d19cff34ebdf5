"""What tokens cost: a small table with a date, and the configuration for what is not in it."""

from dataclasses import dataclass

from claude_mem_lite.models import Usage

# US dollars per million tokens sent and received: list prices, seen in November 2025. A name stands for the
# versions that begin with it.
_TABLE = {
    "claude-haiku-4-5": (1.0, 5.0),
    "claude-sonnet-4-5": (3.0, 15.0),
    "claude-opus-4-5": (5.0, 25.0),
    "claude-opus-4-1": (15.0, 75.0),
}
# What Claude models are called: `anthropic/claude-haiku-4.5` by gateways, `opus` by the client.
_FAMILIES = ("claude", "haiku", "sonnet", "opus")
_CACHE_WRITE = 1.25
_CACHE_READ = 0.1
_CHARACTERS_A_TOKEN = 3


@dataclass(frozen=True, slots=True)
class Prices:
    """US dollars per million tokens; zero when nobody knows them, and then only the caps in tokens hold."""

    usd_in: float = 0.0
    usd_out: float = 0.0

    def usage(self, sent: int, received: int, cache_written: int = 0, cache_read: int = 0) -> Usage:
        """What a call took; tokens that went through a cache count as sent and cost what caches cost."""
        weighted = sent + cache_written * _CACHE_WRITE + cache_read * _CACHE_READ
        cost = (weighted * self.usd_in + received * self.usd_out) / 1_000_000
        return Usage(sent + cache_written + cache_read, received, cost)

    def guess(self, sent: str, received: str) -> Usage:
        """What a call took, cautiously, when nobody says: the caps must hold there too."""
        return self.usage(len(sent) // _CHARACTERS_A_TOKEN + 1, len(received) // _CHARACTERS_A_TOKEN + 1)


def prices_of(model: str, usd_in: float, usd_out: float) -> Prices:
    """The configured prices where there are any, else the table's.

    A Claude model that is not in it counts as the dearest, so that the caps hold, under whatever name a gateway or
    the client knows it; any other as free."""
    name = model.lower()
    dearest = max(_TABLE.values()) if any(family in name for family in _FAMILIES) else (0.0, 0.0)
    known = next((prices for known, prices in _TABLE.items() if name.startswith(known)), dearest)
    return Prices(usd_in or known[0], usd_out or known[1])
