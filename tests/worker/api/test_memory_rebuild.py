"""Tests of `knowledge/memory_rebuild.py` and `store/rebuilds.py`: `rebuild --memories` makes memories of an
older composer again and leaves the user's changes alone."""

import fcntl
import json
import os
import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from claude_mem_lite.cli.rebuild import MAX_BATCH_TURNS
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import COMPOSER_VERSION, Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.ids import short_id
from tests.support.old_memories import CRUMB, age, forget_events, stopped, transcripts, write_sessions
from tests.support.past_sessions import LONG_AGO, Json, PastSession, fixed_bug
from tests.support.running import Machine, dump, query
from tests.worker.commands import run_here

ALL = "/api/memories?all_projects=true&status=active&status=retired&status=superseded&status=quarantined"
NOTHING_LEFT = "nothing is left of what was done there, or it may not be read."


@pytest.fixture
def machine(unserved: Machine) -> Machine:
    """A home whose worker has imported three sessions."""
    write_sessions(unserved, 3)
    unserved.start_worker()
    run_here(unserved, "import", "transcripts")
    return unserved


def rebuild(machine: Machine, *options: str) -> Json:
    return json.loads(run_here(machine, "rebuild", "--memories", "--json", *options).stdout)


def by_id(machine: Machine) -> dict[str, Json]:
    return {one["id"]: one for one in machine.get(ALL)["memories"]}


def said(machine: Machine) -> list[tuple[str, str, str]]:
    """What is active, without ids."""
    found = [one for one in by_id(machine).values() if one["status"] == "active"]
    return sorted((one["session"], one["title"], one["summary"]) for one in found)


def crumbs(machine: Machine) -> list[Json]:
    return [one for one in by_id(machine).values() if one["title"] == CRUMB]


def test_an_aged_home_says_what_a_fresh_one_says(machine: Machine) -> None:
    fresh = said(machine)
    ids = {id_ for id_, one in by_id(machine).items() if one["status"] == "active"}
    age(machine)
    assert said(machine) != fresh
    told = rebuild(machine)
    assert said(machine) == fresh
    assert {id_ for id_, one in by_id(machine).items() if one["status"] == "active"} == ids
    assert told["turns"] == 6
    assert told["reworded"] > 0
    assert told["taken_back"] == len(crumbs(machine)) > 0
    assert (told["left"], told["new"]) == (0, 0)


def test_what_was_done_is_searchable_again_in_place_of_what_is_taken_back(machine: Machine) -> None:
    texts = "select turn, text, reply, tasks, log from prompts order by turn"
    fresh = query(machine.view.memory_db, texts)
    age(machine)
    assert not found_by_path(machine)
    rebuild(machine)
    assert query(machine.view.memory_db, texts) == fresh
    assert any("tax.py" in row[-1] for row in fresh)
    assert found_by_path(machine)


def found_by_path(machine: Machine) -> list[Json]:
    """Return the turns that are found by a path in their log; the prompts have "tax" alone."""
    hits = machine.get("/api/search?query=tax.py&all_projects=true")["hits"]
    return [one for one in hits if one["kind"] == "turn" and "tax.py" in one["summary"]]


def test_the_log_of_a_turn_that_forgetting_cut_does_not_come_back_with_its_events(unserved: Machine) -> None:
    secret = "The quokkafish counter lives in ledger.py and is raised once for each basket that is sold."
    said_too = PastSession("s9").prompt("Please run the count").runs("python3 count.py", secret).says("Done.")
    said_too.prompt("Run the tests").runs("pytest -q", "3 passed in 0.1s").says("They pass.")
    said_too.write(transcripts(unserved))
    unserved.start_worker()
    run_here(unserved, "import", "transcripts")
    ((turn,),) = query(unserved.view.memory_db, "select turn from prompts where log like '%quokkafish%'")
    inbox = f"select name, event, session, payload, raw_bytes from inbox where turn = '{turn}'"
    events = [Arrival(*row) for row in query(unserved.view.inbox_db, inbox)]
    kept = unserved.post("/api/memories", {"kind": "note", "text": secret, "cwd": "/home/dev/shop"})
    unserved.post("/api/forget", {"ids": [kept["id"]]})
    assert query(unserved.view.inbox_db, inbox) == []
    age(unserved)
    with stopped(unserved), closing(open_for_writing(unserved.view.inbox_db)) as db, atomic(db):
        event_history.put_past_turn(db, turn, events, datetime.now(UTC).timestamp())
    assert rebuild(unserved)["turns"] == 2
    assert "quokkafish" not in logs(unserved)
    assert "pytest" in logs(unserved), "what was not cut is told again"


def logs(machine: Machine) -> str:
    return "\n".join(log for (log,) in query(machine.view.memory_db, "select log from prompts order by turn"))


def test_what_is_taken_back_is_retired_with_its_reason_and_confirmed_for_good(machine: Machine) -> None:
    age(machine)
    rebuild(machine)
    crumb = crumbs(machine)[0]
    shown = machine.get(f"/api/memories/{crumb['id']}")
    assert (shown["status"], shown["retired_cause"]) == ("retired", "rebuilt")
    assert "newer version" in shown["retired_because"]
    run_here(machine, "confirm", crumb["id"])
    age(machine, reword=False)
    rebuild(machine)
    assert machine.get(f"/api/memories/{crumb['id']}")["status"] == "active"


def test_a_second_run_changes_nothing(machine: Machine) -> None:
    age(machine)
    rebuild(machine)
    once, rows = dump(machine.view.memory_db), machine.rows()
    told = run_here(machine, "rebuild", "--memories").stdout
    assert told == "Every turn has the memories that this version makes of it.\n"
    assert (dump(machine.view.memory_db), machine.rows()) == (once, rows)


def test_a_second_one_at_the_same_time_says_that_one_is_under_way(machine: Machine) -> None:
    age(machine)
    before = said(machine)
    with machine.home.rebuild_lock.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = run_here(machine, "rebuild", "--memories", status=1).stderr
        assert "a rebuild of memories is under way already" in refused
        assert said(machine) == before
        assert rebuild(machine, "--dry-run")["turns"] == 6
    assert rebuild(machine)["turns"] == 6


@pytest.mark.parametrize("has_events", [True, False], ids=["events", "transcripts"])
def test_a_dry_run_tells_the_same_and_changes_nothing(machine: Machine, has_events: bool) -> None:
    age(machine)
    if not has_events:
        forget_events(machine)
    before, rows = dump(machine.view.memory_db), machine.rows()
    tried = rebuild(machine, "--dry-run")
    assert (dump(machine.view.memory_db), machine.rows()) == (before, rows)
    assert tried == {**rebuild(machine), "dry_run": True}


def test_what_changes_is_listed_by_its_titles_and_ids(machine: Machine) -> None:
    age(machine)
    tried = run_here(machine, "rebuild", "--memories", "--dry-run").stdout
    assert f"Taken back:\n  {min(one['id'] for one in crumbs(machine))}  {CRUMB}\n" in tried
    assert "Reworded:\n" in tried
    changes = rebuild(machine)["changes"]
    gone = {one["id"] for one in changes if one["change"] == "taken back"}
    assert gone == {one["id"] for one in crumbs(machine)}
    assert {one["change"] for one in changes} == {"taken back", "reworded"}


def test_a_dry_run_of_a_session_in_several_requests_tells_what_it_leaves_open(unserved: Machine) -> None:
    session = PastSession("long")
    for number in range(MAX_BATCH_TURNS + 2):
        session.prompt(f"Please change the rate to {number}").edits(
            "/home/dev/shop/tax.py", "RATE = 5", f"RATE = {number}"
        )
        session.says(f"The rate is {number} now. Next step: wire the tax table {number} into the checkout.")
    session.write(transcripts(unserved))
    unserved.start_worker()
    run_here(unserved, "import", "transcripts")
    assert any(one["kind"] == "handoff" for one in by_id(unserved).values())
    age(unserved)
    with stopped(unserved) as store, atomic(store.db):
        left = memories.handoff_of(store.db, "long")
        assert left is not None
        memories.rewrite(store.db, replace(left, title="Left open: the old one", summary="Open when it stopped: Rest."))
    tried = rebuild(unserved, "--dry-run")
    assert tried == {**rebuild(unserved), "dry_run": True}
    assert "Left open: the old one" not in {one["title"] for one in by_id(unserved).values()}


def test_turns_whose_events_are_gone_are_read_from_their_transcripts(machine: Machine) -> None:
    fresh = said(machine)
    age(machine)
    forget_events(machine)
    assert rebuild(machine)["turns"] == 6
    assert said(machine) == fresh


def test_turns_without_events_and_transcript_stay_as_they_are(machine: Machine) -> None:
    age(machine)
    forget_events(machine)
    (transcripts(machine) / "s1.jsonl").unlink()
    before = {id_: one for id_, one in by_id(machine).items() if one["session"] == "s1"}
    told = run_here(machine, "rebuild", "--memories").stdout
    assert f"2 turns stay as they are: {NOTHING_LEFT}" in told
    assert {id_: one for id_, one in by_id(machine).items() if one["session"] == "s1"} == before
    assert "composer" not in run_here(machine, "status").stdout, "nothing can be done about them"
    assert rebuild(machine) == {**rebuild(machine), "turns": 0, "left": 2}


def test_a_transcript_that_comes_back_is_read_by_the_next_run(machine: Machine) -> None:
    fresh = said(machine)
    age(machine)
    forget_events(machine)
    path = transcripts(machine) / "s1.jsonl"
    path.rename(machine.user_home / "aside")
    assert rebuild(machine)["left"] == 2
    (machine.user_home / "aside").rename(path)
    assert rebuild(machine)["turns"] == 2
    assert said(machine) == fresh


def test_what_the_user_did_survives(machine: Machine) -> None:
    stated = machine.post("/api/memories", {"kind": "rule", "text": "Use tabs in Go files", "cwd": "/home/dev/shop"})
    age(machine)
    crumb = crumbs(machine)
    edited, pinned, confirmed, retired = (one["id"] for one in crumb[:4])
    run_here(machine, "edit", edited, "--text", "The rate of the tax is in tax.py alone")
    run_here(machine, "pin", pinned)
    run_here(machine, "confirm", confirmed)
    run_here(machine, "retire", retired)
    touched = (stated["id"], edited, pinned, confirmed, retired)
    before = [machine.get(f"/api/memories/{id_}") for id_ in touched]
    rebuild(machine)
    assert [machine.get(f"/api/memories/{id_}") for id_ in touched] == before


def test_what_was_edited_about_a_matter_is_not_told_beside_it_once_more(machine: Machine) -> None:
    id_ = next(id_ for id_, one in by_id(machine).items() if one["session"] == "s0" and one["kind"] == "bugfix")
    run_here(machine, "edit", id_, "--title", "Empty carts cost nothing")
    number = len(said(machine))
    age(machine, reword=False)
    rebuild(machine)
    assert machine.get(f"/api/memories/{id_}")["title"] == "Empty carts cost nothing"
    assert len(said(machine)) == number


def test_what_an_agent_saved_and_what_another_product_brought_stays(machine: Machine) -> None:
    with stopped(machine) as store, atomic(store.db):
        store.db.execute("update prompts set composer = 0")
        (turn,) = store.db.execute("select turn from prompts where session = 's0' limit 1").fetchone()
        for at, made_by in enumerate(("agent", "claude-mem", "import", "anthropic/claude")):
            made = _made(store.db, turn, made_by)
            memories.insert(store.db, replace(made, id=short_id(turn, str(20 + at))), made.created_at)
            memory_links.note_sighting(store.db, short_id(turn, str(20 + at)), turn)
    before = [one for one in by_id(machine).values() if one["title"].startswith("Kept by")]
    assert len(before) == 4
    rebuild(machine)
    assert [one for one in by_id(machine).values() if one["title"].startswith("Kept by")] == before


def _made(db: sqlite3.Connection, turn: str, made_by: str) -> Memory:
    (one,) = memories.by_ids(db, memory_links.memories_in(db, [turn])[:1])
    return replace(one, title=f"Kept by {made_by}", summary=f"As {made_by} told it.", made_by=made_by, kind="note")


def test_a_turn_that_a_model_told_stays(machine: Machine) -> None:
    age(machine)
    with stopped(machine) as store, atomic(store.db):
        (turn,) = store.db.execute("select turn from prompts where session = 's0' limit 1").fetchone()
        store.db.execute(
            """insert into model_calls (turn, session, made_by, purpose, outcome, tokens_in, tokens_out, cost_usd, at)
               values (?, 's0', 'anthropic/claude', 'turn', 'told', 1, 1, 0, '2026-03-02T00:00:00Z')""",
            (turn,),
        )
        before = [one.title for one in memories.by_ids(store.db, memory_links.memories_in(store.db, [turn]))]
    assert rebuild(machine)["turns"] == 5
    with stopped(machine) as store:
        assert [one.title for one in memories.by_ids(store.db, memory_links.memories_in(store.db, [turn]))] == before


def test_receipts_and_what_was_superseded_still_name_memories_that_are_there(machine: Machine) -> None:
    age(machine)
    older, newer = crumbs(machine)[:2]
    with stopped(machine) as store, atomic(store.db):
        store.db.execute(
            "update memories set status = 'superseded', superseded_by = ? where id = ?", (newer["id"], older["id"])
        )
    rebuild(machine)
    shown = machine.get(f"/api/memories/{older['id']}")
    assert (shown["status"], shown["superseded_by"]) == ("superseded", newer["id"])
    assert machine.get(f"/api/memories/{newer['id']}")["status"] == "retired"


def test_what_was_forgotten_stays_forgotten(machine: Machine) -> None:
    machine.post("/api/forget", {"session": "s1", "ids": []})
    gone = next(id_ for id_, one in by_id(machine).items() if one["session"] == "s2")
    machine.post("/api/forget", {"ids": [gone]})
    age(machine, reword=False)
    forget_events(machine)
    rebuild(machine)
    assert gone not in by_id(machine)
    assert "s1" not in {one["session"] for one in by_id(machine).values()}
    assert machine.files_with("total_1") == []


def test_a_passage_that_was_forgotten_does_not_come_back_out_of_a_transcript(unserved: Machine) -> None:
    secret = "The quokkafish counter lives in ledger.py and is raised once for each basket that is sold."
    said_too = PastSession("s9").prompt("Where is it counted?").says(f"{secret} There is nothing else to it.")
    said_too.write(transcripts(unserved))
    unserved.start_worker()
    run_here(unserved, "import", "transcripts")
    kept = unserved.post("/api/memories", {"kind": "note", "text": secret, "cwd": "/home/dev/shop"})
    unserved.post("/api/forget", {"ids": [kept["id"]]})
    assert unserved.files_with("quokkafish") == []
    age(unserved)
    assert unserved.get("/api/health")["stale_turns"] == 1, "the turn itself was not forgotten"
    assert rebuild(unserved)["left"] == 1
    assert unserved.files_with("quokkafish") == []


def test_folders_that_are_excluded_by_now_are_not_read(machine: Machine) -> None:
    age(machine)
    before = by_id(machine)
    machine.view.config.write_text('exclude = ["/home/dev/*"]\n')
    assert rebuild(machine)["turns"] == 0
    assert by_id(machine) == before


def test_what_was_done_while_memory_was_off_is_not_read_from_a_transcript(machine: Machine) -> None:
    age(machine)
    forget_events(machine)
    before = {id_: one for id_, one in by_id(machine).items() if one["session"] == "s2"}
    with stopped(machine):
        machine.view.off_switch.touch()
        at = (LONG_AGO + timedelta(days=2)).timestamp()
        os.utime(machine.view.off_switch, (at, at))
    run_here(machine, "on")
    told = rebuild(machine)
    assert (told["turns"], told["left"]) == (4, 2)
    assert {id_: one for id_, one in by_id(machine).items() if one["session"] == "s2"} == before


def test_a_project_limits_it(machine: Machine) -> None:
    fixed_bug("other", 7, LONG_AGO, "/home/dev/other").write(machine.user_home / "laptop")
    run_here(machine, "import", "transcripts", machine.user_home / "laptop")
    age(machine)
    assert rebuild(machine, "--project", "other")["turns"] == 1
    assert rebuild(machine, "--cwd", "/home/dev/shop", "--dry-run")["turns"] == 6
    assert rebuild(machine)["turns"] == 6


def test_search_contexts_and_summaries_follow(machine: Machine) -> None:
    before = machine.get("/api/sessions?all_projects=true")["sessions"]
    age(machine)
    with stopped(machine) as store, atomic(store.db):
        store.db.execute("update sessions set headline = 'Older headline'")
    rebuild(machine)
    machine.drain()
    assert machine.get("/api/sessions?all_projects=true")["sessions"] == before
    hits = machine.get("/api/search?query=Older%20words&all_projects=true")["hits"]
    assert not any("Older words" in one["title"] for one in hits)
    assert "Older" not in machine.get("/api/context?cwd=/home/dev/shop")["context"]


def test_the_worth_of_a_headline_follows_where_its_words_stay(machine: Machine) -> None:
    worths = "select id, headline, headline_worth from sessions order by id"
    before = query(machine.view.memory_db, worths)
    assert any(worth > 0 for _, _, worth in before)
    age(machine)
    with stopped(machine) as store, atomic(store.db):
        store.db.execute("update sessions set headline_worth = 0")
    rebuild(machine)
    assert query(machine.view.memory_db, worths) == before


def test_status_and_doctor_offer_it_until_it_is_done(machine: Machine) -> None:
    age(machine)
    offer = "6 turns have memories of an older version"
    assert f"composer:   {offer} (`claude-mem-lite rebuild --memories`)" in run_here(machine, "status").stdout
    assert machine.get("/api/health")["stale_turns"] == 6
    rebuild(machine)
    assert offer not in run_here(machine, "status").stdout


def test_memories_and_turns_tell_which_composer_made_them(machine: Machine) -> None:
    made = query(machine.view.memory_db, "select distinct prompt_version from memories where made_by = 'rules'")
    assert made == [(f"composer {COMPOSER_VERSION}",)]
    assert query(machine.view.memory_db, "select distinct composer from prompts") == [(COMPOSER_VERSION,)]


def test_a_rebuild_is_replayed_when_memory_is_lost_after_it(machine: Machine, tmp_path: Path) -> None:
    age(machine)
    machine.post("/api/backup", {})
    rebuild(machine)
    rebuilt = dump(machine.view.memory_db)
    machine.stop_worker()
    for path in machine.view.root.glob("memory.db*"):
        shutil.move(path, tmp_path / path.name)
    machine.start_worker()
    machine.drain()
    assert dump(machine.view.memory_db) == rebuilt


def test_a_live_turn_is_found_in_its_transcript_by_its_prompt(machine: Machine) -> None:
    """The same prompt, seen by hooks first: its turn has another key than its transcript gives it."""
    session = fixed_bug("live", 3, datetime.now(UTC) - timedelta(hours=2))
    prompt_id = session.lines[0]["promptId"]
    leave_live(machine.home, session, prompt_id)
    machine.drain()
    fresh = [one for one in said(machine) if one[0] == "live"]
    assert fresh
    session.write(transcripts(machine))
    age(machine)
    forget_events(machine)
    assert rebuild(machine)["left"] == 0
    assert [one for one in said(machine) if one[0] == "live"] == fresh


def leave_live(home: Home, session: PastSession, prompt_id: str) -> None:
    from claude_mem_lite.importers.transcripts import find_transcripts, read_transcript
    from tests.support.running import leave

    folder = home.root.parent / "read"
    (found,) = find_transcripts([session.write(folder)])
    (turn,) = read_transcript(found, datetime.now(UTC))
    for event in turn.events:
        told = {key: value for key, value in event.payload.items() if key not in ("imported", "git_branch")}
        leave(home, {**told, "prompt_id": prompt_id})


def test_after_something_was_forgotten_the_turns_that_it_was_not_taken_out_of_are_still_read(machine: Machine) -> None:
    fresh = said(machine)
    kept = machine.post("/api/memories", {"kind": "note", "text": "Quokkas live on Rottnest", "cwd": "/home/dev/shop"})
    machine.post("/api/forget", {"ids": [kept["id"]]})
    age(machine)
    forget_events(machine)
    assert rebuild(machine)["left"] == 0
    assert said(machine) == fresh
