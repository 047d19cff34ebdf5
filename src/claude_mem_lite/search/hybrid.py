"""A question -> hits: memories and raw text, found by words and by meaning, best first, each with its reasons."""

import logging
import math
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.models import Embedder, Filters, Hit, Memory, Passage, Weighed
from claude_mem_lite.search.certainty import Certainty, rarity
from claude_mem_lite.search.rank_fusion import RULE, Relevance, Rule, fuse
from claude_mem_lite.search.vector_index import VectorIndex, one_moment
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages, vectors
from claude_mem_lite.text import matched_words, query_words

_CANDIDATES = 100
_MAX_CANDIDATES = 1_600
# All boosts together: what is more relevant by more than this is never outranked by what is newer or pinned.
_BOOSTS = 0.05
_PINNED_BOOST = 0.02
_MONTH = 30.0
_SAME_WORDS = 0.85
_COMPARED = 400
_LOOKED_THROUGH = 4_000
"""How much of a text is looked through for the words it was found by, to name them."""
_SPARE = 6
_BEGINNING = 3
# Somebody waits for what is weighed, and wants the very best of it only.
_WEIGHED = 40
# So that the logarithm of a number of memories is never next to nothing.
_YOUNG = 2
_UNTOLD_COSINE = 0.4
# More at once would take longer each, and memory for each.
_AT_ONCE = 2
_DIGITS = 4
# Counting the rows of a word takes 45 ns a row. A word that more have is as good as common.
_COUNTED = 1_000
_MAX_WEIGHTED = 24
_MAX_NAMED = 96
"""Of a pasted page, so many words are looked for in what was found, to name them."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Candidate:
    document: int
    found: Memory | Passage
    relevance: Relevance
    recency: float
    pinned: float
    score: float
    held_back: float = 0.0
    """What is taken off the score of raw text, to hold it below the memories that are as good."""
    has_every_word: bool = False


@dataclass(slots=True)
class _Folded:
    """A candidate with the ids of those that say nearly the same."""

    candidate: _Candidate
    alike: list[str]


class Search:
    """Holds what a search needs in memory; everything else it is given. Safe to use from several threads."""

    def __init__(self, embedder: Embedder, index: VectorIndex, rule: Rule = RULE) -> None:
        self._rule = rule
        self._embedder = embedder
        self._index = index
        self._failed = False
        self._at_once = threading.BoundedSemaphore(_AT_ONCE)
        self.used_at = 0.0
        """When it was last used, on the monotonic clock."""

    def search(self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        """The best hits for a query, best first. Any text is a safe query; one without words finds nothing."""
        return self._search(db, query, filters, now, limit, explained=True)

    def unexplained(self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        """The same hits without the reasons: to name the words of each takes a fifth of the time."""
        return self._search(db, query, filters, now, limit, explained=False)

    def weigh(
        self, db: sqlite3.Connection, query: str, words: Sequence[str], filters: Filters, limit: int
    ) -> list[Weighed]:
        """The memories that most speaks for, each with how much: scores of a search tell only which hit is the best.

        `words` are looked for, and what `query` means."""
        self.used_at = time.monotonic()
        wanted = replace(filters, with_passages=False)
        with self._at_once, one_moment(db):
            by_words = dict(fts.search(db, words, wanted, _WEIGHED, hasty=True)) if words else {}
            cosines = self._cosines(db, query, by_words, wanted)
            scale = math.log(fts.highest(db) + _YOUNG)
            by_words = {seq: score / scale for seq, score in by_words.items()}

            def rough(seq: int) -> float:
                return (by_words.get(seq, 0.0) + 1) * cosines.get(seq, _UNTOLD_COSINE)

            best = sorted(by_words.keys() | cosines, key=rough, reverse=True)[:limit]
            read = memories.by_seq(db, best)
        return [Weighed(read[seq], by_words.get(seq, 0.0), cosines.get(seq)) for seq in best if seq in read]

    def _cosines(
        self, db: sqlite3.Connection, query: str, by_words: Collection[int], filters: Filters
    ) -> dict[int, float]:
        """How near the nearest memories are to a query, and those that were found by words; by row number."""
        vector = self._vector(query)
        if not vector:
            return {}
        near = dict(self._index.nearest(db, vector, filters, _WEIGHED))
        others = [document for seq in by_words if (document := vectors.of_memory(seq)) not in near]
        near |= self._index.cosines(db, vector, others)
        return {vectors.seq_of(document): cosine for document, cosine in near.items()}

    def make_ready(self) -> None:
        """Load what does not depend on the database: most of what the first search would take longer than others."""
        self.used_at = time.monotonic()
        self._vector("ready")

    def let_go(self) -> None:
        """Free what was loaded; the next search loads it again."""
        self._index.let_go()
        self._embedder.let_go()

    def _search(
        self, db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int, *, explained: bool
    ) -> list[Hit]:
        words = query_words(query)
        if not words:
            return []
        self.used_at = time.monotonic()
        # In one moment: a row number that was found may be another memory's a moment later.
        with self._at_once, one_moment(db):
            vector = self._vector(query)
            found = self._searched(db, words, vector, filters, now, limit)
            return self._explained(db, found, words[:_MAX_NAMED], vector, now) if explained else list(map(_hit, found))

    def _explained(
        self, db: sqlite3.Connection, found: Sequence[_Folded], words: Sequence[str], vector: bytes, now: datetime
    ) -> list[Hit]:
        """The hits with their reasons, and whether each is certain."""
        cosines = {one.candidate.document: one.candidate.relevance.cosine for one in found}
        if vector and (unknown := [document for document, cosine in cosines.items() if cosine is None]):
            cosines |= dict.fromkeys(unknown, 0.0) | self._index.cosines(db, vector, unknown)
        weights = _weights(db, words) if found else {}
        asked = sum(weights.values())
        hits = []
        for one in found:
            matched = matched_words(words, _all_text(one.candidate.found))
            known = {word: weights[word] for word in matched if word in weights}
            certainty = Certainty(known, asked, cosines[one.candidate.document])
            why = (*_why(one.candidate, matched, now), certainty.explained())
            told = replace(_hit(one), why=why, is_certain=certainty.is_certain())
            hits.append(replace(told, matched=known, share=certainty.share, cosine=certainty.cosine))
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
        wanted = max(_CANDIDATES, 2 * limit)
        while True:
            by_words = _by_words(db, words, filters, wanted)
            by_meaning = self._index.nearest(db, vector, filters, wanted) if vector else None
            relevant = fuse(by_words, by_meaning, self._rule)
            hits = self._hits(db, relevant, words[:_MAX_NAMED], now, limit)
            # Too few although there is more: most of the candidates say the same.
            if len(hits) >= limit or len(relevant) < wanted or wanted >= _MAX_CANDIDATES:
                return hits
            wanted *= 4

    def _vector(self, query: str) -> bytes:
        """What a query means; empty when nobody can tell, and words have to do."""
        if not _is_latin(query):
            return b""
        try:
            (vector,) = self._embedder.embed([query])
        except Exception:  # whatever is wrong with it, words are found as before
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
        """The best of what is relevant, in tiers and folded; more is read only when much of it is folded."""
        number = limit + limit // 2 + _SPARE
        while True:
            weighed = _weighed(_read(db, _foremost(relevant, number)), relevant, words, now)
            hits = _folded(_in_tiers(weighed, self._rule.good), limit)
            if len(hits) >= limit or number >= len(relevant):
                return hits
            number *= 4


def _weights(db: sqlite3.Connection, words: Sequence[str]) -> dict[str, float]:
    """How much each word of a query counts for certainty; of a pasted page only the first ones do."""
    number = fts.highest(db) + passages.highest(db)
    return {
        word: rarity(fts.count_everywhere(db, word, _COUNTED) + passages.count_with(db, word, _COUNTED), number)
        for word in words[:_MAX_WEIGHTED]
    }


def _is_latin(query: str) -> bool:
    """Whether most letters are Latin: of other scripts the table knows single characters, which mean little."""
    letters = [char for char in query if char.isalpha()]
    return 2 * sum(char < "\u0250" for char in letters) >= len(letters)


def _by_words(db: sqlite3.Connection, words: Sequence[str], filters: Filters, limit: int) -> dict[int, float]:
    found = {vectors.of_memory(seq): score for seq, score in fts.search(db, words, filters, limit)}
    return found | {vectors.of_passage(seq): score for seq, score in passages.search(db, words, filters, limit)}


def _foremost(relevant: Mapping[int, Relevance], number: int) -> list[int]:
    """The most relevant documents of each tier, more than will be shown: boosts and folding change the order a little.

    Reading a memory takes longer than finding it, so not all that were found are read."""
    ranked = sorted(relevant, key=lambda document: relevant[document].value, reverse=True)
    tiers = ([one for one in ranked if vectors.is_passage(one) is raw][:number] for raw in (False, True))
    return [document for tier in tiers for document in tier]


def _read(db: sqlite3.Connection, chosen: Sequence[int]) -> dict[int, Memory | Passage]:
    of_memories, of_passages = vectors.apart(chosen)
    found: dict[int, Memory | Passage] = {
        vectors.of_memory(seq): memory for seq, memory in memories.by_seq(db, of_memories).items()
    }
    return found | {vectors.of_passage(seq): passage for seq, passage in passages.by_seq(db, of_passages).items()}


def _weighed(
    found: Mapping[int, Memory | Passage], relevant: Mapping[int, Relevance], words: Sequence[str], now: datetime
) -> list[_Candidate]:
    weighed = []
    for document, one in found.items():
        recency = (_BOOSTS - _PINNED_BOOST) / (1 + _days(one, now) / _MONTH)
        pinned = _PINNED_BOOST if isinstance(one, Memory) and one.pinned else 0.0
        relevance = relevant[document]
        has_every = isinstance(one, Memory) and relevance.words > 0 and _has_every(words, _all_text(one))
        if has_every:
            relevance = relevance.with_every_word()
        score = relevance.value * (1 - _BOOSTS) + recency + pinned
        weighed.append(_Candidate(document, one, relevance, recency, pinned, score, has_every_word=has_every))
    return sorted(weighed, key=lambda one: (-one.score, one.found.id))


def _has_every(words: Sequence[str], text: str) -> bool:
    plain = text.lower()
    squeezed = plain.replace("_", "").replace("-", "")
    # Most texts do not even have the beginnings, and splitting a text into its words takes a hundred times as long.
    if not all(word[:_BEGINNING] in plain or word[:_BEGINNING] in squeezed for word in words):
        return False
    return len(matched_words(words, text)) == len(words)


def _in_tiers(ranked: list[_Candidate], share: float) -> list[_Candidate]:
    """The same, with raw text held back below the memories that are good."""
    best = ranked[0].score if ranked else 0.0
    good = [one.score for one in ranked if isinstance(one.found, Memory) and one.score >= share * best]
    if not good:
        return ranked
    ceiling = min(good)
    held = [
        replace(one, score=ceiling, held_back=one.score - ceiling)
        if isinstance(one.found, Passage) and one.score > ceiling
        else one
        for one in ranked
    ]
    # Sorting is stable: passages at the ceiling keep their order, behind the memories that are there.
    return sorted(held, key=lambda one: (-one.score, isinstance(one.found, Passage)))


def _folded(ranked: Sequence[_Candidate], limit: int) -> list[_Folded]:
    """Return the first of them, those that say nearly the same folded into one: a memory stands for raw text that says
    what it says, never the other way round."""
    folded: list[_Folded] = []
    told: list[frozenset[str]] = []
    for one in ranked:
        own = frozenset(_beginning(one.found).lower().split())
        twin = next((at for at, other in enumerate(told) if _say_the_same(own, other)), None)
        if twin is not None and isinstance(one.found, Memory) and isinstance(folded[twin].candidate.found, Passage):
            folded[twin] = _Folded(one, [folded[twin].candidate.found.id, *folded[twin].alike])
        elif twin is not None:
            folded[twin].alike.append(one.found.id)
        elif len(folded) < limit:
            folded.append(_Folded(one, []))
            told.append(own)
        else:
            break
    return sorted(folded, key=lambda one: -one.candidate.score)


def _hit(one: _Folded) -> Hit:
    return Hit(one.candidate.found, round(one.candidate.score, _DIGITS), (), tuple(one.alike))


def _say_the_same(own: frozenset[str], other: frozenset[str]) -> bool:
    ours, theirs = len(own), len(other)
    if ours < _SAME_WORDS * theirs or theirs < _SAME_WORDS * ours:
        return False
    both = len(own & other)
    return both >= _SAME_WORDS * (ours + theirs - both)


def _beginning(found: Memory | Passage) -> str:
    told = found.summary if isinstance(found, Memory) else found.text
    return f"{found.title} {told[:_COMPARED]}"


def _why(one: _Candidate, matched: Sequence[str], now: datetime) -> Iterator[str]:
    """The terms of a score, each with its reason: `words 0.4821 (cart, sqlite)`. They add up to the score."""
    share = 1 - _BOOSTS
    if one.relevance.words:
        named = ", ".join(matched) or "by their stems"
        yield _term("words", one.relevance.words * share, f"all of them: {named}" if one.has_every_word else named)
    if one.relevance.cosine is not None and one.relevance.meaning:
        yield _term("meaning", one.relevance.meaning * share, f"cosine {one.relevance.cosine:.2f}")
    yield _term("recency", one.recency, f"{_days(one.found, now):.0f} days")
    if one.pinned:
        yield _term("pinned", one.pinned, "by the user")
    if one.held_back:
        yield _term("held back", -one.held_back, "raw text stays below the memories that are as good")


def _term(name: str, value: float, reason: str) -> str:
    return f"{name} {value:.{_DIGITS}f} ({reason})"


def _all_text(found: Memory | Passage) -> str:
    if isinstance(found, Passage):
        return f"{found.asked}\n{found.answered}"[:_LOOKED_THROUGH]
    symbols = (symbol.name for symbol in found.symbols)
    told = "\n".join((found.title, found.summary, *found.facts, *found.files, *symbols, *found.tags, found.detail))
    return told[:_LOOKED_THROUGH]


def _days(found: Memory | Passage, now: datetime) -> float:
    seen_at = found.last_seen_at if isinstance(found, Memory) else found.created_at
    return max((now - seen_at).total_seconds() / 86400, 0.0)
