"""Search with a timeout, for a caller that cannot wait until all data is loaded."""

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Concatenate, ParamSpec, TypeVar

from claude_mem_lite.deadline import Deadline

Result = TypeVar("Result")
Params = ParamSpec("Params")
Connect = Callable[[], sqlite3.Connection]
# A persistent pool: starting a thread for each search takes a millisecond beside busy threads. More threads would wait
# for each other.
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="search")


def with_timeout(
    search: Callable[Concatenate[sqlite3.Connection, Params], Result], connect: Connect, deadline: Deadline
) -> Callable[Concatenate[sqlite3.Connection, Params], Result]:
    """Return the same search, raising TimeoutError at the deadline."""

    def limited(_: sqlite3.Connection, /, *args: Params.args, **kwargs: Params.kwargs) -> Result:
        return run_with_timeout(deadline, connect, lambda own: search(own, *args, **kwargs))

    return limited


def run_with_timeout(deadline: Deadline, connect: Connect, find: Callable[[sqlite3.Connection], Result]) -> Result:
    """Return the result of a search, or raise TimeoutError at the deadline. The search goes on in its thread, and
    warms the caches for the next caller."""

    def run() -> Result:
        with closing(connect()) as own:  # after a timeout, the caller closes its own connection only
            return find(own)

    return _THREADS.submit(run).result(deadline.timeout_s())
