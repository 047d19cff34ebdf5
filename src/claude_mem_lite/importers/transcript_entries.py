"""Entries of a transcript: lines in which somebody said or did something, with their times.

A user line is a prompt, a mark of the client, or nothing typed. Text injected by the client or its hooks is removed,
because such text must never be remembered as somebody's words. An invalid or impossible time counts as no time."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from claude_mem_lite.agents.claude_code import (
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
    """Return a time in UTC, the default zone; None for an invalid time."""
    try:
        at = datetime.fromisoformat(written)
        return sane(at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        return None


def sane(at: datetime) -> datetime | None:
    return at if _SANE[0] <= at < _SANE[1] else None


# All other types are the client's bookkeeping, or injected context.
_KINDS = ("user", "assistant", "system")
_LINES_TO_PEEK = 200
_MAX_WORD_LENGTH = 4096


@dataclass(frozen=True, slots=True)
class TranscriptEntry:
    """One entry. Times never go back within a file, even if the clock did."""

    kind: str
    at_ns: int
    line: JsonObject

    def member(self, key: str) -> str:
        return word(self.line.get(key))

    @property
    def message(self) -> JsonObject:
        message = self.line.get("message")
        return message if isinstance(message, Mapping) else {}


@dataclass(frozen=True, slots=True)
class UnnamedEvent:
    """Event found in a transcript, without a name yet."""

    kind: str
    entry: TranscriptEntry
    members: JsonObject
    seed: str = ""
    """Distinguishes events of one kind on the same line."""
    agent: str = ""
    agent_type: str = ""

    @property
    def at_ns(self) -> int:
        return self.entry.at_ns


def word(value: JsonValue) -> str:
    """Return an id, a name or a path; '' for any other value."""
    written = text(value)
    return written if len(written) <= _MAX_WORD_LENGTH and "\x00" not in written else ""


def read_entries(lines: Iterable[JsonObject]) -> Iterator[TranscriptEntry]:
    """Yield the entries of a file in order; a line without a time has the time of the line before, the first needs a
    time."""
    last_ns = 0
    for line in lines:
        kind = text(line.get("type"))
        if kind in _KINDS:
            last_ns = max(_time_ns(text(line.get("timestamp"))), last_ns)
            if last_ns:
                yield TranscriptEntry(kind, last_ns, line)


def first_entry(lines: Lines) -> TranscriptEntry | None:
    """Return the first entry near the beginning of a file."""
    head = (line for _, line in zip(range(_LINES_TO_PEEK), lines, strict=False))
    return next(read_entries(head), None)


def _time_ns(written: str) -> int:
    """Return a written time in nanoseconds since 1970; 0 for an invalid or impossible time."""
    at = read_time(written)
    return (at - EPOCH) // timedelta(microseconds=1) * 1000 if at else 0


_CLIENTS_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")

Mark = Literal["prompt", "notification", "interruption", "nothing"]


@dataclass(frozen=True, slots=True)
class UserLine:
    """Classified user line; `text` only for a prompt."""

    mark: Mark
    text: str = ""


NOTHING = UserLine("nothing")


def blocks(content: JsonValue) -> list[JsonObject]:
    """Return the blocks of a message, written as a text or as a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(content: JsonValue) -> str:
    """Return the text of a message or a tool result, without injected text."""
    written = [text(block.get("text")) for block in blocks(content) if block.get("type") == "text"]
    return without_injected("\n".join(written))


def read_user_line(line: JsonObject, content: Sequence[JsonObject]) -> UserLine:
    """Classify a user line without tool results."""
    if any(line.get(mark) is True for mark in _CLIENTS_MARKS):
        return NOTHING
    origin = line.get("origin")
    if isinstance(origin, dict) and origin.get("kind") == "task-notification":
        return UserLine("notification")
    written = without_injected("\n".join(text(block.get("text")) for block in content if block.get("type") == "text"))
    if written.startswith(INTERRUPTED):
        return UserLine("interruption")
    if written.startswith(NOTIFICATION):
        return UserLine("notification")
    if written.startswith("<command-message>"):
        written = _command(written)
    if not written or written.startswith((OWN_COMMAND, *NOT_TYPED)):
        return NOTHING
    return UserLine("prompt", written)


def without_injected(written: str) -> str:
    """Return the text without blocks injected by the client and its hooks."""
    return without_tags(written, INJECTED_TAGS).strip()


def _command(written: str) -> str:
    """Return the arguments of a user's command, else the command's name."""
    return _between(written, "<command-args>", "</command-args>") or _between(written, OWN_COMMAND, "</command-name>")


def _between(written: str, begin: str, end: str) -> str:
    return written.partition(begin)[2].partition(end)[0].strip()
