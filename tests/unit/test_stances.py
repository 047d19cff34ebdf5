"""What sentences lay down, and which of them cannot hold together."""

import pytest

from claude_mem_lite.store.stances import NOTHING, Stance, agree, contradict, stance_of


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Use Postgres 16 for the store", "Use Postgres 15 for the store"),
        ("Use pnpm", "Use npm"),
        ("Decided to store prices as integer cents instead of floats", "Decided to store prices as floats"),
        ("Keep prices as integer cents", "Store prices as floats"),
        ("Save tokens in a file rather than the keychain", "Store tokens in the keychain"),
        ("Switched from npm to pnpm", "Use npm for installs and scripts"),
        ("Switch to pnpm", "Use npm"),
        ("Back to npm", "Use pnpm"),
        ("Replace Redis with Postgres for the session store", "Use Redis for the session store"),
        ("Use Postgres for the session store", "Use Redis for the session store"),
        ("Move the queue to Postgres", "Use Redis for the queue"),
        ("Use 2 spaces in YAML", "Use 4 spaces in YAML"),
        ("Don't use npm", "Use npm"),
        ("Don't use npm, use pnpm", "Use npm"),
        ("Use pnpm, not npm", "Use npm"),
        ("Use pnpm instead of npm", "Use npm"),
        ("Instead of npm, use pnpm", "Use npm for all scripts"),
        ("Store sessions in Postgres", "Store sessions in Redis"),
        ("The test database listens on port 5434", "The test database listens on port 5433"),
        ("Don't run migrations at start", "Run migrations at start"),
        ("Use tabs for indentation", "Use 4 spaces for indentation"),
        ("Use SQLite as the queue", "Use Redis as the queue"),
        ("No longer use moment.js", "Use moment.js for dates"),
        ("The default branch is main", "The default branch is master"),
        ("Cache responses for 5 minutes", "Cache responses for 10 minutes"),
        ("Nutze pnpm statt npm", "Use npm"),
        ("用 pnpm，不要用 npm", "Use npm"),
    ],
)
def test_what_cannot_hold_together(newer: str, older: str) -> None:
    assert contradict(newer, older)
    assert contradict(older, newer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use pnpm", "Use pnpm"),
        ("Use pnpm instead of npm", "Use pnpm"),
        ("Use hypothesis for tests", "Use pytest for tests"),
        ("Use mypy for Python", "Use ruff for Python"),
        ("Use tabs in Makefiles", "Use tabs in Python files"),
        ("Use 2 spaces in YAML", "Use 2 spaces in JSON"),
        ("Use npm for publishing", "Use pnpm"),
        ("Use FastAPI for the worker", "Use Flask for the admin page"),
        ("Fix issue 12 in the parser", "Fix issue 13 in the parser"),
        ("Keep the hook free of imports", "Keep the hook in one file"),
        ("Keep functions short in tests", "Keep functions short in the API"),
        ("Keep tests as they are", "Keep tests as plain functions"),
        ("Store carts in memory", "Store sessions in Redis"),
        ("Write tests first", "Write docs first"),
        ("Use Postgres 16", "Use Postgres"),
        ("Use real SQLite in tests, not mocks", "Use SQLite for the inbox"),
        ("Don't touch the generated files", "Never touch generated files"),
        ("Use Tailwind for the website", "Use React for the website"),
        ("Use single sign-on", "Use double opt-in"),
        ("CI runs on Linux", "CI runs on macOS"),
        ("Keep tests in sync with the code", "Keep tests in tests/unit"),
        ("Use JSON logs", "Use YAML for the pipeline"),
        ("Use Redis as the cache", "Use Postgres as the database"),
        ("Never use npm in CI", "Use npm"),
        ("", "Use npm"),
    ],
)
def test_what_may_well_hold_together(one: str, other: str) -> None:
    assert not contradict(one, other)
    assert not contradict(other, one)


@pytest.mark.parametrize("again", ["Always use pnpm", "Use pnpm instead of npm", "Prefer pnpm", "We use pnpm here"])
def test_the_same_in_other_words(again: str) -> None:
    assert agree("Use pnpm", again)


def test_an_exception_is_not_the_same_as_the_rule() -> None:
    assert not agree("Use pnpm", "Use pnpm for the website")


def test_the_title_of_an_anti_pattern_names_what_to_avoid() -> None:
    assert contradict("Use print for logging", "Use print for logging", against=(True, False))
    assert not contradict("Never use print for logging", "Use print for logging", against=(True, True))


def test_a_sentence_that_is_not_understood_lays_down_nothing() -> None:
    assert stance_of("The parser choked on a byte order mark") == NOTHING


def test_a_version_is_told_from_its_name() -> None:
    assert stance_of("Use `postgres15` for the store") == Stance(
        takes=frozenset({"postgres", "15"}), subject=frozenset({"store"}), is_role=True
    )
