"""Sentences of a prompt as candidates of lessons."""

import pytest

from claude_mem_lite.compress.lessons.candidates import (
    MIN_SURE,
    MIN_UNSURE,
    ScoredSentence,
    is_request_at_hand,
    lesson_candidates,
    may_be_sure,
)


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


@pytest.mark.parametrize(
    ("said", "is_one_off"),
    [
        ("implement the above", True),
        ("Please update the README for the new make targets", True),
        ("We now need to make changes in both repos, src/cli and src/web", True),
        ("Ask @reviewer to look at the release", True),
        ("Update the README because users copy commands from there", False),
        ("Run the linter before each commit", False),
        ("We only support Python 3.11 and later", False),
        ("Why add a note and not just remove the parameter?", False),
    ],
)
def test_a_request_with_an_object_at_hand_is_neither_sure_nor_worth_judging(said: str, is_one_off: bool) -> None:
    assert is_request_at_hand(said) is is_one_off
    assert ScoredSentence(said, 0.9, is_sure=False).is_unsure is not is_one_off
    assert not (is_one_off and may_be_sure(said))


@pytest.mark.parametrize("said", ["Continue", "Run it again", "Fix the test and commit", "no, add it below"])
def test_an_order_for_the_task_at_hand_is_none(said: str) -> None:
    assert all(one.probability < MIN_UNSURE for one in lesson_candidates(said, "All tests pass."))


def test_pasted_text_has_no_candidates() -> None:
    pasted = "Fix the findings of the review:\n\n```\nWe never store prices as floats.\n```"
    assert all("floats" not in candidate.sentence for candidate in lesson_candidates(pasted, ""))
    assert lesson_candidates("", "") == []
