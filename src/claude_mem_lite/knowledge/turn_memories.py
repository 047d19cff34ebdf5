"""The memories that the drafts of a turn become, and the one handoff of its session."""

import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.compress.toolcalls.provenance import Hearsay
from claude_mem_lite.models import COMPOSER_VERSION, TRANSCRIPT_TRUST, TRUST, Draft, Memory, Place, Turn
from claude_mem_lite.store import memories
from claude_mem_lite.store.ids import short_id


def keep_handoff(
    db: sqlite3.Connection, left: Draft | None, turn: Turn, place: Place, others: Hearsay, now: datetime
) -> None:
    """One handoff a session, as it stands now; what was open and is not any more holds no longer."""
    id_ = memories.handoff_id(turn.session)
    known = memories.find(db, id_)
    if left is None:
        if known is not None and known.made_by != "user":
            memories.retire(db, id_)
    else:
        made = memory_of(left, turn, place, 0, turn.events[-1].at, others)
        memories.put(db, replace(made, id=id_), turn.key, now)


def memory_of(draft: Draft, turn: Turn, place: Place, position: int, at: datetime, others: Hearsay) -> Memory:
    """The memory a draft becomes. Its id is its place in the turn: told anew by a model, it stays the same memory.

    What the user taught is known by what it says: its place is behind all that a model may tell. `others` is what
    the turn heard: to read that takes long, so it is read once for all drafts."""
    why_quarantined = others.why_quarantined(draft)
    is_from_transcript = draft.origin == "user" and any(event.imported for event in turn.events)
    return Memory(
        status="quarantined" if why_quarantined else "active",
        id=short_id(turn.key, draft.title.lower() if is_taught(draft) else str(position)),
        kind=draft.kind,
        title=draft.title,
        summary=draft.summary,
        detail=draft.detail,
        facts=draft.facts,
        files=draft.files,
        symbols=draft.symbols,
        anchors=draft.anchors,
        origin=draft.origin,
        trust=TRANSCRIPT_TRUST if is_from_transcript else TRUST[draft.origin],
        confidence=draft.confidence,
        created_at=at,
        last_seen_at=at,
        scope=draft.scope or f"project:{turn.project}",
        tags=draft.tags,
        project=turn.project,
        session=turn.session,
        prompt=next((event.prompt_id for event in turn.events if event.prompt_id), ""),
        branch=place.branch,
        commit=place.commit,
        prompt_version=f"composer {COMPOSER_VERSION}",
    )
