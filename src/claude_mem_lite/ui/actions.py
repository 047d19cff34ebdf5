"""What can be done from the page of health: try again what failed, ask the model for a word, make a backup.

What can be done to a memory from its page, and about what is held back: each as the command of that name does it.

`forget` and `drop` erase at once: the page waits before it sends them, so that they can be taken back until then.

Actions of the page of projects: merge, rename, move, split and undo, as `claude-mem-lite projects` does them."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress

from claude_mem_lite.client.client import Client, quoted
from claude_mem_lite.client.responses import number, whole
from claude_mem_lite.errors import MemoryLiteError, NotFound, WorkerRefused
from claude_mem_lite.models import OUTSIDE_ORIGINS, JsonObject, JsonValue, text, texts
from claude_mem_lite.text import counted
from claude_mem_lite.ui.templating import Action, id_of


def retry(client: Client, given: JsonObject) -> JsonObject:
    """Put one of what failed back to work, or all of it when none is named."""
    event = given.get("id")
    events, turns = client.retry(event if isinstance(event, int) else None)
    put_back = [counted(events, "event")] if events or not turns else []
    put_back += [counted(turns, "turn")] if turns else []
    return {"message": f"{' and '.join(put_back)} put back to work."}


def try_model(client: Client, _: JsonObject) -> JsonObject:
    """Ask the model for one word, and say whether it answered."""
    told = client.try_model()
    model, problem, next_step = (text(told.get(name)) for name in ("model", "problem", "next_step"))
    if problem:
        return {"message": f"No answer: {problem}" + (f"; {next_step}." if next_step else ".")}
    took = f"{number(told, 'ms'):,.0f} ms and {counted(whole(told, 'tokens'), 'token')}"
    return {"message": f"{model} answered. That took {took}."}


def back_up(client: Client, _: JsonObject) -> JsonObject:
    """Have a backup made now."""
    told = client.backup()
    memories = counted(whole(told, "memories"), "memory", "memories")
    return {"message": f"Backup made, with {memories}: {text(told.get('path'))}"}


HEALTH_ACTIONS: Mapping[str, Action] = {"retry": retry, "try_model": try_model, "back_up": back_up}


MAX_SELECTED = 500


def said(memory: JsonObject) -> str:
    """All that a memory says, as it is edited."""
    facts = "\n".join(f"- {fact}" for fact in texts(memory.get("facts")))
    parts = (text(memory.get("summary")), text(memory.get("detail")), facts)
    return "\n\n".join(part.strip() for part in parts if part.strip())


def mark_of(memory: JsonObject) -> str:
    """Changes whenever something changes that can be edited: whoever edits what he did not see is told so."""
    shown = [said(memory), *(memory.get(name) for name in ("title", "kind", "scope", "tags"))]
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
    return {"message": "Retired: it stays readable here and is given to nobody.", **_reinstating(active)}


def _retire_all(client: Client, given: JsonObject) -> JsonObject:
    """Retire each of several memories; one that cannot be retired keeps none of the others from it."""
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
            retired.append(text(client.retire(id_).get("id")))
        except (NotFound, WorkerRefused) as error:
            refusals.append(error.message)
    if not retired:
        raise MemoryLiteError(f"nothing was retired: {refusals[0]}", "load the page again")
    message = f"Retired {counted(len(retired), 'memory', 'memories')}: found under the status “retired”."
    if refusals:
        message += f" {counted(len(refusals), 'other was', 'others were')} not: {refusals[0]}."
    return {"message": message, **_reinstating([id_ for id_ in retired if id_ in active])}


def _active(client: Client, ids: Sequence[str]) -> list[str]:
    """Those of some memories that are active: only their retirement can be undone."""
    found: list[str] = []
    for id_ in ids:
        with suppress(NotFound):
            memory = client.memory(id_)
            if memory.get("status") == "active":
                found.append(text(memory.get("id")))
    return found


def _reinstating(ids: Sequence[str]) -> JsonObject:
    """What the page sends to undo a retirement, if there is anything to undo."""
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
    changed = client.change(text(memory.get("id")), changes)
    is_others = changed.get("origin") in OUTSIDE_ORIGINS or changed.get("status") == "quarantined"
    return {"message": "Saved. Its words are still somebody else's." if is_others else "Saved: it is your word now."}


def _changes(memory: JsonObject, given: JsonObject) -> JsonObject:
    """What differs from what is stored; a field that was not sent stays as it is."""
    shown = {"title": text(memory.get("title")), "text": said(memory)}
    shown |= {name: text(memory.get(name)) for name in ("kind", "scope")}
    sent = {name: _typed(given[name]) for name in shown if name in given}
    changes: dict[str, JsonValue] = {name: value for name, value in sent.items() if value != shown[name].strip()}
    for name in ("title", "text"):
        if not changes.get(name, "-"):
            raise MemoryLiteError("a memory needs a title and some text", "forget it if nothing of it holds")
    if "text" in changes and "title" in sent:
        changes["title"] = sent["title"]  # it was there to be seen, and was left: it is not to follow the text
    if "tags" in given:
        before = texts(memory.get("tags"))
        after = [tag.strip() for tag in text(given["tags"]).split(",") if tag.strip()]
        changes |= {"tags": [tag for tag in after if tag not in before]} if set(after) - set(before) else {}
        changes |= {"untags": [tag for tag in before if tag not in after]} if set(before) - set(after) else {}
    return changes


def _typed(value: JsonValue) -> str:
    return text(value).replace("\r\n", "\n").strip()


def _replace(client: Client, given: JsonObject) -> JsonObject:
    """Another memory takes its place: one that is there, by its id, or one of new words."""
    id_ = id_of(given)
    words, named = _typed(given.get("text")), _typed(given.get("successor")).lstrip("#")
    if not words and not named:
        raise MemoryLiteError("nothing was given to take its place", "name another by its id, or write a new one")
    replaced = client.supersede(id_, successor=named or _stored(client, client.memory(id_), words))
    return {"message": "Replaced.", "go": f"/memories/{quoted(text(replaced.get('superseded_by')))}"}


def _stored(client: Client, memory: JsonObject, words: str) -> str:
    """The id of new words that hold where a memory does."""
    stored = client.remember(
        text(memory.get("kind")),
        words,
        scope=text(memory.get("scope")),
        tags=texts(memory.get("tags")),
        project=text(memory.get("project")),
    )
    return text(stored.get("id"))


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
