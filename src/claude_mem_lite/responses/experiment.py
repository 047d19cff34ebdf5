"""Responses about the user's experiment."""

from claude_mem_lite.responses.encoding import Response, response

OUTCOME_NAMES = {
    "calls_before_edit": "tool calls before the first edit",
    "files_before_edit": "files read before the first edit",
    "repeated_failures": "sessions with a repeated failure",
    "corrections": "sessions with a correction by you",
    "turns": "turns in a session",
    "tokens": "tokens, without cache reads",
    "seconds": "time in seconds",
}
"""Names of the outcomes for the user."""
VERDICTS = {
    "lower": "lower with memories",
    "higher": "higher with memories",
    "too_few": "cannot tell yet: too few sessions",
    "no_effect_seen": "cannot tell yet: no difference seen",
    "more_needed": "cannot tell yet",
    "too_small": "cannot tell: the difference is too small",
}

HOW_TO_READ = (
    "The first outcome decides; the others have wider intervals, because several are compared. In 95 % of experiments "
    "an interval holds the true difference at every look."
)


@response
class ComparedOutcome(Response):
    """One outcome of control and treated sessions beside each other."""

    name: str = ""
    is_primary: bool = False
    scale: str = ""
    control_sessions: int = 0
    treated_sessions: int = 0
    control: float | None = None
    treated: float | None = None
    effect: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    can_tell: bool = False
    more_sessions: int | None = None
    level: float = 0.05


@response
class Experiment(Response):
    """State of the experiment with its outcomes."""

    share: float
    began_at: str | None = None
    control_sessions: int = 0
    """Control sessions that have ended and count."""
    treated_sessions: int = 0
    outcomes: tuple[ComparedOutcome, ...] = ()


def value_text(outcome: ComparedOutcome, value: float | None) -> str:
    """Return the value of an arm for the user."""
    if value is None:
        return "unknown"
    if outcome.scale == "share":
        return f"{value:.0%}"
    return f"{value:,.0f}" if value >= 1_000 else f"{value:,.1f}"


def difference_text(outcome: ComparedOutcome) -> str:
    """Return the difference with its interval: a factor, or points of a share."""
    if outcome.effect is None:
        return ""
    form = "{:+.0%}" if outcome.scale == "share" else "x{:.2f}"
    low, high = (form.format(limit) if limit is not None else "" for limit in (outcome.low, outcome.high))
    interval = (
        f"{low} to {high}" if low and high else f"from {low}" if low else f"up to {high}" if high else "may be any"
    )
    return f"{form.format(outcome.effect)} ({interval})"
