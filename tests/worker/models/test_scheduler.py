"""Tests of `worker/models/scheduler.py`, `worker/models/call_pool.py`, `knowledge/turn_rewrite.py`,
`knowledge/turn_events.py`, `knowledge/turn_rewrite.py` and `inbox/event_history.py`: rules first, the model's
version later; in order, once, and without waiting."""

import pytest

from claude_mem_lite.paths import Home
from claude_mem_lite.providers import LOCAL_LIMITS, CallLimits
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import dump, leave, payload, query, running_loop, spool_name, turn, wait_until
from tests.worker.conftest import SetClock
from tests.worker.model_turns import (
    CONFIG,
    answer,
    change,
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

NAME = "anthropic/claude-haiku-4-5-20251001"


def test_what_a_model_tells_takes_the_place_of_what_rules_made(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    assert memories(home) == [("Count every item of the basket", NAME)]
    (told,) = query(home.memory_db, "select prompt_version, tokens_in, tokens_out, cost_usd from memories")
    assert told == ("turn-2", 2_000, 300, 0.0035)
    assert states(home) == ["done"]


def test_rules_have_told_a_turn_before_the_model_answers(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    assert makers(home) == {"rules"}
    ((before,),) = query(home.memory_db, "select id from memories")
    provider.release()
    rest(home, model_loop, clock)
    assert query(home.memory_db, "select id from memories") == [(before,)]


def test_the_work_goes_on_while_a_model_hangs(home: Home, model_loop: Services, provider: FakeProvider) -> None:
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    work(home, model_loop, turn("s-2", "go on"))
    assert model_loop.commands.put({"command": "remember", "kind": "note", "text": "still here", "cwd": "/"}).result(30)
    assert query(home.memory_db, "select text from prompts where session = 's-2'") == [("go on",)]
    assert states(home) == ["asking"]


def test_facts_that_rules_know_exactly_stay_with_the_models_words(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    ((facts, files),) = query(home.memory_db, "select facts, files from memories")
    assert "return len(self.items)" in facts
    assert "basket.py" in files


def test_a_model_is_shown_the_goal_and_the_titles_so_far(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket"), answer("Paint the lid of the basket")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    first, second = provider.asked
    assert "Titles so far" not in first
    assert "Count every item of the basket" in second
    assert "Goal of the session: Count the items in the basket" in second


def test_what_a_page_or_a_foreign_tool_said_is_not_among_the_titles(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    change(str(home.memory_db), "update memories set origin = 'web', trust = 0.2")
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    assert "Count every item of the basket" not in provider.asked[1]


def test_a_turn_with_little_in_it_is_left_to_rules(home: Home, model_loop: Services, provider: FakeProvider) -> None:
    work(home, model_loop, turn("s-1", "say hello"))
    assert model_loop.passes.wait_until_idle(30)
    assert (states(home), provider.asked) == ([], [])


def test_a_turn_read_from_a_transcript_is_left_to_rules(
    home: Home, model_loop: Services, provider: FakeProvider
) -> None:
    work(home, model_loop, [{**event, "imported": True} for event in long_turn("s-1", "Count the items")])
    assert model_loop.passes.wait_until_idle(30)
    assert (states(home), provider.asked) == ([], [])


def test_without_a_configured_provider_nothing_is_asked(home: Home, clock: SetClock, provider: FakeProvider) -> None:
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        assert loop.passes.wait_until_idle(30)
        assert loop.models.state().name == "rules"
    assert (states(home), outcomes(home), provider.asked) == ([], [], [])


def test_a_turn_that_comes_again_is_not_asked_about_again(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    events = [(spool_name(event["hook_event_name"]), event) for event in long_turn("s-1", "Count the items")]
    for _ in range(2):
        for name, event in events:
            leave(home, event, name=name)
        assert model_loop.passes.wait_until_idle(30)
        rest(home, model_loop, clock)
    change(str(home.inbox_db), "update inbox set status = 'raw', finished_at = null")
    assert model_loop.passes.wait_until_idle(30)
    rest(home, model_loop, clock)
    assert len(provider.asked) == 1


def test_turns_of_a_session_are_asked_about_one_after_the_other(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.hold()
    whats = ("Count the items", "Paint the lid", "Weigh the handle")
    work(home, model_loop, *(long_turn("s-1", what) for what in whats))
    wait_for_question(provider, model_loop)
    assert states(home) == ["asking", "wanted", "wanted"]
    provider.release()
    rest(home, model_loop, clock)
    assert [next(what for what in whats if f"{what} in" in asked.split("Asked:")[1]) for asked in provider.asked] == [
        *whats
    ]


def test_five_sessions_at_most_are_asked_about_at_a_time(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.hold()
    work(home, model_loop, *(long_turn(f"s-{number}", "Count the items") for number in range(7)))
    wait_for_question(provider, model_loop, 5)
    assert model_loop.passes.wait_until_idle(30)
    assert sorted(states(home)) == ["asking"] * 5 + ["wanted"] * 2
    provider.release()
    rest(home, model_loop, clock)
    assert states(home) == ["done"] * 7


def test_a_server_on_this_machine_is_asked_one_thing_at_a_time(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.limits = LOCAL_LIMITS
    provider.hold()
    work(home, model_loop, *(long_turn(f"s-{number}", "Count the items") for number in range(3)))
    wait_for_question(provider, model_loop)
    assert model_loop.passes.wait_until_idle(30)
    assert sorted(states(home)) == ["asking", "wanted", "wanted"]
    provider.release()
    rest(home, model_loop, clock)
    assert states(home) == ["done"] * 3


def test_a_server_on_this_machine_is_sent_a_short_digest(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.limits = CallLimits(digest_chars=500)
    *events, end = long_turn("s-1", "Count the items")
    work(home, model_loop, [*events, {**end, "last_assistant_message": "Every item of the basket is counted. " * 90}])
    rest(home, model_loop, clock)
    assert len(provider.asked[0]) <= 500


def test_what_a_session_left_open_is_not_among_the_titles(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item of the basket"), answer("Paint the wooden lid green")]
    *events, end = long_turn("s-1", "Count the items")
    said = f"{end['last_assistant_message']} Next: wipe the floor."
    work(home, model_loop, [*events, {**end, "last_assistant_message": said}])
    rest(home, model_loop, clock)
    assert "Left open: Wipe the floor" in [title for title, _ in memories(home)]
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    rest(home, model_loop, clock)
    assert "Count every item of the basket" in provider.asked[1]
    assert "floor" not in provider.asked[1]


def test_the_models_summary_goes_over_that_of_rules_but_for_the_files(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item", headline="The basket counts", next_steps=["Count the items"])]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    ((request,),) = query(home.memory_db, "select request from sessions")
    rest(home, model_loop, clock)
    told = query(home.memory_db, "select headline, request, next_steps, files_edited from sessions")
    assert told == [("The basket counts", request, '["Count the items"]', '["basket.py"]')]


def test_an_older_turn_does_not_overwrite_the_summary_of_a_newer_one(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item", headline="An old story"), '{"memories": []}']
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    by_rules = headline(home)
    provider.release()
    rest(home, model_loop, clock)
    assert ("Count every item", NAME) in memories(home)
    assert headline(home) == by_rules


def test_the_end_of_a_session_does_not_keep_its_last_turn_from_being_summed_up(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item", headline="The basket counts")]
    provider.hold()
    work(home, model_loop, [*long_turn("s-1", "Count the items"), payload("SessionEnd", "s-1", "/app")])
    wait_for_question(provider, model_loop)
    provider.release()
    rest(home, model_loop, clock)
    assert headline(home) == "The basket counts"


def test_what_is_rendered_ahead_follows_the_model(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count every item", headline="The basket counts at last")]
    work(home, model_loop, long_turn("s-1", "Count the items", cwd=str(home.root)))
    rest(home, model_loop, clock)
    assert model_loop.passes.wait_until_idle(30)
    assert "The basket counts at last" in home.rendered_for(str(home.root)).read_text("utf-8")


@pytest.mark.parametrize("hand", ["pinned = 1", "status = 'retired'", "times_seen = 2", "made_by = 'user'"])
def test_a_memory_that_somebody_has_a_hand_in_is_left_alone(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, hand: str
) -> None:
    provider.answers = [answer("Count every item of the basket")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    ((kept, title),) = query(home.memory_db, "select id, title from memories")
    change(str(home.memory_db), f"update memories set {hand}")
    provider.release()
    rest(home, model_loop, clock)
    rows = dict(query(home.memory_db, "select title, id from memories"))
    assert rows[title] == kept
    assert rows["Count every item of the basket"] != kept


def test_a_model_that_finds_nothing_worth_remembering_leaves_what_rules_found(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    work(home, model_loop, long_turn("s-1", "Count the items"))
    by_rules = memories(home)
    rest(home, model_loop, clock)
    assert (memories(home), states(home), makers(home)) == (by_rules, ["done"], {"rules"})


def test_storing_an_answer_twice_is_as_good_as_once(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    """As when the disk was full between the two databases."""
    provider.answers = [answer("Count every item of the basket")]
    work(home, model_loop, long_turn("s-1", "Count the items"))
    rest(home, model_loop, clock)
    once = dump(home.memory_db, without=("model_calls", "memories_fts", "sketches"))
    change(str(home.inbox_db), "update model_turns set state = 'wanted', attempts = 0")
    rest(home, model_loop, clock)
    assert dump(home.memory_db, without=("model_calls", "memories_fts", "sketches")) == once


def test_a_model_that_is_switched_off_is_asked_no_more(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"), long_turn("s-1", "Paint the lid"))
    wait_for_question(provider, model_loop)
    home.config.write_text("")
    assert model_loop.passes.wait_until_idle(30)
    assert states(home) == ["asking", "dropped"]
    provider.release()
    rest(home, model_loop, clock)
    work(home, model_loop, long_turn("s-1", "Weigh the handle"))
    assert model_loop.passes.wait_until_idle(30)
    assert len(provider.asked) == 1
    assert model_loop.models.state().name == "rules"


def test_turns_left_by_a_worker_with_a_model_are_dropped_by_one_without(
    home: Home, clock: SetClock, provider: FakeProvider
) -> None:
    with running_loop(home, clock, provider.make) as loop:
        (key,) = work(home, loop, long_turn("s-1", "Count the items"))
    values = f"('{key}', 's-1', 'asking', 1, 0), ('another', 's-2', 'waiting', 4, 0)"
    change(str(home.inbox_db), f"insert into model_turns (turn, session, state, attempts, created_at) values {values}")
    with running_loop(home, clock, provider.make) as loop:
        assert loop.passes.wait_until_idle(30)
    assert states(home) == ["dropped", "dropped"]
    assert provider.asked == []


@pytest.mark.parametrize("cwd", ["/app", "/lib"])
def test_a_folder_that_was_excluded_meanwhile_is_not_shown_to_the_model(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock, cwd: str
) -> None:
    """Nor is what a session of that folder did in another."""
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"), long_turn("s-1", "Paint the lid", cwd=cwd))
    wait_for_question(provider, model_loop)
    home.config.write_text(f'{CONFIG}exclude = ["/app"]\n')
    assert model_loop.passes.wait_until_idle(30)
    provider.release()
    rest(home, model_loop, clock)
    assert (states(home), reasons(home)) == (["done", "dropped"], ["", "its folder is excluded now"])
    assert len(provider.asked) == 1


def test_a_worker_with_a_question_under_way_is_not_idle(
    home: Home, model_loop: Services, provider: FakeProvider
) -> None:
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the items"))
    wait_for_question(provider, model_loop)
    wait_until(lambda: model_loop.activity.idle_s() > 0.5, "the end of a pass")
    model_loop.writes.wake(is_request=False)
    wait_until(lambda: model_loop.activity.idle_s() < 0.5, "the next pass")


def test_a_worker_that_ends_hears_an_answer_that_is_about_to_come(
    home: Home, clock: SetClock, provider: FakeProvider
) -> None:
    home.config.write_text(CONFIG)
    provider.answers = [answer("Count every item of the basket")]
    provider.hold()
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        wait_for_question(provider, loop)
        loop.shutdown.stop()
        provider.release()
    assert (states(home), makers(home)) == (["done"], {NAME})


def test_a_worker_that_ends_does_not_wait_for_a_model_that_hangs(
    home: Home, clock: SetClock, provider: FakeProvider
) -> None:
    home.config.write_text(CONFIG)
    provider.hold()
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        wait_for_question(provider, loop)
    assert (states(home), outcomes(home), makers(home)) == (["wanted"], ["lost"], {"rules"})
    provider.release()


def test_what_a_worker_was_asking_when_it_died_is_asked_by_the_next(
    home: Home, clock: SetClock, provider: FakeProvider
) -> None:
    home.config.write_text(CONFIG)
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        rest(home, loop, clock)
    change(str(home.inbox_db), "update model_turns set state = 'asking'")
    change(str(home.memory_db), "update model_calls set outcome = 'asking'")
    provider.answers = [answer("Count every item of the basket")]
    with running_loop(home, clock, provider.make) as loop:
        rest(home, loop, clock)
    assert (states(home), outcomes(home)) == (["done"], ["lost", "told"])
    assert ("Count every item of the basket", NAME) in memories(home)


def test_a_turn_that_workers_keep_dying_on_is_given_up(home: Home, clock: SetClock, provider: FakeProvider) -> None:
    home.config.write_text(CONFIG)
    with running_loop(home, clock, provider.make) as loop:
        work(home, loop, long_turn("s-1", "Count the items"))
        rest(home, loop, clock)
    change(str(home.inbox_db), "update model_turns set state = 'asking', attempts = 10")
    with running_loop(home, clock, provider.make) as loop:
        assert loop.passes.wait_until_idle(30)
    assert states(home) == ["failed"]
    assert "10 times" in reasons(home)[0]
