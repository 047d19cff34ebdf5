"""Tables of a device in a team: `team_device`, `team_shares`, `team_choices`, `team_dirty`, `team_log` and
`team_cursors`. `team_heads` has the tables of memories in the team.

The functions write inside the caller's transaction; those about tokens and pushes have their own."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

Choice = Literal["share", "keep"]
Op = Literal["put", "delete"]
LogState = Literal["pending", "sent", "parked"]


@frozen
class Device:
    """This home in the team."""

    id: str
    author: str
    token: str
    """Token that the server confirmed last."""
    next_token: str
    """Token of a push without a confirmation: the server has this one or `token`. '' if the last push was confirmed."""
    joined_at: datetime
    team: str = ""
    """Id of the team; '' if not known."""


@frozen
class Share:
    """Project that the user shares from this device."""

    project: str
    """Local id."""
    remote: str
    key: str
    handoffs: bool
    """True if open work is shared too."""
    shared_at: datetime


class LogKey(NamedTuple):
    """Place of an entry in the logs of the team."""

    project: str
    device: str
    seq: int


class PushedEntry(Protocol):
    """Entry of this device, by its place."""

    @property
    def project(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def seq(self) -> int: ...


class Rejection(Protocol):
    """Entry that the server refused, with a reason code."""

    @property
    def entry(self) -> PushedEntry: ...
    @property
    def reason(self) -> str: ...


@frozen
class LogRow:
    """Entry of the log of this device; `body` is the text exactly as sent."""

    project: str
    device: str
    seq: int
    uid: str
    rev: int
    op: Op
    body: str | None
    hash: str
    at: datetime
    memory: str
    state: LogState = "pending"
    reason: str = ""

    @property
    def key(self) -> LogKey:
        return LogKey(self.project, self.device, self.seq)


def device(db: sqlite3.Connection) -> Device | None:
    """Return this device; None outside of a team."""
    row = db.execute("select id, author, token, next_token, joined_at, team from team_device").fetchone()
    if row is None:
        return None
    joined_at = text_to_time(row["joined_at"])
    return Device(row["id"], row["author"], row["token"], row["next_token"], joined_at, row["team"])


def put_device(db: sqlite3.Connection, joined: Device) -> None:
    """Store this device, replacing an earlier one."""
    db.execute(
        """insert or replace into team_device (one, id, author, token, next_token, joined_at, team)
           values (1, :id, :author, :token, :next_token, :joined_at, :team)""",
        {
            "id": joined.id,
            "author": joined.author,
            "token": joined.token,
            "next_token": joined.next_token,
            "joined_at": time_to_text(joined.joined_at),
            "team": joined.team,
        },
    )


def put_next_token(db: sqlite3.Connection, proposed: str) -> Device | None:
    """Store the token of the next push and return the device: the push names its `token` and its `next_token`.

    After a push without a confirmation its token stays the next one: the server may have it already."""
    with atomic(db):
        db.execute("update team_device set next_token = :proposed where next_token = ''", {"proposed": proposed})
    return device(db)


def note_pushed(
    db: sqlite3.Connection, confirmed: str, sent: Iterable[PushedEntry], rejected: Iterable[Rejection]
) -> None:
    """Record a confirmed push: its token, the entries that the server has, and those that it refused."""
    with atomic(db):
        db.execute("update team_device set token = :token, next_token = ''", {"token": confirmed})
        mark_sent(db, sent)
        for rejection in rejected:
            mark_parked(db, rejection.entry, rejection.reason)


def share(db: sqlite3.Connection, shared: Share) -> int:
    """Share a project; return the number of its memories, which the outbox considers next."""
    db.execute(
        """insert or replace into team_shares (project, remote, key, handoffs, shared_at)
           values (:project, :remote, :key, :handoffs, :at)""",
        {
            "project": shared.project,
            "remote": shared.remote,
            "key": shared.key,
            "handoffs": shared.handoffs,
            "at": time_to_text(shared.shared_at),
        },
    )
    return mark_project(db, shared.project)


def unshare(db: sqlite3.Connection, project: str) -> bool:
    """Stop sharing a project; sent memories stay in the team. Return False for a project that was not shared."""
    return bool(db.execute("delete from team_shares where project = ?", (project,)).rowcount)


def shares(db: sqlite3.Connection) -> list[Share]:
    """Return all shared projects."""
    rows = db.execute("select * from team_shares order by project")
    return [
        Share(row["project"], row["remote"], row["key"], bool(row["handoffs"]), text_to_time(row["shared_at"]))
        for row in rows
    ]


def shared_keys(db: sqlite3.Connection) -> frozenset[str]:
    """Return the keys of all shared projects."""
    return frozenset(shared.key for shared in shares(db))


def choose(db: sqlite3.Connection, memory: str, choice: Choice | None) -> None:
    """Record the user's choice about one memory; None takes the choice back."""
    if choice is None:
        db.execute("delete from team_choices where memory = ?", (memory,))
    else:
        db.execute("insert or replace into team_choices (memory, choice) values (?, ?)", (memory, choice))
    mark(db, [memory])


def choice_of(db: sqlite3.Connection, memory: str) -> Choice | None:
    """Return the user's choice about one memory."""
    row = db.execute("select choice from team_choices where memory = ?", (memory,)).fetchone()
    return row["choice"] if row else None


def has_marks(db: sqlite3.Connection) -> bool:
    """Return whether the outbox has changed memories to consider."""
    return db.execute("select 1 from team_dirty limit 1").fetchone() is not None


def mark(db: sqlite3.Connection, memories: Iterable[str]) -> None:
    """Mark memories as changed."""
    db.executemany("insert or ignore into team_dirty (memory) values (?)", [(id_,) for id_ in memories])


def mark_project(db: sqlite3.Connection, project: str) -> int:
    """Mark all memories of a project, as after its sharing; return their number."""
    return db.execute(
        """insert or replace into team_dirty (memory)
           select id from memories where project = :project or scope = 'project:' || :project""",
        {"project": project},
    ).rowcount


def is_marked(db: sqlite3.Connection, memory: str) -> bool:
    """Return whether a memory has a change that the outbox has not considered."""
    return db.execute("select 1 from team_dirty where memory = ?", (memory,)).fetchone() is not None


def marked(db: sqlite3.Connection, limit: int) -> list[str]:
    """Return marked memories, the first marked first."""
    rows = db.execute("select memory from team_dirty order by rowid limit ?", (limit,))
    return [row["memory"] for row in rows]


def drop_marks(db: sqlite3.Connection, memories: Sequence[str]) -> None:
    """Remove the marks of memories that were considered."""
    db.executemany("delete from team_dirty where memory = ?", [(id_,) for id_ in memories])


def append(db: sqlite3.Connection, row: LogRow) -> None:
    """Append an entry to the log of this device."""
    db.execute(
        """insert into team_log (project, device, seq, uid, rev, op, body, hash, at, memory, state, reason)
           values (:project, :device, :seq, :uid, :rev, :op, :body, :hash, :at, :memory, :state, :reason)""",
        {
            "project": row.project,
            "device": row.device,
            "seq": row.seq,
            "uid": row.uid,
            "rev": row.rev,
            "op": row.op,
            "body": row.body,
            "hash": row.hash,
            "at": time_to_text(row.at),
            "memory": row.memory,
            "state": row.state,
            "reason": row.reason,
        },
    )


def next_seq(db: sqlite3.Connection, project: str, device_id: str) -> int:
    """Return the number of the next entry in a log of this device."""
    (last,) = db.execute(
        "select coalesce(max(seq), 0) from team_log where project = :project and device = :device",
        {"project": project, "device": device_id},
    ).fetchone()
    return int(last) + 1


def in_log(db: sqlite3.Connection, states: Sequence[LogState], limit: int | None = None) -> list[LogRow]:
    """Return entries of this device in these states, in the order of writing."""
    rows = db.execute(
        """select * from team_log where state in (select value from json_each(:states))
           order by rowid limit :limit""",
        {"states": json.dumps(list(states)), "limit": -1 if limit is None else limit},
    )
    return [_log_row(row) for row in rows]


def sent_behind(db: sqlite3.Connection, positions: Mapping[tuple[str, str], int]) -> list[LogRow]:
    """Return the confirmed entries behind the last number that the server has of their log."""
    logs = db.execute("select distinct project, device from team_log").fetchall()
    found: list[LogRow] = []
    for project, device_id in (tuple(log) for log in logs):
        rows = db.execute(
            """select * from team_log where project = :project and device = :device and seq > :seq and state = 'sent'
               order by seq""",
            {"project": project, "device": device_id, "seq": positions.get((project, device_id), 0)},
        )
        found += [_log_row(row) for row in rows]
    return found


def is_unsent(db: sqlite3.Connection, key: LogKey) -> bool:
    """Return whether an entry of this device is not on the server yet."""
    row = db.execute(
        """select 1 from team_log where project = :project and device = :device and seq = :seq and state <> 'sent'""",
        key._asdict(),
    ).fetchone()
    return row is not None


def mark_sent(db: sqlite3.Connection, entries: Iterable[PushedEntry]) -> None:
    """Record that the server has these entries."""
    db.executemany(
        "update team_log set state = 'sent', reason = '' where project = ? and device = ? and seq = ?",
        [(entry.project, entry.device, entry.seq) for entry in entries],
    )


def mark_parked(db: sqlite3.Connection, entry: PushedEntry, reason: str) -> None:
    """Park an entry that the server refused."""
    db.execute(
        """update team_log set state = 'parked', reason = :reason
           where project = :project and device = :device and seq = :seq""",
        {"project": entry.project, "device": entry.device, "seq": entry.seq, "reason": reason},
    )


def count_waiting(db: sqlite3.Connection) -> int:
    """Return the number of changes that are not on the server yet."""
    (number,) = db.execute(
        "select (select count(*) from team_dirty) + (select count(*) from team_log where state = 'pending')"
    ).fetchone()
    return int(number)


def remove_from_log(db: sqlite3.Connection, key: LogKey) -> None:
    """Remove an entry that moves to another log."""
    db.execute("delete from team_log where project = ? and device = ? and seq = ?", tuple(key))


def scrub_log(db: sqlite3.Connection, uid: str) -> None:
    """Remove the bodies of all entries of a memory."""
    db.execute("update team_log set body = null where uid = ?", (uid,))


def cursors(db: sqlite3.Connection) -> dict[tuple[str, str], int]:
    """Return the number of the last received entry of each log, by project and device."""
    rows = db.execute("select project, device, seq from team_cursors")
    return {(row["project"], row["device"]): int(row["seq"]) for row in rows}


def put_cursor(db: sqlite3.Connection, project: str, device_id: str, seq: int) -> None:
    """Move the cursor of a log forward; a cursor never moves back."""
    db.execute(
        """insert into team_cursors (project, device, seq) values (:project, :device, :seq)
           on conflict (project, device) do update set seq = max(seq, excluded.seq)""",
        {"project": project, "device": device_id, "seq": seq},
    )


def drop_cursors(db: sqlite3.Connection, project: str) -> None:
    """Forget how far the logs of a project were received, as after its sharing ended."""
    db.execute("delete from team_cursors where project = ?", (project,))


def _log_row(row: sqlite3.Row) -> LogRow:
    return LogRow(
        row["project"],
        row["device"],
        row["seq"],
        row["uid"],
        row["rev"],
        row["op"],
        row["body"],
        row["hash"],
        text_to_time(row["at"]),
        row["memory"],
        row["state"],
        row["reason"],
    )
