"""Recovery after the databases are open: replay the events that memory.db lacks, share tombstones between both.

Without a loss the cost is a comparison of two counters, and 1 ms for 1,000 tombstones."""

import logging
import sqlite3
from datetime import datetime

from claude_mem_lite.db import backup_files, change_counter, recovery_log
from claude_mem_lite.db.change_counter import Progress
from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.db.migrations import MEMORY_MIGRATIONS, applied_to
from claude_mem_lite.db.recovery_log import Recovery
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import erase as buried
from claude_mem_lite.inbox import replay
from claude_mem_lite.inbox.erase import erase
from claude_mem_lite.inbox.journal import Journal
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.paths import Home
from claude_mem_lite.store import model_calls, tombstones
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.values import frozen

log = logging.getLogger(__name__)


@frozen
class Databases:
    """Connections for writing to both databases."""

    inbox: sqlite3.Connection
    memory: sqlite3.Connection


def back_up_before_migrating(home: Home, now: datetime, db: sqlite3.Connection) -> None:
    """Back up an existing memory.db before a migration, for a return to the version before.

    A failed backup stops nothing: a migration happens as a whole or not at all."""
    applied = applied_to(db)
    if not applied or len(applied) >= len(MEMORY_MIGRATIONS):
        return
    done = change_counter.progress_of(db).done
    if any(
        backup.done == done and 0 <= _steps(backup) <= len(applied)
        for backup in backup_files.own(home.backups, change_counter.lineage_of(db))
    ):
        return  # made by a worker that was killed while it migrated
    try:
        made = backup_files.make(home.memory_db, home.backups, now)
        backup_files.prune(home.backups, change_counter.lineage_of(db))
        log.info("backup made before a migration", extra={"backup": made.path.name})
    except (OSError, sqlite3.Error, MemoryLiteError):
        log.exception("no backup before the migration")


def repair_word_indexes(home: Home, db: sqlite3.Connection) -> bool:
    """Repair the word indexes if a worker suspected damage: a sound file can have a wrong index. Return whether so."""
    if not home.suspect.exists():
        return False
    with atomic(db):
        fts.repair(db)
        passages.repair(db)
    home.suspect.unlink(missing_ok=True)
    return True


def replay_missing(home: Home, dbs: Databases, now: datetime) -> bool:
    """Requeue the events that memory.db lacks, and forget tombstoned memories again; return whether events lacked."""
    known = change_counter.progress_of(dbs.memory)
    furthest = replay.max_counter(dbs.inbox)
    is_put_in_place = known.replay_after is not None
    is_behind = is_put_in_place or known.done < furthest
    if is_behind:
        after = known.done if known.replay_after is None else known.replay_after
        Journal(home.journal_folder).note_replay(after)
        replayed = replay.requeue_after(dbs.inbox, after)
        log.error("events are done again", extra={"events": replayed})
        _record(home, replayed, now, is_put_in_place=is_put_in_place)
    if _share_tombstones(dbs) or is_behind:
        _forget_again(home, dbs, now)
    if is_behind:  # last: after a kill before this line, the next worker repeats all of it
        change_counter.put_progress(dbs.memory, Progress(max(known.done, furthest)))
    return is_behind


def _record(home: Home, replayed: int, now: datetime, *, is_put_in_place: bool) -> None:
    if is_put_in_place:
        recovery_log.note_replayed(home, [recovery.id for recovery in recovery_log.all_of(home)[-1:]], replayed)
        return
    report = "memory.db had lost what was last written to it."
    recovery_log.add(home, Recovery(f"behind-{now.timestamp():.6f}", now.isoformat(), report, replayed=replayed))


def _share_tombstones(dbs: Databases) -> bool:
    """Copy missing tombstones between both databases; return whether memory.db got any."""
    if tombstones.names(dbs.memory) == buried.tombstone_names(dbs.inbox):
        return False
    buried.merge_tombstones(dbs.inbox, tombstones.all_of(dbs.memory))
    with atomic(dbs.memory):
        return tombstones.put(dbs.memory, buried.tombstones(dbs.inbox)) > 0


def _forget_again(home: Home, dbs: Databases, now: datetime) -> None:
    from claude_mem_lite.knowledge import forget  # late: most starts have nothing to forget

    queue = Queue(dbs.inbox, journal=Journal(home.journal_folder))
    with atomic(dbs.memory):
        gone = forget.forget_again(dbs.memory, now)
        model_calls.forget(dbs.memory, gone.turns, [])
        erase(queue, turns=gone.turns, sessions=[])
        buried.add_tombstones(
            queue.db, tombstones.since(dbs.memory, now), {*gone.memories, *gone.turns, *gone.sessions}
        )
    if gone.memories or gone.turns:
        log.info("forgotten again", extra={"memories": len(gone.memories), "turns": len(gone.turns)})
        empty_log(dbs.memory)


def _steps(backup: backup_files.Backup) -> int:
    try:
        return len(MEMORY_MIGRATIONS) - backup_files.check(backup.path).steps_behind
    except (MemoryLiteError, sqlite3.Error, OSError):
        return -1
