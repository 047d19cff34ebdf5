"""Checks of the saves and deletions that an agent requests, by the events of the session.

An agent that has just read a page may repeat the page, whoever asked for the save: the origin is then the page.
An agent erases no memory that the user stated, changed, pinned or confirmed."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from claude_mem_lite.agents.claude_code import event_from_payload, why_skipped
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.rules.turn_lessons import OWN_COMMANDS
from claude_mem_lite.compress.toolcalls.provenance import ForeignText, only_source, origin_of, source_of, text_of
from claude_mem_lite.errors import MemoryLiteError, PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.event_history import SessionEvent
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.knowledge.user_edits import CONFIRMED
from claude_mem_lite.models import FOREIGN_ORIGINS, TRUST, Event, Memory, Origin, ToolCall
from claude_mem_lite.store import memory_links, memory_queries
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.text import one_line

MAX_SAVED = 30
"""Limit per session: a manipulated agent must not flood the store."""
MAX_FORGOTTEN = 20
"""Limit per session and per command: a manipulated agent must not empty the store."""
REMEMBER_COMMAND = f"{OWN_COMMANDS}remember "
_MAX_CALLS = 1_000
_MAX_TEXT = 3_000_000
_MAX_KNOWN = 500
# The results of these tools belong to the project; only the call matters.
_OWN_TOOLS = ("Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "NotebookRead", "Glob", "Grep", "LS", "TodoWrite")
_STAND_INS = {"web": "WebFetch", "mcp": "mcp__other__said"}
"""A tool of each origin, for text that is known only from memories."""


def checked(memory: Memory, sessions: Sequence[str], queue: Queue, db: sqlite3.Connection) -> Memory:
    """Return the memory with the origin of its text; in quarantine if the text gives orders or repeats a quarantined
    text."""
    events = _heard(queue, sessions)
    known = memory_queries.of_project(db, memory.project, _MAX_KNOWN)
    origin = _origin(memory, events, known)
    if origin is not None:
        memory = replace(memory, origin=origin, trust=TRUST[origin])
    waiting = [_as_event(note, "web") for note in known if note.status == "quarantined"]
    if _has_words_of(waiting, memory):
        return replace(memory, status="quarantined")
    return quarantine.checked_save(memory)


def was_typed(words: str, sessions: Sequence[str], queue: Queue) -> bool:
    """Return True if the user typed exactly this text after the storing command of our plugin."""
    typed = (
        prompt
        for session in sessions
        if session
        for prompt in event_history.prompts_after(queue.db, session, REMEMBER_COMMAND)
    )
    return any(one_line(clean(prompt)) == one_line(words) for prompt in typed)


def refuse_too_many_saves(count: int) -> None:
    """Raise MemoryLiteError if a session has reached the limit of saves."""
    if count >= MAX_SAVED:
        raise MemoryLiteError(
            f"an agent saves {MAX_SAVED} memories a session at most, so this was not saved",
            "go on without; what is done in the session is kept anyway",
        )


def refuse_too_many_forgotten(ids: Sequence[str], gone: int) -> None:
    """Raise MemoryLiteError if a session would exceed the limit of forgotten memories."""
    if len(ids) > MAX_FORGOTTEN:
        raise MemoryLiteError(f"{len(ids)} memories are too many at a time", f"name {MAX_FORGOTTEN} at most")
    if gone + len(ids) > MAX_FORGOTTEN:
        raise MemoryLiteError(
            f"an agent forgets {MAX_FORGOTTEN} memories a session at most, and {gone} are gone",
            f"ask the user, who can run `claude-mem-lite forget {' '.join(ids)}`",
        )


def _origin(memory: Memory, events: Sequence[Event], known: Sequence[Memory]) -> Origin | None:
    """Return the origin of a text that repeats a page or a foreign tool, by the rules for turns."""
    calls = [*events, *(_as_event(note, note.origin) for note in known if note.origin in FOREIGN_ORIGINS)]
    for origin in FOREIGN_ORIGINS:
        results = [event for event in calls if event.tool is not None and origin_of(event.tool) == origin]
        ends = [event for event in events if event.kind == "SubagentStop" and source_of(event, events) == origin]
        if _has_words_of([*results, *ends], memory):
            return origin
    later = list(takewhile(lambda event: event.kind != "UserPromptSubmit", reversed(events)))
    return only_source(later)


def _has_words_of(events: Sequence[Event], memory: Memory) -> bool:
    heard = ForeignText(events)
    return any(heard.has(line) for line in dict.fromkeys(text_of(memory).split("\n")))


def _as_event(memory: Memory, origin: str) -> Event:
    call = ToolCall(_STAND_INS.get(origin, _STAND_INS["web"]), {}, text_of(memory))
    return Event("", "PostToolUse", memory.session, memory.created_at, tool=call)


def _heard(queue: Queue, sessions: Sequence[str]) -> list[Event]:
    """Return the prompts and tool results of sessions in order, as far as the events are kept."""
    rows = {
        row.name: row
        for session in sessions
        if session
        for row in event_history.recent_events(queue.db, session, _OWN_TOOLS, _MAX_CALLS, _MAX_TEXT)
    }
    return list(_events([rows[name] for name in sorted(rows)]))


def _events(rows: Sequence[SessionEvent]) -> Iterator[Event]:
    for row in rows:
        if not row.payload:
            call = ToolCall(row.tool, {}) if row.tool else None
            yield Event(row.name, row.event, row.session, time_of(row.name), agent_id=row.agent_id or None, tool=call)
            continue
        try:
            payload = row.parse_payload()
            event = event_from_payload(row.name, payload)
        except PayloadError:
            continue
        if why_skipped(event, payload) is None:
            yield event


def refuse_agent(db: sqlite3.Connection, memory: Memory, project: str, command: str) -> None:
    """Raise MemoryLiteError if an agent in a project may not forget or retire a memory."""
    if memory.scope.startswith("project:") and memory.scope != f"project:{project}":
        raise MemoryLiteError(f"{memory.id} is a memory of another project", f"it can be changed there by `{command}`")
    if memory.status == "quarantined":
        raise MemoryLiteError(f"{memory.id} is in quarantine", "the user can run `claude-mem-lite quarantine`")
    if is_users(db, memory):
        raise MemoryLiteError(
            f"{memory.id} was stated, changed, pinned or confirmed by the user, so nothing was changed",
            f"ask the user, who can run `claude-mem-lite {command} {memory.id}` in a terminal of their own",
        )


def is_users(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return True if a memory belongs to the user, whoever worded it first."""
    return memory.pinned or "user" in (memory.origin, memory.made_by) or _is_confirmed(db, memory)


def _is_confirmed(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return True if a later command left the memory with the confidence of a confirmed memory."""
    later = (name for name in memory_links.commands_on(db, memory.id) if short_id(name) != memory.id)
    return memory.confidence >= CONFIRMED and any(later)
