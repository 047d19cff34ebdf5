"""Features of a sentence: words, position, length, and overlap with the work of the turn.

A class replaces each word of code, so that no weight depends on the names of one project. Pure."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from claude_mem_lite.compress.compose.candidates import SentenceCandidate
from claude_mem_lite.compress.compose.facts import TurnFacts
from claude_mem_lite.text import tokens_of
from claude_mem_lite.values import frozen

_TOKEN = re.compile(
    r"(?P<url>https?://\S+)|(?P<hash>\b(?=[a-f]*\d)[0-9a-f]{7,40}\b)|(?P<path>[\w.~-]*/[\w./~-]+|\w+\.(?:[a-z]{1,4})\b)"
    r"|(?P<code>`[^`\n]+`|\w+\(\)?|\w*[a-z][A-Z]\w*|\w+_\w+|--?[a-z][\w-]+|\w+(?:\.\w+)+|[A-Z]{2,}[A-Z0-9]*\b)"
    r"|(?P<number>\d[\d,.%]*\w*)|(?P<word>[A-Za-z]+(?:'[a-z]+)?)|(?P<mark>[?!:;→✓✅❌—–=]|->)"
)
_CUES: dict[str, re.Pattern[str]] = {
    "because": re.compile(r"(?i)\b(?:because|since|due to|caused by|root cause|reason|so that|to avoid|to prevent)\b"),
    "was": re.compile(r"(?i)\b(?:was|were|had|didn't|wasn't|couldn't|failed|broke|missing)\b"),
    "now": re.compile(r"(?i)\b(?:now|no longer|instead of|rather than)\b"),
    "you": re.compile(r"(?i)\b(?:you|your|let me|want me|shall i|would you|feel free)\b"),
    "first_person": re.compile(r"(?i)\b(?:i|i'll|i've|we|we'll|let's|my)\b"),
    "future": re.compile(r"(?i)\b(?:will|should|could|would|need to|needs to|next|later|todo|plan|recommend)\b"),
    "check": re.compile(r"(?i)\b(?:pass(?:es|ed|ing)?|green|clean|build|tests?|lint|verified|ready|complete[d]?)\b"),
    "outside": re.compile(r"(?i)^(?:this|that|these|those|it|they|both|all|same|such|here|there|also|and|but|then)\b"),
    "pronoun": re.compile(r"(?i)\b(?:this|that|these|those|it|they|them|above|below|following|same)\b"),
}


def ngrams(text: str, prefix: str = "") -> Iterator[str]:
    """Yield the words and pairs of words of a text, with classes for names of code; the first words are marked."""
    tokens = list(_classes(text))
    for at, token in enumerate(tokens[:60]):
        yield prefix + token
        if at < 3:
            yield f"{prefix}^{token}"
        if at + 1 < len(tokens):
            yield f"{prefix}{token} {tokens[at + 1]}"
    if len(tokens) > 1:
        yield f"{prefix}^{tokens[0]} {tokens[1]}"


def _classes(text: str) -> Iterator[str]:
    for token in _TOKEN.finditer(text[:600]):
        kind = token.lastgroup or "word"
        yield token[0].lower() if kind in ("word", "mark") else f"<{kind}>"


def sentence_ngrams(candidate: SentenceCandidate) -> Iterator[str]:
    """Yield the words of a sentence, of the heading and of the lead, each with a prefix."""
    yield from ngrams(candidate.text)
    yield from ngrams(candidate.under, "#")
    yield from ngrams(candidate.lead, ":")


def turn_numbers(candidates: Sequence[SentenceCandidate], facts: TurnFacts) -> list[list[float]]:
    """Return a row of numbers for each sentence of a turn."""
    words = TurnWords.of(candidates)
    return [sentence_numbers(candidate, at, total, facts, words) for candidate, at, total in numbered(candidates)]


@frozen
class TurnWords:
    """Word counts over the sentences of a turn, and the words of its headings."""

    words: Counter[str]
    sentences: int
    headings: frozenset[str]

    @classmethod
    def of(cls, candidates: Sequence[SentenceCandidate]) -> "TurnWords":
        tokens = [tokens_of(candidate.text) for candidate in candidates]
        heads = [words for words, candidate in zip(tokens, candidates, strict=True) if candidate.kind == "heading"]
        return cls(Counter(word for words in tokens for word in words), len(tokens), frozenset().union(*heads))


def sentence_numbers(
    candidate: SentenceCandidate, at: int, total: int, facts: TurnFacts, spoken: TurnWords
) -> list[float]:
    """Return the numbers of a sentence; `at` counts within the source."""
    tokens = tokens_of(candidate.text)
    classes = list(_classes(candidate.text))
    code = [kind for kind in classes if kind in ("<code>", "<path>", "<hash>")]
    words = candidate.text.split()
    above = f"{candidate.under} {candidate.lead}"
    return [
        *(float(candidate.source == source) for source in ("closing", "subject", "body", "heading", "plan")),
        *(float(candidate.kind == kind) for kind in ("item", "row", "todo", "text")),
        float(candidate.first_of_block),
        float(bool(candidate.lead)),
        float(bool(candidate.under)),
        at / max(total, 1),
        1 / (1 + at),
        1 / (total - at),
        float(at < 3),
        math.log1p(len(candidate.text)) / 5,
        len(words) / 30,
        float(len(words) < 6),
        float(len(words) > 40),
        float(candidate.text.rstrip().endswith(":")),
        float(candidate.text.rstrip().endswith("?")),
        len(code) / max(len(classes), 1),
        float(bool(code)),
        min(classes.count("<path>"), 3) / 3,
        min(classes.count("<number>"), 4) / 4,
        float(bool(re.match(r"[A-Z][a-z]+(?:ed|es|s) ", candidate.text))),
        *_overlaps(tokens, facts.prompt_tokens),
        *_overlaps(tokens, facts.commit_tokens),
        sum(spoken.words[word] - 1 for word in tokens) / max(len(tokens) * spoken.sentences, 1) * 5,
        sum(spoken.words[word] > 1 for word in tokens) / max(len(tokens), 1),
        float(at == 0 and candidate.source == "closing"),
        len(tokens & spoken.headings) / max(len(tokens), 1),
        *_overlaps(tokens, facts.name_tokens),
        float(bool(facts.commits)),
        float(facts.edits > 0),
        float(facts.fixes > 0),
        float(total <= 3),
        float(total > 20),
        *(float(bool(cue.search(candidate.text))) for cue in _CUES.values()),
        *(float(bool(_CUES[cue].search(above))) for cue in ("because", "now", "future", "check")),
    ]


def _overlaps(ours: frozenset[str], theirs: frozenset[str]) -> tuple[float, float]:
    shared = len(ours & theirs)
    return shared / max(len(ours), 1), min(shared / max(len(theirs), 1), 1.0)


def numbered(candidates: Sequence[SentenceCandidate]) -> Iterable[tuple[SentenceCandidate, int, int]]:
    """Yield each candidate with the position within the source, and the number of candidates of the source."""
    totals = Counter(candidate.source for candidate in candidates)
    seen: Counter[str] = Counter()
    for candidate in candidates:
        yield candidate, seen[candidate.source], totals[candidate.source]
        seen[candidate.source] += 1
