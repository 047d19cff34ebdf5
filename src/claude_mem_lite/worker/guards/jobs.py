"""Guards in the job thread: proposals that follow memories, notes of the hook, outcomes at the end of a turn, and the
files that the hook reads."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.guards import changes, guards_file, history, ledger, lesson_guards, proposal
from claude_mem_lite.guards.guard import Guard, guard_from_row
from claude_mem_lite.guards.ledger import TurnCall
from claude_mem_lite.guards.matching import Call
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import Home
from claude_mem_lite.store import guard_ledger, guards
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.timestamps import Clock, time_to_text

_CALLS = ("PostToolUse", "PostToolUseFailure")


class GuardJobs:
    """Work on guards. For the job thread alone."""

    def __init__(self, home: Home, queue: Queue, memory_db: sqlite3.Connection, clock: Clock) -> None:
        self._home = home
        self._queue = queue
        self._db = memory_db
        self._clock = clock
        self._written: dict[str, tuple[Guard, ...]] = {}
        self._has_begun = False

    def follow_memories(self) -> bool:
        """Bring guards up to date with changed memories; return whether more memories are due."""
        number = lesson_guards.follow(self._db, proposal.propose, self._clock())
        self.write_files()
        return number == lesson_guards.MAX_MEMORIES

    def change(self, name: str, payload: JsonObject) -> list[str]:
        """Carry out a command about a guard; return the id of the guard."""
        return [changes.carry_out(name, payload, self._db)]

    def take_note(self, row: Row, now: datetime) -> None:
        """Store a note of the hook; a broken note is dropped."""
        payload = row.parse_payload()
        with atomic(self._db):
            if row.event == ledger.FAILED:
                guard_ledger.add_failure(self._db, ledger.failure_of(row.name, payload))
            elif (firing := ledger.firing_of(row.name, payload)) is not None:
                guard_ledger.add(self._db, firing)
        self._queue.finish([row.id], now.timestamp())

    def follow_turn(self, unit: Sequence[Row], project: str, session: str) -> None:
        """Decide the firings of a session at the end of a turn, and count the turn's occasions."""
        open_firings = guard_ledger.open_in(self._db, session)
        if not open_firings and not guards.of_project(self._db, project, ("active",)):
            return
        calls, folder, transcript = self._calls(unit)
        known = {one.tool_use for one in calls}
        sought = {one.tool_use for one in open_firings if one.tool_use not in known} - {""}
        found = history.calls_named(Path(transcript), sought, folder) if sought and transcript else {}
        refused = [TurnCall("", tool_use, call) for tool_use, call in found.items()]
        with atomic(self._db):
            ledger.judge_turn(self._db, project, session, open_firings, calls, refused, self._clock())
        self.write_files()

    def write_files(self) -> None:
        """Write the guards in force for the hook, where they changed; a merged project keeps files under its former
        ids, which hooks of its folders may still name."""
        in_force: dict[str, list[Guard]] = {}
        for row in guards.of_project(self._db, None, ("active",)):
            for project in (row.project, *marks.former_ids(self._db, row.project)):
                in_force.setdefault(project, []).append(guard_from_row(row))
        for project, active in in_force.items():
            if self._written.get(project) != tuple(active):
                guards_file.write(self._home, project, active)
                self._written[project] = tuple(active)
        for project in self._written.keys() - in_force.keys():
            guards_file.remove(self._home, project)
            del self._written[project]
        if not self._has_begun:  # an older memory.db may have replaced the one that the files were written from
            guards_file.remove_others(self._home, list(in_force))
            self._has_begun = True

    def _calls(self, unit: Sequence[Row]) -> tuple[list[TurnCall], str, str]:
        """Return the calls of a turn that ran, with the turn's folder and transcript."""
        calls: list[TurnCall] = []
        folder = transcript = ""
        roots: dict[str, tuple[str, str]] = {}
        for row in unit:
            try:
                payload = row.parse_payload()
            except PayloadError:
                continue
            cwd = text(payload.get("cwd"))
            folder, transcript = cwd or folder, text(payload.get("transcript_path")) or transcript
            given = payload.get("tool_input")
            if row.event not in _CALLS or not isinstance(given, dict):
                continue
            if cwd not in roots:
                location = lookup.locate(self._db, cwd)
                roots[cwd] = (location.root, location.branch)
            call = Call(text(payload.get("tool_name")), given, cwd, *roots[cwd])
            calls.append(TurnCall(time_to_text(time_of(row.name)), text(payload.get("tool_use_id")), call))
        return calls, folder, transcript
