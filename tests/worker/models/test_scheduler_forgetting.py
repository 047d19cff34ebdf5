"""What is forgotten while a model is asked about it does not come back with the answer."""

from claude_mem_lite.paths import Home
from claude_mem_lite.worker.services import Services
from tests.support.fakes import FakeProvider
from tests.support.running import leave, query, spool_name, wait_until
from tests.worker.conftest import SetClock
from tests.worker.model_turns import (
    answer,
    headline,
    long_turn,
    memories,
    outcomes,
    rest,
    states,
    wait_for_question,
    work,
)


def ids(home: Home, session: str) -> list[str]:
    return [id_ for (id_,) in query(home.memory_db, f"select id from memories where session = '{session}'")]


def test_a_session_that_is_forgotten_while_asking_stays_forgotten(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count the zanzibarium")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the zanzibarium"))
    wait_for_question(provider, model_loop)
    model_loop.commands.put({"command": "forget", "session": "s-1"}).result(30)
    provider.release()
    rest(home, model_loop, clock)
    assert (states(home), memories(home)) == ([], [])
    assert query(home.memory_db, "select count(*) from sessions") == [(0,)]
    wait_until(
        lambda: model_loop.passes.wait_until_idle(30) and outcomes(home) == ["told"], "the answer that nobody wants"
    )
    assert query(home.memory_db, "select turn, session from model_calls") == [("", "")]
    assert memories(home) == []


def test_a_memory_that_is_forgotten_while_asking_stays_forgotten(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count the zanzibarium", headline="The zanzibarium counts")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Count the zanzibarium"))
    wait_for_question(provider, model_loop)
    model_loop.commands.put({"command": "forget", "ids": ids(home, "s-1")}).result(30)
    provider.release()
    rest(home, model_loop, clock)
    wait_until(
        lambda: model_loop.passes.wait_until_idle(30) and outcomes(home) == ["told"], "the answer that nobody wants"
    )
    assert (states(home), memories(home)) == ([], [])
    assert "zanzibarium" not in headline(home)


def test_a_question_that_named_what_is_forgotten_is_asked_anew_without_it(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count the zanzibarium")]
    work(home, model_loop, long_turn("s-1", "Count the zanzibarium"))
    rest(home, model_loop, clock)
    before = ids(home, "s-1")
    provider.answers = [answer("Paint the lid like the zanzibarium"), answer("Paint the wooden lid green")]
    provider.hold()
    work(home, model_loop, long_turn("s-1", "Paint the lid"))
    wait_for_question(provider, model_loop, 2)
    assert "zanzibarium" in provider.asked[1]
    model_loop.commands.put({"command": "forget", "ids": before}).result(30)
    provider.release()
    rest(home, model_loop, clock)
    assert "zanzibarium" not in provider.asked[2]
    assert [title for title, _ in memories(home)] == ["Paint the wooden lid green"]


def test_events_of_a_forgotten_turn_that_come_again_are_not_sent_to_the_model(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count the zanzibarium")]
    events = [(spool_name(event["hook_event_name"]), event) for event in long_turn("s-1", "Count the zanzibarium")]
    for _ in range(2):
        for name, event in events:
            leave(home, event, name=name)
        assert model_loop.passes.wait_until_idle(30)
        rest(home, model_loop, clock)
        if found := ids(home, "s-1"):
            model_loop.commands.put({"command": "forget", "ids": found}).result(30)
    assert (len(provider.asked), memories(home)) == (1, [])


def test_a_summary_that_is_asked_for_while_something_is_forgotten_is_not_stored(
    home: Home, model_loop: Services, provider: FakeProvider, clock: SetClock
) -> None:
    provider.answers = [answer("Count the purple zanzibarium", headline="Count the purple zanzibarium")]
    work(home, model_loop, long_turn("s-1", "Count the zanzibarium"))
    rest(home, model_loop, clock)
    provider.answers = ['{"headline": "All about the zanzibarium"}']
    provider.hold()
    asked = model_loop.writes.execute_write(lambda _: model_loop.models.summarize("s-1")).result(30)
    model_loop.commands.put({"command": "forget", "ids": ids(home, "s-1")}).result(30)
    provider.release()
    told = asked.result(30)
    assert "zanzibarium" not in told.summary.headline
    assert model_loop.passes.wait_until_idle(30)
    assert "zanzibarium" not in headline(home)
