"""Earlier sessions of all agents on this machine, as `install` counts and imports them."""

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import click

from claude_mem_lite.agents.agent_folders import environment_with
from claude_mem_lite.cli.output import plain
from claude_mem_lite.cli.transfer.import_note import ImportNote
from claude_mem_lite.cli.transfer.import_transcripts import import_sessions
from claude_mem_lite.cli.transfer.transcript_report import LABELS, TranscriptReport
from claude_mem_lite.client.queries import Where
from claude_mem_lite.client.worker_process import ensure_worker
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.importers.discovery import AGENTS, discover, folders_of
from claude_mem_lite.importers.transcripts import FolderMap, Transcript
from claude_mem_lite.install.targets import Target
from claude_mem_lite.paths import Home
from claude_mem_lite.text import counted
from claude_mem_lite.timestamps import text_to_time
from claude_mem_lite.values import frozen

_NAMES = [LABELS[agent] for agent in AGENTS]
_NONE = f"No earlier sessions of {', '.join(_NAMES[:-1])} or {_NAMES[-1]} were found."
_MAX_STORED = 1_000
"""Sessions of hooks that are looked up, the latest; older ones count as new."""
_MAX_LATE_S = 60
"""Time from the begin of a session until hooks report it; later, the begin of the session is not stored."""


@frozen
class PastSessions:
    """Earlier sessions of all agents, and the new ones among them: nobody has stored them, or not as they are now."""

    found: Sequence[Transcript]
    new: Sequence[Transcript]
    environment: Mapping[str, str]
    has_left_out: bool
    """True if turns of sessions were left out, because their folder is excluded, or memory was off."""

    def print_counts(self) -> None:
        """Print number, size and folders of the sessions of each agent; one line if none is new."""
        if self.found and not self.new:
            click.echo(f"{counted(len(self.found), 'earlier session')}, all imported{self._but}.")
            return
        for line in _counts(self.found, self.environment):
            click.echo(line)
        if len(self.new) < len(self.found):
            is_or_are = "is" if len(self.new) == 1 else "are"
            click.echo(f"{len(self.new):,} of them {is_or_are} new, or changed since the last import.")

    @property
    def spoken_new(self) -> str:
        """Return the sessions that an import would store, for a question."""
        if len(self.new) == len(self.found):
            return "them"
        return f"the {len(self.new):,} new ones" if len(self.new) > 1 else "the new one"

    @property
    def amount(self) -> str:
        """Return number and size of the sessions that an import would store."""
        return f"{counted(len(self.new), 'session')} ({_megabytes(self.new)})"

    @property
    def agents(self) -> Sequence[str]:
        """Return the names of the agents with new sessions."""
        return [LABELS[agent] for agent in AGENTS if any(one.agent == agent for one in self.new)]

    @property
    def _but(self) -> str:
        return " but turns of excluded folders, or of a time when memory was off" if self.has_left_out else ""


def past_sessions(home: Home, target: Target, *, asks_worker: bool = True) -> PastSessions:
    """Return the earlier sessions. Sessions of the target's agent are in the target's folder.

    A worker, which is started if necessary, knows the sessions that hooks have reported; without a database nobody is
    asked."""
    environment, note = environment_of(target), ImportNote(home)
    found = [one for one in discover([], AGENTS, environment, []).transcripts if one.stored or one.size_bytes]
    new = [one for one in found if not note.is_read(one)]
    if any(not note.has_session(one.session) for one in new) and asks_worker and home.memory_db.exists():
        began = dict(_stored_sessions(home))
        new = [one for one in new if note.has_session(one.session) or not _is_stored(one, began)]
    return PastSessions(found, new, environment, any(map(note.is_left_out, found)))


def _is_stored(transcript: Transcript, began: Mapping[str, datetime]) -> bool:
    at = began.get(transcript.session)
    return at is not None and at.timestamp() <= transcript.began_ns / 1e9 + _MAX_LATE_S


def _stored_sessions(home: Home) -> Iterator[tuple[str, datetime]]:
    """Yield the latest stored sessions with their begin; none if no worker answers."""
    try:
        for one in ensure_worker(home).sessions(Where("", all_projects=True), limit=_MAX_STORED):
            yield one.id, text_to_time(one.started_at)
    except MemoryLiteError:  # of another version, say: then they count as new
        return


def import_past(target: Target) -> None:
    """Import the earlier sessions of all agents."""
    report = TranscriptReport()
    found = discover([], AGENTS, environment_of(target), report.problems)
    if found.transcripts or found.unused or report.problems:
        import_sessions(found, report, FolderMap({}))
    else:
        click.echo(_NONE)


def environment_of(target: Target) -> Mapping[str, str]:
    """Return the environment in which the target's agent has the folder of the target."""
    if target.scope == "project":
        return os.environ
    return environment_with(target.agent, target.folder, os.environ)


def _counts(found: Sequence[Transcript], environment: Mapping[str, str]) -> list[str]:
    if not found:
        return [_NONE]
    lines = [f"{counted(len(found), 'earlier session')} ({_megabytes(found)}) found on this machine:"]
    for agent in AGENTS:
        if own := [one for one in found if one.agent == agent]:
            lines.append(
                f"- {LABELS[agent]}: {counted(len(own), 'session')}, {_megabytes(own)}, in {_where(agent, environment)}"
            )
    return lines


def _where(agent: str, environment: Mapping[str, str]) -> str:
    folders: list[Path] = [folder for folder in folders_of(agent, environment) if folder.is_dir()]
    return " and ".join(plain(folder) for folder in folders)


def _megabytes(found: Sequence[Transcript]) -> str:
    size = sum(one.size_bytes for one in found) / 1e6
    return f"{size:.1f} MB" if size >= 0.1 else "under 0.1 MB"
