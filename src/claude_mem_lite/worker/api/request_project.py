"""Project and folder of a request, found once for all parameters of a handler that need them."""

from contextlib import closing
from typing import Annotated, NamedTuple

from claude_mem_lite.errors import InvalidRequest
from claude_mem_lite.models import Location
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.api.routing import From, Running


class ProjectChoice(NamedTuple):
    """Project that a request is about."""

    id: str | None
    """None for all projects."""
    folder: str
    """Folder whose code memories are compared with; '' for none."""


class FolderChoice(NamedTuple):
    """Folder that a request is about, with its project."""

    folder: str
    location: Location


def choose_project(services: Running, cwd: str = "", all_projects: bool = False, project: str = "") -> ProjectChoice:
    """Return the project by id or name, else the folder's project, unless all projects are chosen.

    The folder of a project is the one where the project was last worked on."""
    if all_projects and not project:
        return ProjectChoice(None, cwd)
    with closing(services.readers.open()) as db:
        if not project:
            return ProjectChoice(lookup.locate(db, cwd).project, cwd)
        id_ = lookup.find(db, project)
        return ProjectChoice(id_, cwd or lookup.location_of(db, id_).root)


def _choose_project_or_all(
    services: Running, cwd: str = "", all_projects: bool = True, project: str = ""
) -> ProjectChoice:
    return choose_project(services, cwd, all_projects, project)


def choose_folder(services: Running, cwd: str = "", project: str = "") -> FolderChoice:
    """Return a folder with its project, or the folder where a project was last worked on."""
    if not project and not cwd:
        raise InvalidRequest("Field required", "query", "cwd")
    with closing(services.readers.open()) as db:
        if not project:
            return FolderChoice(cwd, lookup.locate(db, cwd))
        location = lookup.location_of(db, lookup.find(db, project))
        return FolderChoice(location.root or "/", location)


RequestProject = Annotated[ProjectChoice, From(choose_project)]
"""Project of a request; the folder's project by default."""
RequestProjectOrAll = Annotated[ProjectChoice, From(_choose_project_or_all)]
"""Project of a request; all projects by default."""
RequestFolder = Annotated[FolderChoice, From(choose_folder)]
