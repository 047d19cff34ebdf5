"""Replay of new guards over past calls, a little after each pass of the job loop. Never in the way of hooks: a step
takes some milliseconds, and pauses in between."""

import os
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from claude_mem_lite import pauses
from claude_mem_lite.agents.agent_folders import agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import config_folder_of_transcript
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.event_names import time_of
from claude_mem_lite.guards import history
from claude_mem_lite.guards.guard import guard_from_row
from claude_mem_lite.guards.history import ByteBudget, PastCall
from claude_mem_lite.guards.matching import Call
from claude_mem_lite.guards.replay import GuardRun, ProjectReplay
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import load_json, text
from claude_mem_lite.paths import Home
from claude_mem_lite.store import guards, sessions, tombstones
from claude_mem_lite.store.guards import StoredGuard
from claude_mem_lite.store.projects.marks import marks
from claude_mem_lite.timestamps import Clock, time_to_text
from claude_mem_lite.worker.settings import SettingsSource

STEP_S = 0.015
PAUSE_S = 0.03
AGAIN_AFTER = timedelta(days=1)
"""Age of a proposal's replay after which new sessions count."""
MAX_SESSIONS = 200
MAX_CALLS = 2_000
"""Sessions without a transcript, and calls of each, that are read from the inbox."""


class GuardReplays:
    """Background step that runs new guards over the past. For the job thread alone."""

    def __init__(
        self,
        home: Home,
        queue: Queue,
        memory_db: sqlite3.Connection,
        clock: Clock,
        settings: SettingsSource,
    ) -> None:
        self._home = home
        self._queue = queue
        self._db = memory_db
        self._clock = clock
        self._settings = settings
        self._work: Iterator[None] | None = None

    def run(self) -> float | None:
        """Do a little; return the seconds until the next step, None when no guard is due."""
        if self._settings.problem:
            return None
        if self._work is None:
            due = self._due()
            if not due:
                return None
            self._work = self._replay([row for row in due if row.project == due[0].project])
        deadline = time.monotonic() + STEP_S
        while time.monotonic() < deadline:
            if next(self._work, StopIteration) is StopIteration:
                self._work = None
                return 0.0
        return PAUSE_S

    def _due(self) -> list[StoredGuard]:
        return guards.due_replays(self._db, time_to_text(self._clock() - AGAIN_AFTER))

    def _replay(self, rows: list[StoredGuard]) -> Iterator[None]:
        """Run the guards of one project over the project's past calls, piece by piece."""
        project, rules = rows[0].project, {row.id: row.rule for row in rows}
        run = ProjectReplay([GuardRun(guard_from_row(row)) for row in rows])
        budget, forgotten = ByteBudget(), tombstones.latest(self._db)
        for past in self._calls(project, budget):
            if past is not None:
                run.add(past)
            yield None
        if tombstones.latest(self._db) != forgotten:
            return  # the calls may hold what was forgotten meanwhile; the guards are still due
        at = time_to_text(self._clock())
        with atomic(self._db):
            for replay in run.guards:
                current = guards.find(self._db, replay.guard.id)
                if current is None or current.rule != rules[current.id]:
                    continue  # changed meanwhile
                guards.put_replay(
                    self._db,
                    run.result(replay, at, is_whole=budget.is_whole),
                    replay.kept_matches(),
                    replay.occasions(),
                )
                self._note_doubt(current, replay.doubt())

    def _note_doubt(self, row: StoredGuard, doubt: str) -> None:
        if row.status == "proposed" and doubt:
            guards.put(self._db, replace(row, status="doubtful", note=doubt))
        elif row.status == "doubtful" and not doubt:
            guards.put(self._db, replace(row, status="proposed", note=""))

    def _calls(self, project: str, budget: ByteBudget) -> Iterator[PastCall | None]:
        """Yield the calls of a project, without what was forgotten or done while memory was off."""
        known = sessions.ids_of_project(self._db, project)
        folders = [*marks(self._db, project, "path"), *marks(self._db, project, "former_path")]
        configs = self._config_folders(known)
        working = {*folders, *sessions.folders_of(self._db, known).values()}
        paths = history.transcripts_in(history.transcript_folders(configs, sorted(working)))
        seen: set[str] = set()
        forgotten: dict[tuple[str, str], bool] = {}
        for past in history.past_calls(paths, folders, self._is_kept(), budget):
            if past is None:
                yield None
                continue
            key = (past.session, past.turn)
            if key not in forgotten:
                forgotten[key] = tombstones.is_buried(self._db, *key)
            if not forgotten[key]:
                seen.add(past.session)
                yield past
        for session in [one for one in known if one not in seen][-MAX_SESSIONS:]:
            yield from self._stored_calls(session, folders)

    def _stored_calls(self, session: str, roots: list[str]) -> Iterator[PastCall | None]:
        """Yield the calls of a session that the inbox still has; whether the user objected is unknown."""
        found = sessions.find(self._db, session)
        folder, branch = (found.cwd, found.branch) if found else ("", "")
        for row in event_history.tool_calls(self._queue.db, session, MAX_CALLS):
            given = load_json(row.tool_input) if row.tool_input else None
            if isinstance(given, dict):
                call = Call(text(row.tool), given, folder, history.root_of(folder, roots), branch)
                yield PastCall(session, "", time_to_text(time_of(row.name)), call, "ran", "")
        yield None

    def _is_kept(self) -> history.IsKept:
        periods = pauses.load(self._home)

        def is_kept(folder: str, at: datetime) -> bool:
            at_ns = int(at.timestamp() * 1e9)
            if any(period.covers(at_ns, at_ns, (folder,)) for period in periods):
                return False
            return not self._settings.excludes(folder)

        return is_kept

    def _config_folders(self, known: list[str]) -> list[Path]:
        """Return the configuration folders of Claude Code: the usual one, and those that sessions named."""
        named = event_history.transcripts_of(self._queue.db, known[-MAX_SESSIONS:])
        found = [config_folder_of_transcript(path) for path in named]
        return list(dict.fromkeys([agent_folder(CLAUDE_CODE, os.environ), *(one for one in found if one is not None)]))
