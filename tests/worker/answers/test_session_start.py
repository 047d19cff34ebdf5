"""What the worker gives a start context to work with: a search that may be given up, and a checkout for all threads."""

import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.deadline import PAST, Deadline
from claude_mem_lite.search.search_timeout import with_timeout
from claude_mem_lite.search_values import Filters, Hit
from tests.support.code_anchors import LOAD, SAVE, work_on
from tests.support.fakes import NOW, Store
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
