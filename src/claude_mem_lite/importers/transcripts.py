"""Claude Code's own transcripts: where they are, and each one as turns of the events that hooks would have given.

Reads only. Files are read line by line and never changed; a benchmark may call it as well as the command line."""

import heapq
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from claude_mem_lite.importers.jsonl_reader import Lines, Problem
from claude_mem_lite.importers.tool_results import Subagent
from claude_mem_lite.importers.transcript_entries import Entry, Found, first_entry, read_entries
from claude_mem_lite.importers.transcript_turns import PastTurn, TurnBuilder
from claude_mem_lite.models import JsonObject

SUFFIXES = (".jsonl", ".jsonl.gz")
_AGENT = re.compile(r"agent-[0-9a-f]+\.jsonl(?:\.gz)?")
# What newer clients write when they are left.
_LAST_LINE = "cost-state"
_QUIET_NS = 86_400 * 10**9


@dataclass(frozen=True, slots=True)
class Transcript:
    """One session's file, with those of its sub-agents."""

    path: Path
    session: str
    agents: tuple[Path, ...]
    began_ns: int
    size_bytes: int


def own_folders(environment: Mapping[str, str]) -> list[Path]:
    """Where the client keeps the transcripts of this user."""
    chosen = environment.get("CLAUDE_CONFIG_DIR")
    return [(Path(chosen) if chosen else Path.home() / ".claude") / "projects"]


def find_transcripts(paths: Sequence[Path], problems: list[Problem] | None = None) -> list[Transcript]:
    """The transcripts in files and folders, the session that began first in front.

    A sub-agent's file is part of its session's; given by itself it stands for that. Folders that cannot be read, and
    files that cannot be told whose they are, are added to `problems`."""
    problems = [] if problems is None else problems
    agents: dict[Path, dict[str, list[Path]]] = {}
    found: list[Transcript] = []
    # All of them first: a folder that is shut is then known before agents are looked for below it.
    sessions = [session for path in paths for session in _sessions_in(path, problems)]
    for path in dict.fromkeys(sessions):
        if path.parent not in agents:
            agents[path.parent] = _agents_beside(path.parent, problems)
        found.append(_transcript(path, agents[path.parent], problems))
    # A fork repeats the beginning of another session, and is written later.
    return sorted(found, key=lambda one: (one.began_ns, _written_ns(one.path), one.path))


def read_transcript(transcript: Transcript, now: datetime) -> "Reading":
    """The turns of a transcript, by iterating over what is returned."""
    return Reading(transcript, now)


class Reading:
    """One transcript on its way; to be iterated once. What it tells besides is complete afterwards."""

    def __init__(self, transcript: Transcript, now: datetime) -> None:
        self.still_open = 0
        """Turns left out because they still go on."""
        self._transcript = transcript
        self._now_ns = int(now.timestamp() * 1e9)
        self._problems: list[Problem] = []
        self._lines = Lines(transcript.path, self._problems)
        self._agents = [Subagent(path, self._problems) for path in transcript.agents]
        self._is_quiet = False
        self._last_line: JsonObject = {}

    @property
    def bytes_read(self) -> int:
        return self._lines.bytes_read + sum(agent.lines.bytes_read for agent in self._agents)

    @property
    def problems(self) -> list[Problem]:
        """The lines that could not be read; the end of a file that is just being written is none."""
        return [problem for problem in self._problems if self._is_quiet or not problem.unfinished]

    def __iter__(self) -> Iterator[PastTurn]:
        builder = TurnBuilder(self._transcript.session)
        streams: list[Iterator[Entry | Found]] = [read_entries(self._noted())]
        streams += [agent.events() for agent in self._agents]
        for item in heapq.merge(*streams, key=_at_ns):
            if isinstance(item, Entry):
                yield from builder.add(item)
            elif item.kind:
                builder.add_found(item)
        written_ns = _written_ns(self._transcript.path)
        self._is_quiet = self._now_ns - min(builder.last_ns or written_ns, written_ns) > _QUIET_NS
        if not self._lines.is_broken:
            at_work = any(agent.is_at_work for agent in self._agents)
            is_left = self._last_line.get("type") == _LAST_LINE
            yield from builder.finish(is_quiet=self._is_quiet, is_left=is_left, agents_at_work=at_work)
            self.still_open = int(builder.is_open)

    def _noted(self) -> Iterator[JsonObject]:
        for line in self._lines:
            self._last_line = line
            yield line


def _at_ns(item: Entry | Found) -> int:
    return item.at_ns


def _sessions_in(path: Path, problems: list[Problem]) -> Iterator[Path]:
    """The session files that a path stands for."""
    path = path.absolute()
    if path.name.endswith(SUFFIXES) and not path.is_dir():
        session = _session_of(path, problems) if _is_agent(path.name) else path
        if session is not None and session.is_file():
            yield session
    else:
        below = _files_below(path, problems, but_not_in="subagents")
        yield from (one for one in below if one.name.endswith(SUFFIXES) and not _is_agent(one.name))


def _files_below(folder: Path, problems: list[Problem], but_not_in: str = "") -> Iterator[Path]:
    """All files in a folder, down to its bottom; a folder that is not there has none, one that is shut is a problem."""

    def note(error: OSError) -> None:
        shut = Path(error.filename)
        known = {one.path for one in problems if one.what == "folder"}
        if not isinstance(error, FileNotFoundError | NotADirectoryError) and known.isdisjoint((shut, *shut.parents)):
            problems.append(Problem(shut, 0, f"this folder cannot be read: {error.strerror}", "folder"))

    for place, folders, names in os.walk(folder, onerror=note):
        folders[:] = [name for name in folders if name != but_not_in]
        yield from (Path(place, name) for name in names)


def _is_agent(name: str) -> bool:
    return name.startswith("agent-")


def _session_of(agent: Path, problems: list[Problem]) -> Path | None:
    """The file of the session that a sub-agent's file belongs to, where either kind of client keeps it."""
    folder = next((above for above in agent.parents if above.name == "subagents"), None)
    if folder:
        place, session = folder.parent.parent, folder.parent.name
    else:
        entry = _agents_first(agent, problems)
        place, session = agent.parent, entry.member("sessionId").replace(os.sep, "") if entry else ""
    return next((found for suffix in SUFFIXES if (found := place / f"{session}{suffix}").is_file()), None)


def _agents_beside(folder: Path, problems: list[Problem]) -> dict[str, list[Path]]:
    """Sub-agents' files that lie beside those of the sessions, as older clients put them, by session."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("agent-*.jsonl*")):
        entry = _agents_first(path, problems) if _AGENT.fullmatch(path.name) else None
        if entry:
            found.setdefault(entry.member("sessionId"), []).append(path)
    return found


def _agents_first(path: Path, problems: list[Problem]) -> Entry | None:
    """The first entry of a sub-agent's file, which says whose it is."""
    peeked: list[Problem] = []
    entry = first_entry(Lines(path, peeked))
    if entry is None:
        problems += [one for one in peeked if one.what == "file" and one not in problems]
    return entry


def _transcript(path: Path, beside: Mapping[str, Sequence[Path]], problems: list[Problem]) -> Transcript:
    session = path.name.removesuffix(".gz").removesuffix(".jsonl").encode("utf-8", "backslashreplace").decode()
    below = sorted(_files_below(path.parent / session / "subagents", problems))
    agents = (*beside.get(session, ()), *(one for one in below if _AGENT.fullmatch(one.name)))
    entry = first_entry(Lines(path, []))
    return Transcript(
        path=path,
        session=session,
        agents=agents,
        began_ns=entry.at_ns if entry else _written_ns(path),
        size_bytes=sum(_size(one) for one in (path, *agents)),
    )


def _written_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
