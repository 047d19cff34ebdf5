"""Lists of projects with counts, names and folders. Reads only."""

import os
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from claude_mem_lite.store.projects.marks import marks
from claude_mem_lite.timestamps import text_to_time

_MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class ListedProject:
    """A project with its folders and the number of its sessions and memories."""

    id: str
    name: str
    root: str
    """Last working folder; '' for a project that only memories mention."""
    sessions: int
    memories: int
    """Number of active memories."""
    folders: list[str]
    """Folders of the project, the last seen first, including folders that are gone."""
    remotes: list[str]
    last_seen_at: datetime


def listed(db: sqlite3.Connection, limit: int) -> list[ListedProject]:
    """Return the projects that hold sessions or memories, those last worked on first."""
    rows = db.execute(
        """select id, name, root, last_seen_at,
             (select count(*) from sessions where project = projects.id) as sessions,
             (select count(*) from memories where project = projects.id and status = 'active') as memories
           from projects
           where exists (select 1 from sessions where project = projects.id)
              or exists (select 1 from memories where project = projects.id)
           order by last_seen_at desc, id limit ?""",
        (limit,),
    )
    return [
        ListedProject(
            **{**dict(row), "last_seen_at": text_to_time(row["last_seen_at"])},
            folders=[*marks(db, row["id"], "path"), *marks(db, row["id"], "former_path")][:_MAX_LISTED],
            remotes=marks(db, row["id"], "remote")[:_MAX_LISTED],
        )
        for row in rows.fetchall()
    ]


def names(db: sqlite3.Connection) -> dict[str, str]:
    """Return the name of every project by id."""
    return {row["id"]: row["name"] for row in db.execute("select id, name from projects")}


def folders(db: sqlite3.Connection, project: str | None) -> list[str]:
    """Return the existing folders of a project, or of all projects, those last seen first."""
    rows = db.execute(
        """select distinct value from project_marks where kind = 'path' and (:project is null or project = :project)
           order by last_seen_at desc, value""",
        {"project": project},
    )
    return [row["value"] for row in rows if os.path.isdir(row["value"])]


def is_empty(db: sqlite3.Connection, project: str) -> bool:
    row = db.execute(
        "select 1 from sessions where project = :id union all select 1 from memories where project = :id limit 1",
        {"id": project},
    )
    return row.fetchone() is None
