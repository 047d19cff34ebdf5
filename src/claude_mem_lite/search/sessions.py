"""Hits -> the sessions they come from: in which session was that?"""

from collections.abc import Sequence

from claude_mem_lite.models import Hit


def rank_sessions(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Sessions with their score, best first: what is best of a session counts in full, each further hit half as much.

    So a session that is about the question all along stands above one that names it once, and below one that
    answers it outright: a hundred poor hits never add up to two good ones."""
    scores: dict[str, float] = {}
    weights: dict[str, float] = {}
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        session = hit.found.session
        if session:
            weight = weights.get(session, 1.0)
            scores[session] = scores.get(session, 0.0) + weight * hit.score
            weights[session] = weight / 2
    # Sorting is stable: of two with the same score, the one with the better hit was met first.
    return sorted(scores.items(), key=lambda one: one[1], reverse=True)
