"""Labelled turns as rows to fit and to measure: sentences with their roles, turns with their worth and kind."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import title_labels, turn_labels
from benchmarks.label_files import fingerprint
from benchmarks.past_turns import PastTurn, past_turns
from benchmarks.title_labels import TitleLabel
from benchmarks.turn_labels import Card, Label

from claude_mem_lite.compress.compose.facts import TurnFacts, facts_of
from claude_mem_lite.compress.compose.features import sentence_ngrams, turn_numbers
from claude_mem_lite.compress.compose.headline import bare
from claude_mem_lite.compress.compose.judge import ROLES
from claude_mem_lite.compress.compose.titles import Title, titles_of
from claude_mem_lite.text import overlap

MIN_ALIKE = 0.3
"""From which share of common words on a sentence says what a title says."""
NEARLY = 0.9
GOODNESS = (0.0, 0.3, 1.0)
"""Target for a headline by its grade: a side matter is better than a torn one (AUC over projects .808 to .823)."""
_LABELLED = ("subject", "body", "closing")


@dataclass(frozen=True)
class Example:
    """One labelled turn."""

    past: PastTurn
    labels: tuple[Label, ...]
    """One for each reader."""
    graded: TitleLabel | None = None
    """The grades of its headlines and sentences, if a reader gave any."""

    @property
    def project(self) -> str:
        return self.past.project

    @property
    def label(self) -> Label:
        return self.labels[0]

    @cached_property
    def facts(self) -> TurnFacts:
        return facts_of(self.past.turn.prompt, self.past.message, self.past.steps)

    @cached_property
    def ngrams(self) -> list[list[str]]:
        return [list(sentence_ngrams(one)) for one in self.past.candidates]

    @cached_property
    def numbers(self) -> list[list[float]]:
        return turn_numbers(self.past.candidates, self.facts)

    def roles(self, label: Label) -> Iterator[tuple[list[float], list[float]]]:
        """Yield for each candidate what each role is, and how much it counts: of what carries nothing no reader said
        whether it stands alone, and headings were not offered as carriers."""
        carriers = {sha: role for card in label.cards for sha, role in card.carriers.items()}
        needy = {sha for card in label.cards for sha in card.needs_context}
        heads = {at for card in label.cards for at in self._heads(card)}
        for at, one in enumerate(self.past.candidates):
            sha = fingerprint(one.text)
            role = carriers.get(sha, "") if one.source in _LABELLED else ""
            wanted = [float(bool(role)), *(float(role == name) for name in ROLES[1:6])]
            is_labelled = float(one.source in _LABELLED)
            mark = self.graded.sentences.get(sha, "") if self.graded else ""
            yield (
                [
                    *wanted,
                    float(sha in label.next_steps),
                    float(mark == "c" if mark else sha in needy),
                    float(mark == "y"),
                    float(at in heads),
                ],
                [*[is_labelled] * 7, float(bool(mark or role)), float(bool(mark)), float(bool(label.cards))],
            )

    def titles(self) -> Iterator[tuple[Title, float]]:
        """Yield the graded headlines, each with how much of a good one it is."""
        for title in titles_of(self.past.candidates) if self.graded else ():
            grade = self.graded.titles.get(fingerprint(title.text)) if self.graded else None
            if grade is not None:
                yield title, GOODNESS[grade]

    def _heads(self, card: Card) -> set[int]:
        """Return the candidates that say what the reader's title says: the best, and others that are nearly as good."""
        refs = [one.ref for one in self.past.candidates]
        if card.title in refs:
            return {refs.index(card.title)}
        alike = [_likeness(bare(one.text), card.title) for one in self.past.candidates]
        least = max(MIN_ALIKE, NEARLY * max(alike))
        return {at for at, value in enumerate(alike) if value >= least}


def _likeness(text: str, title: str) -> float:
    """Return how many of their words two texts share, from 0 to 1."""
    ours, theirs = overlap(text, title), overlap(title, text)
    return 2 * ours * theirs / (ours + theirs) if ours and theirs else 0.0


def examples(folders: Iterable[Path], labels: Sequence[Label] | None = None) -> list[Example]:
    """Return the labelled turns of data folders."""
    by_turn: dict[tuple[str, str, int], list[Label]] = {}
    for label in turn_labels.load() if labels is None else labels:
        by_turn.setdefault(label.turn, []).append(label)
    graded = {label.turn: label for label in reversed(title_labels.load())}
    turns = (past for folder in folders for past in past_turns(folder))
    return [
        Example(past, tuple(by_turn[key]), graded.get(key))
        for past in turns
        if (key := (past.project, past.turn.session, past.number)) in by_turn
    ]
