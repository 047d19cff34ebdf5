"""Fields of what the worker told, each read as what it should be; anything else in its place is nothing.

For all that talk to the worker. A worker of another version may tell less, or otherwise."""

from collections.abc import Mapping, Sequence

from claude_mem_lite.models import JsonObject, text

NOTHING_CERTAIN = "Nothing certain; nearest"
"""The heading of hits of which none is certain."""
_CHANGES = {
    "merge": "{} was merged into {}",
    "join": "{} was recognised as {} and merged into it",
    "rename": "{} was renamed to {}",
    "move": "{} was moved to {}",
    "split": "{1} was split from {0}",
}


def part(told: JsonObject, name: str) -> JsonObject:
    """An object in it; empty when there is none."""
    value = told.get(name)
    return value if isinstance(value, Mapping) else {}


def objects(told: JsonObject, name: str) -> Sequence[JsonObject]:
    """The objects of a list in it; none when there is no list."""
    value = told.get(name)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def number(told: JsonObject, name: str) -> float:
    """A number in it; 0 when there is none."""
    value = told.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def whole_or_none(told: JsonObject, name: str) -> int | None:
    """A whole number in it. True is none, though Python counts it as 1."""
    value = told.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def whole(told: JsonObject, name: str) -> int:
    """A whole number in it; 0 when there is none."""
    return whole_or_none(told, name) or 0


def is_uncertain(hit: JsonObject) -> bool:
    """Whether a hit is only near to what was asked. A record that no search made is certain."""
    return hit.get("certain") is False


def describe_change(change: JsonObject) -> str:
    """Say what a change to projects did, as a sentence without its full stop."""
    sentence = _CHANGES.get(text(change.get("kind")), "{} became {}")
    return sentence.format(text(change.get("source_name")), text(change.get("target_name")))
