"""The worker's one job thread: takes events in, works on what is ready, keeps rendered contexts current.

It is the only thread that writes a database; everything else asks it to, by `call`."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import TypeVar

from claude_mem_lite.code.freshness.scanner import Looking
from claude_mem_lite.code.freshness.time_budget import ScanThrottle
from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.config_loader import load_config
from claude_mem_lite.context.prompt.lesson_question import may_save
from claude_mem_lite.db import change_counter, completeness
from claude_mem_lite.db.checkpoints import Checkpoints
from claude_mem_lite.db.integrity import is_damage
from claude_mem_lite.db.open_files import OpenFiles
from claude_mem_lite.db.read_pool import Readers
from claude_mem_lite.errors import ConfigError, PayloadError, WorkerEnded
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.intake import Intake
from claude_mem_lite.inbox.journal import Copies
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.knowledge import memory_rebuild
from claude_mem_lite.knowledge.code_links import tie
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.project_facts import FactKeeping
from claude_mem_lite.models import Embedder, JsonObject, Memory, Place, text, texts
from claude_mem_lite.paths import Home, state_of
from claude_mem_lite.search.hybrid import Search
from claude_mem_lite.search.indexer import Indexing
from claude_mem_lite.search.vector_index import VectorIndex
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.timestamps import Clock
from claude_mem_lite.worker import commands, maintenance, turn_job
from claude_mem_lite.worker.answers import prerendered
from claude_mem_lite.worker.answers.duplicate_hooks import Twins
from claude_mem_lite.worker.answers.in_flight import OnTheirWay
from claude_mem_lite.worker.answers.lesson_pace import Questions
from claude_mem_lite.worker.answers.user_notices import Telling
from claude_mem_lite.worker.backup_scheduler import QUIET_S, BackingUp
from claude_mem_lite.worker.command_queue import Commands
from claude_mem_lite.worker.liveness import Activity, DamageWatch, Package
from claude_mem_lite.worker.models.scheduler import MakeProvider, Modelling
from claude_mem_lite.worker.pause_watch import PauseWatch

POLL_S = 2.0
IMPORT_QUIET_S = 1.0
"""After so long without a request an import is over, or somebody stopped it."""
_LARGE_WORK = 8 * 1024 * 1024
Result = TypeVar("Result")
log = logging.getLogger(__name__)


class Loop:
    """Runs passes over spool and inbox until told to stop. `inbox_db` and `memory_db` are its alone."""

    def __init__(
        self,
        home: Home,
        files: OpenFiles,
        checkpoints: Checkpoints,
        inbox_db: sqlite3.Connection,
        memory_db: sqlite3.Connection,
        clock: Clock,
        make_provider: MakeProvider,
        embedder: Embedder,
    ) -> None:
        self.home = home
        self._files = files
        self._checkpoints = checkpoints
        self._has_lost_files = False
        self._trouble = ""
        """What became of the files, for whoever waits."""
        self._has_ended = False
        self.clock = clock
        self.started_at = clock()
        self.config = Config()
        self.problem = ""
        """Why nothing may be taken in at the moment; empty when all is well."""
        self.failure = ""
        """Why the last pass failed; the next one tries again."""
        self.stopping = threading.Event()
        """Set once the loop is to end; for whoever waits for something it may never do."""
        self.readers = Readers(home.memory_db, self.suspect)
        self.inbox_readers = Readers(home.inbox_db, self.suspect)
        self._may_suspect = True
        self._inbox_db = inbox_db
        self._memory_db = memory_db
        self._copies = Copies(home.spool_kept, files.is_home_replaced)
        self._queue = Queue(inbox_db, lambda: change_counter.count_of(memory_db), self._copies)
        self.backing_up = BackingUp(home, memory_db, inbox_db, clock)
        self._intake = Intake(home, self._queue, clock, self.has_files)
        self._model_turns = ModelTurns(inbox_db)
        self.likeness = Likeness(embedder)
        self.modelling = Modelling(home, self._model_turns, memory_db, clock, make_provider, self.wake, self.likeness)
        self.indexing = Indexing(memory_db, embedder)
        self._vectors = VectorIndex()
        self.search = Search(embedder, self._vectors)
        self.questions = Questions()
        self.looking = Looking(home, memory_db, clock, lambda folder: is_excluded(self.config, folder))
        self.on_their_way = OnTheirWay()
        """What hooks were answered, before it is known that they printed it."""
        self.telling = Telling(home, clock)
        self.twins = Twins(self.inbox_readers.open)
        self._pause_watch = PauseWatch(home, memory_db, clock)
        self._facts = FactKeeping(memory_db, clock, lambda folder: is_excluded(self.config, folder))
        self.package = Package()
        self._settings: tuple[int, int, int] | None = None
        self.activity = Activity()
        self._wake = threading.Event()
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._commands = Commands(
            self._queue,
            memory_db,
            clock,
            self.backing_up,
            call_queue=self.call_queue,
            do=self._do,
            suspect=self.suspect,
        )
        self._settled = threading.Condition()
        self._asked = 0
        self._answered = 0
        self._flush = False
        self._began = False
        self._is_under_way = True
        self._has_to_look = False
        self._unrendered: set[str] = set()
        self._unrendered_commands = False
        """Projects of imported turns: an import sends hundreds of sessions, so they are rendered once it pauses."""
        self._pace = ScanThrottle()
        self._maintained_at = 0.0
        self._rested_at = 0.0

    # What other threads may call.

    def wake(self) -> None:
        """Something is there to be taken in."""
        self.activity.note_request()
        self._wake.set()

    def stop(self) -> None:
        """End after the unit under way; nothing claimed is kept."""
        self.stopping.set()
        self._wake.set()
        with self._settled:
            self._settled.notify_all()

    def suspect(self) -> None:
        """A database seems to be damaged: end, so that the next worker looks at all of it before it opens it."""
        if self._may_suspect and not self.stopping.is_set():
            log.error("a database is damaged; ending, for the next worker to mend it")
            self._mark_suspect()
            self.stop()

    def has_files(self) -> bool:
        """Whether home and databases are those that were opened. If not, the loop ends, and nothing is taken in or
        acknowledged any more: what is written now would be lost with the old files."""
        if not self._has_lost_files and (trouble := self._files.trouble()):
            self._end_for(trouble)
        return not self._has_lost_files

    def note_unfounded(self) -> None:
        """The files were found to be sound, so a worker that ends would help nobody."""
        self._may_suspect = False

    def knows_settings(self) -> bool:
        """Whether config.toml is still the one that was read last."""
        return state_of(self.home.config) == self._settings

    def call(self, write: Callable[[sqlite3.Connection], Result], *, later: bool = False) -> Future[Result]:
        """Run a write on memory.db in this thread, in order; `later`: with whatever comes next, nobody waits."""
        future: Future[Result] = Future()

        def run() -> None:
            try:
                self._require_files()
                result = write(self._memory_db)
                self._require_files()  # once more: what was written to a file that is gone is not stored
                future.set_result(result)
            except Exception as error:  # noqa: BLE001  handed to whoever waits for the result
                future.set_exception(error)

        self._calls.put(run)
        if self._has_ended:  # nobody takes it any more, so it is refused here
            self._run_calls()
        if not later:
            self.wake()
        return future

    def call_queue(self, write: Callable[[Queue], Result]) -> Future[Result]:
        """Run a write on the inbox in this thread, in order."""
        return self.call(lambda _: write(self._queue))

    def call_both(self, write: Callable[[sqlite3.Connection, Queue], Result]) -> Future[Result]:
        """Run a write on memory.db and the inbox in this thread, in order."""
        return self.call(lambda db: write(db, self._queue))

    def command(self, payload: JsonObject) -> Future[list[str]]:
        """Put what the user did into the inbox; the result comes when it has been carried out."""
        return self._commands.put(payload, self.problem)

    def rebuild(self) -> Future[None]:
        """Have everything derived made anew; the result comes when that has begun."""

        def begin(_: sqlite3.Connection) -> None:
            self.indexing.rebuild()
            self.looking.clear()
            self._render({""})

        return self.call(begin)

    def render_all(self) -> Future[None]:
        """Have every rendered context follow what was stored."""
        return self.call(lambda _: self._render({""}))

    def hold(self, name: str, raw: bytes) -> None:
        """Keep an event that no hook could write anywhere."""
        self._intake.hold(name, raw)
        self.wake()

    def settle(self, timeout_s: float, *, flush: bool = False) -> bool:
        """Wait until a pass that began after this call left nothing ready; False when time ran out, or is up."""
        with self._settled:
            self._asked += 1
            self._flush = self._flush or flush
            self._pace.note_asked(for_all=flush)
            wanted = self._asked
            self.wake()
            self._settled.wait_for(lambda: self._answered >= wanted or self.stopping.is_set(), timeout_s)
            return self._answered >= wanted

    def is_behind(self, name: str) -> bool:
        """Whether anything but the event of this name is to be taken in, or is being worked on."""
        if self._is_under_way or self._wake.is_set() or not self.knows_settings():
            return True
        return any(other != name for other in spool.waiting(self.home))

    # The thread itself.

    def run(self) -> None:
        """Passes until stopped, then a last look at the spool."""
        try:
            with DamageWatch(self.suspect):
                self._run()
        finally:
            self._has_ended = True
            self._run_calls()
            self._commands.end()

    def _run(self) -> None:
        while not self.stopping.is_set():
            if not (self.has_files() and self._has_whole_schemas()):
                break
            if self.package.is_replaced():
                log.info("another version was installed; ending, so that the next hook starts it")
                self.stop()
                break
            if self.package.is_gone():
                log.info("the package was removed; ending, because nobody wants this work any more")
                self.stop()
                break
            self._safely(self._pass, self._look_further, self._back_up, self._rest)
            # After a failure at its own pace: a full disk would have it try, and log, without end.
            self._wake.wait(self._look_in_s() if self._has_to_look and not self.failure else POLL_S)
            self._is_under_way = True  # first: what woke it is not to be passed over by whoever asks
            self._wake.clear()
        if not self.has_files():
            self._safely(self._intake.leave_rest, self._run_calls, self.backing_up.end)
            return
        self._safely(self._look_once_more)
        self._safely(self._run_calls)
        self._safely(lambda: self._render(self.modelling.end() | self._unrendered))
        self._safely(self.backing_up.end)
        self._safely(self._queue.release_all)

    def _end_for(self, trouble: str) -> None:
        log.error("ending, before anything is lost with the old files", extra={"trouble": trouble})
        self._has_lost_files, self._trouble = True, trouble
        self._mark_suspect()
        self.stop()

    def _require_files(self) -> None:
        if self._has_ended or not self.has_files():
            raise WorkerEnded(self._trouble or "the worker is ending", "run this again in a moment")

    def _has_whole_schemas(self) -> bool:
        """Whether nobody has dropped a table by hand; 10 µs while the schemas are as they were."""
        try:
            lacking = "; ".join(filter(None, map(completeness.missing, self._checkpoints.changed_schemas())))
        except sqlite3.DatabaseError as error:
            lacking = str(error) if is_damage(error) else ""
        if lacking:
            self._end_for(lacking)
        return not lacking

    def _mark_suspect(self) -> None:
        """Have the next worker read all of both databases; one of another home has no reason to."""
        if not self._files.is_home_replaced():
            with suppress(OSError):
                self.home.suspect.touch(mode=0o600)

    def _look_once_more(self) -> None:
        """Leave nothing in the spool if it may be taken in, and nothing in memory alone."""
        try:
            if self._read_config():
                self._take_in()
        finally:
            self._intake.leave_rest()

    def _safely(self, *steps: Callable[[], object]) -> None:
        """Each of these, whatever becomes of those before it: on a full disk nothing can be taken in, say."""
        failed_with = ""
        for step in steps:
            try:
                step()
            except Exception as error:  # the job loop outlives any one failure; what failed is still in spool or inbox
                log.exception("pass failed")
                failed_with = failed_with or type(error).__name__
        self.failure = f"the last look at the inbox failed with {failed_with}; see worker.log" if failed_with else ""

    def _pass(self) -> None:
        with self._settled:
            asked, flush, self._flush = self._asked, self._flush, False
        if not self._began:
            if returned := self._queue.release_all():
                log.info("events returned to the inbox", extra={"events": returned})
            self.modelling.begin()
            self._began = True
        self._run_calls()
        if self._read_config():
            self._take_in()
            self._work(flush)
            self._maintain()
        self._run_calls()
        self._checkpoints.make_due()
        if not self.has_files():
            return  # whoever waits is told by the end of the loop
        with self._settled:
            self._is_under_way = False
            self._answered = max(self._answered, asked)
            self._settled.notify_all()

    def _look_further(self) -> None:
        """What nobody waits for who waits for the inbox to be settled: models, indexes, the code."""
        if self._began and not self.problem and not self.stopping.is_set():
            self._render(self.modelling.step())
            if self.modelling.is_busy():
                self.activity.note_request()
            if self.activity.quiet_s() > IMPORT_QUIET_S:
                self._render(self._unrendered)
        self._index()
        self._look()
        if not self.stopping.is_set():
            self.questions.prepare()

    def _back_up(self) -> None:
        if not self.stopping.is_set():
            is_quiet = self.activity.quiet_s() > QUIET_S
            self.backing_up.step(self.wake, is_quiet=is_quiet)
            maintenance.trim_copies(self._queue, self._copies, self._memory_db, self.backing_up.backed_up, is_quiet)

    def _look(self) -> None:
        """A little of what is to be seen of the code that memories tell of; the rest in the next passes."""
        self._has_to_look = False
        if self.stopping.is_set() or self.problem:
            return
        if not self.looking.is_busy():
            self._pace.note_step()
            return
        if self._look_in_s() > 0:
            self._has_to_look = True
            return
        looked = self.looking.step()
        self._pace.note_step()
        self._has_to_look = looked.more
        self._render(set(looked.changed))

    def _look_in_s(self) -> float:
        return self._pace.due_in_s(self.looking.asked_at)

    def _index(self) -> None:
        """A batch of what is to be indexed, then the next pass at once."""
        if not self.stopping.is_set() and self.indexing.step():
            self.wake()

    def _rest(self) -> None:
        """Free what searching and looking hold, when nobody has needed it for a while."""
        used_at = max(self.search.used_at, self.indexing.used_at, self.looking.used_at)
        if used_at > self._rested_at and time.monotonic() - used_at > maintenance.REST_S:
            self._rested_at = time.monotonic()
            self.search.let_go()
            self.looking.release()
            self.readers.let_go()
            self.inbox_readers.let_go()
            for db in (self._inbox_db, self._memory_db):
                db.execute("pragma shrink_memory")
            maintenance.give_back_memory()

    def _render(self, changed: set[str]) -> None:
        """Render the folders of projects whose context changed anew."""
        if changed and self.has_files():
            self._unrendered = set() if "" in changed else self._unrendered - changed
            see, search = self.looking.open_ahead, self.search.search_without_reasons
            dbs = self._memory_db, self.readers.open
            prerendered.refresh(self.home, *dbs, self.config, changed, self.clock(), see, search)

    def _read_config(self) -> bool:
        """Load the settings. A broken file stops intake, because it may have named folders to exclude."""
        state = state_of(self.home.config)  # first: what is written meanwhile is read the next time
        try:
            config = load_config(self.home.config, os.environ)
        except ConfigError as error:
            if not self.problem:
                log.error("configuration cannot be read; events wait in the spool")
            self.problem, self._settings = str(error), state
            return False
        if config.exclude != self.config.exclude:
            prerendered.clear(self.home)  # what was rendered may be of a folder that is excluded now
        self.config, self.problem = config, ""
        self._settings = state  # last: until then whoever asks reads the file, instead of the settings before it
        self._pause_watch.reconcile(config.exclude)
        self.modelling.configure(config)
        return True

    def _take_in(self) -> None:
        if self._intake.take_in(self.config):
            self.activity.note_request()
        if self._intake.dropped_folders:
            self._pause_watch.note_dropped(self.config, self._intake.dropped_folders)
            self._intake.dropped_folders.clear()

    def _work(self, flush: bool) -> None:
        """Everything that is ready, a few units at a time; folders whose context changed are rendered anew."""
        touched: set[str] = set()
        while not self.stopping.is_set():
            units = self._queue.claim(self.clock().timestamp(), flush=flush)
            if not units:
                break
            size = sum(len(row.payload) for unit in units for row in unit)
            while units and self.has_files():
                unit = units.pop(0)
                self._queue.renew([row.id for row in unit], self.clock().timestamp())
                touched |= self._work_on(unit)
                self._run_calls()
                self._checkpoints.make_due()
            unit = []
            if size > _LARGE_WORK:
                maintenance.give_back_memory()
        if not self.stopping.is_set():
            if self._unrendered_commands:  # only now: nobody waits for a command until contexts are rendered
                touched.add("")
                self._unrendered_commands = False
            self._render(touched | self._facts.keep_wanted() | (self._unrendered if flush else set()))

    def _work_on(self, unit: list[Row]) -> set[str]:
        """Work on one unit; returns the projects whose context changed ('' for all)."""
        now = self.clock()
        ids = [row.id for row in unit]
        try:
            if unit[0].event == "Command":
                self._commands.carry_out(unit[0])
                return set()
            if unit[0].event == "Rendered":
                turn_job.record_rendered(unit[0], self._queue, self._memory_db, self._start_of(unit[0]), now)
                return set()
            tie, likeness = self._link_to_code, self.likeness
            stored = turn_job.process(unit, self._queue, self._memory_db, self.config, tie, likeness, now)
        except PayloadError as error:
            self._queue.fail(ids, error.message, now.timestamp(), final=True)
            return set()
        except Exception as error:  # the unit is tried again later, and ends in error with this reason
            log.exception("unit failed", extra={"event": unit[0].event, "name_of_first": unit[0].name})
            if is_damage(error) and self.stopping.is_set():  # the next worker does it at once, when it has recovered
                return set()
            self._queue.fail(ids, f"working on it failed: {type(error).__name__}", now.timestamp())
            return set()
        if stored is not None:
            self.modelling.want(stored)
            last = stored.turn.events[-1]
            if last.imported:  # of thousands of old turns, the next session to start has them looked at
                self._unrendered.add(stored.turn.project)
                return set()
            self.looking.request_scan(lookup.locate(self._memory_db, last.cwd))
            self._facts.want(last.cwd)
        elif unit[0].event == "SessionStart":
            payload = unit[0].told()
            cwd = text(payload.get("cwd"))
            self._facts.want(cwd)
            if payload.get("imported") is not True and may_save(self.config, cwd):
                self.questions.want()
            # As in a project's new folder.
            if payload.get("imported") is not True and not prerendered.is_there(self.home, cwd):
                return {lookup.locate(self._memory_db, cwd).project}
        return {stored.turn.project} if stored else set()

    def _link_to_code(self, memory: Memory, place: Place, folder: str) -> Memory:
        """Link a memory that was stated in a folder to the code that it names, where that code may be read."""
        return tie(self.looking.cache, memory, place, folder) if self.looking.may_read(place) else memory

    def _do(self, name: str, told: JsonObject, now: datetime) -> list[str]:
        """What a command says, and what follows from it for all that is derived."""
        if told.get("command") == memory_rebuild.COMMAND:
            return self._rebuild_memories(texts(told.get("turns")), time_of(name))
        prerendered.clear(self.home)  # first: it may hold what is to be forgotten
        is_forgetting = told.get("command") in commands.FORGETTING
        if is_forgetting:
            self.backing_up.give_way()
        if told.get("by") == commands.BY_AGENT:
            self._take_in()  # what it wants kept is held against all that it heard before
        queue, turns, db = self._queue, self._model_turns, self._memory_db
        code, tie = self.looking.cache, self._link_to_code
        result = commands.carry_out(name, told, queue, turns, db, code, tie, self.likeness, now)
        self.modelling.note_command()
        if is_forgetting:
            self._vectors.let_go()  # they follow what is new, not what is gone
            self.looking.clear()
        if told.get("command") in commands.PROJECT_COMMANDS:
            self.looking.clear()  # what was noted of branches is noted by project
            self._facts.recheck_all()
        self._unrendered_commands = True
        return result

    def _rebuild_memories(self, keys: Sequence[str], at: datetime) -> list[str]:
        """Contexts follow once no more turns come, as they do in an import."""
        likeness = self.likeness
        self._unrendered |= memory_rebuild.rebuild(self._memory_db, self._queue, keys, self.config, likeness, at)
        self.modelling.note_command()
        return []

    def _start_of(self, note: Row) -> Row | None:
        start = note.told().get("start")
        return inbox.find(self._inbox_db, start) if isinstance(start, str) else None

    def _run_calls(self) -> None:
        with suppress(Empty):
            while True:
                self._calls.get_nowait()()

    def _maintain(self) -> None:
        if time.monotonic() - self._maintained_at > maintenance.EVERY_S or not self._maintained_at:
            self._maintained_at = time.monotonic()
            maintenance.tidy(self._queue, self._memory_db, self.clock(), self.backing_up.backed_up)
            self.modelling.tidy()
