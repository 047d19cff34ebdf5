"""Readers of transcripts by agent: each yields turns in the one form, and knows its problems and its position."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

from claude_mem_lite.importers import codex_rollout, copilot_log, gemini_chat, opencode_session
from claude_mem_lite.importers.agent_session import AgentSession, AgentStep
from claude_mem_lite.importers.agent_turns import AgentTurnBuilder
from claude_mem_lite.importers.jsonl_reader import Lines, TranscriptProblem, read_object
from claude_mem_lite.importers.transcript_turns import TranscriptTurn
from claude_mem_lite.importers.transcripts import QUIET_NS, Transcript, read_transcript, written_ns
from claude_mem_lite.models import JsonObject

_SETTLED_NS = 600 * 10**9
"""Age of the last step after which a reply closes its turn, for agents that do not say so."""


class Reader(Protocol):
    """Transcript being read; to be iterated once. The other attributes are complete afterwards."""

    still_open: int

    @property
    def bytes_read(self) -> int: ...

    @property
    def problems(self) -> list[TranscriptProblem]: ...

    def __iter__(self) -> Iterator[TranscriptTurn]: ...


def open_reader(transcript: Transcript, now: datetime) -> Reader:
    """Return the transcript of any agent for iteration over its turns."""
    if transcript.stored is None:
        return read_transcript(transcript, now)
    return AgentReader(transcript.path, transcript.stored, now)


class AgentReader:
    """Session of another agent than Claude Code being read; to be iterated once."""

    def __init__(self, path: Path, session: AgentSession, now: datetime) -> None:
        self.still_open = 0
        self._path = path
        self._session = session
        self._now_ns = int(now.timestamp() * 1e9)
        self._problems: list[TranscriptProblem] = []
        self._lines = Lines(path, self._problems)
        self._is_quiet = False

    @property
    def bytes_read(self) -> int:
        return self._lines.bytes_read

    @property
    def problems(self) -> list[TranscriptProblem]:
        """Return what could not be read; the unfinished end of a file in use does not count."""
        return [problem for problem in self._problems if self._is_quiet or not problem.unfinished]

    def __iter__(self) -> Iterator[TranscriptTurn]:
        builder = AgentTurnBuilder(self._session)
        for step in self._steps():
            yield from builder.add(step)
        at_ns = written_ns(self._path)
        age_ns = self._now_ns - min(builder.last_ns or at_ns, at_ns)
        self._is_quiet = age_ns > QUIET_NS
        if not self._lines.is_broken:
            yield from builder.finish(is_quiet=self._is_quiet, is_settled=age_ns > _SETTLED_NS)
            self.still_open = int(builder.is_open)

    def _steps(self) -> Iterator[AgentStep]:
        session = self._session
        if session.agent == codex_rollout.AGENT:
            return codex_rollout.steps(self._lines, session)
        if session.agent == copilot_log.AGENT:
            return copilot_log.steps(self._lines, session)
        if session.agent == gemini_chat.AGENT:
            return gemini_chat.steps(self._document() or self._lines, session)
        read = opencode_session.filed_messages if self._path.suffix == ".json" else opencode_session.stored_messages
        return opencode_session.steps(read(self._path, session.id, self._problems), session)

    def _document(self) -> Iterable[JsonObject]:
        """Return the only object of a JSON file; nothing for lines."""
        return [read_object(self._path, self._problems)] if self._path.suffix == ".json" else []
