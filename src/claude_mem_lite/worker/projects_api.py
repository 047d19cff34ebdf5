"""The API of projects: those that hold something, and how they are merged, renamed and moved, and that undone.

Names are resolved here: the command in the inbox holds ids, so that replaying it means the same projects."""

import os
from contextlib import closing
from dataclasses import asdict

from claude_mem_lite.compress.language.clean import clean
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store import project_changes, projects
from claude_mem_lite.words import one_line
from claude_mem_lite.worker.api import Running, wait
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.routing import Body, Router

_MAX_PROJECTS = 500
_MAX_CHANGES = 50
MAX_NAME = 100
router = Router(prefix="/api/projects")


class Merge(Body):
    source: str
    """The project that ends, by its id, name or folder."""
    into: str
    """The project that has all of it afterwards."""


class Rename(Body):
    project: str
    name: str


class Move(Body):
    old: str
    new: str


class Undo(Body):
    change: str = ""
    """The id of a change; without one, the last that was not undone."""


@router.get("")
def project_list(loop: Running) -> dict[str, object]:
    """The projects that hold sessions or memories, those last worked on first."""
    with closing(loop.readers.open()) as db:
        return {"projects": [asdict(one) for one in projects.listed(db, _MAX_PROJECTS)]}


@router.get("/names")
def project_names(loop: Running) -> dict[str, object]:
    """What every project is called, by its id; those that hold nothing included."""
    with closing(loop.readers.open()) as db:
        return {"names": projects.names(db)}


@router.get("/changes")
def change_list(loop: Running) -> dict[str, object]:
    """The last changes to projects, newest first, those that were undone included."""
    with closing(loop.readers.open()) as db:
        return {"changes": [asdict(one) for one in project_changes.newest(db, _MAX_CHANGES)]}


@router.post("/merge")
def merge(wanted: Merge, loop: Running) -> dict[str, object]:
    with closing(loop.readers.open()) as db:
        source, target = projects.find(db, wanted.source), projects.find(db, wanted.into)
    if source == target:
        raise MemoryLiteError(
            f"{wanted.source} and {wanted.into} are one project", "`claude-mem-lite projects` lists the projects"
        )
    return _change(loop, {"command": "merge_projects", "source": source, "target": target})


@router.post("/rename")
def rename(wanted: Rename, loop: Running) -> dict[str, object]:
    """Give a project another name, also one that another project has: `is_shared` says so."""
    name = one_line(clean(wanted.name)).strip()
    if not name or len(name) > MAX_NAME or "/" in name or "=" in name:
        raise MemoryLiteError(
            f"{wanted.name[:MAX_NAME]!r} is no name", f"use up to {MAX_NAME} characters without / and ="
        )
    with closing(loop.readers.open()) as db:
        project = projects.find(db, wanted.project)
        others = [one.name.casefold() for one in projects.listed(db, _MAX_PROJECTS) if one.id != project]
    change = _change(loop, {"command": "rename_project", "source": project, "target": name})
    return {**change, "is_shared": name.casefold() in others}


@router.post("/move")
def move(wanted: Move, loop: Running) -> dict[str, object]:
    """Folders are named by where they really are, as those of sessions."""
    if not os.path.isabs(wanted.old) or not os.path.isabs(wanted.new):
        raise MemoryLiteError("a project moves from one folder to another", "give both as absolute paths")
    old, new = os.path.realpath(wanted.old), os.path.realpath(wanted.new)
    if f"{new}/".startswith(f"{old}/"):
        raise MemoryLiteError(f"{new} is in {old}", "give the old folder, then the new one")
    return _change(loop, {"command": "move_project", "source": old, "target": new})


@router.post("/undo")
def undo(wanted: Undo, loop: Running) -> dict[str, object]:
    with closing(loop.readers.open()) as db:
        left = [one for one in project_changes.newest(db, _MAX_CHANGES) if one.undone_at is None]
        if not wanted.change and not left:
            raise NotFound("there is no change to projects that could be undone")
        change = project_changes.get(db, wanted.change) if wanted.change else left[0]
    return _change(loop, {"command": "undo_project_change", "change": change.id})


def _change(loop: Loop, command: JsonObject) -> dict[str, object]:
    (id_,) = wait(loop.command(command))
    with closing(loop.readers.open()) as db:
        return asdict(project_changes.get(db, id_))
