"""What models may take: every call recorded, and none that might go over a cap."""

from datetime import UTC, datetime, time

import pytest

from claude_mem_lite.errors import ModelUnavailable
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Usage
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import query, running_loop
from tests.worker.conftest import SetClock
from tests.worker.model_turns import (
    BUSY,
    CONFIG,
    answer,
    change,
    long_turn,
    makers,
    outcomes,
    reasons,
    rest,
    states,
    wait_for_question,
    work,
)

NAME = "anthropic/claude-haiku-4-5-20251001"


def test_every_call_is_recorded_with_its_size_and_outcome(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [BUSY, answer("Count every item")]
    (key,) = work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    clock.advance(seconds=5)
    rest(home, model_loop, clock)
    columns = "turn, session, made_by, purpose, outcome, tokens_in, tokens_out, cost_usd"
    assert query(home.memory_db, f"select {columns} from model_calls order by id") == [
        (key, "s-1", NAME, "turn", "unavailable", 0, 0, 0.0),
        (key, "s-1", NAME, "turn", "told", 2_000, 300, 0.0035),
    ]


def test_a_call_under_way_counts_as_the_most_it_may_take(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    ((tokens_in, tokens_out, cost),) = query(
        home.memory_db, "select tokens_in, tokens_out, cost_usd from model_calls where outcome = 'asking'"
    )
    assert tokens_in > len(provider.asked[0]) / 2
    assert tokens_out == 1_024
    assert cost == (tokens_in * 1.0 + tokens_out * 5.0) / 1_000_000


def test_the_caps_of_a_day_stop_calls_in_the_middle_of_a_session_and_rules_go_on(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.05\n")
    provider.answers = [answer("Count every item")]
    provider.usage = Usage(20_000, 1_000, 0.025)
    for number in range(4):
        work(home, model_loop, long_turn("s-1", f"Count the items of lot {number}"))
        rest(home, model_loop, clock)
    assert states(home) == ["done", "done", "dropped", "dropped"]
    assert reasons(home)[2] == "the day's cap of $0.05 is reached"
    assert len(provider.asked) == 2
    assert makers(home) == {NAME, "rules"}
    assert model_loop.models.state().problem.startswith("the day's cap of $0.05 is reached")


def test_the_next_day_has_its_own_cap_and_what_a_cap_stopped_is_not_redone(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.03\n")
    provider.usage = Usage(20_000, 1_000, 0.025)
    for number in range(2):
        work(home, model_loop, long_turn("s-1", f"Count the items of lot {number}"))
        rest(home, model_loop, clock)
    clock.advance(days=1)
    assert model_loop.models.state().problem == ""
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    assert states(home) == ["done", "dropped", "done"]


@pytest.mark.parametrize(
    ("first_at", "hours", "second"),
    [("01:00", 22, "dropped"), ("00:00", 1, "dropped"), ("23:30", 1, "done")],
    ids=["late on the same day", "from its first moment", "of yesterday"],
)
def test_all_that_was_spent_on_this_day_of_utc_counts_and_nothing_of_yesterday(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, first_at: str, hours: int, second: str
) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.03\n")
    provider.usage = Usage(20_000, 1_000, 0.025)
    clock.now = datetime.combine(clock.now.date(), time.fromisoformat(first_at), UTC)
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    clock.advance(hours=hours)
    work(home, model_loop, long_turn("s-2", "Paint the lid"))
    rest(home, model_loop, clock)
    assert states(home) == ["done", second]


def test_a_cap_that_is_raised_holds_at_once(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.001\n")
    assert model_loop.passes.wait_until_idle(30)
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    home.config.write_text(f"{CONFIG}daily_usd = 1.0\n")
    assert model_loop.passes.wait_until_idle(30)
    assert model_loop.models.state().problem == ""
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    assert states(home) == ["dropped", "done"]


def test_the_cap_of_a_session_stops_that_session_alone(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}session_usd = 0.03\n")
    provider.usage = Usage(20_000, 1_000, 0.025)
    for session in ("s-1", "s-1", "s-2"):
        work(home, model_loop, long_turn(session, "Count the items"))
        rest(home, model_loop, clock)
    assert states(home) == ["done", "dropped", "done"]
    assert reasons(home)[1] == "the session's cap of $0.03 is reached"
    assert model_loop.models.state().problem == ""


def test_caps_in_tokens_hold_where_no_price_is_known(home: Home, provider: FakeProvider, clock: SetClock) -> None:
    home.config.write_text('provider = "openai"\nmodel = "qwen3:8b"\ndaily_tokens = 22000\n')
    provider.name = "openai/qwen3:8b"
    provider.usage = Usage(20_000, 1_000)
    with running_loop(home, clock, provider.make) as loop:
        for number in range(2):
            work(home, loop, long_turn("s-1", f"Count the items of lot {number}"))
            rest(home, loop, clock)
    assert states(home) == ["done", "dropped"]
    assert reasons(home)[1] == "the day's cap of 22,000 tokens is reached"


def test_the_cap_of_a_session_in_tokens_stops_that_session_alone(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}session_tokens = 22000\n")
    provider.usage = Usage(20_000, 1_000)
    for session in ("s-1", "s-1", "s-2"):
        work(home, model_loop, long_turn(session, "Count the items"))
        rest(home, model_loop, clock)
    assert states(home) == ["done", "dropped", "done"]
    assert reasons(home)[1] == "the session's cap of 22,000 tokens is reached"


@pytest.mark.parametrize(
    ("cap", "reason"),
    [
        ("daily_usd = 0.03", "the day's cap of $0.03 is reached"),
        ("daily_tokens = 22000", "the day's cap of 22,000 tokens is reached"),
        ("session_usd = 0.03", "the session's cap of $0.03 is reached"),
        ("session_tokens = 22000", "the session's cap of 22,000 tokens is reached"),
    ],
)
def test_a_summary_that_might_go_over_a_cap_is_not_asked_for(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, cap: str, reason: str
) -> None:
    home.config.write_text(f"{CONFIG}{cap}\n")
    provider.usage = Usage(20_500, 1_000, 0.0295)
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    told = model_loop.writes.execute_write(lambda _: model_loop.models.summarize("s-1")).result(30).result(30)
    assert (told.made_by, told.reason, len(provider.asked)) == ("rules", reason, 1)


def test_calls_side_by_side_do_not_go_over_a_cap_together(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.03\n")
    assert model_loop.passes.wait_until_idle(30)
    provider.hold()
    work(home, model_loop, *(long_turn(f"s-{number}", "Count the items") for number in range(5)))
    wait_for_question(provider, model_loop)
    assert model_loop.passes.wait_until_idle(30)
    assert model_loop.passes.wait_until_idle(30)
    ((most,),) = query(home.memory_db, "select sum(cost_usd) from model_calls")
    assert most <= 0.03
    assert {"asking", "dropped"} == set(states(home))
    provider.release()


def test_what_a_dead_worker_may_have_spent_stays_counted(home: Home, provider: FakeProvider, clock: SetClock) -> None:
    home.config.write_text(f"{CONFIG}daily_usd = 0.03\n")
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        rest(home, loop, clock)
    change(str(home.memory_db), "update model_calls set outcome = 'asking', cost_usd = 0.025")
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Paint the lid"))
        rest(home, loop, clock)
    assert (states(home), outcomes(home)) == (["done", "dropped"], ["lost"])


def test_a_cap_of_nothing_means_no_calls(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    for key in ("daily_usd", "session_usd", "daily_tokens", "session_tokens"):
        home.config.write_text(f"{CONFIG}{key} = 0\n")
        assert model_loop.passes.wait_until_idle(30)
        work(home, model_loop, long_turn("s-1", "Count the items"))
        rest(home, model_loop, clock)
    assert (set(states(home)), provider.asked) == ({"dropped"}, [])


def test_a_call_of_which_nobody_knows_what_it_took_stays_counted_as_the_most(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [ModelUnavailable("no answer in time", may_have_cost=True)]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    ((outcome, tokens_out, cost),) = query(home.memory_db, "select outcome, tokens_out, cost_usd from model_calls")
    assert (outcome, tokens_out) == ("unavailable", 1_024)
    assert cost > 0


@pytest.mark.parametrize("usage", [Usage(10**30, 1, 1.0), Usage(10, 1, float("nan"))])
def test_numbers_that_no_table_takes_keep_no_other_answer_from_being_heard(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, usage: Usage
) -> None:
    provider.answers, provider.usage = [answer("Count every item")], usage
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    provider.usage = Usage(2_000, 300, 0.0035)
    work(home, model_loop, long_turn("s-2", "Paint the items"))
    rest(home, model_loop, clock)
    assert states(home) == ["failed", "done"]
    assert model_loop.passes.failure == ""
