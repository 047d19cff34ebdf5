"""Explanations of places: the numbers that order the lines of layers without a score, as sums and ranks; reasons why
candidates are left out.

Called by the layers; pure. Every explanation ends with the floor that held for its line."""

from datetime import UTC, datetime

NO_ROOM = "no room"
OUTRANKED = "others come before it"
GONE = "gone: its code is not here"
NO_FLOOR = "no floor of the layer"
_DIGITS = 4


def newest_first(rank: int, number: int, at: datetime, *more: str) -> str:
    """Return `newest first: 3 of 10 (2026-03-01T10:00:00Z)`, followed by what else decided."""
    return "; ".join((f"newest first: {rank} of {number} ({moment(at)})", *more))


def moment(at: datetime) -> str:
    """Return a time by which lines are ordered, in UTC and seconds."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def shown(value: float, digits: int = _DIGITS) -> str:
    """Return a number as it is printed."""
    return f"{round(value, digits):g}"


def layer_floor(least: str) -> str:
    """Return the floor that a line has to reach to be a candidate; its value has another."""
    return f"the floor of the layer is {least}"


def confidence_floor(confidence: float, least: float, *, is_pinned: bool = False) -> str:
    """Return the floor of a memory that is told for its likeness or its age."""
    held = f"{NO_FLOOR}: pinned by the user" if is_pinned else layer_floor(shown(least))
    return f"confidence {shown(confidence)}, {held}"


def use_floor(use: float) -> str:
    """Return the floor of a session: it is silent once its use is 0."""
    return f"use {shown(use)}, {layer_floor('over 0')}"
