"""The API of projects: those that hold something, and how they are merged, renamed, moved and split, and that undone.

Names are resolved here: the command in the inbox holds ids, so that replaying it means the same projects."""

import os
from contextlib import closing
from dataclasses import asdict

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.models import JsonObject
from claude_mem_lite.store.projects import change_log, listing, lookup, splits
from claude_mem_lite.text import one_line
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Running, wait
from claude_mem_lite.worker.loop import Loop

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


class Split(Body):
    folder: str
    """A folder of a project, which is to be a project of its own."""
    name: str = ""
    """What the new project is called; without one, as its folder is."""


class Undo(Body):
    change: str = ""
    """The id of a change; without one, the last that was not undone."""


@router.get("")
def all_projects(loop: Running) -> dict[str, object]:
    """The projects that hold sessions or memories, those last worked on first."""
    with closing(loop.readers.open()) as db:
        return {"projects": [asdict(one) for one in listing.listed(db, _MAX_PROJECTS)]}


@router.get("/names")
def all_names(loop: Running) -> dict[str, object]:
    """What every project is called, by its id; those that hold nothing included."""
    with closing(loop.readers.open()) as db:
        return {"names": listing.names(db)}


@router.get("/changes")
def all_changes(loop: Running) -> dict[str, object]:
    """The last changes to projects, newest first, those that were undone included."""
    with closing(loop.readers.open()) as db:
        return {"changes": [asdict(one) for one in change_log.newest(db, _MAX_CHANGES)]}


@router.post("/merge")
def merge(wanted: Merge, loop: Running) -> dict[str, object]:
    with closing(loop.readers.open()) as db:
        source, target = lookup.find(db, wanted.source), lookup.find(db, wanted.into)
    if source == target:
        raise MemoryLiteError(
            f"{wanted.source} and {wanted.into} are one project", "`claude-mem-lite projects` lists the projects"
        )
    return _change(loop, {"command": "merge_projects", "source": source, "target": target})


@router.post("/rename")
def rename(wanted: Rename, loop: Running) -> dict[str, object]:
    """Give a project another name, also one that another project has: `is_shared` says so."""
    name = _name(wanted.name)
    with closing(loop.readers.open()) as db:
        project = lookup.find(db, wanted.project)
    change = _change(loop, {"command": "rename_project", "source": project, "target": name})
    return {**change, "is_shared": _is_shared(loop, project, name)}


@router.post("/move")
def move(wanted: Move, loop: Running) -> dict[str, object]:
    """Folders are named by where they really are, as those of sessions."""
    if not os.path.isabs(wanted.old) or not os.path.isabs(wanted.new):
        raise MemoryLiteError("a project moves from one folder to another", "give both as absolute paths")
    old, new = os.path.realpath(wanted.old), os.path.realpath(wanted.new)
    if f"{new}/".startswith(f"{old}/"):
        raise MemoryLiteError(f"{new} is in {old}", "give the old folder, then the new one")
    return _change(loop, {"command": "move_project", "source": old, "target": new})


@router.post("/split")
def split(wanted: Split, loop: Running) -> dict[str, object]:
    """Make a folder a project of its own; `name` is what it is called, and `is_shared` whether another is too."""
    if not os.path.isabs(wanted.folder):
        raise MemoryLiteError("a folder of a project is split from it", "give the folder as an absolute path")
    name = _name(wanted.name) if wanted.name else ""
    folder = os.path.realpath(wanted.folder)
    with closing(loop.readers.open()) as db:
        folder = splits.plan(db, folder, name).path
    change = _change(loop, {"command": "split_project", "source": folder, "target": name})
    project = str(change["target"])
    with closing(loop.readers.open()) as db:
        called = lookup.name_of(db, project)
    return {**change, "name": called, "is_shared": _is_shared(loop, project, called)}


@router.post("/undo")
def undo(wanted: Undo, loop: Running) -> dict[str, object]:
    with closing(loop.readers.open()) as db:
        left = [one for one in change_log.newest(db, _MAX_CHANGES) if one.undone_at is None]
        if not wanted.change and not left:
            raise NotFound("there is no change to projects that could be undone")
        change = change_log.get(db, wanted.change) if wanted.change else left[0]
    return _change(loop, {"command": "undo_project_change", "change": change.id})


def _change(loop: Loop, command: JsonObject) -> dict[str, object]:
    (id_,) = wait(loop.command(command))
    with closing(loop.readers.open()) as db:
        return asdict(change_log.get(db, id_))


def _name(given: str) -> str:
    """Return a name for a project as it is stored."""
    name = one_line(clean(given)).strip()
    if not name or len(name) > MAX_NAME or "/" in name or "=" in name:
        raise MemoryLiteError(f"{given[:MAX_NAME]!r} is no name", f"use up to {MAX_NAME} characters without / and =")
    return name


def _is_shared(loop: Loop, project: str, name: str) -> bool:
    """Return whether another project that holds something is called so too."""
    with closing(loop.readers.open()) as db:
        listed = listing.listed(db, _MAX_PROJECTS)
    return any(one.name.casefold() == name.casefold() for one in listed if one.id != project)
