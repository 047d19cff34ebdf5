"""Memories as `export` gives them out and `import jsonl` brings them in: each as it is, none merged with another."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.models import Memory
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store import memories, memory_links, sessions, tombstones


@dataclass(frozen=True, slots=True)
class Given:
    """A memory to bring in, and which of its fields somebody stated: the rest are defaults."""

    memory: Memory
    stated: Collection[str]


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the memories that were to be brought in."""

    imported: int
    known: int
    different: tuple[str, ...]
    """The ids of those that are there with another content, which they keep."""
    forgotten: int


def all_after(db: sqlite3.Connection, seq: int, project: str | None) -> Iterator[tuple[int, Memory]]:
    """Every memory behind a row number, whatever its status, in the order of storing; or those of one project."""
    of_project = "and (+project = :project or +scope = 'project:' || :project)" if project is not None else ""
    rows = db.execute(
        f"select * from memories where seq > :seq {of_project} order by seq", {"seq": seq, "project": project}
    )
    return ((row["seq"], memories.from_row(row)) for row in rows)


def count(db: sqlite3.Connection, project: str | None) -> int:
    """How many `all_after` gives from the beginning."""
    of_project = "where project = :project or scope = 'project:' || :project" if project is not None else ""
    (number,) = db.execute(f"select count(*) from memories {of_project}", {"project": project}).fetchone()
    return int(number)


def take_in(db: sqlite3.Connection, given: Sequence[Given], now: datetime) -> Taken:
    """Store those that are new, all of them or none. What is there stays as it is, what was forgotten stays so.

    What contradicts something is noted so: a line from elsewhere replaces nothing, whatever its date."""
    new: list[Memory] = []
    known = forgotten = 0
    different: list[str] = []
    projects: dict[str, datetime] = {}
    with atomic(db):
        for one in given:
            there = memories.find(db, one.memory.id)
            if there is not None:
                is_same = all(getattr(there, name) == getattr(one.memory, name) for name in one.stated)
                known += is_same
                different += [] if is_same else [one.memory.id]
            elif tombstones.is_buried(db, one.memory.id) or tombstones.repeats_forgotten(db, one.memory):
                forgotten += 1
            else:
                memories.insert(db, one.memory, now)
                new.append(one.memory)
                for project in _projects(one.memory):
                    projects[project] = max(one.memory.last_seen_at, projects.get(project, one.memory.last_seen_at))
        for memory in new:
            for other in supersession.ids_contradicting(db, memory):
                memory_links.note_conflict(db, memory.id, other, now)
        for project, at in projects.items():
            sessions.note_project(db, project, min(at, now))
    return Taken(len(new), known, tuple(different), forgotten)


def _projects(memory: Memory) -> set[str]:
    """Where it was made and where it holds, as far as those are projects."""
    scope = memory.scope
    return {memory.project, project_of_scope(scope, memory.project)}
