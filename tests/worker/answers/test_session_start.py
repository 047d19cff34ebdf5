"""What the worker gives a start context to work with: a search that may be given up, and a checkout for all threads."""

import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.deadline import PAST, Deadline
from claude_mem_lite.paths import Home
from claude_mem_lite.search.search_timeout import with_timeout
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.worker.api.app import App
from claude_mem_lite.worker.services import Services
from tests.support.app_client import AppClient
from tests.support.code_anchors import LOAD, SAVE, work_on
from tests.support.fakes import NOW, FakeEmbedder, Store
from tests.support.running import leave, payload, running_loop, spool_name
from tests.worker.checkouts import remember, soon


def test_a_search_that_takes_too_long_is_given_up(store: Store) -> None:
    over = threading.Event()

    def slow(db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        over.wait(20)
        return []

    try:
        with pytest.raises(TimeoutError):
            with_timeout(slow, store.connect, PAST)(store.db, "carts", Filters(), NOW, 10)
    finally:
        over.set()


def test_a_search_in_time_gives_its_hits_over_a_connection_of_its_own(store: Store) -> None:
    memory = store.remember("Keep carts in SQLite")
    used = []

    def search(db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:
        used.append(db)
        return [Hit(memory, 1.0, ())]

    hits = with_timeout(search, store.connect, Deadline.after(60))(store.db, "carts", Filters(), NOW, 10)
    assert [hit.found for hit in hits] == [memory]
    assert used[0] is not store.db
    with pytest.raises(sqlite3.ProgrammingError):
        used[0].execute("select 1")


def test_a_checkout_answers_several_threads_alike(
    store: Store, looking: StalenessScanner, reader: sqlite3.Connection, root: Path
) -> None:
    kept = remember(store, root, work_on(root, "files.py", LOAD), "Load the text")
    changed = remember(store, root, work_on(root, "other.py", SAVE), "Save the text")
    work_on(root, "other.py", SAVE.replace("write", "append"))
    checkout = looking.checkout(reader, find_location(str(root)), soon())
    together = threading.Barrier(8, timeout=20)

    def ask(_: int) -> dict[str, str]:
        together.wait()
        return {id_: one.verdict for id_, one in checkout.freshness([kept, changed]).items()}

    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(ask, range(8)))
    assert told == [{kept.id: "fresh", changed.id: "changed"}] * 8


def test_a_context_whose_layers_take_too_long_is_answered_as_not_in_time(home: Home, tmp_path: Path) -> None:
    with (
        running_loop(home, lambda: datetime.now(UTC), embedder=FakeEmbedder()) as services,
        closing(_SlowReaders(home.memory_db)) as readers,
    ):
        slow = replace(services, readers=readers, limits=replace(services.limits, start_patience_s=0.1))
        assert _start(slow, home, tmp_path) == 503  # the hook prints the rendered context
        assert _start(services, home, tmp_path) == 204  # the project has no memories: no context


class _SlowReaders(Readers):
    """Readers whose connections reach no layer in time."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._over = threading.Event()

    def open(self) -> sqlite3.Connection:
        if threading.current_thread().name.startswith("layer"):
            self._over.wait(20)
        return super().open()

    def close(self) -> None:
        self._over.set()
        super().close()


def _start(services: Services, home: Home, folder: Path) -> int:
    """Return the status of the answer to a new session."""
    given = payload("SessionStart", f"new-{time.time_ns()}", str(folder), source="startup")
    name = leave(home, given, name=spool_name("SessionStart", time.time_ns()))
    client = AppClient(App(services, services.shutdown.stop).respond)
    return client.post("/hook/SessionStart", headers={"X-Spool": name}).status_code
