"""What is done now and then: old inbox rows and receipts go, sessions that fell silent are marked."""

import ctypes
import gc
import logging
import sqlite3
from datetime import datetime, timedelta

from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.inbox.journal import Copies
from claude_mem_lite.inbox.queue import QUIET_TURN_S, Queue
from claude_mem_lite.knowledge import outcomes
from claude_mem_lite.store import receipts, sessions

EVERY_S = 600.0
REST_S = 60.0
"""After so long without a search, what searching has loaded is let go."""
KEEP_RECEIPTS_DAYS = 180
log = logging.getLogger(__name__)


def tidy(queue: Queue, db: sqlite3.Connection, now: datetime, backed_up: int | None = None) -> None:
    """Trim the inbox, as far as memory.db is backed up, and the receipts, and close sessions without a sign of life for
    a day as interrupted."""
    quiet_since = now - timedelta(seconds=QUIET_TURN_S)
    for session in sessions.quiet(db, quiet_since):
        # First: a worker that dies here finds it still open, and its events, by which it is judged, in the inbox.
        outcomes.judge(db, queue, session)
    with atomic(db):
        interrupted = sessions.interrupt_quiet(db, quiet_since)
        dropped = receipts.trim(db, now - timedelta(days=KEEP_RECEIPTS_DAYS))
    trimmed = queue.trim(now.timestamp(), backed_up)
    # What is forgotten leaves the logs of the databases now, should somebody have been reading when it was.
    queue.empty_log(wait_s=0)
    empty_log(db, wait_s=0)
    if trimmed or interrupted or dropped:
        log.info("tidied", extra={"trimmed": trimmed, "interrupted": interrupted, "receipts": dropped})


def trim_copies(queue: Queue, copies: Copies, db: sqlite3.Connection, backed_up: int, is_quiet: bool) -> None:
    """Let go of the copies of events that a backup has; when there are many, of all that are finished.

    Not while anything of these is in the log of a database alone."""
    if copies.is_due(backed_up, is_quiet=is_quiet) and queue.empty_log(wait_s=0) and empty_log(db, wait_s=0):
        queue.trim_copies(None if copies.is_full else backed_up)
        copies.trimmed_for = backed_up


def give_back_memory() -> None:
    """Return freed memory to the system after a lot of it was used; glibc keeps it otherwise, musl and macOS do not."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
