"""What the worker gives out for an export and makes of memories that are imported."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from claude_mem_lite.export_format import FIELDS
from tests.support.past_sessions import Json
from tests.support.running import Machine, dump, leave, query, turn

TOKEN = "ghp_" + "a8Kd93jfLq02MzXc7VbN5tYpRw61HsGeUoIi"
AT = "2026-03-01T12:00:00+00:00"
PROJECT = "example.org/me/shop"


def store(machine: Machine, *memories: Json) -> Json:
    lines = [{"memory": memory} for memory in memories]
    return machine.post("/api/import/memories", {"project": PROJECT, "at": AT, "lines": lines, "trust": True})


def note(id_: str, **more: Json) -> Json:
    return {"kind": "note", "title": f"The title of {id_}", "id": id_, **more}


def shown(machine: Machine, id_: str) -> Json:
    return machine.get(f"/api/memories/{id_}")


def everything(machine: Machine, query: str = "") -> Iterator[Json]:
    following: Json = 0
    while following is not None:
        page = machine.get(f"/api/export?after={following}{query}")
        yield from page["memories"]
        following = page["next"]


# Giving out.


def test_every_status_is_given_out_with_every_field_in_the_order_of_storing(machine: Machine) -> None:
    machine.start_worker()
    statuses = ("retired", "active", "quarantined", "superseded")
    store(machine, *(note(f"note-{status}", status=status) for status in statuses))
    found = list(everything(machine))
    assert [one["status"] for one in found] == list(statuses)
    assert all(list(one) == list(FIELDS) for one in found)
    assert found[0]["created_at"] == "2026-03-01T12:00:00.000000+00:00"


def test_pages_hold_what_was_asked_for_and_lead_to_the_next(machine: Machine) -> None:
    machine.start_worker()
    store(machine, *(note(f"note-{number}") for number in range(5)))
    first = machine.get("/api/export?limit=2")
    assert ([one["id"] for one in first["memories"]], first["total"]) == (["note-0", "note-1"], 5)
    second = machine.get(f"/api/export?limit=3&after={first['next']}")
    assert ([one["id"] for one in second["memories"]], second["total"], second["next"]) == (
        ["note-2", "note-3", "note-4"],
        None,
        None,
    )


def test_a_page_of_large_memories_is_short(machine: Machine) -> None:
    machine.start_worker()
    store(machine, *(note(f"note-{number}", detail="word " * 60_000) for number in range(6)))
    page = machine.get("/api/export")
    assert len(page["memories"]) == 4
    assert [one["id"] for one in everything(machine)] == [f"note-{number}" for number in range(6)]


def test_one_project_is_given_out_alone(machine: Machine, tmp_path: Path) -> None:
    machine.start_worker()
    own = str(tmp_path)
    store(
        machine,
        note("elsewhere"),
        note("made-here", project=own, scope="universal"),
        note("holds-here", project="another", scope=f"project:{own}"),
        note("both", project=own),
    )
    page = machine.get(f"/api/export?cwd={tmp_path}")
    assert ([one["id"] for one in page["memories"]], page["total"]) == (["made-here", "holds-here", "both"], 3)


def test_a_home_without_memories_gives_out_none(machine: Machine) -> None:
    machine.start_worker()
    assert machine.get("/api/export") == {"memories": [], "total": 0, "next": None}


# Taking in.


def test_an_imported_memory_is_found_shown_and_forgotten_like_any_other(served: Machine) -> None:
    store(served, note("i-quagga", title="The quagga runs in the cellar", project="example.org/me/zoo"))
    hits = served.get("/api/search?query=quagga&all_projects=true")["hits"]
    assert [hit["id"] for hit in hits] == ["i-quagga"]
    assert shown(served, "i-quagga")["title"] == "The quagga runs in the cellar"
    assert served.post("/api/forget", {"project": "zoo"})["forgotten"] == ["i-quagga"]
    assert store(served, note("i-quagga"))["forgotten"] == 1
    assert served.ask("GET", "/api/memories/i-quagga").status == 404


def test_what_is_imported_contradicts_and_replaces_nothing_whatever_its_date(served: Machine) -> None:
    rule = {"kind": "rule", "origin": "user", "scope": f"project:{PROJECT}"}
    store(served, {**rule, "id": "i-own", "title": "Use pnpm, not npm"})
    ahead = "2999-01-01T00:00:00+00:00"
    store(served, {**rule, "id": "i-late", "title": "We use npm, not pnpm", "created_at": ahead, "last_seen_at": ahead})
    assert (shown(served, "i-own")["status"], shown(served, "i-late")["status"]) == ("active", "active")
    assert [one["id"] for one in shown(served, "i-own")["conflicts"]] == ["i-late"]


def test_nothing_is_merged(served: Machine) -> None:
    same = {"title": "The build needs node 20", "kind": "gotcha"}
    assert store(served, {**same, "id": "i-one"}, {**same, "id": "i-two"})["imported"] == 2
    assert shown(served, "i-one")["times_seen"] == 1


def test_what_is_there_already_is_counted_and_what_differs_is_named_and_left(served: Machine) -> None:
    store(served, note("i-there", summary="as it was"))
    assert store(served, note("i-there", summary="as it was"))["known"] == 1
    told = store(served, note("i-there", summary="otherwise"), note("i-new"))
    counts = {"imported": 1, "known": 0, "different": ["i-there"], "forgotten": 0, "redacted": 0}
    assert told == {**counts, "quarantined": 0, "disbelieved": 0, "projects": ["example.org/me/shop"]}
    assert shown(served, "i-there")["summary"] == "as it was"


@pytest.mark.parametrize("trust", [True, False])
def test_no_file_can_claim_to_come_from_a_teammate(served: Machine, trust: bool) -> None:
    team, mine = f"i-team-{trust}".lower(), f"i-mine-{trust}".lower()
    lines = [note(team, origin="team", author="Ana", trust=0.5), note(mine, origin="assistant", author="Ana")]
    body = {"project": PROJECT, "at": AT, "lines": [{"memory": line} for line in lines], "trust": trust}
    report = served.post("/api/import/memories", body)
    assert (report["imported"], report["disbelieved"]) == (2, 0)
    assert (shown(served, team)["origin"], shown(served, team)["author"]) == ("import", "")
    assert (shown(served, mine)["origin"], shown(served, mine)["author"]) == ("assistant", "")
    assert served.post("/api/import/memories", body)["known"] == 2


def test_a_superseding_memory_need_not_be_there(served: Machine) -> None:
    store(served, note("i-old", status="superseded", superseded_by="nobody"))
    assert shown(served, "i-old")["superseded_by"] == "nobody"


def test_secrets_and_private_spans_are_gone_before_anything_is_kept(served: Machine) -> None:
    told = store(
        served,
        note(
            "i-secret",
            summary=f"rotate {TOKEN} today",
            facts=["fine", f"the token was {TOKEN}"],
            files=["a.py", "notes <private>zanzibarium</private>.md"],
            symbols=[{"file": "a.py", "name": f"{TOKEN}", "action": "new"}],
            branch=f"try-{TOKEN}",
            session="kept",
        ),
    )
    assert (told["imported"], told["redacted"]) == (1, 5)
    for word in (TOKEN, "zanzibarium"):
        assert served.files_with(word) == []
    memory = shown(served, "i-secret")
    assert (memory["facts"][0], memory["files"], memory["session"]) == ("fine", ["a.py", "notes [private].md"], "kept")
    assert memory["symbols"][0]["action"] == "new"


def test_what_was_redacted_once_is_not_redacted_again(served: Machine) -> None:
    texts = [
        f"export GITHUB_TOKEN={TOKEN}",
        "postgres://shop:Xk29vQpL4w@db.example.org/shop",
        "curl -u admin:Xk29vQpL4w https://example.org",
        'password = "Xk29vQpL4w!"',
        "Authorization: Bearer Xk29vQpL4wXk29vQpL4w",
        "<private>never</private> and <private>again",
    ]
    assert store(served, note("i-once", facts=texts, detail="\n".join(texts)))["redacted"] == 2
    (memory,) = [one for one in everything(served) if one["id"] == "i-once"]
    told = store(served, memory)
    assert (told["known"], told["redacted"]) == (1, 0)
    assert store(served, {**memory, "id": "i-again"})["redacted"] == 0
    assert {**shown(served, "i-again"), "id": "i-once"} == shown(served, "i-once")


def test_projects_whose_names_only_look_like_secrets_stay_apart(served: Machine) -> None:
    projects = ["/srv/token=one1secret", "/srv/token=two2secret"]
    store(served, *(note(f"i-apart{number}", project=project) for number, project in enumerate(projects)))
    assert [shown(served, f"i-apart{number}")["project"] for number in range(2)] == projects


@pytest.mark.parametrize(
    "wrong", [{"kind": "nonsense"}, {"unknown": 1}, {"trust": 7}, {"id": "../x"}, {"created_at": "2026-03-01"}]
)
def test_a_wrong_memory_is_refused_with_all_that_came_along(served: Machine, wrong: Json) -> None:
    before = dump(served.view.memory_db)
    lines = [{"memory": note("i-good")}, {"memory": {**note("i-bad"), **wrong}}]
    answer = served.ask("POST", "/api/import/memories", {"project": PROJECT, "at": AT, "lines": lines, "trust": True})
    assert answer.status == 400
    assert dump(served.view.memory_db) == before


def test_scopes_that_cannot_be_told_are_named_at_the_start(served: Machine, tmp_path: Path) -> None:
    store(served, note("i-aa", project="example.org/a/twin"), note("i-bb", project="example.org/b/twin"))
    asked = ["project:twin", "project:example.org/a/twin", "project:nobody"]
    told = served.post("/api/import/memories/start", {"cwd": str(tmp_path), "scopes": asked})
    assert told["project"] == str(tmp_path)
    assert list(told["unknown"]) == ["project:twin", "project:nobody"]
    assert "several projects" in told["unknown"]["project:twin"]


def test_rendered_contexts_follow_an_import(machine: Machine, tmp_path: Path) -> None:
    for given in turn("s-1", "look around", cwd=str(tmp_path)):
        leave(machine.home, given)
    machine.start_worker()
    machine.drain()
    store(machine, note("i-ready", kind="rule", title="Always feed the okapi", origin="user"))
    assert machine.post("/api/import/memories/finish", {}) == {"finished": True}
    assert "okapi" in machine.view.rendered_for(str(tmp_path)).read_text("utf-8")


def test_both_ends_speak_the_same_lines(served: Machine) -> None:
    """What the API gives out, it takes in."""
    found: Sequence[Json] = list(everything(served))
    told = store(served, *found)
    assert (told["imported"], told["known"], told["different"]) == (0, len(found), [])
    assert json.dumps(list(everything(served))) == json.dumps(found)
    assert query(served.view.memory_db, "select count(*) from memories")[0][0] == len(found)
