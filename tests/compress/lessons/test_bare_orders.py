"""The kind of what is remembered without one: plain orders are rules, facts and single deeds are notes."""

import pytest

from claude_mem_lite.compress.lessons.reader import kind_asked, read

ORDERS = (
    "Use tabs in Go files",
    "Run make lint before a commit",
    "Keep migrations small",
    "Write commit messages in the imperative",
    "Log errors with the request id",
    "Test every endpoint against a real database",
    "Make sure ids are unique",
    "In Python, use pathlib for paths",
    "Please use British spelling",
    "Add a changelog entry with every pull request",
    "Check that the server is up before a deploy",
    "Return 404 for unknown ids",
    "Delete feature branches after a merge",
    "Commit lock files",
    "Give each table a primary key",
)
FACTS = (
    "The staging server is rebuilt at night",
    "Release builds take an hour",
    "Test data lives in fixtures/",
    "Log files are in /var/log/shop",
    "Commit hooks live in .githooks",
    "Run times are measured in milliseconds",
    "Use of eval is checked by the linter",
    "Push notifications go through Firebase",
    "Review apps are deleted after a week",
    "Version 3 of the API is frozen",
    "Store hours: 9 to 5",
    "Write access to prod needs a ticket",
    "Fix the login page tomorrow",
    "Remove the old importer",
    "Deploy the new worker",
)


@pytest.mark.parametrize("sentence", ORDERS)
def test_a_plain_order_says_how_to_work(sentence: str) -> None:
    assert kind_asked(sentence) in ("rule", "preference")


@pytest.mark.parametrize("sentence", FACTS)
def test_a_fact_or_a_single_deed_is_a_note(sentence: str) -> None:
    assert kind_asked(sentence) == "note"


@pytest.mark.parametrize("sentence", ["Run make lint before a commit", "Log errors with the request id"])
def test_in_a_prompt_the_same_words_are_a_task(sentence: str) -> None:
    assert read(sentence) is None


@pytest.mark.parametrize("sentence", ["", " ", ".", "Use", "Use.", "Run:", "make sure", "in go, "])
def test_too_few_words_are_no_order(sentence: str) -> None:
    assert kind_asked(sentence) == "note"
