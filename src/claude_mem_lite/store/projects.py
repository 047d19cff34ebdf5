"""Projects and the marks that they are known by: the table `project_marks`, and which project a folder belongs to.

A project keeps the id it was given first. Its marks are its remotes, its folders and the root commit of its history:
when one of them changes, the others still lead to the same project. `locate` reads only; `note` records what was seen.

Rules, in this order:
1. A folder and a remote that lead to the same project are believed, whatever became of its history.
2. One of them alone leads to its project, unless the project's root commits are all missing in the repository there:
   then a namesake stands in its place, and is a project of its own. A repository without commits proves nothing: its
   remote leads to no project that has a root commit.
3. Where folder and remote lead to two projects, the remote's counts, and the folder's project joins it if it has no
   other folder, see `Identity.joins`. What the user took apart stays apart.
4. A former folder that stands again leads to its project, if it has a root commit of it.
5. A repository at an unknown folder is the project that stands in none of its folders any more, if it has the commit
   that was last worked on there; with a remote of its own it is none that has other remotes.
6. All else is a new project."""

import json
import os
import shlex
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from itertools import islice
from typing import Literal

from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.git.repository import Repository, open_repository
from claude_mem_lite.models import Place
from claude_mem_lite.places import find_place, normalise_remote
from claude_mem_lite.scopes import project_name
from claude_mem_lite.timestamps import text_to_time, time_to_text

MarkKind = Literal["remote", "root_commit", "path", "former_path"]
"""`former_path` leads to its project only while no folder stands there: another may come to stand in its place."""
_MAX_COMMITS = 50
# Each is looked up in the repository, within 0.1 ms.
_MAX_HOMELESS = 200
_MAX_NAMESAKES = 10_000
_ROOT_EVERY = timedelta(days=1)
_MAX_LISTED = 20


@dataclass(frozen=True, slots=True)
class Identity:
    """The project of a place."""

    project: str
    joins: str = ""
    """Another project that was found to be the same one; '' when there is none."""


@dataclass(frozen=True, slots=True)
class ListedProject:
    """A project with what is stored of it and where it is."""

    id: str
    name: str
    root: str
    """Where it was last worked on; '' when only its memories tell of it."""
    sessions: int
    memories: int
    """Those that are active."""
    folders: list[str]
    """Where it was seen, the last first; folders that are gone included."""
    remotes: list[str]
    last_seen_at: datetime


def locate(db: sqlite3.Connection, folder: str) -> Place:
    """Return the place of a folder, with the project that is stored under its marks."""
    return recognise(db, find_place(folder))


def recognise(db: sqlite3.Connection, place: Place) -> Place:
    """Return the place with the id and name of the project that its marks lead to."""
    project = identify(db, place).project
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    return replace(place, project=project, name=row["name"] if row else place.name)


def place_of(db: sqlite3.Connection, project: str) -> Place:
    """Return the place where a project was last worked on, by its id; the folder may be gone, or be another project's
    by now. A project of which only memories are known has no folder."""
    row = db.execute("select name, root from projects where id = ?", (project,)).fetchone()
    name, root = (row["name"], row["root"]) if row else (project_name(project), "")
    if not root:
        return Place(project, name, "")
    return replace(find_place(root), project=project, name=name)


def identify(db: sqlite3.Connection, place: Place) -> Identity:
    """Return the project of a place by the rules above. Two calls give the same answer until something is noted."""
    if not place.path:  # no folder at all: a project of its own
        return Identity(place.project)
    evidence = _Evidence(db, place)
    by_path = _owner(db, _path_kinds(place.path), place.path)
    by_remote = _owner(db, ("remote",), place.remote)
    if by_path and by_path == by_remote:
        return Identity(by_path)
    if by_path and evidence.holds(by_path, by_sessions=True) is False:
        by_path = ""
    if by_remote and not evidence.may_be(by_remote):
        by_remote = ""
    if not by_path and (former := _owner(db, ("former_path",), place.path)) and evidence.holds(former) is True:
        by_path = former
    if by_path and by_remote and by_path != by_remote:
        if _are_parted(db, by_path, by_remote):
            return Identity(by_path)
        joins = not _other_folder(db, by_path, place.path) and evidence.may_join(by_remote)
        return Identity(by_remote, by_path if joins else "")
    return Identity(by_remote or by_path or _moved_here(db, place, evidence) or _new_id(db, place.project))


def note(db: sqlite3.Connection, place: Place, at: datetime) -> None:
    """Record that a project was seen in a place that was recognised as its, inside the caller's transaction."""
    db.execute(
        """insert into projects (id, name, root, first_seen_at, last_seen_at)
           values (:project, :name, :root, :at, :at)
           on conflict (id) do update set last_seen_at = max(last_seen_at, :at), root = :root""",
        {"project": place.project, "name": place.name, "root": place.root, "at": time_to_text(at)},
    )
    if place.path:
        _note_marks(db, place, at)


def _note_marks(db: sqlite3.Connection, place: Place, at: datetime) -> None:
    values = {"value": place.path, "project": place.project}
    if os.path.isdir(place.path):
        known = marks(db, place.project, "path")
        if place.path not in known:
            _leave(db, place.project, [folder for folder in known if not os.path.isdir(folder)])
        owners = db.execute("select project from project_marks where kind = 'path' and value = :value", values)
        for row in owners.fetchall():
            if row["project"] != place.project:
                _leave(db, row["project"], [place.path])
        db.execute(
            "delete from project_marks where kind = 'former_path' and value = :value and project = :project", values
        )
        put_mark(db, "path", place.path, place.project, at)
    elif _owner(db, ("path", "former_path"), place.path) in ("", place.project):
        put_mark(db, "former_path", place.path, place.project, at)
    if place.remote and _owner(db, ("remote",), place.remote) in ("", place.project):
        put_mark(db, "remote", place.remote, place.project, at)
    _note_root(db, place, at)


def put_mark(db: sqlite3.Connection, kind: MarkKind, value: str, project: str, at: datetime) -> None:
    db.execute(
        """insert into project_marks (kind, value, project, last_seen_at) values (:kind, :value, :project, :at)
           on conflict do update set last_seen_at = max(last_seen_at, excluded.last_seen_at)""",
        {"kind": kind, "value": value, "project": project, "at": time_to_text(at)},
    )


def marks(db: sqlite3.Connection, project: str, kind: MarkKind) -> list[str]:
    """Return the values of one kind of mark, those last seen first."""
    rows = db.execute(
        """select value from project_marks where project = ? and kind = ? and value <> ''
           order by last_seen_at desc, value""",
        (project, kind),
    )
    return [row["value"] for row in rows]


def forget(db: sqlite3.Connection, project: str) -> None:
    """Remove all marks of a project, and the record of its changes."""
    db.execute("delete from project_marks where project = ?", (project,))
    rows = db.execute(
        "select id from project_changes where :id in (source, target) or instr(detail, :quoted)",
        {"id": project, "quoted": json.dumps(project)},
    )
    for row in rows.fetchall():
        db.execute("delete from project_change_rows where change = ?", (row["id"],))
        db.execute("delete from project_changes where id = ?", (row["id"],))


def current_id(db: sqlite3.Connection, project: str) -> str:
    """Return the id that a project goes by now: an id of before is a mark of the project that took it in."""
    if is_known(db, project):
        return project
    row = db.execute(
        """select project from project_marks where value = ? and kind <> 'root_commit'
           order by kind = 'former_path' limit 1""",
        (project,),
    ).fetchone()
    return str(row["project"]) if row else project


def adopt(db: sqlite3.Connection, wanted: str, root: str, at: datetime) -> str:
    """Return the project of what comes from elsewhere: by its folder, if that is what the id was made of, else by the
    id, which leads to that project from now on."""
    place = find_place(root)
    project = recognise(db, place).project if place.project == wanted else current_id(db, wanted)
    if project != wanted and current_id(db, wanted) == wanted:
        put_former_id(db, wanted, project, at)
    return project


def put_former_id(db: sqlite3.Connection, former: str, project: str, at: datetime) -> None:
    """Have an id that a project had before lead to it: the id is the remote or the folder of its time."""
    put_mark(db, "former_path" if former.startswith("/") else "remote", former, project, at)


def former_ids(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the ids that parts of a project may have had before: an id is the remote or the folder of its time."""
    rows = db.execute(
        """select distinct value from project_marks
           where project = :project and kind <> 'root_commit' and value <> :project""",
        {"project": project},
    )
    return [row["value"] for row in rows]


def find(db: sqlite3.Connection, given: str) -> str:
    """Return the id of a project as `named` does, or by any folder inside of it."""
    if os.path.isabs(given) and current_id(db, given) == given:
        located = locate(db, given).project
        if is_known(db, located):
            return located
    return named(db, given)


def named(db: sqlite3.Connection, given: str) -> str:
    """Return the id of a project by its id, a folder of it, a remote of it as git prints it or as it is stored, or
    its name when only one is called so.

    Among projects of one name, one that holds something is meant rather than those that are empty."""
    for written in filter(None, (given, normalise_remote(given))):
        known = current_id(db, written)
        if is_known(db, known):
            return known
    rows = db.execute(
        "select id from projects where name = ? collate nocase order by last_seen_at desc, id", (given,)
    ).fetchall()
    called = [str(row["id"]) for row in rows]
    full = [one for one in called if not _is_empty(db, one)] or called
    if len(full) > 1:
        merge = f"claude-mem-lite projects merge {shlex.quote(full[1])} {shlex.quote(full[0])}"
        raise Ambiguous(
            f"{given} is the name of several projects",
            f"give one of their ids: {', '.join(full)}, or make them one: `{merge}`",
        )
    if not full:
        what = "no folder and no project" if os.path.isabs(given) else "no project"
        last = ", ".join(one.name for one in listed(db, 5)) or "none yet"
        raise NotFound(
            f"there is {what} {given or repr(given)}", f"the last ones are {last}; `claude-mem-lite projects` lists all"
        )
    return full[0]


def names(db: sqlite3.Connection) -> dict[str, str]:
    """Return what every project is called, by its id."""
    return {row["id"]: row["name"] for row in db.execute("select id, name from projects")}


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


def folders(db: sqlite3.Connection, project: str | None) -> list[str]:
    """Return the folders of a project that are there, or of all projects, those last seen first."""
    rows = db.execute(
        """select distinct value from project_marks where kind = 'path' and (:project is null or project = :project)
           order by last_seen_at desc, value""",
        {"project": project},
    )
    return [row["value"] for row in rows if os.path.isdir(row["value"])]


class _Evidence:
    """What the repository of a place proves about projects; opened when first asked."""

    def __init__(self, db: sqlite3.Connection, place: Place) -> None:
        self._db = db
        self._place = place

    @cached_property
    def repository(self) -> Repository | None:
        return open_repository(self._place.root)

    def holds(self, project: str, *, by_sessions: bool = False) -> bool | None:
        """Return whether the repository has a root commit of a project, or, while none is known and `by_sessions`, one
        that its sessions stood on; None when nothing tells, as without any commit."""
        known = marks(self._db, project, "root_commit")
        if not known and by_sessions:
            known = _commits_of_sessions(self._db, project)
        if not known or not self._place.commit or self.repository is None:
            return None
        return self.repository.has_any(known)

    def may_be(self, project: str) -> bool:
        """Return whether a remote may lead to a project: not from a repository that has other commits, or none at all
        where the project has some."""
        if not self._place.commit and marks(self._db, project, "root_commit"):
            return False
        return self.holds(project) is not False

    def may_join(self, project: str) -> bool:
        """Return whether nothing speaks against a project that a remote alone leads to; a shallow clone cannot tell."""
        return self.holds(project) is True or not marks(self._db, project, "root_commit")


def _owner(db: sqlite3.Connection, kinds: tuple[MarkKind, ...], value: str) -> str:
    """Return the project that a mark leads to; '' when there is none. A project of which only memories are known has no
    marks yet, and its id stands for one."""
    if not value:
        return ""
    row = db.execute(
        f"""select project from project_marks where kind in ({", ".join("?" for _ in kinds)}) and value = ?
            order by kind = 'former_path', last_seen_at desc limit 1""",
        (*kinds, value),
    ).fetchone()
    if row is None:
        row = db.execute(
            """select id as project from projects where id = :value and not exists (
                 select 1 from project_marks where project = :value and kind in ('remote', 'path'))""",
            {"value": value},
        ).fetchone()
    return str(row["project"]) if row else ""


def _path_kinds(path: str) -> tuple[MarkKind, ...]:
    return ("path",) if os.path.isdir(path) else ("path", "former_path")


def _commits_of_sessions(db: sqlite3.Connection, project: str) -> list[str]:
    """Return the commits that sessions of a project last stood on, the newest first."""
    rows = db.execute(
        """select commit_id from sessions where project = ? and commit_id <> ''
           group by commit_id order by max(last_event_at) desc limit ?""",
        (project, _MAX_COMMITS),
    )
    return [row["commit_id"] for row in rows]


def _other_folder(db: sqlite3.Connection, project: str, path: str) -> bool:
    """Return whether a project has a folder besides this one that is there."""
    return any(one != path and os.path.isdir(one) for one in marks(db, project, "path"))


def _moved_here(db: sqlite3.Connection, place: Place, evidence: _Evidence) -> str:
    """Return the one project whose folders are all gone and whose repository this is; '' when there is none."""
    if not place.commit or evidence.repository is None:
        return ""
    found = [
        project
        for project, commits in _homeless(db)
        if evidence.repository.has_any(commits)
        and evidence.holds(project) is not False
        and not (place.remote and marks(db, project, "remote"))
    ]
    return found[0] if len(found) == 1 else ""


def _homeless(db: sqlite3.Connection) -> Iterator[tuple[str, list[str]]]:
    """Yield the projects that stand in none of their folders, those last seen first, each with the commit that was last
    worked on there, or, when no session was, its root commits."""
    folders: dict[str, list[str]] = {}
    query = """select project, value, kind from project_marks where kind in ('path', 'former_path')
               order by last_seen_at desc"""
    for row in db.execute(query):
        known = folders.setdefault(row["project"], [])
        if row["kind"] == "path":
            known.append(row["value"])
    for project, paths in islice(folders.items(), _MAX_HOMELESS):
        commits = _commits_of_sessions(db, project)[:1] or marks(db, project, "root_commit")
        if commits and not any(_stands_in(path, commits) for path in paths):
            yield project, commits


def _stands_in(path: str, commits: list[str]) -> bool:
    """Return whether a folder is there and its repository may have commits of a project."""
    if not os.path.isdir(path):
        return False
    repository = open_repository(path)
    if repository is None:
        return os.path.isfile(os.path.join(path, "HEAD"))  # a bare repository, which only worktrees are made of
    return repository.has_any(commits) is not False


def _leave(db: sqlite3.Connection, project: str, gone: list[str]) -> None:
    """Have folders that are gone be former ones: whatever comes to stand there next is another project."""
    for folder in gone:
        values = {"project": project, "value": folder}
        db.execute(
            """insert or replace into project_marks (kind, value, project, last_seen_at)
               select 'former_path', value, project, last_seen_at from project_marks
               where kind = 'path' and value = :value and project = :project""",
            values,
        )
        db.execute("delete from project_marks where kind = 'path' and value = :value and project = :project", values)


def _note_root(db: sqlite3.Connection, place: Place, at: datetime) -> None:
    """Record the root commit of a place, looked for once a day: a history may be rewritten, and the commits of before
    are pruned after some weeks. '' stands for a root commit that is too far back."""
    row = db.execute(
        "select max(last_seen_at) from project_marks where kind = 'root_commit' and project = ?", (place.project,)
    ).fetchone()
    if not place.commit:
        return
    repository = open_repository(place.root)
    known = marks(db, place.project, "root_commit")
    is_recent = row[0] and at - text_to_time(row[0]) < _ROOT_EVERY
    if repository is None or (is_recent and (not known or repository.has_any(known) is not False)):
        return
    if not repository.is_shallow():
        put_mark(db, "root_commit", repository.root_commit(place.commit), place.project, at)


def _are_parted(db: sqlite3.Connection, one: str, other: str) -> bool:
    """Return whether the user undid that two projects are one."""
    row = db.execute(
        """select 1 from project_changes where undone_at is not null and kind <> 'rename'
             and ((source = :one and target = :other) or (source = :other and target = :one))""",
        {"one": one, "other": other},
    ).fetchone()
    return row is not None


def _new_id(db: sqlite3.Connection, wanted: str) -> str:
    """Return an id that no project has or is known by: the one wanted, else with a number behind it."""
    for number in range(1, _MAX_NAMESAKES):
        id_ = wanted if number == 1 else f"{wanted}#{number}"
        taken = db.execute(
            """select 1 from projects where id = :id union all
               select 1 from project_marks where project = :id or (value = :id and kind <> 'root_commit')""",
            {"id": id_},
        )
        if taken.fetchone() is None:
            break
    return id_


def is_known(db: sqlite3.Connection, project: str) -> bool:
    """Return whether there is a project of this id."""
    return db.execute("select 1 from projects where id = ?", (project,)).fetchone() is not None


def _is_empty(db: sqlite3.Connection, project: str) -> bool:
    row = db.execute(
        "select 1 from sessions where project = :id union all select 1 from memories where project = :id limit 1",
        {"id": project},
    )
    return row.fetchone() is None
