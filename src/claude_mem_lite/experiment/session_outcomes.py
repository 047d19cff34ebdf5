"""Outcome of a session in the experiment, from what is captured anyway. A value that cannot be told is None, never 0.

Called in the job thread when a session has ended for the first time; a later call changes nothing, because the
comparison holds at every look only if no later session or event changes an earlier observation."""

import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TypeGuard

from claude_mem_lite.agents.claude_code import TOOL_EVENTS, event_from_payload
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step
from claude_mem_lite.compress.toolcalls.steps import Called, FileEdited, Opened, Ran, Step
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import Event, Session, load_json
from claude_mem_lite.paths import read_regular
from claude_mem_lite.store import memories, memory_links, sessions
from claude_mem_lite.store.experiment import arms, outcomes
from claude_mem_lite.store.experiment.outcomes import SessionOutcome
from claude_mem_lite.store.index import fts
from claude_mem_lite.values import frozen

_MAX_EVENTS = 5_000
_MAX_FIXES = 40
_MAX_TRANSCRIPT_BYTES = 64 * 1024 * 1024
# Without `cache_read_input_tokens`: each call reads the whole conversation again, which would drown everything else.
_TOKEN_FIELDS = ("input_tokens", "output_tokens", "cache_creation_input_tokens")
# The time in the name of the first event, beside the time of the session's row.
_SAME_START = timedelta(seconds=5)
IsKnown = Callable[[Sequence[str]], bool]
"""Test of error anchors: True if a fix of the error was known before the session."""


@frozen
class WorkBeforeEdit:
    """Tool calls and files read before the first edit, or in all of a session without an edit; None if unknown."""

    calls: int | None
    files: int | None


def judge(db: sqlite3.Connection, queue: Queue, session: str) -> None:
    """Store the outcome of an ended session that has an arm and at least one prompt, unless one is stored."""
    arm, found = arms.find_arm(db, session), sessions.find(db, session)
    if arm is None or arm.is_closed or found is None or not found.turns:
        return
    events = _events(event_history.events_in(queue.db, session, _MAX_EVENTS))
    # Old events leave the inbox, and very long sessions are not read to their end.
    is_whole = 0 < len(events) < _MAX_EVENTS and events[0].at <= found.started_at + _SAME_START
    steps = [read_steps(event) for event in events if event.kind in TOOL_EVENTS]
    before_edit = work_before_edit(steps) if is_whole else WorkBeforeEdit(None, None)
    repeated = repeated_failures(steps, lambda errors: _is_fix_known(db, found, errors)) if is_whole else None
    outcome = SessionOutcome(
        session=session,
        ended_at=found.ended_at or found.last_event_at,
        calls_before_edit=before_edit.calls,
        files_before_edit=before_edit.files,
        repeated_failures=repeated,
        corrections=memory_links.count_seen_in(db, session, "correction"),
        turns=found.turns,
        tokens=_tokens(event_history.transcripts_of(queue.db, [session])),
        seconds=(found.last_event_at - found.started_at).total_seconds(),
    )
    with atomic(db):
        outcomes.put(db, outcome)


def work_before_edit(calls: Iterable[Sequence[Step]]) -> WorkBeforeEdit:
    """Return the number of tool calls and of files read before the first edit, by the steps of each call.

    Without an edit all calls count: to leave such sessions out would compare different kinds of work, if memories
    change which sessions have an edit."""
    files: set[str] = set()
    count = 0
    for steps in calls:
        if any(isinstance(step, FileEdited) for step in steps):
            break
        count += 1
        files |= {step.path for step in steps if isinstance(step, Opened)}
    return WorkBeforeEdit(count, len(files))


def repeated_failures(calls: Iterable[Sequence[Step]], is_known: IsKnown) -> int:
    """Return the number of failures that the session had before, or whose fix was known before."""
    seen: set[str] = set()
    repeated = 0
    for steps in calls:
        anchors = {anchor for step in steps if _has_failed(step) for anchor in anchors_of_step(step)}
        if anchors:
            repeated += not anchors.isdisjoint(seen) or is_known(sorted(anchors))
            seen |= anchors
    return repeated


def tokens_in(transcript: bytes) -> int | None:
    """Return the tokens of all messages of a transcript without cache reads, each message once; None if it tells
    none."""
    by_message: dict[str, int] = {}
    for number, line in enumerate(transcript.splitlines()):
        if b'"usage"' not in line:
            continue
        try:
            entry = load_json(line.decode("utf-8", "replace"))
        except (ValueError, RecursionError):
            continue
        message = entry.get("message") if isinstance(entry, dict) else None
        usage = message.get("usage") if isinstance(message, dict) else None
        if isinstance(message, dict) and isinstance(usage, dict):
            counts = [count for name in _TOKEN_FIELDS if isinstance(count := usage.get(name), int)]
            if counts:
                by_message[str(message.get("id") or number)] = sum(counts)
    return sum(by_message.values()) if by_message else None


def _tokens(transcripts: Sequence[str]) -> int | None:
    counts = []
    for path in transcripts:
        try:
            counts.append(tokens_in(read_regular(Path(path), _MAX_TRANSCRIPT_BYTES)))
        except (OSError, ValueError):
            return None
    known = [count for count in counts if count is not None]
    return sum(known) if known and len(known) == len(counts) else None


def _events(rows: Iterable[Row]) -> list[Event]:
    events = []
    for row in rows:
        try:
            events.append(event_from_payload(row.name, row.parse_payload()))
        except PayloadError:
            continue
    return events


def _has_failed(step: Step) -> TypeGuard[Ran | Called]:
    return (isinstance(step, Ran) and step.failed) or (isinstance(step, Called) and bool(step.error))


def _is_fix_known(db: sqlite3.Connection, session: Session, errors: Sequence[str]) -> bool:
    rows = fts.anchored_to(db, errors, session.project, _MAX_FIXES)
    found = memories.by_seq(db, rows).values()
    return any(memory.kind == "bugfix" and memory.created_at < session.started_at for memory in found)
