"""Transcripts of Claude Code: their folders, and each transcript as turns of hook events.

Reads only, line by line. Benchmarks call this module as well as the command line."""

import heapq
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.importers.agent_session import AgentSession
from claude_mem_lite.importers.jsonl_reader import Lines, TranscriptProblem
from claude_mem_lite.importers.transcript_entries import (
    Subagent,
    TranscriptEntry,
    UnnamedEvent,
    first_entry,
    read_entries,
)
from claude_mem_lite.importers.transcript_turns import TranscriptTurn, TurnBuilder
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.values import frozen

SUFFIXES = (".jsonl", ".jsonl.gz")
_AGENT = re.compile(r"agent-[0-9a-f]+\.jsonl(?:\.gz)?")
# Last line that newer clients write on exit.
_LAST_LINE = "cost-state"
QUIET_NS = 86_400 * 10**9


@frozen
class Transcript:
    """File of one session, with the files of its sub-agents."""

    path: Path
    session: str
    agents: tuple[Path, ...]
    began_ns: int
    size_bytes: int
    stored: AgentSession | None = None
    """Session of another agent than Claude Code."""

    @property
    def agent(self) -> str:
        return self.stored.agent if self.stored else CLAUDE_CODE


def find_transcripts(paths: Sequence[Path], problems: list[TranscriptProblem] | None = None) -> list[Transcript]:
    """Return the transcripts in files and folders, by the begin of their sessions.

    A sub-agent's file belongs to its session's file, and stands for the session's file if given alone. Unreadable
    folders, and agent files without a known session, are added to `problems`."""
    problems = [] if problems is None else problems
    agents: dict[Path, dict[str, list[Path]]] = {}
    transcripts: list[Transcript] = []
    # All sessions first: a closed folder is then known before agents are searched below.
    sessions = [session for path in paths for session in _sessions_in(path, problems)]
    for path in dict.fromkeys(sessions):
        if path.parent not in agents:
            agents[path.parent] = _agents_beside(path.parent, problems)
        transcripts.append(_transcript(path, agents[path.parent], problems))
    # A fork repeats the beginning of another session, and is written later.
    return sorted(
        transcripts, key=lambda transcript: (transcript.began_ns, written_ns(transcript.path), transcript.path)
    )


def files_without_session(paths: Sequence[Path], found: Sequence[Transcript]) -> list[Path]:
    """Return the files named like those of sub-agents that belong to no session: the session's file is gone, or another
    agent wrote them."""
    taken = {file for one in found for file in (one.path, *one.agents)}
    files = {file for path in paths for file in _files_at(path.absolute()) if file not in taken}
    named = (file for file in sorted(files) if _is_agent(file.name) and file.name.endswith(SUFFIXES))
    return [file for file in named if _session_of(file, []) is None]


def _files_at(path: Path) -> Iterable[Path]:
    return files_below(path, []) if path.is_dir() else [path]


def read_transcript(transcript: Transcript, now: datetime) -> "TranscriptReader":
    """Return the transcript for iteration over its turns."""
    return TranscriptReader(transcript, now)


class TranscriptReader:
    """Transcript being read; to be iterated once. The other attributes are complete afterwards."""

    def __init__(self, transcript: Transcript, now: datetime) -> None:
        self.still_open = 0
        """Turns left out because they still go on."""
        self._transcript = transcript
        self._now_ns = int(now.timestamp() * 1e9)
        self._problems: list[TranscriptProblem] = []
        self._lines = Lines(transcript.path, self._problems)
        self._agents = [Subagent(path, self._problems) for path in transcript.agents]
        self._is_quiet = False
        self._last_line: JsonObject = {}

    @property
    def bytes_read(self) -> int:
        return self._lines.bytes_read + sum(agent.lines.bytes_read for agent in self._agents)

    @property
    def problems(self) -> list[TranscriptProblem]:
        """Return the unreadable lines; the unfinished end of a file in use does not count."""
        return [problem for problem in self._problems if self._is_quiet or not problem.unfinished]

    def __iter__(self) -> Iterator[TranscriptTurn]:
        builder = TurnBuilder(self._transcript.session)
        streams: list[Iterator[TranscriptEntry | UnnamedEvent]] = [read_entries(self._noted())]
        streams += [agent.events() for agent in self._agents]
        for item in heapq.merge(*streams, key=attrgetter("at_ns")):
            if isinstance(item, TranscriptEntry):
                yield from builder.add(item)
            elif item.kind:
                builder.add_event(item)
        at_ns = written_ns(self._transcript.path)
        self._is_quiet = self._now_ns - min(builder.last_ns or at_ns, at_ns) > QUIET_NS
        if not self._lines.is_broken:
            at_work = any(agent.is_at_work for agent in self._agents)
            is_left = self._last_line.get("type") == _LAST_LINE
            yield from builder.finish(is_quiet=self._is_quiet, is_left=is_left, agents_at_work=at_work)
            self.still_open = int(builder.is_open)

    def _noted(self) -> Iterator[JsonObject]:
        for line in self._lines:
            self._last_line = line
            yield line


def _sessions_in(path: Path, problems: list[TranscriptProblem]) -> Iterator[Path]:
    """Yield the session files that a path stands for."""
    path = path.absolute()
    if path.name.endswith(SUFFIXES) and not path.is_dir():
        session = _session_of(path, problems) if _is_agent(path.name) else path
        if session is not None and session.is_file():
            yield session
    else:
        below = files_below(path, problems, but_not_in="subagents")
        yield from (file for file in below if file.name.endswith(SUFFIXES) and not _is_agent(file.name))


def files_below(folder: Path, problems: list[TranscriptProblem], but_not_in: str = "") -> Iterator[Path]:
    """Yield all files below a folder; a missing folder has none, a closed folder is a problem."""

    def note(error: OSError) -> None:
        shut = Path(error.filename)
        known = {problem.path for problem in problems if problem.what == "folder"}
        if not isinstance(error, FileNotFoundError | NotADirectoryError) and known.isdisjoint((shut, *shut.parents)):
            problems.append(TranscriptProblem(shut, 0, f"this folder cannot be read: {error.strerror}", "folder"))

    for folder_path, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if name != but_not_in]
        yield from (Path(folder_path, name) for name in names)


def _is_agent(name: str) -> bool:
    return name.startswith("agent-")


def _session_of(agent: Path, problems: list[TranscriptProblem]) -> Path | None:
    """Return the session file of a sub-agent's file, for both layouts of clients."""
    folder = next((above for above in agent.parents if above.name == "subagents"), None)
    if folder:
        folder_path, session = folder.parent.parent, folder.parent.name
    else:
        entry = _agents_first(agent, problems)
        folder_path, session = agent.parent, entry.member("sessionId").replace(os.sep, "") if entry else ""
    return next((path for suffix in SUFFIXES if (path := folder_path / f"{session}{suffix}").is_file()), None)


def _agents_beside(folder: Path, problems: list[TranscriptProblem]) -> dict[str, list[Path]]:
    """Return sub-agents' files beside the session files, as older clients put them, by session."""
    by_session: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("agent-*.jsonl*")):
        entry = _agents_first(path, problems) if _AGENT.fullmatch(path.name) else None
        if entry:
            by_session.setdefault(entry.member("sessionId"), []).append(path)
    return by_session


def _agents_first(path: Path, problems: list[TranscriptProblem]) -> TranscriptEntry | None:
    """Return the first entry of a sub-agent's file, with the session."""
    peeked: list[TranscriptProblem] = []
    entry = first_entry(Lines(path, peeked))
    if entry is None:
        problems += [problem for problem in peeked if problem.what == "file" and problem not in problems]
    return entry


def _transcript(path: Path, beside: Mapping[str, Sequence[Path]], problems: list[TranscriptProblem]) -> Transcript:
    session = path.name.removesuffix(".gz").removesuffix(".jsonl").encode("utf-8", "backslashreplace").decode()
    below = sorted(files_below(path.parent / session / "subagents", problems))
    agents = (*beside.get(session, ()), *(file for file in below if _AGENT.fullmatch(file.name)))
    entry = first_entry(Lines(path, []))
    return Transcript(
        path=path,
        session=session,
        agents=agents,
        began_ns=entry.at_ns if entry else written_ns(path),
        size_bytes=sum(size_of(file) for file in (path, *agents)),
    )


def written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def size_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


class FolderMap:
    """Today's folders by the name or path in sessions. `unused` names the entries that no session matched."""

    def __init__(self, chosen: Mapping[str, str]) -> None:
        self._chosen = chosen
        self.unused = set(chosen)

    def relocate(self, turn: TranscriptTurn) -> TranscriptTurn:
        """Return the turn as if done in today's folder."""
        for name, folder in self._chosen.items():
            if old_root := _root(turn.cwd, name):
                self.unused.discard(name)
                events = tuple(
                    replace(event, payload=_payload(event.payload, old_root, folder)) for event in turn.events
                )
                cwd, former = _path(turn.cwd, old_root, folder), tuple(sorted({turn.cwd, *turn.folders}))
                return replace(turn, cwd=cwd, events=events, former_folders=former)
        return turn


def _root(cwd: str, name: str) -> str:
    """Return the part of a path that a name stands for: the path itself, or everything up to the last folder of the
    name; '' without a match."""
    named = name.rstrip("/")
    if named.startswith("/"):
        return named if cwd == named or cwd.startswith(f"{named}/") else ""
    head, separator, _ = f"{cwd}/".rpartition(f"/{named}/")
    return f"{head}/{named}" if separator else ""


def _payload(payload: JsonObject, old_root: str, folder: str) -> JsonObject:
    return {key: _value(value, old_root, folder) for key, value in payload.items()}


def _value(value: JsonValue, old_root: str, folder: str) -> JsonValue:
    """Replace every path below a folder; a path inside a longer text stays, since people wrote the text."""
    if isinstance(value, str):
        return _path(value, old_root, folder)
    if isinstance(value, dict):
        return _payload(value, old_root, folder)
    return [_value(item, old_root, folder) for item in value] if isinstance(value, list) else value


def _path(text: str, old_root: str, folder: str) -> str:
    if text != old_root and (not text.startswith(f"{old_root}/") or "\n" in text):
        return text
    return folder + text[len(old_root) :]
