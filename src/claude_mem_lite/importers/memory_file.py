"""A file of memories, one JSON object a line: read twice, first to check all of it, then to send it.

Memory stays flat at any size: of a line that was checked, sixteen bytes are kept. What cannot be imported is a
problem that names its line; what cannot be read at all is a MemoryLiteError."""

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

MAX_PROBLEMS = 10
MAX_LINE_BYTES = 16 * 1024 * 1024
BATCH_BYTES = 1024 * 1024
# A batch is stored in one go, and a hook that wants an answer waits meanwhile.
BATCH_LINES = 100
_PIECE_BYTES = 1024 * 1024
_GZIP = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_LOOK_EVERY = 200
_PARTS = 64
Advance = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a line cannot be imported."""

    line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Line:
    """One memory as it is written, and how many lines before it, without an id, are the same."""

    number: int
    memory: JsonObject
    size: int
    nth: int = 0


@dataclass(slots=True)
class Checked:
    """What the first reading found."""

    lines: int = 0
    problems: list[Problem] = field(default_factory=list)
    """The first ones."""
    more_problems: int = 0
    scopes: dict[str, int] = field(default_factory=dict)
    """Names of projects that only the worker can tell, each with the first line that uses it."""
    repeated: set[int] = field(default_factory=set)
    """The marks of lines without an id that come more than once."""

    def report(self, line: int, reason: str) -> None:
        if len(self.problems) < MAX_PROBLEMS:
            self.problems.append(Problem(line, reason))
        else:
            self.more_problems += 1


class MemoryFile:
    """An open file of memories; `size_bytes` is what `advance` counts up to in each reading."""

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self.path = path
        """Empty for standard input."""
        self.name = path or "standard input"
        self._file = file
        self._state = self._look()
        self.size_bytes = self._state[0]

    def check(self, advance: Advance) -> Checked:
        """Read all of it and say what is wrong."""
        found = Checked()
        ids, bare = _Marks(), _Marks()
        for number, raw in self._raw_lines(advance):
            found.lines += 1
            try:
                memory = parse(raw)
            except ValueError as error:
                if found.lines == 1 and raw.lstrip().startswith(b"["):
                    raise MemoryLiteError(f"{self.name} is a JSON array", "one object a line is needed") from None
                found.report(number, str(error))
                continue
            if "type" in memory and not memory.keys().isdisjoint(("sessionId", "message")):
                raise self._transcript()
            values, problems = values_of(memory)
            for problem in problems:
                found.report(number, problem)
            scope, id_ = values.get("scope"), memory.get("id")
            if isinstance(scope, str) and scope.startswith("project:") and "project" not in memory:
                found.scopes.setdefault(scope, number)
            if isinstance(id_, str):
                ids.add(_mark(id_), number)
            else:
                bare.add(mark_of(memory), number)
        for first, again in ids.repeated_lines():
            found.report(again, f"its id is that of line {first:,} too")
        found.repeated = bare.repeated()
        return found

    def batches(self, checked: Checked, advance: Advance) -> Iterator[list[Line]]:
        """Read it once more, as many lines at a time as one request takes."""
        batch: list[Line] = []
        size = 0
        for line in self._lines(checked.repeated, advance):
            if batch and (len(batch) == BATCH_LINES or size + line.size > BATCH_BYTES):
                yield batch
                batch, size = [], 0
            batch.append(line)
            size += line.size
        if batch:
            yield batch

    def _lines(self, repeated: set[int], advance: Advance) -> Iterator[Line]:
        times: dict[int, int] = {}
        for number, raw in self._raw_lines(advance):
            try:
                memory = parse(raw)
            except ValueError:
                raise self._changed() from None
            nth = 0
            if repeated and "id" not in memory and (mark := mark_of(memory)) in repeated:
                nth = times[mark] = times.get(mark, -1) + 1
            yield Line(number, memory, len(raw), nth)

    def _raw_lines(self, advance: Advance) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, with their numbers, from the beginning."""
        self._file.seek(0)
        is_packed = self._file.read(2) == _GZIP
        self._file.seek(0)
        content = gzip.GzipFile(fileobj=self._file) if is_packed else self._file
        number = 0
        try:
            while raw := content.readline(MAX_LINE_BYTES):
                number += 1
                if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    # Only its beginning is kept, which is no JSON and reported as what it is.
                    while (rest := content.readline(_PIECE_BYTES)) and not rest.endswith(b"\n"):
                        pass
                if number == 1:
                    raw = raw.removeprefix(_BOM)
                if raw.strip():
                    yield number, raw
                if number % _LOOK_EVERY == 0:
                    advance(self._file.tell())
                    self._check_state()
        except (OSError, EOFError, zlib.error) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise MemoryLiteError(f"{self.name} cannot be read after line {number:,}: {reason}") from None
        self._check_state()

    def _check_state(self) -> None:
        if self._look() != self._state:
            raise self._changed()

    def _look(self) -> tuple[int, int]:
        found = os.fstat(self._file.fileno())
        return found.st_size, found.st_mtime_ns

    def _transcript(self) -> MemoryLiteError:
        return MemoryLiteError(
            f"{self.name} is a transcript of Claude Code, no file of memories",
            f"run `claude-mem-lite import transcripts {shlex.quote(self.path) if self.path else 'FILE'}`",
        )

    def _changed(self) -> MemoryLiteError:
        return MemoryLiteError(f"{self.name} was changed while it was read", "run it again")


@contextmanager
def open_memories(name: str) -> Iterator[MemoryFile]:
    """A file to read memories from; `-` and a pipe are copied to a temporary file first, to be read twice."""
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
    """The JSON object on a line; ValueError says why there is none."""
    if len(raw) == MAX_LINE_BYTES and not raw.endswith(b"\n"):
        raise ValueError(f"longer than {MAX_LINE_BYTES // 1024**2} MB")
    try:
        line = raw.decode().rstrip()
        value: JsonValue = json.loads(line, object_pairs_hook=_object, parse_constant=_constant)
        if "\\ud" in line or "\\uD" in line:
            value = load_json(line)  # half a character is in none of the texts it gives
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 (byte {error.start + 1:,})") from None
    except json.JSONDecodeError as error:
        raise ValueError(f"no JSON: {error.msg} (column {error.colno:,})") from None
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError("not a JSON object")
    return value


def mark_of(memory: JsonObject) -> int:
    """What a line without an id is known by, among the lines of a file."""
    return _mark(json.dumps(memory, sort_keys=True))


def _mark(text: str) -> int:
    # Of a million different ones, two are the same once in 37 million files.
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest())


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    made = dict(pairs)
    if len(made) != len(pairs):
        times = Counter(name for name, _ in pairs)
        raise ValueError(f"{next(name for name, _ in pairs if times[name] > 1)} is given twice")
    return made


def _constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no number of JSON")


@contextmanager
def _copied(file: IO[bytes]) -> Iterator[IO[bytes]]:
    with tempfile.TemporaryFile() as copy:
        copyfileobj(file, copy)
        copy.flush()
        yield copy


class _Marks:
    """Marks of lines, sixteen bytes each, to find those that come again."""

    def __init__(self) -> None:
        # In parts, since sorting takes five times the memory of what is sorted.
        self._parts = [(array("Q"), array("Q")) for _ in range(_PARTS)]

    def add(self, mark: int, line: int) -> None:
        marks, lines = self._parts[mark % _PARTS]
        marks.append(mark)
        lines.append(line)

    def repeated(self) -> set[int]:
        return {mark for mark, _, _ in self._again()}

    def repeated_lines(self) -> list[tuple[int, int]]:
        """The first and each further line of what comes more than once, in the order of the latter."""
        return sorted(((first, again) for _, first, again in self._again()), key=lambda pair: pair[1])

    def _again(self) -> Iterator[tuple[int, int, int]]:
        """Each that came before: its mark, the first line with it, and its own."""
        for marks, lines in self._parts:
            first = 0
            # Not numpy, which takes longer to load than this takes for a hundred thousand lines.
            for before, at in pairwise(sorted(range(len(marks)), key=marks.__getitem__)):
                if marks[before] == marks[at]:
                    first = first if marks[first] == marks[at] else before
                    yield marks[at], lines[first], lines[at]
