"""Events of stored turns that the inbox no longer has, read once more from a transcript.

Kept like everything that is finished, for the rebuild of its turn's memories to read. They are never worked on nor
replayed: the turn is stored."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.inbox.queue import LONE_EVENTS, digest
from claude_mem_lite.inbox.spool import Arrival

_REASON = "read once more from the transcript of its turn, which is stored"


def events_of_turn(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Return the events that the inbox would take for one turn: up to its end, without those that stand alone."""
    events = [one for one in arrivals if one.event not in LONE_EVENTS and not one.problem]
    end = next((at for at, one in enumerate(events) if one.event in TURN_ENDS), len(events))
    return events[: end + 1]


def put(db: sqlite3.Connection, turn: str, events: Sequence[Arrival], now: float) -> None:
    """Give a turn its events back, inside the caller's transaction; one that has any keeps them."""
    if db.execute("select 1 from inbox where turn = ? limit 1", (turn,)).fetchone() is not None:
        return
    db.executemany(
        """insert or ignore into inbox (name, event, session, turn, payload, digest, raw_bytes, status, reason,
               received_at, finished_at, work)
           values (:name, :event, :session, :turn, :payload, :digest, :raw_bytes, 'skipped', :reason, :now, :now, 0)""",
        [
            {
                "name": one.name,
                "event": one.event,
                "session": one.session,
                "turn": turn,
                "payload": one.payload,
                "digest": digest(one.session, one.event, one.payload),
                "raw_bytes": one.raw_bytes,
                "reason": _REASON,
                "now": now,
            }
            for one in events
        ],
    )


def sizes(db: sqlite3.Connection, session: str) -> dict[str, int]:
    """Return the length of what is kept of each turn of a session."""
    rows = db.execute(
        """select turn, sum(length(payload)) as size from inbox
           where status in ('done', 'skipped', 'error') and session = ? and turn <> '' group by turn""",
        (session,),
    )
    return {row["turn"]: int(row["size"]) for row in rows}
