"""Sessions that another memory tool kept, with what was asked in them and how they were summed up.

They come in by an import and add rows to `sessions` and `prompts` that nothing else made. What our own hooks have seen,
or a transcript tells, goes before them; what was forgotten stays so."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from claude_mem_lite.models import SessionStatus, SessionSummary
from claude_mem_lite.store import memories, sessions, tombstones
from claude_mem_lite.store.index import passages
from claude_mem_lite.timestamps import text_to_time, time_to_text

SOURCE = "claude-mem"
"""How a session began that nothing else is known of; also the beginning of `made_by` of what comes from there."""
PROMPT, SUMMARY = "ClaudeMemPrompt", "ClaudeMemSummary"
"""How the keys of such turns end."""
_SAME_MOMENT = timedelta(seconds=10)


@dataclass(frozen=True, slots=True)
class ForeignSession:
    id: str
    name: str
    """What the other tool calls its project."""
    project: str
    cwd: str
    status: SessionStatus
    started_at: datetime
    ended_at: datetime | None
    is_chosen: bool = False
    """The user has said himself which project this is."""


@dataclass(frozen=True, slots=True)
class Said:
    """A prompt, or what a session was summed up as at some point."""

    turn: str
    session: str
    at: datetime
    prompt_id: str = ""
    asked: str = ""
    told: str = ""
    summary: SessionSummary | None = None


def put(
    db: sqlite3.Connection, given: ForeignSession, as_files: Callable[[str], str]
) -> Literal["new", "moved", "known", "forgotten"]:
    """Record a session, unless it is known or was forgotten.

    One that came in by the name of its project alone goes over to the project that is known by now, with its memories,
    and any that came in so goes where the user says; `as_files` gives their paths as that project has them."""
    if tombstones.is_buried(db, given.id):
        return "forgotten"
    there = sessions.find(db, given.id)
    if there is None:
        _add(db, given)
        return "new"
    may_move = there.source == SOURCE and (given.is_chosen or there.project == given.name)
    if may_move and there.project != given.project:
        _move(db, given, there.project, as_files)
        return "moved"
    return "known"


def is_known(db: sqlite3.Connection, said: Said) -> bool:
    """Whether it is there: by its key or, of a prompt, because a hook or a transcript told of it."""
    if db.execute("select 1 from prompts where turn = ?", (said.turn,)).fetchone():
        return True
    if said.summary is not None:
        return False
    rows = db.execute(
        "select turn from prompts where session = :session and text <> '' and created_at between :since and :until",
        {
            "session": said.session,
            "since": time_to_text(said.at - _SAME_MOMENT),
            "until": time_to_text(said.at + _SAME_MOMENT),
        },
    )
    return any(not row["turn"].endswith((PROMPT, SUMMARY)) for row in rows)


def add(db: sqlite3.Connection, said: Said, now: datetime) -> None:
    """Store what is new; a summary is what the session is told by, unless it is told better or later."""
    db.execute(
        """insert into prompts (turn, session, prompt_id, text, reply, tasks, created_at)
           values (:turn, :session, :prompt_id, :asked, :told, '', :at)""",
        {
            "turn": said.turn,
            "session": said.session,
            "prompt_id": said.prompt_id,
            "asked": said.asked,
            "told": said.told,
            "at": time_to_text(said.at),
        },
    )
    db.execute(
        """update sessions set last_event_at = max(last_event_at, :at), started_at = min(started_at, :at)
           where id = :id and source = :source""",
        {"id": said.session, "at": time_to_text(said.at), "source": SOURCE},
    )
    session = sessions.find(db, said.session)
    passages.put_turn(db, said.turn, said.session, session.project if session else "", said.at, said.asked, said.told)
    if said.summary is None or session is None or _has_later_summary(db, said):
        return
    if session.source == SOURCE or not session.summary.headline:
        sessions.set_summary(db, said.session, said.summary, now)


def give_way(db: sqlite3.Connection, session: str, at: datetime) -> None:
    """A turn is told by a hook or a transcript: the same prompt, as another tool kept it, says it twice."""
    rows = db.execute(
        """update prompts set text = '' where session = :session and created_at between :since and :until
             and turn like '%-' || :event and text <> '' returning turn, created_at""",
        {
            "session": session,
            "event": PROMPT,
            "since": time_to_text(at - _SAME_MOMENT),
            "until": time_to_text(at + _SAME_MOMENT),
        },
    ).fetchall()
    passages.remove_turns(db, [row["turn"] for row in rows])


def _add(db: sqlite3.Connection, given: ForeignSession) -> None:
    db.execute(
        """insert into sessions
             (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at, ended_at)
           values (:id, :project, :cwd, '', '', :source, :status, :at, :at, :ended_at)""",
        {
            "id": given.id,
            "project": given.project,
            "cwd": given.cwd,
            "source": SOURCE,
            "status": given.status,
            "at": time_to_text(given.started_at),
            "ended_at": time_to_text(given.ended_at) if given.ended_at else None,
        },
    )
    sessions.note_project(db, given.project, given.started_at)


def _has_later_summary(db: sqlite3.Connection, said: Said) -> bool:
    found = db.execute(
        """select 1 from prompts where session = :session and created_at > :at and turn like '%-' || :event limit 1""",
        {"session": said.session, "at": time_to_text(said.at), "event": SUMMARY},
    )
    return found.fetchone() is not None


def _move(db: sqlite3.Connection, given: ForeignSession, before: str, as_files: Callable[[str], str]) -> None:
    db.execute(
        "update sessions set project = :project, cwd = :cwd where id = :id",
        {"project": given.project, "cwd": given.cwd, "id": given.id},
    )
    sessions.note_project(db, given.project, given.started_at)
    rows = db.execute(
        "select turn, text, reply, created_at from prompts where session = ? and (text <> '' or reply <> '')",
        (given.id,),
    ).fetchall()
    for row in rows:
        at = text_to_time(row["created_at"])
        passages.put_turn(db, row["turn"], given.id, given.project, at, row["text"], row["reply"])
    moved = sessions.find(db, given.id)
    if moved is not None:
        passages.put_session(db, moved)
    own = f"project:{before}"
    ids = db.execute(
        "select id from memories where session = :id and project = :before and made_by like :made_by || '%'",
        {"id": given.id, "before": before, "made_by": SOURCE},
    ).fetchall()
    for row in ids:
        memory = memories.get(db, row["id"])
        scope = f"project:{given.project}" if memory.scope == own else memory.scope
        files = tuple(dict.fromkeys(map(as_files, memory.files)))
        memories.rewrite(db, replace(memory, project=given.project, scope=scope, files=files))
    left = db.execute("select 1 from sessions where project = ? limit 1", (before,)).fetchone()
    if left is None:
        sessions.forget_project(db, before)
