"""Tests of `knowledge/claims/claim.py` and `knowledge/claims/claim_patterns.py`: claims of titles, and titles that
contradict each other."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.knowledge.claims.claim import NOTHING, Claim, agree, claim_of, contradict, shared_by_rivals
from claude_mem_lite.knowledge.claims.claim_patterns import singular
from claude_mem_lite.text import words_of

WORDS = """run lint tests test before after on off never don't no longer always the code port 5433 5434 listens database
first last migrations start lock file files v2 v3 ties tie enabled disabled not""".split()  # noqa: SIM905


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
        ("Answer in French", "Answer in German"),
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
        (
            "The alerts of `cmd/serve.go` are sent to the ops team",
            "The alerts of `cmd/sync.go` are sent to the data group",
        ),
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
    assert claim_of("The parser choked on a byte order mark") == NOTHING


def test_a_placement_has_a_verb_a_subject_and_a_value() -> None:
    assert claim_of("Keep the config in YAML instead of INI") == Claim(
        value=frozenset({"yaml"}), drops=frozenset({"ini"}), subject=frozenset({"config"}), verb="keep"
    )


def test_a_version_is_told_from_its_name() -> None:
    assert claim_of("Use `postgres15` for the store") == Claim(
        value=frozenset({"postgres", "15"}), subject=frozenset({"store"}), is_role=True
    )


@pytest.mark.parametrize(
    ("said", "denied"),
    [
        ("Run migrations at start", "Don’t run migrations at start"),
        ("Run migrations at start", "Never: run migrations at start"),
        ("Use npm", "Don’t use npm"),
        ("Use npm", "Never: use npm"),
    ],
)
def test_a_denial_contradicts_whatever_its_apostrophe_and_colon(said: str, denied: str) -> None:
    assert contradict(said, denied)
    assert not agree(said, denied)


def test_what_is_said_against_something_in_a_way_not_understood_lays_down_nothing() -> None:
    assert claim_of("Never again use npm") == NOTHING
    assert claim_of("The old one never worked, so use npm").value == {"npm"}


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Use pnpm, not npm", "We use npm, not pnpm"),
        ("I prefer spaces over tabs", "I prefer tabs over spaces"),
        ("Log to stderr, never to stdout", "Log to stdout, never to stderr"),
        ("Always run tests before lint", "Run lint before tests"),
        ("Run the unit tests after lint", "Run lint after the unit tests"),
        ("Run lint after tests", "Run lint before tests"),
        ("Run lint after tests, not before", "Run lint before tests, not after"),
        ("Leave the request cache off in tests", "Leave the request cache on in tests"),
    ],
)
def test_the_same_words_turned_around_say_the_opposite(newer: str, older: str) -> None:
    assert contradict(newer, older)
    assert contradict(older, newer)


@pytest.mark.parametrize(
    ("newer", "older"),
    [
        ("Keep config in TOML", "Keep config in YAML"),
        ("Log in plain text", "Log in JSON"),
        ("Prices are stored as integer cents", "Prices are stored as floats"),
        ("Deploy with Kubernetes instead of Docker Compose", "Deploy with Docker Compose"),
        ("Rewrite the CLI in Rust", "Keep the CLI in Go"),
        ("We deploy to Fly.io", "We deploy to Heroku"),
        ("Use integer cents for prices", "Use floats for prices"),
        ("Store prices as integer cents", "Use floats for prices"),
        ("Keep carts in Redis", "Keep carts in SQLite"),
        ("Store carts in Redis", "Keep carts in SQLite"),
        ("The API runs on Python 3.12", "The API runs on Python 3.11"),
        ("Keep invoices in PostgreSQL because SQLite locked", "Keep invoices in SQLite"),
    ],
)
def test_how_one_thing_is_done_is_replaced_by_another_way_of_the_same_sort(newer: str, older: str) -> None:
    assert contradict(newer, older)
    assert contradict(older, newer)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Write tests in tests/", "Write tests in pytest style"),
        ("Write docs in Markdown", "Write docs in English"),
        ("Deploy to Heroku for staging", "Deploy to Fly.io"),
        ("Deploy the docs to Netlify", "Deploy the API to Fly.io"),
        ("Deploy with Docker", "Deploy with Terraform"),
        ("Log in JSON", "Log to stdout"),
        ("Keep the hook in Python", "Keep the hook in memory"),
        ("Use Redis for the API", "Use Postgres for the API"),
        ("Use Python for the website", "Use TypeScript for the website"),
        ("Keep carts in Redis", "Keep carts in Redis for a day"),
        ("Cache users in Redis", "Store users in Postgres"),
        ("Keep users in PostgreSQL", "Store users in Postgres"),
        ("Log to stdout and stderr", "Log to stderr"),
    ],
)
def test_ways_of_different_sorts_or_for_different_things_hold_together(one: str, other: str) -> None:
    assert not contradict(one, other)
    assert not contradict(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Server 1 runs the nightly backup job", "Server 2 runs the nightly backup job"),
        ("Node 18 must pass the full test suite", "Node 20 must pass the full test suite"),
        ("Use Node 18 in the test suite", "Use Node 20 in the test suite"),
        ("Support Python 3.11 in the test matrix", "Support Python 3.12 in the test matrix"),
        ("Use Python 3.11 in the matrix", "Use Python 3.12 in the matrix"),
        ("Deploy the nightly build to server 1", "Deploy the nightly build to server 2"),
        ("Shard 4 holds the European customers", "Shard 5 holds the European customers"),
    ],
)
def test_a_number_that_is_a_name_makes_two_things_and_no_contradiction(one: str, other: str) -> None:
    assert not contradict(one, other)


@pytest.mark.parametrize(
    ("rule", "exception"),
    [
        ("Use uv, not pip", "Use pip inside Docker"),
        ("Never use mocks", "Use mocks in the browser tests"),
        ("Use pnpm instead of npm", "Use npm on the build server"),
    ],
)
def test_what_holds_in_one_place_only_is_an_exception_to_the_rule(rule: str, exception: str) -> None:
    assert not contradict(rule, exception)
    assert not contradict(exception, rule)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A rule is not a decision", "A decision is not a rule"),
        ("Map users to orders", "Map orders to users"),
        ("Run lint before tests", "Never run tests before lint"),
        ("Run lint before tests", "Run lint before the release"),
    ],
)
def test_not_all_that_is_turned_around_is_an_opposite(one: str, other: str) -> None:
    assert not contradict(one, other)


@pytest.mark.parametrize(
    ("title", "other"),
    [
        ("Run migrations at start", "Don't run migrations at start"),
        ("Never lock files of tests", "Lock file of tests"),
        ("Lint before tests", "Tests before lint"),
        ("Lint before tests", "Lint after tests"),
        ("Idle sessions end after 30 minutes", "Idle sessions end after 20 minutes"),
    ],
)
def test_a_rival_of_a_title_without_a_claim_has_its_plain_words(title: str, other: str) -> None:
    words = shared_by_rivals(title, is_against=False)
    assert contradict(title, other)
    assert words
    assert {singular(word) for word in words} <= {singular(word) for word in words_of(other)}


@given(st.lists(st.sampled_from(WORDS), max_size=7), st.data())
@settings(max_examples=400, deadline=None)
def test_any_rival_of_a_title_without_a_claim_has_its_plain_words(words: list[str], data: st.DataObject) -> None:
    changed = [data.draw(st.one_of(st.just(word), st.just(f"{word}s"), st.sampled_from(WORDS))) for word in words]
    more = data.draw(st.sampled_from([[], ["not"], ["never"], ["no", "longer"]]))
    title, other = " ".join(words), " ".join([*more, *data.draw(st.one_of(st.just(changed), st.permutations(changed)))])
    against = (data.draw(st.booleans()), data.draw(st.booleans()))
    shared = shared_by_rivals(title, is_against=against[0])
    if contradict(title, other, against=against):
        assert {singular(word) for word in shared} <= {singular(word) for word in words_of(other)}


@pytest.mark.parametrize("title", ["Use pnpm", "Ties", "Not here", "getUserById over foo.py", "Größe über alles"])
def test_a_title_with_a_claim_or_without_two_plain_words_names_none_for_certain(title: str) -> None:
    assert shared_by_rivals(title, is_against=False) == []
