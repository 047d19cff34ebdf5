"""A search that somebody waits for only until a moment: what it needs may have to be loaded first."""

import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Concatenate, ParamSpec, TypeVar

Found = TypeVar("Found")
Asked = ParamSpec("Asked")
Connect = Callable[[], sqlite3.Connection]
# Kept: starting one for each search takes a millisecond where other threads work. More would wait for each other.
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="search")


def patient(
    search: Callable[Concatenate[sqlite3.Connection, Asked], Found], connect: Connect, until: float
) -> Callable[Concatenate[sqlite3.Connection, Asked], Found]:
    """The same search, given up with TimeoutError at a moment of the monotonic clock."""

    def asked(_: sqlite3.Connection, /, *given: Asked.args, **named: Asked.kwargs) -> Found:
        return found_until(until, connect, lambda own: search(own, *given, **named))

    return asked


def found_until(until: float, connect: Connect, find: Callable[[sqlite3.Connection], Found]) -> Found:
    """What is found by a moment of the monotonic clock, else TimeoutError: the search goes on, for whoever is next."""

    def run() -> Found:
        with closing(connect()) as own:  # whoever gives up closes the other
            return find(own)

    return _THREADS.submit(run).result(max(until - time.monotonic(), 0))
