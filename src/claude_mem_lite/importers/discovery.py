"""Search for transcripts of all agents: the folders of each agent, the format of a file by its first line, and the
reasons for files that cannot be used."""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from claude_mem_lite.agents.adapters import IMPORTED
from claude_mem_lite.agents.agent_folders import agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.importers import codex_rollout, copilot_log, gemini_chat, opencode_session
from claude_mem_lite.importers.agent_session import NO_FOLDER, OF_SUBAGENT, AgentSession
from claude_mem_lite.importers.jsonl_reader import Lines, TranscriptProblem, read_object
from claude_mem_lite.importers.transcript_entries import first_entry
from claude_mem_lite.importers.transcripts import (
    SUFFIXES,
    Transcript,
    files_below,
    files_without_session,
    find_transcripts,
    size_of,
    written_ns,
)
from claude_mem_lite.values import frozen

AGENTS = (CLAUDE_CODE, *IMPORTED)
IMPORTABLE = (*SUFFIXES, ".json", "opencode*.db")
"""Endings of files that can be imported, for messages."""
EMPTY, OTHER_FORMAT, NO_TURNS = "empty", "in another format", "without turns"
OTHER_AGENT = "of an agent that --agent leaves out"

_SESSIONS_IN = {
    CLAUDE_CODE: ("projects",),
    codex_rollout.AGENT: ("sessions", "archived_sessions"),
    copilot_log.AGENT: ("session-state",),
    gemini_chat.AGENT: ("tmp",),
    opencode_session.AGENT: ("",),
}


@frozen
class UnusedFile:
    """File that gave no new turn, with the reason. `agent` is '' for an unknown format."""

    path: Path
    agent: str
    reason: str


@dataclass(slots=True)
class Discovery:
    """Transcripts to read, and files that are not read."""

    transcripts: list[Transcript] = field(default_factory=list)
    unused: list[UnusedFile] = field(default_factory=list)


def is_importable(name: str) -> bool:
    """Return whether a file may hold sessions, by its name."""
    return name.endswith((*SUFFIXES, ".json")) or opencode_session.is_database(Path(name))


def folders_of(agent: str, environment: Mapping[str, str]) -> list[Path]:
    """Return the folders in which an agent stores this user's sessions."""
    folder = agent_folder(agent, environment)
    return [folder / name for name in _SESSIONS_IN[agent]]


def stored_files(agent: str, root: Path, problems: list[TranscriptProblem]) -> Iterator[Path]:
    """Yield the files of sessions below an agent's own folder, by their names alone."""
    belongs: dict[str, Callable[[Path], bool]] = {
        CLAUDE_CODE: lambda file: file.name.endswith(SUFFIXES),
        codex_rollout.AGENT: lambda file: file.name.endswith(SUFFIXES),
        copilot_log.AGENT: lambda file: file.name.endswith(".jsonl"),
        gemini_chat.AGENT: lambda file: "chats" in file.parts and file.suffix in (".json", ".jsonl"),
        opencode_session.AGENT: _is_document,
    }
    if agent == opencode_session.AGENT:  # its other folders hold copies of whole repositories
        yield from (file for file in root.glob("*") if opencode_session.is_database(file))
        root = root / "storage" / "session"
    yield from filter(belongs[agent], files_below(root, problems))


def discover(
    paths: Sequence[Path], agents: Sequence[str], environment: Mapping[str, str], problems: list[TranscriptProblem]
) -> Discovery:
    """Return the transcripts of the agents in the paths, or in the agents' own folders without paths, by the begin of
    their sessions."""
    found = Discovery()
    if paths:
        folders = paths
        files = [file for path in paths for file in _documents(path)]
    else:
        folders = folders_of(CLAUDE_CODE, environment) if CLAUDE_CODE in agents else []
        others = [agent for agent in agents if agent != CLAUDE_CODE]
        roots = [(agent, root) for agent in others for root in folders_of(agent, environment)]
        files = [file for agent, root in roots for file in sorted(stored_files(agent, root, problems))]
    claude = find_transcripts(folders, problems)
    for transcript in claude:
        session = _session_of(transcript.path) if paths else None
        if session:
            _take(found, transcript.path, session, agents, transcript.size_bytes)
        elif CLAUDE_CODE in agents:
            found.transcripts.append(transcript)
        else:
            found.unused.append(UnusedFile(transcript.path, "", OTHER_AGENT))
    for file in dict.fromkeys(files):
        _take_file(found, file, agents, problems)
    for file in files_without_session(folders, claude):
        _take_left(found, file, agents, problems)
    found.transcripts.sort(key=lambda one: (one.began_ns, written_ns(one.path), one.path))
    return found


def why_empty(transcript: Transcript) -> str:
    """Return the reason why a readable file has no turns."""
    if transcript.stored or first_entry(Lines(transcript.path, [])):
        return NO_TURNS
    return _why_unknown(transcript.path)


def _why_unknown(path: Path) -> str:
    """Return the reason for a file without a known beginning."""
    return OTHER_FORMAT if size_of(path) else EMPTY


def _take_file(found: Discovery, path: Path, agents: Sequence[str], problems: list[TranscriptProblem]) -> None:
    if opencode_session.is_database(path):
        try:
            stored = opencode_session.sessions_in(path)
        except (OSError, sqlite3.Error) as error:
            problems.append(TranscriptProblem(path, 0, f"cannot be read: {error}", "file"))
            stored = []
        for number, one in enumerate(stored):
            _take(found, path, one, agents, 0 if number else opencode_session.size_of_database(path))
        return
    unread: list[TranscriptProblem] = []
    if session := _session_of(path, unread):
        _take(found, path, session, agents, size_of(path))
    elif any(one.what == "file" for one in unread):
        problems += unread
    else:
        found.unused.append(UnusedFile(path, "", _why_unknown(path)))


def _take_left(found: Discovery, path: Path, agents: Sequence[str], problems: list[TranscriptProblem]) -> None:
    """Take a file named like a sub-agent's whose session was not found."""
    unread: list[TranscriptProblem] = []
    if session := _session_of(path, unread):
        _take(found, path, session, agents, size_of(path))
    elif any(one.what == "file" for one in unread):
        problems += [] if any(one.path == path for one in problems) else unread
    elif CLAUDE_CODE not in agents:
        found.unused.append(UnusedFile(path, "", OTHER_AGENT))
    else:
        is_claude = first_entry(Lines(path, [])) is not None
        reason = OF_SUBAGENT if is_claude else _why_unknown(path)
        found.unused.append(UnusedFile(path, CLAUDE_CODE if is_claude else "", reason))


def _take(found: Discovery, path: Path, session: AgentSession, agents: Sequence[str], size_bytes: int) -> None:
    reason = "" if session.agent in agents else OTHER_AGENT
    reason = reason or session.unusable or ("" if session.cwd else NO_FOLDER)
    if reason or not session.id:
        found.unused.append(UnusedFile(path, session.agent, reason or OTHER_FORMAT))
        return
    began_ns = session.began_ns or written_ns(path)
    found.transcripts.append(Transcript(path, session.id, (), began_ns, size_bytes, session))


def _session_of(path: Path, problems: list[TranscriptProblem] | None = None) -> AgentSession | None:
    """Return the session of another agent that a file holds; None for Claude Code's, and for other formats."""
    unread = [] if problems is None else problems
    is_document = path.suffix == ".json"
    line = read_object(path, unread) if is_document else next(iter(Lines(path, unread)), {})
    if codex_rollout.is_head(line):
        return codex_rollout.head(line)
    if copilot_log.is_head(line):
        return copilot_log.head(line)
    if gemini_chat.is_head(line):
        return gemini_chat.head(line, path)
    return opencode_session.head(line) if opencode_session.is_head(line) else None


def _documents(path: Path) -> Iterator[Path]:
    """Yield what a path holds besides files of lines."""
    path = path.absolute()
    if not path.is_dir():
        if not path.name.endswith(SUFFIXES):
            yield path
        return
    # Closed folders are problems already, of the search for files of lines.
    yield from (file for file in files_below(path, []) if _is_document(file))


def _is_document(file: Path) -> bool:
    is_json = file.suffix == ".json" and file.name.startswith(("session-", "ses_"))
    return is_json or opencode_session.is_database(file)
