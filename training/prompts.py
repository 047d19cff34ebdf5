"""Labelled prompts as rows to fit and to measure: the user's own sentences with their grades."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks import prompt_labels
from benchmarks.label_files import fingerprint
from benchmarks.prompt_labels import Lesson, PromptLabel
from benchmarks.prompt_sheets import PastPrompt, past_prompts

from claude_mem_lite.compress.lessons.candidates import MAX_PARAGRAPH
from claude_mem_lite.compress.lessons.user_voice import own_sentences

MIN_SHARED = 0.5
"""Smallest part of a labelled sentence that still stands for the sentence."""
GRADES = {"weak": 1, "strong": 2}
SENTENCES = prompt_labels.LABELS.with_name("sentences.jsonl")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class LabelledPrompt:
    """One prompt with the first reader's lessons."""

    past: PastPrompt
    label: PromptLabel

    @property
    def project(self) -> str:
        return self.past.project

    @property
    def grade(self) -> int:
        """Return 2 for a strong lesson, 1 for only weak ones, 0 for none."""
        return max((GRADES[lesson.grade] for lesson in self.label.lessons), default=0)

    @cached_property
    def sentences(self) -> list[str]:
        """Return the user's own sentences, as the product reads them."""
        return own_sentences(self.past.prompt, MAX_PARAGRAPH)

    @cached_property
    def lessons(self) -> list[Lesson | None]:
        """Return the lesson of each of these sentences, the strongest if there are two.

        Readers numbered all sentences of the prompt, so a sentence is found again by its words."""
        known = {fingerprint(text): _words(text) for text in self.past.sentences}
        marked = [(known.get(lesson.sentence, ""), lesson) for lesson in self.label.lessons]
        return [_strongest([lesson for words, lesson in marked if _is_same(words, said)]) for said in self.sentences]

    @cached_property
    def grades(self) -> list[int]:
        """Return the grade of each of these sentences."""
        return [GRADES[lesson.grade] if lesson else 0 for lesson in self.lessons]


def labelled_prompts(folders: Iterable[Path], labels: Sequence[PromptLabel] | None = None) -> list[LabelledPrompt]:
    """Return the labelled prompts of data folders."""
    known: dict[tuple[str, str, int], PromptLabel] = {}
    for label in prompt_labels.load() if labels is None else labels:
        known.setdefault((label.project, label.session, label.number), label)
    prompts = (past for folder in folders for past in past_prompts(folder))
    keyed = ((past, known.get((past.project, past.session, past.number))) for past in prompts)
    return [LabelledPrompt(past, label) for past, label in keyed if label is not None]


def written_sentences(language: str, *, as_typed: bool | None = None) -> list[tuple[str, bool]]:
    """Return the sentences of a language that were written for training and tests, and whether each is a lesson: all,
    or only those that are or are not put as users put them in prompts."""
    rows = map(json.loads, SENTENCES.read_text(encoding="utf-8").splitlines())
    return [
        (str(row["text"]), bool(row["teaches"]))
        for row in rows
        if row["language"] == language and as_typed in (None, bool(row.get("as_typed")))
    ]


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _is_same(marked: str, said: str) -> bool:
    words = _words(said)
    if not marked or not words:
        return False
    return marked in words or (words in marked and len(words) > MIN_SHARED * len(marked))


def _strongest(lessons: Sequence[Lesson]) -> Lesson | None:
    return max(lessons, key=lambda lesson: GRADES[lesson.grade], default=None)
