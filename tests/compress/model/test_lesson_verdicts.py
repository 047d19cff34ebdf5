"""Lessons in the answer of a model: only what the user said, and only about the sentences that were asked about."""

from claude_mem_lite.compress.model.request import part_of, read_lessons
from claude_mem_lite.compress.model.turn_answer import ModelLesson
from claude_mem_lite.models import JsonValue

SAID = "No, we keep the commits small here because reviewers read them one by one"
PROMPT = f"Fix the parser in `parser.py`.\n{SAID}.\nThanks!"
SENT = f"Asked:\n{PROMPT}"
LESSON = "Keep commits small, because reviewers read them one by one."


def read(**item: JsonValue) -> tuple[ModelLesson, ...]:
    return read_lessons({"lessons": [item]}, PROMPT, [SAID], SENT)


def test_a_lesson_with_a_quote_of_the_prompt_is_taken() -> None:
    assert read(quote=SAID, lesson=LESSON, kind="rule") == (ModelLesson(SAID, LESSON, "rule"),)
    part = "keep the commits small here because reviewers"
    assert read(quote=f"“{part}”", lesson=LESSON, kind="?") == (ModelLesson(SAID, LESSON, "preference"),)


def test_what_the_user_did_not_say_is_dropped() -> None:
    assert read(quote="Deploy on Fridays only", lesson=LESSON, kind="rule") == ()
    assert read(quote="", lesson=LESSON, kind="rule") == ()
    assert read(lesson=LESSON) == ()


def test_a_quote_of_another_sentence_is_no_verdict_on_this_one() -> None:
    assert read(quote="Fix the parser in parser.py", lesson="Fix parsers at once when they fail", kind="rule") == ()


def test_names_that_nobody_told_the_model_are_dropped() -> None:
    assert read(quote=SAID, lesson="Keep commits small in src/unknown/place.py", kind="rule") == ()


def test_any_form_of_answer_is_read() -> None:
    odd: list[JsonValue] = [None, "none", [], [1, "x", None], {}, [{"quote": 1, "lesson": []}]]
    for given in odd:
        assert read_lessons({"lessons": given}, PROMPT, [SAID], SENT) == ()
    assert read_lessons({}, PROMPT, [], SENT) == ()


def test_the_sentences_are_sent_with_the_end_of_what_they_answered() -> None:
    told = part_of([SAID], "All of it is in one commit now.")
    assert f"- {SAID}" in told
    assert told.endswith("…All of it is in one commit now.")
    assert part_of([], "All of it is in one commit now.") == ""
