"""Job loop of the worker: passes over spool and inbox, then background steps. Runs in the only thread that writes."""

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from claude_mem_lite.db.checkpoints import Checkpoints
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.event_names import event_of
from claude_mem_lite.inbox import spool
from claude_mem_lite.inbox.queue import Queue, Row
from claude_mem_lite.worker.loading import LateModules
from claude_mem_lite.worker.pass_progress import PassRequest
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.shutdown import DamageWatch
from claude_mem_lite.worker.unit_jobs import UnitJobs

if TYPE_CHECKING:
    from claude_mem_lite.worker.background import BackgroundStep

POLL_S = 2.0
_ANSWER_POLL_S = 0.01
_INCOMPLETE_POLL_S = 0.1
_LARGE_WORK = 8 * 1024 * 1024
log = logging.getLogger(__name__)


class Loop:
    """Main loop of the job thread; `services` is the interface for all other threads."""

    def __init__(
        self,
        services: Services,
        queue: Queue,
        memory_db: sqlite3.Connection,
        jobs: UnitJobs,
        checkpoints: Checkpoints,
        make_steps: "Callable[[], Sequence[BackgroundStep]]",
        late_modules: LateModules,
    ) -> None:
        self.services = services
        self._queue = queue
        self._memory_db = memory_db
        self._jobs = jobs
        self._checkpoints = checkpoints
        self._make_steps = make_steps
        self._steps: Sequence[BackgroundStep] = ()
        self._late_modules = late_modules
        self._tidied_at = 0.0
        self._makes_way = False

    def make_way_if_idle(self) -> None:
        """Have the first pass wait for the first answer if nothing but the start of a session waits: an answer needs
        nothing of the pass then, and half of the time would go to it. Called before any request can come."""
        services = self.services
        if {event_of(name) for name in spool.waiting(services.home)} != {"SessionStart"}:
            return
        if not services.settings.reload() or services.settings.config.experiment:
            return  # a pass records the beginning of an experiment, which decides what is given
        if not self._queue.has_ready(services.clock().timestamp()):
            self._makes_way = True
            services.passes.note_idle()

    def run(self) -> None:
        """Run passes until the worker stops, then take in the spool for the last time."""
        services = self.services
        try:
            with DamageWatch(services.shutdown.report_damage):
                if self._makes_way:
                    self._wait(services.limits.first_request_s)
                while self._may_go_on():
                    self._wait(self._run_safely(self._round()))
                self._finish()
        finally:
            services.writes.end()
            services.commands.end()

    def _wait(self, timeout_s: float) -> None:
        """Wait for the reason of a pass."""
        self.services.writes.wait(timeout_s)
        self.services.passes.note_under_way()  # first: `is_behind` must see the reason of the wake-up
        self.services.writes.clear()

    def _round(self) -> Iterator[Callable[[], float | None]]:
        """Yield what the loop does in one round: a pass, and the background steps."""
        if not self._steps:
            yield self._load_if_due
            if self._late_modules.is_loaded:
                yield self._begin_steps
                yield from self._background()  # whoever waits for the coming pass finds them done
        yield self._pass
        yield from self._background()
        yield self._late_modules.due_in_s

    def make_search_ready(self) -> None:
        """Load numpy and vectors ahead of the first search. Any thread may call."""
        self.services.search.make_ready(self.services.readers.open)

    def _load_if_due(self) -> None:
        """Load what the first answer did not need: modules in this thread, and numpy and vectors in another."""
        if self._late_modules.due_in_s() == 0.0:
            threading.Thread(target=self.make_search_ready, name="ready", daemon=True).start()
            self._late_modules.load()

    def _begin_steps(self) -> None:
        self._steps = self._make_steps()

    def _background(self) -> Iterator[Callable[[], float | None]]:
        return (partial(self._run_step, step) for step in self._steps)

    def _may_go_on(self) -> bool:
        """Return whether another pass may begin: not without the opened files and the installed package."""
        shutdown, package = self.services.shutdown, self.services.package
        if shutdown.stopping.is_set() or not (shutdown.has_files() and shutdown.has_whole_schemas()):
            return False
        if package.is_replaced():
            log.info("another version was installed; ending, so that the next hook starts it")
            shutdown.stop()
        elif package.is_gone():
            log.info("the package was removed; ending, because nobody wants this work any more")
            shutdown.stop()
        return not shutdown.stopping.is_set()

    def _finish(self) -> None:
        """Leave nothing in memory alone, and no event claimed."""
        services = self.services
        if not services.shutdown.has_files():
            self._safely(services.intake.leave_rest, services.writes.run_pending, services.backups.end)
            return
        self._safely(self._take_in_rest)
        self._safely(services.writes.run_pending)
        self._safely(lambda: services.renderer.render_after_pass(services.models.end(), flush=True))
        self._safely(services.backups.end)
        self._safely(self._queue.release_all)

    def _take_in_rest(self) -> None:
        try:
            if self._follow_settings():
                self.services.intake.take_in()
        finally:
            self.services.intake.leave_rest()

    def _safely(self, *steps: Callable[[], float | None]) -> float:
        return self._run_safely(steps)

    def _run_safely(self, steps: Iterable[Callable[[], float | None]]) -> float:
        """Run each step, whatever becomes of the steps before; return the seconds until the next pass.

        On a full disk, say, nothing can be taken in, but commands can be refused."""
        failed_with, wait_s = "", POLL_S
        for step in steps:
            try:
                due_s = step()
                wait_s = wait_s if due_s is None else min(wait_s, due_s)
            except Exception as error:  # the job loop outlives any failure; the events are still in spool or inbox
                log.exception("pass failed")
                failed_with = failed_with or type(error).__name__
        failure = f"the last look at the inbox failed with {failed_with}; see worker.log" if failed_with else ""
        self.services.passes.failure = failure
        # After a failure the usual pause: on a full disk the loop would try, and log, without end.
        return POLL_S if failed_with else wait_s

    def _run_step(self, step: "BackgroundStep") -> float | None:
        return None if self.services.shutdown.stopping.is_set() else step.run()

    def _pass(self) -> float | None:
        """Take events in and process all that is ready; answers to commands and callers come first. Return the seconds
        until the next pass, if it is due soon."""
        services = self.services
        request = services.passes.take_request()
        if not services.models.has_begun:
            if returned := self._queue.release_all():
                log.info("events returned to the inbox", extra={"events": returned})
            services.models.begin()
        services.writes.run_pending()
        if is_taken_in := self._follow_settings():
            services.intake.take_in()
            # An incomplete event may be the end of an open turn.
            changed = self._process_ready(flush=request.flush and not services.intake.is_incomplete)
            self._let_answers_out(request)
            self._render(changed, flush=request.flush)
            self._maintain()
        services.writes.run_pending()
        self._checkpoints.make_due()
        if is_taken_in and services.intake.is_incomplete:  # callers wait for the pass that leaves nothing ready
            services.passes.put_back(request)
            return _INCOMPLETE_POLL_S
        if services.shutdown.has_files():  # else the end of the loop answers the callers
            services.passes.note_done(request)
        return None

    def _follow_settings(self) -> bool:
        """Read the settings; return False while they are invalid, because nothing may be taken in then."""
        if not self.services.settings.reload():
            return False
        self.services.intake.follow_settings()
        if self.services.arms.follow_settings(self._memory_db, self.services.clock()):
            self.services.renderer.note_command()
        self.services.models.configure(self.services.settings.config)
        return True

    def _let_answers_out(self, request: PassRequest) -> None:
        """Answer the starts of sessions that wait for stored turns.

        The first answer of a worker is waited for, because half of its time would go to this thread; not if it waits
        for another pass itself."""
        activity, writes = self.services.activity, self.services.writes
        self.services.passes.note_stored(request)
        if activity.has_answered:
            return
        deadline = Deadline.after(self.services.limits.first_answer_s)
        while activity.is_answering() and not writes.is_woken() and not deadline.is_past():
            writes.wait(_ANSWER_POLL_S)

    def _process_ready(self, *, flush: bool) -> set[str]:
        """Process all units that are ready, a few at a time; return the projects whose context changed."""
        services = self.services
        changed: set[str] = set()
        while not services.shutdown.stopping.is_set():
            units = self._queue.claim(services.clock().timestamp(), flush=flush)
            if not units:
                break
            size = sum(len(row.payload) for unit in units for row in unit)
            while units and services.shutdown.has_files():
                changed |= self._process(units.pop(0))
            if size > _LARGE_WORK:
                from claude_mem_lite.worker import background  # late, like the steps: see `worker/loading.py`

                background.give_back_memory()
        return changed if services.shutdown.stopping.is_set() else changed | self._jobs.keep_facts()

    def _render(self, changed: set[str], *, flush: bool) -> None:
        if not self.services.shutdown.stopping.is_set():
            self.services.renderer.render_after_pass(changed, flush=flush)

    def _process(self, unit: list[Row]) -> set[str]:
        self._queue.begin([row.id for row in unit], self.services.clock().timestamp())
        changed = self._jobs.run(unit)
        self.services.writes.run_pending()
        self._checkpoints.make_due()
        return changed

    def _maintain(self) -> None:
        from claude_mem_lite.worker import background

        if time.monotonic() - self._tidied_at > self.services.limits.tidy_every_s or not self._tidied_at:
            self._tidied_at = time.monotonic()
            services = self.services
            background.tidy(self._queue, self._memory_db, services.clock(), services.backups.backed_up)
            services.models.tidy()
