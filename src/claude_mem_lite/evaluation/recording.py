"""Recorded sessions of one project, in the order of time: transcripts, and the files that each session touched.

Read by evaluation and benchmarks. A `sessions.json` beside the transcripts lists start and files of each session, for
instance from its commits; without the list both come from the transcript: the files that the session edited."""

import json
import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.evaluation.sightings import RecordedSession, recorded_sessions
from claude_mem_lite.importers.transcripts import Transcript, find_transcripts
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.values import frozen

LIST_NAME = "sessions.json"
EDITING_TOOLS = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "Write": "file_path",
    "NotebookEdit": "notebook_path",
}
"""Tools that change a file, with the name of their path argument."""
# Claude Code puts worktrees of a project below its root.
_WORKTREE = re.compile(r"^\.claude/worktrees/[^/]+/")


@frozen
class ListedSession:
    """Session with its start and the files that it touched, relative to the root of the project."""

    id: str
    started_at: datetime
    files: frozenset[str]


@frozen
class Recording:
    """Sessions of one project by start, and the transcript of each by session id."""

    listed: Sequence[ListedSession]
    past: Mapping[str, RecordedSession]
    has_list: bool
    """True if a `sessions.json` gave the files."""


def read_recording(paths: Sequence[Path], now: datetime) -> Recording:
    """Return the sessions in files and folders of transcripts."""
    return recording_of(find_transcripts(_transcript_paths(paths)), list_beside(paths), now)


def recording_of(
    transcripts: Sequence[Transcript], listed_in: Path | None, now: datetime, *, is_one_project: bool = False
) -> Recording:
    """Return the sessions of transcripts; `listed_in` is a `sessions.json` of one project, or None."""
    past = recorded_sessions(transcripts, now, is_one_project=is_one_project or listed_in is not None)
    by_id = {session.id: session for session in past}
    if listed_in is None:
        return Recording([_from_transcript(session) for session in past], by_id, has_list=False)
    listed = [session for session in _read_list(listed_in) if session.id in by_id]
    return Recording(listed, by_id, has_list=True)


def list_beside(paths: Sequence[Path]) -> Path | None:
    """Return the `sessions.json` in a given folder or beside the given transcripts; None without."""
    folders = [folder for path in paths for folder in (path, path.parent, path.parent.parent)]
    return next((found for folder in folders if (found := folder / LIST_NAME).is_file()), None)


def files_of(session: RecordedSession) -> frozenset[str]:
    """Return the files that a session edited, relative to the checkout where the session began."""
    edited = (_edited(event.payload) for turn in session.turns for event in turn.events)
    return frozenset(file for path in edited if path and (file := _relative(path, session.root)))


def _transcript_paths(paths: Sequence[Path]) -> list[Path]:
    """Return the paths with `sessions/` in place of a folder that has a list beside it."""
    return [
        path / "sessions" if (path / LIST_NAME).is_file() and (path / "sessions").is_dir() else path for path in paths
    ]


def _read_list(path: Path) -> list[ListedSession]:
    try:
        sessions = json.loads(path.read_text("utf-8"))
        return [
            ListedSession(session["session"], _with_zone(session["started"]), frozenset(session["files"]))
            for session in sorted(sessions, key=lambda session: str(session["started"]))
        ]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise MemoryLiteError(
            f"{path} is no list of sessions", "each needs `session`, `started` with a time zone, and `files`"
        ) from error


def _with_zone(written: str) -> datetime:
    at = datetime.fromisoformat(written)
    if at.tzinfo is None:
        raise ValueError("no time zone")
    return at


def _from_transcript(session: RecordedSession) -> ListedSession:
    return ListedSession(session.id, session.began_at, files_of(session))


def _edited(payload: JsonObject) -> str:
    given = payload.get("tool_input")
    argument = EDITING_TOOLS.get(text(payload.get("tool_name")), "")
    is_done = payload.get("hook_event_name") == "PostToolUse" and isinstance(given, dict)
    return text(given.get(argument)) if is_done and isinstance(given, dict) else ""


def _relative(path: str, root: str) -> str:
    prefix = root.rstrip("/") + "/"
    return _WORKTREE.sub("", os.path.normpath(path[len(prefix) :])) if path.startswith(prefix) else ""
