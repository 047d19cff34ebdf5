"""The API for the command line and other edges. Reads with its own connections, writes through the job loop."""

import os
import sqlite3
import time
from concurrent.futures import Future
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, TypeVar

from pydantic import Field, FiniteFloat
from starlette.requests import Request

from claude_mem_lite import __version__
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.config import is_excluded
from claude_mem_lite.db import recovery_log
from claude_mem_lite.errors import ConfigError, InvalidRequest, MemoryLiteError, NotFound, WorkerEnded
from claude_mem_lite.inbox import model_queue, spool
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import MAX_FILES, MAX_TEXT_LENGTH, JsonObject, Kind, Place
from claude_mem_lite.safety.clean_import import has_private, is_all_private
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import lesson_candidates, memories, model_calls, rebuilds, receipts, sessions, statistics
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers.routes import running
from claude_mem_lite.worker.api.memory_json import shown
from claude_mem_lite.worker.api.routing import Body, From, Router
from claude_mem_lite.worker.commands import scope_wanted
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.models import limits

_WRITE_TIMEOUT_S = 60.0
_RETRY_LOOK_S = 0.2
_CONFIG_LOOK_S = 1.0
Result = TypeVar("Result")
router = Router(prefix="/api")


def _watched(request: Request) -> Loop:
    loop = request.app.state.loop
    assert isinstance(loop, Loop)
    loop.activity.note_watching()
    return loop


Running = Annotated[Loop, From(running)]
Watched = Annotated[Loop, From(_watched)]
"""For who asks again and again whether there is anything new."""
Limit = Annotated[int, Field(ge=1, le=10_000)]
Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=20)]
Files = Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(max_length=MAX_FILES)]


class Remember(Body):
    kind: Kind | None = None
    """Guessed when it is not given."""
    text: str
    scope: str | None = None
    tags: Tags = Field(default_factory=list)
    files: Files = Field(default_factory=list)
    """Files that it is about, as seen from the root of the project."""
    cwd: str | None = None
    """Where the user stands."""
    project: str | None = None
    """The project that is meant, by its id or name, in place of the one where the user stands."""


class Forget(Body):
    ids: list[str] = Field(default_factory=list)
    session: str | None = None
    project: str | None = None


class Retry(Body):
    id: Annotated[int, Field(ge=0, lt=2**63)] | None = None


class Summarize(Body):
    session: str


class Drain(Body):
    timeout_s: Annotated[FiniteFloat, Field(ge=0, le=86_400)] = 60.0


@router.get("/health")
def health(loop: Running) -> dict[str, object]:
    if loop.stopping.is_set():  # whoever looks for a worker is to wait for the next one
        raise WorkerEnded("the worker is ending", "run this again in a moment")
    now, problem = loop.clock(), _problem(loop)
    model = loop.modelling.state()
    with closing(loop.inbox_readers.open()) as db:
        waiting = _left_to_do(db)
        turns = model_queue.counts(db)
    with closing(loop.readers.open()) as db:
        given = receipts.last_injected_at(db)
        spend = model_calls.spent(db, since=limits.start_of_day(now), under_way=False)
        by_status = statistics.memories_by_status(db)
        return {
            "status": "degraded" if problem else "ok",
            "problem": problem,
            "settings_problem": loop.problem,
            "version": __version__,
            "pid": os.getpid(),
            "uptime_s": round((now - loop.started_at).total_seconds(), 1),
            "queue_depth": waiting + len(spool.waiting(loop.home)),
            "observations_today": memories.count(db, now.replace(hour=0, minute=0, second=0, microsecond=0)),
            "memories": sum(by_status.values()),
            "active": by_status.get("active", 0),
            "quarantined": by_status.get("quarantined", 0),
            "sessions": sessions.count(db),
            "unsure_lessons": lesson_candidates.count(db, None, lesson_candidates.OPEN),
            "ask_agent": loop.config.ask_agent,
            "stale_turns": rebuilds.count(db),
            "unindexed": loop.indexing.waiting(db),
            "index_problem": loop.indexing.problem,
            "model": model.name,
            "model_problem": model.problem,
            "model_next_step": model.next_step,
            "model_failed": turns["failed"],
            "model_waiting": turns["wanted"] + turns["asking"],
            "calls_today": spend.calls,
            "spend_today": round(spend.cost_usd, 6),
            "tokens_today": spend.tokens,
            "daily_usd": loop.config.daily_usd,
            "daily_tokens": loop.config.daily_tokens,
            "last_context_at": given.isoformat() if given else None,
            **_backups(loop, now),
        }


def _backups(loop: Loop, now: datetime) -> dict[str, object]:
    newest, recovered = loop.backing_up.newest, recovery_log.latest(loop.home, now)
    return {
        "backups": loop.backing_up.kept,
        "last_backup_at": newest.made_at.isoformat() if newest else None,
        "backup_problem": loop.backing_up.problem,
        "recovered_at": recovered.at if recovered else None,
        "recovered": recovery_log.sentence(recovered) if recovered else "",
    }


@router.get("/queue/stats")
def queue_stats(loop: Running) -> dict[str, int]:
    with closing(loop.inbox_readers.open()) as db:
        return {**inbox.stats(db), "spooled": len(spool.waiting(loop.home))}


@router.get("/queue")
def queue_list(loop: Running, status: str = "error", limit: Limit = 50) -> dict[str, object]:
    with closing(loop.inbox_readers.open()) as db:
        found = inbox.problems(db, status, limit)
        if status == "error":
            found += model_queue.problems(db, limit)
    return {
        "events": [
            {**asdict(one), "received_at": datetime.fromtimestamp(one.received_at, UTC).isoformat()} for one in found
        ]
    }


@router.post("/queue/retry")
def queue_retry(wanted: Retry, loop: Running) -> dict[str, int]:
    """Put events in error back to work, and ask again about turns that a model did not tell."""
    events = wait(loop.call_queue(lambda queue: queue.retry(wanted.id)))
    turns = wait(loop.call_queue(lambda _: loop.modelling.retry(wanted.id)))
    if wanted.id is not None and not events + turns:
        raise NotFound(f"event {wanted.id} is not in error", "`claude-mem-lite queue --errors` lists them")
    return {"events": events, "turns": turns}


@router.post("/drain")
def drain(wanted: Drain, loop: Running) -> dict[str, object]:
    """Work until nothing is left, open turns and the index included, or the time is over."""
    _refuse_without_settings(loop)
    until = time.monotonic() + max(wanted.timeout_s, _RETRY_LOOK_S)
    drained = False
    while not drained and not loop.stopping.is_set() and (left := until - time.monotonic()) > 0:
        # A pass that failed settles nothing, and with a broken configuration events still wait in the spool.
        settled = loop.settle(left, flush=True) and not loop.problem
        with closing(loop.inbox_readers.open()) as db:
            drained = settled and _left_to_do(db) == 0
        if drained:
            with closing(loop.readers.open()) as db:
                drained = loop.indexing.waiting(db) == 0 and not loop.looking.is_busy()
        if not drained:
            # What is left waits to be tried again.
            loop.stopping.wait(min(_RETRY_LOOK_S, left))
    if not drained and loop.stopping.is_set():
        raise WorkerEnded("the worker ends before all is done", "run this again in a moment")
    return {"drained": drained, **queue_stats(loop)}


@router.post("/summarize")
def summarize(wanted: Summarize, loop: Running) -> dict[str, object]:
    """A session's summary: by the model if one may be asked, else as rules left it."""
    _refuse_without_settings(loop)
    told = wait(wait(loop.call(lambda _: loop.modelling.summarize(wanted.session))))
    return {
        "summary": asdict(told.summary),
        "tokens": told.usage.tokens_in + told.usage.tokens_out,
        "cost_usd": told.usage.cost_usd,
        "made_by": told.made_by,
        "reason": told.reason,
    }


@router.post("/stop")
async def stop(request: Request) -> dict[str, bool]:
    request.app.state.stop()
    return {"stopping": True}


@router.post("/memories")
def remember(wanted: Remember, loop: Running) -> dict[str, object]:
    if len(wanted.text) > MAX_TEXT_LENGTH:
        raise MemoryLiteError(f"{len(wanted.text):,} characters are no memory", f"keep it under {MAX_TEXT_LENGTH:,}")
    require_words(wanted.text)
    if wanted.cwd is None and wanted.project is None:
        raise InvalidRequest("Field required", "body", "cwd")
    told = wanted.model_dump(exclude_none=True)
    if wanted.project is not None:
        with closing(loop.readers.open()) as db:
            told["project"] = lookup.find(db, wanted.project)
    excluded = wanted.project is None and _is_excluded(loop, wanted.cwd or "")
    if excluded:
        _refuse_for_excluded(loop, told, wanted)
    (id_,) = wait(loop.command({"command": "remember", **told}))
    with closing(loop.readers.open()) as db:
        memory = memories.get(db, id_)
        return {
            **shown(db, memory),
            "is_guessed": wanted.kind is None,
            "is_repeat": memory.times_seen > 1,
            "is_redacted": redact(wanted.text) != wanted.text,
            "has_private": has_private(wanted.text),
            "is_excluded": excluded,
        }


@router.post("/forget")
def forget(wanted: Forget, loop: Running) -> dict[str, object]:
    return {"forgotten": wait(loop.command({"command": "forget", **wanted.model_dump()}))}


def require_words(given: str) -> None:
    """Refuse a text to remember of which nothing is left without its private passages."""
    if is_all_private(given):
        raise MemoryLiteError("there is no text to remember", "what stands in <private> is never stored")


def _is_excluded(loop: Loop, folder: str) -> bool:
    if not loop.knows_settings():
        loop.settle(_CONFIG_LOOK_S)
    return is_excluded(loop.config, folder)


def _refuse_for_excluded(loop: Loop, told: JsonObject, wanted: Remember) -> None:
    """Refuse what would hold in the project of an excluded folder: it would be given to nobody."""
    with closing(loop.readers.open()) as db:
        here = lookup.locate(db, wanted.cwd or "").project
        scope = named_scope(db, scope_wanted(told, clean(wanted.text), wanted.kind), here)
    if scope == f"project:{here}":
        raise MemoryLiteError(
            "this folder is excluded: nothing of it is kept, and nothing given here",
            "if it holds elsewhere too, say so by --scope universal or --scope language:NAME",
        )


def _left_to_do(db: sqlite3.Connection) -> int:
    """Events that wait or are worked on, and turns the model is being asked about, or soon will be."""
    events, turns = inbox.stats(db), model_queue.counts(db)
    return events["raw"] + events["processing"] + turns["wanted"] + turns["asking"]


def _refuse_without_settings(loop: Loop) -> None:
    if _problem(loop) and loop.problem:
        raise ConfigError(loop.problem, "until that is mended, events wait")


def require_settings(loop: Loop, otherwise: str) -> None:
    """ConfigError while the settings cannot be read, with what that means for who asks; they may have been changed or
    mended just now."""
    if loop.problem or not loop.knows_settings():
        loop.settle(_CONFIG_LOOK_S)
    if loop.problem:
        raise ConfigError(f"the configuration is broken: {loop.problem}", f"until it is mended, {otherwise}")


def _problem(loop: Loop) -> str:
    """Why nothing is taken in; looked at anew, because the user may just have mended it, or changed the settings."""
    if loop.problem or loop.failure or not loop.knows_settings():
        loop.settle(_CONFIG_LOOK_S)
    return loop.problem or loop.failure


def project_of(loop: Running, cwd: str = "", all_projects: bool = False, project: str = "") -> str | None:
    """The project that is asked about, by its id, its name or a folder; None for all of them."""
    if all_projects and not project:
        return None
    with closing(loop.readers.open()) as db:
        return lookup.find(db, project) if project else lookup.locate(db, cwd).project


Meant = Annotated[str | None, From(project_of)]


def place_of(loop: Loop, cwd: str, project: str) -> tuple[str, Place]:
    """The folder that is asked about and its place; a project by its id or name is where it was last worked on."""
    if not project and not cwd:
        raise InvalidRequest("Field required", "query", "cwd")
    with closing(loop.readers.open()) as db:
        if not project:
            return cwd, lookup.locate(db, cwd)
        place = lookup.place_of(db, lookup.find(db, project))
        return place.root or "/", place


def folder_of(loop: Loop, cwd: str, project: str) -> str:
    """The folder from which something is looked at: the one that is given, else where the project was; '' is none."""
    if cwd or not project:
        return cwd
    with closing(loop.readers.open()) as db:
        return lookup.place_of(db, lookup.find(db, project)).root


def wait(future: Future[Result]) -> Result:
    """What the job thread makes of a write, as soon as it is done."""
    try:
        return future.result(_WRITE_TIMEOUT_S)
    except TimeoutError:
        raise MemoryLiteError("the worker is busy", "try again in a moment") from None
