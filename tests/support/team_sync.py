"""Homes of a team that synchronise with a real PostgreSQL server: a home with an address, and the set-up of a team."""

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import TypeVar

from claude_mem_lite.db.connection import atomic, open_for_reading
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories
from claude_mem_lite.store import team as tables
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.members import invite
from claude_mem_lite.team.seal import Seal
from claude_mem_lite.team.sync import SyncCounts, SyncSettings, synchronise
from tests.support.fakes import NOW, FakeEmbedder, Store
from tests.support.postgres import Database
from tests.support.team_homes import KEY, REMOTE, TeamHome

PATIENCE_S = 60.0
MAX_MARKS = 1_000_000
Result = TypeVar("Result")


@dataclass(slots=True)
class LocalFile:
    """Local database of a home, as the synchronisation uses it: readers of their own, one writer."""

    path: Path
    db: sqlite3.Connection

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        return closing(open_for_reading(self.path))

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        return work(self.db)


@dataclass(slots=True)
class SyncedHome:
    """Home of a member with the address of the team; `sync` is one synchronisation."""

    path: Path
    author: str
    device: str
    address: Address
    seal: Seal | None = None
    ids: Iterator[int] = field(default_factory=lambda: count(1))
    now: datetime = NOW
    team: TeamHome = field(init=False)
    embedder: FakeEmbedder = field(default_factory=FakeEmbedder)

    def __post_init__(self) -> None:
        store = Store(self.path)
        known, marked = tables.device(store.db), tables.marked(store.db, MAX_MARKS)
        self.team = TeamHome(store, self.author, self.device, seal=self.seal)
        if known is not None:  # a copied or restored home: neither joined nor shared again
            with atomic(store.db):
                tables.put_device(store.db, known)
                tables.drop_marks(store.db, tables.marked(store.db, MAX_MARKS))
                tables.mark(store.db, marked)

    @property
    def db(self) -> sqlite3.Connection:
        return self.team.db

    def sync(self, local: LocalFile | None = None, *, deadline: Deadline | None = None, **sizes: int) -> SyncCounts:
        settings = SyncSettings(
            embedder=self.embedder,
            clock=lambda: self.now,
            new_id=lambda: f"{self.path.stem}-{next(self.ids)}",
            is_excluded=self.team.excluded.__contains__,
            load_seal=lambda: self.seal,
            **sizes,
        )
        return synchronise(
            local or LocalFile(self.path, self.db), self.address, settings, deadline or Deadline.after(PATIENCE_S)
        )

    def forget(self, memory: str) -> None:
        with atomic(self.db):
            forget.forget(self.db, [memory], [], self.now)

    def edit(self, title: str, summary: str) -> None:
        """Change the summary of a memory, as its user does."""
        self.team.change(self.memory(title), summary=summary, origin="user", made_by="user", author="")

    def memory(self, title: str) -> Memory:
        """Return the memory with a title."""
        row = self.db.execute("select * from memories where title = ?", (title,)).fetchone()
        return memories.from_row(row)

    def states(self) -> list[str]:
        """Return the states of the own log, in the order of writing."""
        return [row["state"] for row in self.db.execute("select state from team_log order by rowid")]

    def this_device(self) -> tables.Device:
        found = tables.device(self.db)
        assert found is not None
        return found

    def copy_to(self, path: Path) -> None:
        """Copy the database, as a copied or restored home folder has it."""
        self.db.execute("pragma wal_checkpoint(truncate)")
        shutil.copy(self.path, path)

    def reopen(self) -> None:
        """Close the database and open it again, as a worker that starts again does."""
        self.db.close()
        store = Store(self.path)
        self.team.store, self.team.db = store, store.db


class Team:
    """Team on a server, with the homes of its members; all share the project `REMOTE`."""

    def __init__(self, folder: Path, database: Database, seal: Seal | None = None) -> None:
        self.folder = folder
        self.database = database
        self.seal = seal
        self.key = seal.project_key(REMOTE) if seal else KEY
        self.homes: list[SyncedHome] = []
        self.addresses: dict[str, Address] = {}
        if seal is not None:
            with database.connect() as connection:
                connection.execute(
                    "update claude_mem_lite.team set is_sealed = true, key_check = %s", (seal.make_check(),)
                )

    def invite(self, name: str, *keys: str) -> Address:
        """Invite a member to projects, the shared one if none is named."""
        with self.database.connect() as connection:
            pairs = [(key, key[:6]) for key in keys or (self.key,)]
            made = invite(connection, name, pairs, self.database.address).address
        if made is not None:
            self.addresses[name] = made
        return self.addresses[name]

    def home(self, author: str, device: str = "", *, seal: Seal | None = None) -> SyncedHome:
        """Open a home of a member, which is invited if new. `seal`: another key than that of the team."""
        address = self.addresses.get(author) or self.invite(author)
        name = device or f"{author}-device"
        return self.adopt(self.folder / f"{name}.db", author, name, address, seal)

    def adopt(
        self, path: Path, author: str, device: str, address: Address | None = None, seal: Seal | None = None
    ) -> SyncedHome:
        """Open the database of a home in a file, copied or new."""
        made = SyncedHome(path, author, device, address or self.addresses[author], seal or self.seal)
        with atomic(made.db):
            made.db.execute("update team_shares set key = ?", (self.key,))
        self.homes.append(made)
        return made

    def entries(self, columns: str = "device, seq, uid, rev, op") -> list[tuple[object, ...]]:
        """Return the entries on the server."""
        return self.database.rows(f"select {columns} from claude_mem_lite.entries order by device, seq")

    def close(self) -> None:
        for home in self.homes:
            home.db.close()


@contextmanager
def team_on(database: Database, folder: Path, seal: Seal | None = None) -> Iterator[Team]:
    """Make a team for as long as the block lasts."""
    made = Team(folder, database, seal)
    try:
        yield made
    finally:
        made.close()
