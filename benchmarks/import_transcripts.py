"""`python -m benchmarks.import_transcripts DATA...`: the import's speed, and that it may be repeated
and killed.

Its speed is judged by processor time, of the command and its worker together. The clock is told too, for each DATA.

With the first DATA, one home is filled in one go, then once more. In another the command is killed half way, in a third
the worker; both are imported again. All must hold the same in the end: every table of both databases, but for the
moments of storing."""

import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from benchmarks.figures import Figure, keep
from benchmarks.product import Product, product, temporary_folder, unpack
from benchmarks.stored import Tables, tables
from benchmarks.transcripts import Data
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.paths import Home

MIN_MB_PER_MINUTE = 50
_LOOK_EVERY_S = 0.005
_MAX_WAIT_S = 1800.0


def main(arguments: Sequence[str]) -> int:
    figures: list[Figure] = []
    for number, argument in enumerate(arguments):
        data = Data(Path(argument))
        with temporary_folder() as folder:
            unpack(data, folder / "transcripts")
            for figure in _measure(data, folder, is_first=number == 0):
                print(figure.line(), flush=True)
                figures.append(figure)
    return keep("import", "Import of transcripts", figures, "python -m benchmarks.import_transcripts DATA...")


def _measure(data: Data, folder: Path, *, is_first: bool) -> Iterator[Figure]:
    with product(folder / "home", folder / "transcripts") as made:
        timed = timed_import(made)
        worked_s, seconds = timed.worked_s, timed.seconds
        print(timed.said)
        once = held(made.home)
        note = (
            f"{data.megabytes:.1f} MB, {len(data.files)} sessions, worked on to the last event: {worked_s:.1f} s of "
            f"processor time, {seconds:.1f} s by the clock; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        )
        speed = round(data.megabytes / worked_s * 60, 1)
        yield Figure("import", speed, "MB/min of processor time", floor=MIN_MB_PER_MINUTE, note=note)
        if not is_first:
            return
        again_s, _ = made.run_import()
        yield Figure("rows that a second import changes", difference(once, held(made.home)), "", bar=0)
        yield Figure("second import", round(again_s, 1), "s")
        total = len(once["inbox"])
    for victim in ("command", "worker"):
        with product(folder / f"killed-{victim}", folder / "transcripts") as made:
            got = _kill_half_way(made, victim, total // 2)
            made.run_import()
            changed = difference(once, held(made.home))
        note = f"killed when {got} of {total} events were there"
        yield Figure(f"rows that differ after the {victim} was killed half way", changed, "", bar=0, note=note)


@dataclass(frozen=True, slots=True)
class TimedImport:
    """Import to the last event: processor time of command and worker, time by the clock, and output."""

    worked_s: float
    seconds: float
    said: str


def timed_import(made: Product) -> TimedImport:
    before_s = _children_s()
    seconds, said = made.run_import()
    return TimedImport(_children_s() - before_s + _processor_s(made.client.health().pid), seconds, said)


def _children_s() -> float:
    """Processor time of the commands that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _processor_s(pid: int) -> float:
    """Processor time of a process that runs, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _kill_half_way(made: Product, victim: str, half: int) -> int:
    """Start an import and kill one of its processes when half of the events are kept; how many there were."""
    command = made.start_import()
    until = time.monotonic() + _MAX_WAIT_S
    while (kept := _kept(made.home)) < half and command.poll() is None and time.monotonic() < until:
        time.sleep(_LOOK_EVERY_S)
    if command.poll() is not None:
        raise SystemExit("the import was over before it could be killed")
    os.kill(command.pid if victim == "command" else made.client.health().pid, signal.SIGKILL)
    command.communicate()  # it may go on with another worker, or give up
    return kept


def _kept(home: Home) -> int:
    """Events that have arrived: in the spool, or in the inbox."""
    waiting = len(os.listdir(home.spool_new))
    try:
        with closing(open_for_reading(home.inbox_db)) as db:
            return waiting + int(db.execute("select count(*) from inbox").fetchone()[0])
    except sqlite3.OperationalError:  # not made yet
        return waiting


def held(home: Home) -> Tables:
    return {**tables(home.memory_db), **tables(home.inbox_db)}


def difference(one: Tables, other: Tables) -> int:
    """How many rows only one of them has; the tables concerned are named on the terminal."""
    number = 0
    for name in sorted(one.keys() | other.keys()):
        ours, theirs = one.get(name, []), other.get(name, [])
        differing = len(set(map(repr, ours)) ^ set(map(repr, theirs)))
        if differing:
            print(f"  {name}: {differing} rows differ ({len(ours)} and {len(theirs)})")
        number += differing
    return number


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
