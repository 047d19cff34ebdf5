"""The projects that the worker knows, by their ids: what to call them, and where they are."""

from claude_mem_lite.client import Client
from claude_mem_lite.models import JsonObject
from claude_mem_lite.scopes import project_name


def find(client: Client, project: str) -> JsonObject:
    """What is known of a project; of one that is not known, its id."""
    known = next((one for one in client.projects() if one.get("id") == project), None)
    return known if known is not None else {"id": project, "name": project_name(project), "root": ""}
