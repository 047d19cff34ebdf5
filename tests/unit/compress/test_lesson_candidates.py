"""Sentences of a prompt as candidates of lessons."""

import pytest

from claude_mem_lite.compress.lessons.candidates import MIN_SURE, MIN_UNSURE, lesson_candidates


def test_candidates_are_the_sentences_of_the_user_with_the_likeliest_lesson_first() -> None:
    found = lesson_candidates(
        "Commit it. We never store prices as floats, because each error ends up on a bill.", "Done."
    )
    assert [candidate.sentence for candidate in found] == [
        "We never store prices as floats, because each error ends up on a bill.",
        "Commit it.",
    ]
    assert found[0].probability >= MIN_UNSURE > found[1].probability
    assert 0 < MIN_UNSURE < MIN_SURE < 1


def test_only_what_stands_alone_is_sure() -> None:
    rule = "We never store prices as floats, because each error ends up on a bill."
    (alone,) = lesson_candidates(rule, "")
    (pointing,) = lesson_candidates(rule.replace("prices as floats", "these as floats"), "")
    assert alone.is_sure
    assert pointing.probability >= MIN_UNSURE
    assert not pointing.is_sure


@pytest.mark.parametrize("said", ["No, use pnpm", "No, please use pnpm, not npm", "no, we use tabs instead of spaces"])
def test_a_short_correction_is_an_unsure_candidate(said: str) -> None:
    (found,) = lesson_candidates(said, "I installed it with npm and indented with spaces.")
    assert found.probability >= MIN_UNSURE
    assert not found.is_sure


@pytest.mark.parametrize("said", ["Continue", "Run it again", "Fix the test and commit", "no, add it below"])
def test_an_order_for_the_task_at_hand_is_none(said: str) -> None:
    assert all(one.probability < MIN_UNSURE for one in lesson_candidates(said, "All tests pass."))


def test_pasted_text_has_no_candidates() -> None:
    pasted = "Fix the findings of the review:\n\n```\nWe never store prices as floats.\n```"
    assert all("floats" not in candidate.sentence for candidate in lesson_candidates(pasted, ""))
    assert lesson_candidates("", "") == []
