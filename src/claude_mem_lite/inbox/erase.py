"""Removing events for ever, from the inbox and from the copies of it: part of forgetting.

Which kept events tell of a memory or a session by its id: what forgetting has to erase besides its turns.

The names of what was forgotten, kept in `inbox.db` as well: they outlive a memory.db that is lost.

Owns the tables `tombstones`, the copy of those in memory.db, and `leaving`, what is still to leave the backups."""

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from claude_mem_lite.db import tombstone_merge
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import FINISHED, Queue
from claude_mem_lite.models import JsonObject, text, texts

_QUOTED = re.compile(r'"([^"\\]+)"')


def tells_of(event: str, payload: str, ids: AbstractSet[str]) -> bool:
    """Whether a command changed one of these, or a note tells of a context that gave one. What a command to forget says
    is no more than their ids."""
    if event == "Rendered":
        return not ids.isdisjoint(_QUOTED.findall(payload))
    try:
        told = parse(payload.encode())
    except PayloadError:
        return False
    if told.get("command") == "forget":
        return False
    # A person gives as much of an id as is needed.
    given = {one.strip().lstrip("#").lower() for one in (text(told.get("id")), *texts(told.get("ids")))} - {""}
    return any(id_.startswith(tuple(given)) for id_ in ids) or not ids.isdisjoint(_said_in(told))


def _said_in(told: JsonObject) -> set[str]:
    """Return the ids of the sentences that a command on a lesson quotes, and of their sessions."""
    said = told.get("said")
    quoted = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return {text(one.get(name)) for one in quoted for name in ("id", "session")} - {""}


def answers_lesson(found: str, ids: AbstractSet[str]) -> bool:
    """Return whether a command saved the answer to a question about a sentence of one of these turns, sessions and
    candidates."""
    try:
        lesson = parse(found.encode()).get("lesson") if found else None
    except PayloadError:
        return False
    return isinstance(lesson, dict) and any(text(lesson.get(key)) in ids for key in ("id", "turn", "session"))


def changes_project(payload: str, found: str, known_as: AbstractSet[str]) -> bool:
    """Return whether a command changed a project that is known by one of these ids and folders."""
    try:
        told = parse(payload.encode())
        split = parse(found.encode()).get("split") if found else None
    except PayloadError:
        return False
    named = [told, split] if isinstance(split, dict) else [told]
    return any(text(one.get(end)) in known_as for one in named for end in ("source", "target"))


def erase(queue: Queue, *, turns: Sequence[str], sessions: Sequence[str]) -> None:
    """Remove finished events by their turn, and by their session also those that wait for the end of their turn."""
    named = {"turns": json.dumps(list(turns)), "sessions": json.dumps(list(sessions))}
    rows = queue.db.execute(
        f"""select id, name from inbox where turn in (select value from json_each(:turns)) and {FINISHED}
            union select id, name from inbox where session in (select value from json_each(:sessions))
              and status in ('done', 'skipped', 'error', 'raw')""",
        named,
    )
    _remove(queue, rows.fetchall())


def erase_telling_of(queue: Queue, ids: AbstractSet[str]) -> None:
    """Remove finished commands that changed these memories, and notes of contexts that gave them or these sessions;
    commands to forget stay, as they say nothing else."""
    rows = queue.db.execute(
        f"select id, name, event, payload from inbox where event in ('Command', 'Rendered') and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if tells_of(row["event"], row["payload"], ids)])


def erase_answers(queue: Queue, ids: AbstractSet[str]) -> None:
    """Remove finished commands that quote a sentence of the user, by its candidate, its turn or its session."""
    rows = queue.db.execute(
        f"select id, name, found from inbox where event = 'Command' and found <> '' and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if answers_lesson(row["found"], ids)])


def erase_project_changes(queue: Queue, known_as: AbstractSet[str]) -> None:
    """Remove finished commands that merged, renamed, moved or split a project, by the ids and folders that it was known
    by."""
    rows = queue.db.execute(
        f"select id, name, payload, found from inbox where event = 'Command' and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if changes_project(row["payload"], row["found"], known_as)])


def _remove(queue: Queue, rows: Sequence[sqlite3.Row]) -> None:
    if queue.copies is not None:  # first: a worker that dies here is told to forget once more
        queue.copies.erase([row["name"] for row in rows])
    with atomic(queue.db):
        queue.db.executemany("delete from inbox where id = ?", [(row["id"],) for row in rows])
    queue.empty_log()


def add(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> None:
    """Nothing by these names may come back; each with when it was forgotten."""
    with atomic(db):
        tombstone_merge.merge(db, "name", names)


def bury(db: sqlite3.Connection, names: Iterable[tuple[str, str]], leaving: Iterable[str]) -> None:
    """Keep the names of what was forgotten, and which are to leave the backups."""
    known = list(names)
    with atomic(db):
        tombstone_merge.drop_marks(db, "name", [name for name, _ in known])
        tombstone_merge.merge(db, "name", known)
    note_leaving(db, leaving)


def all_of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in db.execute("select name, forgotten_at from tombstones order by rowid")]


def names(db: sqlite3.Connection) -> bytes:
    """See `store.tombstones.names`."""
    row = db.execute(
        "select cast(group_concat(name, char(10)) as blob) from (select name from tombstones order by name)"
    ).fetchone()
    return bytes(row[0] or b"")


def note_leaving(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """What has these names is to leave the backups."""
    with atomic(db):
        db.executemany("insert or ignore into leaving (name) values (?)", [(name,) for name in names])


def leaving(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("select name from leaving")]


def note_left(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """It has left them."""
    with atomic(db):
        db.executemany("delete from leaving where name = ?", [(name,) for name in names])
