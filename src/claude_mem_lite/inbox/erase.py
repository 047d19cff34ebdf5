"""Permanent removal of events from the inbox and its journal: part of forgetting.

Finds the events that mention a memory or a session by id, besides its turns. Keeps the names of everything forgotten in
`inbox.db` too, because a memory.db may be lost. Owns the tables `tombstones`, the copy of the tombstones in memory.db,
and `leaving`, names that still have to leave the backups."""

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


def mentions(event: str, payload: str, ids: AbstractSet[str]) -> bool:
    """Return whether a command changed one of the ids, or a rendered context contained one. A command to forget holds
    only ids and does not count."""
    if event == "Rendered":
        return not ids.isdisjoint(_QUOTED.findall(payload))
    try:
        command = parse(payload.encode())
    except PayloadError:
        return False
    if command.get("command") == "forget":
        return False
    if text(command.get("memory")) in ids - {""}:  # a change of a guard quotes the memory that it was made from
        return True
    # A person may type a prefix of an id.
    prefixes = {
        written.strip().lstrip("#").lower() for written in (text(command.get("id")), *texts(command.get("ids")))
    } - {""}
    return any(id_.startswith(tuple(prefixes)) for id_ in ids) or not ids.isdisjoint(_quoted_ids(command))


def _quoted_ids(command: JsonObject) -> set[str]:
    """Return the ids of the sentences that a command on a lesson quotes, and of their sessions."""
    quotes = command.get("said")
    quoted = [quote for quote in quotes if isinstance(quote, dict)] if isinstance(quotes, list) else []
    return {text(quote.get(name)) for quote in quoted for name in ("id", "session")} - {""}


def answers_lesson(findings: str, ids: AbstractSet[str]) -> bool:
    """Return whether a command saved the answer to a question about a sentence of one of these turns, sessions and
    candidates."""
    try:
        lesson = parse(findings.encode()).get("lesson") if findings else None
    except PayloadError:
        return False
    return isinstance(lesson, dict) and any(text(lesson.get(key)) in ids for key in ("id", "turn", "session"))


def changes_project(payload: str, findings: str, known_as: AbstractSet[str]) -> bool:
    """Return whether a command changed a project known by one of these ids and folders, or a guard of it."""
    try:
        command = parse(payload.encode())
        split = parse(findings.encode()).get("split") if findings else None
    except PayloadError:
        return False
    if text(command.get("command")).endswith("_guard"):
        return text(command.get("project")) in known_as
    named = [command, split] if isinstance(split, dict) else [command]
    return any(text(change.get(end)) in known_as for change in named for end in ("source", "target"))


def erase(queue: Queue, *, turns: Sequence[str], sessions: Sequence[str]) -> None:
    """Remove finished events by turn; by session also events that wait for the end of their turn."""
    named = {"turns": json.dumps(list(turns)), "sessions": json.dumps(list(sessions))}
    rows = queue.db.execute(
        f"""select id, name from inbox where turn in (select value from json_each(:turns)) and {FINISHED}
            union select id, name from inbox where session in (select value from json_each(:sessions))
              and status in ('done', 'skipped', 'error', 'raw')""",
        named,
    )
    _remove(queue, rows.fetchall())


def erase_mentions(queue: Queue, ids: AbstractSet[str]) -> None:
    """Remove finished commands that changed these memories, and notes of contexts with these memories or sessions.
    Commands to forget stay, because they hold only ids."""
    rows = queue.db.execute(
        f"select id, name, event, payload from inbox where event in ('Command', 'Rendered') and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if mentions(row["event"], row["payload"], ids)])


def erase_answers(queue: Queue, ids: AbstractSet[str]) -> None:
    """Remove finished commands that quote a sentence of the user, by its candidate, turn or session."""
    rows = queue.db.execute(
        f"select id, name, found from inbox where event = 'Command' and found <> '' and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if answers_lesson(row["found"], ids)])


def erase_project_changes(queue: Queue, known_as: AbstractSet[str]) -> None:
    """Remove finished commands that merged, renamed, moved or split a project, by the project's ids and folders."""
    rows = queue.db.execute(
        f"select id, name, payload, found from inbox where event = 'Command' and {FINISHED}"
    ).fetchall()
    _remove(queue, [row for row in rows if changes_project(row["payload"], row["found"], known_as)])


def _remove(queue: Queue, rows: Sequence[sqlite3.Row]) -> None:
    if queue.journal is not None:  # first: a worker that dies between both steps gets the command to forget again
        queue.journal.erase([row["name"] for row in rows])
    with atomic(queue.db):
        queue.db.executemany("delete from inbox where id = ?", [(row["id"],) for row in rows])
    queue.empty_log()


def merge_tombstones(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> None:
    """Add tombstones: names with the times of forgetting."""
    with atomic(db):
        tombstone_merge.merge(db, "name", names)


def add_tombstones(db: sqlite3.Connection, names: Iterable[tuple[str, str]], leaving: Iterable[str]) -> None:
    """Add tombstones, and note the names that have to leave the backups."""
    known = list(names)
    with atomic(db):
        tombstone_merge.drop_marks(db, "name", [name for name, _ in known])
        tombstone_merge.merge(db, "name", known)
    note_leaving(db, leaving)


def tombstones(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return [(row[0], row[1]) for row in db.execute("select name, forgotten_at from tombstones order by rowid")]


def tombstone_names(db: sqlite3.Connection) -> bytes:
    """Return all names as `store.tombstones.names` does."""
    row = db.execute(
        "select cast(group_concat(name, char(10)) as blob) from (select name from tombstones order by name)"
    ).fetchone()
    return bytes(row[0] or b"")


def note_leaving(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Note names that have to leave the backups."""
    with atomic(db):
        db.executemany("insert or ignore into leaving (name) values (?)", [(name,) for name in names])


def leaving(db: sqlite3.Connection) -> list[str]:
    return [row[0] for row in db.execute("select name from leaving")]


def note_left(db: sqlite3.Connection, names: Iterable[str]) -> None:
    """Remove names that have left the backups."""
    with atomic(db):
        db.executemany("delete from leaving where name = ?", [(name,) for name in names])
