"""Log of changes to projects, for undoing them. Owns `project_changes`; `rows` records the moved rows in
`project_change_rows`."""

import json
import sqlite3
from datetime import datetime
from typing import TYPE_CHECKING, Literal

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store.ids import row_by_prefix
from claude_mem_lite.timestamps import text_to_time, time_to_text

if TYPE_CHECKING:
    from claude_mem_lite.responses.project import ProjectChange

ChangeKind = Literal["merge", "rename", "move", "join", "split"]
"""Kind of a change. `join`: the marks showed that two projects are one; all other kinds are requests of the user."""


def record(
    db: sqlite3.Connection, id_: str, kind: ChangeKind, source: str, target: str, detail: JsonObject, now: datetime
) -> None:
    db.execute(
        """insert into project_changes (id, kind, source, target, detail, at)
           values (:id, :kind, :source, :target, :detail, :at)""",
        {
            "id": id_,
            "kind": kind,
            "source": source,
            "target": target,
            "detail": json.dumps(detail),
            "at": time_to_text(now),
        },
    )


def is_done(db: sqlite3.Connection, change: str) -> bool:
    return db.execute("select 1 from project_changes where id = ?", (change,)).fetchone() is not None


def get(db: sqlite3.Connection, id_or_prefix: str) -> "ProjectChange":
    nobody = NotFound(f"there is no change {id_or_prefix}", "`claude-mem-lite projects --changes` shows them")
    return _from_row(row_by_prefix(db, "select * from project_changes", "project_changes", id_or_prefix, nobody))


def newest(db: sqlite3.Connection, limit: int) -> "list[ProjectChange]":
    """Return the last changes, newest first, including undone ones."""
    rows = db.execute("select * from project_changes order by seq desc limit ?", (limit,))
    return [_from_row(row) for row in rows]


def are_parted(db: sqlite3.Connection, project: str, other: str) -> bool:
    """Return True if the user split two projects, or undid their merge."""
    row = db.execute(
        """select 1 from project_changes
           where case kind when 'rename' then false when 'split' then undone_at is null else undone_at is not null end
             and ((source = :one and target = :other) or (source = :other and target = :one))""",
        {"one": project, "other": other},
    ).fetchone()
    return row is not None


def split_from(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the projects that a project was split from."""
    rows = db.execute("select source from project_changes where kind = 'split' and target = ?", (project,))
    return [str(row["source"]) for row in rows]


def built_upon(db: sqlite3.Connection, change: "ProjectChange") -> "ProjectChange | None":
    """Return the newest later change that moved the same rows, if any: the later change must be undone first."""
    row = db.execute(
        """select later.* from project_changes as this join project_changes as later
             on later.seq > this.seq and later.undone_at is null and later.kind <> 'rename'
           where this.id = :id and this.kind <> 'rename' and exists (
             select 1 from project_change_rows as mine join project_change_rows as other
               on other.change = later.id and mine.place = other.place and mine.key = other.key
             where mine.change = this.id)
           order by later.seq desc limit 1""",
        {"id": change.id},
    ).fetchone()
    return _from_row(row) if row else None


def forget(db: sqlite3.Connection, project: str) -> None:
    """Remove the log of the changes to a project."""
    rows = db.execute(
        "select id from project_changes where :id in (source, target) or instr(detail, :quoted)",
        {"id": project, "quoted": json.dumps(project)},
    )
    for row in rows.fetchall():
        db.execute("delete from project_change_rows where change = ?", (row["id"],))
        db.execute("delete from project_changes where id = ?", (row["id"],))


def _from_row(row: sqlite3.Row) -> "ProjectChange":
    source_name, target_name = json.loads(row["detail"]).get("names", (row["source"], row["target"]))
    # Late: rows of changes are read for people, not for hooks.
    from claude_mem_lite.responses.encoding import time_text
    from claude_mem_lite.responses.project import ProjectChange

    return ProjectChange(
        id=row["id"],
        kind=row["kind"],
        source=row["source"],
        target=row["target"],
        source_name=source_name,
        target_name=target_name,
        at=time_text(text_to_time(row["at"])),
        undone_at=time_text(text_to_time(row["undone_at"])) if row["undone_at"] else None,
    )
