"""Commit subject -> the session that made the commit: ranking of sessions and how good it is.

A session's score is the sum of what was found of it, best first, with weights 1, ½, ¼ …, or its best alone."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from benchmarks.transcripts import Query
from claude_mem_lite.evaluation.intervals import Measured, bootstrapped

MEASURES = ("R@1", "R@5", "all@5", "R@10", "MRR", "NDCG@10")

Rank = Callable[[str], Sequence[str]]
Outcome = Mapping[str, float]


def added(found: Iterable[tuple[str, float]]) -> list[str]:
    """Sessions, best first, from the scores of what was found of each."""
    scores: dict[str, list[float]] = defaultdict(list)
    for session, score in found:
        scores[session].append(score)
    total = {
        session: sum(score * 0.5**place for place, score in enumerate(sorted(values, reverse=True)))
        for session, values in scores.items()
    }
    return sorted(total, key=lambda session: (-total[session], session))


def best_of(found: Iterable[tuple[str, float]]) -> list[str]:
    """Sessions by the best that was found of each."""
    best: dict[str, float] = {}
    for session, score in found:
        best[session] = max(score, best.get(session, -math.inf))
    return sorted(best, key=lambda session: (-best[session], session))


def measure(queries: Sequence[Query], rank: Rank) -> dict[str, Measured]:
    """How good a ranking of sessions is, by measure."""
    outcomes = [outcome_of(query, rank(query.text)) for query in queries]
    return {name: over_queries(outcomes, name) for name in MEASURES}


def outcome_of(query: Query, ranked: Sequence[str]) -> Outcome:
    """What a ranking is worth for one query, by measure."""
    wanted = set(query.sessions)
    places = [place for place, session in enumerate(ranked, 1) if session in wanted]
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), 10) + 1))
    outcome = {f"R@{k}": sum(place <= k for place in places) / len(wanted) for k in (1, 5, 10)}
    outcome["all@5"] = float(sum(place <= 5 for place in places) == len(wanted))
    outcome["MRR"] = 1 / places[0] if places else 0.0
    outcome["NDCG@10"] = sum(1 / math.log2(place + 1) for place in places if place <= 10) / ideal
    return outcome


def over_queries(outcomes: Sequence[Outcome], name: str) -> Measured:
    return bootstrapped([outcome[name] for outcome in outcomes])


def difference(outcomes: Sequence[Outcome], others: Sequence[Outcome], name: str) -> Measured:
    """How much better the first are, query by query."""
    return bootstrapped([one[name] - other[name] for one, other in zip(outcomes, others, strict=True)])
