"""Tool calls of a project's earlier sessions, newest session first: from transcripts of Claude Code, and from events in
the inbox for sessions without a transcript. For the replay of guards.

Reads only, within a number of bytes, and yields None between pieces of work so that the caller can pause."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from claude_mem_lite.agents.claude_code import INJECTED_TAGS, INTERRUPTED, NOT_TYPED, NOTIFICATION, without_tags
from claude_mem_lite.guards.matching import Call
from claude_mem_lite.models import JsonObject, JsonValue, load_json, text
from claude_mem_lite.store.guards import PastOutcome
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen

MAX_BYTES = 96 * 1024 * 1024
MAX_LINE_BYTES = 4 * 1024 * 1024
MAX_FILES = 2_000
_PIECE_BYTES = 64 * 1024
# Stopped by the user or by a rule: the call never ran.
_REFUSED = (
    "The user doesn't want to ",
    INTERRUPTED,
    "Claude requested permissions to ",
    "Permission to use ",
    "Permission for this action ",
    "PreToolUse:",
)
_CLIENTS_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_MAX_PROMPT = 2_000
_MAX_TAIL_BYTES = 8 * 1024 * 1024
IsKept = Callable[[str, datetime], bool]
"""Tells whether work in a folder at a time may be read: not while memory was off."""


@frozen
class PastCall:
    """Tool call of the past, and the user's prompt after its turn."""

    session: str
    turn: str
    at: str
    call: Call
    outcome: PastOutcome
    next_prompt: str


@dataclass(slots=True)
class ByteBudget:
    """Bytes that may still be read."""

    left: int = MAX_BYTES
    is_whole: bool = True
    """False if something was left out."""


def transcript_folders(config_folders: Sequence[Path], folders: Sequence[str]) -> list[Path]:
    """Return the folders with the transcripts of sessions in some working folders."""
    names = [re.sub(r"[^A-Za-z0-9]", "-", folder) for folder in folders]
    found = (config / "projects" / name for config in config_folders for name in names)
    return [folder for folder in dict.fromkeys(found) if folder.is_dir()]


def transcripts_in(folders: Sequence[Path]) -> list[Path]:
    """Return the transcripts in some folders with those of their sub-agents, last written first."""
    files: list[tuple[float, Path]] = []
    for folder in folders:
        for path in (*folder.glob("*.jsonl"), *folder.glob("*/subagents/*.jsonl")):
            try:
                files.append((path.stat().st_mtime, path))
            except OSError:
                continue
    return [path for _, path in sorted(files, reverse=True)[:MAX_FILES]]


def past_calls(
    paths: Sequence[Path], roots: Sequence[str], is_kept: IsKept, budget: ByteBudget
) -> Iterator[PastCall | None]:
    """Yield the calls of transcripts, and None after each piece of work."""
    for path in paths:
        if budget.left <= 0:
            budget.is_whole = False
            return
        reader = _SessionReader(path.stem, roots, is_kept)
        for line in _lines(path, budget):
            if line is not None:
                yield from reader.read(line)
            else:
                yield None
        yield from reader.finish()
        yield None


def root_of(folder: str, roots: Sequence[str]) -> str:
    """Return the checkout that a folder is in: the longest known one, else the folder itself."""
    inside = [root for root in roots if folder == root or folder.startswith(root.rstrip("/") + "/")]
    return max(inside, key=len, default=folder)


def _lines(path: Path, budget: ByteBudget) -> Iterator[JsonObject | None]:
    """Yield the lines of a file that hold calls, results or prompts; of a file that is too large, its end."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            start = max(0, size - budget.left)
            file.seek(start)
            budget.is_whole = budget.is_whole and start == 0
            if start:
                file.readline(MAX_LINE_BYTES)
            since = 0
            while raw := file.readline(MAX_LINE_BYTES):
                budget.left -= len(raw)
                since += len(raw)
                if (line := _parsed(raw)) is not None:
                    yield line
                if since > _PIECE_BYTES:
                    since = 0
                    yield None
    except OSError:
        budget.is_whole = False


def _parsed(raw: bytes) -> JsonObject | None:
    if b'"tool_use"' not in raw and b'"user"' not in raw:
        return None
    try:
        value = load_json(raw.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, Mapping) else None


@dataclass(slots=True)
class _SessionReader:
    """Reader of the lines of one transcript; holds the calls of the present turn."""

    session: str
    roots: Sequence[str]
    is_kept: IsKept
    turn: str = ""
    waiting: dict[str, PastCall] = field(default_factory=dict)
    done: list[PastCall] = field(default_factory=list)

    def read(self, line: JsonObject) -> Iterator[PastCall]:
        """Take one line in; yield the calls of the turn that its prompt ends."""
        message = line.get("message")
        content = _blocks(message.get("content")) if isinstance(message, Mapping) else []
        if line.get("type") == "assistant":
            for block in content:
                self._begin(line, block)
        elif line.get("type") == "user":
            results = [block for block in content if block.get("type") == "tool_result"]
            for block in results:
                self._end(line, block)
            prompt = "" if results else _prompt(line, content)
            if prompt:
                yield from self._turn(prompt)
                self.turn = text(line.get("promptId")) or text(line.get("uuid"))

    def finish(self) -> Iterator[PastCall]:
        """Yield the calls of the last turn."""
        return self._turn("")

    def _turn(self, next_prompt: str) -> Iterator[PastCall]:
        for call in (*self.done, *self.waiting.values()):
            yield replace(call, next_prompt=next_prompt[:_MAX_PROMPT])
        self.done.clear()
        self.waiting.clear()

    def _begin(self, line: JsonObject, block: JsonObject) -> None:
        at = _time(text(line.get("timestamp")))
        folder = text(line.get("cwd"))
        given = block.get("input")
        if block.get("type") != "tool_use" or at is None or not isinstance(given, dict):
            return
        if not self.is_kept(folder, at):
            return
        call = Call(text(block.get("name")), given, folder, root_of(folder, self.roots), text(line.get("gitBranch")))
        session = text(line.get("sessionId")) or self.session
        self.waiting[text(block.get("id"))] = PastCall(session, self.turn, time_to_text(at), call, "unknown", "")

    def _end(self, line: JsonObject, block: JsonObject) -> None:
        call = self.waiting.pop(text(block.get("tool_use_id")), None)
        if call is not None:
            outcome: PastOutcome = "refused" if _is_refused(line, block) else "ran"
            self.done.append(replace(call, outcome=outcome))


def _is_refused(line: JsonObject, block: JsonObject) -> bool:
    if block.get("is_error") is not True:
        return False
    written = "\n".join(text(part.get("text")) for part in _blocks(block.get("content")))
    return bool(line.get("toolDenialKind")) or written.removeprefix("<tool_use_error>").startswith(_REFUSED)


def _prompt(line: JsonObject, content: Sequence[JsonObject]) -> str:
    """Return what the user typed on a line; '' for text of the client."""
    if any(line.get(mark) is True for mark in _CLIENTS_MARKS):
        return ""
    written = "\n".join(text(block.get("text")) for block in content if block.get("type") == "text")
    written = without_tags(written, INJECTED_TAGS).strip()
    return "" if written.startswith((INTERRUPTED, NOTIFICATION, "<command-name>", *NOT_TYPED)) else written


def _blocks(content: JsonValue) -> list[JsonObject]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def _time(written: str) -> datetime | None:
    try:
        at = datetime.fromisoformat(written)
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        return None


def calls_named(path: Path, tool_uses: Collection[str], root: str) -> dict[str, Call]:
    """Return the calls with these ids from the end of a transcript; calls that did not run are nowhere else."""
    found: dict[str, Call] = {}
    for line in _lines(path, ByteBudget(_MAX_TAIL_BYTES)):
        message = line.get("message") if line is not None else None
        if line is None or not isinstance(message, Mapping):
            continue
        for block in _blocks(message.get("content")):
            id_, given = text(block.get("id")), block.get("input")
            if block.get("type") == "tool_use" and id_ in tool_uses and isinstance(given, dict):
                folder = text(line.get("cwd")) or root
                found[id_] = Call(text(block.get("name")), given, folder, root, text(line.get("gitBranch")))
    return found
