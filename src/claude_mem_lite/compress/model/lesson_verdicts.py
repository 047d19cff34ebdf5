"""Lessons in the answer of a model: its verdict on sentences of the user that may hold beyond the task.

A lesson without a quote that stands in the prompt is dropped: a model may invent what the user said."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.model.grounding import is_exact
from claude_mem_lite.compress.model.response_parser import safe_prose
from claude_mem_lite.compress.prose.markdown import capital
from claude_mem_lite.models import JsonObject, JsonValue, Kind, text
from claude_mem_lite.text import one_line, overlap, within

KINDS: tuple[Kind, ...] = ("preference", "rule", "convention", "correction", "anti_pattern", "gotcha", "note")
MAX_LESSON = 300
_MAX_BEFORE = 400
_MIN_WORDS = 3
_MIN_SHARED = 0.6


@dataclass(frozen=True, slots=True)
class ModelLesson:
    """One sentence of the user as a model words it for later sessions."""

    sentence: str
    """The sentence that was asked about."""
    lesson: str
    kind: Kind


def part_of(sentences: Sequence[str], previous_message: str) -> str:
    """Return the end of a message about a turn: the sentences, and the end of what they answered."""
    if not sentences:
        return ""
    before = one_line(previous_message)[-_MAX_BEFORE:]
    said = [f"The agent had said before: …{before}"] if before else []
    return "\n".join(
        ("Sentences of the user that may hold beyond the task:", *(f"- {one}" for one in sentences), *said)
    )


def read_lessons(answer: JsonObject, prompt: str, sentences: Sequence[str], sent: str) -> tuple[ModelLesson, ...]:
    """Return the lessons of an answer whose quotes stand in the prompt, one for each sentence at most."""
    given = answer.get("lessons")
    found: dict[str, ModelLesson] = {}
    for item in given if isinstance(given, list) else ():
        lesson = _lesson(item, prompt, sentences, sent)
        if lesson is not None:
            found.setdefault(lesson.sentence, lesson)
    return tuple(found.values())


def _lesson(item: JsonValue, prompt: str, sentences: Sequence[str], sent: str) -> ModelLesson | None:
    if not isinstance(item, Mapping):
        return None
    quote = _plain(text(item.get("quote")))
    if len(quote.split()) < _MIN_WORDS or quote not in _plain(prompt):
        return None
    sentence = max(sentences, key=lambda one: overlap(quote, one), default="")
    told = capital(within(safe_prose(text(item.get("lesson"))), MAX_LESSON))
    is_sound = len(told.split()) >= _MIN_WORDS and not told.endswith("?") and is_exact(told, sent)
    if overlap(quote, sentence) < _MIN_SHARED or not is_sound:
        return None
    return ModelLesson(sentence, told, next((kind for kind in KINDS if kind == item.get("kind")), "preference"))


def _plain(words: str) -> str:
    """Return words as they are compared: without case, marks of quotation and the stop at the end."""
    return one_line(words.replace("’", "'").replace("`", "")).casefold().strip(" \"'“”.…")
