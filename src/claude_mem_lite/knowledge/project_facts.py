"""Project facts as memories: kept at the first sight of a project, told anew when its manifests change.

Part of the job loop: `want` when a session starts and after every turn, `keep_wanted` before contexts are made. While
nothing changed that costs some forty looks at file names; when something did, a bounded piece of each file is read, so
that no repository holds up the thread that works for all of them."""

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from claude_mem_lite.code.freshness.working_tree import is_bare
from claude_mem_lite.code.manifests.facts import SLOTS, Fact, Slot, read_facts, signature
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import MAX_TITLE_LENGTH, TRUST, Memory, Place
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.store import memories, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.text import within
from claude_mem_lite.timestamps import Clock

MADE_BY = "manifests"
_LEAD = "manifest:"
_GONE = "manifest:gone"
_CONFIDENCE = 0.9
_CONFIRM_AFTER = timedelta(days=1)
_MAX_PROJECTS = 200


def fact_id(project: str, slot: Slot) -> str:
    """The id of the one memory that tells this of a project, whatever checkout it is read in."""
    return short_id(MADE_BY, project, slot)


class Look(NamedTuple):
    """In which checkout the manifests of a project were last compared with what is stored, and what they were like."""

    root: str
    sum: str
    at: datetime

    def is_as(self, before: "Look") -> bool:
        """Whether nothing can have changed since."""
        return (self.root, self.sum) == (before.root, before.sum) and self.at - before.at < _CONFIRM_AFTER


class FactKeeping:
    """One for the worker; for the job thread alone."""

    def __init__(self, db: sqlite3.Connection, clock: Clock, is_excluded: Callable[[str], bool]) -> None:
        self._db = db
        self._clock = clock
        self._is_excluded = is_excluded
        self._wanted: dict[str, None] = {}
        self._looks: dict[str, Look] = {}
        """The last one of each project, those that were looked at last at the end."""

    def recheck_all(self) -> None:
        """Compare the facts of every project anew when it is next seen: projects were merged or taken apart."""
        self._looks.clear()

    def want(self, folder: str) -> None:
        """Have the facts of the project that a folder belongs to looked at, soon."""
        self._wanted[folder] = None

    def keep_wanted(self) -> set[str]:
        """Look at all that is wanted; the projects of which something reads differently now."""
        wanted, self._wanted = self._wanted, {}
        # Excluded since, or a folder of its own in a checkout that is not: nothing is looked at for its sake.
        places = [lookup.locate(self._db, folder) for folder in wanted if not self._is_excluded(folder)]
        return {place.project for place in places if self.keep(place)}

    def keep(self, place: Place) -> bool:
        """Have the facts of a place as its manifests tell them now; whether any reads differently.

        Of several checkouts of a project the last one that was looked at has the say."""
        if not place.root or self._is_excluded(place.root) or is_bare(place.root):
            return False
        now = self._clock()
        look = Look(place.root, signature(place.root), now)
        before = self._looks.pop(place.project, None)
        changed = False
        if before is None or not look.is_as(before):
            changed = self._compare(place, look.sum, now)
            before = look
        while len(self._looks) >= _MAX_PROJECTS:
            del self._looks[next(iter(self._looks))]
        self._looks[place.project] = before
        return changed

    def _compare(self, place: Place, sum_now: str, now: datetime) -> bool:
        changed = self._retire_merged(place.project)
        stored = {slot: memories.find(self._db, fact_id(place.project, slot)) for slot in SLOTS}
        ours = {slot: memory for slot, memory in stored.items() if memory is not None and _is_ours(memory)}
        is_known = any(anchor.startswith(f"{_LEAD}{sum_now}.") for one in ours.values() for anchor in one.anchors)
        if is_known or (not sum_now and not ours):
            self._confirm(list(ours.values()), now)
            return changed
        told = {fact.slot: fact for fact in read_facts(place.root)}
        with atomic(self._db):
            for slot in SLOTS:
                if slot in ours or stored[slot] is None:
                    changed |= self._store(place, told.get(slot), ours.get(slot), sum_now, now)
        return changed

    def _retire_merged(self, project: str) -> bool:
        """Retire the facts of projects that were merged into this one: its own facts tell the same."""
        former = marks.former_ids(self._db, project)
        found = (memories.find(self._db, fact_id(one, slot)) for one in former for slot in SLOTS)
        merged = [one for one in found if one and one.project == project and one.status == "active" and _is_ours(one)]
        if not merged:
            return False
        with atomic(self._db):
            for one in merged:
                self._retire(one)
        return True

    def _store(self, place: Place, fact: Fact | None, before: Memory | None, sum_now: str, now: datetime) -> bool:
        """Put a fact in the place of what was told before; whether anything reads differently now."""
        memory = _memory(place, fact, before, sum_now, now) if fact else None
        if memory is not None and cleaned(memory)[1]:
            memory = None  # what looks like a secret is no fact
        if memory is None:
            return before is not None and self._retire(before)
        if before is not None and before.status == "active" and before.summary == memory.summary:
            memories.rewrite(self._db, memory)
            return False
        memories.put(self._db, memory, f"{MADE_BY}-{memory.id}", now)
        return not tombstones.is_buried(self._db, memory.id)

    def _retire(self, before: Memory) -> bool:
        """No manifest says it any more. Marked as ours: what the user retired never comes back by itself."""
        if before.status != "active":
            return False
        memories.rewrite(self._db, replace(before, anchors=(_anchor("gone", before.summary),)))
        return memories.retire(self._db, before.id)

    def _confirm(self, ours: list[Memory], now: datetime) -> None:
        """They were seen again; noted at most once a day, because that writes their words anew."""
        old = [one for one in ours if one.status == "active" and now - one.last_seen_at >= _CONFIRM_AFTER]
        if old:
            with atomic(self._db):
                for one in old:
                    memories.rewrite(self._db, replace(one, last_seen_at=now))


def _memory(place: Place, fact: Fact, before: Memory | None, sum_now: str, now: datetime) -> Memory:
    told = before or Memory(
        id=fact_id(place.project, fact.slot),
        kind="project_fact",
        title="",
        summary="",
        created_at=now,
        last_seen_at=now,
        scope=f"project:{place.project}",
        project=place.project,
        origin="code",
        trust=TRUST["code"],
        confidence=_CONFIDENCE,
        made_by=MADE_BY,
    )
    return replace(
        told,
        title=within(fact.line, MAX_TITLE_LENGTH),
        summary=fact.line,
        files=fact.files,
        anchors=(_anchor(sum_now, fact.line),),
        last_seen_at=max(now, told.last_seen_at),
        status="active",
    )


def _anchor(state: str, line: str) -> str:
    """The state of the manifests, and a sum of what was told then: text that does not fit it was edited."""
    return f"{_LEAD}{state}.{hashlib.sha256(line.encode()).hexdigest()[:8]}"


def _is_ours(memory: Memory) -> bool:
    """Whether a fact is still as it was told here: not edited, retired or replaced by anybody."""
    is_as_told = memory.title == within(memory.summary, MAX_TITLE_LENGTH)
    if memory.made_by != MADE_BY or memory.origin != "code" or not is_as_told:
        return False
    ends = f".{hashlib.sha256(memory.summary.encode()).hexdigest()[:8]}"
    mine = [one for one in memory.anchors if one.startswith(_LEAD) and one.endswith(ends)]
    return bool(mine) and (memory.status == "active" or (memory.status == "retired" and mine[0].startswith(_GONE)))
