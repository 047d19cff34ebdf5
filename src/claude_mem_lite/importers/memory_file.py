"""File of memories, one JSON object a line: read twice, first to check everything, then to send.

Memory use stays flat: a checked line leaves sixteen bytes. A line that cannot be imported is a problem with its number;
an unreadable file is a MemoryLiteError."""

import gzip
import hashlib
import json
import os
import shlex
import stat
import sys
import tempfile
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from shutil import copyfileobj
from typing import IO

from claude_mem_lite.errors import MemoryLiteError, unreadable
from claude_mem_lite.export_format import values_of
from claude_mem_lite.models import JsonObject, JsonValue, load_json
from claude_mem_lite.values import frozen

MAX_PROBLEMS = 10
MAX_LINE_BYTES = 16 * 1024 * 1024
BATCH_BYTES = 1024 * 1024
# A batch is stored in one transaction, and a hook may wait for an answer meanwhile.
BATCH_LINES = 100
_PIECE_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_CHECK_EVERY_LINES = 200
_PARTS = 64
Advance = Callable[[int], None]


@frozen
class LineProblem:
    """Line that cannot be imported, with the reason."""

    line: int
    reason: str


@frozen
class MemoryLine:
    """One memory as written, with the number of equal lines without an id before it."""

    number: int
    memory: JsonObject
    size: int
    nth: int = 0


@dataclass(slots=True)
class CheckResult:
    """Result of the first reading."""

    lines: int = 0
    problems: list[LineProblem] = field(default_factory=list)
    """The first problems only."""
    more_problems: int = 0
    scopes: dict[str, int] = field(default_factory=dict)
    """Project names that only the worker can resolve, each with the first line."""
    repeated: set[int] = field(default_factory=set)
    """Digests of lines without an id that occur several times."""

    def report(self, line: int, reason: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(LineProblem(line, reason))
        else:
            self.more_problems += 1


class MemoryFile:
    """Open file of memories; `advance` counts up to `size_bytes` in each reading."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self.path = path
        """Empty for standard input."""
        self.name = path or "standard input"
        self._file = file
        self._state = self._status()
        self.size_bytes = self._state[0]

    def check(self, advance: Advance) -> CheckResult:
        """Read the whole file and return the problems."""
        result = CheckResult()
        ids, bare = _DigestTable(), _DigestTable()
        for number, raw in self._raw_lines(advance):
            result.lines += 1
            try:
                memory = parse(raw)
            except ValueError as error:
                if result.lines == 1 and raw.lstrip().startswith(b"["):
                    raise MemoryLiteError(f"{self.name} is a JSON array", "one object a line is needed") from None
                result.report(number, str(error))
                continue
            if "type" in memory and not memory.keys().isdisjoint(("sessionId", "message")):
                raise self._transcript()
            values, problems = values_of(memory)
            for problem in problems:
                result.report(number, problem)
            scope, id_ = values.get("scope"), memory.get("id")
            if isinstance(scope, str) and scope.startswith("project:") and "project" not in memory:
                result.scopes.setdefault(scope, number)
            if isinstance(id_, str):
                ids.add(_digest(id_), number)
            else:
                bare.add(line_digest(memory), number)
        for first, again in ids.repeated_lines():
            result.report(again, f"its id is that of line {first:,} too")
        result.repeated = bare.repeated()
        return result

    def batches(self, checked: CheckResult, advance: Advance) -> Iterator[list[MemoryLine]]:
        """Read the file again and yield as many lines as one request takes."""
        batch: list[MemoryLine] = []
        size = 0
        for line in self._lines(checked.repeated, advance):
            if batch and (len(batch) == BATCH_LINES or size + line.size > BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(line)
            size += line.size
        if batch:
            yield batch

    def _lines(self, repeated: set[int], advance: Advance) -> Iterator[MemoryLine]:
        times: dict[int, int] = {}
        for number, raw in self._raw_lines(advance):
            try:
                memory = parse(raw)
            except ValueError:
                raise self._changed() from None
            nth = 0
            if repeated and "id" not in memory and (digest := line_digest(memory)) in repeated:
                nth = times[digest] = times.get(digest, -1) + 1
            yield MemoryLine(number, memory, len(raw), nth)

    def _raw_lines(self, advance: Advance) -> Iterator[tuple[int, bytes]]:
        """Yield the non-blank lines from the start, with their numbers."""
        self._file.seek(0)
        is_packed = self._file.read(2) == _GZIP
        self._file.seek(0)
        content = gzip.GzipFile(fileobj=self._file) if is_packed else self._file
        number = 0
        try:
            while raw := content.readline(MAX_LINE_BYTES):
                number += 1
                if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    # The beginning is passed on; `parse` reports the line as too long.
                    while (rest := content.readline(_PIECE_BYTES)) and not rest.endswith(b"\n"):
                        pass
                if number == 1:
                    raw = raw.removeprefix(_BOM)
                if raw.strip():
                    yield number, raw
                if number % _CHECK_EVERY_LINES == 0:
                    advance(self._file.tell())
                    self._check_state()
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise MemoryLiteError(f"{self.name} cannot be read after line {number:,}: {reason}") from None
        self._check_state()

    def _check_state(self) -> None:
        if self._status() != self._state:
            raise self._changed()

    def _status(self) -> tuple[int, int]:
        status = os.fstat(self._file.fileno())
        return status.st_size, status.st_mtime_ns

    def _transcript(self) -> MemoryLiteError:
        return MemoryLiteError(
            f"{self.name} is a transcript of Claude Code, no file of memories",
            f"run `claude-mem-lite import transcripts {shlex.quote(self.path) if self.path else 'FILE'}`",
        )

    def _changed(self) -> MemoryLiteError:
        return MemoryLiteError(f"{self.name} was changed while it was read", "run it again")


@contextmanager
def open_memories(name: str) -> Iterator[MemoryFile]:
    """Yield a file to read memories from; `-` and a pipe are copied to a temporary file first, to be read twice."""
    if name == "-":
        with _copied(sys.stdin.buffer) as copy:
            yield MemoryFile("", copy)
        return
    path = Path(name)
    try:
        if path.is_dir():
            raise MemoryLiteError(f"{name} is a folder", "name a file of memories")
        file = path.open("rb")
    except OSError as error:
        raise unreadable(name, error) from None
    with file:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            yield MemoryFile(name, file)
            return
        with _copied(file) as copy:
            yield MemoryFile(name, copy)


def parse(raw: bytes) -> JsonObject:
    """Return the JSON object on a line; ValueError gives the reason if there is none."""
    if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
        raise ValueError(f"longer than {MAX_LINE_BYTES // 1024**2} MB")
    try:
        line = raw.decode().rstrip()
        value: JsonValue = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
        if "\\ud" in line or "\\uD" in line:
            value = load_json(line)  # replaces lone surrogates
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start + 1:,})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} (column {error.colno:,})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def line_digest(memory: JsonObject) -> int:
    """Return the digest of a line without an id."""
    return _digest(json.dumps(memory, sort_keys=True))


def _digest(text: str) -> int:
    # Among a million different lines, two are equal once in 37 million files.
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) != len(pairs):
        times = Counter(name for name, _ in pairs)
        raise ValueError(f"{next(name for name, _ in pairs if times[name] > 1)} is given twice")
    return members


def _constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no number of JSON")


@contextmanager
def _copied(file: IO[bytes]) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as copy:
        copyfileobj(file, copy)
        copy.flush()
        yield copy


class _DigestTable:
    """Digests of lines, sixteen bytes each, to find repeated lines."""

    def __init__(self) -> None:
        # In parts, since sorting takes five times the memory of the sorted part.
        self._parts = [(array("Q"), array("Q")) for _ in range(_PARTS)]

    def add(self, digest: int, line: int) -> None:
        digests, lines = self._parts[digest % _PARTS]
        digests.append(digest)
        lines.append(line)

    def repeated(self) -> set[int]:
        return {digest for digest, _, _ in self._again()}

    def repeated_lines(self) -> list[tuple[int, int]]:
        """Return the first and each repeated line, in the order of the repeated line."""
        return sorted(((first, again) for _, first, again in self._again()), key=lambda pair: pair[1])

    def _again(self) -> Iterator[tuple[int, int, int]]:
        """Yield every repeated line: digest, first line, repeated line."""
        for digests, lines in self._parts:
            first = 0
            # No numpy: loading it takes longer than sorting a hundred thousand lines.
            for before, at in pairwise(sorted(range(len(digests)), key=digests.__getitem__)):
                if digests[before] == digests[at]:
                    first = first if digests[first] == digests[at] else before
                    yield digests[at], lines[first], lines[at]
