"""Tables of memories in the team: `team_heads` with the winning entry of each uid, and `team_history` with the losers.

The functions write inside the caller's transaction."""

import sqlite3
from datetime import datetime
from typing import Literal, NamedTuple

from claude_mem_lite.store.team import LogKey, Op
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

HeadState = Literal["own", "applied", "duplicate", "forgotten", "edited", "parked", "deleted"]
"""State of a head on this device:

- own: made on this device, or edited here by its author
- applied: received and stored
- duplicate: received, and equal to a memory of this device
- forgotten: received, and forgotten by the user of this device for good
- edited: received from a teammate, and rewritten by the user of this device
- parked: received, and not applied for a reason
- deleted: deleted by its author"""
_COLUMNS = "uid, project, device, seq, rev, op, hash, body, author, at, version, memory, state, reason"
_IS_STORED = "exists (select 1 from memories where memories.id = team_heads.memory)"


@frozen
class Head:
    """Winning entry of one memory of the team. `body` is plain text; for a parked head, the text as received."""

    uid: str
    project: str
    device: str
    seq: int
    rev: int
    op: Op
    hash: str
    body: str | None
    author: str
    at: datetime
    version: int
    memory: str
    """Id of the local memory; '' without one."""
    state: HeadState
    reason: str = ""

    def order(self) -> tuple[int, str]:
        """Return the key of the order among entries of one uid."""
        return self.rev, self.device

    @property
    def key(self) -> LogKey:
        return LogKey(self.project, self.device, self.seq)


class AuthorCount(NamedTuple):
    """Teammate with the number of stored memories and the time of the last one."""

    author: str
    memories: int
    last_at: datetime


def find(db: sqlite3.Connection, uid: str) -> Head | None:
    """Return the head of a uid."""
    row = db.execute(f"select {_COLUMNS} from team_heads where uid = ?", (uid,)).fetchone()
    return _head(row) if row else None


def of_memory(db: sqlite3.Connection, memory: str, author: str) -> Head | None:
    """Return the head of a local memory that belongs to an author; duplicates do not count."""
    row = db.execute(
        f"""select {_COLUMNS} from team_heads where memory = :memory and author = :author and state <> 'duplicate'
            order by rev desc, uid limit 1""",
        {"memory": memory, "author": author},
    ).fetchone()
    return _head(row) if row else None


def is_of_other(db: sqlite3.Connection, memory: str, author: str) -> bool:
    """Return whether a local memory came from another author."""
    rows = db.execute(
        "select 1 from team_heads where memory = :memory and author <> :author and state <> 'duplicate' limit 1",
        {"memory": memory, "author": author},
    )
    return rows.fetchone() is not None


def put(db: sqlite3.Connection, head: Head) -> None:
    """Store a head, replacing an earlier one of the uid."""
    marks = ", ".join(f":{name}" for name in _COLUMNS.split(", "))
    values = {name: getattr(head, name) for name in _COLUMNS.split(", ")} | {"at": time_to_text(head.at)}
    db.execute(f"insert or replace into team_heads ({_COLUMNS}) values ({marks})", values)


def parked(db: sqlite3.Connection) -> list[Head]:
    """Return the received entries that wait for a repair."""
    rows = db.execute(f"select {_COLUMNS} from team_heads where state = 'parked' order by uid")
    return [_head(row) for row in rows]


def live_of(db: sqlite3.Connection, author: str, project: str | None) -> list[Head]:
    """Return the heads in the team that an author made on this device, of one project key or of all."""
    rows = db.execute(
        f"""select {_COLUMNS} from team_heads where author = :author and op = 'put' and state = 'own'
              and (:project is null or project = :project) order by uid""",
        {"author": author, "project": project},
    )
    return [_head(row) for row in rows]


def received(db: sqlite3.Connection, project: str | None = None) -> list[Head]:
    """Return the received heads with a memory here that the user has not rewritten."""
    rows = db.execute(
        f"""select {_COLUMNS} from team_heads where state = 'applied' and (:project is null or project = :project)
            order by uid""",
        {"project": project},
    )
    return [_head(row) for row in rows]


def authors(db: sqlite3.Connection) -> list[AuthorCount]:
    """Return the authors of the received memories that are stored here."""
    rows = db.execute(
        f"""select author, count(*) as number, max(at) as last_at from team_heads
            where state = 'applied' and {_IS_STORED} group by author order by author"""
    )
    return [AuthorCount(row["author"], int(row["number"]), text_to_time(row["last_at"])) for row in rows]


def highest_rev(db: sqlite3.Connection, uid: str) -> int:
    """Return the highest revision that this device knows of a uid; 0 for an unknown uid."""
    (rev,) = db.execute(
        """select max(rev) from (
             select rev from team_heads where uid = :uid
             union all select rev from team_log where uid = :uid
             union all select rev from team_history where uid = :uid
             union all select 0)""",
        {"uid": uid},
    ).fetchone()
    return int(rev)


def add_history(db: sqlite3.Connection, loser: Head) -> None:
    """Keep an entry that lost; the same entry is kept once."""
    db.execute(
        """insert or ignore into team_history (project, device, seq, uid, rev, op, body, author, at)
           values (:project, :device, :seq, :uid, :rev, :op, :body, :author, :at)""",
        {
            "project": loser.project,
            "device": loser.device,
            "seq": loser.seq,
            "uid": loser.uid,
            "rev": loser.rev,
            "op": loser.op,
            "body": loser.body,
            "author": loser.author,
            "at": time_to_text(loser.at),
        },
    )


def scrub(db: sqlite3.Connection, uid: str) -> None:
    """Remove the bodies of a deleted memory from its head and its history."""
    db.execute("update team_heads set body = null where uid = ?", (uid,))
    db.execute("update team_history set body = null where uid = ?", (uid,))


def clear(db: sqlite3.Connection) -> None:
    """Empty all tables of the team, as after leaving it. Choices of the user stay."""
    for table in ("device", "shares", "dirty", "log", "cursors", "heads", "history"):
        db.execute(f"delete from team_{table}")


def clear_received(db: sqlite3.Connection, project: str) -> None:
    """Remove the heads and the history of received memories of a project, as after its sharing ended."""
    is_of_other = "project = :project and author <> (select author from team_device)"
    db.execute(f"delete from team_history where {is_of_other}", {"project": project})
    # Also what another device of this member made: without its memory here, the outbox would delete it everywhere.
    is_received = f"({is_of_other}) or (project = :project and state = 'applied')"
    db.execute(f"delete from team_heads where {is_received}", {"project": project})


def keep_apart(db: sqlite3.Connection, source: str, target: str) -> None:
    """Before a merge of a shared project with another one, keep the other one's memories back: nobody asked to send
    them. A choice of the user stays."""
    db.execute(
        """insert or ignore into team_choices (memory, choice)
           select id, 'keep' from memories where project in (:source, :target)
             and exists (select 1 from team_shares where project in (:source, :target))
             and project not in (select project from team_shares)""",
        {"source": source, "target": target},
    )


def counts_by_project(db: sqlite3.Connection) -> dict[str, tuple[int, int]]:
    """Return the numbers of sent memories, and of received ones that are stored here, by project key."""
    rows = db.execute(
        f"""select project, sum(state = 'applied' and {_IS_STORED}) as received,
              sum(state = 'own' and op = 'put' and not exists (
                select 1 from team_log where team_log.project = team_heads.project
                  and team_log.device = team_heads.device and team_log.seq = team_heads.seq and team_log.state <> 'sent'
              )) as sent
            from team_heads group by project"""
    )
    return {row["project"]: (int(row["sent"]), int(row["received"])) for row in rows}


def _head(row: sqlite3.Row) -> Head:
    return Head(
        row["uid"],
        row["project"],
        row["device"],
        row["seq"],
        row["rev"],
        row["op"],
        row["hash"],
        row["body"],
        row["author"],
        text_to_time(row["at"]),
        row["version"],
        row["memory"],
        row["state"],
        row["reason"],
    )
