"""Tests of `knowledge/lessons/collection.py`: `rebuild --memories` judges again the lessons that older rules guessed,
and collects the unsure ones."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.ids import short_id
from tests.support.lesson_stories import stories
from tests.support.old_memories import stopped, transcripts
from tests.support.past_sessions import LONG_AGO, Json, PastSession
from tests.support.running import Machine, query
from tests.worker.commands import run_here

FIRST, SECOND = stories(2)
RULE = "From now on always run the linter before every commit"
JUNK = "Write the plan"


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    """A home with sessions that say a rule, something unsure and something unsure twice."""
    for number, prompt in enumerate((RULE, FIRST.said, SECOND.said, SECOND.again)):
        session = PastSession(f"s{number}", LONG_AGO + timedelta(days=number)).prompt(prompt)
        session.says("I have looked at it.").write(transcripts(unserved))
    unserved.start_worker()
    run_here(unserved, "import", "transcripts")
    return unserved


def age(machine: Machine, title: str = JUNK) -> list[str]:
    """Have rules of an older version have guessed a lesson in each turn, and no candidates; return the ids."""
    made = []
    with stopped(machine) as store, atomic(store.db):
        (rule,) = store.db.execute("select id from memories where title like '%linter%'").fetchone()
        like = memories.find(store.db, rule)
        assert like is not None
        store.db.execute("delete from lesson_candidates")
        for id_, seq in store.db.execute("delete from memories where origin = 'user' returning id, seq").fetchall():
            memories.remove_derived(store.db, seq)
            memory_links.remove_sightings(store.db, id_)
        store.db.execute("update prompts set composer = 0, left_by = 0")
        for number, turn, session in store.db.execute(
            "select row_number() over (order by turn), turn, session from prompts where text <> ''"
        ).fetchall():
            words = f"{title} number {number}"
            guessed = replace(like, id=short_id(turn, words), session=session, title=words, summary=f"{words}.")
            memories.insert(store.db, guessed, guessed.created_at)
            memory_links.note_sighting(store.db, guessed.id, turn)
            made.append(guessed.id)
    return made


def told(machine: Machine) -> tuple[list[str], list[tuple[str, str]]]:
    rows = query(machine.view.memory_db, "select title from memories where origin = 'user' and status = 'active'")
    found = query(machine.view.memory_db, "select sentence, state from lesson_candidates order by sentence")
    return sorted(title for (title,) in rows), [tuple(row) for row in found]


def rebuild(machine: Machine) -> Json:
    return json.loads(run_here(machine, "rebuild", "--memories", "--json").stdout)


def test_guessed_lessons_are_judged_anew_and_unsure_ones_collected(machine: Machine) -> None:
    fresh = told(machine)
    assert {state for _, state in fresh[1]} == {"unsure", "promoted"}
    junk = age(machine)
    assert rebuild(machine)["unsure"] == 2
    assert told(machine) == fresh
    assert machine.get(f"/api/memories/{junk[0]}")["retired_cause"] == "rebuilt"
    rebuild(machine)
    assert told(machine) == fresh


def test_a_lesson_that_the_user_touched_stays(machine: Machine) -> None:
    edited, pinned, confirmed, accepted = age(machine)
    run_here(machine, "edit", edited, "--text", "Plans come first")
    run_here(machine, "pin", pinned)
    run_here(machine, "confirm", confirmed)
    run_here(machine, "lessons", "accept", accepted)
    machine.post("/api/memories", {"kind": "rule", "text": "Use tabs in Go files", "cwd": "/home/dev/shop"})
    before = told(machine)[0]
    rebuild(machine)
    assert set(before) <= set(told(machine)[0])


def test_what_was_dismissed_or_promoted_stays_so(machine: Machine) -> None:
    (unsure,) = machine.get("/api/lessons")["unsure"]
    machine.post("/api/lessons/dismiss", {"ids": [unsure["id"]]})
    before = told(machine)
    with stopped(machine) as store, atomic(store.db):
        store.db.execute("update prompts set composer = 0, left_by = 0")
    rebuild(machine)
    assert told(machine) == before
