"""The projects that the worker knows, by their ids: their names and folders, and which one a page is about."""

from collections.abc import Mapping

from claude_mem_lite.client.client import Client
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.scopes import called
from claude_mem_lite.ui.templating import EVERY_PROJECT, Asked


def find(client: Client, project: str) -> JsonObject:
    """What is known of a project; of one that is not known, its id."""
    known = next((one for one in client.projects() if one.get("id") == project), None)
    return known if known is not None else {"id": project, "name": called(project, client.project_names()), "root": ""}


def with_project_name(one: JsonObject, names: Mapping[str, str]) -> JsonObject:
    """A memory or a session, with what its project is called."""
    return {**one, "project_name": called(text(one.get("project")), names)}


def chosen(asked: Asked) -> str:
    """Return the project that a page is about: the chosen one, else that of the folder where the page was started.

    '' stands for all projects, also when nothing is remembered of that folder's project."""
    if given := asked.chosen("project"):
        return "" if given == EVERY_PROJECT else given
    return of_folder(asked)


def of_folder(asked: Asked) -> str:
    """Return the project of the folder where the page was started; '' when nothing is remembered of it."""
    return asked.client.project_of(asked.folder) if asked.folder else ""
