"""Groups of memories that contradict each other, with notes about contradictions and replacements."""

import sqlite3
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.models import Memory
from claude_mem_lite.store import memory_links, retirements
from claude_mem_lite.values import frozen


@frozen
class AnnotatedMemory:
    """Memory with a note about other memories."""

    memory: Memory
    note: str
    is_dated: bool
    """True if the date matters more than the age, for comparison."""


def group_contradictions(
    db: sqlite3.Connection, chosen: Sequence[Memory], admitted: Sequence[Memory]
) -> Iterator[list[AnnotatedMemory]]:
    """Yield the chosen memories in order, each with the contradicting memories among the admitted."""
    against = memory_links.of(db, [memory.id for memory in admitted])
    by_id = {memory.id: memory for memory in admitted}
    ids = dict.fromkeys(memory.id for memory in (*chosen, *admitted))
    oldest_first = sorted(retirements.replaced_by(db, list(ids)), key=lambda memory: (memory.last_seen_at, memory.id))
    replaced = {memory.superseded_by: memory for memory in oldest_first}
    done: set[str] = set()
    for memory in chosen:
        if memory.id in done:
            continue
        others = [by_id[id_] for id_ in against.get(memory.id, ()) if id_ in by_id and id_ not in done]
        others.sort(key=lambda other: (other.last_seen_at, other.id), reverse=True)
        group = [memory, *others]
        done.update(member.id for member in group)
        yield [
            AnnotatedMemory(member, _note(replaced.get(member.id), against.get(member.id, ())), member.id in against)
            for member in group
        ]


def grouped_items(
    db: sqlite3.Connection,
    chosen: Sequence[Memory],
    admitted: Sequence[Memory],
    item: Callable[[AnnotatedMemory], Item],
) -> Iterator[Item]:
    """Yield the groups as candidates; the items of a group are shown together."""
    for group in group_contradictions(db, chosen, admitted):
        for member in group:
            candidate = item(member)
            beside = "" if member is group[0] else f"shown beside #{group[0].memory.id}, which it contradicts; "
            yield replace(candidate, with_next=member is not group[-1], order=beside + candidate.order)


def _note(replaced: Memory | None, against: Sequence[str]) -> str:
    notes = [f"conflicts with {_ids(sorted(against))}"] if against else []
    if replaced is not None:
        notes.append(f"replaced #{replaced.id} of {replaced.created_at:%Y-%m-%d}")
    return "; ".join(notes)


def _ids(ids: Sequence[str]) -> str:
    return ", ".join(f"#{id_}" for id_ in ids)
