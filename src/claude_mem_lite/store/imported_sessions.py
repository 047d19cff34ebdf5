"""Import of sessions from another memory tool, with their prompts and summaries.

An import adds rows to `sessions` and `prompts`. Sessions from our own hooks or from transcripts take precedence, and
forgotten sessions stay forgotten."""

import sqlite3
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Literal

from claude_mem_lite.event_names import CLAUDE_MEM, IMPORTED_PROMPT, IMPORTED_SUMMARY
from claude_mem_lite.models import SessionStatus, SessionSummary
from claude_mem_lite.store import memories, sessions, tombstones
from claude_mem_lite.store.index import passages
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

_SAME_TIME = timedelta(seconds=10)


@frozen
class ForeignSession:
    id: str
    name: str
    """Name of the project in the other tool."""
    project: str
    cwd: str
    status: SessionStatus
    started_at: datetime
    ended_at: datetime | None
    is_chosen: bool = False
    """True if the user chose the project."""


@frozen
class ImportedText:
    """Imported prompt, or imported summary of a session at some time."""

    turn: str
    session: str
    at: datetime
    prompt_id: str = ""
    asked: str = ""
    reply: str = ""
    summary: SessionSummary | None = None


def put(
    db: sqlite3.Connection, session: ForeignSession, as_files: Callable[[str], str]
) -> Literal["new", "moved", "known", "forgotten"]:
    """Record a session, unless it is known or was forgotten.

    A session that was imported under the mere name of its project moves to the project when that is known, with its
    memories. Any imported session moves to the project that the user chooses. `as_files` converts paths to the form
    of the new project."""
    if tombstones.is_buried(db, session.id):
        return "forgotten"
    stored = sessions.find(db, session.id)
    if stored is None:
        _add(db, session)
        return "new"
    may_move = stored.source == CLAUDE_MEM and (session.is_chosen or stored.project == session.name)
    if may_move and stored.project != session.project:
        _move(db, session, stored.project, as_files)
        return "moved"
    return "known"


def is_known(db: sqlite3.Connection, text: ImportedText) -> bool:
    """Return True if a text is stored: under its key or, for a prompt, because a hook or a transcript recorded the
    prompt."""
    if db.execute("select 1 from prompts where turn = ?", (text.turn,)).fetchone():
        return True
    if text.summary is not None:
        return False
    rows = db.execute(
        "select turn from prompts where session = :session and text <> '' and created_at between :since and :until",
        {
            "session": text.session,
            "since": time_to_text(text.at - _SAME_TIME),
            "until": time_to_text(text.at + _SAME_TIME),
        },
    )
    return any(not row["turn"].endswith((IMPORTED_PROMPT, IMPORTED_SUMMARY)) for row in rows)


def add(db: sqlite3.Connection, text: ImportedText, now: datetime) -> None:
    """Store a new text. A summary becomes the summary of its session, unless the session has a better or later one."""
    db.execute(
        """insert into prompts (turn, session, prompt_id, text, reply, tasks, created_at)
           values (:turn, :session, :prompt_id, :asked, :reply, '', :at)""",
        {**asdict(text), "at": time_to_text(text.at)},
    )
    db.execute(
        """update sessions set last_event_at = max(last_event_at, :at), started_at = min(started_at, :at)
           where id = :id and source = :source""",
        {"id": text.session, "at": time_to_text(text.at), "source": CLAUDE_MEM},
    )
    session = sessions.find(db, text.session)
    passages.put_turn(db, text.turn, text.session, session.project if session else "", text.at, text.asked, text.reply)
    if text.summary is None or session is None or _has_later_summary(db, text):
        return
    if session.source == CLAUDE_MEM or not session.summary.headline:
        sessions.set_summary(db, text.session, text.summary, now)


def blank_imported_prompt(db: sqlite3.Connection, session: str, at: datetime) -> None:
    """Blank the imported copy of a prompt, because a hook or a transcript has now recorded the same turn."""
    rows = db.execute(
        """update prompts set text = '' where session = :session and created_at between :since and :until
             and turn like '%-' || :event and text <> '' returning turn, created_at""",
        {
            "session": session,
            "event": IMPORTED_PROMPT,
            "since": time_to_text(at - _SAME_TIME),
            "until": time_to_text(at + _SAME_TIME),
        },
    ).fetchall()
    passages.remove_turns(db, [row["turn"] for row in rows])


def _add(db: sqlite3.Connection, session: ForeignSession) -> None:
    db.execute(
        """insert into sessions
             (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at, ended_at)
           values (:id, :project, :cwd, '', '', :source, :status, :at, :at, :ended_at)""",
        {
            **asdict(session),
            "source": CLAUDE_MEM,
            "at": time_to_text(session.started_at),
            "ended_at": time_to_text(session.ended_at) if session.ended_at else None,
        },
    )
    sessions.note_project(db, session.project, session.started_at)


def _has_later_summary(db: sqlite3.Connection, text: ImportedText) -> bool:
    rows = db.execute(
        """select 1 from prompts where session = :session and created_at > :at and turn like '%-' || :event limit 1""",
        {"session": text.session, "at": time_to_text(text.at), "event": IMPORTED_SUMMARY},
    )
    return rows.fetchone() is not None


def _move(db: sqlite3.Connection, session: ForeignSession, before: str, as_files: Callable[[str], str]) -> None:
    db.execute(
        "update sessions set project = :project, cwd = :cwd where id = :id",
        {"project": session.project, "cwd": session.cwd, "id": session.id},
    )
    sessions.note_project(db, session.project, session.started_at)
    rows = db.execute(
        "select turn, text, reply, created_at from prompts where session = ? and (text <> '' or reply <> '')",
        (session.id,),
    ).fetchall()
    for row in rows:
        at = text_to_time(row["created_at"])
        passages.put_turn(db, row["turn"], session.id, session.project, at, row["text"], row["reply"])
    moved = sessions.find(db, session.id)
    if moved is not None:
        passages.put_session(db, moved)
    own = f"project:{before}"
    ids = db.execute(
        "select id from memories where session = :id and project = :before and made_by like :made_by || '%'",
        {"id": session.id, "before": before, "made_by": CLAUDE_MEM},
    ).fetchall()
    for row in ids:
        memory = memories.get(db, row["id"])
        scope = f"project:{session.project}" if memory.scope == own else memory.scope
        files = tuple(dict.fromkeys(map(as_files, memory.files)))
        memories.rewrite(db, replace(memory, project=session.project, scope=scope, files=files))
    left = db.execute("select 1 from sessions where project = ? limit 1", (before,)).fetchone()
    if left is None:
        sessions.forget_project(db, before)
