"""Replica of the team's memories: received entries change the local database, rows and cursors in one transaction.

Of the entries of a uid the greatest `(rev, device)` wins in any order of arrival. A received text is foreign: it never
replaces a memory of this device, and waits in quarantine if it reads like an order. The worker's job thread calls
`apply` and `retry_parked`."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Literal

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import forget
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memories, sessions, team_heads, tombstones
from claude_mem_lite.store import team as tables
from claude_mem_lite.store.team import Device, Share
from claude_mem_lite.store.team_heads import Head, HeadState
from claude_mem_lite.team import received
from claude_mem_lite.team.body import MemoryBody, memory_of, read_body
from claude_mem_lite.team.entry import VERSION, Entry, author_of, is_name
from claude_mem_lite.team.reasons import Reason, TeamError
from claude_mem_lite.team.seal import Seal
from claude_mem_lite.values import frozen

Outcome = Literal["applied", "deleted", "lost", "known", "parked", "duplicate", "forgotten", "edited", "unshared"]
MAX_AHEAD = timedelta(days=30)
"""Maximum by which the clock of a teammate may be ahead."""


@dataclass(slots=True)
class Applied:
    """Numbers of one batch, by outcome of each entry."""

    counts: dict[Outcome, int] = field(default_factory=dict)
    projects: set[str] = field(default_factory=set)
    """Local ids of the projects with changes."""

    @property
    def parked(self) -> int:
        return self.counts.get("parked", 0)

    @property
    def applied(self) -> int:
        """Number of entries that changed this home."""
        return self.counts.get("applied", 0) + self.counts.get("deleted", 0)

    def note(self, outcome: Outcome, project: str = "") -> None:
        """Count the outcome of an entry."""
        self.counts[outcome] = self.counts.get(outcome, 0) + 1
        if project and outcome in ("applied", "deleted"):
            self.projects.add(project)


def apply(db: sqlite3.Connection, entries: Sequence[Entry], *, seal: Seal | None, now: datetime) -> Applied:
    """Apply received entries and move the cursors of their logs. An entry that cannot be applied is parked alone.

    Entries of projects that are not shared here are left out, and their cursors stay. The first attempt has no
    savepoints, because the word index writes a part of its own at each. If an entry fails, all are applied again, one
    by one."""
    try:
        return _apply_all(db, entries, seal, now, is_careful=False)
    except (TeamError, sqlite3.IntegrityError):
        return _apply_all(db, entries, seal, now, is_careful=True)


def _apply_all(
    db: sqlite3.Connection, entries: Sequence[Entry], seal: Seal | None, now: datetime, *, is_careful: bool
) -> Applied:
    applied = Applied()
    with atomic(db):
        device = tables.device(db)
        shares = {share.key: share for share in tables.shares(db)}
        last: dict[tuple[str, str], int] = {}
        for entry in entries:
            share = shares.get(entry.project)
            if device is None or share is None:
                applied.note("unshared")
                continue
            application = _Application(db, device, share, seal, now, is_careful)
            applied.note(application.run(entry), share.project)
            last[entry.project, entry.device] = max(entry.seq, last.get((entry.project, entry.device), 0))
        _finish(db, applied, last, now)
    return applied


def _finish(db: sqlite3.Connection, applied: Applied, last: Mapping[tuple[str, str], int], now: datetime) -> None:
    """Move the cursors of the logs, and name the projects that received memories."""
    for (project, device), seq in last.items():
        tables.put_cursor(db, project, device, seq)
    for project in applied.projects:
        sessions.note_project(db, project, now)


def retry_parked(db: sqlite3.Connection, *, seal: Seal | None, now: datetime) -> Applied:
    """Try to apply the parked entries again, as after an upgrade."""
    applied = Applied()
    with atomic(db):
        device = tables.device(db)
        shares = {share.key: share for share in tables.shares(db)}
        for head in team_heads.parked(db):
            share = shares.get(head.project)
            if device is not None and share is not None:
                applied.note(_Application(db, device, share, seal, now).run(_entry(head)), share.project)
        _finish(db, applied, {}, now)
    return applied


def parked(db: sqlite3.Connection) -> list[tuple[Entry, str]]:
    """Return the received entries that are parked, each with its reason. An entry of the reason `bad_hash` is fetched
    again by project, device and seq, and given to `apply`."""
    return [(_entry(head), head.reason) for head in team_heads.parked(db)]


@frozen
class _Application:
    """Application of one entry, inside the caller's transaction."""

    db: sqlite3.Connection
    device: Device
    share: Share
    seal: Seal | None
    now: datetime
    is_careful: bool = True
    """True to park an entry that fails, False to raise its error in the middle of a transaction."""

    def run(self, entry: Entry) -> Outcome:
        """Apply an entry, or park it with a reason."""
        before = team_heads.find(self.db, entry.uid)
        if before is not None and (outcome := self._outcome_of_order(entry, before)):
            return outcome
        outcome = self._apply_or_park(entry, before) if self.is_careful else self._apply(entry, before)
        if before is not None and before.order() != entry.order():
            self._keep_loser(before)
        return outcome

    def _apply_or_park(self, entry: Entry, before: Head | None) -> Outcome:
        self.db.execute("savepoint team_entry")
        try:
            outcome = self._apply(entry, before)
        except TeamError as error:
            self.db.execute("rollback to team_entry")
            outcome = self._park(entry, before, error.code)
        except sqlite3.IntegrityError:
            self.db.execute("rollback to team_entry")
            outcome = self._park(entry, before, "bad_body")
        self.db.execute("release team_entry")
        return outcome

    def _outcome_of_order(self, entry: Entry, before: Head) -> Outcome | None:
        """Return the outcome of an entry that is not newer than the head; None for a newer one."""
        if entry.order() == before.order():
            return None if before.state == "parked" else "known"
        if entry.order() > before.order():
            return None
        self._keep_loser(_head(entry, self._plain_or_none(entry), "", "deleted"))
        return "lost"

    def _keep_loser(self, loser: Head) -> None:
        """Keep an entry that lost; without its body if the memory is deleted."""
        head = team_heads.find(self.db, loser.uid)
        is_deleted = head is not None and head.op == "delete"
        team_heads.add_history(self.db, replace(loser, body=None) if is_deleted else loser)

    def _apply(self, entry: Entry, before: Head | None) -> Outcome:
        if entry.version > VERSION:
            raise TeamError("newer_version")
        if not entry.is_sound():
            raise TeamError("bad_hash")
        if not is_name(entry.author):
            raise TeamError("bad_body", "its author cannot be a member")
        if entry.author != author_of(entry.uid) or entry.op not in ("put", "delete"):
            raise TeamError("bad_body", "the author of the entry is not the author of the memory")
        if entry.op == "delete":
            return self._delete(entry, before)
        if entry.body is None:
            return self._without_body(entry, before)
        plain = self._plain(entry)
        return self._put(entry, plain, read_body(plain), before)

    def _plain(self, entry: Entry) -> str:
        assert entry.body is not None
        if self.seal is None:
            return entry.body
        return self.seal.open(entry.body, entry.project, entry.uid, entry.rev, entry.op)

    def _plain_or_none(self, entry: Entry) -> str | None:
        """Return the body of a losing entry, as far as it can be read."""
        if entry.body is None or not entry.is_sound():
            return None
        try:
            return self._plain(entry)
        except TeamError:
            return None

    def _park(self, entry: Entry, before: Head | None, reason: Reason) -> Outcome:
        memory = before.memory if before and before.state != "duplicate" else ""
        team_heads.put(self.db, replace(_head(entry, entry.body, memory, "parked"), reason=reason))
        return "parked"

    def _without_body(self, entry: Entry, before: Head | None) -> Outcome:
        """Note a revision whose body was deleted on the server: its delete is on the way."""
        if before is None or before.op == "delete":
            team_heads.put(self.db, _head(entry, None, before.memory if before else "", "deleted"))
        else:
            head = _head(entry, before.body, before.memory, before.state)
            team_heads.put(self.db, replace(head, reason=before.reason))
        return "known"

    def _delete(self, entry: Entry, before: Head | None) -> Outcome:
        local = self._local(entry, before) if before is None or before.op == "put" else None
        is_edited = local is not None and self._is_edited(entry, local)
        state, memory = self._state_after_delete(before, local, is_edited=is_edited)
        team_heads.put(self.db, _head(entry, None, memory, state))
        if local is not None and state == "deleted":
            self._remove(local)
            tables.drop_marks(self.db, [local.id])
        team_heads.scrub(self.db, entry.uid)
        tables.scrub_log(self.db, entry.uid)
        return "deleted"

    def _state_after_delete(
        self, before: Head | None, local: Memory | None, *, is_edited: bool
    ) -> tuple[HeadState, str]:
        """Return state and local memory of a deleted head: nobody brings back what the user forgot here."""
        if before is None:
            return "deleted", ""
        if before.state == "forgotten" or (local is None and self._is_forgotten(before)):
            return "forgotten", before.memory
        if before.state == "edited" or is_edited:
            return "edited", before.memory
        # A memory that its author keeps back on this device stays linked.
        return "deleted", before.memory if before.op == "delete" else ""

    def _remove(self, local: Memory) -> None:
        if received.is_received(local):
            memories.remove(self.db, [local.id], self.now)
        else:
            forget.forget(self.db, [local.id], [], self.now)

    def _put(self, entry: Entry, plain: str, body: MemoryBody, before: Head | None) -> Outcome:
        local = self._local(entry, before)
        if local is None and before is not None and self._is_forgotten(before):
            if self._is_own(entry):
                tables.mark(self.db, [before.memory])  # the outbox deletes the memory from the team again
            return self._keep(entry, plain, before.memory, "forgotten", "forgotten")
        if local is not None:
            return self._update(entry, plain, body, local, before)
        memory = memory_of(body, self._new_id(entry), self.share.project, entry.author)
        if memory.created_at > self.now + MAX_AHEAD:  # a date of the year 9999 would be the newest for ever
            memory = replace(memory, created_at=self.now, last_seen_at=self.now)
        # A member who takes a memory back and shares it again has not forgotten it, though its delete buried it here.
        is_shared_again = self._is_own(entry) and before is not None and before.op == "delete"
        if not is_shared_again and tombstones.repeats_forgotten(self.db, memory):
            return self._keep(entry, plain, "", "forgotten", "forgotten")
        if (known := received.own_duplicate(self.db, memory)) is not None:
            return self._keep(entry, plain, known.id, "duplicate", "duplicate")
        stored = received.store(self.db, memory, self.now)
        tables.drop_marks(self.db, [stored.id])
        return self._keep(entry, plain, stored.id, "applied", "applied")

    def _update(self, entry: Entry, plain: str, body: MemoryBody, local: Memory, before: Head | None) -> Outcome:
        """Apply a revision to its local memory, unless the user has changed this memory here."""
        if self._is_edited(entry, local):
            return self._keep(entry, plain, local.id, "edited", "edited")
        state: HeadState = "applied" if received.is_received(local) else "own"
        if self._is_own(entry) and not received.is_received(local) and self._is_changed_here(local, before):
            # The outbox sends the change of this device as the next revision.
            return self._keep(entry, plain, local.id, state, "known")
        new = memory_of(body, local.id, self.share.project, entry.author)
        received.update(self.db, local, new, self.now)
        tables.drop_marks(self.db, [local.id])
        return self._keep(entry, plain, local.id, state, "applied")

    def _keep(self, entry: Entry, plain: str, memory: str, state: HeadState, outcome: Outcome) -> Outcome:
        body = None if state == "forgotten" else plain
        team_heads.put(self.db, _head(entry, body, memory, state))
        return outcome

    def _local(self, entry: Entry, before: Head | None) -> Memory | None:
        """Return the local memory of an entry: that of its head, or the same memory in a copy of its author's home."""
        if before is not None and before.memory and before.state != "duplicate":
            return memories.find(self.db, before.memory)
        if before is None and self._is_own(entry) and entry.op == "put" and entry.body is not None:
            at = read_body(self._plain(entry)).created_at
            return received.with_uid(self.db, entry.uid, entry.author, at)
        return None

    def _is_changed_here(self, local: Memory, before: Head | None) -> bool:
        """Return whether the outbox has a change of a memory to send; sharing again marks unchanged memories too."""
        if not tables.is_marked(self.db, local.id):
            return False
        if before is None or before.op != "put" or before.body is None:
            return True
        try:
            known = memory_of(read_body(before.body), local.id, self.share.project, before.author)
        except TeamError:
            return True
        return not received.says_the_same(local, known)

    def _is_own(self, entry: Entry) -> bool:
        return entry.author == self.device.author

    def _is_edited(self, entry: Entry, local: Memory) -> bool:
        """Return whether the user of this device has rewritten the memory of a teammate."""
        return not self._is_own(entry) and not received.is_received(local)

    def _is_forgotten(self, head: Head) -> bool:
        """Return whether the user forgot the memory of a head on this device."""
        # A head that its author deleted from elsewhere has no memory any more.
        return head.state == "forgotten" or (head.state != "duplicate" and tombstones.is_buried(self.db, head.memory))

    def _new_id(self, entry: Entry) -> str:
        id_ = received.id_of(entry.uid)
        is_taken = tombstones.is_buried(self.db, id_) or memories.find(self.db, id_) is not None
        return received.id_of(entry.uid, str(entry.rev), entry.device) if is_taken else id_


def _head(entry: Entry, body: str | None, memory: str, state: HeadState) -> Head:
    return Head(
        uid=entry.uid,
        project=entry.project,
        device=entry.device,
        seq=entry.seq,
        rev=entry.rev,
        op=entry.op,
        hash=entry.hash,
        body=body,
        author=entry.author,
        at=entry.at,
        version=entry.version,
        memory=memory,
        state=state,
    )


def _entry(head: Head) -> Entry:
    return Entry(
        head.project,
        head.device,
        head.seq,
        head.uid,
        head.rev,
        head.op,
        head.body,
        head.hash,
        head.author,
        head.at,
        head.version,
    )
