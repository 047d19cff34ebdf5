"""Guards that follow the user's lessons: a proposal for each rule of the user that can be matched, made, changed and
withdrawn with the memory of the rule. For the job thread.

Only the user's own words make a proposal: never a teammate's memory, an import, a page, a tool or an agent."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.guards.guard import Proposal, row_of_proposal, rule_to_text
from claude_mem_lite.models import TRUST, Kind, Memory, is_users_wording
from claude_mem_lite.store import guards, memories
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.timestamps import time_to_text

Propose = Callable[[str], Proposal | None]
KINDS: tuple[Kind, ...] = ("rule", "preference", "anti_pattern", "correction", "convention")
MAX_MEMORIES = 200
"""Memories of one call: a home that gets guards for the first time may have thousands."""
_MAX_SENTENCE = 500
_WITHDRAWN = "the rule it was made from no longer holds"
_CHANGED = "the rule it was made from was changed"


def follow(db: sqlite3.Connection, propose: Propose, now: datetime) -> int:
    """Bring the guards of changed memories up to date; return the number of memories that were due."""
    due = guards.due_memories(db, MAX_MEMORIES)
    if not due:
        return 0
    found = {memory.id: memory for memory in memories.by_ids(db, due)}
    holding = [found[id_] for id_ in due if id_ in found and makes_guards(found[id_])]
    with atomic(db):
        # Withdrawn rules first: the rule that replaces one may have the same guard.
        for id_ in due:
            if id_ not in found or not makes_guards(found[id_]):
                _withdraw(db, id_, found.get(id_), propose, now)
        for memory in sorted(holding, key=lambda memory: (memory.created_at, memory.id)):
            _follow(db, memory, propose, now)
        guards.note_memories_done(db, due)
    return len(due)


def makes_guards(memory: Memory) -> bool:
    """Return whether a memory is a rule in the user's own words that holds now."""
    return (
        memory.origin == "user"
        and memory.status == "active"
        and memory.kind in KINDS
        and is_users_wording(memory.made_by)
        and memory.trust >= TRUST["user"]
        and not memory.author
        and bool(memory.project)
    )


def proposal_for(memory: Memory, propose: Propose) -> Proposal | None:
    """Return what the words of a memory propose; most rules name nothing that can be matched."""
    for sentence in dict.fromkeys((memory.title, memory.summary[:_MAX_SENTENCE])):
        if sentence and (found := propose(sentence)) is not None:
            return found
    return None


def _follow(db: sqlite3.Connection, memory: Memory, propose: Propose, now: datetime) -> None:
    known = guards.of_memory(db, memory.id)
    proposal = proposal_for(memory, propose)
    if known is None:
        if proposal is not None:
            _propose(db, memory, proposal)
        return
    if proposal is not None and rule_to_text(proposal.rule) == known.rule:
        words = replace(known, reason=proposal.reason, instead=proposal.instead, project=memory.project)
        if words != known:
            guards.put(db, words)
    elif known.status == "active":
        guards.pause(db, known, _CHANGED, time_to_text(now))
    elif known.status in ("proposed", "doubtful"):
        guards.remove(db, known.id)
        _follow(db, memory, propose, now)


def _withdraw(db: sqlite3.Connection, id_: str, memory: Memory | None, propose: Propose, now: datetime) -> None:
    """Withdraw the proposal of a rule that no longer holds. A guard in force goes over to the rule that replaced it, if
    that rule asks for the same, else the guard is paused."""
    known = guards.of_memory(db, id_)
    if known is None:
        return
    if known.status in ("proposed", "doubtful"):
        guards.remove(db, known.id)
        return
    successor = memories.find(db, memory.superseded_by) if memory is not None and memory.superseded_by else None
    if successor is not None and makes_guards(successor) and guards.of_memory(db, successor.id) is None:
        proposal = proposal_for(successor, propose)
        if proposal is not None and rule_to_text(proposal.rule) == known.rule:
            guards.put(db, replace(known, memory=successor.id, reason=proposal.reason, instead=proposal.instead))
            return
    if known.status == "active":
        guards.pause(db, known, _WITHDRAWN, time_to_text(now))


def _propose(db: sqlite3.Connection, memory: Memory, proposal: Proposal) -> None:
    """Store a proposal, unless the project has a guard with the same rule, in whatever status: the user has decided
    about it. A proposal that says what to do instead takes the place of one that does not."""
    same = guards.with_rule(db, memory.project, rule_to_text(proposal.rule))
    if same is not None and (same.status not in ("proposed", "doubtful") or same.instead or not proposal.instead):
        return
    if same is not None:
        guards.remove(db, same.id)
    id_ = short_id("guard", memory.id)
    guards.put(db, row_of_proposal(proposal, id_, memory.project, memory.id, time_to_text(memory.created_at)))
