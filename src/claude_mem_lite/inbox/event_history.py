"""Events still in the inbox: prompts, tool calls and results of sessions, findings of the first processing of an event,
and past turns read again from a transcript.

For judgements about a session: outcomes, saves by an agent, changes undone by the user."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict

from claude_mem_lite.agents.claude_code import TURN_ENDS
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import LONE_EVENTS, Queue, Row, digest
from claude_mem_lite.inbox.spool import Arrival
from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen

MAX_TURNS_BEFORE = 3
"""Number of earlier turns in which a turn may find the failing commands that it fixes."""
_MAX_BEFORE = 200
_MAX_BEFORE_LENGTH = 200_000
_REASON = "read once more from the transcript of its turn, which is stored"


@frozen
class CallRow:
    """Tool call by the name of its event: tool and input as JSON."""

    name: str
    tool: str
    tool_input: str


@frozen
class SessionEvent:
    """Prompt or tool result as received; the payload may be left out."""

    name: str
    event: str
    session: str
    agent_id: str
    tool: str
    payload: str = ""

    def parse_payload(self) -> JsonObject:
        """Return the payload; PayloadError if unreadable."""
        return parse(self.payload.encode())


@frozen
class TurnsBefore:
    """Few turns of a session before another turn, the last turn first, and the ids of their calls."""

    turns: tuple[str, ...]
    calls: tuple[int, ...]


def tool_calls(db: sqlite3.Connection, session: str, limit: int) -> list[CallRow]:
    """Return the last tool calls of a session, newest first, as far as its events are kept."""
    rows = db.execute(
        # Extracted by SQLite: with all tool results, a session can have a gigabyte.
        """select name, json_extract(payload, '$.tool_name') as tool, json_extract(payload, '$.tool_input') as given
           from inbox
           where status in ('done', 'skipped', 'processing') and session = :session
             and event in ('PostToolUse', 'PostToolUseFailure') and json_valid(payload)
           order by id desc limit :limit""",
        {"session": session, "limit": limit},
    )
    return [CallRow(row["name"], str(row["tool"] or ""), str(row["given"])) for row in rows if row["given"] is not None]


def transcripts_of(db: sqlite3.Connection, sessions: Sequence[str]) -> list[str]:
    """Return the transcripts that the starts and prompts of sessions named, as far as they are kept."""
    rows = db.execute(
        """select distinct json_extract(payload, '$.transcript_path') from inbox
           where status in ('done', 'skipped') and session in (select value from json_each(:sessions))
             and event in ('SessionStart', 'UserPromptSubmit') and json_valid(payload)""",
        {"sessions": json.dumps(list(sessions))},
    )
    return [path for (path,) in rows if isinstance(path, str)]


def count_prompts(db: sqlite3.Connection, session: str, after: str, before: str) -> int:
    """Return the number of prompts of a session between two events, by name, as far as they are kept."""
    (number,) = db.execute(
        """select count(*) from inbox where status in ('raw', 'processing', 'done', 'skipped', 'error')
             and session = :session and event = 'UserPromptSubmit' and name > :after and name < :before""",
        {"session": session, "after": after, "before": before},
    ).fetchone()
    return int(number)


def calls_from(db: sqlite3.Connection, session: str, name: str, limit: int) -> Iterator[Row]:
    """Yield a tool call by the name of its event, then the later calls of the same tool in the session, in order, as
    far as they are kept."""
    ids = db.execute(
        """select inbox.id from inbox join inbox as first
             on first.name = :name and first.session = inbox.session and inbox.id >= first.id
           where inbox.session = :session and inbox.status in ('done', 'skipped', 'processing')
             and inbox.event in ('PostToolUse', 'PostToolUseFailure')
             and json_valid(first.payload) and json_valid(inbox.payload)
             and json_extract(inbox.payload, '$.tool_name') = json_extract(first.payload, '$.tool_name')
           order by inbox.id limit :limit""",
        {"session": session, "name": name, "limit": limit},
    ).fetchall()
    yield from _rows(db, ids)


def events_in(db: sqlite3.Connection, session: str, limit: int) -> Iterator[Row]:
    """Yield the events of a session in order, as far as they are kept."""
    ids = db.execute(
        """select id from inbox where session = :session and status in ('done', 'skipped', 'processing')
           order by id limit :limit""",
        {"session": session, "limit": limit},
    ).fetchall()
    yield from _rows(db, ids)


def _rows(db: sqlite3.Connection, ids: Sequence[tuple[int]]) -> Iterator[Row]:
    """Yield rows one after the other: all payloads of a session may be large."""
    for (id_,) in ids:
        stored = db.execute(
            "select id, name, event, session, payload, received_at from inbox where id = ?", (id_,)
        ).fetchone()
        if stored is not None:
            yield Row(**dict(stored))


def rows_of(db: sqlite3.Connection, turn: str) -> list[Row]:
    """Return the events of a turn; none if they are gone."""
    rows = db.execute(
        "select id, name, event, session, payload, received_at from inbox where turn = ? order by id", (turn,)
    )
    return [Row(**dict(row)) for row in rows]


def turns_before(db: sqlite3.Connection, turn: str) -> TurnsBefore:
    """Return the few turns of the session before a turn that had prompts or calls, as far as they are kept."""
    rows = db.execute(
        """select inbox.id, inbox.turn, inbox.event from inbox join inbox as first
             on first.id = (select min(id) from inbox where turn = :turn)
             and inbox.session = first.session and inbox.id < first.id
           where inbox.status in ('done', 'skipped') and first.session <> ''
             and inbox.event in ('UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure')
           order by inbox.id desc limit :limit""",
        {"turn": turn, "limit": _MAX_BEFORE},
    ).fetchall()
    turns = tuple(dict.fromkeys(row["turn"] for row in rows))[:MAX_TURNS_BEFORE]
    calls = tuple(row["id"] for row in rows if row["turn"] in turns and row["event"] != "UserPromptSubmit")
    return TurnsBefore(turns, calls)


def calls_in(db: sqlite3.Connection, before: TurnsBefore, tools: Sequence[str]) -> list[Row]:
    """Return the calls of some tools in earlier turns, in order, as far as they are kept."""
    stored = db.execute(
        """select id, name, event, session, payload, received_at from inbox
           where id in (select value from json_each(:ids)) and length(payload) <= :longest and json_valid(payload)
             and json_extract(payload, '$.tool_name') in (select value from json_each(:tools))
           order by id""",
        {"ids": json.dumps(before.calls), "tools": json.dumps(list(tools)), "longest": _MAX_BEFORE_LENGTH},
    )
    return [Row(**dict(row)) for row in stored]


def calls_before(db: sqlite3.Connection, turn: str, tools: Sequence[str]) -> list[Row]:
    """Return the calls of some tools in the few turns of the session before a turn, in order, as far as they are
    kept."""
    return calls_in(db, turns_before(db, turn), tools)


def prompts_after(db: sqlite3.Connection, session: str, lead: str) -> list[str]:
    """Return the rest of the session's prompts that begin with a command."""
    rows = db.execute(
        """select substr(prompt, length(:lead) + 1) from (
             select case when json_valid(payload) then json_extract(payload, '$.prompt') end as prompt from inbox
             where status in ('raw', 'processing', 'done', 'skipped', 'error') and session = :session
               and event = 'UserPromptSubmit')
           where substr(prompt, 1, length(:lead)) = :lead""",
        {"session": session, "lead": lead},
    )
    return [str(rest) for (rest,) in rows]


def recent_events(
    db: sqlite3.Connection, session: str, without: Sequence[str], limit: int, max_text: int
) -> list[SessionEvent]:
    """Return the last prompts, tool calls and ends of sub-agents of a session, newest first, processed or not; with
    payloads, except for some tools and beyond a total length."""
    rows = db.execute(
        # All statuses by name: so the index finds the session.
        """select id, name, event, length(payload) as size,
             case when json_valid(payload) then json_extract(payload, '$.tool_name') end as tool,
             case when json_valid(payload) then json_extract(payload, '$.agent_id') end as agent
           from inbox
           where status in ('raw', 'processing', 'done', 'skipped', 'error') and session = :session
             and event in ('UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'SubagentStop')
           order by id desc limit :limit""",
        {"session": session, "limit": limit},
    ).fetchall()
    events = []
    left = max_text
    for row in rows:
        tool = str(row["tool"] or "")
        payload = ""
        if row["event"] != "UserPromptSubmit" and tool not in without and row["size"] <= left:
            left -= row["size"]
            payload = str(db.execute("select payload from inbox where id = ?", (row["id"],)).fetchone()[0])
        events.append(SessionEvent(row["name"], row["event"], session, str(row["agent"] or ""), tool, payload))
    return events


def forgotten_for(db: sqlite3.Connection, session: str, agent: str) -> int:
    """Return the number of memories that an agent forgot in a session, as far as its commands are kept."""
    (count,) = db.execute(
        """select coalesce(sum(json_array_length(payload, '$.ids')), 0) from inbox
           where status = 'done' and session = '' and event = 'Command' and json_valid(payload)
             and json_extract(payload, '$.command') = 'forget' and json_extract(payload, '$.by') = :agent
             and json_extract(payload, '$.asked_in') = :session""",
        {"session": session, "agent": agent},
    ).fetchone()
    return int(count)


def findings_of(queue: Queue, name: str) -> JsonObject:
    """Return the findings of an event; empty before the first processing."""
    row = queue.db.execute("select found from inbox where name = ?", (name,)).fetchone()
    stored = row["found"] if row else ""
    try:
        return parse(stored.encode()) if stored and isinstance(stored, str) else {}
    except PayloadError:  # restored from a corrupt inbox, not as text
        return {}


def note_findings(queue: Queue, name: str, findings: JsonObject) -> None:
    """Store findings before acting on them: after a crash, the next worker finds the same disk again."""
    encoded = json.dumps(findings)
    if queue.journal is not None:
        queue.journal.note_findings(name, encoded)
    with atomic(queue.db):
        queue.db.execute("update inbox set found = ? where name = ?", (encoded, name))


def events_of_turn(arrivals: Sequence[Arrival]) -> list[Arrival]:
    """Return the events that the inbox would group into one turn: up to its end, without lone events."""
    events = [arrival for arrival in arrivals if arrival.event not in LONE_EVENTS and not arrival.problem]
    end = next((at for at, arrival in enumerate(events) if arrival.event in TURN_ENDS), len(events))
    return events[: end + 1]


def put_past_turn(db: sqlite3.Connection, turn: str, events: Sequence[Arrival], now: float) -> None:
    """Store the events of a turn again, inside the caller's transaction; a turn with events keeps them."""
    if db.execute("select 1 from inbox where turn = ? limit 1", (turn,)).fetchone() is not None:
        return
    db.executemany(
        """insert or ignore into inbox (name, event, session, turn, payload, digest, raw_bytes, status, reason,
               received_at, finished_at, work)
           values (:name, :event, :session, :turn, :payload, :digest, :raw_bytes, 'skipped', :reason, :now, :now, 0)""",
        [
            {
                **asdict(arrival),
                "turn": turn,
                "digest": digest(arrival.session, arrival.event, arrival.payload),
                "reason": _REASON,
                "now": now,
            }
            for arrival in events
        ],
    )


def sizes(db: sqlite3.Connection, session: str) -> dict[str, int]:
    """Return the stored length of each turn of a session."""
    rows = db.execute(
        """select turn, sum(length(payload)) as size from inbox
           where status in ('done', 'skipped', 'error') and session = ? and turn <> '' group by turn""",
        (session,),
    )
    return {row["turn"]: int(row["size"]) for row in rows}
