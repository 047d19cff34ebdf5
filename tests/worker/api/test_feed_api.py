"""Tests of `worker/api/feed.py` and `store/timeline.py`: the feed of the page and the history of a memory, from
the API in this process."""

import base64
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Location, Receipt, ReceiptItem, SessionSummary
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memory_links, receipts, retirements
from tests.support.fakes import NOW, SHOP, Store
from tests.support.running import Json, wait_until
from tests.worker.in_process import Asked, asked

BARN = Location("example.org/me/barn", "barn", "/nowhere/barn", "main", "abc")
EARLIER = NOW - timedelta(days=2)


def filled(store: Store) -> None:
    """Two sessions in a shop, one in a barn."""
    for number in range(7):
        at = NOW - timedelta(hours=10 - number)
        store.turn(f"turn-{number}", f"Please  count\nbasket {number}", "Counted.", session="s-shop", at=at)
        store.remember(f"Basket {number} was counted", turn=f"turn-{number}", session="s-shop", created_at=at)
    store.session("s-barn", SessionSummary(headline="The barn was painted"), place=BARN, at=EARLIER)
    for kind, origin in (("rule", "user"), ("discovery", "web")):
        store.remember(
            f"A {kind} of the barn", place=BARN, session="s-barn", created_at=EARLIER, kind=kind, origin=origin
        )


def opened(home: Home) -> AbstractContextManager[Asked]:
    with Store(home.memory_db) as store:
        filled(store)
    return asked(home, lambda: NOW)


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    """A worker that the tests share that change nothing."""
    home = Home(tmp_path_factory.mktemp("feed") / "home")
    home.make()
    with opened(home) as made:
        yield made


@pytest.fixture
def fresh(home: Home) -> Iterator[Asked]:
    with opened(home) as made:
        yield made


def titles(page: Json) -> list[str]:
    return [one["title"] for one in page["memories"]]


def test_the_feed_is_newest_first_with_turns_and_sessions(api: Asked) -> None:
    page = api.get("/api/feed")
    assert titles(page)[:2] == ["Basket 6 was counted", "Basket 5 was counted"]
    assert (len(titles(page)), page["next"]) == (9, None)
    newest = page["memories"][0]
    turn = page["turns"][newest["turn"]]
    assert (turn["id"], turn["asked"]) == (newest["turn"], "Please count basket 6")
    assert newest["session"] == "s-shop"
    assert page["sessions"]["s-shop"]["turns"] == 7
    assert page["sessions"]["s-barn"]["headline"] == "The barn was painted"
    assert page["memories"][-1]["turn"] is None
    assert {*newest} == {
        *("id", "kind", "status", "origin", "author", "title", "summary", "files", "session", "turn"),
        *("project", "scope"),
        *("created_at", "last_seen_at", "times_seen", "pinned", "confidence", "made_by", "superseded_by"),
        "verdict",
    }
    assert {*page["sessions"]["s-shop"]} == {
        *("id", "headline", "project", "branch", "status", "started_at", "last_event_at", "turns"),
    }


def test_a_memory_stands_under_a_turn_of_its_own_session(home: Home) -> None:
    with Store(home.memory_db) as store:
        store.turn("turn-own", "Count the baskets", "Counted.", session="s-own", at=NOW)
        store.turn("turn-other", "Something else", "Done.", session="s-other", at=EARLIER)
        own = store.remember("Baskets were counted", turn="turn-own", session="s-own")
        brought = store.remember("Baskets are of reed", turn="turn-other", session="s-own")
        with atomic(store.db):
            memory_links.note_sighting(store.db, own.id, "turn-other")
    with asked(home, lambda: NOW) as api:
        page = api.get("/api/feed")
        turns = {one["id"]: page["turns"][one["turn"]]["asked"] if one["turn"] else None for one in page["memories"]}
    assert turns == {own.id: "Count the baskets", brought.id: None}


def test_pages_neither_skip_nor_repeat_when_new_ones_come(fresh: Asked) -> None:
    first = fresh.get("/api/feed", limit=4)
    fresh.post("/api/memories", {"kind": "note", "text": "Came in between", "cwd": "/"})
    second = fresh.get("/api/feed", limit=4, before=first["next"])
    third = fresh.get("/api/feed", limit=4, before=second["next"])
    whole = titles(first) + titles(second) + titles(third)
    assert len(whole) == len(set(whole)) == 9
    assert "Came in between" not in whole
    assert third["next"] is None
    assert titles(fresh.get("/api/feed", limit=1)) == ["Came in between"]


def test_memories_of_one_moment_are_paged_by_their_order(api: Asked) -> None:
    both = titles(api.get("/api/feed", project=BARN.project))
    first = api.get("/api/feed", project=BARN.project, limit=1)
    second = api.get("/api/feed", project=BARN.project, limit=1, before=first["next"])
    assert titles(first) + titles(second) == both
    assert len(both) == 2


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        pytest.param({"project": SHOP.project}, 7, id="project"),
        pytest.param({"project": "example.org/nobody"}, 0, id="unknown-project"),
        pytest.param({"kind": ["rule", "discovery"]}, 2, id="kinds"),
        pytest.param({"origin": "web"}, 1, id="origin"),
        pytest.param({"origin": ["web", "user"], "kind": "rule"}, 1, id="origin-and-kind"),
        pytest.param({"status": "retired"}, 0, id="status"),
        pytest.param({"status": ["retired", "active"], "project": BARN.project}, 2, id="statuses-of-a-project"),
        pytest.param({"until": EARLIER.isoformat()}, 2, id="until"),
        pytest.param({"since": (NOW - timedelta(hours=5, minutes=30)).isoformat()}, 2, id="since"),
    ],
)
def test_the_feed_holds_what_is_asked_for(api: Asked, filters: Json, found: int) -> None:
    assert len(api.get("/api/feed", **filters)["memories"]) == found


def test_what_names_no_place_in_the_feed_is_refused(api: Asked) -> None:
    half_a_letter, deep = b'["\\ud800", 1]', b"[" * 40_000
    hostile = [base64.urlsafe_b64encode(one).decode().rstrip("=") for one in (half_a_letter, deep, b'["2026", 1e999]')]
    for before in ("x", "W10", "WzEsMl0", "WyJhIiwgLTFd", "NDI", "ä", *hostile):
        answer = api.client.get("/api/feed", params={"before": before})
        assert (before, answer.status_code) == (before, 400)
        assert "the cursor of the feed is invalid" in answer.json()["error"]["message"]


def test_a_very_long_memory_is_cut_in_the_feed(home: Home) -> None:
    with Store(home.memory_db) as store:
        store.remember("t" * 5_000, summary="word " * 100_000, files=tuple(f"src/{n}.py" for n in range(9)))
    with asked(home, lambda: NOW) as api:
        answer = api.client.get("/api/feed")
        (one,) = answer.json()["memories"]
    assert len(answer.content) < 3_000
    assert len(one["summary"]) <= 400
    assert one["files"] == [f"src/{n}.py" for n in range(5)]


def test_projects_come_with_their_memories_the_last_used_first(api: Asked) -> None:
    found = api.get("/api/projects")["projects"]
    assert [(one["id"], one["name"], one["root"], one["memories"]) for one in found] == [
        (SHOP.project, "shop", SHOP.root, 7),
        (BARN.project, "barn", BARN.root, 2),
    ]
    assert found[0]["last_seen_at"] > found[1]["last_seen_at"]


def test_changes_move_with_what_is_stored(fresh: Asked) -> None:
    before = fresh.get("/api/changes")
    assert set(before["inbox"]) == {"raw", "processing", "done", "error", "skipped"}
    fresh.post("/api/memories", {"kind": "note", "text": "One more", "cwd": "/"})
    after = fresh.get("/api/changes")
    assert after["memory"] > before["memory"]
    assert after["inbox"]["done"] == before["inbox"]["done"] + 1


def test_who_looks_on_keeps_the_worker_but_not_its_backups_from_being_made(api: Asked) -> None:
    wait_until(lambda: api.loop.activity.quiet_s() > 0.02, "a quiet moment")
    api.get("/api/changes")
    assert api.loop.activity.idle_s() < api.loop.activity.quiet_s()


def test_the_story_of_a_memory_tells_what_became_of_it(home: Home) -> None:
    with Store(home.memory_db) as store:
        filled(store)
        old, new, other = (store.remember(f"Baskets are {colour}", kind="rule") for colour in ("red", "blue", "green"))
        given(store, new.id, [("used", 3), ("ignored", 2), (None, 1)])
        with atomic(store.db):
            for turn in ("turn-1", "turn-2"):
                memory_links.note_sighting(store.db, new.id, turn)
            retirements.replace_by(store.db, old.id, new.id)
            memory_links.note_conflict(store.db, new.id, other.id, NOW)
        gone = store.remember("Baskets are made of reed")
        with atomic(store.db):
            retirements.retire(store.db, gone.id, "user", "they are of steel", NOW)
    with asked(home, lambda: NOW) as api:
        told = api.get(f"/api/memories/{new.id}/story")
        assert (told["given_total"], told["used"], told["ignored"]) == (6, 3, 2)
        first = told["given"][0]
        assert (first["session"], first["moment"], first["outcome"]) == ("s-5", "startup", None)
        assert api.get(f"/api/receipts/{first['receipt']}")["session"] == "s-5"
        assert [one["given_at"] for one in told["given"]] == sorted(
            (one["given_at"] for one in told["given"]), reverse=True
        )
        shown = api.get(f"/api/memories/{new.id}")
        assert [one["id"] for one in shown["replaced"]] == [old.id]
        assert {*shown["replaced"][0]} >= {"id", "title", "kind", "status", "created_at"}
        assert [one["id"] for one in shown["conflicts"]] == [other.id]
        assert (shown["replaced_by"], shown["retired_at"], shown["retired_because"]) == (None, None, "")
        assert told["project"] == {"id": new.project, "name": "shop", "root": SHOP.root}
        (seen,) = told["seen_in"]
        assert seen["id"] == "s-shop"
        assert api.get(f"/api/memories/{old.id}")["replaced_by"]["id"] == new.id
        retired = api.get(f"/api/memories/{gone.id}")
        assert (retired["retired_cause"], retired["retired_because"]) == ("user", "they are of steel")
        turn = api.get("/api/feed", limit=1)["memories"][0]
        of_a_turn = api.get(f"/api/memories/{turn['id']}/story")
        assert of_a_turn["turn"]["asked"] == "Please count basket 6"
        session = api.get("/api/feed", limit=1)["sessions"][turn["session"]]
        assert of_a_turn["session"] == {"id": session["id"], "headline": session["headline"]}
        assert (told["session"], told["held_because"]) == (None, "")
        assert api.client.get("/api/memories/nothing-there/story").status_code == 404


def test_what_was_made_and_not_printed_was_not_given(home: Home) -> None:
    with Store(home.memory_db) as store:
        memory = store.remember("Baskets are blue")
        with atomic(store.db):
            receipts.add(store.db, replace(receipt("s-1", memory.id, None), given_at=None))
    with asked(home, lambda: NOW) as api:
        told = api.get(f"/api/memories/{memory.id}/story")
    assert (told["given"], told["given_total"]) == ([], 0)


def test_a_project_by_its_id_stands_for_the_folder_it_was_worked_on_in(api: Asked) -> None:
    found = api.get("/api/memories", project=BARN.project)["memories"]
    assert {one["project"] for one in found} == {BARN.project}
    assert [one["id"] for one in api.get("/api/sessions", project=BARN.project)["sessions"]] == ["s-barn"]
    hits = api.get("/api/search", query="rule barn", project=BARN.project)["hits"]
    assert "A rule of the barn" in [hit["title"] for hit in hits]
    assert api.get("/api/receipts", project=BARN.project)["receipts"] == []
    assert "A rule of the barn" in api.get("/api/context", project=BARN.project)["context"]
    told = api.get("/api/prompt-context", project=BARN.project, prompt="What is the rule of the barn?")
    assert told["items"] or told["why_silent"]


def test_a_project_that_nobody_knows_is_not_found(api: Asked) -> None:
    for path in ("/api/context", "/api/prompt-context", "/api/search"):
        answer = api.client.get(path, params={"project": "no/such", "prompt": "x", "query": "x"})
        assert (path, answer.status_code) == (path, 404)


def test_a_context_needs_a_folder_or_a_project(api: Asked) -> None:
    assert api.client.get("/api/context").status_code == 422


def receipt(session: str, source: str, outcome: Json) -> Receipt:
    return Receipt(
        spool_name=f"spool-{session}",
        session=session,
        project=SHOP.project,
        moment="startup",
        items=(ReceiptItem(source, "project", "about it", 20, 0.5, outcome),),
        layers=("project",),
        layers_skipped=(),
        tokens=20,
        budget=2_000,
        build_ms=1.0,
        created_at=NOW - timedelta(hours=1),
        given_at=NOW - timedelta(hours=1),
    )


def given(store: Store, source: str, outcomes: list[tuple[Json, int]]) -> None:
    """Receipts of as many sessions, one a minute."""
    each = [outcome for outcome, times in outcomes for _ in range(times)]
    with atomic(store.db):
        for number, outcome in enumerate(each):
            at = NOW - timedelta(minutes=60 - number)
            receipts.add(store.db, replace(receipt(f"s-{number}", source, outcome), created_at=at, given_at=at))


def test_any_folder_belongs_to_a_project(api: Asked) -> None:
    assert api.get("/api/place", cwd="/nowhere/else") == {"project": "/nowhere/else", "has_memories": False}
    assert api.get("/api/place", cwd="relative") == {"project": "unknown", "has_memories": False}


def test_only_active_memories_count_for_a_folder(home: Home) -> None:
    shed, barn = (Location(path, "some", path, "main", "abc") for path in ("/nowhere/shed", "/nowhere/barn"))
    with Store(home.memory_db) as store:
        store.remember("The shed has a door", place=shed)
        gone = store.remember("Rakes hang on the left", place=barn)
        with atomic(store.db):
            retirements.retire(store.db, gone.id, "user", "moved", NOW)
    with asked(home, lambda: NOW) as api:
        for place, has_memories in ((shed, True), (barn, False)):
            assert api.get("/api/place", cwd=place.root) == {"project": place.project, "has_memories": has_memories}
