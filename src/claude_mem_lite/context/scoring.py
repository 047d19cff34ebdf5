"""How much a memory deserves its place in the start context: the weights, curves and floors of docs/scores.md.

Called by the layers; pure, so that the same memory at the same moment has the same score.

What came of earlier givings -> how loudly something may speak again: 1 is neutral, 0 silent.

Called wherever something is chosen to be given; pure. docs/receipts.md has the curves and their reasons."""

from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.context.order import NO_FLOOR, layer_floor
from claude_mem_lite.context.project_setting import Task, share_of
from claude_mem_lite.models import Kind, Memory, Tally, users_word

NEUTRAL, LOUDEST, SILENT = 1.0, 1.25, 0.0
MIN_STATED = 0.5
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
    return max(_sunk(_rate(tally.used + tally.unknown, tally, prior)), MIN_STATED if is_stated else SILENT)


def _rate(used: int, tally: Tally, prior: int) -> float:
    """Return the share that is expected to be used: the counts, joined with the expectation before them."""
    return (used + EXPECTED_RATE * prior) / (tally.used + tally.ignored + tally.unknown + prior)


def _sunk(rate: float) -> float:
    """Silent where it is used no more than by chance. Slowly at first: floors are set for what is neutral, and a useful
    thing is ignored twice as often as not."""
    short = min(max((EXPECTED_RATE - rate) / (EXPECTED_RATE - NOISE_RATE), 0.0), 1.0)
    return round(NEUTRAL - short**_SLOWNESS, _DIGITS)


ALWAYS = 0.3
"""The floor under which nothing is given, however much room there is."""
ON_DEMAND = 0.5
"""The floor for what the agent asks for, with its MCP tool."""
AT_START = 0.7
"""The floor for what is given unasked when a session starts."""

SCOPE, FREQUENCY, RECENCY, TASK = 0.4, 0.3, 0.2, 0.1
RECURRING: tuple[Kind, ...] = ("correction", "gotcha", "failure", "pattern")
"""Kinds that gain by being seen again; a decision is made once."""
_REST = SCOPE + RECENCY + TASK
_OFTEN = 10
_UNIVERSAL, _LANGUAGE, _PROJECT = 0.4, 0.7, 1.0
_RECENCY_BY_DAYS = ((7, 1.0), (30, 0.8), (90, 0.6), (180, 0.4))
_LONG_AGO = 0.2
UNKNOWN = 0.5
"""For what cannot be told: no date, no task."""
_MAX_BY_OUTCOME = 0.05
_SECONDS_A_DAY = 86_400
_DIGITS = 4
_YEAR_OF_NO_DATE = 1970
"""What others wrote in the place of a date they did not know: the zero of their clock."""


@dataclass(frozen=True, slots=True)
class Score:
    """A memory's score by its parts, each from 0 to 1 and not yet weighted; `outcome` is what is added at the end."""

    scope: float
    frequency: float | None
    """None for kinds that do not recur: that weight is spread over the rest."""
    recency: float
    task: float
    outcome: float
    total: float
    exception: str = ""
    """Why it is over any floor: the user said it, or pinned it."""
    usefulness: float = NEUTRAL
    """By what came of it: it sinks among its like, whatever its total, until it is silent."""

    @property
    def is_stated(self) -> bool:
        return bool(self.exception)

    def is_silent(self) -> bool:
        """Whether it may not be given, because nobody ever had use for it."""
        return self.usefulness <= SILENT

    def parts(self) -> dict[str, float]:
        """What each part adds to the total."""
        spread = 1.0 if self.frequency is not None else _REST
        added = {"scope": SCOPE * self.scope / spread}
        if self.frequency is not None:
            added["frequency"] = FREQUENCY * self.frequency
        added |= {"recency": RECENCY * self.recency / spread, "task": TASK * self.task / spread}
        if self.outcome:
            added["outcome"] = self.outcome
        over = sum(added.values()) - self.total
        if over >= 10**-_DIGITS:
            added["limit"] = -over
        return {name: round(value, _DIGITS) for name, value in added.items()}

    def explained(self, floor: float, order: str = "") -> str:
        """The score as a sum that can be checked by hand, what orders it besides, and the floor that holds for it."""
        weighted = {"scope": SCOPE * self.scope, "recency": RECENCY * self.recency, "task": TASK * self.task}
        if self.frequency is not None:
            weighted["frequency"] = FREQUENCY * self.frequency
        told = " + ".join(f"{name} {_told(value)}" for name, value in weighted.items())
        told = told if self.frequency is not None else f"({told}) / {_told(_REST)}"
        told += f" {'-' if self.outcome < 0 else '+'} outcome {_told(abs(self.outcome))}" if self.outcome else ""
        told += " - limit " + _told(-limit) if (limit := self.parts().get("limit")) else ""
        placed = self.total * self.usefulness
        sunk = f"; placed by {_told(self.total)} × use {_told(self.usefulness)} = {_told(placed)}"
        held = f"{NO_FLOOR}: {self.exception}" if self.exception else layer_floor(_told(floor))
        told += sunk if self.usefulness != NEUTRAL else ""
        return "; ".join(filter(None, (f"{_told(self.total)} = {told}", order, held)))


def score(memory: Memory, now: datetime, task: Task | None, tally: Tally) -> Score:
    """The score of a memory that is a candidate: its scope is taken to match the place."""
    made = Score(
        scope=scope_value(memory.scope),
        frequency=min(memory.times_seen / _OFTEN, 1.0) if memory.kind in RECURRING else None,
        recency=recency_value(_days_since(memory.last_seen_at, now)),
        task=share_of(_text(memory), task) if task else UNKNOWN,
        outcome=outcome_value(tally),
        total=0.0,
        exception=_why_over_any_floor(memory),
        usefulness=start_factor(tally, is_stated=is_stated(memory)),
    )
    return _summed(made)


def is_stated(memory: Memory) -> bool:
    """Whether the user said it, or wants it kept in sight."""
    return bool(_why_over_any_floor(memory))


def passes(given: Score, floor: float) -> bool:
    """Whether it may be given where this floor holds."""
    return given.is_stated or (given.total >= floor and not given.is_silent())


def scope_value(scope: str) -> float:
    """How near a scope is to the work at hand."""
    if scope.startswith("project:"):
        return _PROJECT
    return _LANGUAGE if scope.startswith("language:") else _UNIVERSAL


def recency_value(days: float | None) -> float:
    """How fresh what was last seen so many days ago is; None when that is not known."""
    if days is None:
        return UNKNOWN
    return next((value for limit, value in _RECENCY_BY_DAYS if days < limit), _LONG_AGO)


def outcome_value(tally: Tally) -> float:
    """What it adds that sessions made use of it or not: at most 0.05, and little while there were few."""
    given = tally.used + tally.ignored + tally.unknown
    return round(_MAX_BY_OUTCOME * (tally.used - tally.ignored) / (given + 2), _DIGITS)


def _summed(made: Score) -> Score:
    rest = SCOPE * made.scope + RECENCY * made.recency + TASK * made.task
    base = rest / _REST if made.frequency is None else rest + FREQUENCY * made.frequency
    # Rounded: 0.49 / 0.7 must not miss a floor of 0.7 by what floating point leaves over.
    total = round(min(max(base + made.outcome, 0.0), 1.0), _DIGITS)
    return replace(made, total=total)


def _why_over_any_floor(memory: Memory) -> str:
    if memory.origin == "user":
        return users_word(memory.made_by, memory.trust)
    return "pinned by the user" if memory.pinned else ""


def _told(value: float) -> str:
    return f"{round(value, _DIGITS):g}"


def _days_since(seen: datetime, now: datetime) -> float | None:
    return None if seen.year <= _YEAR_OF_NO_DATE else (now - seen).total_seconds() / _SECONDS_A_DAY


def _text(memory: Memory) -> str:
    return "\n".join((memory.title, memory.summary, memory.detail, *memory.facts, *memory.tags))
