"""Journal of the inbox in plain files: neither corruption of `inbox.db` nor the loss of a database log loses
acknowledged events. The queue writes the journal, a starting worker may have to read it.

A line is an event as the inbox stores it, without secrets; or the findings for an event; or a list of finished events
with the counter of memory.db; or the counter from which events are to be processed again. Lines are only appended,
except that forgotten events are overwritten. Nothing is synced: the journal survives a killed process, and SQLite
handles a loss of power."""

import json
import logging
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Literal, get_args

from claude_mem_lite.event_names import is_past
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.paths import entries_of
from claude_mem_lite.values import frozen

FILE_BYTES = 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024
"""Above this size, finished events that are in both database files are removed before a backup covers them."""
_ENDING = ".lines"
_CHECKSUM_DIGITS = 8
Kind = Literal["event", "found", "done", "again"]
_CONTENT_KINDS: tuple[Kind, ...] = ("event", "found")
"""Lines with content: overwritten when the content is forgotten."""
log = logging.getLogger(__name__)


@frozen
class JournalEvent:
    """Event as accepted by the inbox."""

    name: str
    event: str
    session: str
    payload: str
    raw_bytes: int
    problem: str
    received_at: float


@frozen
class FinishedUnit:
    """End of events processed together, as noted in the inbox."""

    turn: str
    work: int
    at: float
    skipped: Sequence[str]


@frozen
class JournalLine:
    """One line read: the names of its events, and its position in the file."""

    kind: Kind
    names: tuple[str, ...]
    content: bytes
    start: int
    length: int

    def event(self) -> JournalEvent:
        return JournalEvent(**json.loads(self.content))

    def finished_unit(self) -> FinishedUnit:
        return FinishedUnit(**json.loads(self.content))

    def after(self) -> int:
        return int(self.content)


class Journal:
    """Journal of one home, for its job thread."""

    def __init__(
        self,
        folder: Path,
        is_home_replaced: Callable[[], bool] = lambda: False,
        *,
        file_bytes: int = FILE_BYTES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._folder = folder
        self._file_bytes = file_bytes
        self._max_bytes = max_bytes
        self._is_home_replaced = is_home_replaced
        """Check that the folder was replaced by another home, which must not get the events of this one."""
        self._file: Path | None = None
        self._written: set[tuple[str, bool]] = set()
        """Events written by this process: a spool file that cannot be removed is read again and again."""
        self._may_grow_to = max_bytes
        self._bytes = sum(path.stat().st_size for path in files(folder))
        self._fails = False
        self.trimmed_for: int | None = None
        """Counter of the newest backup at the last trim."""

    def keep(self, arrivals: Sequence[Arrival], now: float) -> None:
        """Append accepted events. A failure loses the copy, not the event.

        An imported event has a source of its own, and an unreadable event has nothing to keep."""
        new = [
            arrival for arrival in arrivals if arrival.payload and not is_past(arrival.name) and self._is_new(arrival)
        ]
        self._add(
            _line(
                "event",
                (arrival.name,),
                JournalEvent(
                    arrival.name,
                    arrival.event,
                    arrival.session,
                    arrival.payload,
                    arrival.raw_bytes,
                    arrival.problem,
                    now,
                ),
            )
            for arrival in new
        )
        self._written.update((arrival.name, bool(arrival.problem)) for arrival in new)

    def note_done(self, names: Sequence[str], done: FinishedUnit) -> None:
        if live := [name for name in names if not is_past(name)]:
            self._add([_line("done", live, done)])

    def note_findings(self, name: str, findings: str) -> None:
        if not is_past(name):
            self._add([_line_of("found", (name,), findings.encode())])

    def note_replay(self, after: int) -> None:
        """Note that events finished above this counter of memory.db are to be processed again."""
        if self._bytes:
            self._add([_line_of("again", (), str(after).encode())])

    def erase(self, names: Collection[str]) -> None:
        """Overwrite forgotten events; OSError on failure."""
        forgotten = {name for name in names if not is_past(name)}
        for path in files(self._folder) if forgotten else ():
            lines = [
                line for line in lines_in(path) if line.kind in _CONTENT_KINDS and not forgotten.isdisjoint(line.names)
            ]
            if lines:
                _blank(path, lines)

    def is_due(self, backed_up: int, *, is_quiet: bool) -> bool:
        """Return whether a trim is due: after a new backup when idle, or because the journal is full."""
        return self.is_full or (is_quiet and self._bytes > 0 and backed_up != self.trimmed_for)

    @property
    def is_full(self) -> bool:
        return self._bytes > self._may_grow_to

    def trim(self, select_needed: Callable[[Collection[str]], set[str]]) -> None:
        """Remove files without needed events; `select_needed` selects the needed events."""
        is_any_before = False
        for path in files(self._folder):  # oldest first: notes about an event go after the event
            lines = list(lines_in(path))
            needed = select_needed({name for line in lines for name in line.names})
            # A note to process again refers to all lines before it.
            live = [
                line for line in lines if not needed.isdisjoint(line.names) or (line.kind == "again" and is_any_before)
            ]
            if live:
                is_any_before = True
                _blank(path, [line for line in lines if line.kind in _CONTENT_KINDS and needed.isdisjoint(line.names)])
            else:
                path.unlink(missing_ok=True)
        self._written.clear()
        self._bytes = sum(path.stat().st_size for path in files(self._folder))
        self._may_grow_to = self._bytes + self._max_bytes

    def _is_new(self, arrival: Arrival) -> bool:
        return (arrival.name, bool(arrival.problem)) not in self._written

    def _add(self, lines: Iterable[bytes]) -> None:
        # A line torn by a full disk must not swallow the next line.
        content = b"".join((b"\n", *lines))
        if len(content) == 1 or self._is_home_replaced():
            return
        try:
            path = self._file_to_write()
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                written = os.write(handle, content)
            finally:
                os.close(handle)
            self._bytes += written
            if written < len(content):
                raise OSError(f"only {written} of {len(content)} bytes were written")
            self._fails = False
        except OSError:
            if not self._fails:
                log.exception("events are taken in without a copy")
            self._fails = True

    def _file_to_write(self) -> Path:
        if self._file is None or (self._file.exists() and self._file.stat().st_size >= self._file_bytes):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            last = max((int(path.stem) for path in files(self._folder)), default=0)
            self._file = self._folder / f"{last + 1:08d}{_ENDING}"
        return self._file


def files(folder: Path) -> list[Path]:
    """Return the journal files, oldest first."""
    paths = [path for path in entries_of(folder) if path.suffix == _ENDING and path.stem.isdecimal()]
    return sorted(paths, key=lambda path: int(path.stem))


def lines_in(path: Path) -> Iterator[JournalLine]:
    """Yield the intact lines of a file; torn or corrupt lines are skipped."""
    start = 0
    try:
        with path.open("rb") as file:
            for raw in file:
                line = _read(raw, start)
                start += len(raw)
                if line is not None:
                    yield line
    except OSError:
        log.exception("copies of events cannot be read", extra={"file": path.name})


def all_lines(folder: Path) -> Iterator[JournalLine]:
    for path in files(folder):
        yield from lines_in(path)


def last_line(folder: Path) -> JournalLine | None:
    for path in reversed(files(folder)):
        last = None
        for line in lines_in(path):
            last = line
        if last is not None:
            return last
    return None


def _line(kind: Kind, names: Sequence[str], value: JournalEvent | FinishedUnit) -> bytes:
    content = {field.name: getattr(value, field.name) for field in fields(value)}
    return _line_of(kind, names, json.dumps(content, separators=(",", ":")).encode())


def _line_of(kind: Kind, names: Sequence[str], content: bytes) -> bytes:
    body = b"%s %s %s" % (kind.encode(), ",".join(names).encode(), content)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(raw: bytes, start: int) -> JournalLine | None:
    body = raw[_CHECKSUM_DIGITS + 1 : -1]
    if raw[:_CHECKSUM_DIGITS] != b"%08x" % zlib.crc32(body):
        return None
    kind, names, content = body.split(b" ", 2)
    named = tuple(names.decode().split(",")) if names else ()
    for known in get_args(Kind):
        if kind == known.encode():
            return JournalLine(known, named, content, start, len(raw))
    return None  # written by a newer version


def _blank(path: Path, lines: Sequence[JournalLine]) -> None:
    """Overwrite lines in place: needs no room on a full disk, and leaves no content in the file."""
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        for line in lines:
            os.pwrite(handle, b" " * (line.length - 1), line.start)
        os.fsync(handle)
    finally:
        os.close(handle)
