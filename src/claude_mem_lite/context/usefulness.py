"""What came of earlier givings -> how loudly something may speak again: 1 is neutral, 0 silent.

Called wherever something is chosen to be given; pure. docs/receipts.md has the curves and their reasons."""

from claude_mem_lite.models import Tally

NEUTRAL, LOUDEST, SILENT = 1.0, 1.25, 0.0
LEAST_STATED = 0.5
"""What the user stated or pinned never sinks below."""
EXPECTED_RATE = 0.15
"""How many of the sessions that are given something use it, as long as nothing is known."""
NOISE_RATE = 0.05
"""Share of sessions that may have used an item below which it is silent."""
_HIGH_RATE = 0.6
_SLOWNESS = 4
# How many sessions the expectation weighs as much as: it is silent, never used, after twice as many.
_AT_NEED = 4
# At the start things are told for what they are, not for what was asked: less is used, and it says less.
_AT_START = 10
_DIGITS = 4


def factor(tally: Tally, *, is_stated: bool = False) -> float:
    """Return the factor of an item's score at a moment of need, and of a session at a start: 0 when 8 sessions in a row
    ignored it."""
    return _factor(tally, _AT_NEED, is_stated=is_stated)


def start_factor(tally: Tally, *, is_stated: bool = False) -> float:
    """The same at the start of a session: silent when 20 sessions in a row ignored it."""
    return _factor(tally, _AT_START, is_stated=is_stated)


def _factor(tally: Tally, prior: int, *, is_stated: bool) -> float:
    """Return the factor of an item: the share that was used at least lifts it, the share that may have been used at
    most lowers it, so an unknown outcome does neither."""
    least = _rate(tally.used, tally, prior)
    if least >= EXPECTED_RATE:
        risen = min((least - EXPECTED_RATE) / (_HIGH_RATE - EXPECTED_RATE), 1.0)
        return round(NEUTRAL + (LOUDEST - NEUTRAL) * risen, _DIGITS)
    return max(_sunk(_rate(tally.used + tally.unknown, tally, prior)), LEAST_STATED if is_stated else SILENT)


def _rate(used: int, tally: Tally, prior: int) -> float:
    """Return the share that is expected to be used: the counts, joined with the expectation before them."""
    return (used + EXPECTED_RATE * prior) / (tally.used + tally.ignored + tally.unknown + prior)


def _sunk(rate: float) -> float:
    """Silent where it is used no more than by chance. Slowly at first: floors are set for what is neutral, and a useful
    thing is ignored twice as often as not."""
    short = min(max((EXPECTED_RATE - rate) / (EXPECTED_RATE - NOISE_RATE), 0.0), 1.0)
    return round(NEUTRAL - short**_SLOWNESS, _DIGITS)
