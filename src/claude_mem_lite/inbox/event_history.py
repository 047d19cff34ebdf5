"""What sessions asked, called and heard, out of the events that the inbox still keeps. Reads only.

For whoever judges a session by what it did: outcomes, what an agent wants kept, what the user took back."""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.models import JsonObject

_MAX_TURNS_BEFORE = 3
_MAX_BEFORE = 200
_MAX_BEFORE_LENGTH = 200_000


@dataclass(frozen=True, slots=True)
class CallRow:
    """A tool call by the name of its event: which tool, and what it was given, as JSON."""

    name: str
    tool: str
    given: str


@dataclass(frozen=True, slots=True)
class HeardRow:
    """A prompt or what a tool answered, as it came; without the payload where that is not wanted."""

    name: str
    event: str
    session: str
    agent_id: str
    tool: str
    payload: str = ""

    def told(self) -> JsonObject:
        """What its hook told; PayloadError when that cannot be read."""
        return parse(self.payload.encode())


def tool_calls(db: sqlite3.Connection, session: str, limit: int) -> list[CallRow]:
    """The last tool calls of a session, newest first, as long as its events are kept."""
    rows = db.execute(
        # Taken out by SQLite: with all that tools returned, a session can have a gigabyte.
        """select name, json_extract(payload, '$.tool_name') as tool, json_extract(payload, '$.tool_input') as given
           from inbox
           where status in ('done', 'skipped', 'processing') and session = :session
             and event in ('PostToolUse', 'PostToolUseFailure') and json_valid(payload)
           order by id desc limit :limit""",
        {"session": session, "limit": limit},
    )
    return [CallRow(row["name"], str(row["tool"] or ""), str(row["given"])) for row in rows if row["given"] is not None]


def count_prompts(db: sqlite3.Connection, session: str, after: str, before: str) -> int:
    """Return how many prompts of a session came between two events, by their names, as long as they are kept."""
    (number,) = db.execute(
        """select count(*) from inbox where status in ('raw', 'processing', 'done', 'skipped', 'error')
             and session = :session and event = 'UserPromptSubmit' and name > :after and name < :before""",
        {"session": session, "after": after, "before": before},
    ).fetchone()
    return int(number)


def calls_from(db: sqlite3.Connection, session: str, name: str, limit: int) -> Iterator[Row]:
    """A tool call by the name of its event, and those of the same tool that came after it in its session, in order,
    one at a time, as long as they are kept."""
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
    for (id_,) in ids:
        kept = db.execute(
            "select id, name, event, session, payload, received_at from inbox where id = ?", (id_,)
        ).fetchone()
        if kept is not None:
            yield Row(**dict(kept))


def rows_of(db: sqlite3.Connection, turn: str) -> list[Row]:
    """Return the events of a turn; none when they are gone."""
    rows = db.execute(
        "select id, name, event, session, payload, received_at from inbox where turn = ? order by id", (turn,)
    )
    return [Row(**dict(row)) for row in rows]


def calls_before(db: sqlite3.Connection, turn: str, tools: Sequence[str]) -> list[Row]:
    """The calls of some tools in the few turns of a session that came before one, in order, as far as they are kept."""
    rows = db.execute(
        """select inbox.id, inbox.turn, inbox.event from inbox join inbox as first
             on first.id = (select min(id) from inbox where turn = :turn)
             and inbox.session = first.session and inbox.id < first.id
           where inbox.status in ('done', 'skipped') and first.session <> ''
             and inbox.event in ('UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure')
           order by inbox.id desc limit :limit""",
        {"turn": turn, "limit": _MAX_BEFORE},
    ).fetchall()
    turns = list(dict.fromkeys(row["turn"] for row in rows))[:_MAX_TURNS_BEFORE]
    ids = [row["id"] for row in rows if row["turn"] in turns and row["event"] != "UserPromptSubmit"]
    kept = db.execute(
        """select id, name, event, session, payload, received_at from inbox
           where id in (select value from json_each(:ids)) and length(payload) <= :longest and json_valid(payload)
             and json_extract(payload, '$.tool_name') in (select value from json_each(:tools))
           order by id""",
        {"ids": json.dumps(ids), "tools": json.dumps(list(tools)), "longest": _MAX_BEFORE_LENGTH},
    )
    return [Row(**dict(row)) for row in kept]


def prompts_after(db: sqlite3.Connection, session: str, lead: str) -> list[str]:
    """What the prompts of a session that begin with a command say after it."""
    rows = db.execute(
        """select substr(prompt, length(:lead) + 1) from (
             select case when json_valid(payload) then json_extract(payload, '$.prompt') end as prompt from inbox
             where status in ('raw', 'processing', 'done', 'skipped', 'error') and session = :session
               and event = 'UserPromptSubmit')
           where substr(prompt, 1, length(:lead)) = :lead""",
        {"session": session, "lead": lead},
    )
    return [str(said) for (said,) in rows]


def heard(db: sqlite3.Connection, session: str, without: Sequence[str], limit: int, most_text: int) -> list[HeardRow]:
    """The last prompts, tool calls and ends of sub-agents of a session, newest first, worked on or not; with their
    payloads but for those of some tools and what is beyond a length in all."""
    rows = db.execute(
        # All statuses by name: that way the index finds the session.
        """select id, name, event, length(payload) as size,
             case when json_valid(payload) then json_extract(payload, '$.tool_name') end as tool,
             case when json_valid(payload) then json_extract(payload, '$.agent_id') end as agent
           from inbox
           where status in ('raw', 'processing', 'done', 'skipped', 'error') and session = :session
             and event in ('UserPromptSubmit', 'PostToolUse', 'PostToolUseFailure', 'SubagentStop')
           order by id desc limit :limit""",
        {"session": session, "limit": limit},
    ).fetchall()
    found = []
    left = most_text
    for row in rows:
        tool = str(row["tool"] or "")
        payload = ""
        if row["event"] != "UserPromptSubmit" and tool not in without and row["size"] <= left:
            left -= row["size"]
            payload = str(db.execute("select payload from inbox where id = ?", (row["id"],)).fetchone()[0])
        found.append(HeardRow(row["name"], row["event"], session, str(row["agent"] or ""), tool, payload))
    return found


def forgotten_for(db: sqlite3.Connection, session: str, agent: str) -> int:
    """How many memories an agent had forgotten in a session, as far as its commands are kept."""
    (count,) = db.execute(
        """select coalesce(sum(json_array_length(payload, '$.ids')), 0) from inbox
           where status = 'done' and session = '' and event = 'Command' and json_valid(payload)
             and json_extract(payload, '$.command') = 'forget' and json_extract(payload, '$.by') = :agent
             and json_extract(payload, '$.asked_in') = :session""",
        {"session": session, "agent": agent},
    ).fetchone()
    return int(count)
