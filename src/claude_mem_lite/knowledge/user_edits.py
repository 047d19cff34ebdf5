"""Changes of a memory by command of the user: edit, pin, confirm, retire, reinstate, supersede.

The commands come from the inbox, like `remember` and `forget`; a repeated command changes nothing. A scope of the user
is `universal`, `language:NAME`, `project` or `project:ID`."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.toolcalls.provenance import text_of
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.knowledge import remember
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.knowledge.code_links import tied_to_now
from claude_mem_lite.models import (
    KINDS,
    MAX_TITLE_LENGTH,
    OUTSIDE_ORIGINS,
    TRUST,
    JsonObject,
    Kind,
    Memory,
    is_users_wording,
    text,
    texts,
)
from claude_mem_lite.safety.injection import looks_like_an_attack
from claude_mem_lite.scopes import SCOPES, UNIVERSAL_KINDS, project_of_scope, written_scope
from claude_mem_lite.store import memories, memory_links, retirements, tombstones
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.text import one_line, share, stems, within


def resolve_scope(db: sqlite3.Connection, scope: str, kind: Kind, project: str) -> str:
    """Return the full scope of the user's input; kinds that hold everywhere need no input."""
    if not scope:
        return "universal" if kind in UNIVERSAL_KINDS else f"project:{project}"
    return named_scope(db, scope, project)


def named_scope(db: sqlite3.Connection, scope: str, project: str) -> str:
    """Return the full scope of a name: a project by id, by name, or the current project."""
    meant = written_scope(scope)
    if meant is None:
        raise MemoryLiteError(f"{scope!r} is no scope", f"use {SCOPES}")
    if meant in ("project", f"project:{project}"):
        return f"project:{project}"
    if meant.startswith("project:"):
        return f"project:{lookup.named(db, meant.removeprefix('project:'))}"
    return meant


CONFIRMED = 0.9
"""Minimum confidence of a confirmed memory."""
MAX_KEPT = 0.5
"""Maximum share of old words in an edit that makes a foreign memory the user's own."""
_BY_USER, _BY_AGENT = "the user retired it", "the agent retired it"


def title_of(words: str) -> str:
    """Return the title of a user's text: the first line."""
    return within(one_line(words.strip().split("\n", 1)[0]), MAX_TITLE_LENGTH)


def edit(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> None:
    """Change text, kind, tags or scope of a memory; a new text is the user's own."""
    words = clean(text(payload.get("text"))).strip()
    given = one_line(clean(text(payload.get("title"))))
    kind = next((known for known in KINDS if known == payload.get("kind")), memory.kind)
    location = lookup.locate(db, text(payload.get("cwd")))
    scope = text(payload.get("scope"))
    scope = named_scope(db, scope, location.project) if scope else memory.scope
    dropped = set(texts(payload.get("untags")))
    tags = dict.fromkeys((*memory.tags, *(one_line(clean(tag)) for tag in texts(payload.get("tags")))))
    changed = replace(
        memory,
        # Old facts beside a new text would mix both statements.
        title=within(given, MAX_TITLE_LENGTH) or (title_of(words) if words else memory.title),
        kind=kind,
        scope=scope,
        project=project_of_scope(scope, memory.project),
        tags=tuple(tag for tag in tags if tag and tag not in dropped),
    )
    is_reworded = bool(words) and words != memory.summary
    if is_reworded:
        # Derived fields of another author would be wrong or repeated beside the new text.
        changed = replace(changed, summary=words, detail="", facts=())
    if changed == memory:
        return
    # A new title, kind or tag does not change the author of the text.
    is_worded_anew = (changed.title, changed.summary) != (memory.title, memory.summary)
    is_text = is_reworded or (bool(given) and not memory.summary)
    # No teammate is named as the author of a title of the user.
    is_own = (is_text or (memory.origin == "team" and is_worded_anew)) and _may_become_own(memory, changed)
    # A statement of the user in the words of an agent or a model stays one under another tag, kind or scope.
    is_kept = memory.origin == "user" and not is_users_wording(memory.made_by) and not is_worded_anew
    made_by = memory.made_by if is_kept else "user"
    changed = replace(changed, made_by=made_by, last_seen_at=max(memory.last_seen_at, time_of(name)))
    if is_own:
        status = "active" if memory.status == "quarantined" else memory.status
        changed = replace(changed, status=status, origin="user", author="", trust=TRUST["user"], confidence=1.0)
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)  # the typed text then goes with the memory
        memories.rewrite(db, changed)
        memory_links.drop_conflicts(db, changed.id)
        remember.reconcile(db, changed, name, now)


def pin(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> None:
    """Pin or unpin a memory. Pinned memories are injected first and are replaced only by command.

    After unpinning, newer contradicting memories replace the memory."""
    is_pinned = payload.get("pinned") is not False
    if is_pinned and memory.status != "active":
        way = "quarantine approve" if memory.status == "quarantined" else "confirm"
        raise MemoryLiteError(
            f"{memory.id} is {memory.status}, so no session gets it",
            f"`claude-mem-lite {way} {memory.id}` makes it active again",
        )
    if is_pinned != memory.pinned:
        with atomic(db):
            memories.rewrite(db, replace(memory, pinned=is_pinned))
            remember.reconcile(db, memory, name, now)


def confirm(
    name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, code: CodeCache, now: datetime
) -> None:
    """Confirm a memory: active, with higher confidence, anchored to the present code, and replacing contradicting
    memories."""
    if memory.status == "quarantined":
        raise MemoryLiteError(
            f"{memory.id} is in quarantine", f"`claude-mem-lite quarantine approve {memory.id}` lets it out"
        )
    cwd = text(payload.get("cwd"))
    # Without the folder, code and branch cannot be checked.
    location = lookup.locate(db, cwd) if os.path.isdir(cwd) else None
    is_here = location is not None and location.project == memory.project
    anchors = tied_to_now(code, location.root, memory.anchors) if location and is_here else memory.anchors
    with atomic(db):
        successor = _make_active(db, memory)
        is_new = memory_links.note_sighting(db, memory.id, name)
        held = replace(
            memory,
            status="active",
            superseded_by=None,
            anchors=anchors,
            branch=location.branch if location and is_here else memory.branch,
            commit=location.commit if location and is_here else memory.commit,
            confidence=max(memory.confidence, CONFIRMED),
            trust=max(memory.trust, TRUST[memory.origin]),
            times_seen=memory.times_seen + is_new,
            last_seen_at=max(memory.last_seen_at, time_of(name)),
        )
        memories.rewrite(db, held)
        against = memory_links.of(db, [held.id]).get(held.id, ())
        others = {other.id: other for other in supersession.contradicting(db, held)}
        others |= {id_: other for id_ in against if (other := memories.find(db, id_))}
        _prefer(db, held, [*others.values(), *([successor] if successor else ())], now)


def retire(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, *, by_agent: bool = False) -> None:
    """Retire a memory: readable, not injected, and revived only by the user."""
    reason = within(one_line(clean(text(payload.get("reason")))), MAX_TITLE_LENGTH) or (
        _BY_AGENT if by_agent else _BY_USER
    )
    if memory.status not in ("active", "retired"):
        raise MemoryLiteError(
            f"{memory.id} is {memory.status}, so no session gets it",
            f"`claude-mem-lite show {memory.id}` shows more, `forget` removes it for good",
        )
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)
        if not retirements.retire(db, memory.id, "user", reason, time_of(name)):
            retirements.note(db, memory.id, "user", reason, time_of(name))


def reinstate(name: str, memory: Memory, db: sqlite3.Connection, now: datetime) -> None:
    """Undo a retirement: the memory is active with unchanged confidence and sightings."""
    with atomic(db):
        if retirements.revive(db, memory.id):
            remember.reconcile(db, replace(memory, status="active"), name, now)


def supersede(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection) -> None:
    """Replace a memory, pinned or not, by another on request of the user; `confirm` undoes the replacement."""
    given = text(payload.get("successor"))
    successor = memories.find(db, given) if tombstones.is_buried(db, given) else memories.get(db, given)
    if successor is None:  # the successor was forgotten: the memory is replaced all the same
        with atomic(db):
            memory_links.note_sighting(db, memory.id, name)
            retirements.replace_by(db, memory.id, None)
        return
    if memory.superseded_by == successor.id:
        return  # a repeated command, or a replacement by the claims of the successor
    if memory.id == successor.id:
        raise MemoryLiteError(f"{memory.id} cannot take its own place", "name another memory, or edit this one")
    for held in (memory, successor):
        if held.status != "active":
            raise MemoryLiteError(
                f"{held.id} is {held.status}, so no session gets it", f"`claude-mem-lite show {held.id}` shows more"
            )
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)
        retirements.replace_by(db, memory.id, successor.id)


def _may_become_own(memory: Memory, changed: Memory) -> bool:
    """Return True if an edit may make a memory the user's own: a quarantined or foreign memory must be written anew.

    A teammate's text was checked when received, so a changed word is enough."""
    if memory.status != "quarantined" and memory.origin not in OUTSIDE_ORIGINS:
        return True
    said = "\n".join((changed.title, changed.summary, changed.detail, *changed.facts))
    if memory.status != "quarantined" and memory.origin == "team":
        return not looks_like_an_attack(said)
    old, new = stems(text_of(memory)), stems(said)
    # The share of the shorter text: an excerpt keeps its words, and so does an extended text.
    kept = share(*sorted((old, new), key=len))
    return bool(new) and kept <= MAX_KEPT and not looks_like_an_attack(said)


def _make_active(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Make a memory active; return the active memory that had replaced it."""
    if memory.status == "superseded":
        return retirements.bring_back(db, memory.id)
    if memory.status == "retired":
        retirements.revive(db, memory.id)
    return None


def _prefer(db: sqlite3.Connection, held: Memory, others: Sequence[Memory], now: datetime) -> None:
    """Let a memory replace the contradicting memories, except pinned ones."""
    memory_links.drop_conflicts(db, held.id)
    for other in others:
        if other.pinned:
            memory_links.note_conflict(db, held.id, other.id, now)
        else:
            retirements.replace_by(db, other.id, held.id)
