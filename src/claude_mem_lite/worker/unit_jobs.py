"""Work on units of the inbox: a turn, the start of a session, a command, or the note of a hook."""

import logging
import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from claude_mem_lite.agents.save_permission import may_save
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.errors import MemoryLiteError, NotFound, PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge.project_facts import ProjectFactSync
from claude_mem_lite.models import JsonObject, text, texts
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker import session_job
from claude_mem_lite.worker.answers import prerendered
from claude_mem_lite.worker.services import Services

if TYPE_CHECKING:
    from claude_mem_lite.knowledge.code_links import Link
    from claude_mem_lite.worker.guards.jobs import GuardJobs
    from claude_mem_lite.worker.turn_job import StoredTurn

log = logging.getLogger(__name__)


class CommandJob:
    """Executor of commands. For the job thread alone."""

    def __init__(
        self,
        services: Services,
        queue: Queue,
        memory_db: sqlite3.Connection,
        model_turns: ModelTurns,
        facts: ProjectFactSync,
        link: "Link",
        vectors: VectorIndex,
        guards: "Callable[[], GuardJobs]",
    ) -> None:
        self._services = services
        self._queue = queue
        self._memory_db = memory_db
        self._model_turns = model_turns
        self._facts = facts
        self._link = link
        self._vectors = vectors
        self._guards = guards

    def run(self, row: Row) -> None:
        """Execute a command and finish its future. The future stays open while the command is to be tried again."""
        from claude_mem_lite.worker import commands  # late: see `worker/loading.py`

        services, now = self._services, self._services.clock()
        future = services.commands.future_of(row.name)
        payload: JsonObject = {}
        try:
            payload = row.parse_payload()
            result = self._execute(row.name, payload, now)
        except MemoryLiteError as error:
            self._queue.finish([], now.timestamp(), skipped={row.id: error.message})
            if isinstance(error, NotFound):
                commands.erase_if_forgotten(payload, self._queue, self._memory_db)
            future.set_exception(error)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError) and not is_damage(error):  # locked or full: tried again
                raise
            services.shutdown.report_damage()
            future.set_exception(
                MemoryLiteError("the database is damaged", "this is kept, and done once the database is recovered")
            )
            raise
        else:
            self._queue.finish([row.id], now.timestamp())
            if payload.get("command") in commands.FORGETTING:  # done when the backups have lost the memories too
                services.backups.purge_from_backups(lambda: future.set_result(result))
            else:
                future.set_result(result)
        services.commands.remove(row.name)

    def _execute(self, name: str, payload: JsonObject, now: datetime) -> list[str]:
        # Late: see `worker/loading.py`.
        from claude_mem_lite.guards import changes
        from claude_mem_lite.knowledge import memory_rebuild
        from claude_mem_lite.worker import commands, project_commands

        services, command = self._services, payload.get("command")
        if command in changes.COMMANDS:
            result = self._guards().change(name, payload)
            self._guards().write_files()
            return result
        if command == memory_rebuild.COMMAND:
            return self._rebuild_memories(texts(payload.get("turns")), time_of(name))
        # First: a rendered context may hold what is to be forgotten. A refused command changes no context, but needs
        # the removed ones again.
        prerendered.clear(services.home)
        services.renderer.note_command()
        if command in commands.FORGETTING:
            services.backups.interrupt()
        if payload.get("by") == commands.BY_AGENT:
            services.intake.take_in()  # the text of an agent is compared with all events before
        queue, turns, db = self._queue, self._model_turns, self._memory_db
        code, likeness = services.scanner.cache, services.likeness
        result = commands.carry_out(name, payload, queue, turns, db, code, self._link, likeness, now)
        self._guards().follow_memories()
        services.models.note_command()
        if command in commands.FORGETTING:
            self._vectors.release()  # the vector index follows new memories, not removed ones
            services.scanner.clear()
        if command in project_commands.COMMANDS:
            services.scanner.clear()  # notes about branches are kept by project
            self._facts.recheck_all()
        return result

    def _rebuild_memories(self, keys: Sequence[str], at: datetime) -> list[str]:
        """Rebuild the memories of turns; contexts follow once no more turns come, as in an import."""
        from claude_mem_lite.knowledge import memory_rebuild

        config, likeness = self._services.settings.config, self._services.likeness
        changed = memory_rebuild.rebuild(self._memory_db, self._queue, keys, config, likeness, at)
        self._services.renderer.postpone(changed)
        self._services.models.note_command()
        return []


class UnitJobs:
    """Worker on units. For the job thread alone."""

    def __init__(
        self,
        services: Services,
        queue: Queue,
        memory_db: sqlite3.Connection,
        command_job: CommandJob,
        facts: ProjectFactSync,
        link: "Link",
        guards: "Callable[[], GuardJobs]",
    ) -> None:
        self._services = services
        self._queue = queue
        self._memory_db = memory_db
        self._command_job = command_job
        self._facts = facts
        self._link = link
        self._guards = guards

    def run(self, unit: list[Row]) -> set[str]:
        """Work on one unit; return the projects whose context changed. A unit that fails is tried again."""
        first, now = unit[0], self._services.clock()
        ids = [row.id for row in unit]
        try:
            stored = self._store(unit, now)
        except PayloadError as error:
            self._queue.fail(ids, error.message, now.timestamp(), final=True)
            return set()
        except Exception as error:  # the unit is tried again later, and ends in error with this reason
            log.exception("unit failed", extra={"event": first.event, "name_of_first": first.name})
            if is_damage(error) and self._services.shutdown.stopping.is_set():
                return set()  # the next worker processes the unit at once, after recovery
            self._queue.fail(ids, f"working on it failed: {type(error).__name__}", now.timestamp())
            return set()
        if any(row.event == "SessionEnd" for row in unit):
            self._services.team.request()
        if stored is not None:
            self._follow_guards(unit, stored)
            return self._follow_turn(stored)
        return self._follow_start(first) if first.event == "SessionStart" else set()

    def keep_facts(self) -> set[str]:
        """Store the project facts of the folders that units named; return the projects that changed."""
        return self._facts.sync_requested()

    def _store(self, unit: list[Row], now: datetime) -> "StoredTurn | None":
        first, config = unit[0], self._services.settings.config
        if first.event == "Command":
            self._command_job.run(first)
            return None
        if first.event == "Rendered":
            session_job.record_rendered(first, self._queue, self._memory_db, self._start_of(first), now)
            return None
        if first.event in inbox.GUARD_NOTES:
            self._guards().take_note(first, now)
            return None
        if first.event in session_job.SESSION_EVENTS:
            session_job.process(unit, self._queue, self._memory_db, config, now)
            return None
        from claude_mem_lite.worker.turn_job import TurnJob  # late: see `worker/loading.py`

        likeness, notes = self._services.likeness, self._services.turn_notes
        return TurnJob(self._queue, self._memory_db, config, self._link, likeness, notes).process(unit, now)

    def _follow_guards(self, unit: list[Row], stored: "StoredTurn") -> None:
        """Bring guards up to date after a turn; an error must not fail the turn, which is stored."""
        try:
            self._guards().follow_memories()
            if stored.is_new and not stored.turn.events[-1].imported:
                self._guards().follow_turn(unit, stored.turn.project, stored.turn.session)
        except Exception as error:  # the turn is stored; its guards are logged and left as they are
            if is_damage(error):
                raise
            log.exception("guards failed", extra={"turn": stored.turn.key})

    def _follow_turn(self, stored: "StoredTurn") -> set[str]:
        services, last = self._services, stored.turn.events[-1]
        services.models.enqueue(stored)
        if last.imported:  # the next session start scans the code of imported turns
            services.renderer.postpone({stored.turn.project})
            return set()
        services.scanner.request_scan(lookup.locate(self._memory_db, last.cwd))
        self._facts.request(last.cwd)
        return {stored.turn.project}

    def _follow_start(self, start: Row) -> set[str]:
        payload = start.parse_payload()
        cwd = text(payload.get("cwd"))
        self._facts.request(cwd)
        if payload.get("imported") is True:
            return set()
        if may_save(self._services.settings.config, cwd):
            self._services.questions.request_weights()
        is_new_folder = not prerendered.is_there(self._services.home, cwd)
        return {lookup.locate(self._memory_db, cwd).project} if is_new_folder else set()

    def _start_of(self, note: Row) -> Row | None:
        start = note.parse_payload().get("start")
        return inbox.find(self._queue.db, start) if isinstance(start, str) else None
