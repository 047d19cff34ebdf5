"""What a worker does when its databases are open: it has done again what memory.db lacks, and both know the same
tombstones. When nothing was lost it costs a look at how far both are, and 1 ms for 1,000 tombstones."""

import logging
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.db import backups, lineage, progress, recoveries
from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to
from claude_mem_lite.db.progress import Progress
from claude_mem_lite.db.recoveries import Recovery
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import buried, replaying
from claude_mem_lite.inbox.copies import Copies
from claude_mem_lite.inbox.erasing import erase
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.store import forgetting, fts, model_calls, passages, tombstones

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Databases:
    """Both, open for writing."""

    inbox: sqlite3.Connection
    memory: sqlite3.Connection


def back_up_before_migrating(home: Home, now: datetime, db: sqlite3.Connection) -> None:
    """A backup of an existing memory.db that is about to be changed, for who wants to go back to the version before.

    Without one the worker goes on: a migration happens as a whole or not at all."""
    applied = applied_to(db)
    if not applied or len(applied) >= len(MEMORY_MIGRATIONS):
        return
    done = progress.of(db).done
    if any(one.done == done and 0 <= _steps(one) <= len(applied) for one in backups.own(home.backups, lineage.of(db))):
        return  # made by a worker that was killed while it migrated
    try:
        made = backups.make(home.memory_db, home.backups, now)
        backups.prune(home.backups, lineage.of(db))
        log.info("backup made before a migration", extra={"backup": made.path.name})
    except (OSError, sqlite3.Error, MemoryLiteError):
        log.exception("no backup before the migration")


def mend_words(home: Home, db: sqlite3.Connection) -> bool:
    """Mend the word indexes if a worker suspected damage: they can be wrong in a file that is sound. Whether it did."""
    if not home.suspect.exists():
        return False
    with atomic(db):
        fts.mend(db)
        passages.mend(db)
    home.suspect.unlink(missing_ok=True)
    return True


def catch_up(home: Home, dbs: Databases, now: datetime) -> bool:
    """Have the inbox replayed from where memory.db ends, and have what was forgotten stay so; whether it was behind."""
    known = progress.of(dbs.memory)
    furthest = replaying.furthest(dbs.inbox)
    is_put_in_place = known.replay_after is not None
    is_behind = is_put_in_place or known.done < furthest
    if is_behind:
        after = known.done if known.replay_after is None else known.replay_after
        Copies(home.spool_kept).note_again(after)
        replayed = replaying.put_back(dbs.inbox, after)
        log.error("events are done again", extra={"events": replayed})
        _tell(home, replayed, now, is_put_in_place=is_put_in_place)
    if _share_tombstones(dbs) or is_behind:
        _forget_again(home, dbs, now)
    if is_behind:  # last: a worker that is killed before this does it all once more
        progress.put(dbs.memory, Progress(max(known.done, furthest)))
    return is_behind


def _tell(home: Home, replayed: int, now: datetime, *, is_put_in_place: bool) -> None:
    if is_put_in_place:
        recoveries.note_replayed(home, [one.id for one in recoveries.all_of(home)[-1:]], replayed)
        return
    told = "memory.db had lost what was last written to it."
    recoveries.add(home, Recovery(f"behind-{now.timestamp():.6f}", now.isoformat(), told, replayed=replayed))


def _share_tombstones(dbs: Databases) -> bool:
    """Have both databases know all that was forgotten; whether memory.db learned anything."""
    if tombstones.names(dbs.memory) == buried.names(dbs.inbox):
        return False
    buried.add(dbs.inbox, tombstones.all_of(dbs.memory))
    with atomic(dbs.memory):
        return tombstones.put(dbs.memory, buried.all_of(dbs.inbox)) > 0


def _forget_again(home: Home, dbs: Databases, now: datetime) -> None:
    queue = Queue(dbs.inbox, copies=Copies(home.spool_kept))
    with atomic(dbs.memory):
        gone = forgetting.forget_again(dbs.memory, now)
        model_calls.forget(dbs.memory, gone.turns, [])
        erase(queue, turns=gone.turns, sessions=[])
        buried.bury(queue.db, tombstones.since(dbs.memory, now), {*gone.memories, *gone.turns, *gone.sessions})
    if gone.memories or gone.turns:
        log.info("forgotten again", extra={"memories": len(gone.memories), "turns": len(gone.turns)})
        empty_log(dbs.memory)


def _steps(backup: backups.Backup) -> int:
    try:
        return len(MEMORY_MIGRATIONS) - backups.look_into(backup.path).steps_behind
    except (MemoryLiteError, sqlite3.Error, OSError):
        return -1
