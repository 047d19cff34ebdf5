"""The lines of a transcript that somebody said or did something in, each with when that was.

What a user line of a transcript says: a prompt, a mark of the client, or nothing that anybody typed.

Text that the client or its hooks put in is taken out here; it must never be remembered as somebody's words.

Times as others wrote them, with care: what is none, and what cannot be true, counts as no time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from claude_mem_lite.agents.injected_markup import (
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    without_tags,
)
from claude_mem_lite.importers.jsonl_reader import Lines
from claude_mem_lite.models import JsonObject, JsonValue, text

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SANE = (datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))


def read_time(written: str) -> datetime | None:
    """A time in UTC, which is also meant where no zone is written."""
    try:
        at = datetime.fromisoformat(written)
        return sane(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def sane(at: datetime) -> datetime | None:
    return at if _SANE[0] <= at < _SANE[1] else None


# All else a client writes is its own bookkeeping, or context that was injected.
_KINDS = ("user", "assistant", "system")
_LINES_TO_PEEK = 200
_MAX_WORD_LENGTH = 4096


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
    return given if len(given) <= _MAX_WORD_LENGTH and "\x00" not in given else ""


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


_CLIENTS_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")

Mark = Literal["prompt", "notification", "interruption", "nothing"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a user line amounts to; `text` only when it is a prompt."""

    mark: Mark
    text: str = ""


NOTHING = Said("nothing")


def blocks(content: JsonValue) -> list[JsonObject]:
    """The blocks of a message, whether it was written as a text or as a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(content: JsonValue) -> str:
    """The text in a message or a tool's result, without what the client put in."""
    said = [text(block.get("text")) for block in blocks(content) if block.get("type") == "text"]
    return without_injected("\n".join(said))


def read_user_line(line: JsonObject, content: Sequence[JsonObject]) -> Said:
    """What a user line that brings no tool's result says."""
    if any(line.get(mark) is True for mark in _CLIENTS_MARKS):
        return NOTHING
    origin = line.get("origin")
    if isinstance(origin, dict) and origin.get("kind") == "task-notification":
        return Said("notification")
    said = without_injected("\n".join(text(block.get("text")) for block in content if block.get("type") == "text"))
    if said.startswith(INTERRUPTED):
        return Said("interruption")
    if said.startswith(NOTIFICATION):
        return Said("notification")
    if said.startswith("<command-message>"):
        said = _command(said)
    if not said or said.startswith((OWN_COMMAND, *NOT_TYPED)):
        return NOTHING
    return Said("prompt", said)


def without_injected(given: str) -> str:
    """The text without the blocks that the client and its hooks put into it."""
    return without_tags(given, INJECTED_TAGS).strip()


def _command(said: str) -> str:
    """What a command of the user's own asks for: its arguments, else only its name is known."""
    return _between(said, "<command-args>", "</command-args>") or _between(said, OWN_COMMAND, "</command-name>")


def _between(given: str, begin: str, end: str) -> str:
    return given.partition(begin)[2].partition(end)[0].strip()
