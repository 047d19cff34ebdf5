"""`python -m tests.faults.storm [PROMPTS [DAMAGE…]]`: hooks of many prompts against a running worker, damage in the
middle, then what every home remembers. Prints a line for each damage; exits 1 when an accepted prompt is lost.

A prompt is accepted when its hook has exited 0. The tests run the same with fewer prompts."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from claude_mem_lite.db import backup_files
from claude_mem_lite.paths import Home
from tests.faults.losses import told
from tests.support.running import (
    HOOK,
    WAIT_S,
    Machine,
    NotThereYet,
    link_interpreters,
    open_machine,
    payload,
    query,
    wait_until,
)

PROMPTS = 240
SAID = "The pears are counted twice"
AWAY = "count the pears while the home is away"
AT_ONCE = 4
_SESSIONS = 6
_DRAINS = 5


@dataclass(slots=True)
class Storm:
    """One run: the machine, older copies of both databases, and the folders that were or are in its home's place."""

    machine: Machine
    copies: Path
    others: list[Home] = field(default_factory=list)
    accepted: set[str] = field(default_factory=set)

    @property
    def home(self) -> Home:
        return self.machine.home

    def other(self) -> Path:
        """A path beside the home, for a folder that is or was in its place."""
        made = Home(self.home.root.with_name(f"home-{len(self.others) + 2}"))
        self.others.append(made)
        return made.root


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a run."""

    accepted: set[str]
    known: Mapping[Path, set[str]]
    """The prompts that each home remembers."""
    printed: Sequence[str]
    """What the commands said on stderr, without the sentences of those that succeeded later."""
    told: str
    """What the user is told of recoveries in the home."""

    @property
    def lost(self) -> set[str]:
        return self.accepted - set().union(*self.known.values())


Damage = Callable[[Storm], None]


# Damages while the worker runs.


def _paths(storm: Storm, name: str) -> Iterator[Path]:
    yield from (storm.home.root / one for one in name.split("+"))


def removed(name: str) -> Damage:
    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            path.unlink(missing_ok=True)

    return damage


def replaced_by_older(name: str) -> Damage:
    """An older copy is renamed into the place of a database."""

    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            fresh = path.with_name(f"{path.name}.from-copy")
            shutil.copy(storm.copies / path.name, fresh)
            fresh.rename(path)

    return damage


def overwritten_by_older(name: str) -> Damage:
    """`cp` writes an older copy into the file that is there."""

    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            shutil.copy(storm.copies / path.name, path)

    return damage


def table_dropped(name: str, table: str) -> Damage:
    """`sqlite3` drops a table by hand."""

    def damage(storm: Storm) -> None:
        with closing(sqlite3.connect(storm.home.root / name, timeout=WAIT_S, isolation_level=None)) as db:
            db.execute(f"drop table {table}")

    return damage


def replaced_by_foreign(storm: Storm) -> None:
    """The memory.db of another home, whose counts are higher, is renamed into the place."""
    fresh = storm.home.root / "from-elsewhere"
    with open_machine() as elsewhere:
        elsewhere.start_worker()
        for number in range(3):
            hook(elsewhere, f"count the pears of tree {number}", number)
        elsewhere.drain()
        backup_files.copy(elsewhere.home.memory_db, fresh)
    with closing(sqlite3.connect(fresh)) as db, db:
        db.execute("update progress set done = done + 10000")
    fresh.rename(storm.home.memory_db)


def replaced_by_folder(name: str) -> Damage:
    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            path.unlink(missing_ok=True)
            path.mkdir()

    return damage


def replaced_by_link(name: str) -> Damage:
    """A link to another database, which is nobody's to write to."""

    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            path.unlink(missing_ok=True)
            path.symlink_to(storm.copies / path.name)

    return damage


def truncated(name: str, keep: float = 0.0) -> Damage:
    def damage(storm: Storm) -> None:
        for path in _paths(storm, name):
            if path.exists():
                with path.open("r+b") as file:
                    file.truncate(int(path.stat().st_size * keep))

    return damage


def journals_put_beside(storm: Storm) -> None:
    """What a database without a log would have beside it, of somebody else and half of it."""
    for path in (storm.home.memory_db, storm.home.inbox_db):
        path.with_name(f"{path.name}-journal").write_bytes(b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7" + b"\xff" * 5000)


def after_kill(damage: Damage) -> Damage:
    """The worker is killed first, with what it wrote last in the logs, and sees nothing of the damage."""

    def damages(storm: Storm) -> None:
        os.kill(storm.machine.worker_pid(), signal.SIGKILL)
        damage(storm)

    return damages


def twice(damage: Damage) -> Damage:
    """The same once more when a worker has recovered from the first time."""

    def damages(storm: Storm) -> None:
        damage(storm)
        drain(storm.machine)
        damage(storm)

    return damages


def home_moved_away(storm: Storm) -> None:
    storm.home.root.rename(storm.other())


def home_swapped_for_empty(storm: Storm) -> None:
    storm.home.root.rename(storm.other())
    storm.home.root.mkdir(mode=0o700)


def home_swapped_for_another(storm: Storm) -> None:
    """Another home, with its own links and memory, takes the place."""
    another = storm.home.root.with_name("another")
    made = Home(another)
    made.make()
    link_interpreters(made)
    storm.home.root.rename(storm.other())
    another.rename(storm.home.root)


def home_swapped_and_back(storm: Storm) -> None:
    first = storm.other()
    storm.home.root.rename(first)
    storm.home.root.mkdir(mode=0o700)
    if hook(storm.machine, AWAY, 0):
        storm.accepted.add(AWAY)
    storm.home.root.rename(storm.other())
    first.rename(storm.home.root)
    storm.others.pop(0)


def link_switched(storm: Storm) -> None:
    """The home is a link to a folder, and then to another one."""
    another = Home(storm.other())
    another.make()
    link_interpreters(another)
    fresh = storm.home.root.with_name("fresh-link")
    fresh.symlink_to(another.root)
    behind = Home(storm.home.root.resolve())
    fresh.rename(storm.home.root)
    storm.others[-1] = behind


def spool_removed(storm: Storm) -> None:
    """What waits in it goes with it; what was taken in does not."""
    drain(storm.machine)
    shutil.rmtree(storm.home.root / "spool")


DAMAGES: Mapping[str, Damage] = {
    "memory removed": removed("memory.db"),
    "memory and logs removed": removed("memory.db+memory.db-wal+memory.db-shm"),
    "memory replaced by an older copy": replaced_by_older("memory.db"),
    "memory replaced by that of another home": replaced_by_foreign,
    "memory overwritten by an older copy": overwritten_by_older("memory.db"),
    "memory replaced by a folder": replaced_by_folder("memory.db"),
    "memory replaced by a link": replaced_by_link("memory.db"),
    "memory truncated": truncated("memory.db"),
    "memory cut in half": truncated("memory.db", 0.5),
    "memory log removed": removed("memory.db-wal"),
    "memory log truncated": truncated("memory.db-wal"),
    "memory log cut in half": truncated("memory.db-wal", 0.5),
    "memory log replaced by a folder": replaced_by_folder("memory.db-wal"),
    "inbox removed": removed("inbox.db"),
    "inbox replaced by an older copy": replaced_by_older("inbox.db"),
    "inbox overwritten by an older copy": overwritten_by_older("inbox.db"),
    "inbox replaced by a folder": replaced_by_folder("inbox.db"),
    "inbox replaced by a link": replaced_by_link("inbox.db"),
    "inbox truncated": truncated("inbox.db"),
    "inbox cut in half": truncated("inbox.db", 0.5),
    "inbox log removed": removed("inbox.db-wal"),
    "inbox log truncated": truncated("inbox.db-wal"),
    "shared memory removed": removed("memory.db-shm+inbox.db-shm"),
    "shared memory truncated": truncated("memory.db-shm+inbox.db-shm"),
    "all logs removed": removed("memory.db-wal+memory.db-shm+inbox.db-wal+inbox.db-shm"),
    "both removed": removed("memory.db+inbox.db"),
    "both replaced by older copies": replaced_by_older("memory.db+inbox.db"),
    "both replaced by folders": replaced_by_folder("memory.db+inbox.db"),
    "memory replaced by an older copy after a kill": after_kill(replaced_by_older("memory.db")),
    "both replaced by older copies after a kill": after_kill(replaced_by_older("memory.db+inbox.db")),
    "both overwritten by older copies": overwritten_by_older("memory.db+inbox.db"),
    "both overwritten by older copies after a kill": after_kill(overwritten_by_older("memory.db+inbox.db")),
    "table of memory dropped": table_dropped("memory.db", "memories"),
    "table of the inbox dropped": table_dropped("inbox.db", "inbox"),
    "journals put beside both": journals_put_beside,
    "memory removed twice": twice(removed("memory.db")),
    "both replaced twice": twice(replaced_by_older("memory.db+inbox.db")),
    "spool removed": spool_removed,
    "home moved away": home_moved_away,
    "home swapped for an empty folder": home_swapped_for_empty,
    "home swapped for another": home_swapped_for_another,
    "home swapped and back": home_swapped_and_back,
    "link switched": link_switched,
}


# The run.


def hook(machine: Machine, prompt: str, number: int) -> bool:
    """One prompt by a real hook, which finds its home by the variable; whether it was accepted."""
    given = payload("UserPromptSubmit", f"s-{number % _SESSIONS}", prompt=prompt)
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(HOOK), "UserPromptSubmit"],
        input=json.dumps(given).encode(),
        stdout=subprocess.DEVNULL,
        env=machine.environment(),
        timeout=WAIT_S,
        check=False,
    )
    return done.returncode == 0


def say(machine: Machine) -> bool:
    """What a person tells by `remember`; whether it says that it is stored."""
    return _command(machine, "remember", SAID).returncode == 0


def send(machine: Machine, numbers: Sequence[int]) -> set[str]:
    """The hooks of many prompts, a few at a time; the accepted ones."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        prompts = {number: f"count the plums of tree {number:03d}" for number in numbers}
        accepted = pool.map(lambda one: hook(machine, prompts[one], one), numbers)
        return {prompts[number] for number, kept in zip(numbers, accepted, strict=True) if kept}


def drain(machine: Machine) -> Sequence[str]:
    """Have all of a home done by `worker drain`, again if it says so; what it said on stderr."""
    printed = []
    for _ in range(_DRAINS):
        ran = _command(machine, "worker", "drain", "--timeout", f"{WAIT_S:g}")
        printed.append(ran.stderr)
        if ran.returncode == 0:
            break
    return printed


def _command(machine: Machine, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*machine.prefix, Path(sys.executable).with_name("claude-mem-lite"), *arguments],
        env=machine.environment(),
        cwd=machine.user_home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=3 * WAIT_S,
        check=False,
    )


def remembered(home: Home) -> set[str]:
    said = f"select title from memories where title = '{SAID}' and times_seen = 1"
    with suppress(sqlite3.Error, NotThereYet):
        prompts = {text for (text,) in query(home.memory_db, "select text from prompts where text <> ''")}
        return prompts | {title for (title,) in query(home.memory_db, said)}
    return set()


def run(damage: Damage, prompts: int, *, by_link: bool = False) -> Outcome:
    """One storm over a fresh home."""
    with open_machine() as machine:
        if by_link:
            behind = machine.home.root.with_name("home-behind")
            machine.home.root.rename(behind)
            machine.home.root.symlink_to(behind)
        storm = Storm(machine, machine.home.root.with_name("copies"))
        try:
            return _run(storm, damage, prompts)
        finally:
            for other in storm.others:
                replace(machine, home=other, view=other, workers=[]).end()


def _run(storm: Storm, damage: Damage, prompts: int) -> Outcome:
    machine = storm.machine
    first, half = prompts // 6, prompts // 2
    machine.start_worker()
    storm.accepted |= send(machine, range(first))
    machine.drain()
    storm.copies.mkdir()
    for path in (storm.home.memory_db, storm.home.inbox_db):
        backup_files.copy(path, storm.copies / path.name)
    if prompts % 4 == 0:  # in every other size of a storm there is a backup
        machine.post("/api/backup", {})
    with ThreadPoolExecutor(1) as pool:
        # Hooks go on while the damage is done.
        begun = pool.submit(send, machine, range(first, prompts))
        wait_until(lambda: _taken_in(storm.home) >= half, "half of the prompts to be in the inbox")
        damage(storm)
        if say(machine):
            storm.accepted.add(SAID)
        storm.accepted |= begun.result()
    homes = [storm.home, *storm.others]
    printed: list[str] = []
    for home in homes:
        printed += drain(replace(machine, home=home, view=home, workers=machine.workers))
    return Outcome(storm.accepted, {home.root: remembered(home) for home in homes}, printed, told(storm.home))


def _taken_in(home: Home) -> int:
    with closing(sqlite3.connect(home.inbox_db, timeout=WAIT_S)) as db:
        return int(db.execute("select count(*) from inbox where event = 'UserPromptSubmit'").fetchone()[0])


def main(arguments: Sequence[str]) -> int:
    prompts = int(arguments[0]) if arguments else PROMPTS
    chosen = arguments[1:] or list(DAMAGES)
    failed = 0
    for name in chosen:
        outcome = run(DAMAGES[name], prompts, by_link=name == "link switched")
        trouble = [line for line in outcome.printed if "Traceback" in line]
        failed += bool(outcome.lost or trouble)
        last = outcome.printed[-1].strip()[-300:]
        print(f"{name}: {len(outcome.accepted)} accepted, {len(outcome.lost)} lost", end="")
        print(f"{', TRACEBACK' if trouble else ''}; told: {outcome.told or '-'} {last}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
