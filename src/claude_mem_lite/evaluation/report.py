"""Evaluation of projects as a report: figures by project and month, kept in the home for the page."""

import dataclasses
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from datetime import datetime

from claude_mem_lite import private_files
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.errors import unwritable
from claude_mem_lite.evaluation.measurement import (
    MeasuredSessions,
    ProjectWalk,
    UnusedMemory,
    measure,
    unused_memories,
)
from claude_mem_lite.evaluation.recording import Recording
from claude_mem_lite.evaluation.session_walk import FIRST, Walk
from claude_mem_lite.evaluation.trigger_walk import walk_in_time
from claude_mem_lite.evaluation.variants import Variant
from claude_mem_lite.evaluation.walk_folder import walk_folder
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.store import memory_queries
from claude_mem_lite.values import frozen

Advance = Callable[[int], None]


@frozen
class ProjectReport:
    """Figures of one project, as a whole and by month."""

    name: str
    sessions: int
    """Sessions with a transcript."""
    not_walked: int
    """Stored sessions without a transcript of Claude Code."""
    of_other_agents: int
    """Stored sessions of these that another agent has stored."""
    stored_only: int
    """First sessions, which fill the memory and are not measured."""
    has_list: bool
    """True if a `sessions.json` gave the touched files."""
    is_partial: bool
    """True if the walk was stopped."""
    whole: MeasuredSessions
    months: Mapping[str, MeasuredSessions]
    unused: Sequence[UnusedMemory]
    problems: Mapping[str, int]
    """Problems that the worker of the walk logged, with their number: what they concern is not measured."""


@frozen
class Report:
    """Evaluation of one or more projects."""

    made_at: str
    projects: Sequence[ProjectReport]

    def as_json(self) -> JsonObject:
        """Return every figure as JSON."""
        encoded: JsonObject = json.loads(json.dumps(dataclasses.asdict(self)))
        return encoded


@frozen
class ProjectRecording:
    """Recording of a project by name."""

    name: str
    recording: Recording
    not_walked: int = 0
    of_other_agents: int = 0


def evaluate(
    project: ProjectRecording, variants: Sequence[Variant], since: datetime | None, advance: Advance
) -> ProjectReport:
    """Walk through the sessions of a project on a temporary home; an interrupt ends the walk early.

    `advance` gets the number of sessions reached, first while they fill the memory."""
    walked = ProjectWalk(project.recording.listed)
    titles: Mapping[str, str] = {}
    problems: Mapping[str, int] = {}
    is_partial = False

    def advance_filling(stored: int) -> None:
        if not walked.starts:
            advance(min(stored, FIRST))

    with walk_folder() as folder:
        if len(walked.listed) > FIRST:
            walk = Walk(project.recording, folder, variants, advance_filling)
            try:
                for reached in walk_in_time(walk):
                    walked.add(reached)
                    advance(FIRST + len(walked.starts))
            except KeyboardInterrupt:
                is_partial = True
            problems = dict(walk.problems)
            titles = _titles(walk.home) if walked.starts else {}  # else the database may have no table yet
    if since is not None:
        walked = _since(walked, since)
    return ProjectReport(
        name=project.name,
        sessions=len(walked.listed),
        not_walked=project.not_walked,
        of_other_agents=project.of_other_agents,
        stored_only=min(FIRST, len(walked.listed)),
        has_list=project.recording.has_list,
        is_partial=is_partial,
        whole=measure(walked),
        months={month: measure(walked, month) for month in walked.months()},
        unused=unused_memories(walked, titles),
        problems=problems,
    )


def keep_report(report: Report, home: Home) -> None:
    """Write the report for the page; only the user may read the file."""
    try:
        private_files.replace(home.evaluation, json.dumps(report.as_json()).encode())
    except OSError as error:
        raise unwritable(home.evaluation, error) from error


def _since(walked: ProjectWalk, since: datetime) -> ProjectWalk:
    """Return the walk with the sessions that began later; all sessions stay as the past."""
    return ProjectWalk(
        walked.listed,
        [start for start in walked.starts if start.session.started_at >= since],
        [prompt for prompt in walked.prompts if prompt.trigger.session.started_at >= since],
    )


def _titles(home: Home) -> dict[str, str]:
    with closing(open_for_reading(home.memory_db)) as db:
        return {memory.id: memory.title for _, memory in memory_queries.all_after(db, 0, None)}
