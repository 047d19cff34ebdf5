"""API of projects: list, merge, rename, move, split, undo.

The API resolves names. The command in the inbox holds ids, so that a replay changes the same projects."""

import os
from contextlib import closing

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.project import (
    ProjectChange,
    ProjectChanges,
    ProjectList,
    ProjectNames,
    ProjectRename,
    ProjectSplit,
)
from claude_mem_lite.store.projects import change_log, changes, lookup, rows
from claude_mem_lite.text import one_line
from claude_mem_lite.worker.api.routing import Body, Router, Running, wait
from claude_mem_lite.worker.services import Services

_MAX_PROJECTS = 500
_MAX_CHANGES = 50
MAX_NAME = 100
router = Router(prefix="/api/projects")


class Merge(Body):
    source: str
    """Project that ends, by id, name or folder."""
    into: str
    """Project that takes over sessions and memories."""


class Rename(Body):
    project: str
    name: str


class Move(Body):
    old: str
    new: str


class Split(Body):
    folder: str
    """Folder of a project."""
    name: str = ""
    """Name of the new project; '' for the name of the folder."""


class Undo(Body):
    change: str = ""
    """Id of a change; '' for the last one that was not undone."""


@router.get("")
def all_projects(services: Running) -> ProjectList:
    """Return the projects with sessions or memories, by last work."""
    with closing(services.readers.open()) as db:
        return ProjectList(tuple(rows.listed_projects(db, _MAX_PROJECTS)))


@router.get("/names")
def all_names(services: Running) -> ProjectNames:
    """Return the name of every project by id, also of empty projects."""
    with closing(services.readers.open()) as db:
        return ProjectNames(rows.project_names(db))


@router.get("/changes")
def all_changes(services: Running) -> ProjectChanges:
    """Return the last changes to projects, newest first, including undone ones."""
    with closing(services.readers.open()) as db:
        return ProjectChanges(tuple(change_log.newest(db, _MAX_CHANGES)))


@router.post("/merge")
def merge(wanted: Merge, services: Running) -> ProjectChange:
    with closing(services.readers.open()) as db:
        source, target = lookup.find(db, wanted.source), lookup.find(db, wanted.into)
    if source == target:
        raise MemoryLiteError(
            f"{wanted.source} and {wanted.into} are one project", "`claude-mem-lite projects` lists the projects"
        )
    return _change(services, {"command": "merge_projects", "source": source, "target": target})


@router.post("/rename")
def rename(wanted: Rename, services: Running) -> ProjectRename:
    """Give a project another name, also the name of another project."""
    name = _name(wanted.name)
    with closing(services.readers.open()) as db:
        project = lookup.find(db, wanted.project)
    change = _change(services, {"command": "rename_project", "source": project, "target": name})
    return response_from(ProjectRename, change, is_shared=_is_shared(services, project, name))


@router.post("/move")
def move(wanted: Move, services: Running) -> ProjectChange:
    """Record that a folder moved. Paths are resolved, like the folders of sessions."""
    if not os.path.isabs(wanted.old) or not os.path.isabs(wanted.new):
        raise MemoryLiteError("a project moves from one folder to another", "give both as absolute paths")
    old, new = os.path.realpath(wanted.old), os.path.realpath(wanted.new)
    if f"{new}/".startswith(f"{old}/"):
        raise MemoryLiteError(f"{new} is in {old}", "give the old folder, then the new one")
    return _change(services, {"command": "move_project", "source": old, "target": new})


@router.post("/split")
def split(wanted: Split, services: Running) -> ProjectSplit:
    """Make a folder a project of its own."""
    if not os.path.isabs(wanted.folder):
        raise MemoryLiteError("a folder of a project is split from it", "give the folder as an absolute path")
    name = _name(wanted.name) if wanted.name else ""
    folder = os.path.realpath(wanted.folder)
    with closing(services.readers.open()) as db:
        folder = changes.plan_split(db, folder, name).path
    change = _change(services, {"command": "split_project", "source": folder, "target": name})
    with closing(services.readers.open()) as db:
        called = lookup.name_of(db, change.target)
    return response_from(ProjectSplit, change, name=called, is_shared=_is_shared(services, change.target, called))


@router.post("/undo")
def undo(wanted: Undo, services: Running) -> ProjectChange:
    with closing(services.readers.open()) as db:
        left = [change for change in change_log.newest(db, _MAX_CHANGES) if change.undone_at is None]
        if not wanted.change and not left:
            raise NotFound("there is no change to projects that could be undone")
        change = change_log.get(db, wanted.change) if wanted.change else left[0]
    return _change(services, {"command": "undo_project_change", "change": change.id})


def _change(services: Services, command: JsonObject) -> ProjectChange:
    (id_,) = wait(services.commands.put(command))
    with closing(services.readers.open()) as db:
        return change_log.get(db, id_)


def _name(given: str) -> str:
    """Return the stored form of a project's name."""
    name = one_line(clean(given)).strip()
    if not name or len(name) > MAX_NAME or "/" in name or "=" in name:
        raise MemoryLiteError(f"{given[:MAX_NAME]!r} is no name", f"use up to {MAX_NAME} characters without / and =")
    return name


def _is_shared(services: Services, project: str, name: str) -> bool:
    """Return True if another project that holds something has the name."""
    with closing(services.readers.open()) as db:
        listed = rows.listed_projects(db, _MAX_PROJECTS)
    return any(other.name.casefold() == name.casefold() for other in listed if other.id != project)
