"""Sentences of a prompt as candidates of lessons."""

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


def test_pasted_text_has_no_candidates() -> None:
    pasted = "Fix the findings of the review:\n\n```\nWe never store prices as floats.\n```"
    assert all("floats" not in candidate.sentence for candidate in lesson_candidates(pasted, ""))
    assert lesson_candidates("", "") == []
