"""Tool calls of a transcript with their results, as hook payloads; and the files of sub-agents: tool calls and closing
messages."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.agents.claude_code import IGNORED_TOOLS, is_own_tool
from claude_mem_lite.importers.jsonl_reader import Lines, TranscriptProblem, open_plain
from claude_mem_lite.importers.transcript_entries import (
    TranscriptEntry,
    UnnamedEvent,
    blocks,
    first_entry,
    read_entries,
    text_of,
    word,
)
from claude_mem_lite.models import JsonObject, JsonValue, text

# Stopped by the user or by a rule: the tool did not fail, because the tool never ran.
_REFUSED = (
    "The user doesn't want to ",
    "[Request interrupted by user",
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
)
_ERROR_TAG = ("<tool_use_error>", "</tool_use_error>")


@dataclass(frozen=True, slots=True)
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
