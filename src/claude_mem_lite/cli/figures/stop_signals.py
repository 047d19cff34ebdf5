"""Signals that stop a walk: the first one, of whatever kind, ends it in order; the second SIGTERM or the third SIGINT
ends the process at once. All others, such as a repeated SIGHUP, have no effect.

The temporary folder, which has files of sessions, is removed in both cases."""

import math
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from claude_mem_lite.evaluation.walk_folder import remove_walk_folders

_STOPS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_AT_ONCE = {signal.SIGINT: 3, signal.SIGTERM: 2}
"""Number of times a signal has to come to end the process at once: its threads may hang."""


@contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first signal, and end the process at once when one has come as often as `_AT_ONCE`
    says. Signals that were ignored stay so, as below `nohup`."""
    seen: Counter[int] = Counter()

    def stop(number: int, _frame: object) -> None:
        seen[number] += 1
        if seen[number] >= _AT_ONCE.get(signal.Signals(number), math.inf):
            for each in taken:
                signal.signal(each, signal.SIG_IGN)  # no more handlers inside of this one
            remove_walk_folders()
            os._exit(128 + number)
        if seen.total() == 1:
            with suppress(OSError):  # the terminal may be closed
                click.echo("Stopping.", err=True)
            raise KeyboardInterrupt

    taken = [each for each in _STOPS if signal.getsignal(each) is not signal.SIG_IGN]
    before = {each: signal.signal(each, stop) for each in taken}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
