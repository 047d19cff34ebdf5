"""Composition root: opens the databases, and builds services and job loop on top of them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from claude_mem_lite.code.freshness.scanner import StalenessScanner
from claude_mem_lite.code.freshness.time_budget import ScanThrottle
from claude_mem_lite.config import Config
from claude_mem_lite.db import change_counter, open_files
from claude_mem_lite.db.checkpoints import Checkpoints
from claude_mem_lite.db.connection import Counting, Watched, open_for_writing, open_to_hold
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.embed.embedder import shared_table
from claude_mem_lite.inbox.journal import Journal
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.project_facts import ProjectFactSync
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.models import Location, Memory
from claude_mem_lite.paths import Home
from claude_mem_lite.providers import Embedder, Provider
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.timestamps import Clock, utc_now
from claude_mem_lite.worker.answers.in_flight import DuplicateHookGuard, InFlightInjections
from claude_mem_lite.worker.answers.lesson_pace import QuestionPace
from claude_mem_lite.worker.answers.session_arms import SessionArms
from claude_mem_lite.worker.answers.user_notices import UserNotices
from claude_mem_lite.worker.backup_scheduler import BackupScheduler
from claude_mem_lite.worker.context_renderer import ContextRenderer
from claude_mem_lite.worker.event_intake import EventIntake, Intake
from claude_mem_lite.worker.loading import LateModules
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.models.scheduler import MakeProvider, ModelScheduler
from claude_mem_lite.worker.pass_progress import PassProgress
from claude_mem_lite.worker.pause_watch import PauseWatch
from claude_mem_lite.worker.recovery import startup
from claude_mem_lite.worker.recovery.replay import (
    Databases,
    back_up_before_migrating,
    repair_word_indexes,
    replay_missing,
)
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.settings import SettingsSource
from claude_mem_lite.worker.shutdown import Activity, Package, Shutdown
from claude_mem_lite.worker.team.scheduler import TeamSync
from claude_mem_lite.worker.turn_notes import TurnNotes
from claude_mem_lite.worker.unit_jobs import CommandJob, UnitJobs
from claude_mem_lite.worker.write_thread import CommandQueue, WriteThread

if TYPE_CHECKING:
    from claude_mem_lite.worker.background import BackgroundStep
    from claude_mem_lite.worker.guards.jobs import GuardJobs
    from claude_mem_lite.worker.guards.replays import GuardReplays


def configured_provider(config: Config, home: Home, environment: Mapping[str, str]) -> Provider | None:
    """Return the configured provider, None for rules, which need none of the clients of models."""
    if config.provider == "rules":
        return None
    from claude_mem_lite.compress.model.provider_setup import make_provider

    return make_provider(config, home, environment)


@contextmanager
def open_loop(
    home: Home,
    clock: Clock = utc_now,
    make_provider: MakeProvider = configured_provider,
    embedder: Embedder | None = None,
    limits: Limits = LIMITS,
    package: Package | None = None,
    *,
    is_throwaway: bool = False,
) -> Iterator[Loop]:
    """Yield a job loop over sound and up-to-date databases, and close the databases at the end.

    A throwaway home, which is removed in any case, does not wait for the disk."""
    has_record = home.open_files.exists()
    had_damage = startup.prepare(home, clock())
    with (
        ExitStack() as after_databases,
        closing(_open(home.inbox_db, Watched)) as inbox_db,
        closing(_open(home.memory_db, Counting)) as memory_db,
    ):
        connections = {home.inbox_db: inbox_db, home.memory_db: memory_db}
        databases = Databases(inbox_db, memory_db)
        if is_throwaway:
            for connection in connections.values():
                connection.execute("pragma synchronous=off")
        migrate(inbox_db, INBOX_MIGRATIONS, clock())
        back_up_before_migrating(home, clock(), memory_db)
        migrate(memory_db, MEMORY_MIGRATIONS, clock())
        was_suspect = repair_word_indexes(home, memory_db)  # first: what is forgotten again leaves the indexes too
        is_caught_up = replay_missing(home, databases, clock())
        change_counter.begin(memory_db)
        files = after_databases.enter_context(closing(OpenFiles(home)))
        files.write_record(home.open_files, change_counter.lineage_of(memory_db))
        checkpoints = after_databases.enter_context(closing(Checkpoints(files, connections)))
        holding = [after_databases.enter_context(closing(open_to_hold(path))) for path in connections]
        if has_record or had_damage or not all(map(open_files.mark_of, connections.values())):
            checkpoints.make_all()  # else a copy of before may have the same mark
        package, embedder = package or Package(), embedder or shared_table()
        loop = _make_loop(home, files, checkpoints, databases, clock, make_provider, embedder, limits, package)
        services = loop.services
        if is_caught_up:
            services.backups.request_soon()
        if was_suspect and not (had_damage or is_caught_up):
            services.shutdown.ignore_damage()
        with closing(services.readers), closing(services.inbox_readers):
            yield loop
        has_ended_well = not files.trouble()
        if has_ended_well:
            for db in connections.values():
                open_files.renew_mark(db)
        if not files.is_overwritten():  # else closing would bring pages of the log into another database
            for held in holding:
                held.close()
    if has_ended_well:  # else the next worker has to know which logs are of which database
        home.open_files.unlink(missing_ok=True)


def _open(path: Path, kind: type[Watched]) -> Watched:
    connection = open_for_writing(path, kind)
    assert isinstance(connection, Watched)
    return connection


def _make_loop(
    home: Home,
    files: OpenFiles,
    checkpoints: Checkpoints,
    databases: Databases,
    clock: Clock,
    make_provider: MakeProvider,
    embedder: Embedder,
    limits: Limits,
    package: Package,
) -> Loop:
    inbox_db, memory_db = databases.inbox, databases.memory
    shutdown, settings, activity = Shutdown(home, files, checkpoints), SettingsSource(home), Activity()
    journal = Journal(home.journal_folder, files.is_home_replaced)
    queue = Queue(inbox_db, lambda: change_counter.count_of(memory_db), journal)
    writes = WriteThread(memory_db, queue, shutdown, activity)
    intake, pause_watch = Intake(home, queue, clock, shutdown.has_files), PauseWatch(home, memory_db, clock)
    readers, inbox_readers = (Readers(path, shutdown.report_damage) for path in (home.memory_db, home.inbox_db))
    model_turns, likeness = ModelTurns(inbox_db), Likeness(embedder)
    vectors, throttle = VectorIndex(), ScanThrottle()
    search = Search(embedder, vectors)
    scanner = StalenessScanner(home, memory_db, clock, settings.excludes, limits)
    renderer = ContextRenderer(home, memory_db, readers, settings, clock, scanner, search, shutdown, limits)
    services = Services(
        home=home,
        clock=clock,
        limits=limits,
        started_at=clock(),
        settings=settings,
        shutdown=shutdown,
        activity=activity,
        package=package,
        readers=readers,
        inbox_readers=inbox_readers,
        writes=writes,
        commands=CommandQueue(settings, writes, clock),
        intake=EventIntake(intake, settings, pause_watch, activity, writes),
        passes=PassProgress(home, settings, writes, shutdown, throttle),
        search=search,
        indexing=Indexing(memory_db, embedder),
        likeness=likeness,
        scanner=scanner,
        renderer=renderer,
        models=ModelScheduler(home, model_turns, memory_db, clock, make_provider, writes.wake, likeness),
        backups=BackupScheduler(home, memory_db, inbox_db, clock, limits.max_backups),
        team=TeamSync(home, readers, writes, clock, settings, shutdown, renderer, embedder, limits),
        in_flight=InFlightInjections(),
        notices=UserNotices(home, clock),
        duplicate_hooks=DuplicateHookGuard(inbox_readers.open),
        questions=QuestionPace(),
        arms=SessionArms(settings, writes),
        turn_notes=TurnNotes(),
    )

    def link(memory: Memory, location: Location, folder: str) -> Memory:
        """Link a memory that was stated in a folder to the code that its text names, where the code may be read."""
        from claude_mem_lite.knowledge.code_links import tie  # late: see `worker/loading.py`

        deadline = Deadline.after(limits.link_s)
        return tie(scanner.cache, memory, location, folder, deadline) if scanner.may_read(location) else memory

    @cache
    def guard_jobs() -> "GuardJobs":
        from claude_mem_lite.worker.guards.jobs import GuardJobs

        return GuardJobs(home, queue, memory_db, clock)

    @cache
    def replays() -> "GuardReplays":
        from claude_mem_lite.worker.guards.replays import GuardReplays

        return GuardReplays(home, queue, memory_db, clock, settings)

    facts = ProjectFactSync(memory_db, clock, settings.excludes)
    command_job = CommandJob(services, queue, memory_db, model_turns, facts, link, vectors, guard_jobs)
    jobs = UnitJobs(services, queue, memory_db, command_job, facts, link, guard_jobs)

    def make_steps() -> "Sequence[BackgroundStep]":
        from claude_mem_lite.worker.background import GuardStep, background_steps

        guard_step = GuardStep(services, guard_jobs, replays)
        return background_steps(services, queue, journal, memory_db, throttle, guard_step)

    late_modules = LateModules(activity, package, limits.first_request_s)
    return Loop(services, queue, memory_db, jobs, checkpoints, make_steps, late_modules)
