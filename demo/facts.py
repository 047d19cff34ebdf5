"""What the next session has to know, and what must never be kept, worded as in the recorded session."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fact:
    name: str
    words: str


TOLD: Sequence[Fact] = (
    Fact("the cause", "sales_by_day took the day straight from placed_at, which is stored in UTC"),
    Fact("the fix", "converts placed_at to the shop's time zone before orders are grouped"),
    Fact("the decision", "keep UTC in the database and to convert only in reports"),
    Fact("its reason", "the payment provider's webhooks send UTC"),
    Fact("the next step", "use local_day() in export_csv"),
)
KEPT_OUT: Sequence[Fact] = (
    Fact("the private phone number", "+358 40 555 0173"),
    Fact("the database password", "gunpowder-71-oolong"),
)


def is_told(fact: Fact, context: str) -> bool:
    """Whether the context says it: line breaks, capitals and the marks around code do not matter."""
    return _flat(fact.words) in _flat(context)


def _flat(text: str) -> str:
    return " ".join(text.replace("`", "").lower().split())
