"""Scheduler of synchronisations with the team. A thread runs each one; no hook, context or command waits for it.

The module of the synchronisation, and with it the driver of PostgreSQL, is imported when a team is set up."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, TypeVar

from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError, WorkerEnded
from claude_mem_lite.limits import Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Embedder
from claude_mem_lite.store.projects import marks
from claude_mem_lite.team.address import VARIABLE, load_address
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.context_renderer import ContextRenderer
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Shutdown
from claude_mem_lite.worker.write_thread import WriteThread

if TYPE_CHECKING:
    from claude_mem_lite.team.sync import SyncCounts, SyncSettings

MAX_ASKERS = 8
"""Maximum of commands that wait for the server at a time: they use the threads that all commands share."""
_NEEDS_USER = ("login", "insecure", "not_set_up", "other_team", "newer_schema", "wrong_key", "no_key")
"""Reasons that go away only after somebody has done something."""
Result = TypeVar("Result")
log = logging.getLogger(__name__)


def new_id() -> str:
    """Return a random id of a device or a token."""
    import uuid  # with `platform` 2 ms of a worker's start, and few workers have a team

    return str(uuid.uuid4())


def next_pause_s(last_s: float, code: str, limits: Limits, *, has_work: bool) -> float:
    """Return the pause after a synchronisation: short with work, else twice the last one, up to the longest; the
    longest after a failure that needs somebody."""
    if code in _NEEDS_USER:
        return limits.team_max_pause_s
    return limits.team_min_pause_s if has_work else min(last_s * 2, limits.team_max_pause_s)


@frozen
class SyncState:
    """Result of the last synchronisation of this worker."""

    rounds: int = 0
    succeeded_at: datetime | None = None
    failed_at: datetime | None = None
    code: str = ""
    """Reason code of the last failure; '' after a success."""
    message: str = ""
    next_step: str = ""
    pushed: int = 0
    pulled: int = 0


class LocalDatabase:
    """Local database for the synchronisation thread: reads by the pool, writes by the job thread."""

    def __init__(self, readers: Readers, writes: WriteThread, write_timeout_s: float) -> None:
        self._readers = readers
        self._writes = writes
        self._write_timeout_s = write_timeout_s

    def read(self) -> AbstractContextManager[sqlite3.Connection]:
        return closing(self._readers.open())

    def write(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        future = self._writes.execute_write(work, later=True)
        self._writes.wake(is_request=False)  # a synchronisation does not keep an idle worker alive
        return future.result(self._write_timeout_s)


class TeamSync:
    """Synchronisations of a home. The job thread calls `step`; any thread may call all else."""

    def __init__(
        self,
        home: Home,
        readers: Readers,
        writes: WriteThread,
        clock: Clock,
        settings: SettingsSource,
        shutdown: Shutdown,
        renderer: ContextRenderer,
        embedder: Embedder,
        limits: Limits,
    ) -> None:
        self._home = home
        self._readers = readers
        self._writes = writes
        self._clock = clock
        self._settings = settings
        self._shutdown = shutdown
        self._renderer = renderer
        self._embedder = embedder
        self._limits = limits
        self._done = threading.Condition()
        self._state = SyncState()
        self._thread: threading.Thread | None = None
        self._pause_s = limits.team_min_pause_s
        self._due_at = 0.0
        self._is_requested = False
        self._is_held = False
        self._askers = threading.BoundedSemaphore(MAX_ASKERS)
        shutdown.on_stop(self._notify)

    @property
    def state(self) -> SyncState:
        return self._state

    def is_set_up(self) -> bool:
        """Return whether this home has the address of a team."""
        return bool(os.environ.get(VARIABLE)) or self._home.team_address.exists()

    def may_run(self) -> bool:
        """Return whether synchronisation is allowed now: memory is on, and the settings can be read."""
        return self.is_set_up() and not self._settings.problem and not self._home.off_switch.exists()

    def request(self) -> None:
        """Synchronise at once, as after the end of a session."""
        if self.is_set_up():
            self._is_requested = True
            self._writes.wake(is_request=False)

    def reset(self) -> None:
        """Forget the last synchronisation, as after leaving the team."""
        with self._done:
            self._state = SyncState(rounds=self._state.rounds)

    def wait_for_round(self, timeout_s: float) -> SyncState:
        """Synchronise at once and return the result. MemoryLiteError: memory is off, or the time is over."""
        if not self.may_run():
            raise MemoryLiteError("nothing is synchronised now", self._why_not())
        with self._done:
            # A running round may have begun before the caller's change.
            wanted = self._state.rounds + (2 if self._is_running() else 1)
            self.request()
            self._done.wait_for(
                lambda: self._state.rounds >= wanted or self._shutdown.stopping.is_set(), timeout=timeout_s
            )
            if self._state.rounds < wanted:
                raise MemoryLiteError("the synchronisation is not done yet", "`claude-mem-lite team status` shows it")
            return self._state

    @contextmanager
    def asking(self) -> Iterator[None]:
        """Take one of the few places for commands that wait for the server. MemoryLiteError: all are taken."""
        if not self._askers.acquire(blocking=False):
            raise MemoryLiteError("many commands wait for the team's database already", "try again in a minute")
        try:
            yield
        finally:
            self._askers.release()

    @contextmanager
    def held(self, timeout_s: float) -> Iterator[None]:
        """Wait for the end of a running synchronisation, and start none for as long as the block lasts."""
        with self._done:
            self._is_held, running = True, self._thread
        try:
            if running is not None:
                running.join(timeout_s)
                if running.is_alive():
                    raise MemoryLiteError("a synchronisation is running", "try again in two minutes")
            yield
        finally:
            self._is_held = False

    def local(self) -> LocalDatabase:
        """Return the local database for a caller in another thread than the job thread."""
        return LocalDatabase(self._readers, self._writes, self._limits.team_write_s)

    def sync_settings(self) -> "SyncSettings":
        """Return the settings of a synchronisation."""
        from claude_mem_lite.team.seal import load_seal
        from claude_mem_lite.team.sync import SyncSettings

        return SyncSettings(
            embedder=self._embedder,
            clock=self._clock,
            new_id=new_id,
            is_excluded=self.is_excluded,
            load_seal=lambda: load_seal(self._home.team_key),
        )

    def vector_of(self, query: str) -> list[float] | None:
        """Return the vector of a query, for the search on the server."""
        from claude_mem_lite.team.sync import vector_of

        return vector_of(self._embedder, query)

    def is_excluded(self, project: str) -> bool:
        """Return whether any folder of a project is excluded: nothing of such a project may leave."""
        with closing(self._readers.open()) as db:
            folders = [*marks.marks(db, project, "path"), *marks.marks(db, project, "former_path")]
        return any(self._settings.excludes(folder) for folder in folders)

    # For the job thread alone.

    def step(self, db: sqlite3.Connection) -> float | None:
        """Start a synchronisation if one is due; return the seconds until the next one, None without a team."""
        if self._is_running() or not self.may_run():
            return None
        left_s = self._due_at - time.monotonic()
        from claude_mem_lite.store import team as tables

        if left_s > 0 and not self._is_requested and not (self._is_early_due() and tables.has_marks(db)):
            return left_s
        with self._done:
            if self._is_held:
                return None
            self._is_requested = False
            self._thread = threading.Thread(target=self._run, name="team sync", daemon=True)
            self._thread.start()
        return None

    def _is_early_due(self) -> bool:
        """Return whether changes may be sent before the pause is over: a minute after a success."""
        began = self._due_at - self._pause_s
        return not self._state.code and time.monotonic() - began >= self._limits.team_min_pause_s

    def _is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        """Run one synchronisation in its thread, whatever becomes of it."""
        state = replace(self._state, rounds=self._state.rounds + 1, pushed=0, pulled=0)
        has_work = False
        try:
            counts = self._synchronise()
            has_work = counts.has_work()
            state = replace(
                state, succeeded_at=self._clock(), code="", message="", next_step="", pushed=counts.pushed,
                pulled=counts.pulled,
            )  # fmt: skip
        except WorkerEnded:
            state = self._state  # nobody may take the end of the worker for a finished synchronisation
        except MemoryLiteError as error:
            code = str(getattr(error, "code", "failed"))
            state = replace(state, failed_at=self._clock(), code=code, message=error.message, next_step=error.next_step)
            log.warning("team synchronisation failed", extra={"code": code})
        except Exception as error:  # the thread ends; the next synchronisation tries again
            name = type(error).__name__
            state = replace(
                state, failed_at=self._clock(), code="failed", message=f"the synchronisation failed: {name}",
                next_step="see worker.log",
            )  # fmt: skip
            log.exception("team synchronisation failed")
        finally:
            self._finish(state, has_work)

    def _finish(self, state: SyncState, has_work: bool) -> None:
        self._pause_s = next_pause_s(self._pause_s, state.code, self._limits, has_work=has_work)
        with self._done:
            self._state = state
            self._due_at = time.monotonic() + self._pause_s
            self._done.notify_all()

    def _synchronise(self) -> "SyncCounts":
        from claude_mem_lite.team.sync import synchronise

        address = load_address(self._home.team_address, os.environ)
        if address is None:
            raise TeamError("not_set_up", "this home has no address of a team")
        counts = synchronise(self.local(), address, self.sync_settings(), Deadline.after(self._limits.team_round_s))
        if counts.projects:
            projects = set(counts.projects)
            self.local().write(lambda _: self._renderer.render(projects))
        return counts

    def _why_not(self) -> str:
        if not self.is_set_up():
            return "join a team with `claude-mem-lite team join`"
        if self._settings.problem:
            return "correct config.toml: `claude-mem-lite doctor` says what is wrong"
        return "switch memory on with `claude-mem-lite on`"

    def _notify(self) -> None:
        with self._done:
            self._done.notify_all()
