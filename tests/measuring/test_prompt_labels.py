"""Labels of prompts as references."""

import json

import pytest
from benchmarks.prompt_labels import LABELS, label_of, load, references
from benchmarks.prompt_sheets import PastPrompt, sentences_of, sheet

TEXT = "Why a note? Just remove the parameter."
PROMPT = PastPrompt("shop", "0a1b2c3d-1", 4, "I added a note.", TEXT, ("Why a note?", "Just remove the parameter."))
ANSWER = {
    "prompt": "0a1b2c3d:4",
    "lessons": [
        {"s": "q2", "grade": "strong", "kind": "correction", "lesson": "Remove what is not used.", "before": True}
    ],
}


def test_a_label_of_a_prompt_refers_to_its_sentence_and_holds_no_text_of_it() -> None:
    (line,) = references([ANSWER], [PROMPT], "r1")
    assert "parameter" not in line
    (lesson,) = label_of(json.loads(line)).lessons
    assert lesson.sentence == PROMPT.refs()["q2"]
    assert lesson.needs_before


@pytest.mark.parametrize("wrong", [{"s": "q9"}, {"grade": "great"}, {"kind": "poem"}])
def test_an_answer_with_an_unknown_sentence_grade_or_kind_is_refused(wrong: dict[str, str]) -> None:
    lesson = {"s": "q1", "grade": "weak", "kind": "rule", "lesson": "x"} | wrong
    with pytest.raises(ValueError, match="0a1b2c3d:4"):
        list(references([{"prompt": "0a1b2c3d:4", "lessons": [lesson]}], [PROMPT], "r1"))


def test_a_sheet_shows_a_prompt_with_its_numbered_sentences_and_the_message_before_it() -> None:
    shown = sheet(PROMPT)
    assert "BEFORE: …I added a note." in shown
    assert "  q2: Just remove the parameter." in shown


def test_a_prompt_is_cut_into_sentences_and_list_items() -> None:
    assert sentences_of("No. Use pnpm.\n- run the tests\n- push") == ["No.", "Use pnpm.", "run the tests", "push"]


def test_the_labels_of_the_repository_can_be_read() -> None:
    labels = load(LABELS)
    prompts = [(label.project, label.session, label.number) for label in labels]
    assert len(set(prompts)) >= 1_000
    assert len(prompts) - len(set(prompts)) >= 200
