"""Backups while the worker runs: once a day, when somebody asks, and anew when something was forgotten.

Made in a thread of their own, from a snapshot: nobody waits for one but who asked for it. Everything else here happens
in the job thread."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from claude_mem_lite.db import backup_files, change_counter
from claude_mem_lite.db.backup_files import Backup
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import erase
from claude_mem_lite.paths import Home
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker import recovery_startup

EVERY = timedelta(days=1)
# A clock that was ahead must not keep the next one from being made.
_AHEAD = timedelta(hours=1)
QUIET_S = 5.0
# So long after it is due, one is made while sessions are at work as well.
_OVERDUE = timedelta(hours=1)
_AGAIN_AFTER_S = 600.0
log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Task:
    """One run of the thread: what is to leave the backups, who waits for it, and whether a new one is wanted at all
    events."""

    leaving: Sequence[str]
    asked: list["Future[Backup]"]
    done: list[Callable[[], None]]
    wanted: bool
    made: Backup | None = None
    failed: bool = False
    had_to_stop: bool = False
    db: sqlite3.Connection | None = None
    thread: threading.Thread | None = field(default=None)


class BackingUp:
    """The backups of one home. `problem` may be read, and `make_soon` called, by any thread."""

    def __init__(self, home: Home, memory_db: sqlite3.Connection, inbox_db: sqlite3.Connection, clock: Clock) -> None:
        self.problem = ""
        """Why the last backup failed."""
        self._home = home
        self._memory_db = memory_db
        self._inbox_db = inbox_db
        self._clock = clock
        self._lineage = change_counter.lineage_of(memory_db)
        self._kept = self._find_kept()
        self._asked: list[Future[Backup]] = []
        self._wants_now = False
        self._done: list[Callable[[], None]] = []
        self._has_leaving = True
        self._task: _Task | None = None
        self._not_before = 0.0

    @property
    def backed_up(self) -> int:
        """How far memory.db was when the newest backup was made; 0 when there is none."""
        return self._kept[0].done if self._kept else 0

    @property
    def newest(self) -> Backup | None:
        return self._kept[0] if self._kept else None

    @property
    def kept(self) -> int:
        return len(self._kept)

    def make_soon(self) -> "Future[Backup]":
        """A backup as soon as the one under way, if any, is done."""
        future: Future[Backup] = Future()
        self._asked.append(future)
        return future

    def want_soon(self) -> None:
        """The same for who does not wait, once a database was restored or events are done again."""
        self._wants_now = True

    def let_leave(self, done: Callable[[], None]) -> None:
        """What was forgotten leaves the backups; `done` is called then, or when it is clear that it must wait."""
        self._has_leaving = True
        self._done.append(done)

    def give_way(self) -> None:
        """Stop reading the database: what is forgotten must leave its log. What was under way is done anew."""
        task = self._task
        if task is not None and task.thread is not None and task.thread.is_alive():
            db = task.db
            if db is not None:
                with suppress(sqlite3.ProgrammingError):  # closed a moment ago
                    db.interrupt()
            task.thread.join()

    def step(self, wake: Callable[[], None], *, is_quiet: bool) -> None:
        """End what the thread has done, and begin what is to be done next; whoever waits hears of it if that fails."""
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
        may_try = time.monotonic() >= self._not_before or bool(self._done)
        leaving = erase.leaving(self._inbox_db) if self._has_leaving and may_try else []
        if self._has_leaving and may_try and not leaving:
            self._has_leaving = False
            self._call_done()
        is_wanted = self._wants_now and may_try
        if self._asked or leaving or is_wanted or self._is_due(is_quiet=is_quiet):
            self._begin_task(leaving, wake)

    def end(self) -> None:
        """Let go of what is under way; what is left to do is done by the next worker."""
        self.give_way()
        if self._task is not None:
            self._end_task(self._task)
        self._call_done()
        while self._asked:
            self._asked.pop().set_exception(MemoryLiteError("the worker ends", "try again"))

    def _is_due(self, *, is_quiet: bool) -> bool:
        if time.monotonic() < self._not_before:
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
        """In the thread: a new backup, then none of those that hold what was forgotten."""

        def note(db: sqlite3.Connection) -> None:
            task.db = db

        try:
            kept = backup_files.all_in(self._home.backups) if task.leaving else []
            holding = [one for one in kept if backup_files.holds(one.path, task.leaving)]
            if holding or task.asked or task.wanted or not task.leaving:
                # First: without any, what the inbox does not hold any more would be in memory.db alone.
                task.made = backup_files.make(self._home.memory_db, self._home.backups, now, note)
            for one in holding:
                if task.made is None or one.path != task.made.path:
                    one.path.unlink(missing_ok=True)
            if task.leaving:
                recovery_startup.forget_aside(self._home, task.leaving)
            backup_files.prune(self._home.backups, self._lineage)
            self._kept = self._find_kept()  # before anybody hears of it: the page asks at once how many there are
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
        # With the error: whoever watches the log for damage is to see it.
        log.error("backup failed", exc_info=error)
        self._not_before = time.monotonic() + _AGAIN_AFTER_S
        self.problem = f"the last backup failed: {error}"
        for future in task.asked:
            future.set_exception(MemoryLiteError(f"no backup was made: {error}"))

    def _end_task(self, task: _Task) -> None:
        """In the job thread: what came of it is noted."""
        self._task = None
        if task.had_to_stop:
            self._asked, self._done = task.asked + self._asked, task.done + self._done
        if task.failed and task.made is None:
            self._wants_now = self._wants_now or task.wanted
        self._kept = self._find_kept()
        if task.made is not None:
            if all(one.path != task.made.path for one in self._kept):  # else the next would be due at once, for ever
                self._not_before = time.monotonic() + _AGAIN_AFTER_S
            log.info("backup made", extra={"backup": task.made.path.name, "kept": len(self._kept)})
        if not task.failed:
            erase.note_left(self._inbox_db, task.leaving)

    def _find_kept(self) -> list[Backup]:
        """The backups of this memory.db; what else may lie beside them says nothing of it."""
        return backup_files.own(self._home.backups, self._lineage)

    def _call_done(self) -> None:
        while self._done:
            self._done.pop()()


def _holds_anything(db: sqlite3.Connection) -> bool:
    found = db.execute("select exists (select 1 from sessions) or exists (select 1 from memories)").fetchone()
    return bool(found[0])
