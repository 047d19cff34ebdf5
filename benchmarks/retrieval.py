"""Commit subject -> the session that made the commit: ranking of sessions and how good it is.

A session's score is the sum of what was found of it, best first, with weights 1, ½, ¼ …"""

import math
import random
import sqlite3
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.transcripts import Query, RawTurn
from claude_mem_lite.words import index_text, query_words

CHUNK_CHARACTERS = 900
ROUNDS = 2000
MEASURES = ("R@1", "R@5", "R@10", "MRR", "NDCG@10")
# What a tool call is about, as far as one line of text can tell; never what came out of it.
_TARGETS = ("file_path", "notebook_path", "path", "command", "description", "pattern", "query", "url", "prompt")

Rank = Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Measured:
    """The mean of a measure over all queries, with its 95 % interval by bootstrap over queries."""

    mean: float
    low: float
    high: float


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


def measure(queries: Sequence[Query], rank: Rank) -> dict[str, Measured]:
    """How good a ranking of sessions is, by measure."""
    outcomes = [_outcome(query, rank(query.text)) for query in queries]
    return {name: _over_queries([outcome[name] for outcome in outcomes]) for name in MEASURES}


def raw_chunks(turns: Iterable[RawTurn]) -> Rank:
    """The baseline: prompts, prose and tool targets as they are, cut into chunks, found by their words."""
    db = sqlite3.connect(":memory:")
    db.execute("create virtual table chunks using fts5 (text, session unindexed, tokenize = 'porter unicode61')")
    for turn in turns:
        db.executemany("insert into chunks values (?, ?)", [(index_text(text), turn.session) for text in _chunks(turn)])

    def rank(text: str) -> list[str]:
        match = " OR ".join(f'"{word}"' for word in query_words(text))
        found = db.execute("select session, -bm25(chunks) from chunks where chunks match ?", (match,))
        return added(found)

    return rank


def _chunks(turn: RawTurn) -> Iterator[str]:
    targets = [
        text for call in turn.calls for name in _TARGETS if isinstance(text := call.input.get(name), str) and text
    ]
    whole = "\n".join((turn.prompt, *turn.prose, *targets))
    for start in range(0, len(whole), CHUNK_CHARACTERS):
        yield whole[start : start + CHUNK_CHARACTERS]


def _outcome(query: Query, ranked: Sequence[str]) -> dict[str, float]:
    wanted = set(query.sessions)
    places = [place for place, session in enumerate(ranked, 1) if session in wanted]
    ideal = sum(1 / math.log2(place + 1) for place in range(1, min(len(wanted), 10) + 1))
    outcome = {f"R@{k}": sum(place <= k for place in places) / len(wanted) for k in (1, 5, 10)}
    outcome["MRR"] = 1 / places[0] if places else 0.0
    outcome["NDCG@10"] = sum(1 / math.log2(place + 1) for place in places if place <= 10) / ideal
    return outcome


def _over_queries(values: Sequence[float]) -> Measured:
    order = random.Random(0)
    means = sorted(statistics.fmean(order.choices(values, k=len(values))) for _ in range(ROUNDS))
    return Measured(statistics.fmean(values), means[int(ROUNDS * 0.025)], means[int(ROUNDS * 0.975)])
