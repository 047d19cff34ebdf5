"""What is forgotten is gone from every file, and does not come back."""

import sqlite3
from contextlib import closing

from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import SessionSummary
from claude_mem_lite.store import sessions
from tests.support import commit_turns
from tests.support.fakes import NOW, Store
from tests.support.running import Json, Machine, dump, leave, payload, spool_name, turn, wait_until

WORDS = ("zanzibarium", "quokkafish")


def test_a_command_goes_through_the_inbox(served: Machine) -> None:
    kept = served.post("/api/memories", {"kind": "note", "text": "By way of the inbox", "cwd": "/"})
    row = served.rows()[-1]
    assert (row.event, row.session, row.status) == ("Command", "", "done")
    assert "By way of the inbox" in row.payload
    assert kept["summary"] == "By way of the inbox"


def test_a_command_left_by_a_worker_that_died_is_carried_out_by_the_next(machine: Machine) -> None:
    given = {"hook_event_name": "Command", "command": "remember", "kind": "note", "text": "Left behind", "cwd": "/"}
    leave(machine.home, given)
    machine.start_worker()
    machine.drain()
    (memory,) = machine.get("/api/memories?all_projects=true")["memories"]
    assert memory["summary"] == "Left behind"


def test_a_memory_that_the_user_stated_is_gone_from_every_file(served: Machine) -> None:
    made = served.post("/api/memories", {"kind": "rule", "text": "Baskets stay", "cwd": "/"})
    remaining = served.get(f"/api/memories/{made['id']}")
    text = f"Never mix {WORDS[0]} with {WORDS[1]}"
    kept = served.post("/api/memories", {"kind": "rule", "text": text, "tags": [WORDS[0]], "cwd": "/"})
    assert served.files_with(WORDS[0]) != []
    assert served.post("/api/forget", {"ids": [kept["id"]]}) == {"forgotten": [kept["id"]]}
    for word in WORDS:
        assert served.files_with(word) == []
    assert served.ask("GET", f"/api/memories/{kept['id']}").status == 404
    assert served.get(f"/api/search?query={WORDS[0]}&all_projects=true")["hits"] == []
    assert served.get(f"/api/memories/{remaining['id']}").items() <= remaining.items()


def test_a_memory_made_of_a_turn_is_gone_from_every_file(served: Machine) -> None:
    prompt = f"Count the {WORDS[0]} in the basket instead of returning one"
    for given in turn_that_is_remembered("s-made", prompt):
        leave(served.home, given)
    served.drain()
    made = [one for one in served.get("/api/memories?all_projects=true")["memories"] if one["session"] == "s-made"]
    assert made, "the turn left no memory"
    assert served.files_with(WORDS[0]) != []
    served.post("/api/forget", {"ids": [one["id"] for one in made]})
    assert served.files_with(WORDS[0]) == []


def test_a_change_of_a_memory_that_comes_after_it_was_forgotten_leaves_no_trace(served: Machine) -> None:
    kept = served.post("/api/memories", {"kind": "note", "text": "Soon forgotten", "cwd": "/"})
    served.post("/api/forget", {"ids": [kept["id"]]})
    given = {"hook_event_name": "Command", "command": "edit", "id": kept["id"], "text": f"The {WORDS[0]} again"}
    leave(served.home, given)
    served.drain()
    assert served.files_with(WORDS[0]) == []


def test_what_was_said_after_a_forgotten_work_does_not_quote_it_any_more(served: Machine) -> None:
    name = "s-quoted"
    for given in turn_that_is_remembered(name, f"Count the {WORDS[0]} in the basket instead of returning one"):
        leave(served.home, given)
    served.drain()
    leave(served.home, payload("UserPromptSubmit", name, prompt="never use f-strings for money, they round"))
    leave(served.home, payload("Stop", name, last_assistant_message="Understood."))
    served.drain()
    known = [one for one in served.get("/api/memories?all_projects=true")["memories"] if one["session"] == name]
    (taught,) = [one for one in known if one["kind"] == "rule"]
    assert WORDS[0] in served.get(f"/api/memories/{taught['id']}")["detail"]

    served.post("/api/forget", {"ids": [one["id"] for one in known if one["id"] != taught["id"]]})

    left = served.get(f"/api/memories/{taught['id']}")
    assert left["status"] == "active"
    assert served.files_with(WORDS[0]) == []


def test_a_session_is_gone_from_every_file(served: Machine) -> None:
    for given in turn("s-secret", f"work on {WORDS[0]}", steps=2):
        leave(served.home, given)
    leave(served.home, payload("PostToolUse", "s-secret", tool_name="Grep", tool_response=WORDS[1]))
    leave(served.home, payload("SessionEnd", "s-secret"))
    served.drain()
    assert served.files_with(WORDS[0]) != []
    served.post("/api/forget", {"session": "s-secret"})
    for word in WORDS:
        assert served.files_with(word) == []
    assert [row for row in served.rows() if row.session == "s-secret"] == []


def test_events_of_the_turn_behind_a_memory_are_gone_although_it_began_with_a_skipped_one(served: Machine) -> None:
    _, *rest = turn_that_is_remembered("s-mixed")
    for given in (payload("PostToolUse", "s-mixed", tool_name="Grep", tool_response="nothing"), *rest):
        leave(served.home, given)
    served.drain()
    made = [one for one in served.get("/api/memories?all_projects=true")["memories"] if one["session"] == "s-mixed"]
    assert made, "the turn left no memory"
    served.post("/api/forget", {"ids": [one["id"] for one in made]})
    assert [row.event for row in served.rows() if row.session == "s-mixed"] == []


def test_what_was_forgotten_does_not_come_back_with_its_events(served: Machine) -> None:
    named = [(spool_name(given["hook_event_name"]), given) for given in turn_that_is_remembered("s-again")]
    for name, given in named:
        leave(served.home, given, name=name)
    served.drain()
    made = [one for one in served.get("/api/memories?all_projects=true")["memories"] if one["session"] == "s-again"]
    served.post("/api/forget", {"ids": [one["id"] for one in made]})
    for name, given in named:
        leave(served.home, given, name=name)
    served.drain()
    again = served.get("/api/memories?all_projects=true")["memories"]
    assert [one for one in again if one["session"] == "s-again"] == []


def test_a_forgetting_that_cannot_be_carried_out_changes_nothing(served: Machine) -> None:
    kept = served.post("/api/memories", {"kind": "note", "text": "One of two", "cwd": "/"})
    before = dump(served.home.memory_db)
    assert served.ask("POST", "/api/forget", {"ids": [kept["id"], "zzzzzzzz"]}).status == 404
    assert dump(served.home.memory_db) == before


def test_a_session_is_not_forgotten_as_a_memory_and_a_turn_is_none(served: Machine) -> None:
    session = "f0822e04-1111-4222-8333-abcdefabcdef"
    for given in turn(session, "why do the wombats sleep", steps=1):
        leave(served.home, given)
    served.drain()
    hits = served.get("/api/search?query=wombats&all_projects=true")["hits"]
    (asked,) = [hit["id"] for hit in hits if hit["kind"] == "turn"]
    for refused in (
        served.ask("POST", "/api/forget", {"ids": ["f0822e04"]}),
        served.ask("GET", "/api/memories/f0822e04"),
    ):
        assert (refused.status, refused.body["error"]["message"]) == (404, "f0822e04 is a session")
        assert refused.body["error"]["next_step"] == f"`claude-mem-lite forget --session {session}` removes all of it"
    refused = served.ask("GET", f"/api/memories/{asked[:6]}")
    assert refused.status == 404
    assert refused.body["error"]["message"] == f"{asked[:6]} is a turn of session {session}, not a memory"
    assert f"forget {asked[:6]}" in refused.body["error"]["next_step"]


def test_a_turn_is_forgotten_by_the_beginning_of_its_id_and_the_others_of_its_session_stay(served: Machine) -> None:
    for prompt in ("why do the bilbies sleep", "how do the potoroos jump"):
        for given in turn("s-two", prompt):
            leave(served.home, given)
    served.drain()
    (bilbies,) = [
        hit["id"] for hit in served.get("/api/search?query=bilbies&all_projects=true")["hits"] if hit["kind"] == "turn"
    ]
    assert served.post("/api/forget", {"ids": [bilbies[:6]]}) == {"forgotten": [bilbies]}
    assert served.files_with("bilbies") == []
    assert served.get("/api/search?query=potoroos&all_projects=true")["hits"] != []
    told = served.get("/api/records/s-two")["summary"]
    assert "potoroos" in told["headline"]
    assert served.ask("POST", "/api/forget", {"ids": [bilbies]}).status == 404


def test_the_worth_of_a_headline_goes_with_the_memory_that_gave_it(store: Store) -> None:
    memory = store.remember("Add the quokkafish counter", session="s1")
    other = store.remember("Add a cart", session="s2")
    for session, headline, completed in (("s1", memory.title, "Added a cart."), ("s2", other.title, memory.title)):
        store.session(session, SessionSummary(headline=headline, completed=completed))
        sessions.set_summary(store.db, session, SessionSummary(headline=headline, completed=completed), NOW, 1.95)
    forget.forget(store.db, [memory.id], [], NOW)
    told = [sessions.find(store.db, session) for session in ("s1", "s2")]
    assert [(one.summary.headline, one.headline_worth) for one in told if one] == [
        ("Added a cart.", 0.0),
        ("Add a cart", 1.95),
    ]


def test_a_session_is_forgotten_by_the_beginning_of_its_id(served: Machine) -> None:
    for session in ("e0822e04-1111", "e0822e04-2222", "e17c9d52-3333"):
        for given in turn(session, "why do the numbats sleep", steps=1):
            leave(served.home, given)
    served.drain()
    assert served.ask("POST", "/api/forget", {"session": "e0822e04"}).status == 409
    served.post("/api/forget", {"session": "e17c9"})
    left = {one["id"] for one in served.get("/api/sessions?all_projects=true")["sessions"]}
    assert "e17c9d52-3333" not in left
    assert {"e0822e04-1111", "e0822e04-2222"} <= left
    refused = served.ask("POST", "/api/forget", {"session": "e17c9"})
    assert refused.status == 404
    assert "claude-mem-lite sessions --all-projects" in refused.body["error"]["next_step"]


def test_a_forgetting_waits_its_turn_while_the_database_is_busy(served: Machine) -> None:
    kept = served.post("/api/memories", {"kind": "note", "text": "Busy and forgotten", "cwd": "/"})
    with closing(sqlite3.connect(served.home.memory_db)) as db:
        db.execute("select count(*) from memories").fetchone()
        assert served.post("/api/forget", {"ids": [kept["id"]]}) == {"forgotten": [kept["id"]]}
    wait_until(lambda: served.ask("GET", f"/api/memories/{kept['id']}").status == 404, "it to be gone")


def turn_that_is_remembered(session: str, prompt: str = "Count the items in the basket") -> list[Json]:
    """A turn with an edit, which leaves a memory."""
    edit = payload(
        "PostToolUse",
        session,
        tool_name="Edit",
        tool_input={"file_path": "/app/basket.py", "old_string": "return 1", "new_string": "return len(self.items)"},
        tool_response={"filePath": "/app/basket.py", "structuredPatch": []},
    )
    first, *_ = turn(session, prompt)
    return [first, edit, *commit_turns.ending(session, "/", prompt, "/app/basket.py")]
