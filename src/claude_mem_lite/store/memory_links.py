"""The table `conflicts`: pairs of memories that contradict each other, where nothing tells which of them holds.

Only pairs of active memories count: what is retired, replaced or forgotten contradicts nobody any more.

The table `sightings`: which turns, and which commands of the user, saw which memories."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.timestamps import text_to_time, time_to_text


def note_conflict(db: sqlite3.Connection, one: str, other: str, now: datetime) -> bool:
    """Two memories contradict each other; False when that is known."""
    first, second = sorted((one, other))
    return bool(
        db.execute(
            "insert or ignore into conflicts (memory, other, noted_at) values (?, ?, ?)",
            (first, second, time_to_text(now)),
        ).rowcount
    )


def of(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The ids of the active memories that contradict each of these, of those that are contradicted at all."""
    wanted = json.dumps(list(ids))
    found: dict[str, list[str]] = {}
    for own, against in (("memory", "other"), ("other", "memory")):
        rows = db.execute(
            f"""select conflicts.{own} as id, conflicts.{against} as against from conflicts
                  join memories as one on one.id = conflicts.{own} and one.status = 'active'
                  join memories as two on two.id = conflicts.{against} and two.status = 'active'
                where conflicts.{own} in (select value from json_each(:ids)) order by two.last_seen_at desc, two.id""",
            {"ids": wanted},
        )
        for row in rows:
            found.setdefault(row["id"], []).append(row["against"])
    return {id_: tuple(others) for id_, others in found.items()}


def drop_conflicts(db: sqlite3.Connection, id_: str) -> list[str]:
    """A memory no longer contradicts any; returns the ids of those that it did."""
    rows = db.execute(
        "delete from conflicts where memory = :id or other = :id returning memory, other", {"id": id_}
    ).fetchall()
    return [row["other"] if row["memory"] == id_ else row["memory"] for row in rows]


def note_sighting(db: sqlite3.Connection, memory: str, turn: str) -> int:
    """Record that a turn saw a memory; 0 when that is known."""
    return db.execute("insert or ignore into sightings (memory, turn) values (?, ?)", (memory, turn)).rowcount


def turns_of(db: sqlite3.Connection, memories: Sequence[str]) -> list[str]:
    """The turns in which any of these memories was seen, in order."""
    rows = db.execute(
        "select distinct turn from sightings where memory in (select value from json_each(:ids)) order by turn",
        {"ids": json.dumps(list(memories))},
    )
    return [row["turn"] for row in rows]


def commands_on(db: sqlite3.Connection, memory: str) -> list[str]:
    """The commands that saw a memory, in order."""
    found = db.execute("select turn from sightings where memory = ? and turn like '%-Command' order by turn", (memory,))
    return [row["turn"] for row in found]


def memories_in(db: sqlite3.Connection, turns: Sequence[str]) -> list[str]:
    """The ids of the memories that any of these turns saw."""
    rows = db.execute(
        "select distinct memory from sightings where turn in (select value from json_each(:turns)) order by memory",
        {"turns": json.dumps(list(turns))},
    )
    return [row["memory"] for row in rows]


def only_in(db: sqlite3.Connection, turn: str) -> list[str]:
    """The ids of the memories that this turn saw and no other."""
    rows = db.execute(
        """select memory from sightings where turn = :turn
             and not exists (select 1 from sightings as other where other.memory = sightings.memory and turn <> :turn)
           order by memory""",
        {"turn": turn},
    )
    return [row["memory"] for row in rows]


def is_seen_elsewhere(db: sqlite3.Connection, memory: str, turn: str) -> bool:
    """Whether another turn than this one saw a memory."""
    found = db.execute("select 1 from sightings where memory = ? and turn <> ? limit 1", (memory, turn))
    return found.fetchone() is not None


def sessions_of(db: sqlite3.Connection, memories: Sequence[str]) -> int:
    """In how many sessions any of these memories was seen; what the user did by command counts as one each."""
    (number,) = db.execute(
        """select count(distinct coalesce(prompts.session, sightings.turn)) from sightings
             left join prompts on prompts.turn = sightings.turn
           where sightings.memory in (select value from json_each(:ids))""",
        {"ids": json.dumps(list(memories))},
    ).fetchone()
    return int(number)


def seen_in(db: sqlite3.Connection, memories: Sequence[str]) -> list[tuple[str, str, datetime | None]]:
    """Each of these memories with the sessions that saw it and when they last did; of a command of the user its name,
    and no time."""
    rows = db.execute(
        """select memory, coalesce(prompts.session, sightings.turn) as session, max(prompts.created_at) as at
           from sightings left join prompts on prompts.turn = sightings.turn
           where memory in (select value from json_each(:ids))
           group by memory, coalesce(prompts.session, sightings.turn)""",
        {"ids": json.dumps(list(memories))},
    )
    return [(row["memory"], row["session"], text_to_time(row["at"]) if row["at"] else None) for row in rows]


def take_back(db: sqlite3.Connection, memory: str, turn: str) -> None:
    """Record that a turn did not see a memory after all."""
    db.execute("delete from sightings where memory = ? and turn = ?", (memory, turn))


def remove_sightings(db: sqlite3.Connection, memory: str) -> None:
    """Nobody has seen a memory any more: it is gone."""
    db.execute("delete from sightings where memory = ?", (memory,))
