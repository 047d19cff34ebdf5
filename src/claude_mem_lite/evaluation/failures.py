"""Failures of a recorded turn whose fix was known from an earlier session, and whether the product offers the fix."""

import sqlite3
from collections.abc import Iterator

from claude_mem_lite.agents.claude_code import TOOL_EVENTS, event_from_payload
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, failed_step
from claude_mem_lite.context.failure_hints import known_fixes
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.importers.transcript_turns import TranscriptEvent
from claude_mem_lite.models import ToolCall, text
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts
from claude_mem_lite.values import frozen

_MAX_READ = 40


@frozen
class RepeatedFailure:
    """Failing command with the fingerprint of a fix that an earlier session verified."""

    fix: str
    """Id of the newest memory with the fix."""
    is_offered: bool
    """True if the hook of the failure would have given a fix."""


def repeated_failures(
    db: sqlite3.Connection, events: tuple[TranscriptEvent, ...], request: ContextRequest
) -> Iterator[RepeatedFailure]:
    """Yield the failures of a turn with a known fix, each fix once. The turn itself must not be stored yet."""
    seen: set[str] = set()
    for call in _calls(events):
        fix = _known_fix(db, call, request)
        if fix and fix not in seen:
            seen.add(fix)
            offered = known_fixes(db, call, request, ())
            yield RepeatedFailure(fix, any(item.source == "fix" for item in offered))


def _calls(events: tuple[TranscriptEvent, ...]) -> Iterator[ToolCall]:
    for event in events:
        if text(event.payload.get("hook_event_name")) in TOOL_EVENTS:
            try:
                tool = event_from_payload(event.name, event.payload).tool
            except PayloadError:
                continue
            if tool is not None:
                yield tool


def _known_fix(db: sqlite3.Connection, call: ToolCall, request: ContextRequest) -> str:
    step = failed_step(call, request.location.root)
    anchors = sorted(anchors_of_step(step)) if step is not None else []
    rows = fts.anchored_to(db, anchors, request.location.project, _MAX_READ) if anchors else []
    for _, memory in sorted(memories.by_seq(db, rows).items(), reverse=True):
        is_of_failure = not set(anchors).isdisjoint(memory.anchors)
        if memory.kind == "bugfix" and is_of_failure and memory.session != request.session:
            return memory.id
    return ""
