"""Scheduler of backups: once a day, on request, and again after memories were forgotten.

A thread makes each backup from a snapshot, so that only the requester waits. All else happens in the job thread."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from claude_mem_lite.db import backup_files, change_counter
from claude_mem_lite.db.backup_files import Backup
from claude_mem_lite.deadline import PAST, Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import erase
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker.recovery import set_aside

EVERY = timedelta(days=1)
# A clock that was ahead must not prevent the next backup.
_AHEAD = timedelta(hours=1)

# Delay after which a due backup is made while sessions are at work.
_OVERDUE = timedelta(hours=1)
_AGAIN_AFTER_S = 600.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Task:
    """Run of the backup thread: names to purge, futures and callbacks of requesters, and whether a new backup is
    required."""

    leaving: Sequence[str]
    asked: list["Future[Backup]"]
    done: list[Callable[[], None]]
    wanted: bool
    made: Backup | None = None
    failed: bool = False
    had_to_stop: bool = False
    db: sqlite3.Connection | None = None
    thread: threading.Thread | None = field(default=None)


class BackupScheduler:
    """Backups of a home. Any thread may read `problem` and call `make_soon`."""

    def __init__(
        self,
        home: Home,
        memory_db: sqlite3.Connection,
        inbox_db: sqlite3.Connection,
        clock: Clock,
        max_backups: int,
    ) -> None:
        self.problem = ""
        """Reason why the last backup failed."""
        self._home = home
        self._memory_db = memory_db
        self._inbox_db = inbox_db
        self._clock = clock
        self._max_backups = max_backups
        self._lineage = change_counter.lineage_of(memory_db)
        self._kept = self._find_kept()
        self._asked: list[Future[Backup]] = []
        self._wants_now = False
        self._done: list[Callable[[], None]] = []
        self._has_leaving = True
        self._task: _Task | None = None
        self._pause = PAST
        self._has_ended = False

    @property
    def backed_up(self) -> int:
        """Return the progress of memory.db in the newest backup; 0 without a backup."""
        return self._kept[0].done if self._kept else 0

    @property
    def newest(self) -> Backup | None:
        return self._kept[0] if self._kept else None

    @property
    def kept(self) -> int:
        return len(self._kept)

    def make_soon(self) -> "Future[Backup]":
        """Request a backup, made as soon as a running one is done; refused once the job thread has ended."""
        future: Future[Backup] = Future()
        self._asked.append(future)
        if self._has_ended:
            self._refuse_asked()
        return future

    def request_soon(self) -> None:
        """Request a backup without waiting, after a restore or a replay."""
        self._wants_now = True

    def purge_from_backups(self, done: Callable[[], None]) -> None:
        """Purge forgotten names from the backups; `done` is called afterwards, or when the purge has to wait."""
        self._has_leaving = True
        self._done.append(done)

    def interrupt(self) -> None:
        """Interrupt a running backup: its reader keeps forgotten text in the log. The backup starts again later."""
        task = self._task
        if task is not None and task.thread is not None and task.thread.is_alive():
            db = task.db
            if db is not None:
                with suppress(sqlite3.ProgrammingError):  # closed a moment ago
                    db.interrupt()
            task.thread.join()

    def step(self, wake: Callable[[], None], *, is_quiet: bool) -> None:
        """Finish the last run of the thread, and start the next one; requesters get the error of a failure."""
        try:
            self._step(wake, is_quiet=is_quiet)
        except (OSError, sqlite3.Error) as error:
            while self._asked:
                self._asked.pop().set_exception(MemoryLiteError(f"no backup was made: {error}"))
            raise

    def _step(self, wake: Callable[[], None], *, is_quiet: bool) -> None:
        if self._task is not None:
            if self._task.thread is not None and self._task.thread.is_alive():
                return
            self._end_task(self._task)
        may_try = self._pause.is_past() or bool(self._done)
        leaving = erase.leaving(self._inbox_db) if self._has_leaving and may_try else []
        if self._has_leaving and may_try and not leaving:
            self._has_leaving = False
            self._call_done()
        is_wanted = self._wants_now and may_try
        if self._asked or leaving or is_wanted or self._is_due(is_quiet=is_quiet):
            self._begin_task(leaving, wake)

    def end(self) -> None:
        """Interrupt the thread; the next worker does the rest."""
        self.interrupt()
        if self._task is not None:
            self._end_task(self._task)
        self._call_done()
        self._has_ended = True
        self._refuse_asked()

    def _refuse_asked(self) -> None:
        with suppress(IndexError):  # another thread may empty the list too
            while True:
                self._asked.pop().set_exception(MemoryLiteError("the worker ends", "try again"))

    def _is_due(self, *, is_quiet: bool) -> bool:
        if not self._pause.is_past():
            return False
        newest, now = self.newest, self._clock()
        if newest is None:
            return is_quiet and _holds_anything(self._memory_db)
        age = now - newest.made_at
        if -_AHEAD < age < EVERY or change_counter.progress_of(self._memory_db).done <= newest.done:
            return False
        return is_quiet or age > EVERY + _OVERDUE

    def _begin_task(self, leaving: Sequence[str], wake: Callable[[], None]) -> None:
        asked, self._asked = self._asked, []
        done, self._done = self._done, []
        wanted, self._wants_now = self._wants_now, False
        task = _Task(leaving, asked, done, wanted)
        now = self._clock()

        def run() -> None:
            try:
                self._run(task, now)
            finally:
                wake()

        task.thread = threading.Thread(target=run, name="backup", daemon=True)
        self._task = task
        task.thread.start()

    def _run(self, task: _Task, now: datetime) -> None:
        """Make a backup, then delete the backups that hold forgotten names. Runs in the backup thread."""

        def note(db: sqlite3.Connection) -> None:
            task.db = db

        try:
            kept = backup_files.all_in(self._home.backups) if task.leaving else []
            holding = [backup for backup in kept if backup_files.holds(backup.path, task.leaving)]
            if holding or task.asked or task.wanted or not task.leaving:
                # First: without a backup, memories whose events left the inbox would be in memory.db alone.
                task.made = backup_files.make(self._home.memory_db, self._home.backups, now, note)
            for backup in holding:
                if task.made is None or backup.path != task.made.path:
                    backup.path.unlink(missing_ok=True)
            if task.leaving:
                set_aside.forget(self._home, task.leaving)
            backup_files.prune(self._home.backups, self._lineage, self._max_backups)
            self._kept = self._find_kept()  # before the futures end: the page asks for the number at once
        except (OSError, sqlite3.Error, MemoryLiteError) as error:
            task.failed = True
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
                task.had_to_stop = True
                return
            self._note_failure(task, error)
        else:
            self.problem = ""
            for future in task.asked:
                assert task.made is not None
                future.set_result(task.made)
        for call in task.done:
            call()

    def _note_failure(self, task: _Task, error: Exception) -> None:
        # With the error: `DamageWatch` must see damage.
        log.error("backup failed", exc_info=error)
        self._pause = Deadline.after(_AGAIN_AFTER_S)
        self.problem = f"the last backup failed: {error}"
        for future in task.asked:
            future.set_exception(MemoryLiteError(f"no backup was made: {error}"))

    def _end_task(self, task: _Task) -> None:
        """Note the result of the thread. Runs in the job thread."""
        self._task = None
        if task.had_to_stop:
            self._asked, self._done = task.asked + self._asked, task.done + self._done
        if task.failed and task.made is None:
            self._wants_now = self._wants_now or task.wanted
        self._kept = self._find_kept()
        if task.made is not None:
            if all(backup.path != task.made.path for backup in self._kept):  # else the next would be due at once
                self._pause = Deadline.after(_AGAIN_AFTER_S)
            log.info("backup made", extra={"backup": task.made.path.name, "kept": len(self._kept)})
        if not task.failed:
            erase.note_left(self._inbox_db, task.leaving)

    def _find_kept(self) -> list[Backup]:
        """Return the backups of this memory.db; other files in the folder do not count."""
        return backup_files.own(self._home.backups, self._lineage)

    def _call_done(self) -> None:
        while self._done:
            self._done.pop()()


def _holds_anything(db: sqlite3.Connection) -> bool:
    found = db.execute("select exists (select 1 from sessions) or exists (select 1 from memories)").fetchone()
    return bool(found[0])
