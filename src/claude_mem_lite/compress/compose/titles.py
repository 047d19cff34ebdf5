"""Headlines that the sentences of a turn could give, each whole, cut at the end of a clause, or its second half; and
the features by which the judge tells the good ones."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.compress.compose import headline
from claude_mem_lite.compress.compose.candidates import Candidate
from claude_mem_lite.compress.compose.features import Spoken, ngrams
from claude_mem_lite.compress.compose.turn_facts import TurnFacts
from claude_mem_lite.compress.prose.titles import weight
from claude_mem_lite.compress.prose.verbs import BASES, tells_its_subject
from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import tokens_of

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


@dataclass(frozen=True, slots=True)
class Title:
    """One possible headline."""

    at: int
    """Place of its sentence among the candidates."""
    text: str
    form: Form
    dropped: int = 0
    """Characters of the sentence that the headline leaves out."""


def titles_of(candidates: Sequence[Candidate]) -> list[Title]:
    """Return the headlines of all sentences of a turn; no two have the same words."""
    found: dict[str, Title] = {}
    for at, one in enumerate(candidates):
        for title in _of(at, one):
            found.setdefault(title.text.lower(), title)
    return list(found.values())


def _of(at: int, one: Candidate) -> Iterator[Title]:
    if one.source in ("subject", "plan"):
        if text := headline.of_commit(one.text):
            yield Title(at, text, "subject" if one.source == "subject" else "plan")
        return
    if text := headline.of_sentence(one.text):
        rest = headline.bare(one.text).rstrip(".")[len(text) :]
        yield Title(at, text, _form(rest), max(len(rest), 0))
    head, *others = _HALVES.split(headline.bare(one.text), maxsplit=1)
    if others and not tells_its_subject(others[0]) and (text := headline.of_sentence(others[0])):
        form: Form = "tail" if len(text) >= len(others[0].rstrip(".")) - headline.MAX_DROPPED else "cut"
        yield Title(at, text, form, len(head))


def _form(rest: str) -> Form:
    if len(rest) < headline.MAX_DROPPED:
        return "whole"
    return "clause" if headline.ends_clause(rest) else "cut"


def title_ngrams(title: Title) -> Iterator[str]:
    """Yield the words by which a headline is judged."""
    yield from ngrams(title.text, "t:")
    yield f"form:{title.form}"
    last = re.findall(r"[A-Za-z]+", title.text)[-1:]
    yield from (f"last:{word.lower()}" for word in last)


def title_rows(
    titles: Sequence[Title],
    candidates: Sequence[Candidate],
    numbers: Sequence[Sequence[float]],
    scores: Sequence[Sequence[float]],
    facts: TurnFacts,
) -> list[list[float]]:
    """Return the numbers of headlines: those of their sentences, the sentences' scores, those of their own, and the
    nearness of each to its turn in meaning."""
    if not titles:
        return []
    spoken = Spoken.of(candidates)
    order = sorted(range(len(candidates)), key=lambda at: -scores[at][0])
    best = tokens_of(" ".join(candidates[at].text for at in order[:_MAX_BEST]))
    near = _nearness(titles, candidates, [row[0] for row in scores], facts)
    return [
        [*numbers[one.at], *scores[one.at], *_numbers(one, candidates[one.at], facts, spoken, best), *row]
        for one, row in zip(titles, near, strict=True)
    ]


def _nearness(
    titles: Sequence[Title], candidates: Sequence[Candidate], carries: Sequence[float], facts: TurnFacts
) -> list[list[float]]:
    """Return how near the meaning of each headline is to what carries a memory of the turn and to its prompt, and which
    headline is the nearest (AUC of good headlines over projects .831 to .845)."""
    import numpy as np

    said = _vectors([one.text for one in candidates])
    matters = np.stack([np.array(carries, np.float32) @ said, _vectors([facts.prompt[:_MAX_PROMPT]])[0]])
    matters /= np.maximum(np.linalg.norm(matters, axis=1, keepdims=True), 1e-6)
    near = _vectors([one.text for one in titles]) @ matters.T
    rows: list[list[float]] = np.hstack([near * _NEARNESS_WEIGHT, near >= near.max(axis=0)]).tolist()
    return rows


def _vectors(texts: Sequence[str]) -> "Vectors":
    """Return the vectors of texts, each of length one."""
    import numpy as np

    rows = np.stack([np.frombuffer(row, dtype=np.int8) for row in shared_table().embed(texts)]).astype(np.float32)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)  # type: ignore[no-any-return]


def _numbers(title: Title, one: Candidate, facts: TurnFacts, spoken: Spoken, best: frozenset[str]) -> list[float]:
    """Return how well a headline stands for its turn; `best` has the words of the likeliest carriers of a memory."""
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
        float(one.kind == "heading"),
    ]
