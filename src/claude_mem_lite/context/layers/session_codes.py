"""Session codes: what sessions came to on one dense line each, `impl: … | dec: … | block: … | next: …`."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

from claude_mem_lite.compress.prose.drafts import whole_clauses
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.layers.sessions import (
    are_all_elsewhere,
    last_sessions,
    open_handoffs,
    without_code,
)
from claude_mem_lite.context.layers.still_valid import held
from claude_mem_lite.context.order import GONE, NO_FLOOR, newest_first
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Session, SessionSummary
from claude_mem_lite.store import sessions

_MAX_ENTRY = 160
_MAX_ENTRIES = 4
_BLOCKS = lazy(r"(?i)^still failing: |\bblocked\b")


def codes(summary: SessionSummary) -> str:
    """What was done, decided, blocked and left to do; what there is none of is left out."""
    return " | ".join(f"{name}: {told}" for name, told in coded(summary).items() if told)


def coded(summary: SessionSummary) -> dict[str, str]:
    """The same by its parts: impl, dec, block, next."""
    fields = (
        ("impl", sentences(summary.completed)[-_MAX_ENTRIES:]),
        ("dec", summary.key_decisions[-_MAX_ENTRIES:]),
        ("block", [text for text in sentences(summary.notes) if _BLOCKS.search(text)][:_MAX_ENTRIES]),
        ("next", summary.next_steps[:_MAX_ENTRIES]),
    )
    return {name: _entries(entries) for name, entries in fields}


def _entries(texts: Iterable[str]) -> str:
    shown = (whole_clauses(text.replace(" | ", " "), _MAX_ENTRY).rstrip(" .;") for text in texts)
    return "; ".join(entry for entry in shown if entry)


_MAX_SESSIONS = 10
# Of so many sessions, blocks and next steps are told even without an open handoff.
_OPEN_SESSIONS = 3


def impl(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What was done, without what was decided: that is told while it holds."""
    found = last_sessions(db, occasion, _MAX_SESSIONS)
    return _lines(db, occasion, setting, ("impl",), found, _orders(found))


def dec(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What was decided and holds."""
    found = last_sessions(db, occasion, _MAX_SESSIONS)
    return _lines(db, occasion, setting, ("dec",), found, _orders(found))


def block_and_next(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What stood in the way and what was left to do, until somebody took it up."""
    last = last_sessions(db, occasion, _OPEN_SESSIONS)
    if are_all_elsewhere(last, occasion):
        return []
    known = {one.id for one in last}
    left = [one for one in open_handoffs(db, occasion) if one.session not in known]
    later = (
        f"left open before the last {len(last)} sessions, {newest_first(rank, len(left), one.last_seen_at, NO_FLOOR)}"
        for rank, one in enumerate(left, 1)
    )
    orders = dict(zip((one.session for one in left), later, strict=True)) | _orders(last)
    others = (sessions.find(db, one.session) for one in left)
    return _lines(db, occasion, setting, ("block", "next"), [*last, *(one for one in others if one)], orders)


def _orders(found: Sequence[Session]) -> dict[str, str]:
    """Return the place of each session, by its id."""
    return {one.id: newest_first(rank, len(found), one.last_event_at, NO_FLOOR) for rank, one in enumerate(found, 1)}


def _lines(
    db: sqlite3.Connection,
    occasion: Occasion,
    setting: Setting,
    names: tuple[str, ...],
    found: list[Session],
    orders: Mapping[str, str],
) -> list[Item]:
    if are_all_elsewhere(found, occasion):
        return []
    gone = without_code(db, occasion, [one.id for one in found])
    items = []
    for rank, one in enumerate(held(db, occasion, setting, found), 1):
        told = coded(one.session.summary)
        entries = " | ".join(f"{name}: {told[name]}" for name in names if told[name])
        left_out = GONE if one.session.id in gone else ""
        if entries:
            line = render.code_of_session(one.session, entries, occasion.now, occasion.dated)
            tells = tuple(one.decided.values()) if "dec" in names else ()
            why, order = f"session {rank} by recency", orders[one.session.id]
            items.append(Item(line, one.session.id, why, left_out=left_out, tells=tells, order=order))
    return items
