"""The tables `conflicts` and `sightings`.

`conflicts` holds pairs of memories that contradict each other without evidence for either. Only pairs of active
memories count: a retired, replaced or forgotten memory contradicts nothing.

`sightings` records the turns and the user's commands that saw a memory."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.timestamps import text_to_time, time_to_text


def note_conflict(db: sqlite3.Connection, memory: str, other: str, now: datetime) -> bool:
    """Record a contradiction between two memories; return False if the contradiction is known."""
    first, second = sorted((memory, other))
    return bool(
        db.execute(
            "insert or ignore into conflicts (memory, other, noted_at) values (?, ?, ?)",
            (first, second, time_to_text(now)),
        ).rowcount
    )


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the active memories that contradict each of these memories, for the contradicted ones only."""
    json_ids = json.dumps(list(ids))
    against_by_id: dict[str, list[str]] = {}
    for own, against in (("memory", "other"), ("other", "memory")):
        rows = db.execute(
            f"""select conflicts.{own} as id, conflicts.{against} as against from conflicts
                  join memories as one on one.id = conflicts.{own} and one.status = 'active'
                  join memories as two on two.id = conflicts.{against} and two.status = 'active'
                where conflicts.{own} in (select value from json_each(:ids)) order by two.last_seen_at desc, two.id""",
            {"ids": json_ids},
        )
        for row in rows:
            against_by_id.setdefault(row["id"], []).append(row["against"])
    return {id_: tuple(against) for id_, against in against_by_id.items()}


def drop_conflicts(db: sqlite3.Connection, id_: str) -> list[str]:
    """Remove all contradictions of a memory and return the ids of the other memories."""
    rows = db.execute(
        "delete from conflicts where memory = :id or other = :id returning memory, other", {"id": id_}
    ).fetchall()
    return [row["other"] if row["memory"] == id_ else row["memory"] for row in rows]


def note_sighting(db: sqlite3.Connection, memory: str, turn: str) -> int:
    """Record that a turn saw a memory; return 0 if the sighting is known."""
    return db.execute("insert or ignore into sightings (memory, turn) values (?, ?)", (memory, turn)).rowcount


def turns_of(db: sqlite3.Connection, memories: Sequence[str]) -> list[str]:
    """Return the turns that saw any of these memories, in order."""
    rows = db.execute(
        "select distinct turn from sightings where memory in (select value from json_each(:ids)) order by turn",
        {"ids": json.dumps(list(memories))},
    )
    return [row["turn"] for row in rows]


def commands_on(db: sqlite3.Connection, memory: str) -> list[str]:
    """Return the user's commands that saw a memory, in order."""
    rows = db.execute("select turn from sightings where memory = ? and turn like '%-Command' order by turn", (memory,))
    return [row["turn"] for row in rows]


def memories_in(db: sqlite3.Connection, turns: Sequence[str]) -> list[str]:
    """Return the ids of the memories that any of these turns saw."""
    rows = db.execute(
        "select distinct memory from sightings where turn in (select value from json_each(:turns)) order by memory",
        {"turns": json.dumps(list(turns))},
    )
    return [row["memory"] for row in rows]


def only_in(db: sqlite3.Connection, turn: str) -> list[str]:
    """Return the ids of the memories that only this turn saw."""
    rows = db.execute(
        """select memory from sightings where turn = :turn
             and not exists (select 1 from sightings as other where other.memory = sightings.memory and turn <> :turn)
           order by memory""",
        {"turn": turn},
    )
    return [row["memory"] for row in rows]


def is_seen_elsewhere(db: sqlite3.Connection, memory: str, turn: str) -> bool:
    """Return True if another turn saw a memory."""
    rows = db.execute("select 1 from sightings where memory = ? and turn <> ? limit 1", (memory, turn))
    return rows.fetchone() is not None


def sessions_of(db: sqlite3.Connection, memories: Sequence[str]) -> int:
    """Return the number of sessions that saw any of these memories; each command of the user counts as a session."""
    (number,) = db.execute(
        """select count(distinct coalesce(prompts.session, sightings.turn)) from sightings
             left join prompts on prompts.turn = sightings.turn
           where sightings.memory in (select value from json_each(:ids))""",
        {"ids": json.dumps(list(memories))},
    ).fetchone()
    return int(number)


def seen_in(db: sqlite3.Connection, memories: Sequence[str]) -> list[tuple[str, str, datetime | None]]:
    """Return each memory with the sessions that saw it and the last time; a command of the user has a name and no
    time."""
    rows = db.execute(
        """select memory, coalesce(prompts.session, sightings.turn) as session, max(prompts.created_at) as at
           from sightings left join prompts on prompts.turn = sightings.turn
           where memory in (select value from json_each(:ids))
           group by memory, coalesce(prompts.session, sightings.turn)""",
        {"ids": json.dumps(list(memories))},
    )
    return [(row["memory"], row["session"], text_to_time(row["at"]) if row["at"] else None) for row in rows]


def count_seen_in(db: sqlite3.Connection, session: str, kind: str) -> int:
    """Return the number of memories of a kind that the turns of a session showed, new or known."""
    (number,) = db.execute(
        """select count(distinct memory) from sightings join prompts on prompts.turn = sightings.turn
             join memories on memories.id = memory
           where prompts.session = :session and memories.kind = :kind""",
        {"session": session, "kind": kind},
    ).fetchone()
    return int(number)


def take_back(db: sqlite3.Connection, memory: str, turn: str) -> None:
    """Remove a sighting."""
    db.execute("delete from sightings where memory = ? and turn = ?", (memory, turn))


def remove_sightings(db: sqlite3.Connection, memory: str) -> None:
    """Remove the sightings of a removed memory."""
    db.execute("delete from sightings where memory = ?", (memory,))
