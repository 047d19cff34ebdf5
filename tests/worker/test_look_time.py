"""How long a context may look at code, also when the machine let its time pass before it looked at anything."""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from claude_mem_lite.places import find_place
from claude_mem_lite.worker.look_time import LookTime
from claude_mem_lite.worker.looking import Looking
from tests.anchored import LOAD, LOAD_SAFELY, work_on
from tests.fakes import Store
from tests.worker.looks import remember


def ticks(*moments: float) -> Callable[[], float]:
    """A clock that tells these moments, one after another."""
    return iter(moments).__next__


def test_looks_end_at_the_deadline_and_leave_the_spare_time_alone() -> None:
    look_time = LookTime(100.0, 0.25, ticks(90.0, 91.0, 100.5, 100.5))
    with look_time.looking() as until:
        assert until == 100.0
    with look_time.looking() as until:
        assert until == 100.75, "it began late, and nothing of the spare time was taken"


def test_what_looks_take_after_the_deadline_is_taken_from_the_spare_time() -> None:
    look_time = LookTime(100.0, 0.25, ticks(99.0, 100.125, 101.0, 101.0625, 102.0, 103.0, 104.0, 104.0))
    with look_time.looking() as until:
        assert until == 100.0
    with look_time.looking() as until:
        assert until == 101.125, "the first look took half of it"
    with look_time.looking() as until:
        assert until == 102.0625
    with look_time.looking() as until:
        assert until < 104.0, "the last one took more than there was"


def test_code_is_looked_at_though_the_deadline_was_over_before(
    store: Store, looking: Looking, reader: sqlite3.Connection, root: Path
) -> None:
    memory = remember(store, root, work_on(root, "files.py", LOAD))
    work_on(root, "files.py", LOAD_SAFELY)
    checkout = looking.checkout(reader, find_place(str(root)), time.monotonic())
    found = replace(checkout, time=LookTime(time.monotonic(), spare_s=60)).freshness([memory])
    assert found[memory.id].verdict == "changed"
