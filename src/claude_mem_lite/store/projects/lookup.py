"""The project that a folder, a name or a remote means. Reads only; `project_marks.note` records what was seen.

A project keeps the id it was given first. Its marks are its remotes, its folders, its git folders and the root commits
of its history: when one of them changes, the others still lead to the same project.

Rules, in this order:
1. A folder and a remote that lead to the same project are believed, whatever became of its history.
2. One of them alone leads to its project, unless the project's root commits are all missing in the repository there and
   its git folder is another one: then a namesake stands in its place, and is a project of its own. A repository without
   commits proves nothing: its remote leads to no project that has a root commit.
3. Where folder and remote lead to two projects, the remote's counts, and the folder's project joins it if it has no
   other folder, see `Identity.joins`. What the user took apart stays apart.
4. A git folder leads to its project where no folder does. So does a former folder that stands again, if it has a root
   commit of its project.
5. A repository at an unknown folder is the project that stands in none of its folders any more, if it has the commit
   that was last worked on there; with a remote of its own it is none that has other remotes.
6. All else is a new project."""

import os
import shlex
import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.code.git.project_identity import find_place, normalise_remote
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import Place
from claude_mem_lite.scopes import project_name
from claude_mem_lite.store.projects import change_log
from claude_mem_lite.store.projects.evidence import Evidence, moved_here
from claude_mem_lite.store.projects.listing import is_empty, listed
from claude_mem_lite.store.projects.marks import MarkKind, current_id, is_known, marks, owner, put_former_id

_MAX_NAMESAKES = 10_000


@dataclass(frozen=True, slots=True)
class Identity:
    """The project of a place."""

    project: str
    joins: str = ""
    """Another project that was found to be the same one; '' when there is none."""


def locate(db: sqlite3.Connection, folder: str) -> Place:
    """Return the place of a folder, with the project that is stored under its marks."""
    return recognise(db, find_place(folder))


def recognise(db: sqlite3.Connection, place: Place) -> Place:
    """Return the place with the id and name of the project that its marks lead to."""
    project = identify(db, place).project
    return replace(place, project=project, name=name_of(db, project) or place.name)


def name_of(db: sqlite3.Connection, project: str) -> str:
    """Return what a project is called; '' when it is not known."""
    row = db.execute("select name from projects where id = ?", (project,)).fetchone()
    return str(row["name"]) if row else ""


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
    evidence = Evidence(db, place)
    by_path = owner(db, _path_kinds(place.path), place.path)
    by_remote = owner(db, ("remote",), place.remote)
    if by_path and by_path == by_remote:
        return Identity(by_path)
    if by_path and evidence.holds(by_path, by_sessions=True) is False:
        by_path = ""
    if by_remote and not evidence.may_be(by_remote):
        by_remote = ""
    if not by_path:
        by_path = owner(db, ("git_folder",), place.git_folder)
    if not by_path and (former := owner(db, ("former_path",), place.path)) and evidence.holds(former) is True:
        by_path = former
    if by_path and by_remote and by_path != by_remote:
        if change_log.are_parted(db, by_path, by_remote):
            return Identity(by_path)
        joins = not _other_folder(db, by_path, place.path) and evidence.may_join(by_remote)
        return Identity(by_remote, by_path if joins else "")
    return Identity(by_remote or by_path or moved_here(db, place, evidence) or new_id(db, place.project))


def adopt(db: sqlite3.Connection, wanted: str, root: str, at: datetime) -> str:
    """Return the project of what comes from elsewhere: by its folder, if that is what the id was made of, else by the
    id, which leads to that project from now on."""
    place = find_place(root)
    project = recognise(db, place).project if place.project == wanted else current_id(db, wanted)
    if project != wanted and current_id(db, wanted) == wanted:
        put_former_id(db, wanted, project, at)
    return project


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
    full = [one for one in called if not is_empty(db, one)] or called
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


def _path_kinds(path: str) -> tuple[MarkKind, ...]:
    return ("path",) if os.path.isdir(path) else ("path", "former_path")


def _other_folder(db: sqlite3.Connection, project: str, path: str) -> bool:
    """Return whether a project has a folder besides this one that is there."""
    return any(one != path and os.path.isdir(one) for one in marks(db, project, "path"))


def new_id(db: sqlite3.Connection, wanted: str, *, besides: str = "") -> str:
    """Return an id that no project has or is known by, `besides` one: the id that is wanted, else with a number."""
    for number in range(1, _MAX_NAMESAKES):
        id_ = wanted if number == 1 else f"{wanted}#{number}"
        taken = db.execute(
            """select 1 from projects where id = :id union all
               select 1 from project_marks where project = :id
                 or (value = :id and kind in ('remote', 'path', 'former_path') and project <> :besides)""",
            {"id": id_, "besides": besides},
        )
        if taken.fetchone() is None:
            break
    return id_
