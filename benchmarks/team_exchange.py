"""How fast memories go to a team and come from it: one synchronisation, in this process, with a real PostgreSQL.

The home is a real one; writes go straight to its database, without the hop to the job thread of a worker. Memories are
made up (synthetic.py), all of them decisions of one project."""

import json
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

import psycopg
from psycopg.rows import TupleRow

from benchmarks.synthetic import BATCH, HUGE_PROJECT, NOW, Language, batch, project_id
from claude_mem_lite.db.connection import atomic, open_for_reading, open_for_writing
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, migrate
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.models import Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memories
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.team import Device, Share
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.entry import hash_of, project_key, uid_of
from claude_mem_lite.team.members import invite
from claude_mem_lite.team.sync import SyncCounts, SyncSettings, synchronise

PROJECT = project_id(HUGE_PROJECT)
KEY = project_key(PROJECT)
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LocalHome:
    """Database of a home, written without a worker."""

    path: Path
    db: sqlite3.Connection

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        return closing(open_for_reading(self.path))

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return work(self.db)


@dataclass(slots=True)
class _TimedHome:
    """A home that notes the processor time of its longest write."""

    home: LocalHome
    longest_s: float = 0.0

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        return self.home.read()

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        began = time.thread_time()
        result = self.home.write(work)
        self.longest_s = max(self.longest_s, time.thread_time() - began)
        return result


@dataclass(frozen=True, slots=True)
class Exchanged:
    """Time of one synchronisation."""

    counts: SyncCounts
    seconds: float
    processor_s: float
    """Of this process: without the server, and without waiting for it."""
    longest_write_s: float
    """Longest time of the processor in one write: the job thread of a worker does nothing else meanwhile."""

    @property
    def a_second(self) -> float:
        return (self.counts.pushed + self.counts.pulled) / self.seconds


def decisions(language: Language, number: int) -> Iterator[Memory]:
    """Made-up memories that a policy lets go."""
    for first in range(0, number, BATCH):
        for memory in batch(language, first, min(BATCH, number - first), number)[0]:
            yield replace(
                memory, kind="decision", scope=f"project:{PROJECT}", project=PROJECT, origin="assistant", detail=""
            )


def joined_home(folder: Path, author: str) -> LocalHome:
    """A home that has joined the team and shares the project."""
    home = Home(folder)
    home.make()
    db = open_for_writing(home.memory_db)
    migrate(db, MEMORY_MIGRATIONS, NOW)
    with atomic(db):
        tables.put_device(db, Device(str(uuid.uuid4()), author, str(uuid.uuid4()), "", NOW))
        tables.share(db, Share(PROJECT, PROJECT, KEY, False, NOW))
    return LocalHome(home.memory_db, db)


def remember_all(local: LocalHome, language: Language, number: int) -> None:
    """Store memories as the product does, without a look for duplicates."""
    with atomic(local.db):
        for memory in decisions(language, number):
            memories.put(local.db, memory, f"turn of {memory.id}", memory.created_at)


def exchange(local: LocalHome, address: Address, seconds: float) -> Exchanged:
    """Synchronise once, for at most so many seconds."""
    settings = SyncSettings(StaticTable(), lambda: NOW, lambda: str(uuid.uuid4()), lambda _: False, lambda: None)
    timed = _TimedHome(local)
    began, processor = time.perf_counter(), time.process_time()
    counts = synchronise(timed, address, settings, Deadline.after(seconds))
    return Exchanged(counts, time.perf_counter() - began, time.process_time() - processor, timed.longest_s)


def invited(connection: psycopg.Connection[TupleRow], name: str, address: Address) -> Address:
    """The address of a new member of the project."""
    made = invite(connection, name, [(KEY, "made-up")], address).address
    assert made is not None
    return made


def fill_log(connection: psycopg.Connection[TupleRow], author: str, language: Language, number: int) -> str:
    """Write the log of a device to the server without a client, heads left out; its id. Clients see none of it before
    `show_log`."""
    device = str(uuid.uuid4())
    row = "insert into claude_mem_lite.devices (id, role, token, synchronised_at) values (%s, %s, 'none', now())"
    connection.execute(row, (device, f"cml_{author}"))
    columns = "project, device, seq, uid, rev, op, body, hash, author, at, version"
    with connection.cursor() as cursor, cursor.copy(f"copy claude_mem_lite.entries ({columns}) from stdin") as copy:
        for seq, memory in enumerate(decisions(language, number), 1):
            body = body_text(memory)
            uid = uid_of(author, memory.id, memory.created_at)
            copy.write_row((KEY, device, seq, uid, 1, "put", body, hash_of(body), author, memory.created_at, 1))
    return device


def show_log(connection: psycopg.Connection[TupleRow], device: str, last: int) -> None:
    """Let clients see the log of a device up to an entry."""
    connection.execute(
        """
        insert into claude_mem_lite.logs (project, device, last_seq) values (%s, %s, %s)
        on conflict (project, device) do update set last_seq = excluded.last_seq
        """,
        (KEY, device, last),
    )


def body_text(memory: Memory) -> str:
    """The body of a memory, as `body_of` makes it, without its redaction: that would take most of the time."""
    return json.dumps(
        {
            "kind": memory.kind,
            "title": memory.title,
            "summary": memory.summary,
            "facts": memory.facts,
            "files": memory.files,
            "symbols": [asdict(symbol) for symbol in memory.symbols],
            "anchors": [],
            "tags": [],
            "branch": memory.branch,
            "commit": "",
            "created_at": memory.created_at.isoformat(),
            "status": "active",
        },
        ensure_ascii=False,
        separators=(",", ":"),
    )
