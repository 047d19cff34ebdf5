"""The projects that the worker knows, by their ids: what to call them, and where they are."""

from claude_mem_lite.client import Client
from claude_mem_lite.models import JsonObject, text


def find(client: Client, project: str) -> JsonObject:
    """What is known of a project; of one that is not known, its id."""
    known = next((one for one in client.projects() if one.get("id") == project), None)
    return known if known is not None else {"id": project, "name": project.rstrip("/").rpartition("/")[2], "root": ""}


def root_of(client: Client, project: str) -> str:
    """The folder in which a project was seen last; nothing when none is known."""
    return text(find(client, project).get("root"))
