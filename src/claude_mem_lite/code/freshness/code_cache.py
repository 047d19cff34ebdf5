"""Present content of source files: from code.db if the file is unchanged, else parsed again.

Threads of the worker share one cache. An unusable database must never cause a failure."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from claude_mem_lite.code.freshness import cache_tables
from claude_mem_lite.code.freshness.cache_tables import ReadFile
from claude_mem_lite.code.freshness.file_reader import RecentFiles, is_whole, name_now, read_file
from claude_mem_lite.code.freshness.working_tree import LARGEST_BYTES, FileState, WorkingTree, is_path_within
from claude_mem_lite.code.syntax.changes import Symbol
from claude_mem_lite.code.syntax.languages import language_of, loading_s
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.values import frozen

_CORRUPT = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_KEPT_AT_ONCE = 100
_MAX_OF_A_BODY = 100
# Reading and parsing a file: 1.1 MB/s were measured, and other machines may be slower.
_READ_BYTES_PER_S = 1_000_000
Result = TypeVar("Result")
log = logging.getLogger(__name__)


@frozen
class FileCode:
    """Content of a file."""

    symbols: tuple[Symbol, ...] | None
    """None: an unsupported language, or a file too large."""


@frozen
class CallsRead:
    """Progress of reading calls: files done, in total and new, and the files skipped for their size."""

    done: int
    total: int
    fresh: int
    """Files read by this call."""
    too_large: tuple[str, ...]


class CodeCache:
    """code.db with a lock. Files are read and parsed outside of the lock."""

    def __init__(self, path: Path, now_ns: Callable[[], int] = time.time_ns) -> None:
        self._path = path
        self._now_ns = now_ns
        self._db: sqlite3.Connection | None = None
        self._inode = 0
        self._lock = threading.Lock()
        self._recent = RecentFiles()

    def read(
        self,
        root: str,
        paths: Sequence[str],
        deadline: Deadline = NEVER,
        *,
        keeps_time: bool = False,
        seen: Mapping[str, FileState] | None = None,
    ) -> dict[str, FileCode | None]:
        """Return the present content of files under a checkout's root.

        None: no such file. A path missing from the result is unknown: time ran out, or the root is missing.
        `keeps_time`: skip files too long to read in the remaining time. `seen`: file states read a moment ago."""
        try:
            tree = WorkingTree(root)
        except OSError:
            return {}
        answer: dict[str, FileCode | None] = {}
        with tree:
            states = _states(tree, paths, deadline, seen or {})
            known = self._known(root, states, caller_waits=keeps_time)
            fresh: list[ReadFile] = []
            for path, state in states.items():
                if state is None:
                    answer[path] = None
                elif not _is_source(path, state):
                    answer[path] = FileCode(None)
                elif path in known and known[path].state == state:
                    answer[path] = FileCode(known[path].symbols)
                elif not deadline.is_past() and not (keeps_time and _is_too_long(path, state, deadline)):
                    read = read_file(tree, path, self._now_ns())
                    if read.symbols is None and _state(tree, path) is None:  # deleted after its state was read
                        answer[path] = None
                        continue
                    fresh.append(read)
                    answer[path] = FileCode(read.symbols)
                if len(fresh) >= _KEPT_AT_ONCE:
                    self._store(root, fresh)
                    fresh = []
            gone = [path for path in known if states[path] is None]
            self._store(root, fresh, gone)
        return answer

    def is_whole(self, root: str, path: str, deadline: Deadline, *, keeps_time: bool = False) -> bool | None:
        """Return True if all definitions of a file are visible now. None: time ran out."""
        try:
            with WorkingTree(root) as tree:
                state = tree.state(path)
                if deadline.is_past() or (keeps_time and state and _is_too_long(path, state, deadline)):
                    return None
                return is_whole(tree, path)
        except OSError:
            return False

    def name_now(self, root: str, path: str, name: str, body: str) -> str:
        """Return the present name of a symbol missing from a file; '' if the file lacks the symbol."""
        try:
            with WorkingTree(root) as tree:
                return name_now(tree, path, name, body)
        except OSError:
            return ""

    def find_body(self, root: str, body: str) -> list[tuple[str, str]] | None:
        """Return the symbols with a body hash at the last read of their files, as (file, name). None: the database is
        unusable."""
        try:
            return self._use(lambda db: cache_tables.find_body(db, root, body, _MAX_OF_A_BODY))
        except (OSError, sqlite3.OperationalError):
            log.warning("code.db cannot be used", exc_info=True)
            return None

    def read_calls(self, root: str, paths: Sequence[str], deadline: Deadline = NEVER) -> CallsRead:
        """Update the cached calls of source files, and drop the calls of files gone.

        The files read before the deadline stay cached; the next call continues."""
        known = self._use(lambda db: cache_tables.known_states(db, root))
        with WorkingTree(root) as tree:
            states = {path: _state(tree, path) for path in paths}
            usable = {path: state for path, state in states.items() if state and state.size <= LARGEST_BYTES}
            # Other files cached without calls belong to other callers and stay.
            gone = [
                path for path, (_, has_calls) in known.items() if path not in usable and (has_calls or path in states)
            ]
            changed = [path for path, state in usable.items() if known.get(path) != (state, True)]
            fresh = self._read_anew(tree, root, changed, gone, deadline)
        too_large = tuple(path for path, state in states.items() if state and path not in usable)
        return CallsRead(len(paths) - len(changed) + fresh, len(paths), fresh, too_large)

    def _read_anew(
        self, tree: WorkingTree, root: str, paths: Sequence[str], gone: Sequence[str], deadline: Deadline
    ) -> int:
        """Read files with their calls until the deadline, store the result, and return the number of files read."""
        count = 0
        while (paths or gone) and not (count and deadline.is_past()):
            batch: list[ReadFile] = []
            for path in paths[:_KEPT_AT_ONCE]:
                if deadline.is_past():
                    break
                batch.append(read_file(tree, path, self._now_ns(), with_calls=True))
            self._use(partial(self._put, root=root, read=batch, gone=gone))
            count, paths, gone = count + len(batch), paths[len(batch) :], ()
            if not batch:
                break
        return count

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Open a separate connection for long queries: no other thread waits for the lock."""
        self._use(lambda _: None)
        with closing(open_for_reading(self._path)) as db:
            yield db

    def clear(self) -> None:
        """Drop all content, in memory and on disk. If the file cannot be removed, the rows are deleted."""
        with self._lock:
            self._close()
            try:
                cache_tables.remove_code(self._path)
            except OSError:
                log.warning("code.db cannot be removed", exc_info=True)
                self._empty()

    def release(self) -> None:
        """Close the database; the next use opens the database again."""
        with self._lock:
            self._close()

    def _use(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run a function on the database under the lock; repeat on an empty database if the database is corrupt."""
        with self._lock:
            try:
                return work(self._open())
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _CORRUPT:
                    raise
                self._close()
                cache_tables.remove_code(self._path)
                return work(self._open())

    def _known(self, root: str, states: Mapping[str, FileState | None], *, caller_waits: bool) -> dict[str, ReadFile]:
        """Return the cached files. For a waiting caller, the result stays in memory: other callers will ask for the
        same files."""
        recent = self._recent.find(root, states)
        others = [path for path in states if path not in recent and is_path_within(path)]

        def ask(db: sqlite3.Connection) -> dict[str, ReadFile]:
            found = cache_tables.known_files(db, root, others)
            if caller_waits:
                self._recent.store(root, found.values())
            return found

        try:
            return recent | self._use(ask) if others else recent
        except (OSError, sqlite3.OperationalError):  # a full disk, or no access: code can be read anyway
            log.warning("code.db cannot be used", exc_info=True)
            return recent

    def _store(self, root: str, read: Sequence[ReadFile], gone: Sequence[str] = ()) -> None:
        if not read and not gone:
            return
        try:
            self._use(partial(self._put, root=root, read=read, gone=gone))
        except (OSError, sqlite3.OperationalError):
            log.warning("what code holds could not be kept", exc_info=True)

    def _put(self, db: sqlite3.Connection, root: str, read: Sequence[ReadFile], gone: Sequence[str]) -> None:
        """Store the files read, and drop files gone. Changed files leave memory first, because searches by body use
        only the database."""
        self._recent.drop(root, [*gone, *(file.path for file in read)])
        cache_tables.store_files(db, root, read, gone)

    def _open(self) -> sqlite3.Connection:
        if self._db is not None and self._inode != _inode(self._path):
            self._close()  # deleted by another process: readers with their own connection would open another file
        if self._db is None:
            self._db = cache_tables.open_code(self._path)
            self._inode = _inode(self._path)
            cache_tables.forget_gone(self._db)
        return self._db

    def _empty(self) -> None:
        """Delete all rows, if the database is usable."""
        try:
            cache_tables.forget_all(self._open())
        except (OSError, sqlite3.Error):
            log.warning("code.db cannot be emptied", exc_info=True)

    def _close(self) -> None:
        self._recent.clear()  # content without a database must not survive into the next database
        if self._db is not None:
            self._db.close()
            self._db = None


def _inode(path: Path) -> int:
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _is_too_long(path: str, state: FileState, deadline: Deadline) -> bool:
    """Return True if reading a file, and loading its grammar before the first one, would take longer than the remaining
    time."""
    return loading_s(language_of(path)) + state.size / _READ_BYTES_PER_S > deadline.left_s()


def _states(
    tree: WorkingTree, paths: Sequence[str], deadline: Deadline, seen: Mapping[str, FileState]
) -> dict[str, FileState | None]:
    """Return the present states of files, without the files of unknown state."""
    states: dict[str, FileState | None] = {}
    for path in paths:
        if deadline.is_past():
            break
        with suppress(OSError):
            states[path] = seen.get(path) or tree.state(path)
    return states


def _state(tree: WorkingTree, path: str) -> FileState | None:
    try:
        return tree.state(path)
    except OSError:
        return None


def _is_source(path: str, state: FileState) -> bool:
    return state.size <= LARGEST_BYTES and language_of(path) != ""
