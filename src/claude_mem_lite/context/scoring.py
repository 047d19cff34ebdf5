"""Score of a memory for the start context: the weights, curves and floors of docs/scores.md.

Also the factor of usefulness by the outcomes of earlier injections, for all triggers: 1 is neutral, 0 is silent
(docs/receipts.md). Pure: the same memory at the same time has the same score."""

from dataclasses import replace
from datetime import datetime

from claude_mem_lite.authors import team_factor
from claude_mem_lite.context.order import NO_FLOOR, format_number, layer_floor
from claude_mem_lite.context.project_setting import Task, share_of
from claude_mem_lite.models import Kind, Memory, Tally, user_origin_label
from claude_mem_lite.values import frozen

NEUTRAL, MAX_FACTOR, SILENT = 1.0, 1.25, 0.0
MIN_STATED = 0.5
"""Lowest factor of memories that the user stated or pinned."""
EXPECTED_RATE = 0.15
"""Expected share of sessions that use an injected item."""
NOISE_RATE = 0.05
"""Share of use below which an item is silent."""
_HIGH_RATE = 0.6
_EXPONENT = 4
# Weight of the expected rate, in sessions: an item that is never used is silent after twice as many.
_PRIOR_SESSIONS = 4
# Start contexts answer no request: fewer items are used, and an unused item proves less.
_PRIOR_SESSIONS_AT_START = 10
ALWAYS = 0.3
"""Lowest floor: no memory below is ever injected."""
ON_DEMAND = 0.5
"""Floor for questions of the agent by its MCP tool."""
AT_START = 0.7
"""Floor for memories at session start."""
SCOPE, FREQUENCY, RECENCY, TASK = 0.4, 0.3, 0.2, 0.1
RECURRING: tuple[Kind, ...] = ("correction", "gotcha", "failure", "pattern")
"""Kinds that gain by sightings; a decision is made once."""
_REST = SCOPE + RECENCY + TASK
_OFTEN = 10
_UNIVERSAL, _LANGUAGE, _PROJECT = 0.4, 0.7, 1.0
_RECENCY_BY_DAYS = ((7, 1.0), (30, 0.8), (90, 0.6), (180, 0.4))
_LONG_AGO = 0.2
UNKNOWN = 0.5
"""Value for a missing date or task."""
_MAX_BY_OUTCOME = 0.05
_SECONDS_A_DAY = 86_400
_DIGITS = 4
_YEAR_OF_NO_DATE = 1970
"""Year of the zero time that other tools write for an unknown date."""


@frozen
class Score:
    """Score of a memory by its parts, each from 0 to 1 and unweighted; `outcome` is added at the end."""

    scope: float
    frequency: float | None
    """None for kinds that do not recur; the other parts then get its weight."""
    recency: float
    task: float
    outcome: float
    total: float
    exception: str = ""
    """Reason why no floor applies: the user stated or pinned the memory."""
    usefulness: float = NEUTRAL
    """Factor by outcomes; lowers the rank, but not the total."""
    team: float = NEUTRAL
    """Factor of a teammate's memory; lowers the rank, but not the total."""

    @property
    def rank(self) -> float:
        """Return the number that orders memories of a layer."""
        return self.total * self.usefulness * self.team

    @property
    def is_stated(self) -> bool:
        return bool(self.exception)

    def is_silent(self) -> bool:
        """Return whether sessions ignored the memory so often that no context shows it."""
        return self.usefulness <= SILENT

    def parts(self) -> dict[str, float]:
        """Return the summand of each part."""
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
        """Return the score as a sum that can be checked by hand, with order and floor."""
        weighted = {"scope": SCOPE * self.scope, "recency": RECENCY * self.recency, "task": TASK * self.task}
        if self.frequency is not None:
            weighted["frequency"] = FREQUENCY * self.frequency
        terms = " + ".join(f"{name} {format_number(value)}" for name, value in weighted.items())
        terms = terms if self.frequency is not None else f"({terms}) / {format_number(_REST)}"
        if self.outcome:
            terms += f" {'-' if self.outcome < 0 else '+'} outcome {format_number(abs(self.outcome))}"
        terms += " - limit " + format_number(-limit) if (limit := self.parts().get("limit")) else ""
        total = format_number(self.total)
        named = (("use", self.usefulness), ("team", self.team))
        if factors := [f" × {name} {format_number(value)}" for name, value in named if value != NEUTRAL]:
            terms += f"; placed by {total}{''.join(factors)} = {format_number(self.rank)}"
        floor_text = f"{NO_FLOOR}: {self.exception}" if self.exception else layer_floor(format_number(floor))
        return "; ".join(filter(None, (f"{total} = {terms}", order, floor_text)))


def score(memory: Memory, now: datetime, task: Task | None, tally: Tally) -> Score:
    """Return the score of a candidate, whose scope matches the location."""
    parts = Score(
        scope=scope_value(memory.scope),
        frequency=min(memory.times_seen / _OFTEN, 1.0) if memory.kind in RECURRING else None,
        recency=recency_value(_days_since(memory.last_seen_at, now)),
        task=share_of(_text(memory), task) if task else UNKNOWN,
        outcome=outcome_value(tally),
        total=0.0,
        exception=_why_no_floor(memory),
        usefulness=start_factor(tally, is_stated=is_stated(memory)),
        team=team_factor(memory.origin),
    )
    return _summed(parts)


def _summed(parts: Score) -> Score:
    rest = SCOPE * parts.scope + RECENCY * parts.recency + TASK * parts.task
    base = rest / _REST if parts.frequency is None else rest + FREQUENCY * parts.frequency
    # Rounded: floating point must not let 0.49 / 0.7 miss a floor of 0.7.
    total = round(min(max(base + parts.outcome, 0.0), 1.0), _DIGITS)
    return replace(parts, total=total)


def _text(memory: Memory) -> str:
    return "\n".join((memory.title, memory.summary, memory.detail, *memory.facts, *memory.tags))


def _days_since(seen: datetime, now: datetime) -> float | None:
    return None if seen.year <= _YEAR_OF_NO_DATE else (now - seen).total_seconds() / _SECONDS_A_DAY


def is_stated(memory: Memory) -> bool:
    """Return whether the user stated or pinned a memory."""
    return bool(_why_no_floor(memory))


def _why_no_floor(memory: Memory) -> str:
    if memory.origin == "user":
        return user_origin_label(memory.made_by, memory.trust)
    return "pinned by the user" if memory.pinned else ""


def passes(memory_score: Score, floor: float) -> bool:
    """Return whether a score reaches a floor."""
    return memory_score.is_stated or (memory_score.total >= floor and not memory_score.is_silent())


def scope_value(scope: str) -> float:
    """Return the value of a scope: higher for a narrower scope."""
    if scope.startswith("project:"):
        return _PROJECT
    return _LANGUAGE if scope.startswith("language:") else _UNIVERSAL


def recency_value(days: float | None) -> float:
    """Return the value of an age in days; None is an unknown age."""
    if days is None:
        return UNKNOWN
    return next((value for limit, value in _RECENCY_BY_DAYS if days < limit), _LONG_AGO)


def outcome_value(tally: Tally) -> float:
    """Return the summand of outcomes: at most 0.05, and less with few outcomes."""
    injected = tally.used + tally.ignored + tally.unknown
    return round(_MAX_BY_OUTCOME * (tally.used - tally.ignored) / (injected + 2), _DIGITS)


def factor(tally: Tally, *, is_stated: bool = False) -> float:
    """Return the factor for prompts, failures and files, and for sessions: 0 after 8 sessions that ignored the item."""
    return _factor(tally, _PRIOR_SESSIONS, is_stated=is_stated)


def start_factor(tally: Tally, *, is_stated: bool = False) -> float:
    """Return the factor for memories at session start: 0 after 20 sessions that ignored the item."""
    return _factor(tally, _PRIOR_SESSIONS_AT_START, is_stated=is_stated)


def _factor(tally: Tally, prior: int, *, is_stated: bool) -> float:
    """Return the factor of an item.

    The minimum share of use raises the factor, the maximum share lowers it. So an unknown outcome does neither."""
    minimum = _rate(tally.used, tally, prior)
    if minimum >= EXPECTED_RATE:
        rise = min((minimum - EXPECTED_RATE) / (_HIGH_RATE - EXPECTED_RATE), 1.0)
        return round(NEUTRAL + (MAX_FACTOR - NEUTRAL) * rise, _DIGITS)
    return max(_lowered(_rate(tally.used + tally.unknown, tally, prior)), MIN_STATED if is_stated else SILENT)


def _rate(used: int, tally: Tally, prior: int) -> float:
    """Return the expected share of use: the counts, joined with the expected rate."""
    return (used + EXPECTED_RATE * prior) / (tally.used + tally.ignored + tally.unknown + prior)


def _lowered(rate: float) -> float:
    """Return the factor below the expected rate, 0 at the noise rate.

    Falls slowly at first: floors are set for neutral items, and a useful item is ignored twice as often as used."""
    short = min(max((EXPECTED_RATE - rate) / (EXPECTED_RATE - NOISE_RATE), 0.0), 1.0)
    return round(NEUTRAL - short**_EXPONENT, _DIGITS)
