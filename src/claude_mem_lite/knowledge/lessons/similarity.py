"""Similarity of sentences by words and vectors together: each alone takes many different sentences for the same.

Used for repetitions, for dismissed sentences, and for saves after a question. In doubt two sentences are different."""

from collections.abc import Sequence
from functools import lru_cache

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.providers import Embedder
from claude_mem_lite.store.lesson_candidates import MAX_COMPARED, without_pushback, wording_of
from claude_mem_lite.text import denies, share_of_both, stems

# Among the candidates of five recorded projects seven pairs of sessions exceed both bounds; all have the same meaning.
MIN_SHARED, MIN_COSINE = 0.3, 0.7
# Of random pairs of sentences of one project, 1 % exceed a bound.
MIN_RELATED_COSINE, MIN_RELATED_SHARED = 0.5, 0.5
_MIN_STEMS = 2
_FILLERS = "since again always"
_MIN_COMMON_STEMS = 3
# "Yes, go with the first" has no more stems.
_MAX_POINTER_STEMS = 3
_NUMBER = lazy(r"\d+")


@lru_cache(maxsize=4 * MAX_COMPARED)
def _stems(sentence: str) -> frozenset[str]:
    return frozenset(stems(sentence)) - frozenset(stems(_FILLERS))


def _numbers(sentence: str) -> set[str]:
    return set(_NUMBER.findall(sentence))


def has_same_words(sentence: str, other: str) -> bool:
    """Return True if two sentences have the same words, at least one with content."""
    wording = wording_of(sentence)
    return bool(wording) and wording == wording_of(other)


class Likeness:
    """Comparison of sentences, safe for any thread. Vectors are computed only for pairs with enough common words."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    def repeats(self, sentence: str, others: Sequence[str]) -> list[int]:
        """Return the positions of the sentences with the same meaning."""
        near = [at for at, other in enumerate(others) if _may_be_same(sentence, other)]
        if not near:
            return []
        cosines = self._cosines(sentence, [others[at] for at in near])
        return [at for at, cosine in zip(near, cosines, strict=True) if cosine >= MIN_COSINE]

    def is_related(self, text: str, sentence: str, before: str) -> bool:
        """Return True if a text is related to a sentence of the user, or to the message that the sentence answers.

        `before` is the agent's own message. Its words alone show a relation only for a sentence without content."""
        said, ours = set(stems(sentence)), set(stems(text))
        common = len(said & ours)
        if common >= _MIN_STEMS and common >= MIN_RELATED_SHARED * len(said):
            return True
        known = len(ours & {*said, *stems(before)})
        may_be_of_before = common > 0 or _is_pointer(sentence)
        if may_be_of_before and known >= _MIN_COMMON_STEMS and known >= MIN_RELATED_SHARED * len(ours):
            return True
        return self._cosines(text, [sentence])[0] >= MIN_RELATED_COSINE

    def _cosines(self, sentence: str, others: Sequence[str]) -> list[float]:
        """Return the cosines of sentences to a sentence; 0 for a sentence without a known word."""
        from claude_mem_lite.search.sign_index import cosines

        ours, *theirs = self._embedder.embed([sentence, *others])
        known = [vector for vector in theirs if any(vector)] if any(ours) else []
        found = iter(cosines(ours, known) if known else ())
        return [next(found) if known and any(vector) else 0.0 for vector in theirs]


def _is_pointer(sentence: str) -> bool:
    """Return True if a sentence has no content of its own: "I like option C"."""
    from claude_mem_lite.compress.lessons.statement import stands_alone  # late: see `worker/loading.py`

    return len(stems(sentence)) <= _MAX_POINTER_STEMS and not stands_alone(sentence)


def _may_be_same(sentence: str, other: str) -> bool:
    sentence, other = without_pushback(sentence), without_pushback(other)
    ours, theirs = _stems(sentence), _stems(other)
    if min(len(ours), len(theirs)) < _MIN_STEMS or share_of_both(ours, theirs) < MIN_SHARED:
        return False
    from claude_mem_lite.knowledge.claims.claim import contradict  # late: see `worker/loading.py`

    # One exchanged word or number is another value: "British spelling", "American spelling".
    is_exchanged = len(ours - theirs) == len(theirs - ours) == 1 or _numbers(sentence) != _numbers(other)
    return not is_exchanged and denies(sentence) == denies(other) and not contradict(sentence, other)
