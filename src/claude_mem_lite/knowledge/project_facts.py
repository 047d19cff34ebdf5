"""Project facts as memories: stored when a project is first seen, and updated when the manifests change.

Part of the job loop: `request` when a session starts and after every turn, `sync_requested` before contexts are built.
Without changes a sync costs about forty lookups of file names. After a change it reads a limited part of each file, so
that no repository blocks the job thread."""

import hashlib
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from claude_mem_lite.code.freshness.working_tree import is_bare
from claude_mem_lite.code.manifests.facts import SLOTS, WORDING_VERSION, Fact, Slot, read_facts, signature
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.models import MAX_TITLE_LENGTH, TRUST, Location, Memory
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
    """Return the id of the memory with a fact of a project, the same for all checkouts."""
    return short_id(MADE_BY, project, slot)


class ManifestCheck(NamedTuple):
    """Checkout and state of the manifests at the last sync."""

    root: str
    sum: str
    at: datetime

    def is_as(self, before: "ManifestCheck") -> bool:
        """Return True if the state is unchanged."""
        return (self.root, self.sum) == (before.root, before.sum) and self.at - before.at < _CONFIRM_AFTER


class ProjectFactSync:
    """Sync of manifests to memories. One instance per worker, for the job thread only."""

    def __init__(
        self,
        db: sqlite3.Connection,
        clock: Clock,
        is_excluded: Callable[[str], bool],
        read: Callable[[str], list[Fact]] = read_facts,
        wording: str = WORDING_VERSION,
    ) -> None:
        self._read = read
        self._wording = wording
        self._db = db
        self._clock = clock
        self._is_excluded = is_excluded
        self._requested: dict[str, None] = {}
        self._checks: dict[str, ManifestCheck] = {}
        """Last check of each project, the latest at the end."""

    def recheck_all(self) -> None:
        """Check every project again when next seen, after a merge or split of projects."""
        self._checks.clear()

    def request(self, folder: str) -> None:
        """Request a sync of the project of a folder."""
        self._requested[folder] = None

    def sync_requested(self) -> set[str]:
        """Run all requested syncs; return the projects with changed facts."""
        requested, self._requested = self._requested, {}
        # The project is excluded by now, or is an excluded folder of a checkout.
        places = [lookup.locate(self._db, folder) for folder in requested if not self._is_excluded(folder)]
        return {location.project for location in places if self.sync(location)}

    def sync(self, location: Location) -> bool:
        """Update the stored facts to the manifests of a location; return True if a fact changed.

        The last checked checkout of a project decides."""
        if not location.root or self._is_excluded(location.root) or is_bare(location.root):
            return False
        now = self._clock()
        check = ManifestCheck(location.root, signature(location.root, self._wording), now)
        before = self._checks.pop(location.project, None)
        changed = False
        if before is None or not check.is_as(before):
            changed = self._compare(location, check.sum, now)
            before = check
        while len(self._checks) >= _MAX_PROJECTS:
            del self._checks[next(iter(self._checks))]
        self._checks[location.project] = before
        return changed

    def _compare(self, location: Location, sum_now: str, now: datetime) -> bool:
        changed = self._retire_merged(location.project)
        stored = {slot: memories.find(self._db, fact_id(location.project, slot)) for slot in SLOTS}
        ours = {slot: memory for slot, memory in stored.items() if memory is not None and _is_ours(memory)}
        is_known = any(anchor.startswith(f"{_LEAD}{sum_now}.") for memory in ours.values() for anchor in memory.anchors)
        if is_known or (not sum_now and not ours):
            self._confirm(list(ours.values()), now)
            return changed
        facts = {fact.slot: fact for fact in self._read(location.root)}
        with atomic(self._db):
            for slot in SLOTS:
                if slot in ours or stored[slot] is None:
                    changed |= self._store(location, facts.get(slot), ours.get(slot), sum_now, now)
        return changed

    def _retire_merged(self, project: str) -> bool:
        """Retire the facts of merged projects: the facts of this project say the same."""
        former = marks.former_ids(self._db, project)
        found = (memories.find(self._db, fact_id(id_, slot)) for id_ in former for slot in SLOTS)
        stored = (fact for fact in found if fact and fact.project == project and fact.status == "active")
        merged = [fact for fact in stored if _is_ours(fact)]
        if not merged:
            return False
        with atomic(self._db):
            for fact in merged:
                self._retire(fact)
        return True

    def _store(self, location: Location, fact: Fact | None, before: Memory | None, sum_now: str, now: datetime) -> bool:
        """Replace the stored version of a fact; return True if the text changed."""
        from claude_mem_lite.safety.clean_import import cleaned  # late: manifests seldom change

        memory = _memory(location, fact, before, sum_now, now) if fact else None
        if memory is not None and cleaned(memory)[1]:
            memory = None  # the text looks like a secret
        if memory is None:
            return before is not None and self._retire(before)
        if before is not None and before.status == "active" and before.summary == memory.summary:
            memories.rewrite(self._db, memory)
            return False
        memories.put(self._db, memory, f"{MADE_BY}-{memory.id}", now)
        return not tombstones.is_buried(self._db, memory.id)

    def _retire(self, before: Memory) -> bool:
        """Retire a fact that no manifest states any more. The anchor marks the retirement as ours: a fact that the user
        retired never comes back by itself."""
        if before.status != "active":
            return False
        memories.rewrite(self._db, replace(before, anchors=(_anchor("gone", before.summary),)))
        return memories.retire(self._db, before.id)

    def _confirm(self, ours: list[Memory], now: datetime) -> None:
        """Record the sighting of facts, at most once a day, because each record writes the text again."""
        old = [fact for fact in ours if fact.status == "active" and now - fact.last_seen_at >= _CONFIRM_AFTER]
        if old:
            with atomic(self._db):
                for fact in old:
                    memories.rewrite(self._db, replace(fact, last_seen_at=now))


def _memory(location: Location, fact: Fact, before: Memory | None, sum_now: str, now: datetime) -> Memory:
    base = before or Memory(
        id=fact_id(location.project, fact.slot),
        kind="project_fact",
        title="",
        summary="",
        created_at=now,
        last_seen_at=now,
        scope=f"project:{location.project}",
        project=location.project,
        origin="code",
        trust=TRUST["code"],
        confidence=_CONFIDENCE,
        made_by=MADE_BY,
    )
    return replace(
        base,
        title=within(fact.line, MAX_TITLE_LENGTH),
        summary=fact.line,
        files=fact.files,
        anchors=(_anchor(sum_now, fact.line),),
        last_seen_at=max(now, base.last_seen_at),
        status="active",
    )


def _anchor(state: str, line: str) -> str:
    """Return an anchor with the state of the manifests and a hash of the text. A text that does not match was
    edited."""
    return f"{_LEAD}{state}.{hashlib.sha256(line.encode()).hexdigest()[:8]}"


def _is_ours(memory: Memory) -> bool:
    """Return True if nobody edited, retired or replaced a fact."""
    is_unedited = memory.title == within(memory.summary, MAX_TITLE_LENGTH)
    if memory.made_by != MADE_BY or memory.origin != "code" or not is_unedited:
        return False
    ends = f".{hashlib.sha256(memory.summary.encode()).hexdigest()[:8]}"
    mine = [anchor for anchor in memory.anchors if anchor.startswith(_LEAD) and anchor.endswith(ends)]
    return bool(mine) and (memory.status == "active" or (memory.status == "retired" and mine[0].startswith(_GONE)))
