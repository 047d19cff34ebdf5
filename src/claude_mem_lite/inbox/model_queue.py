"""The turns a model is asked about, in `inbox.db`: want, claim, end, count. Owns the table `model_turns`.

What rules made of these turns is stored already, so nobody ever has to wait for them. States:
`wanted -> asking -> done | failed | dropped`, and `waiting` for the end of an outage."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import CRASH_LIMIT, KEEP_FINISHED_S, RETRY_AFTER_S, Problem, Row

_ENDED = "('done', 'failed', 'dropped')"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A turn that was claimed to be asked about."""

    turn: str
    session: str
    is_probe: bool = False
    """Whether it only tries out if an outage is over."""


class ModelTurns:
    """The table behind one writing connection. Times are seconds since the epoch."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def want(self, turn: str, session: str, now: float, *, waiting: bool = False) -> None:
        """Have a model asked about a turn, once; `waiting` for the end of an outage."""
        with atomic(self._db):
            self._db.execute(
                """insert or ignore into model_turns (turn, session, state, created_at)
                   values (:turn, :session, :state, :now)""",
                {"turn": turn, "session": session, "state": "waiting" if waiting else "wanted", "now": now},
            )

    def claim(self, now: float, limit: int) -> list[Wanted]:
        """The turns to ask about now: of each session the first, and none while that waits to be tried again."""
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
        return [Wanted(row["turn"], row["session"]) for row in sorted(rows, key=lambda row: int(row["id"]))]

    def claim_probe(self) -> Wanted | None:
        """The turn that has waited longest for the end of an outage, to try out whether it is over."""
        with atomic(self._db):
            row = self._db.execute(
                """update model_turns set state = 'asking', attempts = attempts + 1
                   where id = (select min(id) from model_turns where state = 'waiting') returning turn, session"""
            ).fetchone()
        return Wanted(row["turn"], row["session"], is_probe=True) if row else None

    def is_any_wanted(self) -> bool:
        return self._is_any("wanted")

    def is_any_waiting(self) -> bool:
        return self._is_any("waiting")

    def is_asking(self, turn: str) -> bool:
        """Whether the answer about a turn is still wanted: it may have been forgotten since."""
        found = self._db.execute("select 1 from model_turns where turn = ? and state = 'asking'", (turn,)).fetchone()
        return found is not None

    def finish(self, turn: str, now: float) -> None:
        self._end(turn, "done", "", now)

    def refuse(self, turn: str, reason: str, now: float) -> None:
        """The model will not tell this turn, however often it is asked."""
        self._end(turn, "failed", reason, now)

    def drop(self, turn: str, reason: str, now: float) -> None:
        """The turn stays as rules told it, and that is no failure."""
        self._end(turn, "dropped", reason, now)

    def fail(self, turn: str, reason: str, now: float) -> bool:
        """Try a turn again after a while; True when its tries are used up, and only the end of the outage helps.

        That end helps once."""
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
        """The outage is not over: the turn waits on, as if it had not been tried."""
        with atomic(self._db):
            self._db.execute(
                """update model_turns set state = 'waiting', attempts = attempts - 1, reason = :reason
                   where turn = :turn and state = 'asking'""",
                {"turn": turn, "reason": reason},
            )

    def hold_all(self) -> None:
        """An outage: what is wanted waits for its end."""
        with atomic(self._db):
            self._db.execute("update model_turns set state = 'waiting' where state = 'wanted'")

    def bring_back(self) -> int:
        """The outage is over: what waited is wanted, and what was tried in vain is tried again this once."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns set state = 'wanted', redone = redone + (attempts > 0), attempts = 0,
                       available_at = 0 where state = 'waiting'"""
            ).rowcount

    def drop_all(self, now: float) -> int:
        """No model is to be asked any more."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns
                   set state = 'dropped', reason = 'no model is configured any more', finished_at = :now
                   where state in ('wanted', 'waiting')""",
                {"now": now},
            ).rowcount

    def release_all(self, but: Sequence[str] = ()) -> int:
        """Return what is recorded as being asked, but for these turns: nobody will hear the answers.

        A turn that a worker died on many times is given up; one that waited for the end of an outage waits on."""
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
        """Ask again about a turn that failed, by the number of its first event, or about all of them."""
        with atomic(self._db):
            return self._db.execute(
                """update model_turns set state = 'wanted', reason = '', attempts = 0, redone = 0, available_at = 0,
                       finished_at = null
                   where (state in ('failed', 'waiting') or (state = 'wanted' and reason <> ''))
                     and (:id is null or turn = (select name from inbox where id = :id))""",
                {"id": row_id},
            ).rowcount

    def erase(self, *, turns: Sequence[str], sessions: Sequence[str]) -> None:
        """Remove turns, before their events go: part of forgetting.

        What is being asked in the same sessions is asked anew: the question may have named what is forgotten."""
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
        """Drop what ended long ago, and what waited so long that its events are gone."""
        with atomic(self._db):
            return self._db.execute(
                f"""delete from model_turns where (state in {_ENDED} and finished_at < :before)
                        or (state = 'waiting' and created_at < :before)""",
                {"before": now - KEEP_FINISHED_S},
            ).rowcount

    def rows_of(self, turn: str) -> list[Row]:
        """The events of a turn; none when they are gone."""
        return event_history.rows_of(self._db, turn)

    def calls_before(self, turn: str, tools: Sequence[str]) -> list[Row]:
        """The calls of some tools in the few turns before one."""
        return event_history.calls_before(self._db, turn, tools)

    def _is_any(self, state: str) -> bool:
        found = self._db.execute("select 1 from model_turns where state = ? limit 1", (state,)).fetchone()
        return found is not None

    def _end(self, turn: str, state: str, reason: str, now: float) -> None:
        with atomic(self._db):
            self._db.execute(
                "update model_turns set state = :state, reason = :reason, finished_at = :now where turn = :turn",
                {"state": state, "reason": reason, "now": now, "turn": turn},
            )


def counts(connection: sqlite3.Connection) -> dict[str, int]:
    """How many turns are in each state."""
    found = dict.fromkeys(("wanted", "asking", "waiting", "done", "failed", "dropped"), 0)
    found.update(connection.execute("select state, count(*) from model_turns group by state").fetchall())
    return found


def problems(connection: sqlite3.Connection, limit: int) -> list[Problem]:
    """The newest turns that rules told because the model did not, or not yet, under the number of their first event."""
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
    return [Problem(**dict(row)) for row in rows]
