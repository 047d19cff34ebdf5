"""What is done now and then: old inbox rows go, sessions that fell silent are marked."""

import ctypes
import gc
import logging
import sqlite3
from datetime import datetime, timedelta

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox.queue import QUIET_TURN_S, Queue
from claude_mem_lite.store import sessions

EVERY_S = 600.0
REST_S = 60.0
"""After so long without a search, what searching has loaded is let go."""
log = logging.getLogger(__name__)


def tidy(queue: Queue, db: sqlite3.Connection, now: datetime) -> None:
    """Trim the inbox and mark sessions without a sign of life for a day as interrupted."""
    trimmed = queue.trim(now.timestamp())
    with atomic(db):
        interrupted = sessions.interrupt_quiet(db, now - timedelta(seconds=QUIET_TURN_S))
    if trimmed or interrupted:
        log.info("tidied", extra={"trimmed": trimmed, "interrupted": interrupted})


def give_back_memory() -> None:
    """Return freed memory to the system after a lot of it was used; glibc keeps it otherwise, musl and macOS do not."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
