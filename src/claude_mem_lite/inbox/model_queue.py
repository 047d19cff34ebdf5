"""Queue of turns for a model, in `inbox.db`: request, claim, end, count. Owns the table `model_turns`.

The rules' memories of these turns are stored already, so nothing waits for a model. States: `wanted -> asking -> done |
failed | dropped`, and `waiting` for the end of an outage."""

import json
import sqlite3
from collections.abc import Sequence

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import CRASH_LIMIT, KEEP_FINISHED_S, RETRY_AFTER_S, QueueProblem, Row
from claude_mem_lite.values import frozen

_ENDED = "('done', 'failed', 'dropped')"


@frozen
class RequestedTurn:
    """Turn claimed for a model call."""

    turn: str
    session: str
    is_probe: bool = False
    """True if the call only tests whether an outage is over."""


class ModelTurns:
    """Table behind one writing connection. Times are seconds since the epoch."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def request(self, turn: str, session: str, now: float, *, waiting: bool = False) -> None:
        """Request a model call for a turn, once; `waiting` for the end of an outage."""
        with atomic(self._db):
            self._db.execute(
                """insert or ignore into model_turns (turn, session, state, created_at)
                   values (:turn, :session, :state, :now)""",
                {"turn": turn, "session": session, "state": "waiting" if waiting else "wanted", "now": now},
            )

    def claim(self, now: float, limit: int) -> list[RequestedTurn]:
        """Return the turns to ask about now: the first of each session, and none while the first waits for a retry."""
        with atomic(self._db):
            rows = self._db.execute(
                """update model_turns set state = 'asking', attempts = attempts + 1
                   where id in (
                       select id from (
                           select min(id) as id from model_turns where state in ('wanted', 'asking') group by session)
                       where id in (
                           select id from model_turns where state = 'wanted'
                             and not (available_at > :now and available_at <= :latest))
                       order by id limit :limit)
                   returning id, turn, session""",
                # A time beyond the longest wait is from before the clock was set back.
                {"now": now, "latest": now + RETRY_AFTER_S[-1], "limit": limit},
            ).fetchall()
        return [RequestedTurn(row["turn"], row["session"]) for row in sorted(rows, key=lambda row: int(row["id"]))]

    def claim_probe(self) -> RequestedTurn | None:
        """Return the turn that has waited longest for the end of an outage, to test the provider."""
        with atomic(self._db):
            row = self._db.execute(
                """update model_turns set state = 'asking', attempts = attempts + 1
                   where id = (select min(id) from model_turns where state = 'waiting') returning turn, session"""
            ).fetchone()
        return RequestedTurn(row["turn"], row["session"], is_probe=True) if row else None

    def is_any_requested(self) -> bool:
        return self._is_any("wanted")

    def is_any_waiting(self) -> bool:
        return self._is_any("waiting")

    def is_asking(self, turn: str) -> bool:
        """Return whether the answer about a turn is still needed: the turn may be forgotten by now."""
        row = self._db.execute("select 1 from model_turns where turn = ? and state = 'asking'", (turn,)).fetchone()
        return row is not None

    def finish(self, turn: str, now: float) -> None:
        self._end(turn, "done", "", now)

    def refuse(self, turn: str, reason: str, now: float) -> None:
        """End a turn that the model refuses, however often asked."""
        self._end(turn, "failed", reason, now)

    def drop(self, turn: str, reason: str, now: float) -> None:
        """Keep the rules' memories of a turn; not a failure."""
        self._end(turn, "dropped", reason, now)

    def fail(self, turn: str, reason: str, now: float) -> bool:
        """Schedule a retry; return True if the retries are used up, and only the end of the outage helps.

        The end of the outage helps once."""
        with atomic(self._db):
            row = self._db.execute("select attempts, redone from model_turns where turn = ?", (turn,)).fetchone()
            used_up = bool(row["attempts"] > len(RETRY_AFTER_S))
            state = "wanted" if not used_up else "failed" if row["redone"] else "waiting"
            self._db.execute(
                """update model_turns set state = :state, reason = :reason, available_at = :available,
                       finished_at = :finished where turn = :turn""",
                {
                    "state": state,
                    "reason": reason,
                    "available": 0.0 if used_up else now + RETRY_AFTER_S[row["attempts"] - 1],
                    "finished": now if state == "failed" else None,
                    "turn": turn,
                },
            )
        return used_up

    def fail_probe(self, turn: str, reason: str) -> None:
        """Return a turn to `waiting` without counting the try: the outage is not over."""
        with atomic(self._db):
            self._db.execute(
                """update model_turns set state = 'waiting', attempts = attempts - 1, reason = :reason
                   where turn = :turn and state = 'asking'""",
                {"turn": turn, "reason": reason},
            )

    def hold_all(self) -> None:
        """Let all requested turns wait for the end of an outage."""
        with atomic(self._db):
            self._db.execute("update model_turns set state = 'waiting' where state = 'wanted'")

    def resume_all(self) -> int:
        """Request all waiting turns after an outage; turns with used-up retries get one more round."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns set state = 'wanted', redone = redone + (attempts > 0), attempts = 0,
                       available_at = 0 where state = 'waiting'"""
            ).rowcount

    def drop_all(self, now: float) -> int:
        """Drop all requested turns: no model is configured any more."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns
                   set state = 'dropped', reason = 'no model is configured any more', finished_at = :now
                   where state in ('wanted', 'waiting')""",
                {"now": now},
            ).rowcount

    def release_all(self, but: Sequence[str] = ()) -> int:
        """Return turns in state `asking` to the queue, except for `but`: nobody will receive the answers.

        A turn that many workers died on is given up; a turn that waited for the end of an outage waits on."""
        others = "state = 'asking' and turn not in (select value from json_each(:but))"
        values = {"but": json.dumps(list(but))}
        if self._db.execute(f"select 1 from model_turns where {others} limit 1", values).fetchone() is None:
            return 0
        with atomic(self._db):
            self._db.execute(
                f"""update model_turns set state = 'failed', finished_at = created_at,
                        reason = 'given up: the worker ended {CRASH_LIMIT} times while it asked'
                    where {others} and attempts >= {CRASH_LIMIT}""",
                values,
            )
            return self._db.execute(
                f"""update model_turns set
                        state = case when attempts > {len(RETRY_AFTER_S)} then 'waiting' else 'wanted' end
                    where {others}""",
                values,
            ).rowcount

    def retry(self, row_id: int | None) -> int:
        """Request a failed turn again, by the number of its first event, or all failed turns."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns set state = 'wanted', reason = '', attempts = 0, redone = 0, available_at = 0,
                       finished_at = null
                   where (state in ('failed', 'waiting') or (state = 'wanted' and reason <> ''))
                     and (:id is null or turn = (select name from inbox where id = :id))""",
                {"id": row_id},
            ).rowcount

    def erase(self, *, turns: Sequence[str], sessions: Sequence[str]) -> None:
        """Remove turns before their events go: part of forgetting.

        Running calls of the same sessions are repeated: the request may have named the forgotten text."""
        named = {"turns": json.dumps(list(turns)), "sessions": json.dumps(list(sessions))}
        with atomic(self._db):
            self._db.execute(
                """update model_turns set state = 'wanted' where state = 'asking' and session in (
                       select session from inbox where turn in (select value from json_each(:turns)))""",
                named,
            )
            self._db.execute(
                """delete from model_turns where turn in (select value from json_each(:turns))
                   or session in (select value from json_each(:sessions))""",
                named,
            )

    def trim(self, now: float) -> int:
        """Drop turns that ended long ago, and turns that waited until their events were gone."""
        with atomic(self._db):
            return self._db.execute(
                f"""delete from model_turns where (state in {_ENDED} and finished_at < :before)
                        or (state = 'waiting' and created_at < :before)""",
                {"before": now - KEEP_FINISHED_S},
            ).rowcount

    def rows_of(self, turn: str) -> list[Row]:
        """Return the events of a turn; none if they are gone."""
        return event_history.rows_of(self._db, turn)

    def calls_before(self, turn: str, tools: Sequence[str]) -> list[Row]:
        """Return the calls of some tools in the few turns before a turn."""
        return event_history.calls_before(self._db, turn, tools)

    def _is_any(self, state: str) -> bool:
        row = self._db.execute("select 1 from model_turns where state = ? limit 1", (state,)).fetchone()
        return row is not None

    def _end(self, turn: str, state: str, reason: str, now: float) -> None:
        with atomic(self._db):
            self._db.execute(
                "update model_turns set state = :state, reason = :reason, finished_at = :now where turn = :turn",
                {"state": state, "reason": reason, "now": now, "turn": turn},
            )


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of turns by state."""
    by_state = dict.fromkeys(("wanted", "asking", "waiting", "done", "failed", "dropped"), 0)
    by_state.update(connection.execute("select state, count(*) from model_turns group by state").fetchall())
    return by_state


def problems(connection: sqlite3.Connection, limit: int) -> list[QueueProblem]:
    """Return the newest turns without a model's memories, under the number of their first event."""
    rows = connection.execute(
        """select coalesce(inbox.id, 0) as id, model_turns.turn as name, 'model' as event, model_turns.session,
               state as status,
               model_turns.reason || iif(state in ('wanted', 'asking'), '; it is tried again', '') as reason,
               model_turns.attempts, created_at as received_at
           from model_turns left join inbox on inbox.name = model_turns.turn
           where state = 'failed' or (state in ('waiting', 'wanted', 'asking') and model_turns.reason <> '')
           order by model_turns.id desc limit :limit""",
        {"limit": limit},
    )
    return [QueueProblem(**dict(row)) for row in rows]
