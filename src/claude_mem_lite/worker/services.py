"""Services of the worker: everything that handlers, answers and background steps need, in one frozen value."""

import sqlite3
from concurrent.futures import Future
from datetime import datetime

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.limits import Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.values import frozen
from claude_mem_lite.worker.answers.in_flight import DuplicateHookGuard, InFlightInjections
from claude_mem_lite.worker.answers.lesson_pace import QuestionPace
from claude_mem_lite.worker.answers.session_arms import SessionArms
from claude_mem_lite.worker.answers.user_notices import UserNotices
from claude_mem_lite.worker.backup_scheduler import BackupScheduler
from claude_mem_lite.worker.context_renderer import ALL_PROJECTS, ContextRenderer
from claude_mem_lite.worker.event_intake import EventIntake
from claude_mem_lite.worker.models.scheduler import ModelScheduler
from claude_mem_lite.worker.pass_progress import PassProgress
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Activity, Package, Shutdown
from claude_mem_lite.worker.team.scheduler import TeamSync
from claude_mem_lite.worker.turn_notes import TurnNotes
from claude_mem_lite.worker.write_thread import CommandQueue, WriteThread


@frozen
class Services:
    """Parts of a running worker. Databases are read by `readers` and written by `writes` and `commands`."""

    home: Home
    clock: Clock
    limits: Limits
    started_at: datetime
    settings: SettingsSource
    shutdown: Shutdown
    activity: Activity
    package: Package
    readers: Readers
    """Connections to memory.db for reading."""
    inbox_readers: Readers
    """Connections to inbox.db for reading."""
    writes: WriteThread
    commands: CommandQueue
    intake: EventIntake
    passes: PassProgress
    search: Search
    indexing: Indexing
    likeness: Likeness
    scanner: StalenessScanner
    renderer: ContextRenderer
    models: ModelScheduler
    backups: BackupScheduler
    team: TeamSync
    in_flight: InFlightInjections
    """Answers to hooks that no hook has confirmed as printed yet."""
    notices: UserNotices
    duplicate_hooks: DuplicateHookGuard
    questions: QuestionPace
    arms: SessionArms
    turn_notes: TurnNotes

    def rebuild_derived(self) -> Future[None]:
        """Rebuild indexes, freshness and contexts; the future ends when the rebuild has begun."""

        def begin(_: sqlite3.Connection) -> None:
            self.indexing.rebuild()
            self.scanner.clear()
            self.renderer.render({ALL_PROJECTS})

        return self.writes.execute_write(begin)

    def render_all(self) -> Future[None]:
        """Render all contexts anew from the stored memories."""
        return self.writes.execute_write(lambda _: self.renderer.render({ALL_PROJECTS}))
