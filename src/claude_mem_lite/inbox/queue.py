"""The durable queue of events, `inbox.db`: add, claim, finish, fail, count. Owns the table `inbox`.

A unit is what is worked on together: a whole turn, or one event that stands alone."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.connection import BUSY_TIMEOUT_S, atomic, empty_log
from claude_mem_lite.event_names import around, is_past
from claude_mem_lite.inbox import replay
from claude_mem_lite.inbox.journal import Copies, Done
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import JsonObject

LEASE_S = 120.0
RETRY_AFTER_S = (5.0, 10.0, 20.0)
CRASH_LIMIT = 10
KEEP_FINISHED_S = 8 * 86400.0
QUIET_TURN_S = 86400.0
FINISHED = "status in ('done', 'skipped', 'error')"
# These stand alone: they are worked on at once, in front of a turn that is still open.
LONE_EVENTS = ("SessionStart", "PreCompact", "Rendered", "Command")


@dataclass(frozen=True, slots=True)
class Row:
    """One event in the inbox."""

    id: int
    name: str
    event: str
    session: str
    payload: str
    received_at: float

    def told(self) -> JsonObject:
        """What its hook told; PayloadError when that cannot be read."""
        return parse(self.payload.encode())


@dataclass(frozen=True, slots=True)
class Problem:
    """One event as `queue --errors` shows it."""

    id: int
    name: str
    event: str
    session: str
    status: str
    reason: str
    attempts: int
    received_at: float


class Queue:
    """The inbox behind one writing connection. Times are seconds since the epoch."""

    def __init__(
        self, connection: sqlite3.Connection, done: Callable[[], int] = lambda: 0, copies: Copies | None = None
    ) -> None:
        self.db = connection
        """For what reads or erases beside the queue: `past_calls`, `erasing`, `buried`."""
        self._done = done
        """How far memory.db is, to be noted with what is finished."""
        self.copies = copies

    def add(self, arrivals: Iterable[Arrival], now: float) -> int:
        """Store events under their spool names, once each; returns how many were new. What two hooks told of, as those
        of a plugin and of settings do, is stored once.

        A name that could not be read when it first came, because its hook was not done, may still become one."""
        given = list(arrivals)
        before = self.db.total_changes
        with atomic(self.db):
            self.db.executemany(
                """insert into inbox (name, event, session, payload, digest, raw_bytes, status, reason,
                       received_at, finished_at, work)
                   select :name, :event, :session, :payload, :digest, :raw_bytes, :status, :reason, :now, :finished, 0
                   where not :is_one or not exists (select 1 from inbox as other
                       where other.digest = :digest and other.name <> :name
                         and other.name > :from and other.name < :until)
                   on conflict (name) do update set event = excluded.event, session = excluded.session,
                       payload = excluded.payload, digest = excluded.digest, raw_bytes = excluded.raw_bytes,
                       status = 'raw', reason = '', finished_at = null
                   where inbox.status = 'error' and inbox.attempts = 0 and excluded.status = 'raw'""",
                [
                    {
                        "name": arrival.name,
                        "event": arrival.event,
                        "session": arrival.session,
                        "payload": arrival.payload,
                        "digest": digest(arrival.session, arrival.event, arrival.payload),
                        "raw_bytes": arrival.raw_bytes,
                        "status": "error" if arrival.problem else "raw",
                        "reason": arrival.problem,
                        "now": now,
                        "finished": now if arrival.problem else None,
                        "is_one": arrival.one_within_s > 0,
                        **_around(arrival.name, arrival.one_within_s),
                    }
                    for arrival in given
                ],
            )
        if self.copies is not None:  # after the commit, so that nothing has a copy that is not in the inbox
            known = known_of(self.db, [arrival.name for arrival in given])
            self.copies.keep([arrival for arrival in given if arrival.name in known], now)
        return self.db.total_changes - before

    def claim(self, now: float, *, limit: int = 5, flush: bool = False) -> list[list[Row]]:
        """Up to `limit` units that are ready, one per session, leased to the caller.

        A turn is ready when its end is there, or the next prompt, or nothing came for a day; `flush`
        makes open turns ready too. A unit that was claimed before stays the unit it was: if it had grown,
        what is new in it would be taken for stored. What is to be replayed comes first, one unit at a time."""
        self._release("and lease_until < :now", now=now)
        if again := replay.next_unit(self.db):
            return [self._lease(again, now)]
        units: list[list[Row]] = []
        for session in self._sessions_with_work(now):
            ids = self._first_unit(session, now, flush)
            if ids:
                units.append(self._lease(ids, now))
            if len(units) == limit:
                break
        return units

    def renew(self, ids: Sequence[int], now: float) -> None:
        """Keep the lease of rows that are still worked on."""
        self._set(ids, "lease_until = :value", now + LEASE_S)

    def finish(
        self,
        done: Sequence[int],
        now: float,
        *,
        skipped: Mapping[int, str] | None = None,
        found: JsonObject | None = None,
    ) -> None:
        """End the rows of a unit, all at once; `skipped` are those that held nothing, with the reason. `found` is kept
        with the first of them, see `findings`."""
        reasons = skipped or {}
        work = self._done()
        common = {"now": now, "work": work}
        ended = [{"id": one, "status": "done", "reason": "", **common} for one in done]
        ended += [{"id": one, "status": "skipped", "reason": reasons[one], **common} for one in reasons]
        told = json.dumps(found) if found else ""
        self._note_done([*done, *reasons], set(reasons), work, now, told)
        with atomic(self.db):
            self.db.executemany(
                """update inbox set status = :status, reason = :reason, finished_at = :now, work = :work
                   where id = :id""",
                ended,
            )
            if told and ended:
                self.db.execute("update inbox set found = ? where id = ?", (told, min((*done, *reasons))))

    def fail(self, ids: Sequence[int], reason: str, now: float, *, final: bool = False) -> None:
        """Give rows back to be tried again after a while; the last failure, or a final one, is kept."""
        with atomic(self.db):
            for row_id in ids:
                (attempts,) = self.db.execute("select attempts from inbox where id = ?", (row_id,)).fetchone()
                over = final or attempts > len(RETRY_AFTER_S)
                self.db.execute(
                    """update inbox set status = :status, reason = :reason, available_at = :available,
                           finished_at = :finished, work = 0 where id = :id""",
                    {
                        "status": "error" if over else "raw",
                        "reason": reason,
                        "available": 0.0 if over else now + RETRY_AFTER_S[attempts - 1],
                        "finished": now if over else None,
                        "id": row_id,
                    },
                )

    def release_all(self) -> int:
        """Return everything that is claimed: for a worker that starts or ends.

        One that starts holds the home's lock, so whoever had claimed is gone."""
        return self._release("")

    def retry(self, row_id: int | None) -> int:
        """Put an event in error, or all of them, back to work."""
        with atomic(self.db):
            return self.db.execute(
                """update inbox set status = 'raw', reason = '', attempts = 0, available_at = 0, finished_at = null,
                       work = 0
                   where status = 'error' and (:id is null or id = :id)""",
                {"id": row_id},
            ).rowcount

    def trim(self, now: float, backed_up: int | None = None) -> int:
        """Drop what was finished long ago, and is in a backup: in one that was made when memory.db was so far."""
        with atomic(self.db):
            return self.db.execute(
                """delete from inbox where status in ('done', 'skipped', 'error') and finished_at < :before
                     and (:done is null or work <= :done)""",
                {"before": now - KEEP_FINISHED_S, "done": backed_up},
            ).rowcount

    def trim_copies(self, backed_up: int | None) -> None:
        """Let go of the copies of what is finished, and is in a backup: in one that was made when memory.db was so far.

        What is in the logs of the databases has to be in their files before."""
        if self.copies is not None:
            self.copies.trim(lambda names: self._unsafe(names, backed_up))

    def empty_log(self, wait_s: float = BUSY_TIMEOUT_S) -> bool:
        """See `connection.empty_log`."""
        return empty_log(self.db, wait_s)

    def _note_done(self, ids: Sequence[int], skipped: AbstractSet[int], work: int, now: float, found: str) -> None:
        """Tell the copies, before the inbox knows: a worker that dies in between has done it all the same."""
        if self.copies is None:
            return
        rows = self.db.execute(
            "select id, name, turn from inbox where id in (select value from json_each(:ids)) order by id",
            {"ids": json.dumps(list(ids))},
        ).fetchall()
        names_skipped = [row["name"] for row in rows if row["id"] in skipped]
        if rows and found:
            self.copies.note_found(rows[0]["name"], found)
        if rows:
            self.copies.note_done([row["name"] for row in rows], Done(rows[0]["turn"], work, now, names_skipped))

    def _unsafe(self, names: Collection[str], backed_up: int | None) -> set[str]:
        """Which of these events are not finished, or not in a backup that was made when memory.db was so far."""
        rows = self.db.execute(
            f"""select name from inbox where name in (select value from json_each(:names))
                  and (not {FINISHED} or work > :done)""",
            {"names": json.dumps(list(names)), "done": backed_up},
        )
        return {row["name"] for row in rows}

    def _release(self, condition: str, **values: float) -> int:
        """Rows that were under way become raw again; what a worker died on many times ends in error."""
        with atomic(self.db):
            self.db.execute(
                f"""update inbox set status = 'error', finished_at = received_at,
                        reason = 'given up: the worker ended {CRASH_LIMIT} times while at it'
                    where status = 'processing' and attempts >= {CRASH_LIMIT} {condition}""",
                values,
            )
            return self.db.execute(
                f"update inbox set status = 'raw' where status = 'processing' {condition}", values
            ).rowcount

    def _sessions_with_work(self, now: float) -> list[str]:
        """Sessions that have something to do and nothing under way or waiting to be tried again."""
        rows = self.db.execute(
            """select session from inbox where status in ('raw', 'processing') group by session
               having sum(status = 'processing') = 0 and sum(available_at > :now and available_at <= :latest) = 0
               order by min(id)""",
            # A time beyond the longest wait is from before the clock was set back.
            {"now": now, "latest": now + RETRY_AFTER_S[-1]},
        )
        return [row["session"] for row in rows]

    def _first_unit(self, session: str, now: float, flush: bool) -> list[int]:
        rows = self.db.execute(
            "select id, name, event, turn, received_at from inbox where status = 'raw' and session = ? order by id",
            (session,),
        ).fetchall()
        for row in rows:
            if not session or row["event"] in LONE_EVENTS:
                return [row["id"]]
        # What is imported of a session must not end, nor become part of, a turn that hooks are still seeing.
        rows = [row for row in rows if is_past(row["name"])] or rows
        ids: list[int] = []
        for row in rows:
            if ids and (row["event"] == "UserPromptSubmit" or row["turn"] != rows[0]["turn"]):
                return ids
            ids.append(row["id"])
            if row["event"] in TURN_ENDS:
                return ids
        if ids and (flush or rows[0]["turn"] or rows[-1]["received_at"] < now - QUIET_TURN_S):
            return ids
        return []

    def _lease(self, ids: Sequence[int], now: float) -> list[Row]:
        """The rows of one unit, claimed; the first one's name is the key of the turn."""
        claimed = []
        with atomic(self.db):
            for row_id in ids:
                row = self.db.execute(
                    """update inbox set status = 'processing', attempts = attempts + 1, lease_until = :until,
                           turn = (select name from inbox where id = :first)
                       where id = :id and status = 'raw'
                       returning id, name, event, session, payload, received_at""",
                    {"until": now + LEASE_S, "id": row_id, "first": ids[0]},
                ).fetchone()
                if row is not None:
                    claimed.append(Row(**dict(row)))
        return claimed

    def _set(self, ids: Sequence[int], assignment: str, value: float) -> None:
        with atomic(self.db):
            self.db.executemany(
                f"update inbox set {assignment} where id = :id",
                [{"value": value, "id": row_id} for row_id in ids],
            )


def digest(session: str, event: str, payload: str) -> str:
    """What two events have in common only when they say the same."""
    return hashlib.blake2b("\x00".join((session, event, payload)).encode(), digest_size=16).hexdigest()


def stats(connection: sqlite3.Connection) -> dict[str, int]:
    """How many events are in each status."""
    counts = dict.fromkeys(("raw", "processing", "done", "error", "skipped"), 0)
    counts.update(connection.execute("select status, count(*) from inbox group by status").fetchall())
    return counts


def problems(connection: sqlite3.Connection, status: str, limit: int) -> list[Problem]:
    """The newest events in one status, with the reason they are in it."""
    rows = connection.execute(
        """select id, name, event, session, status, reason, attempts, received_at from inbox
           where status = :status order by id desc limit :limit""",
        {"status": status, "limit": limit},
    )
    return [Problem(**dict(row)) for row in rows]


def near(connection: sqlite3.Connection, name: str, session: str, event: str, within_s: float) -> list[Row]:
    """The other events of a session, of one kind, around the moment that a spool name tells."""
    rows = connection.execute(
        """select id, name, event, session, payload, received_at from inbox
           where name > :from and name < :until and name <> :name and session = :session and event = :event""",
        {"name": name, "session": session, "event": event, **_around(name, within_s)},
    )
    return [Row(**dict(row)) for row in rows]


def _around(name: str, within_s: float) -> dict[str, str]:
    """The names between which all stand that were made so near to this one."""
    earliest, latest = around(name, within_s)
    return {"from": earliest, "until": latest}


def known_of(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Which of these events there are."""
    rows = connection.execute(
        "select name from inbox where name in (select value from json_each(:names))", {"names": json.dumps(list(names))}
    )
    return {row["name"] for row in rows}


def find(connection: sqlite3.Connection, name: str) -> Row | None:
    """An event by its spool name."""
    row = connection.execute(
        "select id, name, event, session, payload, received_at from inbox where name = ?", (name,)
    ).fetchone()
    return Row(**dict(row)) if row else None
