"""Recorded sessions as they are, read without the product: what the benchmarks compare with.

A data folder holds `sessions/<session>.jsonl.gz`, `sessions.json` and `queries.json`."""

import gzip
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from claude_mem_lite.evaluation.recording import Recording, read_recording
from claude_mem_lite.evaluation.trigger_walk import is_typed
from claude_mem_lite.timestamps import utc_now

EDITING_TOOLS = ("Edit", "MultiEdit", "Write", "NotebookEdit")


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call with the text its result gave the model, and the client's own record of the result."""

    tool: str
    input: Mapping[str, object]
    output: str = ""
    record: object = None
    failed: bool = False

    @property
    def command(self) -> str:
        return str(self.input.get("command", "")) if self.tool == "Bash" else ""

    @property
    def patch(self) -> list[Mapping[str, object]]:
        """The hunks of an edit, as the client recorded them."""
        found = self.record.get("structuredPatch") if isinstance(self.record, dict) else None
        return [hunk for hunk in found if isinstance(hunk, dict)] if isinstance(found, list) else []


@dataclass(slots=True)
class RawTurn:
    """A prompt and what followed it."""

    session: str
    prompt: str
    prose: list[str] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)

    def changed_something(self) -> bool:
        return any(
            not call.failed and (call.tool in EDITING_TOOLS or "git commit" in call.command) for call in self.calls
        )


@dataclass(frozen=True, slots=True)
class Query:
    """A commit's subject and the sessions that made it."""

    text: str
    sessions: tuple[str, ...]


@dataclass(frozen=True)
class Data:
    """One data folder."""

    folder: Path

    @cached_property
    def files(self) -> list[Path]:
        """The transcripts in order of time, as `sessions.json` lists them."""
        listed = json.loads((self.folder / "sessions.json").read_text())
        return [self.folder / "sessions" / f"{each['session']}.jsonl.gz" for each in listed]

    @cached_property
    def queries(self) -> list[Query]:
        listed = json.loads((self.folder / "queries.json").read_text())
        return [Query(each["query"], tuple(each["sessions"])) for each in listed]

    @cached_property
    def megabytes(self) -> float:
        """The size of all transcripts, unpacked."""
        return sum(len(gzip.decompress(file.read_bytes())) for file in self.files) / 1e6

    def turns(self) -> Iterator[RawTurn]:
        for file in self.files:
            yield from turns_of(session_of(file), records(file))


def recorded(data: Data) -> Recording:
    """The sessions of a data folder, with the files that `sessions.json` tells."""
    return read_recording([data.folder], utc_now())


def plain_turns(folder: Path) -> Iterator[RawTurn]:
    """The turns of transcripts that were unpacked into a folder."""
    for file in sorted(folder.glob("*.jsonl")):
        yield from turns_of(session_of(file), records(file))


def session_of(file: Path) -> str:
    return file.name.split(".")[0]


def records(file: Path) -> Iterator[dict[str, object]]:
    """The lines of a transcript, packed or not, that are JSON objects."""
    with gzip.open(file, "rt", encoding="utf-8") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if isinstance(record, dict):
                yield record


def blocks(record: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The content of a message as blocks."""
    message = record.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def block_text(block: Mapping[str, object]) -> str:
    """The text of a text block or of a tool's result."""
    content = block.get("text", block.get("content"))
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def is_prompt(record: Mapping[str, object], text: str) -> bool:
    """Whether a user's text block was typed by a person."""
    made_up = record.get("isMeta") or record.get("isCompactSummary") or record.get("isVisibleInTranscriptOnly")
    return not made_up and is_typed(text)


def turns_of(session: str, lines: Iterator[dict[str, object]]) -> Iterator[RawTurn]:
    """The turns of one transcript; a call whose result never came is left out."""
    turn = RawTurn(session, "")
    asked: dict[str, tuple[str, Mapping[str, object]]] = {}
    for record in lines:
        if record.get("isSidechain") or record.get("type") not in ("user", "assistant"):
            continue
        for block in blocks(record):
            kind = block.get("type")
            if kind == "text" and record["type"] == "assistant":
                turn.prose.append(block_text(block))
            elif kind == "text" and is_prompt(record, block_text(block)):
                if turn.prompt or turn.calls:
                    yield turn
                turn = RawTurn(session, block_text(block))
            elif kind == "tool_use":
                given = block.get("input")
                asked[str(block.get("id"))] = (str(block.get("name")), given if isinstance(given, dict) else {})
            elif kind == "tool_result" and str(block.get("tool_use_id")) in asked:
                tool, given = asked.pop(str(block.get("tool_use_id")))
                failed = block.get("is_error") is True
                turn.calls.append(Call(tool, given, block_text(block), record.get("toolUseResult"), failed))
    if turn.prompt or turn.calls:
        yield turn


def strings(value: object) -> Iterator[str]:
    """Every string in a JSON value, in order, without the keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from strings(item)
    elif isinstance(value, Sequence):
        for item in value:
            yield from strings(item)
