"""`python -m benchmarks.retrieval DATA [MODEL]`: how well the session of a commit is found by its subject.

The sessions are imported by the product's own command, without what gives a commit away (evidence.py), and searched by
the product's own search, in the index it made itself. Beside it stand the baselines: the raw text cut into chunks.
MODEL is the folder of the package that the embedding table was made from (embedding/README.md): with it, the whole
model is measured too.

The numbers of the rule are varied, and chosen by cross-validation over sessions: for each fifth of the sessions by the
queries of the other four. What that would have given is told beside what the rule in force gives."""

import random
import sqlite3
import statistics
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

if not __package__:  # run as a file, not as a module
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks.baselines import Chunks, Encode, WholeModel, WholeModelIndex, static_encoder, whole_model
from benchmarks.evidence import write_without_evidence
from benchmarks.figures import Figure, keep
from benchmarks.product import product, temporary_folder
from benchmarks.ranking import MEASURES, Outcome, Rank, difference, outcome_of, over_queries
from benchmarks.stored import last_moment, remembered
from benchmarks.transcripts import Data, Query, plain_turns
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.evaluation.intervals import Measured
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.rank_fusion import RULE, RankingRule
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.search_values import Filters
from claude_mem_lite.worker.api.records import rank_sessions

HITS = 200
FOLDS = 5
FLOORS = {"fused": {"R@5": 0.68, "MRR": 0.58}, "lexical": {"R@5": 0.617, "MRR": 0.522}}
SHARES = (0.0, 0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 1.0)
GOOD = (0.7, 0.8, 0.9, 1.01)

Outcomes = Sequence[Outcome]


def main(arguments: Sequence[str]) -> int:
    data = Data(Path(arguments[0]))
    model = whole_model(Path(arguments[1])) if arguments[1:] else None
    figures: list[Figure] = []
    with temporary_folder() as folder:
        write_without_evidence(data, folder / "filtered")
        with product(folder / "home", folder / "filtered") as made:
            made.run_import()
            made.wait_until_indexed()
            with remembered(made.home) as db:
                now = last_moment(db)
                table, index = StaticTable(), VectorIndex()

                def by(rule: RankingRule) -> Rank:
                    return _ranked(Search(table, index, rule), db, now)

                figures += _told(_product(data.queries, by))
                figures += _told(_tried(data.queries, by))
                if model:
                    whole = Search(WholeModel(model), WholeModelIndex(db, model))
                    figures += _told(_with_whole_model(data.queries, by(RULE), _ranked(whole, db, now)))
        figures += _told(_baselines(data.queries, folder / "filtered", model))
    return keep("retrieval", "Retrieval", figures, "python -m benchmarks.retrieval DATA [MODEL]")


def _told(figures: Iterable[Figure]) -> Iterator[Figure]:
    """The same, each printed as it comes."""
    for figure in figures:
        print(figure.line(), flush=True)
        yield figure


def _ranked(search: Search, db: sqlite3.Connection, now: datetime) -> Rank:
    return lambda text: [session for session, _ in rank_sessions(search.search(db, text, Filters(), now, HITS))]


def _product(queries: Sequence[Query], by: Callable[[RankingRule], Rank]) -> Iterator[Figure]:
    rules = {
        "fused": RULE,
        "lexical": replace(RULE, share_of_meaning=0.0),
        "semantic": replace(RULE, share_of_meaning=1.0),
    }
    outcomes = {name: _outcomes(queries, by(rule)) for name, rule in rules.items()}
    for name, outcome in outcomes.items():
        yield from _measures(name, outcome, FLOORS.get(name, {}))
    for measure in ("R@5", "MRR"):
        gained = difference(outcomes["fused"], outcomes["lexical"], measure)
        yield Figure(f"fused over lexical: {measure}", round(gained.mean, 3), "", note=_interval(gained))


def _tried(queries: Sequence[Query], by: Callable[[RankingRule], Rank]) -> Iterator[Figure]:
    """Every setting on all queries, and what choosing one by cross-validation gives."""
    tried = {
        rule: _outcomes(queries, by(rule))
        for rule in (RankingRule(share_of_meaning=share, good=good) for share in SHARES for good in GOOD)
    }
    for rule, outcomes in tried.items():
        recall, first = over_queries(outcomes, "R@5"), over_queries(outcomes, "MRR")
        name = f"tried: meaning {rule.share_of_meaning:g}, good {rule.good:g}: MRR"
        note = f"{_interval(first)}; R@5 {recall.mean:.3f}, {_interval(recall)}"
        yield Figure(name, round(first.mean, 3), "", note=note)
    chosen = _cross_validated(queries, tried)
    yield from _measures("chosen by cross-validation", chosen, {})


def _cross_validated(queries: Sequence[Query], tried: Mapping[RankingRule, Outcomes]) -> list[Outcome]:
    """The outcome of each query under the rule that was best on the queries of the other folds' sessions."""
    sessions = sorted({session for query in queries for session in query.sessions})
    random.Random(0).shuffle(sessions)
    fold_of = {session: place % FOLDS for place, session in enumerate(sessions)}
    chosen: dict[int, Outcome] = {}
    for fold in range(FOLDS):
        inside = [at for at, query in enumerate(queries) if fold_of[query.sessions[0]] == fold]
        others = [at for at in range(len(queries)) if at not in set(inside)]
        best = max(tried, key=lambda rule: statistics.fmean(_worth(tried[rule][at]) for at in others))
        print(f"  fold {fold}: meaning {best.share_of_meaning:g}, good {best.good:g}")
        chosen |= {at: tried[best][at] for at in inside}
    return [chosen[at] for at in range(len(queries))]


def _worth(outcome: Outcome) -> float:
    return outcome["R@5"] + outcome["MRR"]


def _with_whole_model(queries: Sequence[Query], ours: Rank, whole: Rank) -> Iterator[Figure]:
    """What the model itself would gain in the place of the table."""
    with_table, with_model = _outcomes(queries, ours), _outcomes(queries, whole)
    yield from _measures("fused, with the whole model instead of the table", with_model, {})
    for measure in ("R@5", "MRR"):
        gained = difference(with_model, with_table, measure)
        yield Figure(f"whole model over table: {measure}", round(gained.mean, 3), "", note=_interval(gained))


def _baselines(queries: Sequence[Query], folder: Path, model: Encode | None) -> Iterator[Figure]:
    chunks = Chunks(plain_turns(folder))
    yield from _measures("raw chunks, words, best", _outcomes(queries, chunks.by_words(best=True)), {})
    yield from _measures("raw chunks, words, added", _outcomes(queries, chunks.by_words()), {})
    encoders = {"static table": static_encoder()}
    if model:
        encoders["whole model"] = model
    for name, encode in encoders.items():
        chunks.embed(encode)
        yield from _measures(f"raw chunks, {name}, best", _outcomes(queries, chunks.by_meaning()), {})
        fused = _outcomes(queries, chunks.fused(0.3))
        yield from _measures(f"raw chunks, 0.7 words + 0.3 {name}, added", fused, {})


def _outcomes(queries: Sequence[Query], rank: Rank) -> list[Outcome]:
    return [outcome_of(query, rank(query.text)) for query in queries]


def _measures(name: str, outcomes: Outcomes, floors: Mapping[str, float]) -> Iterator[Figure]:
    for measure in MEASURES:
        value = over_queries(outcomes, measure)
        yield Figure(f"{name}: {measure}", round(value.mean, 3), "", floor=floors.get(measure), note=_interval(value))


def _interval(value: Measured) -> str:
    return f"95 % interval {value.low:.3f} to {value.high:.3f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
