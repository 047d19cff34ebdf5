"""Tests of `compress/rules/session_summary.py` and `compress/compose/material.py`: the summary grows with the
turns and reads well at every point."""

import dataclasses

import pytest

from claude_mem_lite.compress.compose.candidates import SentenceCandidate, plan_headings
from claude_mem_lite.compress.compose.judge import KINDS, Judgement, SentenceVerdict
from claude_mem_lite.compress.compose.material import Material, best_title
from claude_mem_lite.compress.compose.titles import Title
from claude_mem_lite.compress.prose.drafts import prompt_text
from claude_mem_lite.compress.prose.markdown import BlockKind
from claude_mem_lite.compress.rules.session_summary import headline_worth, summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.models import Draft, SessionSummary, Turn
from claude_mem_lite.turn_digest import ClosingMessage, TurnDigest
from tests.support import commit_turns
from tests.support.turns import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    call,
    edit,
    lenient_judge,
    read,
    todos,
    turn,
    write,
)

FIX = edit("src/auth.py", AUTH, "now * 1000", "now")
CART = "Added a cart that keeps its items in memory."
ADD_CART = turn(
    "Add a cart to the shop. It should keep its items in memory.",
    write("src/cart.py", "class Cart:\n    pass\n"),
    bash(*commit_turns.commit(CART, "src/cart.py", prefix="feat: ")),
    closing=f"{commit_turns.closing(CART, 'src/cart.py')}\n\n## Next steps\n- Add checkout\n- Write docs",
)


def after(*turns: Turn) -> SessionSummary:
    summary, worth = SessionSummary(), 0.0
    for one in turns:
        digest = fold(one)
        summary = summarize(summary, one, digest, worth)
        worth = max(worth, headline_worth(digest))
    return summary


def after_digests(*digests: TurnDigest) -> SessionSummary:
    summary, worth = SessionSummary(), 0.0
    for digest in digests:
        summary = summarize(summary, turn("go on"), digest, worth)
        worth = max(worth, headline_worth(digest))
    return summary


def size(summary: SessionSummary) -> int:
    return sum(
        len(value) if isinstance(value, str) else sum(map(len, value))
        for value in (getattr(summary, field.name) for field in dataclasses.fields(summary))
    )


def test_one_turn_gives_headline_request_completed_and_next_steps() -> None:
    summary = after(ADD_CART)
    assert summary.headline == "Add a cart that keeps its items in memory"
    assert summary.request == "Add a cart to the shop. It should keep its items in memory."
    assert summary.completed == "Added a cart that keeps its items in memory."
    assert summary.next_steps == ("Add checkout", "Write docs")
    assert summary.files_edited == ("src/cart.py",)


def test_the_request_stays_the_first_prompt() -> None:
    assert after(ADD_CART, turn("now add checkout")).request.startswith("Add a cart to the shop.")


def test_a_first_prompt_that_says_nothing_leaves_the_request_to_the_next() -> None:
    assert after(turn("/clear"), turn("add a cart to the shop")).request == "add a cart to the shop."


def digest_of(title: str, worth: float, *facts: str) -> TurnDigest:
    return TurnDigest((Draft("feature", title, "Because.", facts=facts),), said=ClosingMessage(worth, headline=title))


def test_the_headline_is_the_title_of_the_memory_of_most_worth() -> None:
    good, better, less = digest_of("Add a cart", 0.6), digest_of("Add checkout", 0.9), digest_of("Add docs", 0.7)
    assert after_digests(good, better, less).headline == "Add checkout"
    assert after_digests(good, good, digest_of("Add refunds", 0.6)).headline == "Add refunds"


def test_the_headline_of_a_commit_comes_before_any_other() -> None:
    committed = digest_of("Add a cart", 0.5, "Commit 3f2a91c on main: Add a cart")
    assert after_digests(committed, digest_of("Add checkout", 0.9)).headline == "Add a cart"


def test_among_commits_the_larger_gives_the_headline_and_routine_work_weighs_nothing() -> None:
    def committing(title: str, weight: float, *drafts: Draft) -> TurnDigest:
        return TurnDigest(drafts, said=ClosingMessage(0.6, headline=title, commits=((title, weight),)))

    def memory(title: str) -> Draft:
        return Draft("feature", title, "Because.", facts=(f"Commit 3f2a91c on main: {title}",))

    large = committing("Add a cart", 0.9, memory("Add a cart"))
    small = committing("Round the total", 0.3, memory("Round the total"))
    assert after_digests(large, small).headline == "Add a cart"
    assert after_digests(small, large).headline == "Add a cart"
    routine, plain = committing("Bump the version", 0.0), committing("Drop the old till", 0.5)
    assert after_digests(plain, routine).headline == "Drop the old till"
    assert after_digests(small, plain).headline == "Round the total"


def test_a_headline_that_was_taken_out_is_replaced_whatever_its_worth_was() -> None:
    committed = digest_of("Add a cart", 0.57, "Commit 3f2a91c on main: Add a cart")
    said = TurnDigest((), said=ClosingMessage(headline="Login is slow"))
    for digest, headline in ((committed, "Add a cart"), (said, "Login is slow")):
        assert summarize(SessionSummary(headline=""), turn("go on"), digest, 1.95).headline == headline


def test_without_a_memory_the_newest_headline_is_that_of_the_session() -> None:
    first, last = (
        TurnDigest((), said=ClosingMessage(headline=title)) for title in ("Login is slow", "Login reads all passwords")
    )
    assert after_digests(first, TurnDigest(()), last).headline == "Login reads all passwords"
    assert after_digests(digest_of("Add a cart", 0.6), last).headline == "Add a cart"


def test_words_of_others_and_of_the_user_are_no_headline() -> None:
    drafts = (
        Draft("discovery", "A page says so", "x", origin="web"),
        Draft("decision", "Use pnpm", "x", origin="user"),
    )
    summary = summarize(None, turn("Look up the timeout"), TurnDigest(drafts))
    assert summary.headline == "Asked: Look up the timeout"


def test_a_prompt_that_led_to_nothing_is_told_as_asked() -> None:
    assert after(turn("Prices are shown without tax on the cart page, why?")).headline == (
        "Asked: Prices are shown without tax on the cart page, why?"
    )


def test_new_steps_stand_before_those_that_were_not_done() -> None:
    second = turn("add checkout", FIX, closing="I added the checkout page. The cart still needs to handle refunds.")
    assert after(ADD_CART, second).next_steps == ("The cart still needs to handle refunds.", "Write docs")


def test_of_many_steps_the_newest_are_kept() -> None:
    named = "".join(f"- Translate page {n}\n" for n in range(4))
    second = turn("go on", FIX, closing=f"Added a page.\n\n## Next steps\n{named}")
    assert after(ADD_CART, second).next_steps == (*(f"Translate page {n}" for n in range(4)), "Add checkout")


NEW_TASK = call("TaskCreate", {"subject": "Sort the list"}, {"task": {"id": "1", "subject": "Sort the list"}})


@pytest.mark.parametrize(
    "second",
    [
        turn("write the notes", FIX, todos(("Write the notes", "completed"))),
        turn("sort it", FIX, NEW_TASK, call("TaskUpdate", {"taskId": "1", "status": "completed"}, {})),
        turn("any issues?", FIX, closing="There are no open issues on GitHub for the parser."),
        turn("why?", FIX, closing="When there are no open tasks the worker sleeps."),
        turn("why?", FIX, closing="When the queue is empty, nothing is left to do for the worker."),
        turn("is all done?", closing="Nothing else is left to do."),
    ],
)
def test_steps_stay_whatever_else_is_done_or_said(second: Turn) -> None:
    assert after(ADD_CART, second).next_steps == ("Add checkout", "Write docs")


@pytest.mark.parametrize(
    "said", ["There is nothing left to do.", "All tests pass, and nothing is left.", "There are no open tasks left."]
)
def test_steps_go_where_a_clause_says_that_all_is_done(said: str) -> None:
    assert after(ADD_CART, turn("do the rest", FIX, closing=said)).next_steps == ()


def test_next_steps_stay_while_nobody_speaks_of_them() -> None:
    assert after(ADD_CART, turn("what does Cart do?", closing="It holds items.")).next_steps == (
        "Add checkout",
        "Write docs",
    )


def test_next_steps_go_when_all_is_said_to_be_done() -> None:
    second = turn("do the rest", FIX, closing="I added checkout and docs. Nothing else is left to do.")
    assert after(ADD_CART, second).next_steps == ()


def test_a_step_that_was_done_goes() -> None:
    said = "Added checkout to the cart."
    second = turn(
        "add checkout",
        FIX,
        bash(*commit_turns.commit(said, "src/auth.py", prefix="feat: ")),
        closing=commit_turns.closing(said, "src/auth.py"),
    )
    assert after(ADD_CART, second).next_steps == ("Write docs",)


def test_open_to_dos_are_next_steps_and_a_finished_list_closes_them() -> None:
    started = turn("add refunds", todos(("Model refunds", "completed"), ("Show refunds in the cart", "pending")))
    assert after(started).next_steps == ("Show refunds in the cart",)
    finished = turn("go on", todos(("Model refunds", "completed"), ("Show refunds in the cart", "completed")))
    assert after(started, finished).next_steps == ()


def test_tasks_kept_one_by_one_are_next_steps() -> None:
    made = [
        call("TaskCreate", {"subject": subject}, {"task": {"id": str(n), "subject": subject}})
        for n, subject in enumerate(["Model refunds", "Show refunds in the cart"], 1)
    ]
    summary = after(turn("add refunds", *made, call("TaskUpdate", {"taskId": "1", "status": "completed"}, {})))
    assert summary.next_steps == ("Show refunds in the cart",)


def test_questions_and_offers_are_no_next_steps() -> None:
    closing = "I added the cart to src/cart.py.\n\nWould you like me to add checkout next? Let me know how to go on!"
    assert after(turn("add a cart", FIX, closing=closing)).next_steps == ()


def test_what_happens_next_in_the_program_is_no_next_step() -> None:
    closing = "I changed `is_valid`. The new session should be seen on the next request of the client."
    assert after(turn("fix it", FIX, closing=closing)).next_steps == ()


def test_a_sentence_that_only_sums_up_the_to_dos_is_left_out() -> None:
    summary = after(
        turn(
            "what is left?",
            todos(("Show refunds in the cart", "pending"), ("Send accounting a new export for October", "pending")),
            closing="Next step: show refunds in the cart, then send accounting a new export for October.",
        )
    )
    assert summary.next_steps == ("Show refunds in the cart", "Send accounting a new export for October")


def test_a_to_do_that_a_sentence_says_with_more_is_left_out() -> None:
    summary = after(
        turn(
            "what is left?",
            todos(("Show refunds", "pending")),
            closing="Next: show refunds in the cart once the payment provider has confirmed each of them by webhook.",
        )
    )
    assert summary.next_steps == (
        "Show refunds in the cart once the payment provider has confirmed each of them by webhook.",
    )


def test_what_the_turn_found_is_learned_and_what_is_already_told_is_not() -> None:
    said = ClosingMessage(
        findings=("Sessions expire because is_valid compares seconds with milliseconds.", "Added a cart.")
    )
    summary = after_digests(TurnDigest((Draft("feature", "Add a cart", "Because."),), said=said))
    assert summary.learned == "Sessions expire because is_valid compares seconds with milliseconds."


def test_what_fails_is_not_told_as_learned_once_it_passes() -> None:
    failing = TurnDigest((), said=ClosingMessage(findings=("One test fails because times of seconds are compared.",)))
    assert after_digests(failing).learned
    assert after_digests(failing, TurnDigest((), passed=("pytest",))).learned == ""


@pytest.mark.parametrize(
    ("found", "command", "is_kept"),
    [
        ("Stripe's webhook check fails when the server clock is off by five minutes.", "pytest", True),
        ("The build fails on a missing type.", "pytest", True),
        ("The build fails on a missing type.", "npm run build", False),
        ("The suite breaks because `test_total` fails.", "pytest -q", False),
        ("`./migrate staging` fails because the table is locked.", "./migrate staging", False),
        ("Migrations are broken where two of them have one number.", "./migrate staging", True),
    ],
)
def test_a_finding_goes_only_when_the_command_it_is_about_passes(found: str, command: str, *, is_kept: bool) -> None:
    learned = after_digests(
        TurnDigest((), said=ClosingMessage(findings=(found,))), TurnDigest((), passed=(command,))
    ).learned
    assert learned == (found if is_kept else "")


def test_without_a_memory_the_likeliest_result_of_edits_is_what_was_completed() -> None:
    said = ClosingMessage(results=("Added rounding to the cart.",))
    assert after_digests(TurnDigest((), files_edited=("src/cart.py",), said=said)).completed == (
        "Added rounding to the cart."
    )
    assert after_digests(TurnDigest((), said=said)).completed == ""


def test_decisions_are_key_decisions_with_their_reason() -> None:
    decision = Draft("decision", "Use SQLite", "SQLite needs no server. It is one file. Three.")
    said = ClosingMessage(decisions=("Prices are kept in cents, because floats round.",))
    assert after_digests(TurnDigest((decision,), said=said)).key_decisions == (
        "SQLite needs no server. It is one file.",
        "Prices are kept in cents, because floats round.",
    )


def test_a_key_decision_too_long_to_keep_is_cut_after_a_clause() -> None:
    reason = "UTC is kept in the database, because the payment provider sends it" + ", and it is easier" * 15
    (decision,) = after_digests(TurnDigest((Draft("decision", "Keep UTC", f"{reason}."),))).key_decisions
    assert len(decision) <= 240
    assert decision.endswith("it is easier.")


def test_what_was_private_leaves_no_mark_in_the_request() -> None:
    summary = after(turn("Add a cart to the shop.\n[private]", FIX))
    assert summary.request == "Add a cart to the shop."


def test_what_still_fails_is_noted_until_work_goes_on() -> None:
    closing = "test_fresh_is_valid in tests/test_session.py still fails."
    failing = turn("run the tests", bash_failed("pytest", PYTEST_FAILED), closing=closing)
    assert after(failing).notes.startswith("Still failing: pytest fails: tests/test_session.py::test_fresh_is_valid")
    assert after(failing, ADD_CART).notes == ""
    assert after(failing, turn("again", bash("pytest", PYTEST_PASSED))).notes == ""


def test_the_newest_files_are_kept() -> None:
    turns = [turn("read", *(read(f"src/module_{n}_{m}.py") for m in range(6))) for n in range(4)]
    assert after(*turns).files_read == tuple(f"src/module_3_{m}.py" for m in range(3, 6))


def test_an_api_error_is_no_closing_message() -> None:
    broken = turn("add a cart", FIX)
    events = (*broken.events[:-1], dataclasses.replace(broken.events[-1], kind="StopFailure", message="API Error: 500"))
    summary = after(dataclasses.replace(broken, events=events))
    assert "API Error" not in f"{summary}"


def test_a_long_session_stays_short() -> None:
    digests = [
        TurnDigest(
            (
                Draft("feature", f"Add part {n} of the shop with its own tables, pages and permissions", "Because."),
                Draft("decision", f"Keep part {n} in its own module", f"Part {n} changes for other reasons. " * 5),
            ),
            files_edited=(f"src/part_{n}/module_with_a_long_name_{n}.py",),
            said=ClosingMessage(
                0.9,
                findings=(
                    f"The tables of part {n} were locked by the importer for minutes, because it never commits.",
                ),
                next_steps=tuple(f"Write the documentation for page {m} of part {n}" for m in range(9)),
            ),
        )
        for n in range(30)
    ]
    summary = after_digests(*digests)
    assert size(summary) < 2_500
    assert "part 29" in summary.completed
    assert "part 29" in summary.headline


def test_a_turn_that_was_broken_off_leaves_what_was_known_before() -> None:
    broken = turn("add checkout", FIX)
    broken = dataclasses.replace(broken, events=broken.events[:-1])
    summary = after(ADD_CART, broken)
    assert summary.next_steps == ("Add checkout", "Write docs")
    assert summary.completed.startswith("Added a cart")
    assert summary.files_edited == ("src/cart.py", "src/auth.py")


def test_open_boxes_of_a_test_plan_are_for_its_reviewers() -> None:
    closing = "Here is the description.\n\n## Test plan\n- [x] Run the tests\n- [ ] Try a refund by hand\n"
    assert after(turn("describe the change", FIX, closing=closing)).next_steps == ()


def test_of_a_plan_that_was_pasted_the_request_is_its_beginning() -> None:
    plan = (
        "Implement the following plan:\n\n# Plan: Round prices in the cart\n\nSums of prices are wrong by a cent.\n\n"
        "## Changes\n\n1. Round in the cart\n2. Test it\n"
    )
    assert after(turn(plan, FIX)).request.startswith("Round prices in the cart. Sums of prices are wrong by a cent.")


@pytest.mark.parametrize(
    "said",
    [
        "You can see it in your ledger, because the second order of that customer is missing in it.",
        "All 14 tests pass.",
        "Would you like me to commit this?",
    ],
)
def test_talk_is_neither_learned_nor_done(said: str) -> None:
    summary = after(turn("what happened?", read("src/cart.py"), FIX, closing=said))
    assert (summary.learned, summary.completed) == ("", "")


@pytest.mark.parametrize(
    "closing",
    [
        "Here is what I would do:\n\n- Add a retry to `fetch_rates()` in `rates.py` for status 503\n"
        "- Cache the rates in `rates.json` for an hour",
        "Add a retry to `fetch_rates()` in `rates.py` so that a 503 does not stop the import.",
    ],
    ids=["list", "sentence"],
)
def test_what_was_only_proposed_is_no_headline_of_a_session(closing: str) -> None:
    said = fold(turn("how could the import survive a 503?", closing=closing), lenient_judge()).said
    assert said.headline == ""


@pytest.mark.parametrize(("kind", "wanted"), [("item", ""), ("text", "The importer skips rows without a price")])
def test_an_item_of_a_list_needs_a_better_score_to_be_a_headline(kind: BlockKind, wanted: str) -> None:
    text = "The importer skips rows without a price"
    titles = ((Title(0, text, "whole"), 0.6),)
    judgement = Judgement((SentenceVerdict(*[0.5] * 10),), 0.1, dict.fromkeys(KINDS, 0.0), titles)
    given = Material([SentenceCandidate("s1", text, "closing", kind)], judgement, (), (), ())
    assert best_title(given)[0] == wanted


@pytest.mark.parametrize(
    "heading",
    [
        "# Plan: Round prices in the cart",
        "# Migration plan — round prices in the cart",
        "# Plan to round prices in the cart",
    ],
)
def test_a_plan_is_called_the_same_in_the_request_and_in_a_title(heading: str) -> None:
    prompt = f"Implement the following plan:\n\n{heading}\n\nSums of prices are wrong by a cent."
    assert [one.lower() for one in plan_headings(prompt, ())] == ["round prices in the cart"]
    assert after(turn(prompt, FIX)).request.startswith("Round prices in the cart. Sums of prices are wrong by a cent.")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ('<ide_selection path="a.py">x = 1</ide_selection>Round the prices', "Round the prices"),
        ("<session-start-hook>ok</session-start-hook>\nRound the prices", "Round the prices"),
        ("<system-reminder>Be brief.</system-reminder> Round the prices", "Round the prices"),
        ("<bash-input>ls shop</bash-input>", ""),
        ("<task-notification>The build is done</task-notification>", ""),
        ("This session is being continued from a previous conversation that ran out of context. Prices.", ""),
    ],
)
def test_what_a_client_writes_in_the_place_of_the_user_is_no_request(prompt: str, said: str) -> None:
    assert prompt_text(prompt) == said


def test_a_long_step_is_kept_whole() -> None:
    step = f"The importer still needs tests for {' and '.join(f'carts of kind {number}' for number in range(9))}"
    assert 140 < len(step) <= 240
    listed = turn("go on", todos((f"Import {step[4:]}", "pending")))
    assert after(listed).next_steps == (f"Import {step[4:]}",)
    assert after(turn("go on", FIX, closing=f"Fixed the session. {step}.")).next_steps == (f"{step}.",)
