"""A memory that was forgotten and is taken back: as it was, for good, and not after it is forgotten once more."""

import shutil
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db import backups
from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.replacing import write_json
from claude_mem_lite.paths import Home
from claude_mem_lite.store import sessions, tombstones
from tests.fakes import NOW, Store
from tests.faults.losses import Moment, back_up, notes
from tests.running import Json, query, wait_until
from tests.worker.in_process import Asked, asked

WORDS = "The zanzibarium is kept in the cellar of the shop"
OTHER = "Wombats are kept in the attic"
REPLACED = "Quince jam is made on Sundays"


@pytest.fixture
def clock() -> Moment:
    return Moment()


def remembered(api: Asked, text: str = WORDS) -> Json:
    made = api.post("/api/memories", {"kind": "note", "text": text, "cwd": "/", "tags": ["rooms"]})
    return api.get(f"/api/memories/{made['id']}")


def forget(api: Asked, record: Json) -> None:
    assert api.post("/api/forget", {"ids": [record["id"]]}) == {"forgotten": [record["id"]]}


def restore(api: Asked, record: Json) -> Json:
    return api.post("/api/memories/restore", {"memory": record})


def refused(api: Asked, record: Json) -> tuple[int, str]:
    answer = api.client.post("/api/memories/restore", json={"memory": record})
    return answer.status_code, answer.json()["error"]["message"]


def names(home: Home) -> tuple[set[str], set[str]]:
    """What both databases know as forgotten, or as taken back."""
    memory = query(home.memory_db, "select memory from tombstones where memory not like 'salt:%'")
    inbox = query(home.inbox_db, "select name from tombstones where name not like 'salt:%'")
    return {row[0] for row in memory}, {row[0] for row in inbox}


def test_a_memory_comes_back_as_it_was(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        record = remembered(api)
        clock.advance(minutes=1)
        forget(api, record)
        assert api.client.get(f"/api/memories/{record['id']}").status_code == 404
        clock.advance(minutes=1)
        assert restore(api, record) == record
        hits = api.get("/api/search", query="zanzibarium cellar", all_projects=True)["hits"]
        assert [hit["id"] for hit in hits] == [record["id"]]
        memory, inbox = names(home)
        assert record["id"] not in memory | inbox
        assert f"lifted:{record['id']}" in memory & inbox
        assert memory == inbox
        wait_until(lambda: query(home.inbox_db, "select * from leaving") == [], "it to have left the backups")


def test_twice_is_as_good_as_once_and_keeps_what_was_changed_since(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        record = remembered(api)
        forget(api, record)
        restore(api, record)
        api.client.patch(f"/api/memories/{record['id']}", json={"title": "Another title"})
        assert restore(api, record)["title"] == "Another title"


def test_what_was_never_forgotten_or_is_there_is_refused(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        record = remembered(api)
        assert refused(api, record) == (400, f"there is a memory {record['id']} that was not forgotten")
        assert refused(api, {**record, "id": "neverseen1"}) == (404, "no memory neverseen1 was forgotten")
        forget(api, record)
        assert refused(api, {**record, "kind": "nonsense"})[0] == 400
        assert refused(api, {"id": record["id"]})[0] == 400
        assert refused(api, {**record, "detail": "x" * 600_000}) == (
            400,
            f"{record['id']} is too long to be brought back",
        )
        assert notes(home) == set()


def test_what_was_replaced_contradicted_and_retired_is_so_again(home: Home) -> None:
    with Store(home.memory_db) as store:
        older, newer, gone = (
            store.remember(f"Use {what} for the shelves", kind="note", made_by="user") for what in ("oak", "ash", "elm")
        )
        with atomic(store.db):
            store.db.execute(
                "update memories set status = 'superseded', superseded_by = ? where id = ?", (newer.id, older.id)
            )
    clock = Moment()
    clock.now = NOW
    with asked(home, clock) as api:
        api.client.patch(f"/api/memories/{gone.id}", json={"status": "retired", "reason": "it broke"})
        records = [api.get(f"/api/memories/{one.id}") for one in (newer, gone)]
        for record in records:
            forget(api, record)
        back = [restore(api, record) for record in records]
        assert back == records
        assert [one["id"] for one in back[0]["replaced"]] == [older.id]
        assert (back[1]["status"], back[1]["retired_because"]) == ("retired", "it broke")


def test_what_it_contradicts_by_now_is_noted(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        record = remembered(api, "Use Valkey for the session cache")
        forget(api, record)
        clock.advance(minutes=1)
        said_since = remembered(api, "Use SQLite for the session cache")
        back = restore(api, record)
        assert [one["id"] for one in back["conflicts"]] == [said_since["id"]]
        assert back["status"] == "active"


def test_a_project_that_was_forgotten_can_be_named_again(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        made = api.post("/api/memories", {"kind": "note", "text": WORDS, "cwd": "/", "scope": "project"})
        record = api.get(f"/api/memories/{made['id']}")
        restored = f"select id from projects where id = '{record['project']}'"
        with closing(open_for_writing(home.memory_db)) as db, atomic(db):
            sessions.note_project(db, record["project"], clock())
        assert api.post("/api/forget", {"project": record["project"]})["forgotten"] == [record["id"]]
        assert query(home.memory_db, restored) == []
        restore(api, record)
        assert query(home.memory_db, restored) == [(record["project"],)]


def test_an_import_of_the_same_words_is_let_in_again_after_an_undo(home: Home, clock: Moment) -> None:
    line = {"kind": "note", "title": WORDS, "summary": WORDS, "scope": "universal", "project": "/"}
    with asked(home, clock) as api:
        record = remembered(api)
        twin = {**line, "id": "twin000001", "scope": record["scope"], "project": record["project"]}

        def imported() -> Json:
            at = clock().isoformat()
            return api.post(
                "/api/import/memories", {"project": "/", "at": at, "lines": [{"memory": twin}], "trust": True}
            )

        forget(api, record)
        assert imported()["forgotten"] == 1
        restore(api, record)
        assert imported()["imported"] == 1


def test_a_later_forget_leaves_no_word_anywhere(home: Home, clock: Moment) -> None:
    with asked(home, clock) as api:
        record = remembered(api)
        forget(api, record)
        restore(api, record)
        # On the same tick of the clock, or when it was set back, what is done last counts.
        clock.advance(minutes=-10)
        forget(api, record)
        assert record["id"] in names(home)[0] & names(home)[1]
    with asked(home, clock):
        pass
    found = [path for path in home.root.rglob("*") if path.is_file() and b"zanzibarium" in path.read_bytes()]
    assert found == []


def lose(home: Home, tmp_path: Path) -> None:
    """All of memory.db, with its backups."""
    home.memory_db.unlink()
    shutil.rmtree(home.backups, ignore_errors=True)


def go_back(home: Home, tmp_path: Path) -> None:
    """To the memory.db of a moment ago."""
    write_json(home.restore_order, {"backup": str(tmp_path / "older.db")})


def keep(home: Home, tmp_path: Path) -> None:
    """Nothing happens."""


@pytest.mark.parametrize(
    ("loss", "moment"),
    [
        pytest.param(keep, "", id="nothing-is-lost"),
        pytest.param(lose, "", id="all-is-lost"),
        *(pytest.param(go_back, one, id=one) for one in ("before", "remembered", "forgotten", "restored")),
    ],
)
@pytest.mark.parametrize("forgotten_again", [False, True], ids=["taken-back", "forgotten-again"])
def test_what_was_done_last_holds_whatever_is_lost(
    home: Home, tmp_path: Path, loss: Callable[[Home, Path], None], moment: str, forgotten_again: bool
) -> None:
    clock = Moment()

    def pass_by(name: str) -> None:
        clock.advance(minutes=1)
        if name == moment:
            backups.copy(home.memory_db, tmp_path / "older.db")

    with asked(home, clock) as api:
        remembered(api, OTHER)
        back_up(api.loop)
        older = remembered(api, REPLACED)
        pass_by("before")
        newer = remembered(api)
        pass_by("remembered")
        answer = api.client.patch(f"/api/memories/{older['id']}", json={"superseded_by": newer["id"]})
        assert answer.status_code == 200, answer.text
        record = api.get(f"/api/memories/{newer['id']}")
        forget(api, record)
        pass_by("forgotten")
        restore(api, record)
        pass_by("restored")
        if forgotten_again:
            forget(api, record)
    loss(home, tmp_path)
    known = {OTHER, REPLACED} if forgotten_again else {OTHER, REPLACED, WORDS}
    state = f"select status, superseded_by from memories where id = '{older['id']}'"
    replaced = ("superseded", None if forgotten_again else newer["id"])
    clock.advance(minutes=1)
    with asked(home, clock) as api:
        assert api.loop.settle(30, flush=True)
    assert (notes(home), query(home.memory_db, state)) == (known, [replaced])
    assert names(home)[0] == names(home)[1]
    clock.advance(minutes=1)
    with asked(home, clock) as api:  # and with the next worker
        assert api.loop.settle(30, flush=True)
    assert (notes(home), query(home.memory_db, state)) == (known, [replaced])


def test_a_mark_of_an_older_day_does_not_lift_a_younger_tombstone(home: Home) -> None:
    with Store(home.memory_db) as store:
        memory = store.remember("Baskets are blue and made of reed")
        days = [NOW + timedelta(days=number) for number in range(4)]
        with atomic(store.db):
            tombstones.bury_memory(store.db, memory, days[0])
            tombstones.lift_memory(store.db, memory, days[1])
        lifted = tombstones.all_of(store.db)
        with atomic(store.db):
            tombstones.bury_memory(store.db, memory, days[2])
            tombstones.put(store.db, lifted)
            assert tombstones.is_buried(store.db, memory.id)
            tombstones.lift_memory(store.db, memory, days[3])
            tombstones.put(store.db, [(memory.id, days[2].isoformat(timespec="microseconds"))])
            assert not tombstones.is_buried(store.db, memory.id)
            assert tombstones.is_lifted(store.db, memory.id)


def test_a_worker_that_died_between_both_databases_carries_the_command_out_once_more(
    home: Home, clock: Moment, tmp_path: Path
) -> None:
    with asked(home, clock) as api:
        record = remembered(api)
        forget(api, record)
        backups.copy(home.memory_db, tmp_path / "forgotten.db")
        restore(api, record)
    # As if the transaction of memory.db had not been committed: that of the inbox always is first.
    shutil.copyfile(tmp_path / "forgotten.db", home.memory_db)
    with closing(open_for_writing(home.inbox_db)) as db, atomic(db):
        db.execute("update inbox set status = 'raw', work = 0 where json_extract(payload, '$.command') = 'restore'")
    with asked(home, clock) as api:
        assert api.loop.settle(30, flush=True)
        assert api.get(f"/api/memories/{record['id']}")["summary"] == WORDS
    assert names(home)[0] == names(home)[1]
