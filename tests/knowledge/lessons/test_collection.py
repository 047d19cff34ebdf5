"""Tests of `knowledge/lessons/collection.py`, `knowledge/repeated_text.py` and
`store/rebuilds.py`: lesson candidates in the store: lookup, and effects of forgetting."""

from dataclasses import replace
from datetime import timedelta

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget as forgetting
from claude_mem_lite.knowledge.lessons import user_verdicts
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store import lesson_candidates, memories
from claude_mem_lite.store.lesson_candidates import Candidate, State
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import spool_name

OTHER = "example.org/me/blog"
SECRET = "The vault passphrase rotates every full moon"
COMMON = "Run tests before commits"


def keep(store: Store, sentence: str, *, session: str = "s-9", after: str = "", state: State = "unsure") -> Candidate:
    made = lesson_candidates.make(OTHER, session, "t-9", sentence, 0.5, NOW, after_message=after, state=state)
    with atomic(store.db):
        lesson_candidates.put(store.db, made)
    return made


def forget(store: Store, *ids: str) -> tuple[str, ...]:
    with atomic(store.db):
        return forgetting.forget(store.db, ids, [], NOW).candidates


def test_forgetting_what_has_common_words_only_leaves_the_candidates_of_other_projects(store: Store) -> None:
    for number in range(25):
        store.turn(f"t{number}", f"{COMMON}, step {number}", "Done.", session=f"s{number}")
    made = store.remember(COMMON, turn="t0", summary=COMMON, session="s0")
    keep(store, "We run tests before commits")
    keep(store, "Before commits we run the tests", state="dismissed")
    assert forget(store, made.id) == ()


def test_forgetting_takes_along_what_repeats_rare_words_in_other_projects(store: Store) -> None:
    made = store.remember(SECRET, turn="t1", summary=SECRET)
    other = store.remember("The attic_key hangs behind the clock", turn="t2", place=replace(SHOP, project="attic"))
    said = keep(store, "You know the vault passphrase rotates every full moon")
    answered = keep(store, "Write it like that", after=f"{SECRET}.")
    accented = keep(store, "Né, the vault passphrase rotates every full moon")
    joined = keep(store, "The attic-key hangs behind that clock")
    keep(store, "The moon is a stone")
    assert set(forget(store, made.id, other.id)) == {said.id, answered.id, accented.id, joined.id}


def test_what_was_dismissed_goes_for_its_sentence_and_not_for_what_it_answered(store: Store) -> None:
    made = store.remember(SECRET, turn="t1", summary=SECRET, session="s-1")
    keep(store, "Write it like that", after=f"{SECRET}.", state="dismissed")
    keep(store, "Write it in blue", session="s-1", after=f"{SECRET}.", state="dismissed")
    said = keep(store, f"{SECRET}, as I said", state="dismissed")
    assert forget(store, made.id) == (said.id,)


def plans(store: Store, statements: list[str]) -> list[str]:
    return [row["detail"] for one in statements for row in store.db.execute(f"explain query plan {one}")]


def test_the_candidates_of_a_project_are_looked_up_without_reading_the_table(store: Store) -> None:
    keep(store, COMMON, state="dismissed")
    statements: list[str] = []
    store.db.set_trace_callback(statements.append)
    assert len(lesson_candidates.of_project(store.db, OTHER, lesson_candidates.STATES)) == 1
    assert lesson_candidates.is_dismissed(store.db, OTHER, f"Please {COMMON.lower()}")
    store.db.set_trace_callback(None)
    told = [one for one in plans(store, statements) if "lesson_candidates" in one]
    assert told
    assert [one for one in told if not one.startswith("SEARCH lesson_candidates USING INDEX")] == []


def test_candidates_are_listed_of_one_project_or_of_all(store: Store) -> None:
    keep(store, COMMON)
    assert lesson_candidates.of_project(store.db, SHOP.project, ("unsure",)) == []
    assert len(lesson_candidates.of_project(store.db, OTHER, ("unsure",))) == 1
    assert len(lesson_candidates.of_project(store.db, None, ("unsure",))) == 1


def test_the_same_words_are_dismissed_in_their_project_only(store: Store) -> None:
    keep(store, COMMON, state="dismissed")
    keep(store, SECRET)
    assert not lesson_candidates.is_dismissed(store.db, SHOP.project, COMMON)
    assert not lesson_candidates.is_dismissed(store.db, OTHER, f"Do not {COMMON.lower()}")
    assert not lesson_candidates.is_dismissed(store.db, OTHER, SECRET)


def test_what_is_accepted_late_replaces_what_was_said_in_between_and_keeps_its_date(store: Store) -> None:
    said_at, later, accepted_at = NOW - timedelta(days=9), NOW - timedelta(days=5), NOW - timedelta(days=1)
    made = lesson_candidates.make(SHOP.project, "s-1", "t-1", "Use tabs for indentation", 0.5, said_at)
    with atomic(store.db):
        lesson_candidates.put(store.db, made)
    between = store.remember("Use spaces for indentation", kind="rule", origin="user", trust=1.0, last_seen_at=later)

    payload: JsonObject = {"command": user_verdicts.ACCEPT, "id": made.id, "text": ""}
    id_ = user_verdicts.carry_out(spool_name("Command", int(accepted_at.timestamp()) * 10**9), payload, store.db, NOW)

    accepted = memories.get(store.db, id_)
    assert (accepted.status, accepted.last_seen_at) == ("active", said_at)
    assert memories.get(store.db, between.id).superseded_by == id_
