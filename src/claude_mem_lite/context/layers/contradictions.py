"""Memories that contradict each other stand together, with their dates; a successor says what it replaced."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memory_links


@dataclass(frozen=True, slots=True)
class Told:
    """A memory with what is to be said of others."""

    memory: Memory
    note: str
    is_dated: bool
    """Its date matters more than its age: it is to be compared."""


def side_by_side(db: sqlite3.Connection, told: Sequence[Memory], admitted: Sequence[Memory]) -> Iterator[list[Told]]:
    """Memories in their order, each followed by those of the admitted that contradict it."""
    against = memory_links.of(db, [memory.id for memory in admitted])
    by_id = {memory.id: memory for memory in admitted}
    ids = dict.fromkeys(memory.id for memory in (*told, *admitted))
    oldest_first = sorted(supersession.replaced_by(db, list(ids)), key=lambda one: (one.last_seen_at, one.id))
    replaced = {one.superseded_by: one for one in oldest_first}
    done: set[str] = set()
    for memory in told:
        if memory.id in done:
            continue
        others = [by_id[id_] for id_ in against.get(memory.id, ()) if id_ in by_id and id_ not in done]
        others.sort(key=lambda other: (other.last_seen_at, other.id), reverse=True)
        group = [memory, *others]
        done.update(one.id for one in group)
        yield [Told(one, _note(replaced.get(one.id), against.get(one.id, ())), one.id in against) for one in group]


def items_of(
    db: sqlite3.Connection, told: Sequence[Memory], admitted: Sequence[Memory], item: Callable[[Told], Item]
) -> Iterator[Item]:
    """The same as candidates, those that contradict each other to be told together."""
    for group in side_by_side(db, told, admitted):
        for one in group:
            made = item(one)
            beside = "" if one is group[0] else f"told beside #{group[0].memory.id}, which it contradicts; "
            yield replace(made, with_next=one is not group[-1], order=beside + made.order)


def _note(replaced: Memory | None, against: Sequence[str]) -> str:
    notes = [f"conflicts with {_ids(sorted(against))}"] if against else []
    if replaced is not None:
        notes.append(f"replaced #{replaced.id} of {replaced.created_at:%Y-%m-%d}")
    return "; ".join(notes)


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(f"#{id_}" for id_ in ids)
