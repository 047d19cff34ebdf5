"""Storing of a memory, or of a sighting of a duplicate, and reconciliation with known memories: supersession,
contradictions, confidence, handoffs. Called inside the transaction that stores a turn or a command of the user.

`import_memories` stores exported memories unchanged, without merging."""

import logging
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge import confidence, handoffs
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.knowledge.claims.claim import found_by
from claude_mem_lite.knowledge.claims.duplicates import STATED_KINDS, first_word, is_duplicate, merged
from claude_mem_lite.models import Kind, Memory, Origin, Turn
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store import (
    memories,
    memory_links,
    memory_queries,
    own_memories,
    retirements,
    sessions,
    tombstones,
)
from claude_mem_lite.store.index import fts
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen

_MAX_CANDIDATES = 30
log = logging.getLogger(__name__)


def add(db: sqlite3.Connection, memory: Memory, turn: str, now: datetime) -> Memory:
    """Store a memory of a turn, or count the turn as a sighting of a duplicate; return the stored memory."""
    if tombstones.is_buried(db, memory.id):
        return memory
    known = find_duplicate(db, memory)
    if known is None:
        memories.insert(db, memory, now)
        memory_links.note_sighting(db, memory.id, turn)
        return memory
    if known.id != memory.id:
        more = merged(known, memory)
        known = replace(more, times_seen=known.times_seen + memory_links.note_sighting(db, known.id, turn))
        if known.status == "retired" and _is_said_since(db, known, memory):
            retirements.revive(db, known.id)
            known = replace(known, status="active")
        memories.overwrite(db, known)
    return known


def find_duplicate(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Return the stored memory with the same id, else the oldest duplicate."""
    known = memories.find(db, memory.id)
    if known is not None:
        return known
    if memory.status == "quarantined":
        return memory_queries.same_in_quarantine(db, memory)
    return _first_duplicate(_candidates(db, memory), memory)


def find_own_duplicate(db: sqlite3.Connection, memory: Memory, origins: Sequence[Origin]) -> Memory | None:
    """Return the memory of this device that a memory of a teammate would repeat if it had one of these origins."""
    if not own_memories.has_any(db, memory.scope, STATED_KINDS if memory.kind in STATED_KINDS else (memory.kind,)):
        return None
    candidates: list[Memory] = []
    for place, origin in enumerate(origins):
        asked = replace(memory, origin=origin, status="active")
        if place == 0 or memory.kind in STATED_KINDS:  # the candidates of other kinds do not depend on the origin
            candidates = _own_candidates(db, asked)
        if (duplicate := _first_duplicate(candidates, asked)) is not None:
            return duplicate
    return None


def _own_candidates(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """Return memories of this device that a memory may repeat."""
    first = first_word(memory.title)
    if memory.kind not in STATED_KINDS and first.isascii():  # SQLite knows no other small letters
        alike = own_memories.beginning_with(db, memory.scope, memory.kind, first, _MAX_CANDIDATES + 1)
        if len(alike) <= _MAX_CANDIDATES:
            return alike
    return [known for known in _candidates(db, memory) if known.origin != "team"]


def _first_duplicate(candidates: Sequence[Memory], memory: Memory) -> Memory | None:
    active = next((candidate for candidate in candidates if is_duplicate(candidate, memory)), None)
    if active is not None:
        return active
    # Memories that the user retired, or that were contradicted too often, are known too: no new memory is stored.
    retired = (candidate for candidate in candidates if candidate.status == "retired")
    return next((candidate for candidate in retired if is_duplicate(replace(candidate, status="active"), memory)), None)


def _is_said_since(db: sqlite3.Connection, known: Memory, memory: Memory) -> bool:
    """Return True if the user repeats a memory after its retirement. Old sessions that are read late revive nothing."""
    retirement = retirements.of(db, [known.id]).get(known.id)
    return memory.origin == "user" and retirement is not None and retirement.at < memory.last_seen_at


def _candidates(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """Return memories of the same kind and scope with similar words; for statements of the user, of all such kinds."""
    kinds: tuple[Kind, ...] = (memory.kind,)
    seqs = fts.alike(db, memory, _MAX_CANDIDATES)
    if memory.origin == "user" and memory.kind in STATED_KINDS:
        words = found_by(memory.title, is_against=memory.kind == "anti_pattern")
        kinds, seqs = STATED_KINDS, [*seqs, *fts.naming(db, words, memory.scope, _MAX_CANDIDATES)]
    return memory_queries.duplicate_candidates(db, memory, seqs, kinds)


def reconcile(db: sqlite3.Connection, memory: Memory, turn_key: str, now: datetime) -> None:
    """Reconcile a memory that was added or seen again. An error is logged and leaves the stored rows unchanged."""
    _safely(db, lambda: _reconcile(db, memory.id, now), turn_key)


def add_unseen(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Store a new memory that nobody has seen here, and reconcile it. Without a contradiction or an error to learn from
    there is nothing to reconcile: such a memory has no evidence yet."""
    may_matter = _may_matter(db, memory)
    memories.insert(db, memory, now)
    if may_matter:
        reconcile(db, memory, memory.id, now)


def _may_matter(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return whether a new memory may change what is known. No savepoint: reading leaves nothing to take back."""
    try:
        return confidence.may_teach(memory) or bool(supersession.ids_contradicting(db, memory))
    except Exception:  # logged with the id of the memory; reconciliation tries again
        if not db.in_transaction:
            raise
        log.exception("looking for contradictions failed", extra={"memory": memory.id})
        return True


def reconcile_turn(
    db: sqlite3.Connection, stored: Sequence[Memory], turn: Turn, branch: str, digest: TurnDigest, now: datetime
) -> None:
    """Reconcile all memories of a turn, then close the handoffs that the session continues."""
    for memory in stored:
        reconcile(db, memory, turn.key, now)
    began, ended = turn.events[0].at, turn.events[-1].at
    _safely(db, lambda: handoffs.take_up(db, turn.session, branch, began, ended, digest), turn.key)


def _safely(db: sqlite3.Connection, work: Callable[[], None], turn_key: str) -> None:
    """Run a step after storing; an error must not lose the turn."""
    db.execute("savepoint settling")
    try:
        work()
    except Exception:  # logged with the key of the turn; the stored rows stay
        if not db.in_transaction:  # a full disk rolled back everything: the whole turn is tried again
            raise
        db.execute("rollback to settling")
        log.exception("settling failed", extra={"turn": turn_key})
    db.execute("release settling")


def _reconcile(db: sqlite3.Connection, id_: str, now: datetime) -> None:
    memory = memories.find(db, id_)  # read again: an earlier memory of the turn may have replaced it
    if memory is None or memory.status != "active":
        return
    supersession.resolve_contradictions(db, memory, now)
    learned = confidence.learn(db, memory, now)
    concerned = [id_, *memory_links.of(db, [id_]).get(id_, ()), *([learned.id] if learned else ())]
    for concerned_id in concerned:
        if (found := memories.find(db, concerned_id)) is not None:
            confidence.weigh(db, found, now)


@frozen
class ImportedMemory:
    """Memory to import, with the names of the fields that the file states; other fields have defaults."""

    memory: Memory
    stated: Collection[str]


@frozen
class ImportResult:
    """Numbers of imported, known and forgotten memories."""

    imported: int
    known: int
    different: tuple[str, ...]
    """Ids of stored memories with another content. They stay unchanged."""
    forgotten: int


def import_memories(db: sqlite3.Connection, given: Sequence[ImportedMemory], now: datetime) -> ImportResult:
    """Store all new memories or none. Stored memories stay unchanged, and forgotten memories stay forgotten.

    Contradictions are recorded: an imported line replaces nothing, whatever its date."""
    new: list[Memory] = []
    known = forgotten = 0
    different: list[str] = []
    projects: dict[str, datetime] = {}
    with atomic(db):
        for item in given:
            there = memories.find(db, item.memory.id)
            if there is not None:
                is_same = all(getattr(there, name) == getattr(item.memory, name) for name in item.stated)
                known += is_same
                different += [] if is_same else [item.memory.id]
            elif tombstones.is_buried(db, item.memory.id) or tombstones.repeats_forgotten(db, item.memory):
                forgotten += 1
            else:
                memories.insert(db, item.memory, now)
                new.append(item.memory)
                for project in _projects(item.memory):
                    projects[project] = max(item.memory.last_seen_at, projects.get(project, item.memory.last_seen_at))
        for memory in new:
            for other in supersession.ids_contradicting(db, memory):
                memory_links.note_conflict(db, memory.id, other, now)
        for project, at in projects.items():
            sessions.note_project(db, project, min(at, now))
    return ImportResult(len(new), known, tuple(different), forgotten)


def _projects(memory: Memory) -> set[str]:
    scope = memory.scope
    return {memory.project, project_of_scope(scope, memory.project)}
