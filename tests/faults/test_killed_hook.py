"""kill -9 of hooks, at any moment of their short life."""

import json
import os
import random
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from claude_mem_lite.paths import Home
from tests.support.running import Json, Machine, payload, spool_name

ROUNDS = 100
BIG = 1_000_000
LOOK_S = 0.0001  # what matters is the moment right after, but the hook needs the processor to get there


@dataclass(slots=True)
class Kept:
    """What killed hooks left on disk: the sessions of whole events, and the files that are pieces of one."""

    whole: set[str] = field(default_factory=set)
    pieces: set[Path] = field(default_factory=set)
    files: set[Path] = field(default_factory=set)

    def look(self, home: Home, session: str, raw: bytes) -> None:
        """Take note of what the hook just killed has left."""
        for path in left_over(home):
            if path not in self.files:
                is_whole = path.read_bytes() == raw
                assert is_whole or path.parent == home.spool_tmp
                (self.whole.add(session) if is_whole else self.pieces.add(path))
                self.files.add(path)


def test_hooks_killed_at_any_moment_leave_whole_events_or_pieces_that_are_told_apart(machine: Machine) -> None:
    machine.home.worker_python.unlink()
    chance = random.Random(3)
    sent = {f"s-{number}": prompt_of(f"s-{number}", chance) for number in range(ROUNDS)}
    kept = Kept()
    for session, raw in sent.items():
        kill_somewhere(machine, raw, chance)
        kept.look(machine.home, session, raw)
    assert kept.whole, "no hook got as far as keeping its event"

    machine.start_worker()
    machine.drain()
    rows = machine.rows()
    good, bad = [row for row in rows if row.status != "error"], [row for row in rows if row.status == "error"]
    assert sorted(row.session for row in good) == sorted(kept.whole)
    assert {row.name for row in bad} == {path.name for path in kept.pieces}
    assert all(row.reason and not row.session for row in bad)
    assert all(row.raw_bytes == len(sent[row.session]) for row in good)
    assert all(json.loads(row.payload)["end"] == "reached" for row in good)
    assert left_over(machine.home) == []


def test_hooks_killed_while_a_worker_takes_in_never_leave_half_an_event(machine: Machine) -> None:
    machine.start_worker()
    chance = random.Random(4)
    sent = {f"s-{number}": prompt_of(f"s-{number}", chance) for number in range(ROUNDS // 2)}
    seen: set[str] = set()
    for raw in sent.values():
        kill_somewhere(machine, raw, chance)
        seen |= {session_of(path) for path in machine.home.spool_new.iterdir()} - {""}

    machine.drain()
    good = [row for row in machine.rows() if row.status != "error"]
    assert seen <= {row.session for row in good}
    assert len({row.session for row in good}) == len(good)
    assert all(row.raw_bytes == len(sent[row.session]) for row in good)
    assert all(json.loads(row.payload)["end"] == "reached" for row in good)
    assert left_over(machine.home) == []


def test_half_a_file_of_a_hook_that_is_gone_ends_in_error_with_a_reason(machine: Machine) -> None:
    whole = json.dumps(payload("Stop")).encode()
    name = spool_name("Stop")
    (machine.home.spool_tmp / name).write_bytes(whole[: len(whole) // 2])
    machine.start_worker()
    machine.drain()
    (row,) = machine.rows()
    assert (row.name, row.status, row.session) == (name, "error", "")
    assert row.reason.startswith("the payload is no JSON")


def test_a_whole_file_of_a_hook_that_is_gone_is_taken_in(machine: Machine) -> None:
    (machine.home.spool_tmp / spool_name("Stop")).write_bytes(json.dumps(payload("Stop", "s-9")).encode())
    machine.start_worker()
    machine.drain()
    assert [(row.session, row.status) for row in machine.rows()] == [("s-9", "done")]


def test_half_a_file_of_a_hook_that_still_runs_is_left_alone(machine: Machine) -> None:
    name = f"{time.time_ns():020d}-{os.getpid()}-00000001-Stop"
    file = machine.home.spool_tmp / name
    file.write_bytes(b'{"session_id":')
    machine.start_worker()
    machine.drain()
    assert machine.rows() == []
    file.write_bytes(json.dumps(payload("Stop", "s-9")).encode())
    file.rename(machine.home.spool_new / name)
    machine.drain()
    assert [(row.session, row.status) for row in machine.rows()] == [("s-9", "done")]


def prompt_of(session: str, chance: random.Random) -> bytes:
    """Small or big, so that some hooks are killed between two writes; its last field tells that it is whole.

    What makes it big is not read as a prompt would be: that would take the worker most of the test."""
    words = "one more line of it\n" * (chance.choice((10, 1000, BIG)) // 20)
    given: Json = payload("UserPromptSubmit", session, prompt="go on", more=words, end="reached")
    return json.dumps(given).encode()


def kill_somewhere(machine: Machine, raw: bytes, chance: random.Random) -> None:
    """Run a hook and kill it while it reads, as soon as it writes, once it has renamed, or after a while."""
    moment = chance.choice(("reading", "writing", "writing", "kept", "any", "any"))
    given = raw[: chance.randrange(len(raw))] if moment == "reading" else raw
    with subprocess.Popen(
        machine.hook_command("UserPromptSubmit"),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=machine.environment(),
    ) as hook:
        assert hook.stdin is not None
        hook.stdin.write(given)
        hook.stdin.flush()
        if moment != "reading":
            hook.stdin.close()
        folder = {"writing": machine.home.spool_tmp, "kept": machine.home.spool_new}.get(moment)
        before = set(os.listdir(folder)) if folder else set()
        deadline = time.monotonic() + (5.0 if folder else chance.random() * 0.03)
        while hook.poll() is None and time.monotonic() < deadline:
            if folder and set(os.listdir(folder)) - before:
                break
            time.sleep(LOOK_S)
        hook.kill()


def session_of(path: Path) -> str:
    try:
        return str(json.loads(path.read_bytes())["session_id"])
    except FileNotFoundError:
        return ""


def left_over(home: Home) -> list[Path]:
    return [*home.spool_tmp.iterdir(), *home.spool_new.iterdir()]
