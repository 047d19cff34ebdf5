"""A model that fails: tried again, left to rules, tried out after a pause, and redone once when it is back."""

from contextlib import closing

import pytest

from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import ModelUnavailable
from claude_mem_lite.inbox import model_queue
from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import query, running_loop, wait_until
from tests.worker.conftest import SetClock
from tests.worker.model_turns import (
    BUSY,
    CONFIG,
    REFUSAL,
    answer,
    headline,
    long_turn,
    makers,
    memories,
    outcomes,
    reasons,
    rest,
    states,
    wait_for_question,
    work,
)
from tests.worker.test_unit_jobs_retries import unwritable_table

NAME = "anthropic/claude-haiku-4-5-20251001"
WELL = answer("Count every item of the basket", headline="The basket counts")


def fail_all_tries(home: Home, loop: Services, clock: SetClock) -> None:
    """Let time pass until the tries of what is wanted are used up."""
    rest(home, loop, clock)
    for wait_s in (5, 10, 20):
        clock.advance(seconds=wait_s)
        rest(home, loop, clock)


def test_a_turn_is_asked_about_again_after_5_10_and_20_seconds(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    for tries, wait_s in enumerate((5, 10, 20), 1):
        assert (states(home), len(provider.asked)) == (["wanted"], tries)
        clock.advance(seconds=wait_s - 0.1)
        rest(home, model_loop, clock)
        assert len(provider.asked) == tries
        clock.advance(seconds=0.1)
        rest(home, model_loop, clock)
    assert (states(home), len(provider.asked)) == (["waiting"], 4)
    assert makers(home) == {"rules"}


def test_a_call_that_failed_is_told_while_its_turn_waits_to_be_tried_again(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [ModelUnavailable("the model could not be reached", "start the server"), WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    told = model_loop.models.state()
    assert told.problem == "the last call failed: the model could not be reached; it is tried again"
    assert told.next_step == "start the server"
    clock.advance(seconds=5)
    rest(home, model_loop, clock)
    assert model_loop.models.state().problem == ""


def test_a_turn_that_waits_to_be_tried_again_is_listed_and_can_be_tried_at_once(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY, WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    with closing(open_for_reading(home.inbox_db)) as db:
        (listed,) = model_queue.problems(db, 10)
    assert (listed.status, listed.reason) == ("wanted", f"{BUSY.message}; it is tried again")
    assert model_loop.writes.execute_write(lambda _: model_loop.models.retry(listed.id)).result(30) == 1
    rest(home, model_loop, clock)
    assert states(home) == ["done"]


def test_what_is_forgotten_while_it_waits_is_not_said_to_be_tried_again(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    model_loop.commands.put({"command": "forget", "ids": [], "session": "s-1", "project": None}).result(30)
    assert model_loop.passes.wait_until_idle(30)
    assert (states(home), model_loop.models.state().problem) == ([], "")


def test_a_retry_that_succeeds_is_stored(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY, BUSY, WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    clock.advance(seconds=5)
    rest(home, model_loop, clock)
    clock.advance(seconds=10)
    rest(home, model_loop, clock)
    assert (states(home), makers(home)) == (["done"], {NAME})
    assert outcomes(home) == ["unavailable", "unavailable", "told"]


def test_tries_are_counted_across_a_restart(home: Home, provider: FakeProvider, clock: SetClock) -> None:
    home.config.write_text(CONFIG)
    provider.answers = [BUSY]
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        rest(home, loop, clock)
    with running_loop(home, clock, provider.make) as loop:
        rest(home, loop, clock)
        assert len(provider.asked) == 1
        for wait_s in (5, 10, 20):
            clock.advance(seconds=wait_s)
            rest(home, loop, clock)
    assert (states(home), len(provider.asked)) == (["waiting"], 4)


def test_a_later_turn_waits_for_the_retries_of_the_one_before_it(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY, WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"), long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    assert (states(home), len(provider.asked)) == (["wanted", "wanted"], 1)
    clock.advance(seconds=5)
    rest(home, model_loop, clock)
    assert states(home) == ["done", "done"]


def test_a_turn_whose_tries_are_used_up_is_redone_when_the_model_is_back(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    fail_all_tries(home, model_loop, clock)
    assert (states(home), makers(home)) == (["waiting"], {"rules"})
    provider.answers = [answer("Paint the lid of the basket"), WELL]
    work(home, model_loop, long_turn("s-2", "Paint the lid"))
    rest(home, model_loop, clock)
    assert states(home) == ["done", "done"]
    assert memories(home) == [("Count every item of the basket", NAME)]
    assert headline(home) == "The basket counts"


def test_a_turn_is_redone_once_and_not_again(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    fail_all_tries(home, model_loop, clock)
    provider.answers = [WELL, BUSY]
    work(home, model_loop, long_turn("s-2", "Paint the lid"))
    fail_all_tries(home, model_loop, clock)
    assert states(home) == ["failed", "done"]
    provider.answers = [WELL]
    work(home, model_loop, long_turn("s-3", "Weigh the handle"))
    rest(home, model_loop, clock)
    assert states(home) == ["failed", "done", "done"]
    assert makers(home) == {"rules"}


def test_a_refusal_is_final_and_leaves_the_turn_to_rules(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [REFUSAL, WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    work(home, model_loop, long_turn("s-2", "Paint the lid"))
    rest(home, model_loop, clock)
    clock.advance(hours=1)
    rest(home, model_loop, clock)
    assert (states(home), len(provider.asked)) == (["failed", "done"], 2)
    assert (reasons(home)[0], makers(home)) == (REFUSAL.message, {"rules"})


@pytest.mark.parametrize("nonsense", ["", "I cannot help with that", '{"memories": [{}]}'])
def test_an_answer_that_cannot_be_used_leaves_the_turn_to_rules_and_is_paid_for(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, nonsense: str
) -> None:
    provider.answers = [nonsense]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    assert (states(home), makers(home)) == (["failed"], {"rules"})
    assert query(home.memory_db, "select outcome, tokens_in, cost_usd from model_calls") == [("refused", 2_000, 0.0035)]


def test_a_provider_that_breaks_leaves_the_turn_to_rules(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = []  # so that taking one fails
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    assert (states(home), reasons(home)) == (["failed"], ["the call failed with IndexError"])


def test_an_answer_that_never_comes_counts_as_a_failed_try(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [WELL]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    clock.advance(seconds=121)
    rest(home, model_loop, clock)
    assert states(home) == ["wanted"]
    assert "no answer within 120 s" in reasons(home)[0]
    provider.release()
    clock.advance(seconds=5)
    rest(home, model_loop, clock)
    assert states(home) == ["done"]


def test_an_answer_that_cannot_be_stored_yet_is_kept_and_not_asked_for_again(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [WELL]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    with unwritable_table(home, "memories"):
        provider.release()
        wait_until(
            lambda: model_loop.passes.wait_until_idle(30) and bool(model_loop.passes.failure), "the storing to fail"
        )
        assert states(home) == ["asking"]
    rest(home, model_loop, clock)
    assert (states(home), makers(home), len(provider.asked)) == (["done"], {NAME}, 1)


def cool(home: Home, loop: Services, provider: FakeProvider, clock: SetClock) -> None:
    """Three turns in a row that fail for good."""
    provider.answers = [BUSY]
    work(home, loop, *(long_turn(f"s-{number}", "Count the items") for number in (1, 2, 3)))
    fail_all_tries(home, loop, clock)
    assert states(home) == ["waiting"] * 3
    provider.asked.clear()


def test_after_three_failed_turns_no_model_is_asked_for_ten_minutes(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    work(home, model_loop, long_turn("s-4", "Paint the lid"))
    clock.advance(seconds=599)
    rest(home, model_loop, clock)
    assert (states(home)[3], provider.asked) == ("waiting", [])
    assert makers(home, "s-4") == {"rules"}


def test_cooling_is_told_with_its_reason_and_its_end(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    told = model_loop.models.state()
    assert told.name == NAME
    assert "after 3 failures in a row: the model answered with status 529" in told.problem
    clock.advance(minutes=10)
    assert "until a try succeeds" in model_loop.models.state().problem


def test_after_cooling_one_turn_tries_whether_the_model_is_back_and_then_all_are_told(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    work(home, model_loop, long_turn("s-4", "Paint the lid"))
    provider.answers = [WELL]
    provider.hold()
    clock.advance(minutes=10)
    wait_for_question(provider, model_loop)
    assert states(home) == ["asking", "waiting", "waiting", "waiting"]
    provider.release()
    rest(home, model_loop, clock)
    assert states(home) == ["done"] * 4
    assert len(provider.asked) == 4
    assert model_loop.models.state().problem == ""


def test_a_try_in_vain_begins_the_cooling_anew_and_costs_the_turn_nothing(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    for tries in (1, 2, 3):
        clock.advance(minutes=10)
        wait_for_question(provider, model_loop, tries)
        rest(home, model_loop, clock)
        assert (states(home), len(provider.asked)) == (["waiting"] * 3, tries)
    provider.answers = [WELL]
    clock.advance(minutes=10)
    wait_for_question(provider, model_loop, 4)
    rest(home, model_loop, clock)
    assert states(home) == ["done"] * 3


def test_three_refusals_in_a_row_cool_as_well(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [REFUSAL]
    for number in (1, 2, 3, 4):
        work(home, model_loop, long_turn(f"s-{number}", "Count the items"))
        rest(home, model_loop, clock)
    assert (states(home), len(provider.asked)) == (["failed"] * 3 + ["waiting"], 3)
    assert model_loop.models.state().next_step == (
        "check the model; `claude-mem-lite queue --retry all` ends the pause"
    )


def test_asking_again_about_all_ends_the_pause(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    provider.answers = [WELL]
    assert model_loop.writes.execute_write(lambda _: model_loop.models.retry(None)).result(30) == 3
    rest(home, model_loop, clock)
    assert (states(home), model_loop.models.state().problem) == (["done"] * 3, "")


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ('model = "qwen3:8b"', "model is set, but no provider, so no model is asked"),
        ('model = "m"\nbase_url = "http://127.0.0.1:9"', "model and base_url are set, but no provider"),
        ("", ""),
    ],
)
def test_a_model_without_a_provider_is_told_to_be_asked_nothing(
    home: Home, provider: FakeProvider, clock: SetClock, settings: str, told: str
) -> None:
    home.config.write_text(settings)
    with running_loop(home, clock, provider.make) as loop:
        assert loop.passes.wait_until_idle(30)
        state = loop.models.state()
    assert (state.name, state.problem[: len(told)], bool(state.problem)) == ("rules", told, bool(told))


def test_a_success_in_between_ends_the_row_of_failures(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [REFUSAL, REFUSAL, WELL, REFUSAL, REFUSAL, WELL]
    for number in range(6):
        work(home, model_loop, long_turn(f"s-{number}", "Count the items"))
        rest(home, model_loop, clock)
    assert states(home) == ["failed", "failed", "done"] * 2


def test_another_model_is_tried_at_once(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    cool(home, model_loop, provider, clock)
    provider.answers = [WELL]
    home.config.write_text(f'{CONFIG}model = "claude-sonnet-4-5"\n')
    assert model_loop.passes.wait_until_idle(30)
    rest(home, model_loop, clock)
    assert states(home) == ["done"] * 3


def test_a_worker_that_starts_with_turns_that_wait_tries_one_first(
    home: Home, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(CONFIG)
    with running_loop(home, clock, provider.make) as loop:
        cool(home, loop, provider, clock)
    with running_loop(home, clock, provider.make) as loop:
        wait_for_question(provider, loop)
        rest(home, loop, clock)
        assert (states(home), len(provider.asked)) == (["waiting"] * 3, 1)


def test_failed_turns_are_asked_about_again_when_the_user_says_so(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [REFUSAL, REFUSAL, WELL]
    work(home, model_loop, long_turn("s-1", "Count the items"), long_turn("s-2", "Paint the lid"))
    rest(home, model_loop, clock)
    (first, *_), _ = query(home.inbox_db, "select id from inbox where event = 'UserPromptSubmit'")
    assert model_loop.writes.execute_write(lambda _: model_loop.models.retry(first)).result(30) == 1
    rest(home, model_loop, clock)
    assert states(home) == ["done", "failed"]
    assert model_loop.writes.execute_write(lambda _: model_loop.models.retry(None)).result(30) == 1
    rest(home, model_loop, clock)
    assert states(home) == ["done", "done"]


def test_what_waited_for_8_days_is_let_go(home: Home, provider: FakeProvider, clock: SetClock) -> None:
    home.config.write_text(CONFIG)
    with running_loop(home, clock, provider.make) as loop:
        cool(home, loop, provider, clock)
    clock.advance(days=9)
    with running_loop(home, clock, provider.make) as loop:
        assert loop.passes.wait_until_idle(30)
    assert states(home) == []
