"""Durable queue of events, `inbox.db`: add, claim, finish, fail, count. Owns the table `inbox`.

A unit is processed together: a whole turn, or one lone event."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.connection import BUSY_TIMEOUT_S, atomic, empty_log, unsynced
from claude_mem_lite.event_names import around, is_past
from claude_mem_lite.inbox import replay
from claude_mem_lite.inbox.journal import FinishedUnit, Journal
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen

LEASE_S = 120.0
RETRY_AFTER_S = (5.0, 10.0, 20.0)
CRASH_LIMIT = 10
KEEP_FINISHED_S = 8 * 86400.0
QUIET_TURN_S = 86400.0
FINISHED = "status in ('done', 'skipped', 'error')"
GUARD_NOTES = ("GuardFired", "GuardFailed")
"""Events that the guard hook leaves."""
# Lone events: processed at once, before a turn that is still open.
LONE_EVENTS = ("SessionStart", "PreCompact", "Rendered", *GUARD_NOTES, "Command")


@frozen
class Row:
    """One event in the inbox."""

    id: int
    name: str
    event: str
    session: str
    payload: str
    received_at: float

    def parse_payload(self) -> JsonObject:
        """Return the payload; PayloadError if unreadable."""
        return parse(self.payload.encode())


@frozen
class QueueProblem:
    """Event as shown by `queue --errors`."""

    id: int
    name: str
    event: str
    session: str
    status: str
    reason: str
    attempts: int
    received_at: float


class Queue:
    """Inbox behind one writing connection. Times are seconds since the epoch."""

    def __init__(
        self, connection: sqlite3.Connection, done: Callable[[], int] = lambda: 0, journal: Journal | None = None
    ) -> None:
        self.db = connection
        """For modules that read or erase beside the queue: `event_history`, `erase`."""
        self._done = done
        """Counter of memory.db, noted with finished events."""
        self.journal = journal

    def add(self, arrivals: Iterable[Arrival], now: float) -> int:
        """Store events under their spool names, once each; return the number of new events. An event of two hooks, as
        of a plugin and of settings, is stored once.

        A name that was unreadable at first, because its hook was still writing, may become readable."""
        events = list(arrivals)
        before = self.db.total_changes
        with atomic(self.db):
            self.db.executemany(
                """insert into inbox (name, event, session, payload, digest, raw_bytes, status, reason,
                       received_at, finished_at, work)
                   select :name, :event, :session, :payload, :digest, :raw_bytes, :status, :problem, :now, :finished, 0
                   where not :is_one or not exists (select 1 from inbox as other
                       where other.digest = :digest and other.name <> :name
                         and other.name > :from and other.name < :until)
                   on conflict (name) do update set event = excluded.event, session = excluded.session,
                       payload = excluded.payload, digest = excluded.digest, raw_bytes = excluded.raw_bytes,
                       status = 'raw', reason = '', finished_at = null
                   where inbox.status = 'error' and inbox.attempts = 0 and excluded.status = 'raw'""",
                [
                    {
                        **asdict(arrival),
                        "digest": digest(arrival.session, arrival.event, arrival.payload),
                        "status": "error" if arrival.problem else "raw",
                        "now": now,
                        "finished": now if arrival.problem else None,
                        "is_one": arrival.duplicate_within_s > 0,
                        **_around(arrival.name, arrival.duplicate_within_s),
                    }
                    for arrival in events
                ],
            )
        if self.journal is not None:  # after the commit, so that the journal has no event that the inbox lacks
            known = known_of(self.db, [arrival.name for arrival in events])
            self.journal.keep([arrival for arrival in events if arrival.name in known], now)
        return self.db.total_changes - before

    def claim(self, now: float, *, limit: int = 5, flush: bool = False) -> list[list[Row]]:
        """Return up to `limit` ready units, one per session, leased to the caller.

        A turn is ready with its end, with the next prompt, or after a day without events; `flush` makes open turns
        ready too. A unit claimed before keeps its rows: new rows in a grown unit would be taken for stored. Units to
        replay come first, one at a time."""
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

    def has_ready(self, now: float) -> bool:
        """Return whether a unit is ready, or claimed by a worker that was killed."""
        return bool(
            self.db.execute("select 1 from inbox where status = 'processing' limit 1").fetchone()
            or replay.next_unit(self.db)
            or any(self._first_unit(session, now, flush=False) for session in self._sessions_with_work(now))
        )

    def begin(self, ids: Sequence[int], now: float) -> None:
        """Count an attempt at rows of a claimed unit, and extend their lease.

        Units that are claimed along with one that kills the worker are not to blame, so a claim counts nothing."""
        with unsynced(self.db), atomic(self.db):
            self.db.executemany(
                "update inbox set attempts = attempts + 1, lease_until = ? where id = ?",
                [(now + LEASE_S, row_id) for row_id in ids],
            )

    def finish(
        self,
        done: Sequence[int],
        now: float,
        *,
        skipped: Mapping[int, str] | None = None,
        findings: JsonObject | None = None,
    ) -> None:
        """End the rows of a unit, all at once; `skipped` are rows without content, with the reason. The first row keeps
        `findings`, see `event_history`."""
        reasons = skipped or {}
        work = self._done()
        common = {"now": now, "work": work}
        ended = [{"id": row_id, "status": "done", "reason": "", **common} for row_id in done]
        ended += [{"id": row_id, "status": "skipped", "reason": reasons[row_id], **common} for row_id in reasons]
        encoded = json.dumps(findings) if findings else ""
        self._note_done([*done, *reasons], set(reasons), work, now, encoded)
        with (
            unsynced(self.db),
            atomic(self.db),
        ):  # memory.db is synced; a lost end repeats the unit, which changes nothing
            self.db.executemany(
                """update inbox set status = :status, reason = :reason, finished_at = :now, work = :work
                   where id = :id""",
                ended,
            )
            if encoded and ended:
                self.db.execute("update inbox set found = ? where id = ?", (encoded, min((*done, *reasons))))

    def fail(self, ids: Sequence[int], reason: str, now: float, *, final: bool = False) -> None:
        """Return rows to the queue for a later retry; the last failure, or a final failure, is kept."""
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
        """Return everything claimed to the queue: for a worker that starts or ends.

        A starting worker holds the home's lock, so the former claimant is gone."""
        return self._release("")

    def retry(self, row_id: int | None) -> int:
        """Return an event in error, or all of them, to the queue."""
        with atomic(self.db):
            return self.db.execute(
                """update inbox set status = 'raw', reason = '', attempts = 0, available_at = 0, finished_at = null,
                       work = 0
                   where status = 'error' and (:id is null or id = :id)""",
                {"id": row_id},
            ).rowcount

    def trim(self, now: float, backed_up: int | None = None) -> int:
        """Delete events that finished long ago and are covered by a backup with the counter `backed_up`."""
        with atomic(self.db):
            return self.db.execute(
                """delete from inbox where status in ('done', 'skipped', 'error') and finished_at < :before
                     and (:done is null or work <= :done)""",
                {"before": now - KEEP_FINISHED_S, "done": backed_up},
            ).rowcount

    def trim_journal(self, backed_up: int | None) -> None:
        """Trim the journal of finished events covered by a backup with the counter `backed_up`.

        The logs of the databases must have been written to their files before."""
        if self.journal is not None:
            self.journal.trim(lambda names: self._unsafe(names, backed_up))

    def empty_log(self, wait_s: float = BUSY_TIMEOUT_S) -> bool:
        """Empty the log, see `connection.empty_log`."""
        return empty_log(self.db, wait_s)

    def _note_done(self, ids: Sequence[int], skipped: AbstractSet[int], work: int, now: float, findings: str) -> None:
        """Update the journal before the inbox: after a crash in between, the work is done all the same."""
        if self.journal is None:
            return
        rows = self.db.execute(
            "select id, name, turn from inbox where id in (select value from json_each(:ids)) order by id",
            {"ids": json.dumps(list(ids))},
        ).fetchall()
        names_skipped = [row["name"] for row in rows if row["id"] in skipped]
        if rows and findings:
            self.journal.note_findings(rows[0]["name"], findings)
        if rows:
            self.journal.note_done(
                [row["name"] for row in rows], FinishedUnit(rows[0]["turn"], work, now, names_skipped)
            )

    def _unsafe(self, names: Collection[str], backed_up: int | None) -> set[str]:
        """Return the events that are unfinished, or not covered by a backup with the counter `backed_up`."""
        rows = self.db.execute(
            f"""select name from inbox where name in (select value from json_each(:names))
                  and (not {FINISHED} or work > :done)""",
            {"names": json.dumps(list(names)), "done": backed_up},
        )
        return {row["name"] for row in rows}

    def _release(self, condition: str, **values: float) -> int:
        """Reset claimed rows to raw; rows that many workers died on end in error."""
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
        """Return sessions with work, and with nothing claimed or waiting for a retry."""
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
        # Imported events of a session must not end, nor join, a turn that hooks still capture.
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
        """Claim the rows of one unit; the first row's name is the key of the turn."""
        claimed = []
        with unsynced(self.db), atomic(self.db):  # a lost lease leaves the rows unclaimed, as a starting worker does
            for row_id in ids:
                row = self.db.execute(
                    """update inbox set status = 'processing', lease_until = :until,
                           turn = (select name from inbox where id = :first)
                       where id = :id and status = 'raw'
                       returning id, name, event, session, payload, received_at""",
                    {"until": now + LEASE_S, "id": row_id, "first": ids[0]},
                ).fetchone()
                if row is not None:
                    claimed.append(Row(**dict(row)))
        return claimed


def digest(session: str, event: str, payload: str) -> str:
    """Return a digest that only events with equal content share."""
    return hashlib.blake2b("\x00".join((session, event, payload)).encode(), digest_size=16).hexdigest()


def stats(connection: sqlite3.Connection) -> dict[str, int]:
    """Return the number of events by status."""
    counts = dict.fromkeys(("raw", "processing", "done", "error", "skipped"), 0)
    counts.update(connection.execute("select status, count(*) from inbox group by status").fetchall())
    return counts


def problems(connection: sqlite3.Connection, status: str, limit: int) -> list[QueueProblem]:
    """Return the newest events in a status, with their reasons."""
    rows = connection.execute(
        """select id, name, event, session, status, reason, attempts, received_at from inbox
           where status = :status order by id desc limit :limit""",
        {"status": status, "limit": limit},
    )
    return [QueueProblem(**dict(row)) for row in rows]


def near(connection: sqlite3.Connection, name: str, session: str, event: str, within_s: float) -> list[Row]:
    """Return the other events of a session and kind around the time of a spool name."""
    rows = connection.execute(
        """select id, name, event, session, payload, received_at from inbox
           where name > :from and name < :until and name <> :name and session = :session and event = :event""",
        {"name": name, "session": session, "event": event, **_around(name, within_s)},
    )
    return [Row(**dict(row)) for row in rows]


def _around(name: str, within_s: float) -> dict[str, str]:
    """Return the range of names made within the given time of a name."""
    earliest, latest = around(name, within_s)
    return {"from": earliest, "until": latest}


def known_of(connection: sqlite3.Connection, names: Iterable[str]) -> set[str]:
    """Return the given events that exist."""
    rows = connection.execute(
        "select name from inbox where name in (select value from json_each(:names))", {"names": json.dumps(list(names))}
    )
    return {row["name"] for row in rows}


def find(connection: sqlite3.Connection, name: str) -> Row | None:
    """Return an event by its spool name."""
    row = connection.execute(
        "select id, name, event, session, payload, received_at from inbox where name = ?", (name,)
    ).fetchone()
    return Row(**dict(row)) if row else None
