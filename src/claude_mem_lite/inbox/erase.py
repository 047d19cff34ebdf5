"""Removing events for ever, from the inbox and from the copies of it: part of forgetting."""

import json
import sqlite3
from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox.naming import answers_lesson, changes_project, tells_of
from claude_mem_lite.inbox.queue import FINISHED, Queue


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
