"""The API of the page: whether there is anything new, the feed of memories, and what became of each. Writes nothing."""

import base64
import binascii
import json
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Annotated

from pydantic import AwareDatetime, Field

from claude_mem_lite.db import change_counter
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import queue as inbox
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import Kind, Memory, Origin, Status
from claude_mem_lite.store import feed, memories, memory_history, statistics
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.timestamps import text_to_time
from claude_mem_lite.worker.api import staleness
from claude_mem_lite.worker.api.records import in_order
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running, Watched
from claude_mem_lite.worker.commands import memory_named
from claude_mem_lite.worker.loop import Loop

_MAX_GIVEN = 50
_MAX_SEEN_IN = 20
PageSize = Annotated[int, Field(ge=1, le=200)]
router = Router(prefix="/api")


@router.get("/changes")
def changes(loop: Watched) -> dict[str, object]:
    """Counts that move with every change, cheap enough to be asked for once a second."""
    with closing(loop.readers.open()) as db:
        done = change_counter.progress_of(db).done
    with closing(loop.inbox_readers.open()) as db:
        return {"memory": done, "inbox": inbox.stats(db)}


@router.get("/place")
def place(loop: Running, cwd: str) -> dict[str, object]:
    """Return the project that a folder belongs to, and whether it has active memories."""
    with closing(loop.readers.open()) as db:
        project = lookup.locate(db, cwd).project
        return {"project": project, "has_memories": statistics.has_memories(db, project)}


@router.get("/feed")
def feed_page(
    loop: Running,
    project: str = "",
    kind: tuple[Kind, ...] = (),
    origin: tuple[Origin, ...] = (),
    status: tuple[Status, ...] = (),
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    before: str = "",
    limit: PageSize = 50,
) -> dict[str, object]:
    """Memories, newest first, with the turns and sessions they are of; the next page is the one before `next`.

    `verdict` says how the code stands that a memory tells of: fresh, changed, gone, or '' where nobody knows."""
    since, until = in_order(since, until)
    wanted = feed.FeedFilter(project, kind, origin, status or ("active",), since, until)
    with closing(loop.readers.open()) as db:
        entries, following = feed.page(db, wanted, _spot(before) if before else None, limit)
        turns = feed.turns_of(db, [one.id for one in entries])
        sessions = feed.sessions_named(db, list({one.session for one in entries}))
        verdicts = _verdicts(loop, db, entries)
    return {
        "memories": [
            {
                **asdict(one),
                "turn": turns[one.id].id if one.id in turns else None,
                "verdict": verdicts.get(one.id, ""),
            }
            for one in entries
        ],
        "turns": {one.id: asdict(one) for one in turns.values()},
        "sessions": {one.id: asdict(one) for one in sessions.values()},
        "next": _written(following) if following else None,
    }


@router.get("/memories/{id_}/story")
def memory_story(loop: Running, id_: str) -> dict[str, object]:
    """What became of a memory, beyond what is told with it: where it was given and of use, why it is held back, and
    the project, session and turn it is of."""
    with closing(loop.readers.open()) as db:
        memory = memory_named(db, id_)
        counts = memory_history.injection_counts(db, memory.id)
        turn = feed.turns_of(db, [memory.id]).get(memory.id)
        session = memory_history.own_session(db, memory.session)
        return {
            "id": memory.id,
            "project": asdict(memory_history.own_project(db, memory.project)),
            "given": [asdict(one) for one in memory_history.injections(db, memory.id, _MAX_GIVEN)],
            "given_total": counts.total,
            "used": counts.used,
            "ignored": counts.ignored,
            "unknown": counts.unknown,
            "held_because": quarantine.reason_of(memory) if memory.status == "quarantined" else "",
            "session": asdict(session) if session else None,
            "turn": asdict(turn) if turn else None,
            "seen_in": [asdict(one) for one in memory_history.seen_in(db, memory.id, _MAX_SEEN_IN)],
        }


def _verdicts(loop: Loop, db: sqlite3.Connection, entries: Sequence[feed.FeedEntry]) -> dict[str, str]:
    """Return the staleness of active memories by id, each judged in the folder of its own project, within one limit of
    time for all projects."""
    by_project: dict[str, list[Memory]] = {}
    for memory in memories.by_ids(db, [one.id for one in entries if one.status == "active"]):
        by_project.setdefault(memory.project, []).append(memory)
    look_time = staleness.answer_time()
    found: dict[str, str] = {}
    for project, own in by_project.items():
        if look_time.is_over():
            break
        root = memory_history.own_project(db, project).root
        states = staleness.states(loop, db, root, own, look_time)
        found |= {id_: state.freshness.verdict for id_, state in states.items() if state.freshness}
    return found


def _written(spot: feed.FeedCursor) -> str:
    """A place in the feed as text that needs no quoting."""
    return base64.urlsafe_b64encode(json.dumps(spot).encode()).decode().rstrip("=")


def _spot(given: str) -> feed.FeedCursor:
    try:
        at, seq = json.loads(base64.urlsafe_b64decode(given + "=" * (-len(given) % 4)))
        text_to_time(at)
    except (ValueError, TypeError, RecursionError, binascii.Error):
        at = seq = None
    if not isinstance(seq, int) or not 0 <= seq < 2**63:
        raise MemoryLiteError("there is no such place in the feed", "give the `next` of a page as `before`")
    return feed.FeedCursor(at, seq)
