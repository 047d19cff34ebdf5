"""A search that somebody waits for only until a moment: what it needs may have to be loaded first."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

Found = TypeVar("Found")


def found_until(
    until: float, connect: Callable[[], sqlite3.Connection], find: Callable[[sqlite3.Connection], Found]
) -> Found:
    """What is found by a moment of the monotonic clock, else TimeoutError: the search goes on, for whoever is next."""

    def run() -> Found:
        with closing(connect()) as own:  # whoever gives up closes the other
            return find(own)

    pool = ThreadPoolExecutor(1, thread_name_prefix="search")
    try:
        return pool.submit(run).result(max(until - time.monotonic(), 0))
    finally:
        pool.shutdown(wait=False)
