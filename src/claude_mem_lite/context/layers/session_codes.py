"""Session codes: the result of a session on one dense line, `impl: … | dec: … | block: … | next: …`."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.layers.sessions import (
    are_all_elsewhere,
    last_sessions,
    open_handoffs,
    without_code,
)
from claude_mem_lite.context.layers.still_valid import valid_sessions
from claude_mem_lite.context.order import GONE, NO_FLOOR, newest_first
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Session, SessionSummary
from claude_mem_lite.store import sessions

_MAX_ENTRY = 160
_MAX_ENTRIES = 4
_BLOCKS = lazy(r"(?i)^still failing: |\bblocked\b")
_MAX_SESSIONS = 10
# Blocks and next steps of these sessions are shown even without an open handoff.
_OPEN_SESSIONS = 3


def codes(summary: SessionSummary) -> str:
    """Return the codes of a session: done, decided, blocked and next; empty parts are left out."""
    return " | ".join(f"{name}: {entries}" for name, entries in coded(summary).items() if entries)


def coded(summary: SessionSummary) -> dict[str, str]:
    """Return the codes by part: impl, dec, block, next."""
    fields = (
        ("impl", sentences(summary.completed)[-_MAX_ENTRIES:]),
        ("dec", summary.key_decisions[-_MAX_ENTRIES:]),
        ("block", [text for text in sentences(summary.notes) if _BLOCKS.search(text)][:_MAX_ENTRIES]),
        ("next", summary.next_steps[:_MAX_ENTRIES]),
    )
    return {name: _entries(entries) for name, entries in fields}


def _entries(texts: Iterable[str]) -> str:
    from claude_mem_lite.compress.prose.drafts import whole_clauses  # late: the usual preset has no such layer

    shown = (whole_clauses(text.replace(" | ", " "), _MAX_ENTRY).rstrip(" .;") for text in texts)
    return "; ".join(entry for entry in shown if entry)


def impl(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return completed work, without decisions."""
    last = last_sessions(db, request, _MAX_SESSIONS)
    return _lines(db, request, setting, ("impl",), last, _orders(last))


def dec(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return decisions that still hold."""
    last = last_sessions(db, request, _MAX_SESSIONS)
    return _lines(db, request, setting, ("dec",), last, _orders(last))


def block_and_next(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return obstacles and next steps that are still open."""
    last = last_sessions(db, request, _OPEN_SESSIONS)
    if are_all_elsewhere(last, request):
        return []
    last_ids = {session.id for session in last}
    handoffs = [handoff for handoff in open_handoffs(db, request) if handoff.session not in last_ids]
    before = f"left open before the last {len(last)} sessions, "
    earlier = {
        handoff.session: before + newest_first(rank, len(handoffs), handoff.last_seen_at, NO_FLOOR)
        for rank, handoff in enumerate(handoffs, 1)
    }
    orders = earlier | _orders(last)
    others = filter(None, (sessions.find(db, handoff.session) for handoff in handoffs))
    return _lines(db, request, setting, ("block", "next"), [*last, *others], orders)


def _orders(past: Sequence[Session]) -> dict[str, str]:
    """Return the rank of each session, by id."""
    return {
        session.id: newest_first(rank, len(past), session.last_event_at, NO_FLOOR)
        for rank, session in enumerate(past, 1)
    }


def _lines(
    db: sqlite3.Connection,
    request: ContextRequest,
    setting: Setting,
    names: tuple[str, ...],
    past: list[Session],
    orders: Mapping[str, str],
) -> list[Item]:
    if are_all_elsewhere(past, request):
        return []
    gone = without_code(db, request, [session.id for session in past])
    items = []
    for rank, valid in enumerate(valid_sessions(db, request, setting, past), 1):
        by_name = coded(valid.session.summary)
        entries = " | ".join(f"{name}: {by_name[name]}" for name in names if by_name[name])
        left_out = GONE if valid.session.id in gone else ""
        if entries:
            line = render.session_code_line(valid.session, entries, request.now, request.dated)
            covers = tuple(valid.decided.values()) if "dec" in names else ()
            why, order = f"session {rank} by recency", orders[valid.session.id]
            items.append(Item(line, valid.session.id, why, left_out=left_out, covers=covers, order=order))
    return items
