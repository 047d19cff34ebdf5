"""What the user changes by command, through a real worker: edit, pin, confirm, retire, reinstate."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import commit_turns
from tests.support.generated_secrets import generated_secrets
from tests.support.running import Json, Machine, dump, leave, open_machine, payload, turn
from tests.worker.working_repository import WorkingRepository

BEFORE = "def total(basket):\n    return sum(basket)\n"
AFTER = "def total(basket):\n    return round(sum(basket), 2)\n"
BY_HAND = "def total(basket):\n    return round(sum(basket), 3)\n"


def remember(machine: Machine, text: str, kind: str = "rule", **more: Json) -> Json:
    return machine.post("/api/memories", {"kind": kind, "text": text, "cwd": "/", **more})


def change(machine: Machine, id_: str, **changes: Json) -> Json:
    answer = machine.ask("PATCH", f"/api/memories/{id_}", {"cwd": "/", **changes})
    assert answer.status == 200, answer
    return answer.body


def made_by_rules(machine: Machine, session: str, prompt: str) -> Json:
    """A memory that rules made of a turn."""
    edit = payload(
        "PostToolUse",
        session,
        tool_name="Edit",
        tool_input={"file_path": "/src/cart.py", "old_string": "return 1", "new_string": "return len(basket)"},
        tool_response={"filePath": "/src/cart.py", "structuredPatch": []},
    )
    asked, *_ = turn(session, prompt)
    for given in (asked, edit, *commit_turns.ending(session, "/", prompt, "/src/cart.py")):
        leave(machine.home, given)
    machine.drain()
    found = machine.get("/api/memories?all_projects=true&limit=1000")["memories"]
    return next(one for one in found if one["session"] == session and one["kind"] != "handoff")


def test_an_edited_memory_says_what_the_user_wrote_and_is_found_by_it(served: Machine) -> None:
    kept = remember(served, "The wombat database listens on port 5433", "gotcha", tags=["db"])
    edited = change(served, kept["id"], text="The wombat database listens on port 5434", tags=["port"], untags=["db"])
    assert (edited["title"], edited["summary"]) == ("The wombat database listens on port 5434",) * 2
    assert (edited["id"], edited["tags"], edited["created_at"]) == (kept["id"], ["port"], kept["created_at"])
    (hit,) = served.get("/api/search?query=wombat+5434&all_projects=true")["hits"]
    assert hit["id"] == kept["id"]


def test_an_edited_memory_is_the_users_word(served: Machine) -> None:
    made = made_by_rules(served, "s-edited", "Count the ferrets in the basket instead of returning one")
    edited = change(served, made["id"], text="Ferrets are counted by the basket itself")
    assert (edited["origin"], edited["trust"], edited["confidence"], edited["made_by"]) == ("user", 1.0, 1.0, "user")
    assert (edited["facts"], edited["detail"], edited["files"]) == ([], "", made["files"])


def test_a_tag_alone_does_not_make_the_words_the_users(served: Machine) -> None:
    made = made_by_rules(served, "s-tagged", "Count the badgers in the basket instead of returning one")
    edited = change(served, made["id"], tags=["animals"])
    assert (edited["origin"], edited["summary"], edited["tags"]) == (made["origin"], made["summary"], ["animals"])


def test_kind_and_scope_can_be_changed(served: Machine) -> None:
    kept = remember(served, "Otters are never deleted", "note")
    edited = change(served, kept["id"], kind="rule", scope="language:Python")
    assert (edited["kind"], edited["scope"]) == ("rule", "language:python")
    assert served.ask("PATCH", f"/api/memories/{kept['id']}", {"scope": "project:nowhere"}).status == 404


def test_a_secret_that_is_typed_into_an_edit_is_stored_nowhere(served: Machine) -> None:
    secret = next(one for one in generated_secrets() if one.is_form)
    kept = remember(served, "The key is in the vault", "note")
    edited = change(served, kept["id"], text=f"The key is {secret.text}")
    assert secret.secret not in edited["summary"]
    assert served.files_with(secret.secret) == []


def test_what_was_typed_is_gone_when_the_memory_is_forgotten(served: Machine) -> None:
    kept = remember(served, "Something about the pangolinarium")
    change(served, kept["id"], text="Something about the axolotlarium", title="Something")
    change(served, kept["id"], status="retired", reason="no tapirarium any more")
    assert served.ask("DELETE", f"/api/memories/{kept['id']}").body == {"forgotten": [kept["id"]]}
    for word in ("pangolinarium", "axolotlarium", "tapirarium"):
        assert served.files_with(word) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [({}, "no change is given"), ({"text": "  "}, "needs a title"), ({"title": "x" * 20_001}, "no memory")],
)
def test_a_change_that_makes_no_sense_is_refused(served: Machine, changes: Json, told: str) -> None:
    kept = remember(served, "Refused changes leave it alone", "note")
    answer = served.ask("PATCH", f"/api/memories/{kept['id']}", changes)
    assert answer.status == 400
    assert told in answer.body["error"]["message"]
    assert served.get(f"/api/memories/{kept['id']}")["title"] == "Refused changes leave it alone"


def test_an_unknown_memory_cannot_be_changed(served: Machine) -> None:
    assert served.ask("PATCH", "/api/memories/zzzzzz", {"pinned": True}).status == 404


def test_what_is_pinned_stays_so_until_it_is_let_go(served: Machine) -> None:
    kept = remember(served, "Marmots sleep in winter", "note")
    assert change(served, kept["id"], pinned=True)["pinned"] is True
    assert change(served, kept["id"], pinned=True)["pinned"] is True
    assert change(served, kept["id"], pinned=False)["pinned"] is False


def test_what_is_retired_is_readable_and_given_to_nobody(served: Machine) -> None:
    kept = remember(served, "Never feed the quaggas")
    retired = change(served, kept["id"], status="retired", reason="they died out")
    assert (retired["status"], retired["retired_cause"]) == ("retired", "user")
    shown = served.get(f"/api/records/{kept['id']}")
    assert (shown["retired_because"], shown["retired_at"][:2]) == ("they died out", "20")
    assert "quaggas" not in served.get("/api/context?cwd=/")["context"]
    assert served.get("/api/search?query=quaggas&all_projects=true")["hits"] == []
    listed = served.get("/api/memories?all_projects=true&status=retired")["memories"]
    assert kept["id"] in [one["id"] for one in listed]


def test_confirming_brings_back_what_was_retired(served: Machine) -> None:
    kept = remember(served, "Never tease the bilbies")
    change(served, kept["id"], status="retired")
    held = change(served, kept["id"], status="active")
    assert (held["status"], held["retired_cause"], held["confidence"]) == ("active", None, 1.0)
    assert held["last_seen_at"] > kept["last_seen_at"]
    assert "bilbies" in served.get("/api/context?cwd=/")["context"]


def test_a_retirement_that_is_undone_leaves_the_memory_as_it_was(served: Machine) -> None:
    kept = remember(served, "Never wake the wobbegongs")
    change(served, kept["id"], status="retired")
    for _ in range(2):  # twice is as good as once
        back = change(served, kept["id"], reinstated=True)
        assert {**back, "seq": 0} == {**served.get(f"/api/memories/{kept['id']}"), "seq": 0}
        assert {name: back[name] for name in kept if name in back} == {
            name: kept[name] for name in kept if name in back
        }
    assert "wobbegongs" in served.get("/api/context?cwd=/")["context"]
    assert [one["id"] for one in served.get("/api/search?query=wobbegongs&all_projects=true")["hits"]] == [kept["id"]]


def test_a_contradiction_is_shown_again_when_a_retirement_is_undone(served: Machine) -> None:
    pinned = remember(served, "Use the antechinus 15 for the creek")
    change(served, pinned["id"], pinned=True)
    other = remember(served, "Use the antechinus 16 for the creek")
    change(served, pinned["id"], status="retired")
    assert served.get(f"/api/records/{other['id']}")["conflicts"] == []
    back = change(served, pinned["id"], reinstated=True)
    assert (back["status"], back["pinned"], [one["id"] for one in back["conflicts"]]) == ("active", True, [other["id"]])


def test_what_was_never_retired_is_not_reinstated(served: Machine) -> None:
    old = remember(served, "Quolls eat at six", "note")
    new = remember(served, "The keeper decides when quolls eat", "note")
    change(served, old["id"], superseded_by=new["id"])
    assert change(served, old["id"], reinstated=True)["status"] == "superseded"


def test_what_is_retired_cannot_be_pinned_and_the_next_step_is_told(served: Machine) -> None:
    kept = remember(served, "Never wake the quolls")
    change(served, kept["id"], status="retired")
    answer = served.ask("PATCH", f"/api/memories/{kept['id']}", {"pinned": True})
    assert answer.status == 400
    assert "claude-mem-lite confirm" in answer.body["error"]["next_step"]


def test_a_newer_statement_replaces_the_older_and_both_say_so(served: Machine) -> None:
    old = remember(served, "Use the numbat 15 for the burrow")
    new = remember(served, "Use the numbat 16 for the burrow")
    shown = served.get(f"/api/records/{old['id']}")
    assert (shown["status"], shown["replaced_by"]["id"]) == ("superseded", new["id"])
    assert [one["id"] for one in served.get(f"/api/records/{new['id']}")["replaced"]] == [old["id"]]


def test_confirming_the_older_turns_it_round(served: Machine) -> None:
    old = remember(served, "Use the dugong 15 for the lagoon")
    new = remember(served, "Use the dugong 16 for the lagoon")
    held = change(served, old["id"], status="active")
    assert (held["status"], held["superseded_by"]) == ("active", None)
    shown = served.get(f"/api/records/{new['id']}")
    assert (shown["status"], shown["superseded_by"]) == ("superseded", old["id"])


def test_what_contradicts_a_pinned_memory_is_shown_with_it_until_one_is_let_go(served: Machine) -> None:
    pinned = remember(served, "Use the potoroo 15 for the meadow")
    change(served, pinned["id"], pinned=True)
    other = remember(served, "Use the potoroo 16 for the meadow")
    (against,) = served.get(f"/api/records/{pinned['id']}")["conflicts"]
    assert (against["id"], against["title"]) == (other["id"], "Use the potoroo 16 for the meadow")
    change(served, pinned["id"], status="active")
    shown = served.get(f"/api/records/{other['id']}")
    assert (shown["status"], shown["conflicts"]) == ("superseded", [])


def test_what_is_let_go_is_replaced_by_what_is_newer(served: Machine) -> None:
    pinned = remember(served, "Use the woylie 15 for the ridge")
    change(served, pinned["id"], pinned=True)
    other = remember(served, "Use the woylie 16 for the ridge")
    release = change(served, pinned["id"], pinned=False)
    assert (release["status"], release["superseded_by"], release["conflicts"]) == ("superseded", other["id"], [])


def test_a_pinned_memory_does_not_yield_when_the_other_is_confirmed(served: Machine) -> None:
    pinned = remember(served, "Use the bettong 15 for the heath")
    change(served, pinned["id"], pinned=True)
    other = remember(served, "Use the bettong 16 for the heath")
    held = change(served, other["id"], status="active")
    assert [one["id"] for one in held["conflicts"]] == [pinned["id"]]


def test_a_replayed_command_changes_nothing(machine: Machine) -> None:
    machine.start_worker()
    kept = remember(machine, "Use npm")
    change(machine, kept["id"], text="Use pnpm", tags=["node"])
    change(machine, kept["id"], pinned=True)
    change(machine, kept["id"], status="retired", reason="gone")
    change(machine, kept["id"], status="active")
    before = dump(machine.home.memory_db)
    machine.stop_worker()
    with closing(sqlite3.connect(machine.home.inbox_db)) as inbox:
        inbox.execute("update inbox set status = 'raw', attempts = 0, finished_at = null")
        inbox.commit()
    machine.start_worker()
    machine.drain()
    assert dump(machine.home.memory_db)["sightings"] == before["sightings"]
    (memory,) = machine.get("/api/memories?all_projects=true")["memories"]
    assert (memory["title"], memory["pinned"], memory["status"]) == ("Use pnpm", True, "active")


@pytest.fixture
def developing(tmp_path: Path) -> Iterator[WorkingRepository]:
    with open_machine() as machine:
        machine.start_worker()
        yield WorkingRepository.begin(machine, tmp_path / "shop", {"cart.py": BEFORE})


def state_of(developing: WorkingRepository, id_: str) -> str:
    shown = developing.machine.get(f"/api/records/{id_}?cwd={developing.root}")
    return str((shown["freshness"] or {}).get("verdict"))


def test_what_is_confirmed_is_tied_to_the_code_as_it_stands_and_no_longer_stale(developing: WorkingRepository) -> None:
    developing.session("Round the total of a basket to cents", {"cart.py": AFTER}, "Rounded the total in cart.py.")
    made = next(
        one
        for one in developing.machine.get(f"/api/memories?cwd={developing.root}")["memories"]
        if any(anchor.startswith("code:") for anchor in one["anchors"])
    )
    assert state_of(developing, made["id"]) == "fresh"
    developing.write("cart.py", BY_HAND)
    assert state_of(developing, made["id"]) == "changed"
    change(developing.machine, made["id"], status="active", cwd=str(developing.root))
    assert state_of(developing, made["id"]) == "fresh"


def test_what_is_confirmed_holds_although_its_code_was_undone(developing: WorkingRepository) -> None:
    developing.session("Round the total of a basket to cents", {"cart.py": AFTER}, "Rounded the total in cart.py.")
    made = next(
        one
        for one in developing.machine.get(f"/api/memories?cwd={developing.root}")["memories"]
        if any(anchor.startswith("code:") for anchor in one["anchors"])
    )
    developing.write("cart.py", BEFORE)
    assert state_of(developing, made["id"]) == "gone"
    change(developing.machine, made["id"], status="active", cwd=str(developing.root))
    assert state_of(developing, made["id"]) == "fresh"


def test_a_new_text_without_a_title_makes_the_title_too(served: Machine) -> None:
    made = made_by_rules(served, "s-retold", "Count the weasels in the basket instead of returning one")
    edited = change(served, made["id"], text="Weasels are  counted by the shelf\nand nowhere else")
    assert edited["title"] == "Weasels are counted by the shelf"
    assert change(served, made["id"], text="By the shop", title="Weasels")["title"] == "Weasels"


def test_remember_says_what_it_replaces_and_contradicts(served: Machine) -> None:
    first = remember(served, "Keep dormice as integer cents instead of floats", "decision")
    second = remember(served, "Keep dormice as Decimal instead of integer cents", "decision")
    assert [one["id"] for one in second["replaced"]] == [first["id"]]
    change(served, second["id"], pinned=True)
    third = remember(served, "Keep dormice as floats instead of Decimal", "decision")
    assert [one["id"] for one in third["conflicts"]] == [second["id"]]


def test_a_rival_that_is_forgotten_leaves_what_it_replaced_and_that_can_be_confirmed(served: Machine) -> None:
    first = remember(served, "Keep voles as integer cents instead of floats", "decision")
    second = remember(served, "Keep voles as Decimal instead of integer cents", "decision")
    assert served.post("/api/forget", {"ids": [second["id"]]}) == {"forgotten": [second["id"]]}
    assert served.get(f"/api/memories/{first['id']}")["status"] == "superseded"
    assert change(served, first["id"], status="active")["status"] == "active"


def test_the_same_in_other_spacing_or_more_fully_is_one_memory_seen_twice(served: Machine) -> None:
    first = remember(served, "use   shrewpack", "preference")
    again = remember(served, "Use shrewpack instead of molepack", "preference")
    assert first["title"] == "use shrewpack"
    assert (again["id"], again["times_seen"]) == (first["id"], 2)


def test_what_was_retired_and_is_remembered_again_is_active_again(served: Machine) -> None:
    first = remember(served, "Never feed the stoats on Fridays")
    change(served, first["id"], status="retired")
    again = remember(served, "Never feed the stoats on Fridays")
    assert (again["id"], again["status"], again["retired_at"]) == (first["id"], "active", None)
