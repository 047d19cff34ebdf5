"""The tables `projects` and `sessions`: who worked where, with what result."""

import json
import sqlite3
from collections.abc import Collection
from dataclasses import fields
from datetime import datetime
from typing import Any

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import Event, Place, Session, SessionStatus, SessionSummary
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.branches import Hidden, not_hidden
from claude_mem_lite.store.ids import MIN_PREFIX_LENGTH, ambiguous, beginning_with, one_by_prefix
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.projects import change_log, marks
from claude_mem_lite.timestamps import text_to_time, time_to_text

TITLE = "case headline when '' then request else headline end"
"""What a session is called, in SQL; `SessionSummary.title` is the same."""
_SUMMARY = tuple(field.name for field in fields(SessionSummary))
_SUMMARY_LISTS = ("next_steps", "files_read", "files_edited", "key_decisions")


def touch(db: sqlite3.Connection, event: Event, place: Place) -> None:
    """Record that a session is at work in a place. Its project is the one it began in, its branch the one it was
    last on; any event will do, because the first one may have been lost with the machine. Of a session that another
    tool kept, nobody may have known the folder till now."""
    at = time_to_text(event.at)
    values = {
        "id": event.session,
        "project": place.project,
        "cwd": event.cwd,
        "branch": place.branch,
        "commit": place.commit,
        "source": event.source or "startup",
        "at": at,
        "folder": place.path,
        "git_folder": place.git_folder,
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
    marks.note(db, place, event.at)


def note_project(db: sqlite3.Connection, project: str, at: datetime) -> None:
    """Record a project that only its memories tell of, so that it can be named; one that is known stays as it is."""
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
    """The sessions that were never closed and have been quiet for long."""
    rows = db.execute(
        "select id from sessions where status = 'active' and last_event_at < ? order by id", (time_to_text(before),)
    )
    return [row["id"] for row in rows]


def interrupt_quiet(db: sqlite3.Connection, before: datetime) -> int:
    """Sessions that were never closed and have been quiet for long were interrupted."""
    return db.execute(
        """update sessions set status = 'interrupted', ended_at = last_event_at
           where status = 'active' and last_event_at < :before""",
        {"before": time_to_text(before)},
    ).rowcount


def set_summary(
    db: sqlite3.Connection, session: str, summary: SessionSummary, now: datetime, headline_worth: float | None = None
) -> None:
    """Store what a session amounts to now; the worth of its headline stays as it was where none is given."""
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
    told = find(db, session)
    if told is not None:
        passages.put_session(db, told)


def mark_compacted(db: sqlite3.Connection, session: str, at: datetime) -> None:
    """The agent is about to forget the conversation: what it was given may be given again."""
    db.execute("update sessions set compacted_at = :at where id = :id", {"at": time_to_text(at), "id": session})


def find(db: sqlite3.Connection, session: str) -> Session | None:
    row = db.execute(f"{_SELECT} where id = ?", (session,)).fetchone()
    return _from_row(row) if row else None


def folders_of(db: sqlite3.Connection, sessions: Collection[str]) -> dict[str, str]:
    """The folders that sessions worked in, by their ids."""
    rows = db.execute(
        "select id, cwd from sessions where id in (select value from json_each(?))", (json.dumps(list(sessions)),)
    )
    return {row["id"]: row["cwd"] for row in rows}


def get(db: sqlite3.Connection, id_or_prefix: str) -> Session:
    """One session by its id, however short agents make it, or the beginning of it."""
    if (known := find(db, id_or_prefix)) is not None:
        return known
    nobody = NotFound(f"there is no session {id_or_prefix}", "`claude-mem-lite sessions` shows the ids")
    return _from_row(one_by_prefix(db, _SELECT, "sessions", id_or_prefix, nobody, any_case=False))


def at_work(db: sqlite3.Connection, given: str, cwd: str, project: str) -> str:
    """The session that asks from a folder: the one it says, unless that is over, else the newest that is active there.
    One of another project is not the one that asks, whatever it says.

    An agent that clears its conversation goes on with another session, and its servers still know the old one."""
    row = db.execute("select status, project from sessions where id = ?", (given,)).fetchone() if given else None
    if row is not None and row["project"] != project:
        row, given = None, ""
    if given and (row is None or row["status"] == "active"):
        return given
    newest = db.execute(
        """select id from sessions where status = 'active' and project = :project
           order by cwd = :cwd desc, last_event_at desc, id limit 1""",
        {"project": project, "cwd": cwd},
    ).fetchone()
    return str(newest["id"]) if newest else given


def named(db: sqlite3.Connection, given: str) -> str:
    """The id of a session by its id or the beginning of it."""
    # Of imported memories, nothing but the id of their session may be known.
    known = (("sessions", "id"), ("memories", "session"))
    if any(given and given in beginning_with(db, *where, given) for where in known):
        return given
    wanted = given.strip().lstrip("#")
    found = sorted({id_ for where in known for id_ in beginning_with(db, *where, wanted)} - {""})
    if wanted in found:
        return wanted
    if found and len(wanted) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{given!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    if len(found) > 1:
        raise ambiguous(given, found)
    if not found:
        raise NotFound(f"there is no session {given}", "`claude-mem-lite sessions --all-projects` shows the ids")
    return found[0]


def newest(
    db: sqlite3.Connection,
    *,
    project: str | None = None,
    since: datetime | None = None,
    without: str = "",
    told_only: bool = False,
    hidden: Hidden = (),
    limit: int = 20,
) -> list[Session]:
    """Sessions by their last event, newest first; `told_only` leaves out those with nothing to tell.

    `since` is about when their story was last told, which may be long after their last event."""
    here, branches = not_hidden(hidden, "last_event_at")
    where = "project = :project" if project is not None else "true"  # plainly: else the index of projects is not used
    rows = db.execute(
        # Chosen by their ids first: turns are counted for those alone.
        f"""{_SELECT} where id in (
              select id from sessions where {where} and id <> :without
                and (:since = '' or told_at > :since) and (not :told_only or headline <> '') and {here}
              order by last_event_at desc, id limit :limit)
            order by last_event_at desc, id""",
        {
            **branches,
            "project": project,
            "since": time_to_text(since) if since else "",
            "without": without,
            "told_only": told_only,
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
    """Remove a session and all that was asked and answered in it."""
    db.execute("delete from prompts where session = ?", (session,))
    db.execute("delete from sessions where id = ?", (session,))
    passages.remove_of_session(db, session)


def forget_project(db: sqlite3.Connection, project: str) -> None:
    """Remove what a project is called and where it is, unless something that holds elsewhere was made in it."""
    db.execute(
        "delete from projects where id = :id and not exists (select 1 from memories where project = :id)",
        {"id": project},
    )
    if db.execute("select 1 from projects where id = ?", (project,)).fetchone() is None:
        marks.forget(db, project)
        change_log.forget(db, project)


def folders(db: sqlite3.Connection, *, project: str | None, limit: int) -> list[str]:
    """The folders in which sessions last worked, newest first."""
    rows = db.execute(
        """select cwd from sessions where cwd <> '' and (:project is null or project = :project)
           group by cwd order by max(last_event_at) desc limit :limit""",
        {"project": project, "limit": limit},
    )
    return [row["cwd"] for row in rows]


def branches(db: sqlite3.Connection, project: str) -> list[str]:
    """The branches on which sessions of a project were last, the newest first."""
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
    told: dict[str, Any] = {
        name: tuple(json.loads(row[name])) if name in _SUMMARY_LISTS else row[name] for name in _SUMMARY
    }
    return Session(
        id=row["id"],
        project=row["project"],
        cwd=row["cwd"],
        status=row["status"],
        started_at=text_to_time(row["started_at"]),
        last_event_at=text_to_time(row["last_event_at"]),
        branch=row["branch"],
        commit=row["commit_id"],
        source=row["source"],
        ended_at=text_to_time(row["ended_at"]) if row["ended_at"] else None,
        turns=row["turns"],
        summary=SessionSummary(**told),
        headline_worth=row["headline_worth"],
    )
