"""A limit to the time that this process itself takes: unlike seconds on a clock it is the same on a busy machine, so it
can be narrow, and the text that would exceed it short."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class TookTooLong(Exception):
    """More of its own time than was allowed."""


@contextmanager
def cpu_seconds(limit_s: float) -> Iterator[None]:
    """What is done within must not compute for longer; `re` looks for signals while it matches."""

    def end(*_: object) -> None:
        raise TookTooLong(f"more than {limit_s} s of its own time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
