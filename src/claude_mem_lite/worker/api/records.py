"""API that reads memories, turns and sessions: search with excerpts and a ranking of sessions, lists, single records,
timelines. Writes nothing."""

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from pydantic import AwareDatetime, Field

from claude_mem_lite.context.layers.session_codes import codes
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import Kind, Memory, Origin, Passage, Session, Status
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import MemoryList, MemoryRecord, MemoryState
from claude_mem_lite.responses.records import (
    Record,
    SearchHit,
    SearchResponse,
    SessionHeadline,
    SessionList,
    SessionRecord,
    TimelineItem,
    TimelineResponse,
    TurnRecord,
)
from claude_mem_lite.scopes import written_scope
from claude_mem_lite.search_values import Filters, Hit
from claude_mem_lite.store import retirements, sessions, timeline
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.text import matched_words, one_line, query_words, within
from claude_mem_lite.worker.api.memories import related, shown
from claude_mem_lite.worker.api.request_project import RequestProject
from claude_mem_lite.worker.api.routing import From, Limit, Router, Running
from claude_mem_lite.worker.api.staleness import UNKNOWN, reasons, states
from claude_mem_lite.worker.commands import memory_named

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_MARKUP = re.compile(r"[*`#>|]+")
_MAX_SCANNED = 20_000
_MAX_SUMMARY_LENGTH = 500
_MAX_NAMED = 10
_HITS_FOR_SESSIONS = 200
router = Router(prefix="/api")

Few = Annotated[int, Field(ge=1, le=1_000)]
Near = Annotated[int, Field(ge=0, le=500)]
Skipped = Annotated[int, Field(ge=0, lt=2**31)]


def _filters(
    services: Running,
    project: RequestProject,
    kind: tuple[Kind, ...] = (),
    scope: str = "",
    file: str = "",
    branch: str = "",
    since: AwareDatetime | None = None,
    until: AwareDatetime | None = None,
    status: tuple[Status, ...] = (),
    origin: tuple[Origin, ...] = (),
) -> Filters:
    since, until = in_order(since, until)
    if written_scope(scope) == "project" and project.id is None:
        raise MemoryLiteError("over all projects, `project` is no scope", "name the one that is meant: project:ID")
    if scope:
        with closing(services.readers.open()) as db:
            scope = named_scope(db, scope, project.id or "")
    return Filters(
        project=None if scope else project.id,  # a scope may be that of another project
        kinds=kind,
        scope=scope or None,
        file=file.strip() or None,
        branch=branch or None,
        since=since,
        until=until,
        statuses=status or ("active",),
        origins=origin,
    )


Wanted = Annotated[Filters, From(_filters)]


@router.get("/search")
def search(services: Running, query: str, wanted: Wanted, project: RequestProject, limit: Few = 10) -> SearchResponse:
    with closing(services.readers.open()) as db:
        hits = services.search.search(db, query, wanted, services.clock(), limit)
        found = [hit.found for hit in hits if isinstance(hit.found, Memory)]
        state_of = states(services, db, project.folder, found)
        retired = retirements.of(db, [memory.id for memory in found])
    words, because = query_words(query), {id_: retirement.reason for id_, retirement in retired.items()}
    return SearchResponse(
        tuple(_hit(hit, words, state_of.get(hit.found.id, UNKNOWN), because.get(hit.found.id, "")) for hit in hits)
    )


@router.get("/memories")
def memory_list(services: Running, wanted: Wanted, project: RequestProject, limit: Limit = 50) -> MemoryList:
    with closing(services.readers.open()) as db:
        found = listed(db, wanted, limit)
        state_of = states(services, db, project.folder, found)
        relations = related(db, found)
    return MemoryList(
        tuple(response_from(MemoryRecord, memory, state_of[memory.id], relations[memory.id]) for memory in found)
    )


@router.get("/memories/{id_}")
def memory_get(services: Running, id_: str) -> MemoryRecord:
    with closing(services.readers.open()) as db:
        return shown(db, memory_named(db, id_))


@router.get("/records/{id_}")
def record_get(services: Running, id_: str, cwd: str | None = None) -> Record:
    """Return a memory, a turn or a session by its id or the beginning of the id.

    A memory of the project of `cwd` comes with its state there. Without `cwd`, the state is that in the folder where
    the memory's own project was last worked on."""
    with closing(services.readers.open()) as db:
        found = _named(db, id_)
        if isinstance(found, str):
            raise NotFound(
                f"nothing but memories is known of session {found}", f"`claude-mem-lite timeline {found}` lists them"
            )
        if isinstance(found, Memory):
            folder = timeline.own_project(db, found.project).root if cwd is None else cwd
            state = states(services, db, folder, [found])[found.id]
            return replace(shown(db, found), freshness=state.freshness, elsewhere=state.elsewhere)
        if isinstance(found, Passage) and found.kind == "turn":
            return response_from(TurnRecord, found)
        session = found if isinstance(found, Session) else sessions.get(db, found.session)
        return replace(_session(session), kind="session", session=session.id)


@router.get("/timeline")
def timeline_get(
    services: Running, id: str, before: Near = 5, after: Near = 5, skip: Skipped = 0, limit: Few = timeline.MAX_AT_ONCE
) -> TimelineResponse:
    """Return the neighbours of a memory or a turn in its project; of a session, its items after the skipped ones."""
    with closing(services.readers.open()) as db:
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
    return TimelineResponse(
        items=tuple(_timeline_item(item, is_center=item.id == at) for item in items),
        session=session,
        sessions=tuple(SessionHeadline(each.id, each.summary.title()) for each in known),
    )


@router.get("/sessions")
def session_list(services: Running, project: RequestProject, query: str = "", limit: Limit = 20) -> SessionList:
    """Return the last sessions, newest first; with a query the sessions about it, best first."""
    with closing(services.readers.open()) as db:
        if not query.strip():
            return SessionList(tuple(_session(each) for each in sessions.newest(db, project=project.id, limit=limit)))
        hits = services.search.search(db, query, Filters(project=project.id), services.clock(), _HITS_FOR_SESSIONS)
        found = [(sessions.find(db, id_), score) for id_, score in rank_sessions(hits)]
    # Memories that hold everywhere are hits too, but their sessions may belong to another project.
    here = [(session, score) for session, score in found if session and project.id in (None, session.project)]
    return SessionList(tuple(replace(_session(session), score=round(score, 4)) for session, score in here[:limit]))


def _named(db: sqlite3.Connection, given: str) -> Memory | Passage | Session | str:
    """Return the record of an id or the beginning of an id; the id of a session that only memories mention."""
    try:
        return timeline.find(db, given)
    except NotFound as error:
        try:
            return sessions.named(db, given)
        except NotFound:
            raise error from None


def _hit(hit: Hit, words: Sequence[str], state: MemoryState, retired_because: str) -> SearchHit:
    found = hit.found
    retired = [f"retired, because {retired_because}"] if retired_because else []
    alike = [f"and {len(hit.alike)} alike: {', '.join(hit.alike[:_MAX_NAMED])}"] if hit.alike else []
    return response_from(
        SearchHit,
        found,
        hit,
        state,
        summary=found.summary if isinstance(found, Memory) else excerpt(found.text, words, _MAX_SUMMARY_LENGTH),
        created_at=found.created_at.isoformat(),
        certain=hit.is_certain,
        retired_because=retired_because,
        why=(*hit.why, *reasons(state), *retired, *alike),
    )


def _timeline_item(item: Memory | Passage, *, is_center: bool) -> TimelineItem:
    summary = item.summary if isinstance(item, Memory) else within(item.text, _MAX_SUMMARY_LENGTH)
    created_at = item.created_at.isoformat()
    return response_from(TimelineItem, item, summary=summary, created_at=created_at, is_center=is_center)


def _session(session: Session) -> SessionRecord:
    return response_from(SessionRecord, session, title=session.summary.title(), codes=codes(session.summary))


def in_order(since: datetime | None, until: datetime | None) -> tuple[datetime | None, datetime | None]:
    """Return both times in UTC; refuse a first time after the second."""
    since, until = _utc(since), _utc(until)
    if since and until and since > until:
        raise MemoryLiteError("since is later than until", "give the earlier time as since")
    return since, until


def _utc(moment: datetime | None) -> datetime | None:
    try:
        return moment.astimezone(UTC) if moment else None
    except OverflowError:
        raise MemoryLiteError("the time has no equivalent in UTC", "give a later time") from None


def excerpt(text: str, words: Sequence[str], limit: int) -> str:
    """Return at most `limit` characters from the sentence with most of the words; from the beginning if none
    matches."""
    lines = [one_line(_MARKUP.sub(" ", line)) for line in _SENTENCE_END.split(text[:_MAX_SCANNED])]
    sentences = [line for line in lines if line]
    matched = [len(matched_words(words, line)) for line in sentences]
    first = matched.index(max(matched)) if any(matched) else 0
    begun = " ".join(sentences[first:])
    return within(f"… {begun}" if first else begun, limit)


def rank_sessions(hits: Sequence[Hit]) -> list[tuple[str, float]]:
    """Return sessions with scores, best first: the best hit of a session counts in full, each further hit half as much.

    So a session about the query ranks above a session that mentions it once, and below a session that answers it
    outright: a hundred poor hits never add up to two good ones."""
    scores: dict[str, float] = {}
    weights: dict[str, float] = {}
    for hit in sorted(hits, key=lambda hit: hit.score, reverse=True):
        session = hit.found.session
        if session:
            weight = weights.get(session, 1.0)
            scores[session] = scores.get(session, 0.0) + weight * hit.score
            weights[session] = weight / 2
    # Sorting is stable: of two sessions with the same score, the one with the better hit comes first.
    return sorted(scores.items(), key=lambda entry: entry[1], reverse=True)
