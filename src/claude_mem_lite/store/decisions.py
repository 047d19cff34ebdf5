"""The decisions that sessions made or came back to, whatever became of them. Reads only."""

import json
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.models import Memory, Session
from claude_mem_lite.store.memory_rows import from_row


def of_sessions(db: sqlite3.Connection, sessions: Sequence[Session]) -> dict[str, list[Memory]]:
    """Decisions by the sessions of a project that made them or saw them again."""
    found: dict[str, dict[str, Memory]] = {one.id: {} for one in sessions}
    if not sessions:
        return {}
    made = db.execute(
        "select * from memories where session in (select value from json_each(:ids)) and +kind = 'decision'",
        {"ids": json.dumps([one.id for one in sessions])},
    )
    for row in made.fetchall():
        found[row["session"]][row["id"]] = from_row(row)
    # What was decided once more is one memory, of the session that decided it first.
    seen = db.execute(
        # From the prompts on: few are of these sessions, while a project may have thousands of decisions.
        """select memories.*, seen.session as seen_in from (
               select distinct sightings.memory, prompts.session from prompts
                 cross join sightings on sightings.turn = prompts.turn
               where prompts.session in (select value from json_each(:ids))
             ) as seen cross join memories on memories.id = seen.memory
           where memories.kind = 'decision' and memories.scope = :scope order by memories.seq""",
        {"ids": json.dumps([one.id for one in sessions]), "scope": f"project:{sessions[0].project}"},
    )
    for row in seen.fetchall():
        found[row["seen_in"]][row["id"]] = from_row(row)
    return {id_: list(by_id.values()) for id_, by_id in found.items()}
