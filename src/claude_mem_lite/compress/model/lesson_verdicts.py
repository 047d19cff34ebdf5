"""Lessons in the answer of a model: the verdict on sentences of the user that may hold beyond the task.

A lesson without a quote of the prompt is dropped: a model may invent statements of the user."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.model.response_parser import is_exact, safe_prose
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
    """One sentence of the user, worded by a model for later sessions."""

    sentence: str
    """The sentence of the request."""
    lesson: str
    kind: Kind


def part_of(sentences: Sequence[str], previous_message: str) -> str:
    """Return the end of a message about a turn: the sentences, and the end of the agent's message before them."""
    if not sentences:
        return ""
    before = one_line(previous_message)[-_MAX_BEFORE:]
    context = [f"The agent had said before: …{before}"] if before else []
    items = (f"- {sentence}" for sentence in sentences)
    return "\n".join(("Sentences of the user that may hold beyond the task:", *items, *context))


def read_lessons(answer: JsonObject, prompt: str, sentences: Sequence[str], sent: str) -> tuple[ModelLesson, ...]:
    """Return the lessons of an answer that quote the prompt, at most one for each sentence."""
    items = answer.get("lessons")
    lessons: dict[str, ModelLesson] = {}
    for item in items if isinstance(items, list) else ():
        lesson = _lesson(item, prompt, sentences, sent)
        if lesson is not None:
            lessons.setdefault(lesson.sentence, lesson)
    return tuple(lessons.values())


def _lesson(item: JsonValue, prompt: str, sentences: Sequence[str], sent: str) -> ModelLesson | None:
    if not isinstance(item, Mapping):
        return None
    quote = _plain(text(item.get("quote")))
    if len(quote.split()) < _MIN_WORDS or quote not in _plain(prompt):
        return None
    sentence = max(sentences, key=lambda sentence: overlap(quote, sentence), default="")
    lesson = capital(within(safe_prose(text(item.get("lesson"))), MAX_LESSON))
    is_sound = len(lesson.split()) >= _MIN_WORDS and not lesson.endswith("?") and is_exact(lesson, sent)
    if overlap(quote, sentence) < _MIN_SHARED or not is_sound:
        return None
    return ModelLesson(sentence, lesson, next((kind for kind in KINDS if kind == item.get("kind")), "preference"))


def _plain(words: str) -> str:
    """Return words for a comparison: without case, quotation marks and the final stop."""
    return one_line(words.replace("’", "'").replace("`", "")).casefold().strip(" \"'“”.…")
