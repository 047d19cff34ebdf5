"""Entries of a transcript: lines in which somebody said or did something, with their times; tool calls with their
results, as hook payloads; and the files of sub-agents.

A user line is a prompt, a mark of the client, or nothing typed. Text injected by the client or its hooks is removed,
because such text must never be remembered as somebody's words. An invalid or impossible time counts as no time."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.claude_code import (
    IGNORED_TOOLS,
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    is_own_tool,
    without_tags,
)
from claude_mem_lite.importers.jsonl_reader import Lines, TranscriptProblem, open_plain
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.values import frozen

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


@frozen
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


@frozen
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
            last_ns = max(time_ns(text(line.get("timestamp"))), last_ns)
            if last_ns:
                yield TranscriptEntry(kind, last_ns, line)


def first_entry(lines: Lines) -> TranscriptEntry | None:
    """Return the first entry near the beginning of a file."""
    head = (line for _, line in zip(range(_LINES_TO_PEEK), lines, strict=False))
    return next(read_entries(head), None)


def time_ns(written: str) -> int:
    """Return a written time in nanoseconds since 1970; 0 for an invalid or impossible time."""
    at = read_time(written)
    return (at - EPOCH) // timedelta(microseconds=1) * 1000 if at else 0


_CLIENTS_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")

Mark = Literal["prompt", "notification", "interruption", "nothing"]


@frozen
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


# Stopped by the user or by a rule: the tool did not fail, because the tool never ran.
_REFUSED = (
    "The user doesn't want to ",
    "[Request interrupted by user",
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
)
_ERROR_TAG = ("<tool_use_error>", "</tool_use_error>")


@frozen
class FinishedCall:
    """Finished call: the event, and the fields of a hook's payload."""

    kind: str
    id: str
    members: JsonObject


class PendingCalls:
    """Calls of one agent that wait for their results."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, JsonValue]] = {}

    def begin(self, block: JsonObject) -> None:
        """Note a call; ignored tools are left out, with their results."""
        name, id_ = word(block.get("name")), word(block.get("id"))
        if name and id_ and name not in IGNORED_TOOLS and not is_own_tool(name):
            self._waiting[id_] = (name, block.get("input"))

    def end(self, line: JsonObject, results: Sequence[JsonObject]) -> Iterator[FinishedCall]:
        """Yield the calls that the results on a line belong to."""
        # The client's own record belongs to the whole line, so the record is used only for a single result.
        record = line.get("toolUseResult") if len(results) == 1 else None
        for block in results:
            id_ = word(block.get("tool_use_id"))
            call = self._waiting.pop(id_, None)
            outcome = _outcome(line, block, record) if call else None
            if call and outcome:
                kind, fields = outcome
                tool_input = call[1] if isinstance(call[1], Mapping) else {}
                yield FinishedCall(
                    kind, id_, {"tool_name": call[0], "tool_input": tool_input, "tool_use_id": id_, **fields}
                )


def _outcome(line: JsonObject, block: JsonObject, record: JsonValue) -> tuple[str, JsonObject] | None:
    """Return the event of a result with its payload fields; None if the tool was not allowed to run."""
    if block.get("is_error") is not True:
        return "PostToolUse", {"tool_response": text_of(block.get("content")) if record is None else record}
    message = text_of(block.get("content")).removeprefix(_ERROR_TAG[0]).removesuffix(_ERROR_TAG[1])
    if line.get("toolDenialKind") or message.startswith(_REFUSED):
        return None
    error = message or text(record).removeprefix("Error: ")
    return "PostToolUseFailure", {"error": error, "is_interrupt": False}


_MAX_META_BYTES = 64 * 1024


class Subagent:
    """File of one sub-agent; `events` is to be iterated once."""

    def __init__(self, path: Path, problems: list[TranscriptProblem]) -> None:
        self.lines = Lines(path, problems)
        self.is_at_work = False
        """True between the first entry and the closing message."""
        self._path = path
        self._problems = problems
        self._id = path.name.split(".")[0].removeprefix("agent-")
        self._type = _type_by_meta(path)
        self._calls = PendingCalls()
        self._last_words: TranscriptEntry | None = None

    def events(self) -> Iterator[UnnamedEvent]:
        """Yield the events by time. The file is opened when the time of the first event has come."""
        peeked: list[TranscriptProblem] = []
        first = first_entry(Lines(self._path, peeked))
        if first is None:
            self._problems += peeked
            return
        self.is_at_work = True
        # The merge by time holds this entry: a session may have hundreds of agents, more than open files allow.
        yield UnnamedEvent("", first, {})
        for entry in read_entries(self.lines):
            self._type = self._type or entry.member("attributionAgent")
            yield from self._events_of(entry)
        if self._last_words:
            self.is_at_work = False
            message = text_of(self._last_words.message.get("content"))
            yield self._event("SubagentStop", self._last_words, {"last_assistant_message": message})

    def _events_of(self, entry: TranscriptEntry) -> Iterator[UnnamedEvent]:
        content = blocks(entry.message.get("content"))
        if entry.kind == "user":
            results = [block for block in content if block.get("type") == "tool_result"]
            for ended in self._calls.end(entry.line, results):
                yield self._event(ended.kind, entry, ended.members, ended.id)
        elif entry.kind == "assistant":
            calls = [block for block in content if block.get("type") == "tool_use"]
            for block in calls:
                self._calls.begin(block)
            if calls:
                self._last_words = None
            elif text_of(content):
                self._last_words = entry

    def _event(self, kind: str, entry: TranscriptEntry, members: JsonObject, seed: str = "") -> UnnamedEvent:
        return UnnamedEvent(kind, entry, members, seed, self._id, self._type)


def _type_by_meta(path: Path) -> str:
    """Return the type of agent that newer clients note beside the file."""
    try:
        with open_plain(path.with_name(f"{path.name.split('.')[0]}.meta.json")) as file:
            meta = json.loads(file.read(_MAX_META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return word(meta.get("agentType")) if isinstance(meta, dict) else ""
