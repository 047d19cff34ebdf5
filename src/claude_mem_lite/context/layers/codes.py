"""Session codes: the last sessions in dense lines, by what was done, decided, blocked and left to do."""

import sqlite3

from claude_mem_lite.compress.rules.codes import coded
from claude_mem_lite.context import render
from claude_mem_lite.context.detect import Setting
from claude_mem_lite.context.items import Item
from claude_mem_lite.context.layers.holding import held
from claude_mem_lite.context.layers.sessions import GONE, are_all_elsewhere, last_sessions, open_handoffs, without_code
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.models import Session
from claude_mem_lite.store import sessions

_MOST_SESSIONS = 10
# Of so many sessions, blocks and next steps are told even without an open handoff.
_OPEN_SESSIONS = 3


def impl(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What was done, without what was decided: that is told while it holds."""
    return _lines(db, occasion, setting, ("impl",), last_sessions(db, occasion, _MOST_SESSIONS))


def dec(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What was decided and holds."""
    return _lines(db, occasion, setting, ("dec",), last_sessions(db, occasion, _MOST_SESSIONS))


def block_and_next(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What stood in the way and what was left to do, until somebody took it up."""
    last = last_sessions(db, occasion, _OPEN_SESSIONS)
    if are_all_elsewhere(last, occasion):
        return []
    known = {one.id for one in last}
    others = (sessions.find(db, left.session) for left in open_handoffs(db, occasion) if left.session not in known)
    return _lines(db, occasion, setting, ("block", "next"), [*last, *(one for one in others if one)])


def _lines(
    db: sqlite3.Connection, occasion: Occasion, setting: Setting, names: tuple[str, ...], found: list[Session]
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
            items.append(Item(line, one.session.id, f"session {rank} by recency", left_out=left_out, tells=tells))
    return items
