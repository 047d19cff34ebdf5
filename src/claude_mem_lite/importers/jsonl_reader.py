"""The lines of a transcript file as JSON objects, one at a time, plain or gzipped, of any size.

Nothing a file holds makes it raise: what cannot be read is a problem that names its line, or the file."""

import errno
import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal

from claude_mem_lite.models import JsonObject, JsonValue, load_json

MAX_LINE_BYTES = 64 * 1024 * 1024
DEEPEST = 100
MAX_PROBLEMS = 1000
_PIECE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Problem:
    """What cannot be read: a line, a file from some line on, or a folder; line 0 stands for either of these."""

    path: Path
    line: int
    reason: str
    what: Literal["line", "file", "folder"] = "line"
    unfinished: bool = False
    """The last line, without its end: a client may just be writing it."""


class _NotATranscript(Exception):
    """So much of a file cannot be read that the rest of it is not tried."""


class Lines:
    """The objects in one file, in order; to be iterated once."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.path = path
        self.bytes_read = 0
        """How far it is, in bytes of the file as it lies on disk."""
        self.is_broken = False
        """The file could not be read to its end."""
        self._problems = problems
        self._number = 0
        self._unreadable = 0

    def __iter__(self) -> Iterator[JsonObject]:
        try:
            with open_plain(self.path) as file, _unpacked(file) if self.path.suffix == ".gz" else file as content:
                for raw in self._raw_lines(content):
                    self.bytes_read = file.tell()
                    if (value := self._parsed(raw)) is not None:
                        yield value
        except (OSError, EOFError, zlib.error) as error:
            self.is_broken = True
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            where = f" after line {self._number:,}" if self._number else ""
            self._note_file(f"cannot be read{where}: {reason}")
        except _NotATranscript:
            self.is_broken = True
            self._give_up()

    def _raw_lines(self, file: "IO[bytes] | gzip.GzipFile") -> Iterator[bytes]:
        while raw := file.readline(MAX_LINE_BYTES):
            self._number += 1
            if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                while raw and not raw.endswith(b"\n"):
                    raw = file.readline(_PIECE_BYTES)
                self._report(f"longer than {MAX_LINE_BYTES // 1024**2} MB")
            else:
                yield raw

    def _parsed(self, raw: bytes) -> JsonObject | None:
        if not raw.strip():
            return None
        try:
            value = load_json(raw.decode("utf-8", "replace"))
        except RecursionError:
            self._report("nested too deeply")
            return None
        except ValueError as error:
            self._report(_why(error), unfinished=not raw.endswith(b"\n"))
            return None
        if not isinstance(value, dict):
            self._report(f"a JSON {type(value).__name__}, not an object")
        elif _is_deep(value):
            self._report("nested too deeply")
        else:
            return value
        return None

    def _report(self, reason: str, *, unfinished: bool = False) -> None:
        self._unreadable += 1
        if self._unreadable > MAX_PROBLEMS:
            raise _NotATranscript
        self._problems.append(Problem(self.path, self._number, reason, unfinished=unfinished))

    def _give_up(self) -> None:
        """Tell of the file in place of all its lines."""
        own = [one for one in self._problems if one.path == self.path]
        self._problems[:] = [one for one in self._problems if one.path != self.path]
        self._note_file(
            f"more than {MAX_PROBLEMS:,} lines could not be read, the first is line {own[0].line:,} "
            f"({own[0].reason}); the rest of this file was left out"
        )

    def _note_file(self, reason: str) -> None:
        self._problems.append(Problem(self.path, 0, reason, "file"))


def open_plain(path: Path) -> IO[bytes]:
    """A file open for reading; OSError for a pipe or a device, which might be read for ever."""
    # Not blocking: a pipe that nobody writes to would not even let itself be opened.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115  it is the caller's
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return file


def _unpacked(file: IO[bytes]) -> gzip.GzipFile:
    return gzip.GzipFile(fileobj=file)


def _why(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
        return f"more than one JSON object on the line (the second at column {error.colno})"
    return f"no JSON: {error}"


def _is_deep(value: JsonValue) -> bool:
    """Whether lists and objects lie in each other deeper than anything that takes them further would bear."""
    level = [value]
    for _ in range(DEEPEST):
        level = [
            item
            for one in level
            for item in (one.values() if isinstance(one, dict) else one if isinstance(one, list) else ())
            if isinstance(item, list | dict)
        ]
        if not level:
            return False
    return True
