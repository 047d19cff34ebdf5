"""What sub-agents did, from the files the client keeps of them: their tool calls and their last words."""

import json
from collections.abc import Iterator
from pathlib import Path

from claude_mem_lite.importers.jsonl_reader import Lines, Problem, open_plain
from claude_mem_lite.importers.said import blocks, text_of
from claude_mem_lite.importers.tool_results import Calls
from claude_mem_lite.importers.transcript_entries import Entry, Found, first_entry, read_entries, word
from claude_mem_lite.models import JsonObject

_LONGEST_META_BYTES = 64 * 1024


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
            meta = json.loads(file.read(_LONGEST_META_BYTES))
    except (OSError, ValueError, RecursionError):
        return ""
    return word(meta.get("agentType")) if isinstance(meta, dict) else ""
