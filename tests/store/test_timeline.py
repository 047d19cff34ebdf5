"""What surrounds a memory or a turn, and what is in a session, in order of time."""

from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import Event, Location, Memory, Passage, Session, SessionSummary
from claude_mem_lite.store import sessions, timeline, turns
from claude_mem_lite.store.index import passages
from tests.support.fakes import NOW, SHOP, Store

OTHER = Location(project="example.org/me/other", name="other", root="/nowhere/other")


def minute(number: int) -> datetime:
    return NOW + timedelta(minutes=number)


def ask(store: Store, prompt: str, at: datetime, *, session: str = "s1", location: Location = SHOP) -> str:
    """Store a turn with its passage, as the worker does; its key."""
    event = Event(f"turn-{prompt}", "UserPromptSubmit", session, at, location.root)
    with atomic(store.db):
        sessions.touch(store.db, event, location)
        turns.add_turn(store.db, event.name, event, prompt, f"Done: {prompt}")
        passages.put_turn(store.db, event.name, session, location.project, at, prompt, f"Done: {prompt}")
    return event.name


def titles(found: list[Memory | Passage]) -> list[str]:
    return [one.title for one in found]


def test_neighbours_come_oldest_first_and_no_more_than_asked_for(store: Store) -> None:
    made = [store.remember(f"Number {n}", created_at=minute(n), kind="note") for n in range(9)]
    found = timeline.around(store.db, made[4], before=2, after=3)
    assert titles(found) == [f"Number {n}" for n in (2, 3, 4, 5, 6, 7)]
    assert timeline.around(store.db, made[4], before=0, after=0) == [made[4]]


def test_a_turn_stands_before_the_memories_of_the_same_moment(store: Store) -> None:
    ask(store, "why", minute(0))
    made = store.remember("Because", created_at=minute(0))
    assert titles(timeline.around(store.db, made, 5, 5)) == ["why", "Because"]


def test_the_turn_of_a_memory_is_there_however_many_memories_it_made(store: Store) -> None:
    turn = ask(store, "do it all", minute(0))
    made = [store.remember(f"Part {n}", turn=turn, created_at=minute(1), kind="note") for n in range(12)]
    assert titles(timeline.around(store.db, made[-1], before=1, after=0)) == ["do it all", "Part 10", "Part 11"]


def test_other_projects_and_what_holds_no_longer_are_left_out(store: Store) -> None:
    store.remember("Elsewhere", place=OTHER, created_at=minute(0))
    ask(store, "elsewhere too", minute(0), session="s2", location=OTHER)
    store.remember("Retired", created_at=minute(0), status="retired")
    center = store.remember("Here", created_at=minute(1))
    assert titles(timeline.around(store.db, center, 5, 5)) == ["Here"]


def test_what_holds_no_longer_is_shown_when_it_is_what_was_asked_for(store: Store) -> None:
    center = store.remember("Retired", created_at=minute(1), status="retired")
    store.remember("After it", created_at=minute(2))
    assert titles(timeline.around(store.db, center, 5, 5)) == ["Retired", "After it"]


def test_neighbours_may_be_of_other_sessions(store: Store) -> None:
    ask(store, "yesterday's question", minute(0), session="s0")
    center = store.remember("Today's answer", created_at=minute(1), session="s1")
    found = timeline.around(store.db, center, 5, 5)
    assert [one.session for one in found] == ["s0", "s1"]


def test_a_session_is_its_turns_and_memories_in_order(store: Store) -> None:
    first = ask(store, "first", minute(0))
    store.remember("Made first", turn=first, created_at=minute(1))
    ask(store, "second", minute(2))
    store.remember("Of another session", session="s2", created_at=minute(1))
    assert titles(timeline.of_session(store.db, "s1")) == ["first", "Made first", "second"]
    assert timeline.of_session(store.db, "no such session") == []


def test_an_id_is_that_of_a_memory_a_turn_or_a_session(store: Store) -> None:
    memory = store.remember("A memory")
    ask(store, "a turn", minute(0), session="abcd-1234")
    store.session("abcd-1234", SessionSummary(headline="A session"))
    turn = timeline.of_session(store.db, "abcd-1234")[0]
    assert timeline.find(store.db, memory.id[:6]) == memory
    assert timeline.find(store.db, f"#{turn.id}") == turn
    session = timeline.find(store.db, "abcd-1")
    assert isinstance(session, Session)
    assert session.id == "abcd-1234"
    assert timeline.find(store.db, " #abcd-1") == session


def test_the_id_of_a_session_is_taken_as_it_is_written(store: Store) -> None:
    store.session("Zulu-1", SessionSummary(headline="A session"))
    store.session("zulu-1", SessionSummary(headline="Another"))
    assert sessions.get(store.db, "Zulu").id == "Zulu-1"
    assert sessions.get(store.db, "zulu-1").id == "zulu-1"


@pytest.mark.parametrize("given_id", ["", "abc", "zzzzzzzz", "%", "abcd-\x00"])
def test_an_id_of_nothing_says_where_to_find_ids(store: Store, given_id: str) -> None:
    with pytest.raises(NotFound, match="`sessions` those of sessions"):
        timeline.find(store.db, given_id)


def test_the_beginning_of_several_sessions_is_ambiguous(store: Store) -> None:
    for id_ in ("abcd-1", "abcd-2"):
        store.session(id_, SessionSummary(headline="x"))
    with pytest.raises(Ambiguous):
        timeline.find(store.db, "abcd")


def test_all_of_a_turn_can_be_read(store: Store) -> None:
    ask(store, "line one\nline two " + "x" * 5_000, minute(0))
    (turn,) = timeline.of_session(store.db, "s1")
    assert isinstance(turn, Passage)
    assert turn.asked == "line one\nline two " + "x" * 5_000
    assert turn.answered == f"Done: {turn.asked}"


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=14),
    st.integers(0, 13),
    st.integers(0, 6),
    st.integers(0, 6),
)
def test_what_surrounds_anything_is_a_slice_of_all_there_is(
    things: list[tuple[bool, int]], at: int, before: int, after: int
) -> None:
    with TemporaryDirectory() as folder, Store(Path(folder) / "memory.db") as store:
        for number, (is_turn, when) in enumerate(things):
            if is_turn:
                ask(store, f"question {number}", minute(when))
            else:
                store.remember(f"Fact number {number}", kind="note", created_at=minute(when), turn=f"t{number}")
        everything = timeline.of_session(store.db, "s1")
        assert [one.created_at for one in everything] == sorted(one.created_at for one in everything)
        location = at % len(everything)
        center = everything[location]
        found = timeline.around(store.db, center, before, after)
        assert found == everything[max(location - before, 0) : location + after + 1]
