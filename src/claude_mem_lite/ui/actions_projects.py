"""Actions of the page of projects: merge, rename, move, split and undo, as `claude-mem-lite projects` does them."""

import os
from collections.abc import Mapping

from claude_mem_lite.client.client import Client
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.ui.templating import Action


def _merge(client: Client, given: JsonObject) -> JsonObject:
    body = {name: text(given.get(name)) for name in ("source", "into")}
    return _changed(client, "merge", body, "Merged: the two are one project now.")


def _rename(client: Client, given: JsonObject) -> JsonObject:
    body = {name: text(given.get(name)) for name in ("project", "name")}
    return _changed(client, "rename", body, f"Renamed to {body['name']}.")


def _move(client: Client, given: JsonObject) -> JsonObject:
    body = {name: os.path.expanduser(text(given.get(name)).strip()) for name in ("old", "new")}
    return _changed(client, "move", body, f"Moved: its sessions and memories are found in {body['new']} now.")


def _split(client: Client, given: JsonObject) -> JsonObject:
    body = {"folder": text(given.get("folder")), "name": text(given.get("name")).strip()}
    return _changed(client, "split", body, f"Split: {body['folder']} is a project of its own now.")


def _undo(client: Client, given: JsonObject) -> JsonObject:
    client.change_projects("undo", {"change": text(given.get("change"))})
    return {"message": "Undone."}


def _changed(client: Client, what: str, body: JsonObject, message: str) -> JsonObject:
    change = client.change_projects(what, body)
    return {"message": message, "undo": {"do": "undo_project", "with": {"change": text(change.get("id"))}}}


PROJECT_ACTIONS: Mapping[str, Action] = {
    "merge_project": _merge,
    "rename_project": _rename,
    "move_project": _move,
    "split_project": _split,
    "undo_project": _undo,
}
