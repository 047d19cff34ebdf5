"""What the user puts in the place of another memory, through a real worker."""

import pytest

from tests.support.running import Json, Machine, dump


def remember(machine: Machine, text: str) -> Json:
    return machine.post("/api/memories", {"kind": "note", "text": text, "cwd": "/"})


def supersede(machine: Machine, id_: str, successor: str) -> Json:
    return machine.ask("PATCH", f"/api/memories/{id_}", {"superseded_by": successor})


def test_another_memory_takes_its_place_pinned_or_not_and_twice_is_as_good_as_once(served: Machine) -> None:
    old, new = remember(served, "Herons nest in May"), remember(served, "The reed is cut in winter")
    served.ask("PATCH", f"/api/memories/{old['id']}", {"pinned": True})
    first = supersede(served, old["id"], new["id"][:6])
    assert (first.status, first.body["status"], first.body["superseded_by"]) == (200, "superseded", new["id"])
    before = dump(served.home.memory_db)
    assert supersede(served, old["id"], new["id"]).status == 200
    assert dump(served.home.memory_db) == before


def test_confirming_it_undoes_that(served: Machine) -> None:
    old, new = remember(served, "Storks come in March"), remember(served, "The tower was painted green")
    supersede(served, old["id"], new["id"])
    served.ask("PATCH", f"/api/memories/{old['id']}", {"status": "active"})
    assert served.get(f"/api/memories/{old['id']}")["status"] == "active"


@pytest.mark.parametrize("status", ["retired", "superseded"])
def test_only_what_holds_takes_the_place_of_what_holds(served: Machine, status: str) -> None:
    held, other = remember(served, f"Cranes dance, {status}"), remember(served, f"Swans were counted, {status}")
    if status == "retired":
        served.ask("PATCH", f"/api/memories/{other['id']}", {"status": "retired"})
    else:
        supersede(served, other["id"], held["id"])
    refused = supersede(served, held["id"], other["id"])
    assert status in refused.body["error"]["message"]
    assert served.get(f"/api/memories/{held['id']}")["status"] == "active"


def test_nothing_takes_its_own_place_and_nothing_that_is_not_there(served: Machine) -> None:
    kept = remember(served, "Geese fly south")
    assert "own place" in supersede(served, kept["id"], kept["id"]).body["error"]["message"]
    assert supersede(served, kept["id"], "nowhere99").status == 404
    assert served.get(f"/api/memories/{kept['id']}")["status"] == "active"
