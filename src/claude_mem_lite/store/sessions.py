"""The tables `projects` and `sessions`: sessions by folder and project, with their summaries."""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Event, Location, Session, SessionStatus, SessionSummary
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.branches import Hidden, not_hidden
from claude_mem_lite.store.ids import MIN_PREFIX_LENGTH, ambiguous, beginning_with, row_by_prefix
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.projects import change_log, marks
from claude_mem_lite.timestamps import text_to_time, time_to_text

TITLE = "case headline when '' then request else headline end"
"""SQL expression for the title of a session, equal to `SessionSummary.title`."""
_PLAIN = ("id", "project", "cwd", "status", "branch", "source", "turns", "headline_worth")
_SUMMARY = tuple(field.name for field in fields(SessionSummary))
_SUMMARY_LISTS = ("next_steps", "files_read", "files_edited", "key_decisions")


def touch(db: sqlite3.Connection, event: Event, location: Location) -> None:
    """Record that a session is active in a folder. The first event decides the project, the last event the branch.
    Any event will do, because the first event may have been lost with the machine. For an imported session, the
    folder may become known only now."""
    at = time_to_text(event.at)
    values = {
        "id": event.session,
        "project": location.project,
        "cwd": event.cwd,
        "branch": location.branch,
        "commit": location.commit,
        "source": event.source or "startup",
        "at": at,
        "folder": location.path,
        "git_folder": location.git_folder,
    }
    db.execute(
        """insert into sessions (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at,
             folder, git_folder)
           values (:id, :project, :cwd, :branch, :commit, :source, 'active', :at, :at, :folder, :git_folder)
           on conflict (id) do update set
             project = case when cwd = '' then :project else project end,
             folder = case when cwd = '' then :folder else folder end,
             git_folder = case when cwd = '' then :git_folder else git_folder end,
             cwd = case when cwd = '' then :cwd else cwd end,
             branch = case when :at >= last_event_at then :branch else branch end,
             commit_id = case when :at >= last_event_at then :commit else commit_id end,
             last_event_at = max(last_event_at, :at),
             started_at = min(started_at, :at),
             status = case when :at > last_event_at then 'active' else status end,
             ended_at = case when :at > last_event_at then null else ended_at end""",
        values,
    )
    marks.note(db, location, event.at)


def note_project(db: sqlite3.Connection, project: str, at: datetime) -> None:
    """Record a project that only memories mention, so that the project has a name; a known project stays unchanged."""
    db.execute(
        """insert or ignore into projects (id, name, root, first_seen_at, last_seen_at)
           values (:project, :name, '', :at, :at)""",
        {"project": project, "name": project_name(project), "at": time_to_text(at)},
    )


def close(db: sqlite3.Connection, session: str, status: SessionStatus, at: datetime) -> None:
    db.execute(
        "update sessions set status = :status, ended_at = :at where id = :id",
        {"status": status, "at": time_to_text(at), "id": session},
    )


def quiet(db: sqlite3.Connection, before: datetime) -> list[str]:
    """Return the sessions that were never closed and have been quiet since a time."""
    rows = db.execute(
        "select id from sessions where status = 'active' and last_event_at < ? order by id", (time_to_text(before),)
    )
    return [row["id"] for row in rows]


def interrupt_quiet(db: sqlite3.Connection, before: datetime) -> int:
    """Mark sessions that were never closed and have been quiet since a time as interrupted; return their number."""
    return db.execute(
        """update sessions set status = 'interrupted', ended_at = last_event_at
           where status = 'active' and last_event_at < :before""",
        {"before": time_to_text(before)},
    ).rowcount


def set_summary(
    db: sqlite3.Connection, session: str, summary: SessionSummary, now: datetime, headline_worth: float | None = None
) -> None:
    """Store the summary of a session; without a worth, the worth of the headline stays unchanged."""
    values = {
        name: json.dumps(getattr(summary, name)) if name in _SUMMARY_LISTS else getattr(summary, name)
        for name in _SUMMARY
    }
    assignments = ", ".join(f"{name} = :{name}" for name in _SUMMARY)
    db.execute(
        f"""update sessions set {assignments}, told_at = :now,
              headline_worth = coalesce(:headline_worth, headline_worth) where id = :id""",
        {**values, "id": session, "now": time_to_text(now), "headline_worth": headline_worth},
    )
    session_row = find(db, session)
    if session_row is not None:
        passages.put_session(db, session_row)


def mark_compacted(db: sqlite3.Connection, session: str, at: datetime) -> None:
    """Record a compaction: the agent is about to lose the conversation, so injections may be repeated."""
    db.execute("update sessions set compacted_at = :at where id = :id", {"at": time_to_text(at), "id": session})


def find(db: sqlite3.Connection, session: str) -> Session | None:
    row = db.execute(f"{_SELECT} where id = ?", (session,)).fetchone()
    return _from_row(row) if row else None


def folders_of(db: sqlite3.Connection, sessions: Collection[str]) -> dict[str, str]:
    """Return the working folders of sessions by id."""
    rows = db.execute(
        "select id, cwd from sessions where id in (select value from json_each(?))", (json.dumps(list(sessions)),)
    )
    return {row["id"]: row["cwd"] for row in rows}


def get(db: sqlite3.Connection, id_or_prefix: str) -> Session:
    """Return a session by id, however short, or by id prefix."""
    if (known := find(db, id_or_prefix)) is not None:
        return known
    nobody = NotFound(f"there is no session {id_or_prefix}", "`claude-mem-lite sessions` shows the ids")
    return _from_row(row_by_prefix(db, _SELECT, "sessions", id_or_prefix, nobody, any_case=False))


def at_work(db: sqlite3.Connection, named_session: str, cwd: str, project: str) -> str:
    """Return the session that sends a request from a folder: the session that the request names, unless over, else the
    newest active session of the project. A named session of another project is ignored.

    An agent that clears its conversation continues with a new session, while its servers still know the old id."""
    row = (
        db.execute("select status, project from sessions where id = ?", (named_session,)).fetchone()
        if named_session
        else None
    )
    if row is not None and row["project"] != project:
        row, named_session = None, ""
    if named_session and (row is None or row["status"] == "active"):
        return named_session
    newest = db.execute(
        """select id from sessions where status = 'active' and project = :project
           order by cwd = :cwd desc, last_event_at desc, id limit 1""",
        {"project": project, "cwd": cwd},
    ).fetchone()
    return str(newest["id"]) if newest else named_session


def named(db: sqlite3.Connection, id_or_prefix: str) -> str:
    """Return the id of a session by id or id prefix."""
    # For imported memories, the id of their session may be all that is known.
    known = (("sessions", "id"), ("memories", "session"))
    if any(id_or_prefix and id_or_prefix in beginning_with(db, *column, id_or_prefix) for column in known):
        return id_or_prefix
    prefix = id_or_prefix.strip().lstrip("#")
    ids = sorted({id_ for column in known for id_ in beginning_with(db, *column, prefix)} - {""})
    if prefix in ids:
        return prefix
    if ids and len(prefix) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{id_or_prefix!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    if len(ids) > 1:
        raise ambiguous(id_or_prefix, ids)
    if not ids:
        raise NotFound(f"there is no session {id_or_prefix}", "`claude-mem-lite sessions --all-projects` shows the ids")
    return ids[0]


def newest(
    db: sqlite3.Connection,
    *,
    project: str | None = None,
    since: datetime | None = None,
    without: str = "",
    with_headline: bool = False,
    hidden: Hidden = (),
    limit: int = 20,
) -> list[Session]:
    """Return sessions by their last event, newest first; `with_headline` leaves out sessions without a headline.

    `since` refers to the last change of the summary, possibly long after the last event."""
    visible, branches = not_hidden(hidden, "last_event_at")
    where = (
        "project = :project" if project is not None else "true"
    )  # a plain condition: else the index of projects is not used
    rows = db.execute(
        # Ids are chosen first, so that turns are counted for few sessions.
        f"""{_SELECT} where id in (
              select id from sessions where {where} and id <> :without
                and (:since = '' or told_at > :since) and (not :with_headline or headline <> '') and {visible}
              order by last_event_at desc, id limit :limit)
            order by last_event_at desc, id""",
        {
            **branches,
            "project": project,
            "since": time_to_text(since) if since else "",
            "without": without,
            "with_headline": with_headline,
            "limit": limit,
        },
    )
    return [_from_row(row) for row in rows]


def edited_files(
    db: sqlite3.Connection, project: str, *, without: str = "", limit: int
) -> list[tuple[str, tuple[str, ...]]]:
    """Return the branch and the edited files of each of a project's last sessions, the newest first."""
    rows = db.execute(
        """select branch, files_edited from sessions where project = :project and id <> :without and headline <> ''
           order by last_event_at desc, id limit :limit""",
        {"project": project, "without": without, "limit": limit},
    )
    return [(row["branch"], tuple(json.loads(row["files_edited"]))) for row in rows]


def forget_session(db: sqlite3.Connection, session: str) -> None:
    """Remove a session and its prompts and replies."""
    db.execute("delete from prompts where session = ?", (session,))
    db.execute("delete from sessions where id = ?", (session,))
    passages.remove_of_session(db, session)


def forget_project(db: sqlite3.Connection, project: str) -> None:
    """Remove name, folders and history of a project, unless a memory of wider scope was made in the project."""
    db.execute(
        "delete from projects where id = :id and not exists (select 1 from memories where project = :id)",
        {"id": project},
    )
    if db.execute("select 1 from projects where id = ?", (project,)).fetchone() is None:
        marks.forget(db, project)
        change_log.forget(db, project)


def folders(db: sqlite3.Connection, *, project: str | None, limit: int) -> list[str]:
    """Return the folders in which sessions last worked, newest first."""
    rows = db.execute(
        """select cwd from sessions where cwd <> '' and (:project is null or project = :project)
           group by cwd order by max(last_event_at) desc limit :limit""",
        {"project": project, "limit": limit},
    )
    return [row["cwd"] for row in rows]


def branches(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the branches of a project's sessions, the last used first."""
    rows = db.execute(
        """select branch from sessions where project = ? and branch <> '' group by branch
           order by max(last_event_at) desc""",
        (project,),
    )
    return [row["branch"] for row in rows]


def ids_of_project(db: sqlite3.Connection, project: str) -> list[str]:
    return [row["id"] for row in db.execute("select id from sessions where project = ?", (project,))]


def count(db: sqlite3.Connection) -> int:
    (number,) = db.execute("select count(*) from sessions").fetchone()
    return int(number)


_SELECT = """select *, (select count(*) from prompts where prompts.session = sessions.id and text <> '') as turns
    from sessions"""


def _from_row(row: sqlite3.Row) -> Session:
    summary: dict[str, Any] = {
        name: tuple(json.loads(row[name])) if name in _SUMMARY_LISTS else row[name] for name in _SUMMARY
    }
    return Session(
        **{name: row[name] for name in _PLAIN},
        started_at=text_to_time(row["started_at"]),
        last_event_at=text_to_time(row["last_event_at"]),
        commit=row["commit_id"],
        ended_at=text_to_time(row["ended_at"]) if row["ended_at"] else None,
        summary=SessionSummary(**summary),
    )
