"""The table `model_calls`: purpose, size, cost and outcome of calls to models, never content.

An open call is counted with its upper limit, so that a cap holds even if the worker dies."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from claude_mem_lite.providers import Spend, Usage
from claude_mem_lite.timestamps import time_to_text
from claude_mem_lite.values import frozen

Purpose = Literal["turn", "summary"]
Outcome = Literal["told", "unavailable", "refused"]


@frozen
class Counted:
    """Number of input tokens by the count of a model, and by our estimate."""

    made_by: str
    calls: int
    estimated: int
    counted: int


def begin(
    db: sqlite3.Connection,
    turn: str,
    session: str,
    made_by: str,
    purpose: Purpose,
    most: Usage,
    at: datetime,
    *,
    estimated_in: int = 0,
) -> int:
    """Record a call with an upper limit before the call is made, and return the number of the record. `estimated_in`
    is our own estimate of the input size."""
    row = db.execute(
        """insert into model_calls
             (turn, session, made_by, purpose, outcome, tokens_in, tokens_out, cost_usd, estimated_in, at)
           values
             (:turn, :session, :made_by, :purpose, 'asking', :tokens_in, :tokens_out, :cost_usd, :estimated_in, :at)
           returning id""",
        {
            "turn": turn,
            "session": session,
            "made_by": made_by,
            "purpose": purpose,
            "tokens_in": most.tokens_in,
            "tokens_out": most.tokens_out,
            "cost_usd": most.cost_usd,
            "estimated_in": estimated_in,
            "at": time_to_text(at),
        },
    ).fetchone()
    return int(row["id"])


def end(db: sqlite3.Connection, call: int, outcome: Outcome, usage: Usage | None, ms: float) -> None:
    """Record outcome and usage of a call; without a known usage the upper limit stays."""
    db.execute(
        """update model_calls set outcome = :outcome, tokens_in = coalesce(:tokens_in, tokens_in),
               tokens_out = coalesce(:tokens_out, tokens_out), cost_usd = coalesce(:cost_usd, cost_usd), ms = :ms
           where id = :id""",
        {
            "id": call,
            "outcome": outcome,
            "tokens_in": usage.tokens_in if usage else None,
            "tokens_out": usage.tokens_out if usage else None,
            "cost_usd": usage.cost_usd if usage else None,
            "ms": ms,
        },
    )


def lose_open(db: sqlite3.Connection) -> int:
    """Mark open calls as lost, because nobody will read their answers; they stay counted with their upper limits."""
    return db.execute("update model_calls set outcome = 'lost' where outcome = 'asking'").rowcount


def spent(
    db: sqlite3.Connection, *, since: datetime | None = None, session: str | None = None, under_way: bool = True
) -> Spend:
    """Return the total spending; `under_way` includes open calls with their upper limits."""
    row = db.execute(
        """select count(*) as calls, coalesce(sum(tokens_in + tokens_out), 0) as tokens,
               coalesce(sum(cost_usd), 0.0) as cost_usd
           from model_calls where at >= :since and (:session is null or session = :session)
             and (:under_way or outcome <> 'asking')""",
        {"since": time_to_text(since) if since else "", "session": session, "under_way": under_way},
    ).fetchone()
    return Spend(int(row["calls"]), int(row["tokens"]), float(row["cost_usd"]))


def counted(db: sqlite3.Connection, since: datetime) -> list[Counted]:
    """Return our estimates and the counts of models, for answered calls."""
    rows = db.execute(
        """select made_by, count(*) as calls, sum(estimated_in) as estimated, sum(tokens_in) as counted
           from model_calls where at >= :since and outcome = 'told' and estimated_in > 0 and tokens_in > 0
           group by made_by order by made_by""",
        {"since": time_to_text(since)},
    )
    return [Counted(row["made_by"], row["calls"], row["estimated"], row["counted"]) for row in rows]


def by_outcome(db: sqlite3.Connection, since: datetime) -> dict[str, Spend]:
    """Return the spending by model and outcome, such as `anthropic/haiku told`."""
    rows = db.execute(
        """select made_by || ' ' || outcome as what, count(*) as calls, sum(tokens_in + tokens_out) as tokens,
             sum(cost_usd) as cost_usd from model_calls where at >= :since group by what order by what""",
        {"since": time_to_text(since)},
    )
    return {row["what"]: Spend(row["calls"], row["tokens"], row["cost_usd"]) for row in rows}


def has_summarized(db: sqlite3.Connection, session: str) -> bool:
    """Return True if a model has summarised a session, or any turn of the session."""
    rows = db.execute("select 1 from model_calls where session = ? and outcome = 'told' limit 1", (session,))
    return rows.fetchone() is not None


def forget(db: sqlite3.Connection, turns: Sequence[str], sessions: Sequence[str]) -> None:
    """Remove turn and session from calls; the spending stays counted."""
    db.execute(
        "update model_calls set turn = '' where turn in (select value from json_each(:turns))",
        {"turns": json.dumps(list(turns))},
    )
    db.execute(
        "update model_calls set turn = '', session = '' where session in (select value from json_each(:sessions))",
        {"sessions": json.dumps(list(sessions))},
    )
