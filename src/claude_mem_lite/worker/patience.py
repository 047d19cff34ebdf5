"""A search that somebody waits for only until a moment: what it needs may have to be loaded first."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TypeVar

Found = TypeVar("Found")
# Kept: starting one for each search takes a millisecond where other threads work. More would wait for each other.
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="search")


def found_until(
    until: float, connect: Callable[[], sqlite3.Connection], find: Callable[[sqlite3.Connection], Found]
) -> Found:
    """What is found by a moment of the monotonic clock, else TimeoutError: the search goes on, for whoever is next."""

    def run() -> Found:
        with closing(connect()) as own:  # whoever gives up closes the other
            return find(own)

    return _THREADS.submit(run).result(max(until - time.monotonic(), 0))
