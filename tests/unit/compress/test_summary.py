"""The session summary grows with its turns and reads well at every point."""

import dataclasses

import pytest

from claude_mem_lite.compress.rules.summary import summarize
from claude_mem_lite.compress.rules.turns import fold
from claude_mem_lite.models import SessionSummary, Turn
from tests.unit.compress.build import (
    AUTH,
    PYTEST_FAILED,
    PYTEST_PASSED,
    bash,
    bash_failed,
    call,
    edit,
    read,
    todos,
    turn,
    write,
)

FIX = edit("src/auth.py", AUTH, "now * 1000", "now")


def after(*turns: Turn) -> SessionSummary:
    summary: SessionSummary | None = None
    for one in turns:
        summary = summarize(summary, one, fold(one))
    assert summary is not None
    return summary


def size(summary: SessionSummary) -> int:
    return sum(
        len(value) if isinstance(value, str) else sum(map(len, value))
        for value in (getattr(summary, field.name) for field in dataclasses.fields(summary))
    )


ADD_CART = turn(
    "Add a cart to the shop. It should keep its items in memory.",
    write("src/cart.py", "class Cart:\n    pass\n"),
    closing="I've added a `Cart` class in `src/cart.py` that keeps its items in memory.\n\n"
    "## Next steps\n- Add checkout\n- Write docs",
)


def test_one_turn_gives_headline_request_completed_and_next_steps() -> None:
    summary = after(ADD_CART)
    assert summary.headline == "Add a Cart class in src/cart.py that keeps its items in memory"
    assert summary.request == "Add a cart to the shop. It should keep its items in memory."
    assert summary.completed == "Added a Cart class in src/cart.py that keeps its items in memory."
    assert summary.next_steps == ("Add checkout", "Write docs")
    assert summary.files_edited == ("src/cart.py",)


def test_the_request_stays_the_first_prompt() -> None:
    assert after(ADD_CART, turn("now add checkout")).request.startswith("Add a cart to the shop.")


def test_a_first_prompt_that_says_nothing_leaves_the_request_to_the_next() -> None:
    assert after(turn("/clear"), turn("add a cart to the shop")).request == "add a cart to the shop."


def test_the_headline_grows_with_the_work() -> None:
    second = turn("rename load", FIX, closing="Renamed `load` to `read_file` in auth.py.")
    assert after(ADD_CART, second).headline == (
        "Add a Cart class in src/cart.py that keeps its items in memory; Rename `load` to read_file in auth.py"
    )


def test_work_takes_the_headline_from_a_question() -> None:
    question = turn(
        "why is login slow?",
        read("src/auth.py"),
        closing="Login is slow because every request opens the password file again and parses all of its 40,000 lines."
        " A cache would cut the time from 800 ms to 3 ms per request.",
    )
    assert after(question).headline.startswith("Login is slow because every request opens the password file")
    assert after(question, ADD_CART).headline.startswith("Add a Cart class")


def test_next_steps_are_replaced_by_the_newest() -> None:
    second = turn(
        "add checkout", FIX, closing="I added the checkout page. Refunds still need to be handled by the cart."
    )
    assert after(ADD_CART, second).next_steps == ("Refunds still need to be handled by the cart.",)


def test_next_steps_stay_while_nobody_speaks_of_them() -> None:
    assert after(ADD_CART, turn("what does Cart do?", closing="It holds items.")).next_steps == (
        "Add checkout",
        "Write docs",
    )


def test_next_steps_go_when_all_is_said_to_be_done() -> None:
    second = turn("do the rest", FIX, closing="I added checkout and docs. Nothing else is left to do.")
    assert after(ADD_CART, second).next_steps == ()


def test_a_step_that_was_done_goes() -> None:
    second = turn("add checkout", FIX, closing="I've added checkout to the cart, with a test.")
    assert after(ADD_CART, second).next_steps == ("Write docs",)


def test_open_to_dos_are_next_steps_and_a_finished_list_empties_them() -> None:
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


def test_causes_are_learned() -> None:
    summary = after(
        turn(
            "fix the login test",
            bash_failed("pytest", PYTEST_FAILED),
            FIX,
            bash("pytest", PYTEST_PASSED),
            closing="Fixed. The root cause was that `is_valid` compared seconds with milliseconds.",
        )
    )
    assert summary.learned == "The root cause was that is_valid compared seconds with milliseconds."
    assert summary.completed == "Fixed Session.is_valid to make test_fresh_is_valid pass."


def test_what_is_learned_and_done_carries_no_label_and_no_i() -> None:
    closing = (
        "Old tokens no longer pass the login page.\n\n**Cause:** `is_valid` compared seconds with milliseconds of the"
        " clock.\n\n**Fix:** I added `expires_at()` to `src/auth.py`, which counts in seconds."
    )
    summary = after(turn("fix the login", FIX, closing=closing))
    assert summary.learned == "is_valid compared seconds with milliseconds of the clock."
    assert summary.completed == "Added expires_at() to src/auth.py, which counts in seconds."


def test_the_headline_of_a_bug_that_was_fixed_tells_the_outcome() -> None:
    closing = "Old tokens no longer pass the login page.\n\nI added `expires_at()` to `src/auth.py`."
    fixed = turn(
        "Old tokens still work, fix it",
        bash_failed("pytest", PYTEST_FAILED),
        FIX,
        bash("pytest", PYTEST_PASSED),
        closing=closing,
    )
    assert after(fixed).headline == "Old tokens no longer pass the login page"


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


def test_a_key_decision_keeps_its_reason() -> None:
    said = (
        "I decided to keep UTC in the database and to convert only in reports, because the payment provider's webhooks"
        " send UTC and because local times are ambiguous for an hour every autumn, when the clocks go back."
    )
    (decision,) = after(turn("store local time?", FIX, closing=f"Committed.\n\n{said}")).key_decisions
    assert decision == said.replace("I decided", "Decided")


def test_a_key_decision_too_long_to_keep_is_cut_after_a_clause() -> None:
    said = "I decided to keep UTC in the database, because the payment provider sends it" + ", and it is easier" * 15
    (decision,) = after(turn("store local time?", FIX, closing=f"Committed.\n\n{said}.")).key_decisions
    assert len(decision) <= 240
    assert decision.endswith("it is easier.")


def test_what_was_private_leaves_no_mark_in_the_request() -> None:
    summary = after(turn("Add a cart to the shop.\n[private]", FIX))
    assert summary.request == "Add a cart to the shop."


def test_decisions_are_key_decisions() -> None:
    closing = (
        "I created src/db.py.\n\nDecision: SQLite instead of PostgreSQL, because the tool must run without a server."
    )
    assert after(turn("add storage", FIX, closing=closing)).key_decisions == (
        "SQLite instead of PostgreSQL, because the tool must run without a server.",
    )


def test_what_still_fails_is_noted_until_work_goes_on() -> None:
    failing = turn("run the tests", bash_failed("pytest", PYTEST_FAILED))
    assert after(failing).notes.startswith("Still failing: pytest fails: tests/test_session.py::test_fresh_is_valid")
    assert after(failing, ADD_CART).notes == ""


def test_the_newest_files_are_kept() -> None:
    turns = [turn("read", *(read(f"src/module_{n}_{m}.py") for m in range(6))) for n in range(4)]
    assert after(*turns).files_read == tuple(f"src/module_3_{m}.py" for m in range(3, 6))


def test_an_api_error_is_no_closing_message() -> None:
    broken = turn("add a cart", FIX)
    events = (*broken.events[:-1], dataclasses.replace(broken.events[-1], kind="StopFailure", message="API Error: 500"))
    summary = after(dataclasses.replace(broken, events=events))
    assert "API Error" not in f"{summary}"


def test_a_long_session_stays_short() -> None:
    turns = [
        turn(
            f"Add part {n} of the shop, with everything that belongs to it, as described in the plan we made",
            write(f"src/part_{n}/module_with_a_long_name_{n}.py", "x = 1\n"),
            closing=f"I've added part {n} of the shop with its own tables, pages and permissions, following the plan."
            f" The root cause of the earlier trouble {n} was that the tables were locked by the importer for minutes."
            f" We decided to keep part {n} in its own module because it changes for other reasons than the rest."
            f"\n\n## Next steps\n" + "\n".join(f"- Write the documentation for page {m} of part {n}" for m in range(9)),
        )
        for n in range(30)
    ]
    summary = after(*turns)
    assert size(summary) < 2_500
    assert len(summary.headline) <= 200
    assert "part 29" in summary.completed
    assert summary.headline.startswith("Add part 0 of the shop")
    assert "part 29" in summary.headline


def test_a_session_is_told_better_with_every_turn() -> None:
    question = turn(
        "why is login slow?",
        read("src/auth.py"),
        closing="Login is slow because every request parses all 40,000 lines of the password file again.",
    )
    first = after(question)
    assert first.headline.startswith("Login is slow because every request parses")
    assert (first.completed, first.next_steps) == ("", ())

    cached = turn(
        "cache it then",
        FIX,
        closing="I've added a cache for parsed passwords to `src/auth.py`.\n\nI decided to keep it in memory, because"
        " the file changes once a day.\n\n## Next steps\n- Clear the cache when the file changes\n- Measure it again",
    )
    second = after(question, cached)
    assert second.request == "why is login slow?"
    assert second.headline == "Add a cache for parsed passwords to src/auth.py"
    assert second.completed == "Added a cache for parsed passwords to src/auth.py."
    assert second.next_steps == ("Clear the cache when the file changes", "Measure it again")
    assert len(second.key_decisions) == 1

    cleared = turn(
        "clear the cache when the file changes", FIX, closing="The cache is now cleared when the password file changes."
    )
    third = after(question, cached, cleared)
    assert third.next_steps == ("Measure it again",)
    assert third.headline.endswith("; The cache is now cleared when the password file changes")
    assert third.learned.startswith("Login is slow because")
    assert third.key_decisions == second.key_decisions

    measured = turn("measure it", bash("./bench.sh", "p50 3 ms"), closing="It takes 3 ms. Nothing else is left to do.")
    assert after(question, cached, cleared, measured).next_steps == ()


def test_a_turn_that_was_broken_off_leaves_what_was_known_before() -> None:
    broken = turn("add checkout", FIX)
    broken = dataclasses.replace(broken, events=broken.events[:-1])
    summary = after(ADD_CART, broken)
    assert summary.next_steps == ("Write docs",)
    assert summary.completed.startswith("Added a Cart class")
    assert summary.files_edited == ("src/cart.py", "src/auth.py")


def test_a_prompt_that_led_to_nothing_is_told_as_asked() -> None:
    assert after(turn("Prices are shown without tax on the cart page, why?")).headline == (
        "Asked: Prices are shown without tax on the cart page, why"
    )


def test_what_only_names_files_makes_room_for_what_tells_more() -> None:
    silent = turn("yes", FIX, closing="Done.")
    assert after(silent).completed == "Changed Session.is_valid in src/auth.py."
    assert after(silent, ADD_CART).completed == "Added a Cart class in src/cart.py that keeps its items in memory."


@pytest.mark.parametrize(
    "said",
    [
        "This is why only one of the two orders was found in the ledger of that day, because it was locked.",
        "Move the check to the gateway, because the ledger is too slow for it at the end of a month.",
        "Fixed the rounding in the cart, because the sum was wrong by one cent for every refund in it.",
        "You can see it in your ledger, because the second order of that customer is missing in it.",
        "test_rounding - verifies that sums are right when a refund is rounded due to missing cents.",
    ],
)
def test_what_is_no_lesson_is_not_learned(said: str) -> None:
    assert after(turn("what happened?", read("src/cart.py"), FIX, closing=said)).learned == ""


def test_a_question_of_the_user_is_not_learned() -> None:
    table = "| Place | Use |\n|---|---|\n| src/cart.py | adds up prices |\n| src/tax.py | adds the tax to prices |\n"
    asked = turn("Where are prices computed in the shop?", read("src/cart.py"), closing=table * 3)
    assert after(asked).learned == ""


def test_what_is_done_is_told_in_whole_sentences() -> None:
    closing = (
        "Here is what changed:\n\n- `src/cart.py`: Added rounding to the cart, so that sums with refunds are right to"
        " the cent even when a refund is split over several orders\n"
    )
    assert after(turn("go on", FIX, closing=closing)).completed == (
        "Added rounding to the cart, so that sums with refunds are right to the cent even when a refund is split over"
        " several orders."
    )


def test_a_step_that_says_not_committed_goes_with_the_commit() -> None:
    open_work = turn("fix it", FIX, closing="I've changed `is_valid` to count in seconds but haven't committed it.")
    assert after(open_work).next_steps == ("Changed is_valid to count in seconds but haven't committed it.",)
    committed = turn("commit", bash('git commit -am "Count in seconds"', "[main 1a2b3c4] Count in seconds"))
    assert after(open_work, committed).next_steps == ()


def test_open_boxes_of_a_test_plan_are_for_its_reviewers() -> None:
    closing = "Here is the description.\n\n## Test plan\n- [x] Run the tests\n- [ ] Try a refund by hand\n"
    assert after(turn("describe the change", FIX, closing=closing)).next_steps == ()


def test_what_happens_next_in_the_program_is_no_next_step() -> None:
    closing = "I changed `is_valid`. The new session should be seen on the next request of the client."
    assert after(turn("fix it", FIX, closing=closing)).next_steps == ()


def test_of_a_plan_that_was_pasted_the_request_is_its_beginning() -> None:
    plan = (
        "Implement the following plan:\n\n# Plan: Round prices in the cart\n\n## Summary\n\nSums of prices are wrong by"
        " a cent.\n\n## Changes\n\n1. Round in the cart\n2. Test it\n"
    )
    assert after(turn(plan, FIX)).request == "Round prices in the cart. Sums of prices are wrong by a cent."


def test_what_blocks_the_work_is_noted() -> None:
    closing = "I added the webhook. We are still blocked by the missing key of the payment provider."
    blocked = turn("add the webhook", FIX, closing=closing)
    assert after(blocked).notes == "We are still blocked by the missing key of the payment provider."
    assert after(blocked, ADD_CART).notes == ""


def test_an_agreed_plan_is_a_key_decision_by_its_name() -> None:
    plan = call(
        "ExitPlanMode", {"plan": "# Plan: Round prices in the cart\n\nSums are wrong by a cent.\n\n- Round\n"}, {}
    )
    assert after(turn("plan it", plan)).key_decisions == ("Plan: Round prices in the cart",)


def test_the_request_holds_what_is_wanted_although_it_comes_after_a_long_story() -> None:
    story = "Right now the importer reads every file of the folder into memory before it looks at the first of them. "
    more = "That takes minutes on the larger folders and has filled the memory of the build machine twice this month. "
    asked = turn(f"{story}{more}I want the importer to read one file at a time.", closing="It reads one at a time now.")
    assert "I want the importer to read one file at a time." in summarize(None, asked, fold(asked)).request
