"""What earlier sessions made of candidates for the start: what they had no use for sinks, until it is silent."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.context.usefulness import NEUTRAL, SILENT, factor, start_factor
from claude_mem_lite.store import receipts

UNUSED = "no session had use for it"


def memory_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """What the relevance of memories is multiplied by; 1 where nothing is known."""
    tallies = receipts.standing_tallies(db, ids, at_need=False)
    return {id_: start_factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def session_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the use of sessions; one at 0 is not told of any more. Of sessions much more is used than of memories, and
    each is told to few before newer ones take its place: the rule of moments of need fits."""
    tallies = receipts.standing_tallies(db, ids, at_need=False)
    return {id_: factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def is_unused(use: float) -> bool:
    return use <= SILENT
