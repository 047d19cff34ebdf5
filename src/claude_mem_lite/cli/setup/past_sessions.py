"""Earlier sessions of all agents on this machine, as `install` counts and imports them."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from claude_mem_lite.agents.agent_folders import environment_with
from claude_mem_lite.cli.output import plain
from claude_mem_lite.cli.transfer.import_transcripts import import_sessions
from claude_mem_lite.cli.transfer.transcript_report import LABELS, TranscriptReport
from claude_mem_lite.importers.discovery import AGENTS, discover, folders_of, stored_files
from claude_mem_lite.importers.transcripts import FolderMap, Transcript
from claude_mem_lite.install.targets import Target
from claude_mem_lite.text import counted

_NAMES = [LABELS[agent] for agent in AGENTS]
_NONE = f"No earlier sessions of {', '.join(_NAMES[:-1])} or {_NAMES[-1]} were found."


def print_past(target: Target) -> bool:
    """Print number, size and folders of the earlier sessions of each agent; return whether there are any.

    Sessions of the target's agent are in the target's folder."""
    environment = environment_of(target)
    found = discover([], AGENTS, environment, []).transcripts
    for line in _counts(found, environment):
        click.echo(line)
    return bool(found)


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


def agents_with_past(environment: Mapping[str, str]) -> list[str]:
    """Return the names of the agents that seem to have sessions, by the names of files alone."""
    return [LABELS[agent] for agent in AGENTS if _has_sessions(agent, environment)]


def _has_sessions(agent: str, environment: Mapping[str, str]) -> bool:
    return any(True for folder in folders_of(agent, environment) for _ in stored_files(agent, folder, []))


def _where(agent: str, environment: Mapping[str, str]) -> str:
    folders: list[Path] = [folder for folder in folders_of(agent, environment) if folder.is_dir()]
    return " and ".join(plain(folder) for folder in folders)


def _megabytes(found: Sequence[Transcript]) -> str:
    size = sum(one.size_bytes for one in found) / 1e6
    return f"{size:.1f} MB" if size >= 0.1 else "under 0.1 MB"
