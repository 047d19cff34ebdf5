"""Claude Code's own transcripts: where they are, and each one as turns of the events that hooks would have given.

Reads only. Files are read line by line and never changed; a benchmark may call it as well as the command line."""

import heapq
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path

from claude_mem_lite.importers.entries import Entry, Found, first_entry, read_entries
from claude_mem_lite.importers.lines import Lines, Problem
from claude_mem_lite.importers.subagents import Subagent
from claude_mem_lite.importers.turns import PastTurn, TurnBuilder
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


def find_transcripts(paths: Sequence[Path]) -> list[Transcript]:
    """The transcripts in files and folders, the session that began first in front.

    A sub-agent's file is part of its session's; given by itself it stands for that."""
    agents: dict[Path, dict[str, list[Path]]] = {}
    found: dict[Path, Transcript] = {}
    for path in chain.from_iterable(map(_sessions_in, paths)):
        if path not in found:
            if path.parent not in agents:
                agents[path.parent] = _agents_beside(path.parent)
            found[path] = _transcript(path, agents[path.parent])
    # A fork repeats the beginning of another session, and is written later.
    return sorted(found.values(), key=lambda one: (one.began_ns, _written_ns(one.path), one.path))


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


def _sessions_in(path: Path) -> Iterator[Path]:
    """The session files that a path stands for."""
    path = path.absolute()
    if path.is_dir():
        for folder, _, names in os.walk(path):
            if "subagents" not in Path(folder).relative_to(path).parts:
                yield from (Path(folder, name) for name in names if name.endswith(SUFFIXES) and not _is_agent(name))
    else:
        session = _session_of(path) if _is_agent(path.name) else path
        if session is not None and session.is_file():
            yield session


def _is_agent(name: str) -> bool:
    return name.startswith("agent-")


def _session_of(agent: Path) -> Path | None:
    """The file of the session that a sub-agent's file belongs to, where either kind of client keeps it."""
    folder = next((above for above in agent.parents if above.name == "subagents"), None)
    if folder:
        place, session = folder.parent.parent, folder.parent.name
    else:
        entry = first_entry(Lines(agent, []))
        place, session = agent.parent, entry.member("sessionId").replace(os.sep, "") if entry else ""
    return next((found for suffix in SUFFIXES if (found := place / f"{session}{suffix}").is_file()), None)


def _agents_beside(folder: Path) -> dict[str, list[Path]]:
    """Sub-agents' files that lie beside those of the sessions, as older clients put them, by session."""
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.glob("agent-*.jsonl*")):
        entry = first_entry(Lines(path, [])) if _AGENT.fullmatch(path.name) else None
        if entry:
            found.setdefault(entry.member("sessionId"), []).append(path)
    return found


def _transcript(path: Path, beside: Mapping[str, Sequence[Path]]) -> Transcript:
    session = path.name.removesuffix(".gz").removesuffix(".jsonl").encode("utf-8", "backslashreplace").decode()
    below = sorted((path.parent / session / "subagents").rglob("agent-*.jsonl*"))
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
