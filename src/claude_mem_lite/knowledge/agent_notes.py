"""What an agent wants to be kept or forgotten, held against what its session heard and did before.

An agent that has just read a page may repeat it, whoever asked it to: those words stay the page's."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.rules.corrections import OWN_COMMANDS
from claude_mem_lite.compress.toolcalls.provenance import Hearsay, only_source, origin_of, source_of, told_by
from claude_mem_lite.errors import MemoryLiteError, PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.event_history import HeardRow
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import FOREIGN_ORIGINS, TRUST, Event, Memory, Origin, ToolCall
from claude_mem_lite.store import memory_queries
from claude_mem_lite.text import one_line

MAX_SAVED = 30
"""In one session: an agent that was talked into it must not flood the store."""
MAX_FORGOTTEN = 20
"""In one session, and at a time: it must not empty it either."""
REMEMBER_COMMAND = f"{OWN_COMMANDS}remember "
_MAX_CALLS = 1_000
_MAX_TEXT = 3_000_000
_MAX_KNOWN = 500
# What these answer is the project's own, so only that they were called matters.
_OWN_TOOLS = ("Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS", "TodoWrite")
_STAND_INS = {"web": "WebFetch", "mcp": "mcp__other__said"}
"""A tool of each origin, for what is known of its words by memories alone."""


def checked(memory: Memory, sessions: Sequence[str], queue: Queue, db: sqlite3.Connection) -> Memory:
    """The memory with the origin that its words have, in quarantine if it gives orders or repeats what is there."""
    events = _heard(queue, sessions)
    known = memory_queries.of_project(db, memory.project, _MAX_KNOWN)
    origin = _origin(memory, events, known)
    if origin is not None:
        memory = replace(memory, origin=origin, trust=TRUST[origin])
    waiting = [_as_event(one, "web") for one in known if one.status == "quarantined"]
    if _has_words_of(waiting, memory):
        return replace(memory, status="quarantined")
    return quarantine.checked_save(memory)


def was_typed(words: str, sessions: Sequence[str], queue: Queue) -> bool:
    """Whether the user typed just these words after the command of our plugin that stores something."""
    typed = (
        prompt for one in sessions if one for prompt in event_history.prompts_after(queue.db, one, REMEMBER_COMMAND)
    )
    return any(one_line(clean(prompt)) == one_line(words) for prompt in typed)


def refuse_too_many_saves(count: int) -> None:
    """MemoryLiteError when a session has saved as much as it may."""
    if count >= MAX_SAVED:
        raise MemoryLiteError(
            f"an agent saves {MAX_SAVED} memories a session at most, so this was not saved",
            "go on without; what is done in the session is kept anyway",
        )


def refuse_too_many_forgotten(ids: Sequence[str], gone: int) -> None:
    """MemoryLiteError when a session would have more forgotten than it may."""
    if len(ids) > MAX_FORGOTTEN:
        raise MemoryLiteError(f"{len(ids)} memories are too many at a time", f"name {MAX_FORGOTTEN} at most")
    if gone + len(ids) > MAX_FORGOTTEN:
        raise MemoryLiteError(
            f"an agent forgets {MAX_FORGOTTEN} memories a session at most, and {gone} are gone",
            f"ask the user, who can run `claude-mem-lite forget {' '.join(ids)}`",
        )


def _origin(memory: Memory, events: Sequence[Event], known: Sequence[Memory]) -> Origin | None:
    """Whose words they are, if they are those of a page or a foreign tool: as it is for what is told of a turn."""
    calls = [*events, *(_as_event(one, one.origin) for one in known if one.origin in FOREIGN_ORIGINS)]
    for origin in FOREIGN_ORIGINS:
        told = [event for event in calls if event.tool is not None and origin_of(event.tool) == origin]
        ends = [event for event in events if event.kind == "SubagentStop" and source_of(event, events) == origin]
        if _has_words_of([*told, *ends], memory):
            return origin
    later = list(takewhile(lambda event: event.kind != "UserPromptSubmit", reversed(events)))
    return only_source(later)


def _has_words_of(events: Sequence[Event], memory: Memory) -> bool:
    heard = Hearsay(events)
    return any(heard.has(line) for line in dict.fromkeys(told_by(memory).split("\n")))


def _as_event(memory: Memory, origin: str) -> Event:
    call = ToolCall(_STAND_INS.get(origin, _STAND_INS["web"]), {}, told_by(memory))
    return Event("", "PostToolUse", memory.session, memory.created_at, tool=call)


def _heard(queue: Queue, sessions: Sequence[str]) -> list[Event]:
    """What sessions were asked, and what tools answered them, as far as it is kept; in order."""
    rows = {
        row.name: row
        for one in sessions
        if one
        for row in event_history.heard(queue.db, one, _OWN_TOOLS, _MAX_CALLS, _MAX_TEXT)
    }
    return list(_events([rows[name] for name in sorted(rows)]))


def _events(rows: Sequence[HeardRow]) -> Iterator[Event]:
    for row in rows:
        if not row.payload:
            call = ToolCall(row.tool, {}) if row.tool else None
            yield Event(row.name, row.event, row.session, time_of(row.name), agent_id=row.agent_id or None, tool=call)
            continue
        try:
            payload = row.told()
            event = event_from_payload(row.name, payload)
        except PayloadError:
            continue
        if why_skipped(event, payload) is None:
            yield event
