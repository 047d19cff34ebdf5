"""Closed questions about the past of projects, and the score of an answer.

An answer is compared after normalising: small letters, no quotes, single spaces, no punctuation at its end. It is right
when one of the patterns of the question is found in it, unknown when it says that it does not know, else wrong."""

import json
import re
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

QUESTIONS = Path(__file__).parent / "labels" / "reader_questions.jsonl"
_QUOTES = re.compile(r"[`'\"“”‘’*]")
_UNKNOWN = re.compile(
    r"\bunknown\b|\bnot (?:known|specified|mentioned|provided|given|stated|available|found|included)\b"
    r"|\b(?:do|does|did)(?: not|nt) (?:know|say|mention|specify|provide|contain|include)\b"
    r"|\bno (?:information|answer)\b"
    r"|\bcannot (?:be )?(?:tell|say|answer|determine)"
)


class Verdict(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class ReaderQuestion:
    """A question at the beginning of a session; without patterns where no earlier session answers it."""

    project: str
    asked_in: str
    session: str
    """Where the answer stands; empty where it stands nowhere."""
    kind: str
    text: str
    patterns: tuple[str, ...]

    @property
    def is_answerable(self) -> bool:
        return bool(self.patterns)

    def is_answered_by(self, text: str) -> bool:
        """Whether a text holds the answer."""
        said = normalised(text)
        return any(re.search(pattern, said) for pattern in self.patterns)

    def verdict(self, answer: str) -> Verdict:
        """Judge an answer."""
        if self.is_answered_by(answer):
            return Verdict.RIGHT
        said = normalised(answer)
        return Verdict.UNKNOWN if not said or _UNKNOWN.search(said) else Verdict.WRONG


def normalised(answer: str) -> str:
    """Return an answer in small letters without quotes, double spaces and punctuation at its end."""
    return " ".join(_QUOTES.sub("", answer).lower().split()).rstrip(" .,;:!?")


def reader_questions(path: Path = QUESTIONS) -> list[ReaderQuestion]:
    """Return all questions in the order of the file."""
    return [
        ReaderQuestion(
            one["project"], one["asked_in"], one["session"], one["kind"], one["question"], tuple(one["answers"])
        )
        for one in map(json.loads, path.read_text().splitlines())
    ]
