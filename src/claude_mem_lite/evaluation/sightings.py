"""Sightings of files in recorded sessions, and the checkout as it stood when a session began.

A session sees a whole file by an edit (the client records the file before), a whole read or a write, and the absence of
a file by a write of a new file, a read that fails, `rm` and `mv`. Between two sightings a file is taken to be as last
seen."""

import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from claude_mem_lite.evaluation.checkouts import checkouts_of
from claude_mem_lite.event_names import time_of
from claude_mem_lite.importers.transcript_turns import TranscriptEvent, TranscriptTurn
from claude_mem_lite.importers.transcripts import Transcript, read_transcript
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.values import frozen

_TOOLS_WITH_BEFORE = ("Edit", "Write")
"""Editing tools whose response holds the file before the edit."""
Tree = Mapping[str, str]
"""Text of each file, by its path from the root."""
_PARTS = re.compile(r"&&|\|\||[;|\n]")


@frozen
class Sighting:
    """File as a tool call found and left it; None for an absent file."""

    at: datetime
    branch: str
    file: str
    before: str | None
    after: str | None
    is_change: bool


@frozen
class RecordedSession:
    """Session with its turns, and the sightings of each turn."""

    id: str
    began_at: datetime
    branch: str
    root: str
    """Checkout where the session began."""
    turns: tuple[TranscriptTurn, ...]
    seen: Mapping[str, Sequence[Sighting]]
    """By the name of the turn."""

    @property
    def sightings(self) -> Iterator[Sighting]:
        for turn in self.turns:
            yield from self.seen[turn.name]


def recorded_sessions(
    transcripts: Sequence[Transcript], now: datetime, *, is_one_project: bool = False
) -> list[RecordedSession]:
    """Return the sessions of transcripts by the time of their begin; `is_one_project` as in `checkouts_of`."""
    read = [turns for transcript in transcripts if (turns := tuple(read_transcript(transcript, now)))]
    folders = {folder for turns in read for turn in turns for folder in (turn.cwd, *turn.folders)}
    roots = checkouts_of(folders, is_one_project=is_one_project)
    return sorted((_recorded_session(turns, roots) for turns in read), key=lambda session: session.began_at)


def _recorded_session(turns: tuple[TranscriptTurn, ...], roots: Mapping[str, str]) -> RecordedSession:
    first = turns[0]
    seen = {turn.name: [sighting for event in turn.events for sighting in _seen(event, roots)] for turn in turns}
    branch = text(first.events[0].payload.get("git_branch"))
    return RecordedSession(first.session, first.began_at, branch, roots[first.cwd], turns, seen)


def prompt_of(turn: TranscriptTurn) -> str:
    """Return the prompt of a turn; empty for a turn without a prompt."""
    asked = (event.payload for event in turn.events if event.payload.get("hook_event_name") == "UserPromptSubmit")
    return next((text(payload.get("prompt")) for payload in asked), "")


def is_edit(payload: JsonObject) -> bool:
    """Return whether an event is an edit with the client's record of the file before."""
    response = payload.get("tool_response")
    is_recorded = isinstance(response, Mapping) and "structuredPatch" in response and "originalFile" in response
    return is_recorded and text(payload.get("tool_name")) in _TOOLS_WITH_BEFORE


def tree_at(session: RecordedSession, earlier: Sequence[RecordedSession]) -> tuple[Tree, frozenset[str]]:
    """Return the checkout when a session began, and the files of it that the session itself saw.

    The text of any other file is from its last earlier sighting, on whatever branch: branches are mostly merged."""
    seen = (sighting for other in earlier for sighting in other.sightings if sighting.at < session.began_at)
    tree = {sighting.file: sighting.after for sighting in sorted(seen, key=lambda sighting: sighting.at)}
    own: dict[str, str | None] = {}
    for sighting in session.sightings:
        own.setdefault(sighting.file, sighting.before)
    tree |= own
    return {file: held for file, held in tree.items() if held is not None}, frozenset(own)


def write_tree(root: Path, tree: Tree, before: Tree) -> None:
    """Make a folder hold a tree; `before` is the tree that the folder holds so far.

    A file is left out if a folder has its name, or if the disk refuses the name."""
    for file in before.keys() - tree.keys():
        with suppress(OSError, ValueError):
            (root / file).unlink()
    for file, held in tree.items():
        if before.get(file) != held:
            path = root / file
            with suppress(OSError, ValueError):
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(held, encoding="utf-8", errors="replace", newline="")


def _seen(event: TranscriptEvent, roots: Mapping[str, str]) -> Iterator[Sighting]:
    payload = event.payload
    folder = text(payload.get("cwd"))
    root = roots[folder].rstrip("/")
    for file, before, after in _states(payload, folder):
        if named := _path_below(root, file):
            is_change = is_edit(payload)
            yield Sighting(time_of(event.name), text(payload.get("git_branch")), named, before, after, is_change)


def _path_below(root: str, file: str) -> str:
    """Return the path of a file from the root; '' for a file outside, and for git's own files.

    Transcripts may be somebody else's: no path may lead out of the checkout that is written from them."""
    whole, prefix = os.path.normpath(file), f"{root}/"
    named = whole[len(prefix) :].lstrip("/") if whole.startswith(prefix) else ""
    parts = named.lower().split("/")
    return "" if "\0" in named or ".." in parts or parts[0] == ".git" else named


def _states(payload: JsonObject, folder: str) -> Iterator[tuple[str, str | None, str | None]]:
    """Yield files with their texts before and after a call."""
    tool, arguments, response = (payload.get(key) for key in ("tool_name", "tool_input", "tool_response"))
    arguments = arguments if isinstance(arguments, Mapping) else {}
    if payload.get("hook_event_name") == "PostToolUseFailure":
        if tool == "Read" and "does not exist" in text(payload.get("error")):
            yield text(arguments.get("file_path")), None, None
    elif isinstance(response, Mapping) and is_edit(payload):
        original = response.get("originalFile")
        before = original if isinstance(original, str) else None
        yield text(response.get("filePath")), before, _after(response, before)
    elif isinstance(response, Mapping) and tool == "Read":
        if (whole := _whole_read(response)) is not None:
            yield whole[0], whole[1], whole[1]
    elif tool == "Bash":
        for file in _removed(text(arguments.get("command")), folder):
            yield file, None, None


def _after(response: JsonObject, before: str | None) -> str:
    if "newString" not in response:
        return text(response.get("content"))
    times = -1 if response.get("replaceAll") is True else 1
    return (before or "").replace(text(response.get("oldString")), text(response.get("newString")), times)


def _whole_read(response: JsonObject) -> tuple[str, str] | None:
    file: JsonValue = response.get("file")
    if not isinstance(file, Mapping) or not isinstance(file.get("content"), str):
        return None
    is_whole = file.get("startLine") == 1 and file.get("numLines") == file.get("totalLines")
    return (text(file.get("filePath")), text(file.get("content"))) if is_whole else None


def _removed(command: str, folder: str) -> Iterator[str]:
    """Yield the files that plain `rm` and `mv` removed from their paths."""
    for part in _PARTS.split(command):
        try:
            words = shlex.split(part)
        except ValueError:
            continue
        words = words[1:] if words[:1] == ["git"] else words
        paths = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] == ["rm"] or (words[:1] == ["mv"] and len(paths) == 2):
            gone = paths if words[0] == "rm" else paths[:1]
            yield from (os.path.normpath(os.path.join(folder, path)) for path in gone)
