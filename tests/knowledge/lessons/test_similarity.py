"""Sentences that say the same, and those that only look so."""

import pytest

from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.knowledge.lessons.similarity import Likeness

LIKENESS = Likeness(shared_table())


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'd like table-driven tests in this package", "Use table driven tests in this package please"),
        ("No, run the CI task before you push", "always run the ci task before pushing"),
        ("Keep the commit messages short", "But I like short commit messages, keep them short"),
        ("Push it and then open a PR by the PR template", "Open the PR by our PR template, please"),
        ("不要在代码里写注释", "代码里不要写注释"),
    ],
)
def test_the_same_in_other_words_is_a_repetition(one: str, other: str) -> None:
    assert LIKENESS.repeats(one, [other]) == [0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I'd like British spelling in the docs", "I'd like American spelling in the docs"),
        ("Please add comments to obvious code", "Don't add comments to obvious code"),
        ("I think we should keep the parser small", "I think we should keep the renderer small"),
        ("Fix the failing test in the parser", "Add a test for the parser"),
        ("Use tabs over spaces in this repo", "Use spaces over tabs in this repo"),
        ("Publish it to the mirror as version 3.0.3", "Publish it to the mirror as version 3.1.1"),
        ("fine", "fine"),
    ],
)
def test_another_value_a_denial_or_another_matter_is_none(one: str, other: str) -> None:
    assert LIKENESS.repeats(one, [other]) == []


def test_an_answer_is_related_to_the_sentence_or_to_what_it_answered() -> None:
    saved = "Use SQLite for the cache instead of Redis, because no other service shall run"
    before = "Option B keeps the cache in Redis. Option C uses SQLite, so no other service has to run."
    assert LIKENESS.is_related(saved, "I like option C", before)
    assert not LIKENESS.is_related(saved, "I like option C", "")
    assert not LIKENESS.is_related("The nightly build uploads to the mirror", "I like option C", before)


def test_words_of_the_agents_message_alone_do_not_relate_to_a_sentence_with_content() -> None:
    saved = "The export job retries three times and writes its checkpoint into the bucket"
    before = "The export job now retries three times, and it writes a checkpoint into the bucket after each batch."
    assert not LIKENESS.is_related(saved, "I'd like shorter commit messages in this repository", before)
    assert LIKENESS.is_related(saved, "I'd like the checkpoint kept for good", before)
