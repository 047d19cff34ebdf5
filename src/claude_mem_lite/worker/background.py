"""Background steps of the job loop, in the order in which they run after each pass. No caller waits for a step.

Among them is maintenance: trim inbox, receipts and journal, close silent sessions, return memory to the system."""

import ctypes
import gc
import logging
import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol

from claude_mem_lite.code.freshness.time_budget import ScanThrottle
from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.inbox.journal import Journal
from claude_mem_lite.inbox.queue import QUIET_TURN_S, Queue
from claude_mem_lite.store import receipts, sessions
from claude_mem_lite.store.experiment import outcomes as session_outcomes
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.services import Services

if TYPE_CHECKING:
    from claude_mem_lite.worker.guards.jobs import GuardJobs
    from claude_mem_lite.worker.guards.replays import GuardReplays

KEEP_RECEIPTS_DAYS = 180
MANY_BATCHES = 10
"""Batches of indexing that leave enough freed memory to give it back: 25 MB after 500."""
log = logging.getLogger(__name__)


def tidy(queue: Queue, db: sqlite3.Connection, now: datetime, backed_up: int | None = None) -> None:
    """Trim the receipts, and the inbox as far as memory.db is backed up; mark sessions without an event for a day as
    interrupted."""
    quiet_since = now - timedelta(seconds=QUIET_TURN_S)
    for session in sessions.quiet(db, quiet_since):
        from claude_mem_lite.knowledge import outcomes  # late: see `worker/loading.py`

        # First: after a crash the session is still open, and its events, needed for judging, are in the inbox.
        outcomes.judge(db, queue, session)
    for session in session_outcomes.without(db, quiet_since):
        from claude_mem_lite.experiment.session_outcomes import judge  # late: see `worker/loading.py`

        judge(db, queue, session)
    with atomic(db):
        interrupted = sessions.interrupt_quiet(db, quiet_since)
        dropped = receipts.trim(db, now - timedelta(days=KEEP_RECEIPTS_DAYS))
    trimmed = queue.trim(now.timestamp(), backed_up)
    # Forgotten text leaves the logs of the databases now, if a reader prevented that before.
    queue.empty_log(wait_s=0)
    empty_log(db, wait_s=0)
    if trimmed or interrupted or dropped:
        log.info("tidied", extra={"trimmed": trimmed, "interrupted": interrupted, "receipts": dropped})


def trim_journal(queue: Queue, journal: Journal, db: sqlite3.Connection, backed_up: int, is_quiet: bool) -> None:
    """Trim the journal: events that a backup covers; when the journal is full, all finished events.

    Nothing is trimmed while the log of a database holds the only copy."""
    if journal.is_due(backed_up, is_quiet=is_quiet) and queue.empty_log(wait_s=0) and empty_log(db, wait_s=0):
        queue.trim_journal(None if journal.is_full else backed_up)
        journal.trimmed_for = backed_up


def give_back_memory() -> None:
    """Return freed memory to the system after heavy use; glibc would keep it, musl and macOS would not."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


class BackgroundStep(Protocol):
    """Small piece of background work. A step must be short, because requests wait for the job thread meanwhile."""

    def run(self) -> float | None:
        """Do a little; return the seconds until the step has to run again, None when the usual pause will do."""


def background_steps(
    services: Services,
    queue: Queue,
    journal: Journal,
    memory_db: sqlite3.Connection,
    throttle: ScanThrottle,
    guards: "GuardStep",
) -> Sequence[BackgroundStep]:
    """Return all steps in order: first what improves memories, then indexes and the scan, then backups."""
    return (
        ModelStep(services),
        PostponedContextStep(services),
        IndexStep(services, (queue.db, memory_db)),
        StalenessScanStep(services, throttle),
        QuestionStep(services),
        guards,
        TeamStep(services, memory_db),
        BackupStep(services, queue, journal, memory_db),
        ReleaseStep(services, (queue.db, memory_db)),
    )


@frozen
class ModelStep:
    """Model calls: store the answers that arrived, ask about further turns."""

    services: Services

    def run(self) -> None:
        models = self.services.models
        if models.has_begun and not self.services.settings.problem:
            self.services.renderer.render(models.step())
            if models.is_busy():
                self.services.activity.note_request()


@frozen
class PostponedContextStep:
    """Contexts of imported projects, rendered when the import pauses."""

    services: Services

    def run(self) -> None:
        if (
            not self.services.settings.problem
            and self.services.activity.quiet_s() > self.services.limits.import_quiet_s
        ):
            self.services.renderer.render_postponed()


@dataclass(slots=True)
class IndexStep:
    """Vectors of new memories, a batch at a time; the next pass follows at once while batches are left."""

    services: Services
    databases: Sequence[sqlite3.Connection]
    batches: int = field(default=0, init=False)
    """Batches without a pause."""

    def run(self) -> None:
        if self.services.indexing.step():
            self.batches += 1
            self.services.writes.wake()
            return
        if self.batches >= MANY_BATCHES:
            self.services.search.release()
            _shrink(self.databases)
        self.batches = 0


@frozen
class StalenessScanStep:
    """Staleness scan of anchored memories, slowed down while sessions start."""

    services: Services
    throttle: ScanThrottle

    def run(self) -> float | None:
        scanner = self.services.scanner
        if self.services.settings.problem:
            return None
        if not scanner.is_busy():
            self.throttle.note_step()
            return None
        due_s = self.throttle.due_in_s(scanner.asked_at)
        if due_s > 0:
            return due_s
        scanned = scanner.step()
        self.throttle.note_step()
        self.services.renderer.render(set(scanned.changed))
        return self.throttle.due_in_s(scanner.asked_at) if scanned.more else None


@frozen
class QuestionStep:
    """Weights that questions to agents need, loaded ahead."""

    services: Services

    def run(self) -> None:
        self.services.questions.prepare()


@frozen
class GuardStep:
    """Guards of memories that were stored before guards existed, and replays of new guards over past calls."""

    services: Services
    jobs: "Callable[[], GuardJobs]"
    replays: "Callable[[], GuardReplays]"

    def run(self) -> float | None:
        if self.services.settings.problem:
            return None
        return 0.0 if self.jobs().follow_memories() else self.replays().run()


@frozen
class TeamStep:
    """Synchronisation with the team, begun when due; it runs in a thread of its own."""

    services: Services
    memory_db: sqlite3.Connection

    def run(self) -> float | None:
        return self.services.team.step(self.memory_db)


@frozen
class BackupStep:
    """Backups, and the journal of events that a backup covers."""

    services: Services
    queue: Queue
    journal: Journal
    memory_db: sqlite3.Connection

    def run(self) -> None:
        backups = self.services.backups
        is_quiet = self.services.activity.quiet_s() > self.services.limits.backup_quiet_s
        backups.step(self.services.writes.wake, is_quiet=is_quiet)
        trim_journal(self.queue, self.journal, self.memory_db, backups.backed_up, is_quiet)


@dataclass(slots=True)
class ReleaseStep:
    """Memory of searches and scans, released after a while without use."""

    services: Services
    databases: Sequence[sqlite3.Connection]
    released_at: float = field(default=0.0, init=False)

    def run(self) -> None:
        search, scanner = self.services.search, self.services.scanner
        used_at = max(search.used_at, self.services.indexing.used_at, scanner.used_at)
        if used_at <= self.released_at or time.monotonic() - used_at <= self.services.limits.rest_s:
            return
        self.released_at = time.monotonic()
        search.release()
        scanner.release()
        self.services.readers.release()
        self.services.inbox_readers.release()
        _shrink(self.databases)


def _shrink(databases: Sequence[sqlite3.Connection]) -> None:
    for db in databases:
        db.execute("pragma shrink_memory")
    give_back_memory()
