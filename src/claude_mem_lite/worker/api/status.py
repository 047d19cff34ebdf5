"""API of the worker's state and queue: health, counts, failed events, drain, summaries, stop."""

import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from typing import Annotated

from pydantic import Field, FiniteFloat

from claude_mem_lite import __version__
from claude_mem_lite.db import recovery_log
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import ConfigError, NotFound, WorkerEnded
from claude_mem_lite.inbox import model_queue, spool
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.status import (
    Drained,
    FailedEvent,
    FailedEvents,
    Health,
    QueueCounts,
    Retried,
    Stopping,
    SummarizedSession,
)
from claude_mem_lite.store import lesson_candidates, memories, model_calls, rebuilds, receipts, sessions, statistics
from claude_mem_lite.worker.api.routing import SETTINGS_READ_S, Body, Limit, RoutedRequest, Router, Running, wait
from claude_mem_lite.worker.models import spend_caps
from claude_mem_lite.worker.services import Services

router = Router(prefix="/api")


class Retry(Body):
    id: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Summarize(Body):
    session: str


class Drain(Body):
    timeout_s: Annotated[FiniteFloat, Field(ge=0, le=86_400)] = 60.0


@router.get("/health")
def health(services: Running) -> Health:
    """Return the state of the worker."""
    if services.shutdown.stopping.is_set():  # the caller has to wait for the next worker
        raise WorkerEnded("the worker is ending", "run this again in a moment")
    now, problem = services.clock(), _problem(services)
    model, backups, recovered = services.models.state(), services.backups, recovery_log.latest(services.home, now)
    with closing(services.inbox_readers.open()) as db:
        waiting = _left_to_do(db)
        turns = model_queue.counts(db)
    with closing(services.readers.open()) as db:
        injected = receipts.last_injected_at(db)
        spend = model_calls.spent(db, since=spend_caps.start_of_day(now), under_way=False)
        by_status = statistics.memories_by_status(db)
        return Health(
            status="degraded" if problem else "ok",
            problem=problem,
            settings_problem=services.settings.problem,
            version=__version__,
            pid=os.getpid(),
            uptime_s=round((now - services.started_at).total_seconds(), 1),
            queue_depth=waiting + len(spool.waiting(services.home)),
            observations_today=memories.count(db, now.replace(hour=0, minute=0, second=0, microsecond=0)),
            memories=sum(by_status.values()),
            active=by_status.get("active", 0),
            quarantined=by_status.get("quarantined", 0),
            sessions=sessions.count(db),
            unsure_lessons=lesson_candidates.count(db, None, lesson_candidates.OPEN),
            experiment=services.settings.config.experiment,
            ask_agent=services.settings.config.ask_agent,
            stale_turns=rebuilds.count(db),
            unindexed=services.indexing.waiting(db),
            index_problem=services.indexing.problem,
            model=model.name,
            model_problem=model.problem,
            model_next_step=model.next_step,
            model_failed=turns["failed"],
            model_waiting=turns["wanted"] + turns["asking"],
            calls_today=spend.calls,
            spend_today=round(spend.cost_usd, 6),
            tokens_today=spend.tokens,
            daily_usd=services.settings.config.daily_usd,
            daily_tokens=services.settings.config.daily_tokens,
            last_context_at=injected.isoformat() if injected else None,
            backups=backups.kept,
            last_backup_at=backups.newest.made_at.isoformat() if backups.newest else None,
            backup_problem=backups.problem,
            recovered_at=recovered.at if recovered else None,
            recovered=recovery_log.sentence(recovered) if recovered else "",
        )


@router.get("/queue/stats")
def queue_stats(services: Running) -> QueueCounts:
    """Return the number of events by status."""
    with closing(services.inbox_readers.open()) as db:
        return QueueCounts(**inbox.stats(db), spooled=len(spool.waiting(services.home)))


@router.get("/queue")
def queue_list(services: Running, status: str = "error", limit: Limit = 50) -> FailedEvents:
    """Return events of a status, newest first, with the reasons; failed turns for the model belong to `error`."""
    with closing(services.inbox_readers.open()) as db:
        found = inbox.problems(db, status, limit)
        if status == "error":
            found += model_queue.problems(db, limit)
    return FailedEvents(
        tuple(
            response_from(FailedEvent, event, received_at=datetime.fromtimestamp(event.received_at, UTC).isoformat())
            for event in found
        )
    )


@router.post("/queue/retry")
def queue_retry(wanted: Retry, services: Running) -> Retried:
    """Queue failed events again, and turns for which the model failed."""
    events = wait(services.writes.execute_queue_write(lambda queue: queue.retry(wanted.id)))
    turns = wait(services.writes.execute_queue_write(lambda _: services.models.retry(wanted.id)))
    if wanted.id is not None and not events + turns:
        raise NotFound(f"event {wanted.id} is not in error", "`claude-mem-lite queue --errors` lists them")
    return Retried(events, turns)


@router.post("/drain")
def drain(wanted: Drain, services: Running) -> Drained:
    """Wait until nothing is left to do, open turns and the index included, or the time is over."""
    _refuse_without_settings(services)
    deadline = Deadline.after(max(wanted.timeout_s, services.limits.drain_poll_s))
    drained = False
    while not drained and not services.shutdown.stopping.is_set() and (left := deadline.left_s()) > 0:
        # A pass that failed settles nothing, and with a broken configuration events still wait in the spool.
        settled = services.passes.wait_until_idle(left, flush=True) and not services.settings.problem
        with closing(services.inbox_readers.open()) as db:
            drained = settled and _left_to_do(db) == 0
        if drained:
            with closing(services.readers.open()) as db:
                drained = services.indexing.waiting(db) == 0 and not services.scanner.is_busy()
        if not drained:
            # What is left waits to be tried again.
            services.shutdown.stopping.wait(min(services.limits.drain_poll_s, left))
    if not drained and services.shutdown.stopping.is_set():
        raise WorkerEnded("the worker ends before all is done", "run this again in a moment")
    return response_from(Drained, queue_stats(services), drained=drained)


@router.post("/summarize")
def summarize(wanted: Summarize, services: Running) -> SummarizedSession:
    """Return the summary of a session: by the model if one may be asked, else by rules."""
    _refuse_without_settings(services)
    made = wait(wait(services.writes.execute_write(lambda _: services.models.summarize(wanted.session))))
    tokens = made.usage.tokens_in + made.usage.tokens_out
    return SummarizedSession(made.summary, tokens, made.usage.cost_usd, made.made_by, made.reason)


@router.post("/stop")
def stop(call: RoutedRequest) -> Stopping:
    """End the worker once the requests under way are answered."""
    call.stop()
    return Stopping()


def _left_to_do(db: sqlite3.Connection) -> int:
    """Return the number of events that wait or are worked on, and of turns that wait for the model."""
    events, turns = inbox.stats(db), model_queue.counts(db)
    return events["raw"] + events["processing"] + turns["wanted"] + turns["asking"]


def _refuse_without_settings(services: Services) -> None:
    if _problem(services) and services.settings.problem:
        raise ConfigError(services.settings.problem, "until that is fixed, events wait")


def _problem(services: Services) -> str:
    """Return why the worker processes nothing, '' if it does; checked anew, because the user may just have repaired
    the cause."""
    if services.settings.problem or services.passes.failure or not services.settings.is_current():
        services.passes.wait_until_idle(SETTINGS_READ_S)
    return services.settings.problem or services.passes.failure
