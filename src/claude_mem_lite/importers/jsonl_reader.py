"""Objects of a transcript file: one for each line, plain or gzipped, of any size; or the only object of a JSON file.

No content of a file raises an exception: an unreadable line or file is reported as a problem."""

import errno
import gzip
import json
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Literal

from claude_mem_lite.models import JsonObject, JsonValue, load_json
from claude_mem_lite.values import frozen

MAX_LINE_BYTES = 64 * 1024 * 1024
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 100
MAX_PROBLEMS = 1000
_PIECE_BYTES = 1024 * 1024


@frozen
class TranscriptProblem:
    """Unreadable line, file (from some line on) or folder; line 0 stands for file and folder."""

    path: Path
    line: int
    reason: str
    what: Literal["line", "file", "folder"] = "line"
    unfinished: bool = False
    """Last line without a newline: a client may be writing the line."""


class _NotATranscript(Exception):
    """Too many unreadable lines; the rest of the file is not tried."""


class Lines:
    """Objects in one file, in order; to be iterated once."""

    def __init__(self, path: Path, problems: list[TranscriptProblem]) -> None:
        self.path = path
        self.bytes_read = 0
        """Position in bytes of the file on disk."""
        self.is_broken = False
        """True if the file could not be read to its end."""
        self._problems = problems
        self._number = 0
        self._unreadable = 0

    def __iter__(self) -> Iterator[JsonObject]:
        try:
            with (
                open_plain(self.path) as file,
                gzip.GzipFile(fileobj=file) if self.path.suffix == ".gz" else file as content,
            ):
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
        elif is_deep(value):
            self._report("nested too deeply")
        else:
            return value
        return None

    def _report(self, reason: str, *, unfinished: bool = False) -> None:
        self._unreadable += 1
        if self._unreadable > MAX_PROBLEMS:
            raise _NotATranscript
        self._problems.append(TranscriptProblem(self.path, self._number, reason, unfinished=unfinished))

    def _give_up(self) -> None:
        """Report the file in place of all its lines."""
        problems = [problem for problem in self._problems if problem.path == self.path]
        self._problems[:] = [problem for problem in self._problems if problem.path != self.path]
        self._note_file(
            f"more than {MAX_PROBLEMS:,} lines could not be read, the first is line {problems[0].line:,} "
            f"({problems[0].reason}); the rest of this file was left out"
        )

    def _note_file(self, reason: str) -> None:
        self._problems.append(TranscriptProblem(self.path, 0, reason, "file"))


def open_plain(path: Path) -> IO[bytes]:
    """Return a file open for reading; OSError for a pipe or a device, which might be read for ever."""
    # Non-blocking: opening a pipe without a writer would block.
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115  the caller closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is not a plain file")
    return file


def _why(error: ValueError) -> str:
    if isinstance(error, json.JSONDecodeError) and error.msg == "Extra data":
        return f"more than one JSON object on the line (the second at column {error.colno})"
    return f"no JSON: {error}"


def read_object(path: Path, problems: list[TranscriptProblem]) -> JsonObject:
    """Return the object in a JSON file; {} and a problem if there is none."""
    try:
        with open_plain(path) as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise ValueError(f"larger than {MAX_FILE_BYTES // 1024**2} MB")
        value = load_json(raw.decode("utf-8", "replace"))
    except OSError as error:
        problems.append(TranscriptProblem(path, 0, f"cannot be read: {error.strerror or error}", "file"))
        return {}
    except (ValueError, RecursionError) as error:
        problems.append(TranscriptProblem(path, 0, f"no JSON object: {error}", "file"))
        return {}
    if isinstance(value, dict) and not is_deep(value):
        return value
    problems.append(TranscriptProblem(path, 0, "no JSON object, or nested too deeply", "file"))
    return {}


def is_deep(value: JsonValue) -> bool:
    """Return whether lists and objects are nested too deeply for later steps."""
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            item
            for outer in level
            for item in (outer.values() if isinstance(outer, dict) else outer if isinstance(outer, list) else ())
            if isinstance(item, list | dict)
        ]
        if not level:
            return False
    return True
