"""The memories of a turn as they were and as they are made now, paired by what they are about. Reads nothing.

Called by the rebuild of memories: a pair keeps one id."""

from collections.abc import Sequence

from claude_mem_lite.models import WORK_KINDS, Memory, without_request
from claude_mem_lite.text import stems

MIN_SHARED = 0.5
"""The share of words, files or anchors from which on two memories of one turn are about the same."""


def pair(old: Sequence[Memory], new: Sequence[Memory]) -> dict[int, Memory]:
    """Return the old memory for each new one that has one, by its position: the most alike first."""
    likeness = {
        (was, now): shared for was, one in enumerate(old) for now, two in enumerate(new) if (shared := alike(one, two))
    }
    found: dict[int, int] = {}
    for was, now in sorted(likeness, key=lambda both: (-likeness[both], both)):
        if now not in found and was not in found.values():
            found[now] = was
    return {now: old[was] for now, was in found.items()}


def alike(one: Memory, other: Memory) -> float:
    """Return how far two memories of one turn are about the same, from `MIN_SHARED` to 2; 0 when they are not."""
    if place_of(one) != place_of(other):
        return 0.0
    words = _shared(set(stems(_told(one))), set(stems(_told(other))), is_part=True)
    shared = max(words, _shared(set(one.files), set(other.files)), _shared(set(one.anchors), set(other.anchors)))
    if shared < MIN_SHARED:
        return 0.0
    return shared + (one.title.lower() == other.title.lower()) + words / 100  # of equal files, the nearer words


def place_of(memory: Memory) -> str:
    """Return the place that a memory has in its turn: one for all work, whatever its kind, else the kind."""
    return "work" if memory.kind in (*WORK_KINDS, "failure") else memory.kind


def _told(memory: Memory) -> str:
    return f"{memory.title}\n{without_request(memory.summary)}"


def _shared(ours: set[str], theirs: set[str], *, is_part: bool = False) -> float:
    """Return the share of what both have; of the smaller when one may be a part of the other."""
    whole = min(len(ours), len(theirs)) if is_part else len(ours | theirs)
    return len(ours & theirs) / whole if whole else 0.0
