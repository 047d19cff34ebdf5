"""Names of teammates in lines about received memories, and the place of received memories in rankings. Pure."""

import re

MAX_AUTHOR_LENGTH = 40
TEAM_FACTOR = 0.9
"""Factor of a received memory in a ranking."""
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\[\](){}<>#,;:|\"`]")
_NOBODY = "a teammate"


def author_name(author: str) -> str:
    """Return the name of a teammate as shown in a line: without signs that belong to the frame of the line."""
    return " ".join(_NOT_IN_NAMES.sub(" ", author).split())[:MAX_AUTHOR_LENGTH].rstrip() or _NOBODY


def source_name(origin: str, author: str) -> str:
    """Return the origin of a memory; for a received memory the name of its author."""
    return author_name(author) if origin == "team" else origin


def received_from(author: str) -> str:
    """Return the source of a received memory as a phrase."""
    return f"received from {author_name(author)}'s device"


def received_note(origin: str, author: str) -> str:
    """Return the phrase as the end of a reason; '' for a memory that was not received."""
    return f", {received_from(author)}" if origin == "team" else ""


def team_factor(origin: str) -> float:
    """Return the factor of a memory in a ranking: a received memory ranks below one's own of the same score."""
    return TEAM_FACTOR if origin == "team" else 1.0
