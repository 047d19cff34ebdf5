"""The API that reads what is remembered: search, lists, single records and what surrounds them. Writes nothing."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from claude_mem_lite.context.layers.session_codes import codes
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import Filters, Hit, Kind, Memory, Passage, Session, Status
from claude_mem_lite.scopes import written_scope
from claude_mem_lite.search.snippets import excerpt, rank_sessions
from claude_mem_lite.store import memory_history, retirements, sessions, timeline
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.text import query_words, within
from claude_mem_lite.worker.api.memory_json import related, shown
from claude_mem_lite.worker.api.routing import From, Router
from claude_mem_lite.worker.api.staleness import UNKNOWN, State, states
from claude_mem_lite.worker.api.status import Limit, Meant, Running, folder_of
from claude_mem_lite.worker.commands import memory_named

_MAX_SUMMARY_LENGTH = 500
_MAX_NAMED = 10
_HITS_FOR_SESSIONS = 200
router = Router(prefix="/api")

Few = Annotated[int, Field(ge=1, le=1_000)]
Near = Annotated[int, Field(ge=0, le=500)]
Skipped = Annotated[int, Field(ge=0, lt=2**31)]


def _filters(
    loop: Running,
    meant: Meant,
    kind: tuple[Kind, ...] = (),
    scope: str = "",
    file: str = "",
    branch: str = "",
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    status: tuple[Status, ...] = (),
) -> Filters:
    since, until = in_order(since, until)
    if written_scope(scope) == "project" and meant is None:
        raise MemoryLiteError("over all projects, `project` is no scope", "name the one that is meant: project:ID")
    if scope:
        with closing(loop.readers.open()) as db:
            scope = named_scope(db, scope, meant or "")
        meant = None  # a scope says it all, and may be that of another project
    return Filters(
        project=meant,
        kinds=kind,
        scope=scope or None,
        file=file.strip() or None,
        branch=branch or None,
        since=since,
        until=until,
        statuses=status or ("active",),
    )


Wanted = Annotated[Filters, From(_filters)]


@router.get("/search")
def search(
    loop: Running, query: str, wanted: Wanted, cwd: str = "", project: str = "", limit: Few = 10
) -> dict[str, object]:
    cwd = folder_of(loop, cwd, project)
    with closing(loop.readers.open()) as db:
        hits = loop.search.search(db, query, wanted, loop.clock(), limit)
        found = [hit.found for hit in hits if isinstance(hit.found, Memory)]
        told = states(loop, db, cwd, found)
        retired = retirements.of(db, [memory.id for memory in found])
    words, because = query_words(query), {id_: one.reason for id_, one in retired.items()}
    return {"hits": [_hit(hit, words, told.get(hit.found.id, UNKNOWN), because.get(hit.found.id, "")) for hit in hits]}


@router.get("/memories")
def memory_list(
    loop: Running, wanted: Wanted, cwd: str = "", project: str = "", limit: Limit = 50
) -> dict[str, object]:
    cwd = folder_of(loop, cwd, project)
    with closing(loop.readers.open()) as db:
        found = listed(db, wanted, limit)
        told = states(loop, db, cwd, found)
        relations = related(db, found)
    return {"memories": [{**asdict(memory), **told[memory.id].shown(), **relations[memory.id]} for memory in found]}


@router.get("/memories/{id_}")
def memory_get(loop: Running, id_: str) -> dict[str, object]:
    with closing(loop.readers.open()) as db:
        return shown(db, memory_named(db, id_))


@router.get("/records/{id_:path}")
def record_get(loop: Running, id_: str, cwd: str | None = None) -> dict[str, object]:
    """A memory, a turn with all that was asked and answered, or a session with its summary, by its own id too.

    Of a memory also how it stands with its code, when it is of the project of the folder that is asked from; when none
    is named, as seen from where its own project was last worked on."""
    with closing(loop.readers.open()) as db:
        found = _named(db, id_)
        if isinstance(found, str):
            raise NotFound(
                f"nothing but memories is known of session {found}", f"`claude-mem-lite timeline {found}` lists them"
            )
        if isinstance(found, Memory):
            folder = memory_history.own_project(db, found.project).root if cwd is None else cwd
            return {**shown(db, found), **states(loop, db, folder, [found])[found.id].shown()}
        if isinstance(found, Passage) and found.kind == "turn":
            return asdict(found)
        session = found if isinstance(found, Session) else sessions.get(db, found.session)
        return {**_session(session), "kind": "session", "session": session.id}


@router.get("/timeline")
def timeline_get(
    loop: Running, id: str, before: Near = 5, after: Near = 5, skip: Skipped = 0, limit: Few = timeline.MAX_AT_ONCE
) -> dict[str, object]:
    """What surrounds a memory or a turn in its project; of a session, what is in it: so many, after the first few."""
    with closing(loop.readers.open()) as db:
        center = _named(db, id)
        if isinstance(center, str | Session) or center.kind == "session":
            session = center if isinstance(center, str) else center.id
            items = timeline.of_session(db, session, skip, limit)
        else:
            session = center.session
            items = timeline.around(db, center, before, after)
        at = "" if isinstance(center, str) else center.id
        named = dict.fromkeys([item.session for item in items] + [session])
        known = [found for name in named if name and (found := sessions.find(db, name))]
    return {
        "items": [{**_brief(item), "is_center": item.id == at} for item in items],
        "session": session,
        "sessions": [{"id": one.id, "headline": one.summary.title()} for one in known],
    }


@router.get("/sessions")
def session_list(loop: Running, meant: Meant, query: str = "", limit: Limit = 20) -> dict[str, object]:
    """The last sessions, newest first; with a query those that are about it, best first."""
    with closing(loop.readers.open()) as db:
        if not query.strip():
            return {"sessions": [_session(one) for one in sessions.newest(db, project=meant, limit=limit)]}
        hits = loop.search.search(db, query, Filters(project=meant), loop.clock(), _HITS_FOR_SESSIONS)
        found = [(sessions.find(db, id_), score) for id_, score in rank_sessions(hits)]
    # What holds everywhere is found here too, but the session it was made in may be another project's.
    here = [(one, score) for one, score in found if one and meant in (None, one.project)]
    return {"sessions": [{**_session(one), "score": round(score, 4)} for one, score in here[:limit]]}


def _named(db: sqlite3.Connection, given: str) -> Memory | Passage | Session | str:
    """Return what an id or the beginning of one names; of a session that only memories tell of, its id."""
    try:
        return timeline.find(db, given)
    except NotFound as error:
        try:
            return sessions.named(db, given)
        except NotFound:
            raise error from None


def _hit(hit: Hit, words: Sequence[str], state: State, retired_because: str) -> dict[str, object]:
    found = hit.found
    told = {
        **_brief(found),
        "project": found.project,
        "score": hit.score,
        "certain": hit.is_certain,
        "alike": hit.alike,
    }
    if isinstance(found, Passage):
        told["summary"] = excerpt(found.text, words, _MAX_SUMMARY_LENGTH)
    else:
        told |= {"status": found.status, "pinned": found.pinned, **state.shown(), "retired_because": retired_because}
    retired = [f"retired, because {retired_because}"] if retired_because else []
    alike = [f"and {len(hit.alike)} alike: {', '.join(hit.alike[:_MAX_NAMED])}"] if hit.alike else []
    return {**told, "why": [*hit.why, *state.why(), *retired, *alike]}


def _brief(found: Memory | Passage) -> dict[str, object]:
    whose: dict[str, object] = {"origin": ""}
    if isinstance(found, Memory):
        whose = {"origin": found.origin, "made_by": found.made_by, "trust": found.trust}
    return {
        "id": found.id,
        "kind": found.kind,
        **whose,
        "title": found.title,
        "summary": found.summary if isinstance(found, Memory) else within(found.text, _MAX_SUMMARY_LENGTH),
        "session": found.session,
        "created_at": found.created_at.isoformat(),
    }


def _session(session: Session) -> dict[str, object]:
    return {**asdict(session), "title": session.summary.title(), "codes": codes(session.summary)}


def in_order(since: datetime | None, until: datetime | None) -> tuple[datetime | None, datetime | None]:
    """Both in UTC; refused when the first is the later one."""
    since, until = _utc(since), _utc(until)
    if since and until and since > until:
        raise MemoryLiteError("since is later than until", "give the earlier time as since")
    return since, until


def _utc(moment: datetime | None) -> datetime | None:
    try:
        return moment.astimezone(UTC) if moment else None
    except OverflowError:
        raise MemoryLiteError("no such time exists in UTC", "give a later one") from None
