"""How sure something is by how many sessions saw it, and what comes back often enough to be learned."""

from datetime import timedelta
from typing import Any

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import confidence, remember
from claude_mem_lite.knowledge.confidence import SightingCounts
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, retirements
from tests.support.fakes import NOW, Store

ERROR = "error:0123456789ab"


def seen(store: Store, title: str, session: int, **more: object) -> Memory:
    """A memory that a turn of a session tells, stored and settled as the worker does."""
    at = NOW - timedelta(days=100 - session)
    turn = f"turn-{session}"
    store.turn(turn, "asked", "answered", session=f"s{session}", at=at)
    given: dict[str, Any] = {"kind": "gotcha", "confidence": 0.5, "session": f"s{session}", **more}
    made = store.remember(title, turn=turn, created_at=at, last_seen_at=at, **given)
    with atomic(store.db):
        remember.reconcile(store.db, made, turn, NOW)
    return now(store, made.id)


def now(store: Store, id_: str) -> Memory:
    found = memories.find(store.db, id_)
    assert found is not None
    return found


@pytest.mark.parametrize(("sessions", "sure"), [(1, 0.5), (2, 0.65), (3, 0.75), (4, 0.817), (5, 0.861), (50, 0.95)])
def test_each_session_takes_a_third_of_the_doubt(sessions: int, sure: float) -> None:
    assert confidence.confidence(SightingCounts(sessions), is_users=False) == pytest.approx(sure, abs=0.001)


@pytest.mark.parametrize(("sessions", "sure"), [(1, 0.8), (2, 0.85), (3, 0.883), (50, 0.95)])
def test_the_users_word_begins_higher(sessions: int, sure: float) -> None:
    assert confidence.confidence(SightingCounts(sessions), is_users=True) == pytest.approx(sure, abs=0.001)


def test_what_contradicts_takes_it_down_again() -> None:
    assert confidence.confidence(SightingCounts(3, against=2), is_users=False) == pytest.approx(0.45)


def test_the_same_in_several_sessions_is_surer(store: Store) -> None:
    told = [seen(store, "The test database needs port 5433", session) for session in (1, 2, 3)]
    assert [one.confidence for one in told] == [0.5, 0.65, 0.75]
    assert {one.id for one in told} == {told[0].id}
    assert told[-1].times_seen == 3


def test_twice_in_one_session_is_one_session(store: Store) -> None:
    seen(store, "The test database needs port 5433", 1)
    store.turn("again", "asked", "answered", session="s1")
    made = store.remember("The test database needs port 5433", turn="again", kind="gotcha", confidence=0.5)
    with atomic(store.db):
        remember.reconcile(store.db, made, "again", NOW)
    assert now(store, made.id).confidence == 0.5


def test_what_is_stored_twice_changes_nothing(store: Store) -> None:
    seen(store, "The test database needs port 5433", 1)
    once = seen(store, "The test database needs port 5433", 2)
    again = seen(store, "The test database needs port 5433", 2)
    assert again == once


@pytest.mark.parametrize(
    "again", ["Use pnpm", "Always use pnpm", "Use pnpm instead of npm", "Please use pnpm, not npm"]
)
def test_a_correction_in_other_words_is_the_same_seen_again(store: Store, again: str) -> None:
    first = seen(store, "Use pnpm", 1, kind="correction", origin="user", confidence=0.8, summary="no, use pnpm")
    second = seen(store, again, 2, kind="correction", origin="user", confidence=0.8, summary=f"I said: {again}")
    assert (second.id, second.times_seen, second.confidence) == (first.id, 2, 0.85)
    assert second.last_seen_at > first.last_seen_at


def test_a_preference_that_is_said_again_as_a_correction_is_one_memory(store: Store) -> None:
    first = seen(store, "Use pnpm", 1, kind="preference", origin="user", summary="I prefer pnpm")
    second = seen(store, "Use pnpm", 2, kind="correction", origin="user", summary="no, use pnpm")
    assert second.id == first.id


@pytest.mark.parametrize("other", ["Use npm", "Don't use pnpm", "Use pnpm for the website"])
def test_another_correction_is_another_memory(store: Store, other: str) -> None:
    first = seen(store, "Use pnpm", 1, kind="correction", origin="user")
    assert seen(store, other, 2, kind="correction", origin="user").id != first.id


def test_text_that_was_written_to_be_remembered_is_never_swallowed_by_its_first_line(store: Store) -> None:
    more: dict[str, Any] = {"kind": "rule", "origin": "user", "made_by": "user"}
    first = store.remember("Use the release script", summary="Use the release script", turn="a", **more)
    second = store.remember(
        "Use the release script", summary="Use the release script\nIt asks for the tag", turn="b", **more
    )
    assert first.id != second.id


def test_a_failure_is_surer_when_its_error_comes_back_in_another_command(store: Store) -> None:
    seen(store, "make test fails: no module yaml", 1, kind="failure", anchors=(ERROR,), origin="command")
    second = seen(store, "pytest fails: no module yaml", 2, kind="failure", anchors=(ERROR,), origin="command")
    assert second.confidence == 0.65


def fixed(store: Store, session: int, **more: object) -> Memory:
    told: dict[str, Any] = {
        "kind": "bugfix",
        "summary": f"pytest failed: no module yaml. Fixed by running pip install pyyaml. Passes now ({session}).",
        "anchors": (ERROR,),
        **more,
    }
    return seen(store, f"Fix test failure: no module yaml, take {session}", session, **told)


def learned(store: Store) -> list[Memory]:
    rows = store.db.execute("select * from memories where kind = 'gotcha'").fetchall()
    return [memories.from_row(row) for row in rows]


def test_an_error_that_was_put_right_the_same_way_in_two_sessions_is_learned(store: Store) -> None:
    fixed(store, 1)
    assert learned(store) == []
    fixed(store, 2)
    (gotcha,) = learned(store)
    assert gotcha.title.startswith("Comes back: test failure: no module yaml")
    assert "pip install pyyaml" in gotcha.summary
    assert (gotcha.confidence, gotcha.times_seen, gotcha.anchors) == (0.65, 2, (ERROR,))
    fixed(store, 3)
    assert [(one.id, one.confidence) for one in learned(store)] == [(gotcha.id, 0.75)]


def test_an_error_that_was_put_right_in_another_way_each_time_teaches_nothing(store: Store) -> None:
    fixed(store, 1, files=("setup.py",))
    fixed(store, 2, files=("tests/conftest.py",))
    assert learned(store) == []


def test_a_learning_that_the_user_retired_or_forgot_is_not_learned_again(store: Store) -> None:
    fixed(store, 1)
    fixed(store, 2)
    (gotcha,) = learned(store)
    with atomic(store.db):
        retirements.retire(store.db, gotcha.id, "user", "not worth it", NOW)
    fixed(store, 3)
    assert [one.status for one in learned(store)] == ["retired"]
    with atomic(store.db):
        memories.remove(store.db, [gotcha.id], NOW)
    fixed(store, 4)
    assert learned(store) == []


def test_a_guess_against_what_the_user_said_in_one_session_is_less_sure(store: Store) -> None:
    seen(store, "Use pnpm", 1, kind="correction", origin="user", summary="use pnpm")
    guessed = seen(store, "Use npm", 5, kind="convention")
    assert (guessed.status, guessed.confidence) == ("active", 0.35)


def test_a_guess_against_what_the_user_said_in_two_sessions_is_retired(store: Store) -> None:
    for session in (1, 2):
        stated = seen(store, "Use pnpm", session, kind="correction", origin="user", summary="use pnpm")
    guessed = seen(store, "Use npm", 5, kind="convention")
    why = retirements.of(store.db, [guessed.id])[guessed.id]
    assert (guessed.status, why.cause, stated.id in why.reason) == ("retired", "contradicted", True)


def test_what_was_retired_for_being_contradicted_is_not_learned_anew_from_the_same_words(store: Store) -> None:
    guessed = seen(store, "Use npm for the scripts of this repository", 1, kind="convention")
    with atomic(store.db):
        retirements.retire(store.db, guessed.id, "contradicted", "it was contradicted", NOW)
    again = seen(store, "Use npm for the scripts of this repository", 2, kind="convention")
    assert (again.id, again.status) == (guessed.id, "retired")


@pytest.mark.parametrize("sure", [0.6, 0.75, 0.9])
def test_what_the_user_said_once_is_as_sure_as_it_was_said(store: Store, sure: float) -> None:
    made = seen(store, "Prefer small commits", 1, kind="preference", origin="user", confidence=sure)
    assert made.confidence == sure
    again = seen(store, "Prefer small commits", 2, kind="preference", origin="user", confidence=sure)
    assert again.confidence == max(sure, 0.85)
