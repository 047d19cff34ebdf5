"""Copies of the events in the inbox, in plain files: neither damage of `inbox.db` nor the loss of a log of either
database takes away what was acknowledged. The queue writes them, a worker that starts may have to read them.

Each line is an event as the inbox stores it, without secrets; or tells what was found on the disk for one; or which
events are done, and how far memory.db was then; or from where on they are to be done again. Lines are added, never
changed, but for what is forgotten: that is overwritten. Nothing is synced: these outlive a process that is killed, and
SQLite sees to a loss of power."""

import json
import logging
import os
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal, get_args

from claude_mem_lite.event_names import is_past
from claude_mem_lite.inbox.spool import Arrival

FILE_BYTES = 1024 * 1024
MAX_BYTES = 64 * 1024 * 1024
"""With more than that, what is done and in both database files goes, before there is a backup of it."""
_ENDING = ".lines"
_CHECKSUM_DIGITS = 8
Kind = Literal["event", "found", "done", "again"]
_TELLING: tuple[Kind, ...] = ("event", "found")
"""The lines that say something of the work itself: they are overwritten when it is forgotten."""
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Copy:
    """An event as it came into the inbox."""

    name: str
    event: str
    session: str
    payload: str
    raw_bytes: int
    problem: str
    received_at: float


@dataclass(frozen=True, slots=True)
class Done:
    """The end of events that were worked on together: what the inbox notes with them."""

    turn: str
    work: int
    at: float
    skipped: Sequence[str]


@dataclass(frozen=True, slots=True)
class Line:
    """One line that was read: the names of the events it is about, and where it stands in its file."""

    kind: Kind
    names: tuple[str, ...]
    told: bytes
    start: int
    length: int

    def copy(self) -> Copy:
        return Copy(**json.loads(self.told))

    def done(self) -> Done:
        return Done(**json.loads(self.told))

    def after(self) -> int:
        return int(self.told)


class Copies:
    """The copies of one home, for its job thread."""

    def __init__(self, folder: Path, is_home_replaced: Callable[[], bool] = lambda: False) -> None:
        self._folder = folder
        self._is_home_replaced = is_home_replaced
        """Whether the folder is that of another home by now, which must not get the events of this one."""
        self._file: Path | None = None
        self._written: set[tuple[str, bool]] = set()
        """What this process has copied: a spool file that cannot be removed is read again and again."""
        self._may_grow_to = MAX_BYTES
        self._bytes = sum(path.stat().st_size for path in files(folder))
        self._fails = False
        self.trimmed_for: int | None = None
        """How far the newest backup was when copies were let go last."""

    def keep(self, arrivals: Sequence[Arrival], now: float) -> None:
        """Copy events that the inbox has. A failure costs the copy, not the event.

        What is imported has a source of its own, and an event of which nothing could be read has nothing to keep."""
        new = [one for one in arrivals if one.payload and not is_past(one.name) and self._is_new(one)]
        self._add(
            _line(
                "event",
                (one.name,),
                Copy(one.name, one.event, one.session, one.payload, one.raw_bytes, one.problem, now),
            )
            for one in new
        )
        self._written.update((one.name, bool(one.problem)) for one in new)

    def note_done(self, names: Sequence[str], done: Done) -> None:
        if seen := [name for name in names if not is_past(name)]:
            self._add([_line("done", seen, done)])

    def note_found(self, name: str, found: str) -> None:
        if not is_past(name):
            self._add([_line_of("found", (name,), found.encode())])

    def note_again(self, after: int) -> None:
        """What was done when memory.db was further than this is to be done again."""
        if self._bytes:
            self._add([_line_of("again", (), str(after).encode())])

    def erase(self, names: Collection[str]) -> None:
        """Overwrite the copies of events that are forgotten; OSError when that cannot be done."""
        wanted = {name for name in names if not is_past(name)}
        for path in files(self._folder) if wanted else ():
            found = [line for line in lines_in(path) if line.kind in _TELLING and not wanted.isdisjoint(line.names)]
            if found:
                _blank(path, found)

    def is_due(self, backed_up: int, *, is_quiet: bool) -> bool:
        """Whether copies may be let go: because of a new backup, when all is quiet, or because there are many."""
        return self.is_full or (is_quiet and self._bytes > 0 and backed_up != self.trimmed_for)

    @property
    def is_full(self) -> bool:
        return self._bytes > self._may_grow_to

    def trim(self, wanted_of: Callable[[Collection[str]], set[str]]) -> None:
        """Let go of files with nothing that is still wanted; `wanted_of` tells which of some events are."""
        is_any_before = False
        for path in files(self._folder):  # the oldest first: what tells of an event goes after the event
            found = list(lines_in(path))
            wanted = wanted_of({name for line in found for name in line.names})
            # What is to be done again is told of all that stands before it.
            live = [
                line for line in found if not wanted.isdisjoint(line.names) or (line.kind == "again" and is_any_before)
            ]
            if live:
                is_any_before = True
                _blank(path, [line for line in found if line.kind in _TELLING and wanted.isdisjoint(line.names)])
            else:
                path.unlink(missing_ok=True)
        self._written.clear()
        self._bytes = sum(path.stat().st_size for path in files(self._folder))
        self._may_grow_to = self._bytes + MAX_BYTES

    def _is_new(self, arrival: Arrival) -> bool:
        return (arrival.name, bool(arrival.problem)) not in self._written

    def _add(self, lines: Iterable[bytes]) -> None:
        # A line that a full disk tore must not swallow the next one.
        told = b"".join((b"\n", *lines))
        if len(told) == 1 or self._is_home_replaced():
            return
        try:
            path = self._file_to_write()
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
            try:
                written = os.write(handle, told)
            finally:
                os.close(handle)
            self._bytes += written
            if written < len(told):
                raise OSError(f"only {written} of {len(told)} bytes were written")
            self._fails = False
        except OSError:
            if not self._fails:
                log.exception("events are taken in without a copy")
            self._fails = True

    def _file_to_write(self) -> Path:
        if self._file is None or (self._file.exists() and self._file.stat().st_size >= FILE_BYTES):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            last = max((int(path.stem) for path in files(self._folder)), default=0)
            self._file = self._folder / f"{last + 1:08d}{_ENDING}"
        return self._file


def files(folder: Path) -> list[Path]:
    """The files with copies, the oldest first."""
    try:
        found = [path for path in folder.iterdir() if path.suffix == _ENDING and path.stem.isdecimal()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(found, key=lambda path: int(path.stem))


def lines_in(path: Path) -> Iterator[Line]:
    """The lines of a file that are as they were written; what is torn or damaged is passed over."""
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


def all_lines(folder: Path) -> Iterator[Line]:
    for path in files(folder):
        yield from lines_in(path)


def last_line(folder: Path) -> Line | None:
    for path in reversed(files(folder)):
        last = None
        for line in lines_in(path):
            last = line
        if last is not None:
            return last
    return None


def _line(kind: Kind, names: Sequence[str], value: Copy | Done) -> bytes:
    told = {field.name: getattr(value, field.name) for field in fields(value)}
    return _line_of(kind, names, json.dumps(told, separators=(",", ":")).encode())


def _line_of(kind: Kind, names: Sequence[str], told: bytes) -> bytes:
    body = b"%s %s %s" % (kind.encode(), ",".join(names).encode(), told)
    return b"%08x %s\n" % (zlib.crc32(body), body)


def _read(raw: bytes, start: int) -> Line | None:
    body = raw[_CHECKSUM_DIGITS + 1 : -1]
    if raw[:_CHECKSUM_DIGITS] != b"%08x" % zlib.crc32(body):
        return None
    kind, names, told = body.split(b" ", 2)
    named = tuple(names.decode().split(",")) if names else ()
    for known in get_args(Kind):
        if kind == known.encode():
            return Line(known, named, told, start, len(raw))
    return None  # of a newer version


def _blank(path: Path, found: Sequence[Line]) -> None:
    """Overwrite lines in their place: that takes no room on a full disk, and leaves nothing of them in the file."""
    handle = os.open(path, os.O_WRONLY | os.O_NOFOLLOW)
    try:
        for line in found:
            os.pwrite(handle, b" " * (line.length - 1), line.start)
        os.fsync(handle)
    finally:
        os.close(handle)
