"""The lines of a transcript that somebody said or did something in, each with when that was."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta

from claude_mem_lite.importers.jsonl_reader import Lines
from claude_mem_lite.importers.times import EPOCH, read_time
from claude_mem_lite.models import JsonObject, JsonValue, text

# All else a client writes is its own bookkeeping, or context that was injected.
_KINDS = ("user", "assistant", "system")
_LINES_TO_PEEK = 200
_LONGEST_WORD = 4096


@dataclass(frozen=True, slots=True)
class Entry:
    """One such line. Times never go back within a file, whatever the clock did."""

    kind: str
    at_ns: int
    line: JsonObject

    def member(self, key: str) -> str:
        return word(self.line.get(key))

    @property
    def message(self) -> JsonObject:
        found = self.line.get("message")
        return found if isinstance(found, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Found:
    """An event found in a transcript, before it has a name."""

    kind: str
    entry: Entry
    members: JsonObject
    seed: str = ""
    """What tells it from others of its kind on the same line."""
    agent: str = ""
    agent_type: str = ""

    @property
    def at_ns(self) -> int:
        return self.entry.at_ns


def word(value: JsonValue) -> str:
    """An id, a name or a path; nothing for what cannot be one."""
    given = text(value)
    return given if len(given) <= _LONGEST_WORD and "\x00" not in given else ""


def read_entries(lines: Iterable[JsonObject]) -> Iterator[Entry]:
    """The entries of a file in its order; a line without a time has that of the one before, the first must have one."""
    last_ns = 0
    for line in lines:
        kind = text(line.get("type"))
        if kind in _KINDS:
            last_ns = max(_time_ns(text(line.get("timestamp"))), last_ns)
            if last_ns:
                yield Entry(kind, last_ns, line)


def first_entry(lines: Lines) -> Entry | None:
    """The first entry of a file, looked for near its beginning."""
    head = (line for _, line in zip(range(_LINES_TO_PEEK), lines, strict=False))
    return next(read_entries(head), None)


def _time_ns(written: str) -> int:
    """A time as written, in nanoseconds since 1970; 0 for what is none, or cannot be true."""
    at = read_time(written)
    return (at - EPOCH) // timedelta(microseconds=1) * 1000 if at else 0
