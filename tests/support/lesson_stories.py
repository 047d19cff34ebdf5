"""Stories of lessons from `tests/data/lesson_stories.toml`: a sentence, a paraphrase, and the words an agent saves.

Tests ask the scorer for the sentences that it is unsure about: another scorer is unsure about others."""

import tomllib
from dataclasses import dataclass

from claude_mem_lite.compress.lessons.statement import stands_alone
from claude_mem_lite.compress.rules.turn_lessons import lesson_drafts
from claude_mem_lite.knowledge.lessons.collection import unsure
from claude_mem_lite.models import Event, Turn
from tests.support.data_files import DATA
from tests.support.fakes import NOW


@dataclass(frozen=True, slots=True)
class Story:
    """Lesson as the user says it, in other words, and as one sentence with the reason."""

    said: str
    again: str
    saved: str


_STORIES = tuple(Story(**story) for story in tomllib.loads((DATA / "lesson_stories.toml").read_text("utf-8"))["story"])


def stories(number: int = 1) -> list[Story]:
    """Return the first stories that can be rules as they are said, that the scorer is unsure about, and that rules
    learn nothing from."""
    found = [story for story in _STORIES if _is_unsure(story.said) and _is_unsure(story.again)]
    assert len(found) >= number, "add sentences that the scorer is unsure about"
    return found[:number]


def _is_unsure(sentence: str) -> bool:
    event = Event("name", "UserPromptSubmit", "s", NOW, prompt=sentence)
    is_learned = bool(lesson_drafts(Turn("name", "s", "shop", sentence, (event,))))
    candidates = [candidate.sentence for candidate in unsure(sentence, "")]
    return not is_learned and stands_alone(sentence) and candidates == [sentence]
