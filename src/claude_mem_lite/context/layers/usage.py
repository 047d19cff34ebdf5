"""What earlier sessions made of candidates for the start: what they had no use for sinks, until it is silent."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.context.usefulness import SILENT, factor, start_factor
from claude_mem_lite.store import receipts

UNUSED = "no session had use for it"


def memory_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """What the relevance of memories is multiplied by; 1 where nothing is known."""
    tallies = receipts.standing_tallies(db, ids, at_need=False)
    return {id_: start_factor(tallies[id_]) if id_ in tallies else 1.0 for id_ in ids}


def unused_sessions(db: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    """The sessions that are not told of any more. Of those much more is used than of memories, and each is told to few
    before newer ones take its place: the rule of moments of need fits."""
    tallies = receipts.standing_tallies(db, ids, at_need=False)
    return {id_ for id_, tally in tallies.items() if factor(tally) <= SILENT}
