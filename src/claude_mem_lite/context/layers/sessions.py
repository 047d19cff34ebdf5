"""What the last sessions were about, and where the newest one stopped."""

import sqlite3
from dataclasses import replace

from claude_mem_lite.context import render
from claude_mem_lite.context.detect import Setting
from claude_mem_lite.context.items import Item
from claude_mem_lite.context.layers.standing import verdict_of
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.models import Memory, Session, SessionSummary
from claude_mem_lite.store import memories, sessions
from claude_mem_lite.store.visibility import is_hidden

MOST_SESSIONS = 10
_HANDOFF_LOOKS_BACK = 5
_MOST_STILL_OPEN = 2
_MOST_TIED = 60


def handoff(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Where the last session stopped."""
    found = last_sessions(db, occasion, _HANDOFF_LOOKS_BACK)
    if are_all_elsewhere(found, occasion):
        return []  # what is open on another branch is not to be gone on with here
    gone = without_code(db, occasion, found)
    there = [one for one in found if one.id not in gone]
    # A session that only asked something leaves standing what the one before it left to do.
    last = next((one for one in there if _leaves_something(one.summary)), there[0] if there else None)
    if last is None:
        return []
    left = memories.handoff_of(db, last.id)
    age = render.when(last.last_event_at, occasion.now, occasion.dated)
    lines = render.handoff_lines(_without_settled(db, last, left), left, occasion.place.branch, age)
    stopped = [Item(line.text, last.id, "where work stopped", says=line.decision) for line in lines]
    return stopped + _still_open(db, occasion, [one for one in there if one.id != last.id])


def _without_settled(db: sqlite3.Connection, session: Session, left: Memory | None) -> Session:
    """The session without the steps that it left, when they were taken up since or the user retired them."""
    if left is not None or memories.find(db, memories.handoff_id(session.id)) is None:
        return session
    return replace(session, summary=replace(session.summary, next_steps=()))


def _still_open(db: sqlite3.Connection, occasion: Occasion, others: list[Session]) -> list[Item]:
    """What other sessions left open and nobody has taken up since, the newest first."""
    found = [(one, left) for one in others if (left := memories.handoff_of(db, one.id))]
    return [
        Item(
            f"- [{render.when(left.last_seen_at, occasion.now, occasion.dated)}] "
            f"{render.safe_line(left.summary)} #{left.id[:6]}",
            one.id,
            "left open earlier, and not taken up since",
        )
        for one, left in found[:_MOST_STILL_OPEN]
    ]


def session_index(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """One headline for each of the last sessions."""
    found = last_sessions(db, occasion, MOST_SESSIONS)
    tagged = are_all_elsewhere(found, occasion)
    gone = without_code(db, occasion, found)
    return [
        Item(
            render.session_line(
                one, occasion.now, occasion.dated, branch=one.branch if tagged else "", is_gone=one.id in gone
            ),
            one.id,
            f"session {rank} by recency",
        )
        for rank, one in enumerate(found, 1)
    ]


def last_sessions(db: sqlite3.Connection, occasion: Occasion, limit: int) -> list[Session]:
    """The newest sessions of the project that have something to tell, without the one that asks.

    Those whose work is in this checkout; when there is none, those on other branches, so that something is known."""
    hidden = occasion.checkout.hidden
    for left_out in (hidden, ()) if hidden else ((),):
        found = sessions.newest(
            db,
            project=occasion.place.project,
            since=occasion.since,
            without=occasion.session,
            told_only=True,
            hidden=left_out,
            limit=limit,
        )
        if found:
            return found
    return []


def are_all_elsewhere(found: list[Session], occasion: Occasion) -> bool:
    """Whether sessions are of other branches, for want of any whose work is here."""
    hidden = occasion.checkout.hidden
    return bool(found) and all(is_hidden(one.branch, one.last_event_at, hidden) for one in found)


def without_code(db: sqlite3.Connection, occasion: Occasion, found: list[Session]) -> set[str]:
    """Those of the sessions that changed code of which nothing is here: reverted, deleted, or never brought here."""
    tied = memories.tied_to_code(db, [one.id for one in found], _MOST_TIED)
    verdicts = occasion.checkout.freshness(tied)
    left = {memory.session for memory in tied if verdict_of(memory, verdicts) != "gone"}
    return {memory.session for memory in tied} - left


def _leaves_something(told: SessionSummary) -> bool:
    return bool(told.next_steps or told.key_decisions or told.completed or told.learned)
