"""Tests of `compress/compose/composer.py`, `compress/compose/features.py`, `compress/compose/judge.py`,
`compress/compose/facts.py` and `compress/compose/fix_cards.py`: candidates, headlines, and memories of whole
turns with the shipped judge."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_mem_lite.compress.compose import facts, headline
from claude_mem_lite.compress.compose.candidates import candidates_of, plan_headings
from claude_mem_lite.compress.compose.composer import MAX_CARDS, compose
from claude_mem_lite.compress.compose.headline import keep_case, lower_case_names
from claude_mem_lite.compress.compose.judge import NOTHING, WEIGHTS, shipped_judge
from claude_mem_lite.compress.compose.material import impersonal_sentence, material_of
from claude_mem_lite.compress.compose.titles import titles_of
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.compress.rules.turn import MAX_LOG, log_of
from claude_mem_lite.compress.toolcalls.commits import Commit
from claude_mem_lite.compress.toolcalls.steps import Agreed, Answered, Ran
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.models import Draft, Event
from tests.support.turns import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    edit,
    lenient_judge,
    read,
    subagent_stop,
    turn,
    write,
)

SPLIT = "def split_price(cents, parts):\n    return [int(cents / parts)] * parts\n"
FIX = edit("src/auth.py", AUTH, "now * 1000", "now")
COMMIT = """git commit -m "$(cat <<'END'
fix(auth): compare expiry in seconds, not milliseconds

Every session counted as expired because is_valid() compared the expiry in seconds with the time in milliseconds.
Compare both in seconds, so that a fresh session is valid.

Co-Authored-By: Claude <noreply@example.org>
END
)" """
COMMITTED = "[main 3f2a91c] fix(auth): compare expiry in seconds, not milliseconds\n 1 file changed, 1 insertion(+)"


def composed(prompt: str, *events: Event, closing: str = "") -> list[Draft]:
    made = turn(prompt, *events, closing=closing)
    steps = [step for event in made.events for step in read_steps(event)]
    return compose(material_of(made, closing, steps, (), shipped_judge()))


def test_sentences_are_numbered_by_their_source() -> None:
    commit = Commit("Add a cart", "It keeps orders. It expires.\n\nCo-Authored-By: somebody")
    message = "Done.\n\n## Cause\nThe cart was lost. It had no key:\n- a first reason\n- a second one"
    found = candidates_of(message, [commit], ["Carts that last"])
    assert [one.ref for one in found] == ["c1", "c1.1", "c1.2", "s1", "s2", "s3", "s4", "s5", "h1", "p1"]
    by_ref = {one.ref: one for one in found}
    assert by_ref["s2"].under == "Cause"
    assert by_ref["s4"].lead == "It had no key"
    assert by_ref["p1"].text == "Carts that last"


def test_the_heading_of_a_plan_is_read_from_the_prompt_that_orders_it() -> None:
    prompt = "Implement the following plan:\n\n# Plan: Keep carts for a week\n\n## Context\nThey are lost."
    assert plan_headings(prompt, []) == ["Keep carts for a week"]
    assert plan_headings("Why are carts lost?", ["# Migration plan: Move carts to SQLite\n1. Copy"]) == [
        "Move carts to SQLite"
    ]


@pytest.mark.parametrize(
    ("subject", "title"),
    [
        ("fix(cart): keep the voucher after a reload", "Keep the voucher after a reload (cart)"),
        ("Add a retry to the importer", "Add a retry to the importer"),
        ("wip", ""),
    ],
)
def test_a_commit_gives_its_subject_without_the_prefix(subject: str, title: str) -> None:
    assert headline.of_commit(subject) == title


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        ("I've added a --dry-run flag to the importer.", "Add a --dry-run flag to the importer"),
        (
            "Root cause: the cart cache was keyed by the session alone.",
            "the cart cache was keyed by the session alone",
        ),
        ("This fixes it.", ""),
        ("All of those are gone now.", ""),
    ],
)
def test_a_headline_names_its_subject_or_there_is_none(sentence: str, title: str) -> None:
    assert headline.of_sentence(sentence) == title


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        (
            "The list of tools in types.go was missing the replace tool that the agent of the other company uses.",
            "The list of tools in types.go was missing the replace tool",
        ),
        ("Files that a shell command changed are not found if:", ""),
        ("Fixed by using the date of today in the expected session id", ""),
        ("The auto-commit only sees changes of files from these tools", ""),
        ("Shared carts keep their orders for a week", "Shared carts keep their orders for a week"),
    ],
)
def test_a_headline_is_whole_or_there_is_none(sentence: str, title: str) -> None:
    assert headline.of_sentence(sentence) == title


def test_a_sentence_offers_itself_and_what_stands_behind_its_dash_as_titles() -> None:
    message = "Carts last a week - the nightly job deletes only what is older than seven days.\n\nNo, it is fine."
    found = [(one.text, one.form) for one in titles_of(candidates_of(message, [Commit("fix: keep carts", "")]))]
    assert found == [
        ("Keep carts", "subject"),
        ("Carts last a week - the nightly job deletes only what is older than seven days", "whole"),
        ("the nightly job deletes only what is older than seven days", "tail"),
    ]


def test_an_answer_gives_a_title_without_its_yes_or_no() -> None:
    [title] = titles_of(candidates_of("No, the backfill does not touch prices of archived orders.", []))
    assert title.text == "the backfill does not touch prices of archived orders"


@given(st.text(max_size=400))
def test_no_headline_is_longer_than_its_limit(text: str) -> None:
    assert len(headline.of_sentence(text)) <= headline.MAX_HEADLINE + 20
    assert len(headline.cut(text)) <= headline.MAX_HEADLINE


def test_what_is_told_has_no_first_person() -> None:
    assert impersonal_sentence("I've moved the check into load().") == "Moved the check into load()."


def test_a_commit_with_its_cause_is_one_bugfix_with_the_cause_first() -> None:
    found = composed(
        "Users are logged out right after they log in: every session seems to expire at once. Find out why and fix it.",
        read("src/auth.py"),
        FIX,
        bash("pytest tests/test_session.py", PYTEST_PASSED),
        bash(COMMIT, COMMITTED),
        closing=(
            "The root cause: is_valid() compared the expiry in seconds with the time in milliseconds, so every session "
            "counted as expired.\n\n- is_valid() now compares both in seconds\n- A fresh session stays valid for its "
            "whole lifetime, because the expiry is no longer divided by a thousand\n\nAll 14 tests pass. Committed as "
            "3f2a91c."
        ),
    )
    (card,) = found
    assert card.kind == "bugfix"
    assert card.title == "Compare expiry in seconds, not milliseconds (auth)"
    assert "because is_valid() compared the expiry in seconds" in card.summary.partition(". ")[0]
    assert "src/auth.py" in card.files
    assert any(fact.startswith("Commit 3f2a91c on main") for fact in card.facts)


def test_a_failure_that_was_there_before_is_told_with_its_proof() -> None:
    run = "pytest tests/test_session.py"
    found = composed(
        "the tests fail, why?",
        bash_failed(run, PYTEST_FAILED),
        FIX,
        bash(run, PYTEST_PASSED),
        closing="The session test failed because is_valid() compared seconds with milliseconds. Both are seconds now.",
    )
    (card,) = found
    assert card.kind == "bugfix"
    assert f"{run} passes now (14 passed)." in card.summary
    assert any(anchor.startswith("error:") for anchor in card.anchors)


@pytest.mark.parametrize(
    "closing",
    ["All tests pass.", "Done!", "Would you like me to commit this?", "You're absolutely right.", "", "─────"],
)
def test_status_praise_and_offers_leave_no_memory(closing: str) -> None:
    assert composed("go on", read("src/auth.py"), closing=closing) == []


def test_a_command_that_still_fails_is_a_memory_only_if_the_agent_says_so() -> None:
    failed = bash_failed("pytest tests/test_session.py", PYTEST_FAILED)
    assert composed("try it", failed, closing="I left the parser as it was.") == []
    (card,) = composed("try it", failed, closing="test_fresh_is_valid in tests/test_session.py still fails.")
    assert card.kind == "failure"


@given(st.text(max_size=300), st.text(max_size=600))
def test_no_turn_makes_the_composer_fail_or_tell_more_than_a_few_memories(prompt: str, closing: str) -> None:
    assert len(composed(prompt, closing=closing)) <= MAX_CARDS + 1


def test_nothing_is_judged_of_a_turn_in_which_nothing_was_said() -> None:
    assert NOTHING.worth == 0.0


def test_the_judge_is_small_enough_to_ship() -> None:
    assert WEIGHTS.stat().st_size <= 1_000_000


def test_a_stated_cause_and_the_run_that_passes_make_a_fix_of_work_in_progress() -> None:
    failed = bash_failed("python3 check.py", "Traceback (most recent call last):\nAssertionError: a cent is lost")
    cause = "The cause was that `split_price` used float division, which dropped the remainder."
    events = (write("split.py", SPLIT), failed, edit("split.py", SPLIT, "cents / parts", "cents // parts"))

    (memory,) = composed("Why is a cent lost?", *events, bash("python3 check.py"), closing=f"{cause} It passes now.")

    assert memory.kind == "bugfix"
    assert memory.title == "split_price used float division, which dropped the remainder"
    assert "python3 check.py passes now" in memory.summary
    assert any(anchor.startswith("error:") for anchor in memory.anchors)


def test_an_open_step_is_neither_title_nor_summary_of_a_memory() -> None:
    before = "def total(items):\n    return sum(items)\n"
    command = "pytest -q tests/test_invoice.py"
    failure = (
        "FAILED tests/test_invoice.py::test_total - AssertionError: assert 0.30000000000000004 == 0.3\n1 failed in 1s"
    )
    events = (
        bash_failed(command, failure),
        edit("src/invoice.py", before, "sum(items)", "sum(map(Decimal, items))"),
        bash(command, "1 passed in 0.02s"),
    )
    closing = (
        "The total was off by one cent because `total` added floats. It adds Decimals now.\n\n"
        "Still to do: convert the tax calculation in `src/tax.py` to Decimal as well."
    )

    (memory,) = composed("The total on the invoice is wrong by one cent. Fix it.", *events, closing=closing)

    assert memory.title == "The total was off by one cent because `total` added floats"
    assert "tax" not in memory.summary


MENDED = (bash_failed("pytest", PYTEST_FAILED), FIX, bash("pytest", PYTEST_PASSED))


def test_a_cause_is_not_told_as_that_of_another_fix() -> None:
    closing = (
        "Root cause: the deploy script reads DATABASE_URL from the staging environment instead of production. "
        "The deploy script is not changed yet."
    )
    for memory in composed("Why did the deploy fail?", *MENDED, closing=closing):
        assert "deploy" not in memory.title or "passes now" not in memory.summary


def test_a_command_of_which_the_agent_says_that_it_is_mended_is_no_failure() -> None:
    failed = bash_failed("npm run build", "src/a.ts(3,1): error TS2322: Type 'string' is not assignable.")
    closing = "The build no longer fails: the type of `a` in src/a.ts is a number."
    assert composed("Mend the build", failed, FIX, closing=closing) == []


@pytest.mark.parametrize(
    ("sentence", "is_own"),
    [
        ("I decided to keep amounts as integer cents, because the gateway sends cents.", True),
        ("Decided against Redis, because one process is enough.", True),
        ("Decided: keep amounts as integer cents, because the gateway sends cents.", True),
        ("We decided: amounts stay integer cents, because the gateway sends cents.", True),
        ("Nothing was decided: the gateway sends cents and the shop sends euros.", False),
        ("The FastAPI team decided to drop the old models, because they are slow.", False),
        ("The sub-agent decided to use Redis, because it is fast.", False),
        ("In the next release we will use milliseconds everywhere.", False),
    ],
)
def test_a_decision_is_stated_in_the_words_of_the_agent(sentence: str, is_own: bool) -> None:
    assert states_decision(sentence) is is_own


def test_the_log_of_a_turn_has_the_reports_of_sub_agents() -> None:
    report = "The gateway refuses amounts above 50000 cents because its fraud rule counts them as suspicious payments."
    assert report in log_of([], [subagent_stop(report)])
    assert log_of([], [subagent_stop("Done.")]) == ""


def test_the_log_of_a_big_turn_has_something_of_every_part_and_whole_lines() -> None:
    answered = [Answered(f"Question {number}?", f"{number} {'words ' * 60}end") for number in range(6)]
    edited = [
        step for number in range(40) for step in read_steps(write(f"src/{'folder/' * 20}f{number}.py", "a = 1\n" * 9))
    ]
    ran = [
        step for number in range(12) for step in read_steps(bash(f"make t{number}", f"{number} errors {'x ' * 30}\n"))
    ]
    body = "\n".join(f"- it changes the {number}th thing, because the others need it" for number in range(20))
    committed = [
        Ran("git commit", "commit", "git commit", "", commits=(Commit(f"Change {number}", body),))
        for number in range(12)
    ]
    reports = [subagent_stop(f"Report {number}: {'what was found there ' * 60}") for number in range(3)]

    log = log_of([*edited, *committed, Agreed("Move the tax. " * 80), *ran, *answered], reports)

    assert len(log) <= MAX_LOG
    for number in range(6):
        assert f"Asked “Question {number}?”, the user chose: {number} words" in log
    for start in ("Plan agreed to: ", "$ make t0: ", "Sub-agent: ", "Commit: Change 0", "src/folder/"):
        assert f"\n{start}" in log
    assert all(line.endswith((".", "…", "x", ")")) for line in log.split("\n")), log


def test_all_answers_are_in_the_log_and_the_last_in_the_facts() -> None:
    own = "We host on Hetzner only, never on AWS, because our contract with the city names the two data centres."
    steps = [Answered("Where do we host?", own), *(Answered(f"Which colour {number}?", "Blue") for number in range(5))]
    assert f"Asked “Where do we host?”, the user chose: {own}" in log_of(steps)
    assert len(log_of(steps).split("\n")) == 6
    assert len(list(facts.of_answers(steps))) == 3


def test_the_log_of_a_turn_has_its_edits_commits_and_runs() -> None:
    steps = [step for event in (FIX, bash(COMMIT, COMMITTED)) for step in read_steps(event)]
    log = log_of(steps)
    assert "src/auth.py" in log
    assert "Commit 3f2a91c on main: fix(auth): compare expiry in seconds, not milliseconds" in log


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("db/7_prices.down.sql: Removed the column tax again.", "db/7_prices.down.sql: Removed the column tax again."),
        ("rates.py — returns cents for every currency.", "rates.py — returns cents for every currency."),
        ("Rollback: restores the four old indexes of orders.", "Rollback: restores the four old indexes of orders."),
        ("rates.py:12 - Added a retry for the Swiss table.", "Added a retry for the Swiss table."),
    ],
)
def test_a_place_stays_where_the_sentence_needs_it(sentence: str, told: str) -> None:
    assert headline.bare(sentence) == told


@pytest.mark.parametrize(
    ("sentence", "title"),
    [
        (
            "The importer of the rates takes every line as a number of cents but the shop's loader rejects that form",
            "The importer of the rates takes every line as a number of cents",
        ),
        (
            "The nightly job finds the open carts of archived shops even after the shop was renamed by its owner",
            "The nightly job finds the open carts of archived shops",
        ),
    ],
)
def test_a_headline_is_not_cut_between_a_verb_and_what_belongs_to_it(sentence: str, title: str) -> None:
    assert headline.cut(sentence) == title


@pytest.mark.parametrize("size", [1, 30, 200])
def test_the_titles_of_failures_and_fixes_are_no_longer_than_a_headline(size: int) -> None:
    name = "test_" + "x" * size
    output = PYTEST_FAILED.replace("test_login", name)
    [draft] = composed(
        "Fix the tests.",
        bash_failed(f"uv run pytest tests/{name}.py -k {name} --strict --verbose", output),
        closing=f"pytest still fails in {name}.py: the session expires.",
    ) or [Draft("failure", "", "")]
    assert len(draft.title) <= headline.MAX_HEADLINE


def test_a_tool_keeps_its_lower_case_at_the_beginning_of_a_sentence() -> None:
    steps = [Ran("fetchall rates --force", "run", "", ""), Ran("docker build .", "build", "", "")]
    names = lower_case_names(steps, ["Docker builds fail.", "Run `tidy all` first."])
    assert names == {"fetchall", "tidy"}
    assert keep_case("Fetchall skips old rates. Tidy, too. Docker is fine.", names) == (
        "fetchall skips old rates. tidy, too. Docker is fine."
    )


def test_a_fault_that_was_only_told_is_a_discovery() -> None:
    closing = (
        "## Root cause\nThe price import is broken because the vendored parser has no support for the decimal comma: "
        "every Swiss price is read as zero cents."
    )
    asked = turn("Why are Swiss prices zero?", write("notes.md", "# Prices\n"), closing=closing)
    steps = [step for event in asked.events for step in read_steps(event)]
    found = compose(material_of(asked, closing, steps, (), lenient_judge()))
    assert [draft.kind for draft in found] == ["discovery"]


def test_a_summary_tells_the_fault_of_its_title_and_no_other_of_the_list() -> None:
    closing = (
        "### Vouchers are applied twice because apply_voucher() does not check the order's state\n"
        "`apply_voucher()` runs again on each reload, because the order stays in the state open until it is paid.\n\n"
        "### Session tokens never expire since the cleanup job compares seconds with milliseconds\n"
        "The cleanup job divides nothing, so that every token is a thousand times too young to be deleted.\n"
    )
    asked = turn("Review the shop.", read("src/shop.py"), closing=closing)
    steps = [step for event in asked.events for step in read_steps(event)]
    found = compose(material_of(asked, closing, steps, (), lenient_judge()))
    assert found
    for draft in found:
        is_voucher = "oucher" in draft.title
        assert ("token" in draft.summary) != is_voucher
        assert ("apply_voucher" in draft.summary) == is_voucher


def test_a_heading_that_is_the_title_is_followed_by_what_stands_below_it() -> None:
    closing = (
        "## The cart loses its voucher after a reload\n"
        "The session key was not saved because save_cart() returns before the cookie is written.\n\n"
        "## The mail queue sends every receipt twice\n"
        "Receipts are sent twice because the worker of the mail queue never acknowledges a message.\n"
    )
    asked = turn("Review the shop.", read("src/shop.py"), closing=closing)
    steps = [step for event in asked.events for step in read_steps(event)]
    material = material_of(asked, closing, steps, (), lenient_judge())
    titles = tuple((title, float(title.text.startswith("The cart"))) for title, _ in material.judgement.titles)
    (draft,) = compose(replace(material, judgement=replace(material.judgement, titles=titles)))
    assert draft.title == "The cart loses its voucher after a reload"
    assert "save_cart()" in draft.summary
    assert "mail queue" not in draft.summary


def test_a_fix_opens_with_a_sentence_about_it_or_with_its_error() -> None:
    closing = "All tests of the login pass now.\n\nThe prices were wrong because cents were read as francs."
    for draft in composed(
        "Make the tests pass.", bash_failed("pytest -q", PYTEST_FAILED), FIX, bash("pytest -q", PYTEST_PASSED),
        closing=closing,
    ):  # fmt: skip
        if draft.title.startswith("Fix "):
            assert draft.summary.startswith("pytest failed: ")


def test_each_of_several_commits_has_the_files_edited_before_it() -> None:
    first = bash(COMMIT, COMMITTED)
    message = COMMIT.replace("compare expiry in seconds, not milliseconds", "reject a till without a drawer")
    second = bash(
        message, COMMITTED.replace("3f2a91c", "81aa02b").replace(
            "compare expiry in seconds, not milliseconds", "reject a till without a drawer"
        ),
    )  # fmt: skip
    drafts = composed("Fix both", FIX, first, write("src/till.py", SPLIT), second)
    assert [draft.files for draft in drafts] == [("src/auth.py",), ("src/till.py",)]
