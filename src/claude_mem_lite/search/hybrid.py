"""Hybrid search: memories and raw text by words and by meaning, best first, each hit with its reasons."""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.authors import received_from, team_factor
from claude_mem_lite.models import Memory, Passage
from claude_mem_lite.providers import Embedder
from claude_mem_lite.search.rank_fusion import RULE, Certainty, RankingRule, Relevance, fuse, rarity
from claude_mem_lite.search.vector_index import VectorIndex, snapshot
from claude_mem_lite.search_values import Filters, Hit, ScoredMemory
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages, vectors
from claude_mem_lite.store.index.ranking import SCORING_LIMITS, ScoringLimits
from claude_mem_lite.text import matched_words, query_words
from claude_mem_lite.values import frozen

_CANDIDATES = 100
_MAX_CANDIDATES = 1_600
# Limit of all boosts together: recency and pins never outrank a document whose relevance is higher by more.
_BOOSTS = 0.05
_PINNED_BOOST = 0.02
_MONTH = 30.0
_SAME_WORDS = 0.85
_COMPARED = 400
_MAX_SCANNED = 4_000
"""Length of the text that is scanned for the matched words."""
_SPARE = 6
_BEGINNING = 3
# Fewer rows for scored memories: a caller waits for the very best of them only.
_MAX_SCORED = 40
# Keeps the logarithm of the number of memories well above 0.
_YOUNG = 2
_DEFAULT_COSINE = 0.4
# More parallel searches would each take longer, and more memory.
_AT_ONCE = 2
_DIGITS = 4
# Counting the rows of a word takes 45 ns a row. A word with more rows counts as common.
_COUNTED = 1_000
_MAX_WEIGHTED = 24
_MAX_NAMED = 96
"""Limit of the words of a pasted page that are looked up in the hits."""
log = logging.getLogger(__name__)


@frozen
class _ScoredDocument:
    document: int
    found: Memory | Passage
    relevance: Relevance
    recency: float
    pinned: float
    score: float
    held_back: float = 0.0
    """Reduction of the score of raw text, which keeps raw text below equally good memories."""
    has_every_word: bool = False
    team: float = 0.0
    """Reduction of the score of a teammate's memory."""


@dataclass(slots=True)
class _Folded:
    """A candidate with the ids of near-duplicates."""

    candidate: _ScoredDocument
    alike: list[str]


class Search:
    """Search over a database, with the embedder and the vector index in memory. Safe to use from several threads."""

    def __init__(
        self,
        embedder: Embedder,
        index: VectorIndex,
        rule: RankingRule = RULE,
        limits: ScoringLimits = SCORING_LIMITS,
    ) -> None:
        self._rule = rule
        self._limits = limits
        self._embedder = embedder
        self._index = index
        self._failed = False
        self._at_once = threading.BoundedSemaphore(_AT_ONCE)
        self.used_at = 0.0
        """Time of the last use, on the monotonic clock."""

    def search(self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        """Return the best hits for a query, best first. Any text is a safe query; a query without words finds
        nothing."""
        return self._search(db, query, filters, now, limit, explained=True)

    def search_without_reasons(
        self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int
    ) -> list[Hit]:
        """Return the same hits without reasons: naming the matched words takes a fifth of the time."""
        return self._search(db, query, filters, now, limit, explained=False)

    def score_memories(
        self, db: sqlite3.Connection, query: str, words: Sequence[str], filters: Filters, limit: int
    ) -> list[ScoredMemory]:
        """Score memories on an absolute scale, so that a threshold can be applied; `search` only ranks.

        `words` are matched by the word index, and `query` by its vector."""
        self.used_at = time.monotonic()
        memory_filters = replace(filters, with_passages=False)
        with self._at_once, snapshot(db):
            by_words = dict(fts.search(db, words, memory_filters, _MAX_SCORED, hasty=True)) if words else {}
            cosines = self._cosines(db, query, by_words, memory_filters)
            scale = math.log(fts.highest(db) + _YOUNG)
            by_words = {seq: score / scale for seq, score in by_words.items()}

            def rough(seq: int) -> float:
                return (by_words.get(seq, 0.0) + 1) * cosines.get(seq, _DEFAULT_COSINE)

            best = sorted(by_words.keys() | cosines, key=rough, reverse=True)[:limit]
            read = memories.by_seq(db, best)
        return [ScoredMemory(read[seq], by_words.get(seq, 0.0), cosines.get(seq)) for seq in best if seq in read]

    def _cosines(
        self, db: sqlite3.Connection, query: str, by_words: Collection[int], filters: Filters
    ) -> dict[int, float]:
        """Return the cosines of the nearest memories and of the memories found by words, by row number."""
        vector = self._vector(query)
        if not vector:
            return {}
        near = dict(self._index.nearest(db, vector, filters, _MAX_SCORED))
        others = [document for seq in by_words if (document := vectors.of_memory(seq)) not in near]
        near |= self._index.cosines(db, vector, others)
        return {vectors.seq_of(document): cosine for document, cosine in near.items()}

    def make_ready(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """Load ahead what the first search needs: patterns, and table and vector index if anything has a vector. A
        failure is left to the first search."""
        self.used_at = time.monotonic()
        query_words("ready")
        with suppress(sqlite3.Error), closing(connect()) as db:
            if vectors.first_change(db) is None:
                return
            self._vector("ready")
            self._index.load(db)

    def release(self) -> None:
        """Free the loaded data; the next search loads it again."""
        self._index.release()
        self._embedder.release()

    def _search(
        self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int, *, explained: bool
    ) -> list[Hit]:
        words = query_words(query)
        if not words:
            return []
        self.used_at = time.monotonic()
        # One snapshot: between two reads, a row number may pass to another memory.
        with self._at_once, snapshot(db):
            vector = self._vector(query)
            folded = self._searched(db, words, vector, filters, now, limit)
            return (
                self._explained(db, folded, words[:_MAX_NAMED], vector, now) if explained else list(map(_hit, folded))
            )

    def _explained(
        self, db: sqlite3.Connection, folded: Sequence[_Folded], words: Sequence[str], vector: bytes, now: datetime
    ) -> list[Hit]:
        """Return the hits with their reasons and their certainty."""
        cosines = {entry.candidate.document: entry.candidate.relevance.cosine for entry in folded}
        if vector and (unknown := [document for document, cosine in cosines.items() if cosine is None]):
            cosines |= dict.fromkeys(unknown, 0.0) | self._index.cosines(db, vector, unknown)
        weights = _weights(db, words) if folded else {}
        asked = sum(weights.values())
        hits = []
        for entry in folded:
            matched = matched_words(words, _all_text(entry.candidate.found))
            known = {word: weights[word] for word in matched if word in weights}
            certainty = Certainty(known, asked, cosines[entry.candidate.document])
            why = (*_why(entry.candidate, matched, now), certainty.explained())
            hit = replace(_hit(entry), why=why, is_certain=certainty.is_certain())
            hits.append(replace(hit, matched=known, share=certainty.share, cosine=certainty.cosine))
        return hits

    def _searched(
        self,
        db: sqlite3.Connection,
        words: Sequence[str],
        vector: bytes,
        filters: Filters,
        now: datetime,
        limit: int,
    ) -> list[_Folded]:
        number = max(_CANDIDATES, 2 * limit)
        while True:
            by_words = _by_words(db, words, filters, number, self._limits)
            by_meaning = self._index.nearest(db, vector, filters, number) if vector else None
            relevant = fuse(by_words, by_meaning, self._rule)
            hits = self._hits(db, relevant, words[:_MAX_NAMED], now, limit)
            # Too few hits although there are more candidates: most of the candidates are near-duplicates.
            if len(hits) >= limit or len(relevant) < number or number >= _MAX_CANDIDATES:
                return hits
            number *= 4

    def _vector(self, query: str) -> bytes:
        """Return the vector of a query; empty without a usable vector, so that words alone decide."""
        if not _is_latin(query):
            return b""
        try:
            (vector,) = self._embedder.embed([query])
        except Exception:  # whatever is wrong with the embedder, search by words still works
            if not self._failed:
                log.exception("no search by meaning; words have to do")
            self._failed = True
            return b""
        return vector if any(vector) else b""

    def _hits(
        self,
        db: sqlite3.Connection,
        relevant: Mapping[int, Relevance],
        words: Sequence[str],
        now: datetime,
        limit: int,
    ) -> list[_Folded]:
        """Return the best of the relevant documents, in tiers and folded. More documents are read only when many are
        folded."""
        number = limit + limit // 2 + _SPARE
        while True:
            scored = _scored(_read(db, _foremost(relevant, number)), relevant, words, now)
            hits = _folded(_in_tiers(scored, self._rule.good), limit)
            if len(hits) >= limit or number >= len(relevant):
                return hits
            number *= 4


def _weights(db: sqlite3.Connection, words: Sequence[str]) -> dict[str, float]:
    """Return the weight of each word of a query for the certainty; of a pasted page only the first words count."""
    number = fts.highest(db) + passages.highest(db)
    return {
        word: rarity(fts.count_everywhere(db, word, _COUNTED) + passages.count_with(db, word, _COUNTED), number)
        for word in words[:_MAX_WEIGHTED]
    }


def _is_latin(query: str) -> bool:
    """Return True if most letters are Latin: of other scripts the table has single characters only, without much
    meaning."""
    letters = [char for char in query if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _by_words(
    db: sqlite3.Connection, words: Sequence[str], filters: Filters, limit: int, limits: ScoringLimits
) -> dict[int, float]:
    in_memories = fts.search(db, words, filters, limit, limits=limits)
    in_passages = passages.search(db, words, filters, limit, limits)
    scores = {vectors.of_memory(seq): score for seq, score in in_memories}
    return scores | {vectors.of_passage(seq): score for seq, score in in_passages}


def _foremost(relevant: Mapping[int, Relevance], number: int) -> list[int]:
    """Return the most relevant documents of each tier, more than will be shown, because boosts and folding change the
    order a little.

    Reading a memory takes longer than finding it, so not all found documents are read."""
    ranked = sorted(relevant, key=lambda document: relevant[document].value, reverse=True)
    tiers = ([document for document in ranked if vectors.is_passage(document) is raw][:number] for raw in (False, True))
    return [document for tier in tiers for document in tier]


def _read(db: sqlite3.Connection, chosen: Sequence[int]) -> dict[int, Memory | Passage]:
    of_memories, of_passages = vectors.apart(chosen)
    documents: dict[int, Memory | Passage] = {
        vectors.of_memory(seq): memory for seq, memory in memories.by_seq(db, of_memories).items()
    }
    return documents | {vectors.of_passage(seq): passage for seq, passage in passages.by_seq(db, of_passages).items()}


def _scored(
    documents: Mapping[int, Memory | Passage], relevant: Mapping[int, Relevance], words: Sequence[str], now: datetime
) -> list[_ScoredDocument]:
    scored = []
    for document, entry in documents.items():
        recency = (_BOOSTS - _PINNED_BOOST) / (1 + _days(entry, now) / _MONTH)
        pinned = _PINNED_BOOST if isinstance(entry, Memory) and entry.pinned else 0.0
        relevance = relevant[document]
        has_every = isinstance(entry, Memory) and relevance.words > 0 and _has_every(words, _all_text(entry))
        if has_every:
            relevance = relevance.with_every_word()
        full = relevance.value * (1 - _BOOSTS) + recency + pinned
        score = full * team_factor(entry.origin) if isinstance(entry, Memory) else full
        boosts = (recency, pinned, score)
        scored.append(_ScoredDocument(document, entry, relevance, *boosts, has_every_word=has_every, team=full - score))
    return sorted(scored, key=lambda candidate: (-candidate.score, candidate.found.id))


def _has_every(words: Sequence[str], text: str) -> bool:
    plain = text.lower()
    squeezed = plain.replace("_", "").replace("-", "")
    # Most texts lack even the beginnings, and splitting a text into its words takes a hundred times as long.
    if not all(word[:_BEGINNING] in plain or word[:_BEGINNING] in squeezed for word in words):
        return False
    return len(matched_words(words, text)) == len(words)


def _in_tiers(ranked: list[_ScoredDocument], share: float) -> list[_ScoredDocument]:
    """Return the candidates with raw text held back below the good memories."""
    best = ranked[0].score if ranked else 0.0
    good = [
        candidate.score
        for candidate in ranked
        if isinstance(candidate.found, Memory) and candidate.score >= share * best
    ]
    if not good:
        return ranked
    ceiling = min(good)
    held = [
        replace(candidate, score=ceiling, held_back=candidate.score - ceiling)
        if isinstance(candidate.found, Passage) and candidate.score > ceiling
        else candidate
        for candidate in ranked
    ]
    # Sorting is stable: passages at the ceiling keep their order, behind the memories with the same score.
    return sorted(held, key=lambda candidate: (-candidate.score, isinstance(candidate.found, Passage)))


def _folded(ranked: Sequence[_ScoredDocument], limit: int) -> list[_Folded]:
    """Return the first candidates, near-duplicates folded into one: a memory represents raw text of the same
    content, never the other way round."""
    folded: list[_Folded] = []
    word_sets: list[frozenset[str]] = []
    for candidate in ranked:
        words = frozenset(_beginning(candidate.found).lower().split())
        duplicate = next((at for at, other in enumerate(word_sets) if _are_similar(words, other)), None)
        if (
            duplicate is not None
            and isinstance(candidate.found, Memory)
            and isinstance(folded[duplicate].candidate.found, Passage)
        ):
            folded[duplicate] = _Folded(candidate, [folded[duplicate].candidate.found.id, *folded[duplicate].alike])
        elif duplicate is not None:
            folded[duplicate].alike.append(candidate.found.id)
        elif len(folded) < limit:
            folded.append(_Folded(candidate, []))
            word_sets.append(words)
        else:
            break
    return sorted(folded, key=lambda candidate: -candidate.candidate.score)


def _hit(folded: _Folded) -> Hit:
    return Hit(folded.candidate.found, round(folded.candidate.score, _DIGITS), (), tuple(folded.alike))


def _are_similar(own: frozenset[str], other: frozenset[str]) -> bool:
    ours, theirs = len(own), len(other)
    if ours < _SAME_WORDS * theirs or theirs < _SAME_WORDS * ours:
        return False
    both = len(own & other)
    return both >= _SAME_WORDS * (ours + theirs - both)


def _beginning(found: Memory | Passage) -> str:
    text = found.summary if isinstance(found, Memory) else found.text
    return f"{found.title} {text[:_COMPARED]}"


def _why(candidate: _ScoredDocument, matched: Sequence[str], now: datetime) -> Iterator[str]:
    """Yield the terms of a score, each with its reason: `words 0.4821 (cart, sqlite)`. The terms add up to the
    score."""
    share = 1 - _BOOSTS
    if candidate.relevance.words:
        named = ", ".join(matched) or "by their stems"
        yield _term(
            "words", candidate.relevance.words * share, f"all of them: {named}" if candidate.has_every_word else named
        )
    if candidate.relevance.cosine is not None and candidate.relevance.meaning:
        yield _term("meaning", candidate.relevance.meaning * share, f"cosine {candidate.relevance.cosine:.2f}")
    yield _term("recency", candidate.recency, f"{_days(candidate.found, now):.0f} days")
    if candidate.pinned:
        yield _term("pinned", candidate.pinned, "by the user")
    if candidate.team and isinstance(candidate.found, Memory):
        yield _term("team", -candidate.team, received_from(candidate.found.author))
    if candidate.held_back:
        yield _term("held back", -candidate.held_back, "raw text stays below the memories that are as good")


def _term(name: str, value: float, reason: str) -> str:
    return f"{name} {value:.{_DIGITS}f} ({reason})"


def _all_text(found: Memory | Passage) -> str:
    if isinstance(found, Passage):
        return f"{found.asked}\n{found.answered}"[:_MAX_SCANNED]
    symbols = (symbol.name for symbol in found.symbols)
    text = "\n".join((found.title, found.summary, *found.facts, *found.files, *symbols, *found.tags, found.detail))
    return text[:_MAX_SCANNED]


def _days(found: Memory | Passage, now: datetime) -> float:
    seen_at = found.last_seen_at if isinstance(found, Memory) else found.created_at
    return max((now - seen_at).total_seconds() / 86400, 0.0)
