"""One synchronisation of a device with its team: pull, fill the outbox, push. Runs in a thread of its own.

Only `Local.write` changes the local database, in the job thread of the worker, in short pieces."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.providers import Embedder
from claude_mem_lite.store import team as tables
from claude_mem_lite.team import outbox, replica
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.body import words_of_body
from claude_mem_lite.team.entry import VERSION, Entry
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.seal import Seal
from claude_mem_lite.team.server import Greeting, OutgoingEntry, TeamServer
from claude_mem_lite.values import frozen

MAX_ATTEMPTS_AS_CLONE = 2
Result = TypeVar("Result")
log = logging.getLogger(__name__)


class Local(Protocol):
    """Local database, as the synchronisation uses it."""

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        """Return a connection for reading."""

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run a write in the job thread and wait for its result."""


@frozen
class SyncSettings:
    """Sizes of the pieces of a synchronisation, and what it needs from outside."""

    embedder: Embedder
    clock: Callable[[], datetime]
    new_id: Callable[[], str]
    """Makes random ids for devices and tokens."""
    is_excluded: Callable[[str], bool]
    """Tells whether nothing of a project, by its local id, may leave or arrive."""
    load_seal: Callable[[], Seal | None]
    fill_batch: int = 100
    push_batch: int = 500
    fetch_batch: int = 500
    apply_batch: int = 50
    """Entries that one write applies: the job thread does nothing else meanwhile, for about 2 ms an entry on a busy
    machine."""


@dataclass(slots=True)
class SyncCounts:
    """Numbers of one synchronisation."""

    pushed: int = 0
    rejected: int = 0
    pulled: int = 0
    parked: int = 0
    projects: set[str] = field(default_factory=set)
    """Local projects with received changes."""
    is_whole: bool = True
    """False if the deadline ended the synchronisation before everything was done."""

    def has_work(self) -> bool:
        """Return whether anything was sent or received."""
        return bool(self.pushed or self.rejected or self.pulled or self.parked or not self.is_whole)


def synchronise(local: Local, address: Address, settings: SyncSettings, deadline: Deadline) -> SyncCounts:
    """Exchange entries with the server until nothing is left or the deadline is over. TeamError: nothing more can be
    done now; whatever was exchanged before stays."""
    counts = SyncCounts()
    with TeamServer.connect(address, deadline) as server:
        greeting = server.greeting()
        with local.read() as db:
            refuse_other_team(greeting, tables.device(db))
        round_ = _Round(local, server, settings, open_seal(greeting, settings.load_seal), greeting, deadline, counts)
        round_.prepare_device()
        round_.pull()  # first: a new revision must be higher than all known ones
        round_.fill_outbox()
        round_.push()
    return counts


def refuse_other_team(greeting: Greeting, device: tables.Device | None) -> None:
    """Raise TeamError `other_team` if this home has joined another team: what it shares is not for the team there."""
    if device is not None and device.team and device.team != greeting.team:
        raise TeamError("other_team")


def open_seal(greeting: Greeting, load_seal: Callable[[], Seal | None]) -> Seal | None:
    """Return the seal of a sealed team, checked against the value on the server; None for an open team.

    A home with a team key sends nothing to a team that says it is not sealed: whoever runs the database could say so to
    read the memories."""
    if greeting.min_version > VERSION:
        raise TeamError("newer_schema")
    seal = load_seal()
    if not greeting.is_sealed:
        if seal is not None:
            raise TeamError("wrong_key", "this home has a team key, and the database says that the team is not sealed")
        return None
    if seal is None:
        raise TeamError("no_key")
    if not seal.opens_check(greeting.key_check or b""):
        raise TeamError("wrong_key")
    return seal


def vector_of(embedder: Embedder, text: str) -> list[float] | None:
    """Return the vector of a text for the server; None for a text without a known word."""
    (vector,) = embedder.embed([text])
    numbers = [float(number) for number in memoryview(vector).cast("b")]
    return numbers if any(numbers) else None


@frozen
class _Round:
    """One synchronisation, step by step."""

    local: Local
    server: TeamServer
    settings: SyncSettings
    seal: Seal | None
    greeting: Greeting
    deadline: Deadline
    counts: SyncCounts

    def prepare_device(self) -> None:
        """Register this device on the server, at the first synchronisation. A copied or restored home gets a new id:
        then the log of the old id is pulled like that of any other device."""
        device = self._device()
        known = self.server.token_of(device.id)
        if known is None:
            self.server.register_device(device.id, device.token)
        elif known not in (device.token, device.next_token):
            self._take_new_id()

    def fill_outbox(self) -> None:
        """Turn changed memories into entries of the local log."""
        while self._has_time():
            taken = self.local.write(
                lambda db: outbox.fill(
                    db,
                    seal=self.seal,
                    is_excluded=self.settings.is_excluded,
                    limit=self.settings.fill_batch,
                    now=self.settings.clock(),
                )
            )
            if not taken:
                return

    def push(self) -> None:
        """Send the pending entries of the local log, with those that have waited for a grant."""
        with self.local.read() as db:
            is_waiting = any(reason == "no_grant" for _, reason in outbox.parked(db))
        if is_waiting:
            self.local.write(partial(outbox.requeue_granted, granted=self.greeting.projects))
        attempts = 0
        while self._has_time():
            with self.local.read() as db:
                pending = outbox.pending(db, self.settings.push_batch)
            if not pending:
                return
            try:
                self._push(pending)
            except TeamError as error:
                attempts += 1
                if error.code != "cloned" or attempts > MAX_ATTEMPTS_AS_CLONE:
                    raise
                self._take_new_id()

    def _push(self, entries: Sequence[Entry]) -> None:
        proposed = self.settings.new_id()
        # First: after a lost acknowledgement the server has the next token, and this device must know it.
        device = _joined(self.local.write(lambda db: tables.put_next_token(db, proposed)))
        outgoing = [self._outgoing(entry) for entry in entries]
        result = self.server.push(outgoing, device.id, device.token, device.next_token)
        self.local.write(lambda db: tables.note_pushed(db, device.next_token, result.sent, result.rejected))
        self.counts.pushed += len(result.sent)
        self.counts.rejected += len(result.rejected)

    def _outgoing(self, entry: Entry) -> OutgoingEntry:
        if self.seal is not None or entry.body is None:
            return OutgoingEntry(entry)
        words = _words_of(entry.body)
        return OutgoingEntry(entry, words, self._vector_of(words) if self.greeting.has_vectors else None)

    def _vector_of(self, words: str) -> list[float] | None:
        try:
            return vector_of(self.settings.embedder, words)
        except Exception:  # whatever is wrong with the embedder or the text, the entry goes without a vector
            log.exception("an entry goes to the team without a vector")
            return None

    def _take_new_id(self) -> None:
        """Give this home a device id of its own: another home used the present one."""
        device, token = self.settings.new_id(), self.settings.new_id()
        positions = self.server.positions()
        self.local.write(lambda db: outbox.renumber(db, device, token, positions))
        self.server.register_device(device, token)

    def pull(self) -> None:
        """Fetch and apply the entries of all other devices."""
        own = self._device().id
        with self.local.read() as db:
            cursors, shares = tables.cursors(db), tables.shares(db)
        shared = {share.key for share in shares if not self.settings.is_excluded(share.project)}
        for (project, device), last in sorted(self.server.positions().items()):
            if device != own and project in shared:
                self._pull_log(project, device, cursors.get((project, device), 0), last)

    def _pull_log(self, project: str, device: str, after: int, last: int) -> None:
        while after < last and self._has_time():
            entries = self.server.fetch(project, device, after, self.settings.fetch_batch)
            if not entries:
                return
            for begin in range(0, len(entries), self.settings.apply_batch):
                self._apply(entries[begin : begin + self.settings.apply_batch])
            after = entries[-1].seq

    def _apply(self, entries: Sequence[Entry]) -> None:
        now = self.settings.clock()
        applied = self.local.write(partial(replica.apply, entries=entries, seal=self.seal, now=now))
        self.counts.pulled += len(entries)
        self.counts.parked += applied.parked
        self.counts.projects |= applied.projects

    def _device(self) -> tables.Device:
        with self.local.read() as db:
            device = tables.device(db)
        return _joined(device)

    def _has_time(self) -> bool:
        if self.deadline.left_s() > 0:
            return True
        self.counts.is_whole = False
        return False


def _words_of(body: str) -> str:
    """Return the words of a body in the log; none for one that an older version wrote and this one cannot read."""
    try:
        return words_of_body(body)
    except TeamError:
        return ""


def _joined(device: tables.Device | None) -> tables.Device:
    if device is None:
        raise TeamError("login", "this home has not joined the team")
    return device
