"""Homes of a team without a server: each has a real memory.db, and entries go from one to another by hand."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, team_heads
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.team import Device, Share
from claude_mem_lite.team import outbox, replica
from claude_mem_lite.team.entry import Entry, Op, hash_of, project_key
from claude_mem_lite.team.replica import Applied
from claude_mem_lite.team.seal import Seal
from tests.support.fakes import NOW, SHOP, Store

REMOTE = "example.org/me/shop"
KEY = project_key(REMOTE)
USER_HOME = "/home/ana"
BODY = {
    "kind": "decision",
    "title": "Use pnpm for the shop",
    "summary": "npm installed two versions of react, which broke hooks.",
    "facts": ["react 18 and 19 were both there"],
    "files": ["package.json"],
    "symbols": [],
    "anchors": [],
    "tags": ["build"],
    "branch": "main",
    "commit": "abc",
    "created_at": "2026-02-01T10:00:00.000000+00:00",
    "status": "active",
}


class TeamHome:
    """One home of a member, joined to a team, with the project `SHOP` shared."""

    def __init__(self, store: Store, author: str, device: str, *, seal: Seal | None = None, handoffs: bool = False):
        self.store = store
        self.db = store.db
        self.author = author
        self.seal = seal
        self.excluded: set[str] = set()
        with atomic(self.db):
            tables.put_device(self.db, Device(device, author, "token-0", "", NOW))
            tables.share(self.db, Share(SHOP.project, REMOTE, KEY, handoffs, NOW))

    def fill(self, limit: int = 100) -> int:
        return outbox.fill(
            self.db,
            seal=self.seal,
            is_excluded=self.excluded.__contains__,
            limit=limit,
            now=NOW,
            user_home=USER_HOME,
        )

    def preview(self) -> outbox.Preview:
        return outbox.preview(
            self.db, tables.shares(self.db), is_excluded=self.excluded.__contains__, user_home=USER_HOME
        )

    def push(self) -> list[Entry]:
        """Fill the outbox, and return the entries as a server would have them."""
        self.fill()
        entries = outbox.pending(self.db, 1_000)
        with atomic(self.db):
            tables.mark_sent(self.db, entries)
        return entries

    def receive(self, entries: Sequence[Entry], now: datetime = NOW) -> Applied:
        return replica.apply(self.db, entries, seal=self.seal, now=now)

    def decide(self, title: str, **more: object) -> Memory:
        """Store a decision of the project."""
        summary = f"{title}, since the other way broke the release twice."
        return self.store.remember(title, **{"kind": "decision", "summary": summary, **more})  # type: ignore[arg-type]

    def change(self, memory: Memory, **values: object) -> Memory:
        """Change a stored memory as an edit of the user does."""
        changed = replace(memory, **values)  # type: ignore[arg-type]
        with atomic(self.db):
            memories.rewrite(self.db, changed)
        return changed

    def titles(self) -> list[str]:
        return [row["title"] for row in self.db.execute("select title from memories order by title")]

    def only(self) -> Memory:
        (row,) = self.db.execute("select * from memories").fetchall()
        return memories.from_row(row)

    def states(self) -> list[str]:
        return [row["state"] for row in self.db.execute("select state from team_heads order by uid")]

    def head(self, uid: str) -> team_heads.Head:
        found = team_heads.find(self.db, uid)
        assert found is not None
        return found


@dataclass(slots=True)
class Log:
    """Log of a device that exists only in the test."""

    author: str
    device: str
    seq: int = 0

    def put(self, uid: str = "", rev: int = 1, *, version: int = 1, **body: object) -> Entry:
        return self.raw(json.dumps({**BODY, **body}), uid, rev, version=version)

    def delete(self, uid: str = "", rev: int = 2) -> Entry:
        return self.raw(None, uid, rev, "delete")

    def raw(self, body: str | None, uid: str = "", rev: int = 1, op: Op = "put", *, version: int = 1) -> Entry:
        self.seq += 1
        name = uid or f"{self.author}:1"
        return Entry(KEY, self.device, self.seq, name, rev, op, body, hash_of(body), self.author, NOW, version)


def home_in(folder: Path, author: str, device: str, *, seal: Seal | None = None) -> TeamHome:
    """Open a home in a folder of its own; the caller closes the store."""
    return TeamHome(Store(folder / f"{device}.db"), author, device, seal=seal)
