"""Actions of the pages of health, memories, quarantine, lessons and projects; most do the same as a command of their
name.

`forget` and `drop` erase at once. The page waits before it sends them, so that the user can cancel."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Literal

from claude_mem_lite.client.base import quoted
from claude_mem_lite.client.client import Client
from claude_mem_lite.errors import MemoryLiteError, NotFound, WorkerRefused
from claude_mem_lite.models import OUTSIDE_ORIGINS, JsonObject, JsonValue, text, texts
from claude_mem_lite.responses.memories import MemoryRecord, StoredMemory
from claude_mem_lite.text import counted
from claude_mem_lite.ui.templating import Action, id_of


def retry(client: Client, given: JsonObject) -> JsonObject:
    """Queue a failed event again, or all if none is named."""
    event = given.get("id")
    return {"message": client.retry(event if isinstance(event, int) else None).sentence()}


def try_model(client: Client, _: JsonObject) -> JsonObject:
    """Ask the model for one word."""
    trial = client.try_model()
    if trial.problem:
        return {"message": f"No answer: {trial.problem}" + (f"; {trial.next_step}." if trial.next_step else ".")}
    took = f"{trial.ms:,.0f} ms and {counted(trial.tokens, 'token')}"
    return {"message": f"{trial.model} answered. That took {took}."}


def back_up(client: Client, _: JsonObject) -> JsonObject:
    """Make a backup."""
    made = client.backup()
    return {"message": f"Backup made, with {counted(made.memories, 'memory', 'memories')}: {made.path}"}


HEALTH_ACTIONS: Mapping[str, Action] = {"retry": retry, "try_model": try_model, "back_up": back_up}


MAX_SELECTED = 500


def said(memory: StoredMemory) -> str:
    """Return the whole text of a memory, in the form in which the user edits it."""
    facts = "\n".join(f"- {fact}" for fact in memory.facts)
    parts = (memory.summary, memory.detail, facts)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def mark_of(memory: StoredMemory) -> str:
    """Return a hash of all fields that can be edited, to notice a change during an edit."""
    shown = [said(memory), memory.title, memory.kind, memory.scope, memory.tags]
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:16]


def _pin(client: Client, given: JsonObject) -> JsonObject:
    is_pinned = given.get("pinned") is True
    client.pin(id_of(given), pinned=is_pinned)
    return {"message": "Pinned: it is given first, and nothing replaces it." if is_pinned else "No longer pinned."}


def _confirm(client: Client, given: JsonObject) -> JsonObject:
    client.confirm(id_of(given))  # in its own project's folder, so that it is tied to the code as it stands there
    return {"message": "Confirmed: it holds."}


def _retire(client: Client, given: JsonObject) -> JsonObject:
    active = _active(client, [id_of(given)])
    client.retire(id_of(given), reason=text(given.get("reason")))
    return {"message": "Retired: it stays readable here, and no session gets it.", **_reinstating(active)}


def _retire_all(client: Client, given: JsonObject) -> JsonObject:
    """Retire several memories; a failure for a memory does not stop the rest."""
    ids = texts(given.get("ids"))
    if not ids:
        raise MemoryLiteError("no memory is selected", "select some by their boxes first")
    if len(ids) > MAX_SELECTED:
        raise MemoryLiteError(f"{len(ids):,} memories are too many at once", f"select up to {MAX_SELECTED}")
    active = _active(client, ids)
    retired: list[str] = []
    refusals: list[str] = []
    for id_ in ids:
        try:
            retired.append(client.retire(id_).id)
        except (NotFound, WorkerRefused) as error:
            refusals.append(error.message)
    if not retired:
        raise MemoryLiteError(f"nothing was retired: {refusals[0]}", "load the page again")
    message = f"Retired {counted(len(retired), 'memory', 'memories')}: found under the status “retired”."
    if refusals:
        message += f" {counted(len(refusals), 'other was', 'others were')} not: {refusals[0]}."
    return {"message": message, **_reinstating([id_ for id_ in retired if id_ in active])}


def _active(client: Client, ids: Sequence[str]) -> list[str]:
    """Return the ids of active memories: only their retirement can be undone."""
    found: list[str] = []
    for id_ in ids:
        with suppress(NotFound):
            memory = client.memory(id_)
            if memory.status == "active":
                found.append(memory.id)
    return found


def _reinstating(ids: Sequence[str]) -> JsonObject:
    """Return the action that undoes retirements, for the page."""
    return {"undo": {"do": "reinstate", "with": {"ids": list(ids)}}} if ids else {}


def _reinstate(client: Client, given: JsonObject) -> JsonObject:
    ids = texts(given.get("ids"))[:MAX_SELECTED]
    for id_ in ids:
        client.reinstate(id_)
    return {"message": f"{counted(len(ids), 'memory is', 'memories are')} active again, as before."}


def _edit(client: Client, given: JsonObject) -> JsonObject:
    memory = client.memory(id_of(given))
    if given.get("mark") != mark_of(memory):
        raise MemoryLiteError("it was changed while you edited it", "copy what you wrote, and load the page again")
    changes = _changes(memory, given)
    if not changes:
        return {"message": "Nothing was changed."}
    changed = client.change(memory.id, changes)
    is_others = changed.origin in OUTSIDE_ORIGINS or changed.status == "quarantined"
    return {
        "message": "Saved. The text still counts as written by someone else."
        if is_others
        else "Saved: it is your word now."
    }


def _changes(memory: MemoryRecord, given: JsonObject) -> JsonObject:
    """Return the fields that differ from the stored ones; a field that was not sent stays as it is."""
    shown = {"title": memory.title, "text": said(memory), "kind": memory.kind, "scope": memory.scope}
    sent = {name: _typed(given[name]) for name in shown if name in given}
    changes: dict[str, JsonValue] = {name: value for name, value in sent.items() if value != shown[name].strip()}
    for name in ("title", "text"):
        if not changes.get(name, "-"):
            raise MemoryLiteError("a memory needs a title and some text", "forget it if nothing of it holds")
    if "text" in changes and "title" in sent:
        changes["title"] = sent["title"]  # it was there to be seen, and was left: it is not to follow the text
    if "tags" in given:
        before = memory.tags
        after = [tag.strip() for tag in text(given["tags"]).split(",") if tag.strip()]
        changes |= {"tags": [tag for tag in after if tag not in before]} if set(after) - set(before) else {}
        changes |= {"untags": [tag for tag in before if tag not in after]} if set(before) - set(after) else {}
    return changes


def _typed(value: JsonValue) -> str:
    return text(value).replace("\r\n", "\n").strip()


def _replace(client: Client, given: JsonObject) -> JsonObject:
    """Replace a memory by another memory, or by a new text."""
    id_ = id_of(given)
    words, named = _typed(given.get("text")), _typed(given.get("successor")).lstrip("#")
    if not words and not named:
        raise MemoryLiteError("nothing was given to take its place", "name another by its id, or write a new one")
    replaced = client.supersede(id_, successor=named or _stored(client, client.memory(id_), words))
    return {"message": "Replaced.", "go": f"/memories/{quoted(replaced.superseded_by or '')}"}


def _stored(client: Client, memory: MemoryRecord, words: str) -> str:
    """Store a text with the kind, scope, tags and project of a memory, and return its id."""
    stored = client.remember(memory.kind, words, scope=memory.scope, tags=memory.tags, project=memory.project)
    return stored.id


def _approve(client: Client, given: JsonObject) -> JsonObject:
    approved = client.approve(texts(given.get("ids")))
    number = counted(len(approved), "memory", "memories")
    return {"message": f"Let {number} out of quarantine: found by search from now on."}


def _forget(client: Client, given: JsonObject) -> JsonObject:
    client.forget(ids=[id_of(given)], session=None, project=None)
    return {"message": "Forgotten for good.", "go": "/"}


def _drop(client: Client, given: JsonObject) -> JsonObject:
    dropped = client.drop(texts(given.get("ids")))
    return {"message": f"Dropped {counted(len(dropped), 'memory', 'memories')} for good."}


MEMORY_ACTIONS: Mapping[str, Action] = {
    "pin": _pin,
    "confirm": _confirm,
    "retire": _retire,
    "retire_all": _retire_all,
    "reinstate": _reinstate,
    "edit": _edit,
    "replace": _replace,
    "approve": _approve,
    "forget": _forget,
    "drop": _drop,
}


def _accept_lesson(client: Client, given: JsonObject) -> JsonObject:
    accepted = client.accept_lessons(texts(given.get("ids")))
    words = " ".join(f"“{lesson.text}”" for lesson in accepted.lessons)
    return {"message": f"Accepted, now a rule: {words}"}


def _dismiss_lesson(client: Client, given: JsonObject) -> JsonObject:
    client.dismiss_lessons(texts(given.get("ids")))
    return {"message": "Dismissed: neither it nor a paraphrase comes back."}


def _edit_lesson(client: Client, given: JsonObject) -> JsonObject:
    words = text(given.get("text")).strip()
    if not words:
        raise MemoryLiteError("a lesson needs some text", "dismiss it if nothing of it holds")
    client.edit_lesson(id_of(given), words)
    return {"message": "Saved: it is your word now."}


LESSON_ACTIONS: Mapping[str, Action] = {
    "accept_lesson": _accept_lesson,
    "dismiss_lesson": _dismiss_lesson,
    "edit_lesson": _edit_lesson,
}


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


def _changed(
    client: Client, what: Literal["merge", "rename", "move", "split"], body: JsonObject, message: str
) -> JsonObject:
    change = client.change_projects(what, body)
    return {"message": message, "undo": {"do": "undo_project", "with": {"change": change.id}}}


PROJECT_ACTIONS: Mapping[str, Action] = {
    "merge_project": _merge,
    "rename_project": _rename,
    "move_project": _move,
    "split_project": _split,
    "undo_project": _undo,
}
