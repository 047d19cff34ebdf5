"""Tests of `worker/guards/replays.py` on real databases: what another replay says about a proposal."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from claude_mem_lite.db.connection import atomic, open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, migrate
from claude_mem_lite.guards.guard import proposal_of, row_of_proposal
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.store import guards
from claude_mem_lite.store.guards import Status
from claude_mem_lite.worker.guards.replays import GuardReplays
from claude_mem_lite.worker.settings import SettingsSource
from tests.guards.samples import AT, guard
from tests.support.fakes import NOW, SHOP, Store

MAX_STEPS = 1_000


@pytest.fixture
def replays(home: Home, store: Store) -> Iterator[GuardReplays]:
    with closing(open_for_writing(home.inbox_db)) as inbox:
        migrate(inbox, INBOX_MIGRATIONS, NOW)
        yield GuardReplays(home, Queue(inbox), store.db, lambda: NOW, SettingsSource(home))


def put(store: Store, status: Status, note: str) -> None:
    row = row_of_proposal(proposal_of(guard()), "guard1", SHOP.project, "", AT, status)
    with atomic(store.db):
        guards.put(store.db, replace(row, note=note))


def run(replays: GuardReplays) -> None:
    """Do all steps that are due."""
    for _ in range(MAX_STEPS):
        if replays.run() is None:
            return
    pytest.fail("the replay does not end")


@pytest.mark.parametrize(
    ("status", "note", "after"),
    [
        ("doubtful", "it would have fired on 3 calls", ("proposed", "")),
        ("proposed", "", ("proposed", "")),
        ("paused", "you overrode it", ("paused", "you overrode it")),
    ],
)
def test_a_replay_without_doubt_proposes_a_doubtful_guard_again_and_leaves_others_alone(
    store: Store, replays: GuardReplays, status: Status, note: str, after: tuple[Status, str]
) -> None:
    put(store, status, note)
    run(replays)
    row = guards.get(store.db, "guard1")
    assert (row.status, row.note) == after
    assert guards.replay_of(store.db, "guard1") is not None
