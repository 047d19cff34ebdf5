"""What the user changes about a memory by command: edit, pin, confirm, retire, reinstate, supersede. Carried out from
the inbox, like remember and forget; twice is as good as once.

Where a memory holds, from the words of a user: `universal`, `language:NAME`, `project`, `project:ID`."""

import os
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.toolcalls.provenance import told_by
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.knowledge import reconcile
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
from claude_mem_lite.text import one_line, stems, within


def resolve_scope(db: sqlite3.Connection, scope: str, kind: Kind, project: str) -> str:
    """The full scope from what the user wrote; what holds everywhere by nature needs no word."""
    if not scope:
        return "universal" if kind in UNIVERSAL_KINDS else f"project:{project}"
    return named_scope(db, scope, project)


def named_scope(db: sqlite3.Connection, scope: str, project: str) -> str:
    """The full scope that is named; a project by its id, its name, or as the one at hand."""
    meant = written_scope(scope)
    if meant is None:
        raise MemoryLiteError(f"{scope!r} is no scope", f"use {SCOPES}")
    if meant in ("project", f"project:{project}"):
        return f"project:{project}"
    if meant.startswith("project:"):
        return f"project:{lookup.named(db, meant.removeprefix('project:'))}"
    return meant


CONFIRMED = 0.9
"""How sure at least is what the user says still holds."""
MAX_KEPT = 0.5
"""The share of its words that a memory from elsewhere may keep and yet become the user's own by an edit."""
_BY_USER, _BY_AGENT = "the user retired it", "the agent retired it"


def title_of(words: str) -> str:
    """The title of what the user wrote: its first line."""
    return within(one_line(words.strip().split("\n", 1)[0]), MAX_TITLE_LENGTH)


def edit(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> None:
    """Change what a memory says, is or holds for; a text that is written anew is the user's word."""
    words = clean(text(payload.get("text"))).strip()
    given = one_line(clean(text(payload.get("title"))))
    kind = next((known for known in KINDS if known == payload.get("kind")), memory.kind)
    place = lookup.locate(db, text(payload.get("cwd")))
    scope = text(payload.get("scope"))
    scope = named_scope(db, scope, place.project) if scope else memory.scope
    dropped = set(texts(payload.get("untags")))
    tags = dict.fromkeys((*memory.tags, *(one_line(clean(tag)) for tag in texts(payload.get("tags")))))
    changed = replace(
        memory,
        # Words of before beside other words would tell the old and the new in one breath.
        title=within(given, MAX_TITLE_LENGTH) or (title_of(words) if words else memory.title),
        kind=kind,
        scope=scope,
        project=project_of_scope(scope, memory.project),
        tags=tuple(tag for tag in tags if tag and tag not in dropped),
    )
    is_reworded = bool(words) and words != memory.summary
    if is_reworded:
        # What somebody else made of it goes with it: beside other words it would be wrong, or said twice.
        changed = replace(changed, summary=words, detail="", facts=())
    if changed == memory:
        return
    # Under another title, kind or tag, the words are still those of whoever said them.
    is_own = (is_reworded or (bool(given) and not memory.summary)) and _may_become_own(memory, changed)
    is_worded_anew = (changed.title, changed.summary) != (memory.title, memory.summary)
    # The word of the user in the words of an agent or a model stays so under another tag, kind or scope.
    is_kept = memory.origin == "user" and not is_users_wording(memory.made_by) and not is_worded_anew
    made_by = memory.made_by if is_kept else "user"
    changed = replace(changed, made_by=made_by, last_seen_at=max(memory.last_seen_at, time_of(name)))
    if is_own:
        status = "active" if memory.status == "quarantined" else memory.status
        changed = replace(changed, status=status, origin="user", trust=TRUST["user"], confidence=1.0)
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)  # so that what was typed goes when the memory is forgotten
        memories.rewrite(db, changed)
        memory_links.drop_conflicts(db, changed.id)
        reconcile.settle(db, changed, name, now)


def pin(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> None:
    """Hold on to a memory, or let go of it: what is pinned is given first, and nothing replaces it unasked.

    Once it is let go, what contradicts it and is newer replaces it."""
    is_pinned = payload.get("pinned") is not False
    if is_pinned and memory.status != "active":
        way = "quarantine approve" if memory.status == "quarantined" else "confirm"
        raise MemoryLiteError(
            f"{memory.id} is {memory.status} and given to nobody",
            f"`claude-mem-lite {way} {memory.id}` makes it active again",
        )
    if is_pinned != memory.pinned:
        with atomic(db):
            memories.rewrite(db, replace(memory, pinned=is_pinned))
            reconcile.settle(db, memory, name, now)


def confirm(
    name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection, code: CodeCache, now: datetime
) -> None:
    """A memory holds still, or again: it is active, surer, tied to the code of now, and what contradicts it yields."""
    if memory.status == "quarantined":
        raise MemoryLiteError(
            f"{memory.id} is in quarantine", f"`claude-mem-lite quarantine approve {memory.id}` lets it out"
        )
    cwd = text(payload.get("cwd"))
    # A folder that is gone tells nothing of the code, and has no branch to be tied to.
    place = lookup.locate(db, cwd) if os.path.isdir(cwd) else None
    is_here = place is not None and place.project == memory.project
    anchors = tied_to_now(code, place.root, memory.anchors) if place and is_here else memory.anchors
    with atomic(db):
        successor = _make_active(db, memory)
        is_new = memory_links.note_sighting(db, memory.id, name)
        held = replace(
            memory,
            status="active",
            superseded_by=None,
            anchors=anchors,
            branch=place.branch if place and is_here else memory.branch,
            commit=place.commit if place and is_here else memory.commit,
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
    """A memory no longer holds: it stays readable, is given to nobody, and only the user brings it back."""
    reason = within(one_line(clean(text(payload.get("reason")))), MAX_TITLE_LENGTH) or (
        _BY_AGENT if by_agent else _BY_USER
    )
    if memory.status not in ("active", "retired"):
        raise MemoryLiteError(
            f"{memory.id} is {memory.status} and given to nobody",
            f"`claude-mem-lite show {memory.id}` tells more, `forget` removes it for good",
        )
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)
        if not retirements.retire(db, memory.id, "user", reason, time_of(name)):
            retirements.note(db, memory.id, "user", reason, time_of(name))


def reinstate(name: str, memory: Memory, db: sqlite3.Connection, now: datetime) -> None:
    """Undo a retirement: the memory is active as before, no surer and seen no more often than it was."""
    with atomic(db):
        if retirements.revive(db, memory.id):
            reconcile.settle(db, replace(memory, status="active"), name, now)


def supersede(name: str, memory: Memory, payload: JsonObject, db: sqlite3.Connection) -> None:
    """Another memory holds in the place of this one, pinned or not, because the user says so; `confirm` undoes it."""
    given = text(payload.get("successor"))
    successor = memories.find(db, given) if tombstones.is_buried(db, given) else memories.get(db, given)
    if successor is None:  # forgotten since: that this one does not hold any more was said all the same
        with atomic(db):
            memory_links.note_sighting(db, memory.id, name)
            supersession.replace_by(db, memory.id, None)
        return
    if memory.superseded_by == successor.id:
        return  # twice is as good as once, and the words of the other may have replaced it by themselves
    if memory.id == successor.id:
        raise MemoryLiteError(f"{memory.id} cannot take its own place", "name another memory, or edit this one")
    for one in (memory, successor):
        if one.status != "active":
            raise MemoryLiteError(
                f"{one.id} is {one.status} and given to nobody", f"`claude-mem-lite show {one.id}` tells more"
            )
    with atomic(db):
        memory_links.note_sighting(db, memory.id, name)
        supersession.replace_by(db, memory.id, successor.id)


def _may_become_own(memory: Memory, changed: Memory) -> bool:
    """Whether an edit leaves nothing of what must not pass for the user's word: a quarantined memory, and one from
    elsewhere, has to be written anew."""
    if memory.status != "quarantined" and memory.origin not in OUTSIDE_ORIGINS:
        return True
    said = "\n".join((changed.title, changed.summary, changed.detail, *changed.facts))
    old, new = stems(told_by(memory)).keys(), stems(said).keys()
    # Of the shorter text: an excerpt keeps its words, and so does a text that something was added to.
    kept = len(old & new) / (min(len(old), len(new)) or 1)
    return bool(new) and kept <= MAX_KEPT and not looks_like_an_attack(said)


def _make_active(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Bring a memory back; returns what had replaced it and holds now, if anything."""
    if memory.status == "superseded":
        return supersession.bring_back(db, memory.id)
    if memory.status == "retired":
        retirements.revive(db, memory.id)
    return None


def _prefer(db: sqlite3.Connection, held: Memory, others: Sequence[Memory], now: datetime) -> None:
    """Settle in favour of a memory; what is pinned does not yield to it."""
    memory_links.drop_conflicts(db, held.id)
    for other in others:
        if other.pinned:
            memory_links.note_conflict(db, held.id, other.id, now)
        else:
            supersession.replace_by(db, other.id, held.id)
