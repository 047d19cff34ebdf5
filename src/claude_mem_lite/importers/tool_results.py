"""Tool calls of a transcript: what the model wanted and what came of it, put together as a hook would tell it.

What sub-agents did, from the files the client keeps of them: their tool calls and their last words."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.agents.claude_code import IGNORED_TOOLS, is_own_tool
from claude_mem_lite.importers.jsonl_reader import Lines, Problem, open_plain
from claude_mem_lite.importers.transcript_entries import Entry, Found, blocks, first_entry, read_entries, text_of, word
from claude_mem_lite.models import JsonObject, JsonValue, text

# Stopped by the user or by a rule: the tool did not fail, it never ran.
_REFUSED = (
    "The user doesn't want to ",
    "[Request interrupted by user",
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
)
_ERROR_TAG = ("<tool_use_error>", "</tool_use_error>")


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that came to its end: the event, and what a hook's payload would have of it."""

    kind: str
    id: str
    members: JsonObject


class Calls:
    """The calls of one agent that wait for their results."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[str, JsonValue]] = {}

    def begin(self, block: JsonObject) -> None:
        """Note a call; one of a tool that is never captured is left out, and so is its result."""
        name, id_ = word(block.get("name")), word(block.get("id"))
        if name and id_ and name not in IGNORED_TOOLS and not is_own_tool(name):
            self._waiting[id_] = (name, block.get("input"))

    def end(self, line: JsonObject, results: Sequence[JsonObject]) -> Iterator[Ended]:
        """The calls that the results on a line belong to."""
        # The client's own record stands beside the results, so it tells of one only when that is alone.
        record = line.get("toolUseResult") if len(results) == 1 else None
        for block in results:
            id_ = word(block.get("tool_use_id"))
            call = self._waiting.pop(id_, None)
            outcome = _outcome(line, block, record) if call else None
            if call and outcome:
                kind, told = outcome
                given = call[1] if isinstance(call[1], Mapping) else {}
                yield Ended(kind, id_, {"tool_name": call[0], "tool_input": given, "tool_use_id": id_, **told})


def _outcome(line: JsonObject, block: JsonObject, record: JsonValue) -> tuple[str, JsonObject] | None:
    """The event of a result and what it adds to the payload; None when the tool was not let run."""
    if block.get("is_error") is not True:
        return "PostToolUse", {"tool_response": text_of(block.get("content")) if record is None else record}
    said = text_of(block.get("content")).removeprefix(_ERROR_TAG[0]).removesuffix(_ERROR_TAG[1])
    if line.get("toolDenialKind") or said.startswith(_REFUSED):
        return None
    error = said or text(record).removeprefix("Error: ")
    return "PostToolUseFailure", {"error": error, "is_interrupt": False}


_MAX_META_BYTES = 64 * 1024


class Subagent:
    """One sub-agent's file; `events` is to be iterated once."""

    def __init__(self, path: Path, problems: list[Problem]) -> None:
        self.lines = Lines(path, problems)
        self.is_at_work = False
        """It has begun and its last words are not there yet."""
        self._path = path
        self._problems = problems
        self._id = path.name.split(".")[0].removeprefix("agent-")
        self._type = _type_by_meta(path)
        self._calls = Calls()
        self._last_words: Entry | None = None

    def events(self) -> Iterator[Found]:
        """Its events by time. The file is opened only when the time of its first one has come."""
        peeked: list[Problem] = []
        first = first_entry(Lines(self._path, peeked))
        if first is None:
            self._problems += peeked
            return
        self.is_at_work = True
        # Held by whoever merges files by time: a session may have hundreds of agents, and not as many open files.
        yield Found("", first, {})
        for entry in read_entries(self.lines):
            self._type = self._type or entry.member("attributionAgent")
            yield from self._events_of(entry)
        if self._last_words:
            self.is_at_work = False
            said = text_of(self._last_words.message.get("content"))
            yield self._found("SubagentStop", self._last_words, {"last_assistant_message": said})

    def _events_of(self, entry: Entry) -> Iterator[Found]:
        content = blocks(entry.message.get("content"))
        if entry.kind == "user":
            results = [block for block in content if block.get("type") == "tool_result"]
            for ended in self._calls.end(entry.line, results):
                yield self._found(ended.kind, entry, ended.members, ended.id)
        elif entry.kind == "assistant":
            calls = [block for block in content if block.get("type") == "tool_use"]
            for block in calls:
                self._calls.begin(block)
            if calls:
                self._last_words = None
            elif text_of(content):
                self._last_words = entry

    def _found(self, kind: str, entry: Entry, members: JsonObject, seed: str = "") -> Found:
        return Found(kind, entry, members, seed, self._id, self._type)


def _type_by_meta(path: Path) -> str:
    """The kind of agent, as newer clients note it beside the file."""
    try:
        with open_plain(path.with_name(f"{path.name.split('.')[0]}.meta.json")) as file:
            meta = json.loads(file.read(_MAX_META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return word(meta.get("agentType")) if isinstance(meta, dict) else ""
