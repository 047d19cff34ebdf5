"""End of the worker: on request, or because a database is damaged, replaced or incomplete, the package was
replaced, or no request came for long.

The job loop checks the package before each pass, and the API before its import: later imports of a replaced package
would not fit the loaded modules."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import claude_mem_lite
from claude_mem_lite.db import integrity
from claude_mem_lite.db.checkpoints import Checkpoints
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.errors import WorkerEnded
from claude_mem_lite.paths import Home, state_of

log = logging.getLogger(__name__)
GONE_AFTER_S = 10.0
"""Maximum time of an upgrade, in which the package is missing. After a longer time events wait for the next worker."""
PACKAGE = "claude_mem_lite"


class Shutdown:
    """Switch that ends the worker, and the reasons to throw it. Any thread may call, except `has_whole_schemas`."""

    def __init__(self, home: Home, files: OpenFiles, checkpoints: Checkpoints) -> None:
        self.stopping = threading.Event()
        """Set once the job loop is to end; for callers that wait for work that may never be done."""
        self._home = home
        self._files = files
        self._checkpoints = checkpoints
        self._callbacks: list[Callable[[], None]] = []
        self._has_lost_files = False
        self._trouble = ""
        self._ignores_damage = False

    def on_stop(self, callback: Callable[[], None]) -> None:
        """Have `callback` called whenever the worker is stopped."""
        self._callbacks.append(callback)

    def stop(self) -> None:
        """End the job loop after the unit under way."""
        self.stopping.set()
        for callback in self._callbacks:
            callback()

    def report_damage(self) -> None:
        """End the worker because a database seems damaged: the next worker checks both databases completely."""
        if not self._ignores_damage and not self.stopping.is_set():
            log.error("a database is damaged; ending, for the next worker to mend it")
            self._mark_suspect()
            self.stop()

    def ignore_damage(self) -> None:
        """Report damage no more: the files were checked and are sound, so another restart would not help."""
        self._ignores_damage = True

    def has_files(self) -> bool:
        """Return whether home and databases are the ones that were opened. If not, end the worker.

        Nothing may be taken in or acknowledged then: new writes would be lost with the old files."""
        if not self._has_lost_files and (trouble := self._files.trouble()):
            self._end_for(trouble)
        return not self._has_lost_files

    def require_files(self) -> None:
        """Raise WorkerEnded when home or databases were replaced."""
        if not self.has_files():
            raise self.refusal()

    def refusal(self) -> WorkerEnded:
        """Return the error for callers whose work is not done any more."""
        return WorkerEnded(self._trouble or "the worker is ending", "run this again in a moment")

    def has_whole_schemas(self) -> bool:
        """Return whether all tables exist; 10 µs while the schemas are unchanged. If not, end the worker."""
        try:
            lacking = "; ".join(filter(None, map(integrity.first_missing_part, self._checkpoints.changed_schemas())))
        except sqlite3.DatabaseError as error:
            lacking = str(error) if is_damage(error) else ""
        if lacking:
            self._end_for(lacking)
        return not lacking

    def _end_for(self, trouble: str) -> None:
        log.error("ending, before anything is lost with the old files", extra={"trouble": trouble})
        self._has_lost_files, self._trouble = True, trouble
        self._mark_suspect()
        self.stop()

    def _mark_suspect(self) -> None:
        """Make the next worker check both databases completely, unless another home took the place of this home."""
        if not self._files.is_home_replaced():
            with suppress(OSError):
                self._home.suspect.touch(mode=0o600)


class Activity:
    """Times of the last request and of the last watcher. Any thread may call."""

    def __init__(self) -> None:
        self._began_at = self._active_at = self._watched_at = time.monotonic()
        self._answers = threading.Lock()
        self._under_way = 0
        self.has_answered = False
        """True once the start of a session was answered, or anything else was asked: nobody waits for a quick start."""

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Note that the start of a session is being answered, for as long as the block lasts."""
        with self._answers:
            self._under_way += 1
        try:
            yield
        finally:
            with self._answers:
                self._under_way -= 1
                self.has_answered = True

    def note_other_request(self) -> bool:
        """Note a request other than the start of a session; return whether nothing was answered before."""
        is_first, self.has_answered = not self.has_answered, True
        return is_first

    def is_answering(self) -> bool:
        """Return whether the start of a session is being answered."""
        return self._under_way > 0

    def age_s(self) -> float:
        """Return the time since the start of the worker."""
        return time.monotonic() - self._began_at

    def note_request(self) -> None:
        """Note a request: a reason to stay."""
        self._active_at = time.monotonic()

    def note_watching(self) -> None:
        """Note a watcher, such as a page: a reason to stay, but not to postpone work for quiet times."""
        self._watched_at = time.monotonic()

    def idle_s(self) -> float:
        """Return the time since the last request or watcher."""
        return time.monotonic() - max(self._active_at, self._watched_at)

    def quiet_s(self) -> float:
        """Return the time since the last request."""
        return time.monotonic() - self._active_at


class Package:
    """Package on disk that the worker was started from."""

    def __init__(
        self, path: Path = Path(claude_mem_lite.__file__), monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._path = path
        self._monotonic = monotonic
        self._found = state_of(path)
        self._missing_since: float | None = None

    def is_intact(self) -> bool:
        """Return whether later imports fit the loaded modules."""
        return state_of(self._path) == self._found

    def is_replaced(self) -> bool:
        """Return whether another version was installed; False without any version, because no worker could start."""
        now = state_of(self._path)
        return now is not None and now != self._found

    def is_gone(self) -> bool:
        """Return whether the package was missing for longer than an upgrade takes."""
        if state_of(self._path) is not None:
            self._missing_since = None
            return False
        now = self._monotonic()
        if self._missing_since is None:
            self._missing_since = now
        return now - self._missing_since > GONE_AFTER_S


class DamageWatch(logging.Handler):
    """Log handler that calls `report_damage` when a logged error means a damaged database."""

    def __init__(self, report_damage: Callable[[], None]) -> None:
        super().__init__(logging.WARNING)
        self._report_damage = report_damage

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and is_damage(record.exc_info[1]):
            self._report_damage()

    def __enter__(self) -> "DamageWatch":
        logging.getLogger(PACKAGE).addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger(PACKAGE).removeHandler(self)
