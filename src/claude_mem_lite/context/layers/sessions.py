"""Past sessions of a project, for several layers: the newest, open handoffs, and the use to later sessions."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.context.layers.code_state import verdict_of
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import NEUTRAL, SILENT, factor, is_stated, start_factor
from claude_mem_lite.models import Memory, Session
from claude_mem_lite.store import memories, receipts, sessions
from claude_mem_lite.store.branches import is_hidden

MAX_SESSIONS = 10
MAX_CANDIDATES = 60
MAX_OPEN_SESSIONS = 3
"""Sessions with edits after which a handoff is no longer shown: later sessions rarely return to its steps
(docs/context.md)."""
UNUSED = "no session had use for it"
REPEATED = "said by a newer one"
_MAX_ANCHORED = 60


def last_sessions(db: sqlite3.Connection, request: ContextRequest, limit: int) -> list[Session]:
    """Return the newest sessions of the project with a headline, except the session of the request.

    Sessions of branches outside of the checkout are returned only without any others."""
    hidden = request.checkout.hidden
    for excluded in (hidden, ()) if hidden else ((),):
        newest = sessions.newest(
            db,
            project=request.location.project,
            since=request.since,
            without=request.session,
            with_headline=True,
            hidden=excluded,
            limit=limit,
        )
        if newest:
            return newest
    return []


def are_all_elsewhere(past: Sequence[Session], request: ContextRequest) -> bool:
    """Return whether all sessions are of branches outside of the checkout."""
    hidden = request.checkout.hidden
    return bool(past) and all(is_hidden(session.branch, session.last_event_at, hidden) for session in past)


def without_code(db: sqlite3.Connection, request: ContextRequest, ids: Sequence[str]) -> set[str]:
    """Return the sessions with all changed code missing in the checkout: reverted, deleted or never merged."""
    anchored = memories.anchored_to_code(db, list(dict.fromkeys(ids)), _MAX_ANCHORED)
    verdicts = request.checkout.freshness(anchored)
    present = {memory.session for memory in anchored if verdict_of(memory, verdicts) != "gone"}
    return {memory.session for memory in anchored} - present


def open_handoffs(db: sqlite3.Connection, request: ContextRequest) -> list[Memory]:
    """Return the open handoffs of other sessions, newest first."""
    handoffs = memories.left_open(
        db,
        request.location.project,
        since=request.since,
        without_session=request.session,
        hidden=request.checkout.hidden,
    )
    if not handoffs:
        return []
    editing = [session for session in last_sessions(db, request, MAX_CANDIDATES) if session.summary.files_edited]
    # Memories that the user stated or pinned appear in another layer.
    return [
        handoff
        for handoff in handoffs
        if not is_stated(handoff) and _sessions_since(handoff, editing) < MAX_OPEN_SESSIONS
    ]


def _sessions_since(handoff: Memory, editing: Sequence[Session]) -> int:
    """Return the number of other sessions that changed files after a handoff."""
    return sum(session.last_event_at > handoff.last_seen_at and session.id != handoff.session for session in editing)


def memory_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the factors for the relevance of memories, by their outcomes; 1 without outcomes."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: start_factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def session_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the use of sessions by their outcomes; a session with 0 is not shown any more.

    Uses the faster curve of prompts and failures: sessions are used more often than memories, and each is shown only
    a few times until newer sessions replace it."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def is_unused(use: float) -> bool:
    return use <= SILENT
