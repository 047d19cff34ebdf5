"""What a session was already given of what it asked for, by its receipts: the base of its budgets. Reads only."""

import sqlite3
from dataclasses import dataclass

ASKED = "asked"
"""The moment of a receipt for what the agent asked for."""
QUERY = "query"
"""The layer of an answer to a question; the start context, asked for, has its own layers."""
IDS = "ids"
"""The layer of an answer that names what there is, once the budget is used up."""
STARTS = ("startup", "resume", "clear", "compact", "fork")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a session had, and still remembers, of starts and of answers."""

    queries: int = 0
    tokens: int = 0
    had_start: bool = False
    told: frozenset[str] = frozenset()
    """The ids of memories and sessions that it was given, whenever that was."""


def asked(db: sqlite3.Connection, session: str) -> Asked:
    """How much of its budget a session used. After a compaction it begins anew."""
    since = "given_at > coalesce((select compacted_at from sessions where id = :session), '')"
    rows = db.execute(
        f"select moment, layers, tokens from receipts where session = :session and {since}", {"session": session}
    ).fetchall()
    told = db.execute(
        f"""select distinct source from receipts join receipt_items on receipt = spool_name
            where session = :session and {since} and layer <> :ids""",
        {"session": session, "ids": IDS},
    )
    queries = [row for row in rows if row["moment"] == ASKED and row["layers"] == f'["{QUERY}"]']
    starts = [row for row in rows if row["moment"] in STARTS or (row["moment"] == ASKED and _is_start(row["layers"]))]
    return Asked(
        queries=len(queries),
        tokens=sum(row["tokens"] for row in rows if row["moment"] in (ASKED, *STARTS)),
        had_start=bool(starts),
        told=frozenset(row["source"] for row in told),
    )


def session_at_work(db: sqlite3.Connection, given: str, cwd: str, project: str) -> str:
    """The session that asks from a folder: the one it says, unless that is over, else the newest that is active there.

    An agent that clears its conversation goes on with another session, and its servers still know the old one."""
    row = db.execute("select status from sessions where id = ?", (given,)).fetchone() if given else None
    if given and (row is None or row["status"] == "active"):
        return given
    newest = db.execute(
        """select id from sessions where status = 'active' and project = :project
           order by cwd = :cwd desc, last_event_at desc, id limit 1""",
        {"project": project, "cwd": cwd},
    ).fetchone()
    return str(newest["id"]) if newest else given


def _is_start(layers: str) -> bool:
    return layers not in (f'["{QUERY}"]', f'["{IDS}"]', "[]")
