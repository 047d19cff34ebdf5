"""Commands of the user that change projects: merge, rename, move, split, undo."""

import sqlite3
from dataclasses import asdict, fields
from datetime import datetime

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.models import JsonObject, text, texts
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import changes, marks
from claude_mem_lite.store.projects.changes import SplitPlan

COMMANDS = ("merge_projects", "rename_project", "move_project", "split_project", "undo_project_change")


def carry_out(name: str, payload: JsonObject, queue: Queue, db: sqlite3.Connection, now: datetime) -> str:
    """Merge, rename, move or split projects, or undo a change; return the id of the change."""
    change, at = short_id(name), time_of(name)
    source, target = text(payload.get("source")), text(payload.get("target"))
    if payload.get("command") == "move_project":
        taken_by = _takers(name, source, target, queue, db)
    elif payload.get("command") == "split_project":
        split = _split(name, source, target, queue, db)
    with atomic(db):
        if payload.get("command") == "merge_projects":
            source, target = marks.current_id(db, source), marks.current_id(db, target)
            changes.merge(db, change, source, target, at)
        elif payload.get("command") == "rename_project":
            changes.rename(db, change, marks.current_id(db, source), target, at)
        elif payload.get("command") == "move_project":
            changes.move(db, change, source, target, at, taken_by)
        elif payload.get("command") == "split_project":
            changes.split(db, change, split, at)
        else:
            change = changes.undo(db, text(payload.get("change")), now).id
    return change


def _takers(name: str, old: str, new: str, queue: Queue, db: sqlite3.Connection) -> dict[str, str]:
    """Return the projects that take in the moved ones, as found when the command was first executed."""
    found = event_history.findings_of(queue, name).get("takers")
    if not isinstance(found, dict):
        found = dict(changes.takers(db, old, new))
        event_history.note_findings(queue, name, {"takers": found})
    return {folder: text(project) for folder, project in found.items()}


def _split(name: str, folder: str, called: str, queue: Queue, db: sqlite3.Connection) -> SplitPlan:
    """Return the plan of a split, as found when the command was first executed."""
    found = event_history.findings_of(queue, name).get("split")
    if not isinstance(found, dict):
        split = changes.plan_split(db, folder, called)
        event_history.note_findings(queue, name, {"split": {**asdict(split), "elsewhere": list(split.elsewhere)}})
        return split
    names = {field.name: text(found.get(field.name)) for field in fields(SplitPlan) if field.name != "elsewhere"}
    return SplitPlan(**names, elsewhere=texts(found.get("elsewhere")))
