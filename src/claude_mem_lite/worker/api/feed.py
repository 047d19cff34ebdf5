"""API of the page: change counters, the feed of memories, and the history of one memory. Writes nothing."""

import base64
import binascii
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from typing import Annotated

from pydantic import AwareDatetime, Field

from claude_mem_lite.db import change_counter
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import Kind, Memory, Origin, Status
from claude_mem_lite.responses.feed import ChangeCounts, FeedMemory, FeedResponse, FolderProject, MemoryHistory
from claude_mem_lite.store import feed, memories, statistics, timeline
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.timestamps import text_to_time
from claude_mem_lite.worker.api import staleness
from claude_mem_lite.worker.api.records import in_order
from claude_mem_lite.worker.api.routing import Router, Running, Watched
from claude_mem_lite.worker.commands import memory_named
from claude_mem_lite.worker.services import Services

_MAX_GIVEN = 50
_MAX_SEEN_IN = 20
PageSize = Annotated[int, Field(ge=1, le=200)]
router = Router(prefix="/api")


@router.get("/changes")
def changes(services: Watched) -> ChangeCounts:
    """Return counters that move with every change, cheap enough for a request a second."""
    with closing(services.readers.open()) as db:
        done = change_counter.progress_of(db).done
    with closing(services.inbox_readers.open()) as db:
        return ChangeCounts(done, inbox.stats(db))


@router.get("/place")
def place(services: Running, cwd: str) -> FolderProject:
    """Return the project that a folder belongs to, and whether it has active memories."""
    with closing(services.readers.open()) as db:
        project = lookup.locate(db, cwd).project
        return FolderProject(project, statistics.has_memories(db, project))


@router.get("/feed")
def feed_page(
    services: Running,
    project: str = "",
    kind: tuple[Kind, ...] = (),
    origin: tuple[Origin, ...] = (),
    status: tuple[Status, ...] = (),
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    before: str = "",
    limit: PageSize = 50,
) -> FeedResponse:
    """Return memories, newest first, with their turns and sessions; `next` is the `before` of the next page."""
    since, until = in_order(since, until)
    wanted = feed.FeedFilter(project, kind, origin, status or ("active",), since, until)
    with closing(services.readers.open()) as db:
        entries, following = feed.page(db, wanted, _read_cursor(before) if before else None, limit)
        turns = feed.turns_of(db, [entry.id for entry in entries])
        sessions = feed.sessions_named(db, list({entry.session for entry in entries}))
        verdicts = _verdicts(services, db, entries)
    return FeedResponse(
        memories=tuple(
            replace(
                entry,
                turn=turns[entry.id].id if entry.id in turns else None,
                verdict=verdicts.get(entry.id, ""),
            )
            for entry in entries
        ),
        turns={turn.id: turn for turn in turns.values()},
        sessions=sessions,
        next=_written(following) if following else None,
    )


@router.get("/memories/{id_}/story")
def memory_story(services: Running, id_: str) -> MemoryHistory:
    """Return the history of a memory."""
    with closing(services.readers.open()) as db:
        memory = memory_named(db, id_)
        counts = timeline.injection_counts(db, memory.id)
        return MemoryHistory(
            id=memory.id,
            project=timeline.own_project(db, memory.project),
            given=tuple(timeline.injections(db, memory.id, _MAX_GIVEN)),
            given_total=counts.total,
            used=counts.used,
            ignored=counts.ignored,
            unknown=counts.unknown,
            held_because=quarantine.reason_of(memory) if memory.status == "quarantined" else "",
            session=timeline.own_session(db, memory.session),
            turn=feed.turns_of(db, [memory.id]).get(memory.id),
            seen_in=tuple(timeline.seen_in(db, memory.id, _MAX_SEEN_IN)),
        )


def _verdicts(services: Services, db: sqlite3.Connection, entries: Sequence[FeedMemory]) -> dict[str, str]:
    """Return the staleness of active memories by id, each judged in the folder of its own project, within one limit of
    time for all projects."""
    by_project: dict[str, list[Memory]] = {}
    for memory in memories.by_ids(db, [one.id for one in entries if one.status == "active"]):
        by_project.setdefault(memory.project, []).append(memory)
    cpu_budget = staleness.answer_time(services)
    found: dict[str, str] = {}
    for project, own in by_project.items():
        if cpu_budget.is_over():
            break
        root = timeline.own_project(db, project).root
        states = staleness.states(services, db, root, own, cpu_budget)
        found |= {id_: state.freshness.verdict for id_, state in states.items() if state.freshness}
    return found


def _written(cursor: feed.FeedCursor) -> str:
    """Return a cursor as text that needs no quoting."""
    return base64.urlsafe_b64encode(json.dumps(cursor).encode()).decode().rstrip("=")


def _read_cursor(given: str) -> feed.FeedCursor:
    try:
        at, seq = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        text_to_time(at)
    except (ValueError, TypeError, RecursionError, binascii.Error):
        at = seq = None
    if not isinstance(seq, int) or not 0 <= seq < 2**63:
        raise MemoryLiteError("the cursor of the feed is invalid", "give the `next` of a page as `before`")
    return feed.FeedCursor(at, seq)
