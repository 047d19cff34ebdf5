"""Outbox of this device: changed memories become entries of the log, in one transaction a batch.

The policy, the redaction and the removal of local paths run here and never again later: an entry of the log is final.
The worker's job thread calls `fill` and `renumber`; `preview` and `pending` only read."""

import os
import sqlite3
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, memory_queries, retirements, team_heads
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.store.team import Device, LogRow, LogState, Share
from claude_mem_lite.store.team_heads import Head
from claude_mem_lite.team import policy
from claude_mem_lite.team.body import body_of, unknown_fields
from claude_mem_lite.team.entry import MAX_REV, VERSION, Entry, Op, hash_of, uid_of
from claude_mem_lite.team.local_paths import LocalPaths
from claude_mem_lite.team.policy import Code, SharingVerdict
from claude_mem_lite.team.seal import Seal
from claude_mem_lite.values import frozen

MAX_EXAMPLES = 5
IsExcluded = Callable[[str], bool]


@frozen
class PreviewedBody:
    """Memory that would be in the team, with its body exactly as sent (before sealing)."""

    memory: Memory
    body: str
    is_sent: bool
    """True if this very body is in the log already."""


@frozen
class HeldBackGroup:
    """Memories that stay here for one reason."""

    code: Code
    reason: str
    memories: int
    examples: tuple[str, ...]


@frozen
class Preview:
    """Everything that would leave this device."""

    would_send: tuple[PreviewedBody, ...]
    held_back: tuple[HeldBackGroup, ...]
    more: int
    """Number of further memories that would be sent."""


@frozen
class _Considered:
    """Memory with everything that the decision needs."""

    verdict: SharingVerdict
    uid: str
    head: Head | None
    """Head of the uid."""
    share: Share | None
    body: str | None


def pending(db: sqlite3.Connection, limit: int) -> list[Entry]:
    """Return entries that wait for a push, in the order of writing."""
    device = tables.device(db)
    return [_entry(row, device.author) for row in tables.in_log(db, ["pending"], limit)] if device else []


def parked(db: sqlite3.Connection) -> list[tuple[Entry, str]]:
    """Return the entries that the server refused, each with its reason."""
    device = tables.device(db)
    return [(_entry(row, device.author), row.reason) for row in tables.in_log(db, ["parked"])] if device else []


def fill(
    db: sqlite3.Connection,
    *,
    seal: Seal | None,
    is_excluded: IsExcluded,
    limit: int,
    now: datetime,
    user_home: str | None = None,
) -> int:
    """Turn marked memories into entries; return the number of marks taken, 0 if none is left or without a team."""
    with atomic(db):
        device = tables.device(db)
        ids = tables.marked(db, limit) if device else []
        if device is None or not ids:
            return 0
        context = _Context(db, device, is_excluded, user_home or os.path.expanduser("~"))
        for id_ in ids:
            _consider(context, id_, seal, now)
        tables.drop_marks(db, ids)
    return len(ids)


def withdraw(db: sqlite3.Connection, *, project: str | None, now: datetime) -> int:
    """Delete everything of this member from the team, of one project key or of all; the memories stay here. Return the
    number of deletions. Writes inside the caller's transaction."""
    device = tables.device(db)
    heads = team_heads.live_of(db, device.author, project) if device else []
    for head in heads:
        assert device is not None
        _append_delete(db, device, head, now)
    return len(heads)


def requeue_parked(db: sqlite3.Connection) -> int:
    """Let parked entries be sent again, and return their number. Writes inside the caller's transaction.

    They get new numbers at the end of their logs: receivers have passed the old ones."""
    parked_rows = tables.in_log(db, ["parked"])
    for row in parked_rows:
        _move(db, row, row.device, "pending")
    return len(parked_rows)


def requeue_granted(db: sqlite3.Connection, granted: Container[str]) -> int:
    """Let entries be sent again that were refused for want of a grant, if their projects are granted now; return their
    number."""
    with atomic(db):
        rows = [row for row in tables.in_log(db, ["parked"]) if row.reason == "no_grant" and row.project in granted]
        for row in rows:
            _move(db, row, row.device, "pending")
    return len(rows)


def preview(
    db: sqlite3.Connection,
    shares: Sequence[Share],
    *,
    is_excluded: IsExcluded,
    limit: int = 1_000,
    user_home: str | None = None,
) -> Preview:
    """Return what `fill` would send for these projects, shared already or not, and what stays here and why."""
    device = tables.device(db)
    if device is None:
        return Preview((), (), 0)
    context = _Context(db, device, is_excluded, user_home or os.path.expanduser("~"))
    bodies: list[PreviewedBody] = []
    held: dict[Code, list[str]] = {}
    more = 0
    for share in shares:
        for _, memory in memory_queries.all_after(db, 0, share.project):
            found = context.considered(memory, share)
            if found.verdict.code is not None:
                held.setdefault(found.verdict.code, []).append(memory.id)
            elif len(bodies) < limit:
                assert found.body is not None
                bodies.append(PreviewedBody(memory, found.body, _is_sent(db, found.head, found.body)))
            else:
                more += 1
    groups = [
        HeldBackGroup(code, policy.sentence_of(code), len(ids), tuple(ids[:MAX_EXAMPLES])) for code, ids in held.items()
    ]
    return Preview(tuple(bodies), tuple(sorted(groups, key=lambda group: (-group.memories, group.code))), more)


def _is_sent(db: sqlite3.Connection, head: Head | None, body: str) -> bool:
    """Return whether the server has this very body."""
    return head is not None and head.op == "put" and head.body == body and not tables.is_unsent(db, head.key)


def decide_one(db: sqlite3.Connection, memory: Memory, *, is_excluded: IsExcluded) -> SharingVerdict:
    """Return the decision about one memory, as `share ID` shows it."""
    device = tables.device(db)
    if device is None:
        return SharingVerdict("not_shared")
    return _Context(db, device, is_excluded, os.path.expanduser("~")).considered(memory).verdict


def renumber(db: sqlite3.Connection, device: str, token: str, positions: Mapping[tuple[str, str], int]) -> int:
    """Give this home a new device id after a copy or a restore; return the number of entries in the new log.

    Entries without a confirmation move to the new log, and so do confirmed ones behind the last `seq` that the server
    has of the old log (`positions`, by project and device). Uids and revisions stay."""
    with atomic(db):
        old = tables.device(db)
        if old is None:
            return 0
        tables.put_device(db, replace(old, id=device, token=token, next_token=""))
        moved = 0
        for row in (*tables.sent_behind(db, positions), *tables.in_log(db, ["pending", "parked"])):
            _move(db, row, device, "parked" if row.state == "parked" else "pending")
            moved += 1
    return moved


def _move(db: sqlite3.Connection, row: LogRow, device: str, state: LogState) -> None:
    """Move an entry to the end of a log of this home."""
    new = replace(row, device=device, seq=tables.next_seq(db, row.project, device), state=state, reason="")
    tables.remove_from_log(db, row.key)
    tables.append(db, new)
    head = team_heads.find(db, row.uid)
    if head is not None and head.key == row.key:
        team_heads.put(db, replace(head, device=device, seq=new.seq))


def _consider(context: "_Context", id_: str, seal: Seal | None, now: datetime) -> None:
    """Append the entry that a changed memory needs, if any."""
    db, device = context.db, context.device
    memory = memories.find(db, id_)
    if memory is None:
        head = team_heads.of_memory(db, id_, device.author)
        if head is not None and head.op == "put":
            _append_delete(db, device, head, now)
        return
    found = context.considered(memory)
    # A copy of a memory that another device of this member made takes nothing back: a delete would erase the original.
    is_made_here = memory.origin != "team"
    if found.head is not None and found.head.op == "put" and found.verdict.takes_back and is_made_here:
        _append_delete(db, device, found.head, now)
        found = context.considered(memory)  # a memory that moved to another shared project goes there
    head = found.head
    if head is not None and head.state == "parked":
        return  # another device of this member wrote what this version cannot read
    if found.body is not None and (head is None or head.op != "put" or head.body != found.body):
        _append_put(db, device, memory, found, seal, now)


@frozen
class _Context:
    """Database and device of one call."""

    db: sqlite3.Connection
    device: Device
    is_excluded: IsExcluded
    user_home: str

    def considered(self, memory: Memory, planned: Share | None = None) -> _Considered:
        """Decide about a stored memory and make its body; `planned`: as if this project were shared."""
        db, author = self.db, self.device.author
        head = team_heads.of_memory(db, memory.id, author)
        uid = head.uid if head else uid_of(author, memory.id, memory.created_at)
        head = head or team_heads.find(db, uid)
        share = self._share(memory, head) or planned
        retirement = retirements.of(db, [memory.id]).get(memory.id)
        verdict = policy.decide(
            memory,
            tables.choice_of(db, memory.id),
            share,
            retirement.cause if retirement else None,
            is_sent=head is not None and head.op == "put",
            is_excluded=share is not None and self.is_excluded(share.project),
            is_version=team_heads.is_of_other(db, memory.id, author),
        )
        if not verdict.may_go or share is None:
            return _Considered(verdict, uid, head, share, None)
        unknown = unknown_fields(head.body) if head and head.state != "parked" else {}
        body = body_of(memory, verdict.status, self._paths(share.project), unknown)
        return _Considered(verdict if body is not None else SharingVerdict("secret"), uid, head, share, body)

    def _share(self, memory: Memory, head: Head | None) -> Share | None:
        """Return the share of a memory; for a memory in the team, that of its project there."""
        known = tables.shares(self.db)
        if head is not None and head.op == "put":
            return next((share for share in known if share.key == head.project), None)
        return next((share for share in known if share.project == memory.project), None)

    def _paths(self, project: str) -> LocalPaths:
        folders = [*marks.marks(self.db, project, "path"), *marks.marks(self.db, project, "former_path")]
        root = lookup.root_of(self.db, project)
        return LocalPaths(self.user_home, tuple(dict.fromkeys((*folders, root))))


def _append_put(
    db: sqlite3.Connection, device: Device, memory: Memory, found: _Considered, seal: Seal | None, now: datetime
) -> None:
    assert found.body is not None
    assert found.share is not None
    rev = _next_rev(db, found.uid)
    project = found.share.key
    sent = seal.seal(found.body, project, found.uid, rev, "put") if seal else found.body
    _append(db, device, project, found.uid, rev, "put", sent, found.body, memory.id, now)


def _append_delete(db: sqlite3.Connection, device: Device, head: Head, now: datetime) -> None:
    rev = _next_rev(db, head.uid)
    _append(db, device, head.project, head.uid, rev, "delete", None, None, head.memory, now)
    tables.scrub_log(db, head.uid)
    team_heads.scrub(db, head.uid)


def _next_rev(db: sqlite3.Connection, uid: str) -> int:
    """Return the revision of a new entry. Only a forged entry leads to the end of the numbers."""
    return min(team_heads.highest_rev(db, uid) + 1, MAX_REV)


def _append(
    db: sqlite3.Connection,
    device: Device,
    project: str,
    uid: str,
    rev: int,
    op: Op,
    sent: str | None,
    plain: str | None,
    memory: str,
    now: datetime,
) -> None:
    """Append an entry to the log; it is the new head of its memory, and the former head goes to the history."""
    row = LogRow(
        project, device.id, tables.next_seq(db, project, device.id), uid, rev, op, sent, hash_of(sent), now, memory
    )
    tables.append(db, row)
    if (before := team_heads.find(db, uid)) is not None:
        team_heads.add_history(db, before)
    head = Head(
        uid=uid,
        project=project,
        device=device.id,
        seq=row.seq,
        rev=rev,
        op=op,
        hash=row.hash,
        body=plain,
        author=device.author,
        at=now,
        version=VERSION,
        memory=memory,
        state="own" if op == "put" else "deleted",
    )
    team_heads.put(db, head)


def _entry(row: LogRow, author: str) -> Entry:
    return Entry(row.project, row.device, row.seq, row.uid, row.rev, row.op, row.body, row.hash, author, row.at)
