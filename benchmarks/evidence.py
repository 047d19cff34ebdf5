"""Transcripts without what gives a commit away, so that finding its session means remembering the work.

The commands that made or showed a commit go with their results, and so does every line that holds a commit's
subject word for word, wherever it stands."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.transcripts import Data, records, session_of

_GIVES_AWAY = re.compile(r"\bgit\b[^|;&\n]*\b(?:commit|log|show)\b|\bgh\s+pr\b")
_PLAIN = re.compile(r"[A-Za-z0-9 ,.()/:_-]+")


def write_without_evidence(data: Data, folder: Path) -> None:
    """Write every transcript, plain and filtered, into a folder as the client lays them out."""
    folder.mkdir(parents=True)
    subjects = [_folded(query.text) for query in data.queries]
    for file in data.files:
        lines = without_evidence(records(file), subjects)
        (folder / f"{session_of(file)}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))


def without_evidence(lines: Iterator[dict[str, object]], subjects: Sequence[str]) -> Iterator[dict[str, object]]:
    """The lines of one transcript; a message that is left without content stays, for the chain it is part of."""
    # A subject's longest plain part is looked for first, in the whole line: 141 subjects in 76 MB take seconds.
    probes = [max(_PLAIN.findall(subject), key=len) for subject in subjects]
    given_away: set[str] = set()
    for line in lines:
        line = _without_commands(line, given_away)
        if str(line.get("toolUseID", "")) in given_away or str(line.get("parentToolUseID", "")) in given_away:
            continue
        folded = json.dumps(line, ensure_ascii=False).lower()
        near = [subject for subject, probe in zip(subjects, probes, strict=True) if probe in folded]
        yield {key: _without_lines(value, near) for key, value in line.items()} if near else line


def _without_commands(line: dict[str, object], given_away: set[str]) -> dict[str, object]:
    message = line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, list):
        return line
    kept = []
    for block in content:
        given = block.get("input") if isinstance(block, dict) else None
        if isinstance(given, dict) and _GIVES_AWAY.search(str(given.get("command", ""))):
            given_away.add(str(block.get("id")))
        elif not isinstance(block, dict) or str(block.get("tool_use_id")) not in given_away:
            kept.append(block)
    if len(kept) == len(content):
        return line
    changed = {**line, "message": {**message, "content": kept}}
    changed.pop("toolUseResult", None)
    return changed


def _without_lines(value: object, subjects: Sequence[str]) -> object:
    if isinstance(value, str):
        return "\n".join(
            line for line in value.split("\n") if not any(subject in _folded(line) for subject in subjects)
        )
    if isinstance(value, Mapping):
        return {key: _without_lines(item, subjects) for key, item in value.items()}
    if isinstance(value, list):
        return [_without_lines(item, subjects) for item in value]
    return value


def _folded(text: str) -> str:
    return " ".join(text.lower().split())
