"""Explanations for lines of layers without a score: ranks, sums, floors, and reasons to leave a candidate out.

Called by the layers; pure. Every explanation ends with the floor of its line."""

from datetime import UTC, datetime

NO_ROOM = "no room"
OUTRANKED = "others come before it"
GONE = "gone: its code is not here"
UNMERGED = "of a branch that is not merged here"
ALREADY_GIVEN = "given in this session before"
OWN_SESSION = "of this session itself"
REPEATED = "said by another that is given"
NO_FLOOR = "no floor of the layer"
_DIGITS = 4


def newest_first(rank: int, number: int, at: datetime, *more: str) -> str:
    """Return `newest first: 3 of 10 (2026-03-01T10:00:00Z)`, followed by further reasons."""
    return "; ".join((f"newest first: {rank} of {number} ({format_time(at)})", *more))


def format_time(at: datetime) -> str:
    """Return the time of a line in UTC and seconds."""
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def format_number(value: float, digits: int = _DIGITS) -> str:
    """Return a number rounded for an explanation."""
    return f"{round(value, digits):g}"


def layer_floor(minimum: str) -> str:
    """Return the text about the minimum of a layer; the minimum of value is separate."""
    return f"the floor of the layer is {minimum}"


def confidence_floor(confidence: float, minimum: float, *, is_pinned: bool = False) -> str:
    """Return the floor of a memory that a layer shows for similarity or recency."""
    floor = f"{NO_FLOOR}: pinned by the user" if is_pinned else layer_floor(format_number(minimum))
    return f"confidence {format_number(confidence)}, {floor}"


def use_floor(use: float) -> str:
    """Return the floor of a session: a session with use 0 is not shown."""
    return f"use {format_number(use)}, {layer_floor('over 0')}"
