"""Ranking of word-index rows by BM25, with bounded work however many rows there are. Used by `fts` and `passages`.

BM25 reads every row that has any of the words, and counts every row of each word. So rare words go first, and
expensive words are used only when too few rows were found."""

import heapq
import itertools
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing

from claude_mem_lite.text import is_beginning
from claude_mem_lite.values import frozen

Fits = Callable[[Sequence[int]], set[int]]
"""Function that returns the rows of a list that match the filters."""

# Limit of counted rows of common words that are used beside rare words.
_MAX_BESIDE = 80_000
_MAX_NEWEST = 1_000
# A third of all rows.
_MANY = 3
_MAX_WORDS = 24
# For a pasted page, the rarest words are chosen among this number, by a count that takes 30 µs a word.
_MAX_COUNTED_WORDS = 96
_ROUGHLY = 500
_MAX_BEGINNINGS = 3
_MIN_BEGINNING_LENGTH = 4
_SPARE_ROWS = 20
_MIN_SCORE = 1e-6


@frozen
class ScoringLimits:
    """Limits of the work of a search."""

    max_scored: int = 5_000
    """Scoring takes 1 µs a row where the index is small and up to 3 µs among 1,000,000 rows."""
    small: int = 20_000
    """Size up to which all rows of an index may be scored."""
    tiny: int = 1_000
    """Size up to which even words of all rows are scored."""
    max_counted: int = 250_000
    """Counting the rows of a word takes 45 ns a row."""


SCORING_LIMITS = ScoringLimits()


@frozen
class WordIndex:
    """An FTS5 table and the weights of its columns."""

    table: str
    weights: str
    share: float = 1.0
    """Share of the scored rows for this index: the indexes of a search share the time of the search."""
    is_hasty: bool = False
    """Skip rows that have only words too common to be scored, however few other rows there are, and count fewer
    common words beside rare ones."""
    limits: ScoringLimits = SCORING_LIMITS

    @property
    def most_scored(self) -> int:
        return int(self.limits.max_scored * self.share)

    @property
    def most_beside(self) -> int:
        return int(_MAX_BESIDE * self.share) if self.is_hasty else _MAX_BESIDE


@frozen
class _Term:
    phrase: str
    rows: int
    """Number of rows that have the phrase, estimated above the number that may be scored."""


def best_rows(
    db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str, fits: Fits, limit: int
) -> list[tuple[int, float]]:
    """Return row numbers with scores, higher is better, of rows that have any of the words.

    Rows must match `held`, an FTS5 expression, unless it is empty, and must pass `fits`. The result is complete if
    fewer than `limit` rows qualify."""
    everything = highest_row(db, index)
    within = _rows_with(db, index, held, everything) if held else everything
    terms = _terms(db, index, words, held, everything) if within and limit > 0 else []
    scored_terms = _affordable(terms, everything, within, index)
    left = [term for term in terms if term not in scored_terms]
    matches = [_any_of(scored_terms)] if scored_terms else []
    if scored_terms and (countable := _countable(scored_terms, left, index.most_beside)):
        # Rows that have common words besides the rare ones are scored by all of them: rows with every word come first.
        matches.append(f"({_any_of(scored_terms)}) AND ({_any_of(countable)})")
    is_wide = within > index.most_scored
    # Where many rows match `held`, most of the best rows pass, and filtering by the index takes longer.
    narrowing = "" if is_wide and within > everything // _MANY else held
    scores = dict(_scored(db, index, matches, narrowing, is_wide, fits, limit))
    for match, counted in _wider_matches(left) if left and not index.is_hasty else ():
        if len(scores) >= limit:
            break
        least = min(scores.values(), default=float("inf"))
        for seq, score in _newest(db, index, _and(match, held), counted + (within if held else 0), fits, limit):
            scores.setdefault(seq, min(score, least))
    return list(scores.items())[:limit]


def phrase(word: str) -> str:
    """Return a word as an FTS5 phrase; a word that FTS5 splits becomes a phrase of several words."""
    return f'"{word}" *' if is_beginning(word) else f'"{word}"'


def all_with_one_of(words: Sequence[str], names: Sequence[str]) -> str:
    """Return an FTS5 expression for rows with all words and one of some names; each name is a phrase of index words."""
    return " AND ".join((*map(phrase, words), f"({' OR '.join(map(phrase, names))})"))


def count(db: sqlite3.Connection, index: WordIndex, match: str, most: int) -> int:
    """Return the number of matching rows, counted up to `most`."""
    (number,) = db.execute(
        f"select count(*) from (select 1 from {index.table} where {index.table} match :match limit :most)",
        {"match": match, "most": most},
    ).fetchone()
    return int(number)


def remove_orphans(db: sqlite3.Connection, index: WordIndex, source: str) -> None:
    """Remove the rows whose number is not in a table."""
    db.execute(
        f"""delete from {index.table}
            where rowid in (select rowid from {index.table} except select seq from {source})"""
    )


def scrub(db: sqlite3.Connection, index: WordIndex) -> None:
    """Rewrite an index so that removed words leave the file: deleting alone keeps them."""
    db.execute(f"insert into {index.table} ({index.table}) values ('optimize')")


def is_corrupt(db: sqlite3.Connection, index: WordIndex) -> bool:
    """Return True if an index does not match the words stored beside it. The check takes half a second among 100,000
    rows."""
    try:
        db.execute(f"insert into {index.table} ({index.table}) values ('integrity-check')")
    except sqlite3.OperationalError:  # a lock or a full disk: not corruption
        raise
    except sqlite3.DatabaseError:
        return True
    return False


def repair(db: sqlite3.Connection, index: WordIndex) -> None:
    """Rebuild a corrupt index from the words stored beside it; a sound index stays unchanged."""
    if is_corrupt(db, index):
        db.execute(f"insert into {index.table} ({index.table}) values ('rebuild')")


def _terms(db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str, everything: int) -> list[_Term]:
    """Return the terms that occur in the index, rarest first. A word without matches is tried as the beginning of a
    word."""
    rows: dict[str, int] = {}
    beginnings = 0
    for word in _rarest(db, index, words, held):
        asked = phrase(word)
        occurs = index.is_hasty or count(db, index, _and(asked, held), 1)
        rows[asked] = _rows_with(db, index, asked, everything) if occurs else 0
        if rows[asked] or is_beginning(word) or len(word) < _MIN_BEGINNING_LENGTH or beginnings == _MAX_BEGINNINGS:
            continue
        beginnings += 1
        asked = f'"{word}" *'
        rows[asked] = _rows_with(db, index, asked, everything)
    return sorted((_Term(*item) for item in rows.items() if item[1]), key=lambda term: term.rows)


def _rarest(db: sqlite3.Connection, index: WordIndex, words: Sequence[str], held: str) -> list[str]:
    """Return the words of a query; for a long query only the rarest words that occur."""
    distinct = list(dict.fromkeys(words))
    if len(distinct) <= _MAX_WORDS:
        return distinct
    rows = {word: count(db, index, _and(phrase(word), held), _ROUGHLY) for word in distinct[:_MAX_COUNTED_WORDS]}
    return sorted((word for word in rows if rows[word]), key=lambda word: rows[word])[:_MAX_WORDS]


def _affordable(terms: Sequence[_Term], everything: int, within: int, index: WordIndex) -> list[_Term]:
    """Return the terms, rarest first, that can be scored at once. A term of half of all rows is left out: BM25 gives
    the term next to no weight, and needs the most time for it."""
    limits = index.limits
    if everything <= limits.small:
        telling = [term for term in terms if 2 * term.rows <= everything]
        return telling if telling and everything > limits.tiny else list(terms)
    affordable: list[_Term] = []
    scored = counted = 0
    for term in terms:
        scored = min(scored + term.rows, within)
        counted += term.rows
        if scored > index.most_scored or counted > limits.max_counted or 2 * term.rows > everything:
            break
        affordable.append(term)
    return affordable


def _countable(scored_terms: Sequence[_Term], left: Sequence[_Term], most: int) -> list[_Term]:
    """Return the common terms whose rows may still be counted, rarest first."""
    counted = sum(term.rows for term in scored_terms)
    rows = itertools.accumulate((term.rows for term in left), initial=counted)
    return [term for term, sum_ in zip(left, itertools.islice(rows, 1, None), strict=True) if sum_ <= most]


def _wider_matches(left: Sequence[_Term]) -> Iterator[tuple[str, int]]:
    """Yield queries for terms that are too common to be scored at once, each wider than the query before."""
    counted = sum(term.rows for term in left)
    if len(left) > 1:
        yield " AND ".join(f"({term.phrase})" for term in left), counted
    yield left[0].phrase, left[0].rows
    if len(left) > 1:
        yield _any_of(left), counted


def _scored(
    db: sqlite3.Connection, index: WordIndex, matches: Sequence[str], held: str, is_wide: bool, fits: Fits, limit: int
) -> list[tuple[int, float]]:
    """Return the best rows of several matches, each row with its best score."""
    with ExitStack() as cursors:
        ranked = [cursors.enter_context(closing(_by_score(db, index, match, held, is_wide))) for match in matches]
        merged = heapq.merge(*(map(tuple, rows) for rows in ranked), key=lambda row: row[1], reverse=True)
        return _fitting(_first_of_each(merged), fits, limit)


def _by_score(db: sqlite3.Connection, index: WordIndex, match: str, held: str, is_wide: bool) -> sqlite3.Cursor:
    where, values = f"{index.table} match :match", {"match": _and(match, held)}
    if held and is_wide:
        # Inside the match BM25 would count every row of `held`, although their weight is zero. The plus sign keeps
        # SQLite from a lookup in the index for each row.
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
    """Return the best of the newest matching rows; unscored when even scoring them would take long."""
    is_scored = counted <= index.limits.max_counted
    score = f"-bm25({index.table}, {index.weights})" if is_scored else str(_MIN_SCORE)
    rows = db.execute(
        f"""select rowid, {score} as score from {index.table}
            where {index.table} match :match order by rowid desc""",
        {"match": match},
    )
    with closing(rows):
        scored = ((row["rowid"], row["score"]) for row in rows)
        newest = _fitting(scored, fits, max(_MAX_NEWEST, limit) if is_scored else limit)
    return sorted(newest, key=lambda row: row[1], reverse=True)[:limit]


def _fitting(rows: Iterator[tuple[int, float]], fits: Fits, most: int) -> list[tuple[int, float]]:
    """Return the first rows that pass: filters are applied to the few rows that matter, however many they reject."""
    fitting: list[tuple[int, float]] = []
    batch_size = most + _SPARE_ROWS
    while len(fitting) < most and (batch := list(itertools.islice(rows, batch_size))):
        passing = fits([seq for seq, _ in batch])
        fitting += [row for row in batch if row[0] in passing]
        batch_size *= 2
    return fitting[:most]


def _rows_with(db: sqlite3.Connection, index: WordIndex, match: str, everything: int) -> int:
    """Return the number of matching rows. In a large index, a number above the scoring limit is estimated from the
    density of the first matches."""
    most = index.most_scored if everything > index.limits.small else index.limits.small
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
