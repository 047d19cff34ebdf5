"""A user's sentence as one statement that can be understood alone."""

import pytest

from claude_mem_lite.compress.lessons.statement import is_question, is_standing, stands_alone, statement_of


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("no, please use pnpm here", "Use pnpm here."),
        ("ok so we never mock the database", "We never mock the database."),
        ("Can you please keep the docs short?", "Keep the docs short."),
        ("hey claude, I'd like you to sign all commits, thanks!", "Sign all commits."),
        ("I think we should pin all versions", "We should pin all versions."),
        ("No mocks in tests", "No mocks in tests."),
        ("why do we need a wrapper here?", "Why do we need a wrapper here?"),
        ("please", "Please."),
    ],
)
def test_it_has_no_lead_and_begins_and_ends_as_a_sentence(said: str, told: str) -> None:
    assert statement_of(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "We never mock the database in tests",
        "Please sign commits, because unsigned ones are rejected",
        "Use pathlib instead of os.path in scripts",
        "Don't squash commits in this repository",
        "Generated files are not edited by hand since they are overwritten",
    ],
)
def test_what_names_its_subject_stands_alone(said: str) -> None:
    assert stands_alone(said)


@pytest.mark.parametrize(
    "said",
    [
        "no, this is fine as a rule",
        "You should never do that again",
        "Please always put it into the shared package",
        "We should use these names everywhere",
        "Use the smaller font instead",
        "Do the same for all the other pages",
        "All helpers have to go there",
        "no mocks in unit tests whatsoever",
        "Why do we not pin the versions?",
        "We want the changes you made in every package",
        "Use pnpm",
    ],
)
def test_what_only_the_conversation_explains_does_not(said: str) -> None:
    assert not stands_alone(said)


@pytest.mark.parametrize(
    "said",
    [
        "Why dont we use one linter for all of it",
        "ok but how should the tests be named",
        "Is there any need for a wrapper",
        "Do we want to pin all versions",
        "what if we cache the results",
        "为什么不用这个？",
    ],
)
def test_a_question_is_one_with_or_without_its_mark(said: str) -> None:
    assert is_question(said)
    assert not stands_alone(said)


@pytest.mark.parametrize(
    "said",
    [
        "Can you please keep the docs short?",
        "When you commit, sign the commit",
        "What is not tested gets deleted",
        "Do not mock the database in tests",
        "Have the tests run before every commit",
    ],
)
def test_a_request_or_a_statement_is_none(said: str) -> None:
    assert not is_question(said)


@pytest.mark.parametrize("said", ["We never mock the database in tests", "Names of tests should be sentences"])
def test_a_rule_is_standing(said: str) -> None:
    assert is_standing(said)


@pytest.mark.parametrize(
    "said",
    [
        "Add a page for refunds to the shop",
        "Don't change anything and tell me what fails",
        "We need to update docs/usage.md for the release",
        "Let's never mind the old pages for the moment",
        "I just saw that the cache never expires",
    ],
)
def test_an_order_for_the_task_and_a_report_are_not(said: str) -> None:
    assert not is_standing(said)
