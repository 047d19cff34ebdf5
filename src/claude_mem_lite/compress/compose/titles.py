"""Possible headlines of a turn, each a whole sentence, a sentence cut at the end of a clause, or a second half; and the
features for the judge."""

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.candidates import SentenceCandidate
from claude_mem_lite.compress.compose.facts import TurnFacts
from claude_mem_lite.compress.compose.features import TurnWords, ngrams
from claude_mem_lite.compress.prose.titles import weight
from claude_mem_lite.compress.prose.verbs import BASES, lacks_subject
from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import tokens_of
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

Form = Literal["subject", "plan", "whole", "clause", "cut", "tail"]
FORMS: tuple[Form, ...] = ("subject", "plan", "whole", "clause", "cut", "tail")
_SHORT, _LONG = 35, 80
_MAX_BEST = 3
_MAX_PROMPT = 600
_NEARNESS_WEIGHT = 2.0
"""Scale of a cosine beside the other numbers."""
_NAME_FIRST = lazy(r"[\w./]*[_./(][\w./()]*\s|[a-z]+[A-Z]\w*\s|`")
_NEGATED = lazy(
    r"(?i)\b(?:not|no longer|never|without|instead of|rather than|only|cannot|can't|doesn't|didn't|isn't)\b"
)
_VERB = lazy(
    r"(?i)\b(?:is|are|was|were|has|have|had|does|do|did|can|could|will|would|must|needs?|gets?|uses?|returns?|fails?"
    r"|runs?|makes?|keeps?|reads?|writes?|shows?|skips?|calls?|takes?|sets?|creates?|requires?|adds?|removes?)\b"
)
_HALVES = lazy(r"\s+[–—]\s+|\s+-\s+|:\s+")


@frozen
class Title:
    """One possible headline."""

    at: int
    """Position of the sentence among the candidates."""
    text: str
    form: Form
    dropped: int = 0
    """Characters of the sentence that the headline leaves out."""


def titles_of(candidates: Sequence[SentenceCandidate]) -> list[Title]:
    """Return the distinct headlines of all sentences of a turn."""
    titles: dict[str, Title] = {}
    for at, candidate in enumerate(candidates):
        for title in _of(at, candidate):
            titles.setdefault(title.text.lower(), title)
    return list(titles.values())


def _of(at: int, candidate: SentenceCandidate) -> Iterator[Title]:
    if candidate.source in ("subject", "plan"):
        if text := headline.of_commit(candidate.text):
            yield Title(at, text, "subject" if candidate.source == "subject" else "plan")
        return
    if text := headline.of_sentence(candidate.text):
        rest = headline.bare(candidate.text).rstrip(".")[len(text) :]
        yield Title(at, text, _form(rest), max(len(rest), 0))
    head, *tails = _HALVES.split(headline.bare(candidate.text), maxsplit=1)
    if tails and not lacks_subject(tails[0]) and (text := headline.of_sentence(tails[0])):
        form: Form = "tail" if len(text) >= len(tails[0].rstrip(".")) - headline.MAX_DROPPED else "cut"
        yield Title(at, text, form, len(head))


def _form(rest: str) -> Form:
    if len(rest) < headline.MAX_DROPPED:
        return "whole"
    return "clause" if headline.ends_clause(rest) else "cut"


def title_ngrams(title: Title) -> Iterator[str]:
    """Yield the words of a headline as features."""
    yield from ngrams(title.text, "t:")
    yield f"form:{title.form}"
    last = re.findall(r"[A-Za-z]+", title.text)[-1:]
    yield from (f"last:{word.lower()}" for word in last)


def title_rows(
    titles: Sequence[Title],
    candidates: Sequence[SentenceCandidate],
    numbers: Sequence[Sequence[float]],
    scores: Sequence[Sequence[float]],
    facts: TurnFacts,
) -> list[list[float]]:
    """Return the numbers of headlines: numbers and scores of the sentence, numbers of the headline, and nearness to the
    turn in meaning."""
    if not titles:
        return []
    spoken = TurnWords.of(candidates)
    order = sorted(range(len(candidates)), key=lambda at: -scores[at][0])
    best = tokens_of(" ".join(candidates[at].text for at in order[:_MAX_BEST]))
    near = _nearness(titles, candidates, [row[0] for row in scores], facts)
    return [
        [*numbers[title.at], *scores[title.at], *_numbers(title, candidates[title.at], facts, spoken, best), *row]
        for title, row in zip(titles, near, strict=True)
    ]


def _nearness(
    titles: Sequence[Title], candidates: Sequence[SentenceCandidate], carries: Sequence[float], facts: TurnFacts
) -> list[list[float]]:
    """Return the nearness in meaning of each headline to the carrying sentences and to the prompt, and whether the
    headline is the nearest (AUC of good headlines over projects .831 to .845)."""
    import numpy as np

    vectors = _vectors([candidate.text for candidate in candidates])
    matters = np.stack([np.array(carries, np.float32) @ vectors, _vectors([facts.prompt[:_MAX_PROMPT]])[0]])
    matters /= np.maximum(np.linalg.norm(matters, axis=1, keepdims=True), 1e-6)
    near = _vectors([title.text for title in titles]) @ matters.T
    rows: list[list[float]] = np.hstack([near * _NEARNESS_WEIGHT, near >= near.max(axis=0)]).tolist()
    return rows


def _vectors(texts: Sequence[str]) -> "Vectors":
    """Return the normalised vectors of texts."""
    import numpy as np

    rows = np.stack([np.frombuffer(row, dtype=np.int8) for row in shared_table().embed(texts)]).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)  # type: ignore[no-any-return]


def _numbers(
    title: Title, candidate: SentenceCandidate, facts: TurnFacts, spoken: TurnWords, best: frozenset[str]
) -> list[float]:
    """Return features of a headline for its turn; `best` has the words of the likeliest carriers of a memory."""
    tokens = tokens_of(title.text)
    size = max(len(tokens), 1)
    first = title.text.split(" ", 1)[0]
    shared = [spoken.words[word] for word in tokens]
    return [
        *(float(title.form == form) for form in FORMS),
        len(title.text) / headline.MAX_HEADLINE,
        float(len(title.text) < _SHORT),
        float(len(title.text) > _LONG),
        title.dropped / 100,
        weight(title.text) / 7,
        float(first.lower() in BASES),
        float(first[:1].islower()),
        float(bool(_NAME_FIRST.match(title.text))),
        float(":" in title.text),
        float("→" in title.text or "->" in title.text),
        float(bool(_NEGATED.search(title.text))),
        float(bool(_VERB.search(title.text))),
        len(tokens & facts.prompt_tokens) / size,
        len(tokens & facts.name_tokens) / size,
        len(tokens & spoken.headings) / size,
        len(tokens & best) / size,
        sum(count > 1 for count in shared) / size,
        sum(shared) / size / max(spoken.sentences, 1) * 5,
        float(candidate.kind == "heading"),
    ]
