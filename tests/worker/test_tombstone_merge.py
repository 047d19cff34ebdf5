"""Tombstones that both databases share, also those that an earlier version revoked because a forget was undone."""

from contextlib import closing
from datetime import timedelta

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.paths import Home
from claude_mem_lite.store import tombstones
from claude_mem_lite.timestamps import time_to_text
from tests.faults.losses import Moment, notes
from tests.support.fakes import NOW, Store
from tests.support.running import query
from tests.worker.in_process import asked

WORDS = "The zanzibarium is kept in the cellar of the shop"
DAYS = [time_to_text(NOW + timedelta(days=number)) for number in range(4)]


def test_a_mark_revokes_an_older_tombstone_and_no_younger_one(home: Home) -> None:
    with Store(home.memory_db) as store, atomic(store.db):
        tombstones.put(store.db, [("basket", DAYS[0]), ("lifted:basket", DAYS[1])])
        assert not tombstones.is_buried(store.db, "basket")
        tombstones.put(store.db, [("basket", DAYS[0])])
        assert not tombstones.is_buried(store.db, "basket")
        tombstones.put(store.db, [("basket", DAYS[2]), ("lifted:basket", DAYS[1])])
        assert tombstones.is_buried(store.db, "basket")


def test_what_is_forgotten_again_stays_so_when_the_clock_was_set_back(home: Home) -> None:
    with Store(home.memory_db) as store, atomic(store.db):
        tombstones.put(store.db, [("lifted:basket", DAYS[3])])
        tombstones.add_names(store.db, ["basket"], NOW)
        tombstones.put(store.db, [])
        assert tombstones.is_buried(store.db, "basket")


@pytest.mark.parametrize("older", ["memory", "inbox"])
def test_a_revoked_tombstone_of_an_older_database_does_not_apply(home: Home, older: str) -> None:
    clock = Moment()
    with asked(home, clock) as api:
        id_ = api.post("/api/memories", {"kind": "note", "text": WORDS, "cwd": "/"})["id"]
    rows = {"memory": (f"lifted:{id_}", DAYS[1]), "inbox": (f"lifted:{id_}", DAYS[1]), older: (id_, DAYS[0])}
    for path, row in ((home.memory_db, rows["memory"]), (home.inbox_db, rows["inbox"])):
        with closing(open_for_writing(path)) as db, atomic(db):
            db.execute("insert into tombstones values (?, ?)", row)
    with asked(home, clock) as api:
        assert api.loop.passes.wait_until_idle(30, flush=True)
    assert notes(home) == {WORDS}
    for path in (home.memory_db, home.inbox_db):
        assert query(path, "select * from tombstones") == [(f"lifted:{id_}", DAYS[1])]
