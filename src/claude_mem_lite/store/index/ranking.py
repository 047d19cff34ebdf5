"""Words -> the best rows of a word index by BM25, with bounded work however many rows there are.

BM25 looks at every row that has any of the words, and counts every row of each word besides. So rare words go first,
and words that would cost too much are asked only when too little was found. Called by `fts` and `passages`."""

import heapq
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass

from claude_mem_lite.text import is_beginning

Fits = Callable[[Sequence[int]], set[int]]
"""Which of these rows are what the filters ask for."""

# Scoring takes 1 µs a row where the index is small and up to 3 µs among 1,000,000 rows.
MAX_SCORED = 5_000
# So many rows are scored all together when it comes to that.
SMALL = 20_000
# Of so few even what all have is scored.
_TINY = 1_000
# Counting the rows of a word takes 45 ns a row.
MAX_COUNTED = 250_000
# So many are counted of common words that are asked beside rare ones.
_MAX_BESIDE = 80_000
_MAX_NEWEST = 1_000
# A third of all rows.
_MANY = 3
_MAX_WORDS = 24
# Of a pasted page, the rarest are chosen among so many, by a count that takes 30 µs a word.
_MAX_LOOKED_AT = 96
_ROUGHLY = 500
_MAX_BEGINNINGS = 3
_MIN_BEGINNING_LENGTH = 4
_SOME_MORE = 20
_MIN_SCORE = 1e-6


@dataclass(frozen=True, slots=True)
class WordIndex:
    """An FTS5 table and what its columns weigh."""

    table: str
    weights: str
    share: float = 1.0
    """Of MAX_SCORED, what it may take: a search has one time for all its indexes."""
    is_hasty: bool = False
    """Rows that have only words too common to be scored are not looked for, however few others there are, and fewer
    common words are counted beside rare ones."""

    @property
    def most_scored(self) -> int:
        return int(MAX_SCORED * self.share)

    @property
    def most_beside(self) -> int:
        return int(_MAX_BESIDE * self.share) if self.is_hasty else _MAX_BESIDE


@dataclass(frozen=True, slots=True)
class _Term:
    phrase: str
    rows: int
    """How many rows of the index have it, estimated beyond what may be scored."""


def best_rows(
    db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str, fits: Fits, limit: int
) -> list[tuple[int, float]]:
    """Row numbers with their score, higher is better, of rows that have any of the words.

    Only rows that match `held`, an expression of FTS5, unless it is empty, and that fit. All of them are found when
    they are fewer than `limit`."""
    everything = highest_row(db, index)
    within = _rows_with(db, index, held, everything) if held else everything
    terms = _terms(db, index, words, held, everything) if within and limit > 0 else []
    kept = _affordable(terms, everything, within, index.most_scored)
    left = [term for term in terms if term not in kept]
    matches = [_any_of(kept)] if kept else []
    if kept and (told := _countable(kept, left, index.most_beside)):
        # Rows that have common words besides the rare ones are scored by all of them: what has every word comes first.
        matches.append(f"({_any_of(kept)}) AND ({_any_of(told)})")
    is_wide = within > index.most_scored
    # Where many rows match `held`, the best few are soon found to fit, and asking the index takes longer.
    narrowing = "" if is_wide and within > everything // _MANY else held
    found = dict(_scored(db, index, matches, narrowing, is_wide, fits, limit))
    for match, counted in _by_and_by(left) if left and not index.is_hasty else ():
        if len(found) >= limit:
            break
        least = min(found.values(), default=float("inf"))
        for seq, score in _newest(db, index, _and(match, held), counted + (within if held else 0), fits, limit):
            found.setdefault(seq, min(score, least))
    return list(found.items())[:limit]


def phrase(word: str) -> str:
    """A word as FTS5 is asked for it; more than a word of FTS5's own is a phrase there, and harms nothing."""
    return f'"{word}" *' if is_beginning(word) else f'"{word}"'


def count(db: sqlite3.Connection, index: WordIndex, match: str, most: int) -> int:
    """How many rows match, counted as far as matters."""
    (number,) = db.execute(
        f"select count(*) from (select 1 from {index.table} where {index.table} match :match limit :most)",
        {"match": match, "most": most},
    ).fetchone()
    return int(number)


def remove_orphans(db: sqlite3.Connection, index: WordIndex, source: str) -> None:
    """Remove the rows whose number is none of a table's."""
    db.execute(
        f"""delete from {index.table}
            where rowid in (select rowid from {index.table} except select seq from {source})"""
    )


def scrub(db: sqlite3.Connection, index: WordIndex) -> None:
    """Rewrite an index so that removed words leave the file: deleting alone keeps them."""
    db.execute(f"insert into {index.table} ({index.table}) values ('optimize')")


def is_damaged(db: sqlite3.Connection, index: WordIndex) -> bool:
    """Whether an index is not what the words stored beside it make; among 100,000 rows that takes half a second."""
    try:
        db.execute(f"insert into {index.table} ({index.table}) values ('integrity-check')")
    except sqlite3.OperationalError:  # locked, or no room: no damage
        raise
    except sqlite3.DatabaseError:
        return True
    return False


def mend(db: sqlite3.Connection, index: WordIndex) -> None:
    """Make a damaged index anew of the words that are stored beside it; a sound one stays as it is."""
    if is_damaged(db, index):
        db.execute(f"insert into {index.table} ({index.table}) values ('rebuild')")


def _terms(db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str, everything: int) -> list[_Term]:
    """What can be found of the words, rarest first. A word that nobody wrote is taken for the beginning of one."""
    rows: dict[str, int] = {}
    beginnings = 0
    for word in _rarest(db, index, words, held):
        asked = phrase(word)
        is_there = index.is_hasty or count(db, index, _and(asked, held), 1)
        rows[asked] = _rows_with(db, index, asked, everything) if is_there else 0
        if rows[asked] or is_beginning(word) or len(word) < _MIN_BEGINNING_LENGTH or beginnings == _MAX_BEGINNINGS:
            continue
        beginnings += 1
        asked = f'"{word}" *'
        rows[asked] = _rows_with(db, index, asked, everything)
    return sorted((_Term(*one) for one in rows.items() if one[1]), key=lambda term: term.rows)


def _rarest(db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str) -> list[str]:
    """The words of a question; of a long one the rarest that are there at all."""
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= _MAX_WORDS:
        return distinct
    rows = {word: count(db, index, _and(phrase(word), held), _ROUGHLY) for word in distinct[:_MAX_LOOKED_AT]}
    return sorted((word for word in rows if rows[word]), key=lambda word: rows[word])[:_MAX_WORDS]


def _affordable(terms: Sequence[_Term], everything: int, within: int, most_scored: int) -> list[_Term]:
    """The terms, rarest first, that can be scored at once. One that half of all rows have tells nothing: BM25 gives it
    next to no weight, and takes longest for it."""
    if everything <= SMALL:
        telling = [term for term in terms if 2 * term.rows <= everything]
        return telling if telling and everything > _TINY else list(terms)
    kept: list[_Term] = []
    scored = counted = 0
    for term in terms:
        scored = min(scored + term.rows, within)
        counted += term.rows
        if scored > most_scored or counted > MAX_COUNTED or 2 * term.rows > everything:
            break
        kept.append(term)
    return kept


def _countable(kept: Sequence[_Term], left: Sequence[_Term], most: int) -> list[_Term]:
    """Those of the common terms whose rows may still be counted, rarest first."""
    counted = sum(term.rows for term in kept)
    rows = itertools.accumulate((term.rows for term in left), initial=counted)
    return [term for term, sum_ in zip(left, itertools.islice(rows, 1, None), strict=True) if sum_ <= most]


def _by_and_by(left: Sequence[_Term]) -> Iterator[tuple[str, int]]:
    """Questions by terms that are too common to be scored at once, each wider than the one before."""
    counted = sum(term.rows for term in left)
    if len(left) > 1:
        yield " AND ".join(f"({term.phrase})" for term in left), counted
    yield left[0].phrase, left[0].rows
    if len(left) > 1:
        yield _any_of(left), counted


def _scored(
    db: sqlite3.Connection, index: WordIndex, matches: Sequence[str], held: str, is_wide: bool, fits: Fits, limit: int
) -> list[tuple[int, float]]:
    """The best rows of all that match any of these, each by its best score."""
    with ExitStack() as cursors:
        ranked = [cursors.enter_context(closing(_by_score(db, index, match, held, is_wide))) for match in matches]
        merged = heapq.merge(*(map(tuple, rows) for rows in ranked), key=lambda row: row[1], reverse=True)
        return _fitting(_first_of_each(merged), fits, limit)


def _by_score(db: sqlite3.Connection, index: WordIndex, match: str, held: str, is_wide: bool) -> sqlite3.Cursor:
    where, values = f"{index.table} match :match", {"match": _and(match, held)}
    if held and is_wide:
        # Inside the match BM25 would count every row that is held, although it gives them no weight. The sign keeps
        # SQLite from asking the index once for each of them.
        where += f" and +rowid in (select rowid from {index.table} where {index.table} match :held)"
        values = {"match": match, "held": _and(match, held)}
    return db.execute(
        f"""select rowid, -bm25({index.table}, {index.weights}) as score from {index.table}
            where {where} order by score desc, rowid desc""",
        values,
    )


def _first_of_each(rows: Iterator[tuple[int, float]]) -> Iterator[tuple[int, float]]:
    seen: set[int] = set()
    for row in rows:
        if row[0] not in seen:
            seen.add(row[0])
            yield row


def _newest(
    db: sqlite3.Connection, index: WordIndex, match: str, counted: int, fits: Fits, limit: int
) -> list[tuple[int, float]]:
    """The best of the newest rows that match; the newest as they come when even scoring those would take long."""
    is_scored = counted <= MAX_COUNTED
    score = f"-bm25({index.table}, {index.weights})" if is_scored else str(_MIN_SCORE)
    rows = db.execute(
        f"""select rowid, {score} as score from {index.table}
            where {index.table} match :match order by rowid desc""",
        {"match": match},
    )
    with closing(rows):
        found = ((row["rowid"], row["score"]) for row in rows)
        newest = _fitting(found, fits, max(_MAX_NEWEST, limit) if is_scored else limit)
    return sorted(newest, key=lambda one: one[1], reverse=True)[:limit]


def _fitting(rows: Iterator[tuple[int, float]], fits: Fits, most: int) -> list[tuple[int, float]]:
    """The first rows that fit: filters are asked for the few rows that matter, however many they leave out."""
    found: list[tuple[int, float]] = []
    at_once = most + _SOME_MORE
    while len(found) < most and (some := list(itertools.islice(rows, at_once))):
        fitting = fits([seq for seq, _ in some])
        found += [row for row in some if row[0] in fitting]
        at_once *= 2
    return found[:most]


def _rows_with(db: sqlite3.Connection, index: WordIndex, match: str, everything: int) -> int:
    """Return how many rows of `everything` match. Of a large index, beyond what may be scored, it is estimated from how
    close together the first of them are."""
    most = index.most_scored if everything > SMALL else SMALL
    number, first, reached = db.execute(
        f"""select count(*), min(rowid), max(rowid)
            from (select rowid from {index.table} where {index.table} match :match limit :most)""",
        {"match": match, "most": most + 1},
    ).fetchone()
    return int(number) if number <= most else int((most + 1) * (everything - first + 1) / (reached - first + 1))


def highest_row(db: sqlite3.Connection, index: WordIndex) -> int:
    (number,) = db.execute(f"select coalesce(max(rowid), 0) from {index.table}").fetchone()
    return int(number)


def _any_of(terms: Sequence[_Term]) -> str:
    return " OR ".join(term.phrase for term in terms)


def _and(match: str, held: str) -> str:
    return f"({match}) AND {held}" if held else match
