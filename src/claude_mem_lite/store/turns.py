"""The table `prompts`: turns by their keys, with prompt, reply, tasks and log."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from claude_mem_lite.event_names import event_of, is_past
from claude_mem_lite.models import COMPOSER_VERSION, Event
from claude_mem_lite.store import imported_sessions
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.tombstones import is_buried
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

_SAME_TIME = timedelta(seconds=10)


@frozen
class PastTurnMark:
    """Fields that identify a turn of an import."""

    session: str
    name: str
    prompt_id: str
    began_at: datetime
    end: str = ""
    """Key of the end of the session, if imported with the turn; the end is stored as a row of its own."""


class PromptAndTasks(NamedTuple):
    """Prompt and tasks of a turn."""

    prompt: str
    tasks: tuple[str, ...]


class SpokenTurn(NamedTuple):
    """Prompt, reply and tasks of a turn, and the time of the prompt."""

    prompt: str
    reply: str
    tasks: str
    began_at: datetime


def add_turn(
    db: sqlite3.Connection, turn: str, event: Event, prompt: str, reply: str, tasks: Sequence[str] = (), log: str = ""
) -> bool:
    """Record a turn under its key, with prompt, reply, tasks and log.

    Return False if the turn was recorded before and must not be stored again."""
    is_new = db.execute(
        """insert or ignore into prompts (turn, session, prompt_id, text, reply, tasks, log, created_at, composer)
           values (:turn, :session, :prompt_id, :text, :reply, :tasks, :log, :at, :composer)""",
        {
            "turn": turn,
            "session": event.session,
            "prompt_id": event.prompt_id or "",
            "text": prompt,
            "reply": reply,
            "tasks": "\n".join(tasks),
            "log": log,
            "at": time_to_text(event.at),
            "composer": COMPOSER_VERSION,
        },
    ).rowcount
    if is_new:
        imported_sessions.blank_imported_prompt(db, event.session, event.at)
        row = db.execute("select project from sessions where id = ?", (event.session,)).fetchone()
        passages.put_turn(db, turn, event.session, row["project"] if row else "", event.at, prompt, reply, log)
    return bool(is_new)


def last_prompt(db: sqlite3.Connection, session: str) -> str:
    """Return the last prompt of a session: the reason for a turn that arrives in parts."""
    row = db.execute(
        "select text from prompts where session = ? and text <> '' order by created_at desc limit 1",
        (session,),
    ).fetchone()
    return row["text"] if row else ""


def previous_message(db: sqlite3.Connection, session: str, before: datetime | None = None) -> str:
    """Return the agent's closing message of the last turn of a session, or of the last turn that began before a
    time; '' if there is none."""
    row = db.execute(
        """select reply from prompts where session = :session and reply <> '' and (:before = '' or created_at < :before)
           order by created_at desc, turn desc limit 1""",
        {"session": session, "before": time_to_text(before) if before else ""},
    ).fetchone()
    return row["reply"] if row else ""


def count_prompts(db: sqlite3.Connection, session: str) -> int:
    """Return how many turns of a session began with a prompt."""
    (number,) = db.execute("select count(*) from prompts where session = ? and text <> ''", (session,)).fetchone()
    return int(number)


def last_prompts(db: sqlite3.Connection, session: str, limit: int) -> list[str]:
    """Return the last prompts of a session, the newest first."""
    rows = db.execute(
        "select text from prompts where session = ? and text <> '' order by created_at desc limit ?", (session, limit)
    )
    return [row["text"] for row in rows]


def prompt_of(db: sqlite3.Connection, turn: str) -> str:
    """Return the prompt of a turn, or the last prompt before the turn: the reason for a turn that is processed
    again."""
    row = db.execute(
        """select earlier.text from prompts join prompts as earlier
             on earlier.session = prompts.session and earlier.created_at <= prompts.created_at
           where prompts.turn = ? and earlier.text <> '' order by earlier.created_at desc limit 1""",
        (turn,),
    ).fetchone()
    return row["text"] if row else ""


def turns_of(db: sqlite3.Connection, session: str, least_trust: float) -> list[tuple[str, str]]:
    """Return prompts and replies of a session, turn by turn. Replies behind a memory of less trust are left out,
    because they repeat text of pages and foreign tools."""
    rows = db.execute(
        """select text, case when exists (
               select 1 from sightings join memories on memories.id = sightings.memory
               where sightings.turn = prompts.turn and memories.trust < :trust) then '' else reply end as reply
           from prompts where session = :session order by created_at, turn""",
        {"session": session, "trust": least_trust},
    )
    return [(row["text"], row["reply"]) for row in rows]


def asked_since(db: sqlite3.Connection, session: str, since: datetime, limit: int) -> list[PromptAndTasks]:
    """Return prompts and tasks of a session after a time, in order."""
    rows = db.execute(
        """select text, tasks from prompts where session = :session and created_at > :since
             and (text <> '' or tasks <> '')
           order by created_at, turn limit :limit""",
        {"session": session, "since": time_to_text(since), "limit": limit},
    )
    return [PromptAndTasks(row["text"], tuple(row["tasks"].splitlines())) for row in rows]


def tasks_before(db: sqlite3.Connection, session: str, before: datetime) -> list[str]:
    """Return the entries of the to-do lists of the turns of a session that began before a time."""
    rows = db.execute(
        "select tasks from prompts where session = :session and created_at < :moment and tasks <> ''",
        {"session": session, "moment": time_to_text(before)},
    )
    return [task for row in rows for task in row["tasks"].splitlines()]


def last_turns(db: sqlite3.Connection, session: str, limit: int) -> list[SpokenTurn]:
    """Return prompt, reply and tasks of the last turns of a session, newest first."""
    rows = db.execute(
        """select text, reply, tasks, created_at from prompts where session = :session and (text <> '' or reply <> '')
           order by created_at desc limit :limit""",
        {"session": session, "limit": limit},
    )
    return [SpokenTurn(row["text"], row["reply"], row["tasks"], text_to_time(row["created_at"])) for row in rows]


def latest_turn(db: sqlite3.Connection, session: str) -> str:
    """Return the key of the last turn with content; the mere end of a session has none."""
    row = db.execute(
        """select turn from prompts where session = ? and turn not like '%-SessionEnd'
           order by created_at desc, turn desc limit 1""",
        (session,),
    ).fetchone()
    return row["turn"] if row else ""


def known_turns(db: sqlite3.Connection, turns: Sequence[PastTurnMark]) -> set[str]:
    """Return the imported turns that need not be stored: stored turns, and turns of forgotten sessions.

    A turn is stored under its own key, or hooks recorded the turn live. A live turn has the same prompt id, in any
    session, because a fork repeats turns under its own name. If either side has no prompt id, the times must agree.
    A turn that is stored without the end of its session, because the inbox was lost in between, is imported again;
    nothing is stored twice."""
    live_ids = _live_prompt_ids(db, [turn.prompt_id for turn in turns])
    known = {turn.name for turn in turns if turn.prompt_id in live_ids or is_buried(db, turn.name, turn.prompt_id)}
    for session in {turn.session for turn in turns}:
        is_forgotten = is_buried(db, session)
        rows = db.execute("select turn, prompt_id, created_at from prompts where session = ?", (session,)).fetchall()
        live = [
            (row["prompt_id"], text_to_time(row["created_at"]))
            for row in rows
            if not is_past(row["turn"]) and event_of(row["turn"]) != "SessionEnd"
        ]
        for turn in turns:
            if turn.session == session and (is_forgotten or any(_is_same(turn, *live_turn) for live_turn in live)):
                known.add(turn.name)
    stored = stored_turns(db, [name for turn in turns for name in (turn.name, turn.end) if name])
    return known | {turn.name for turn in turns if {turn.name, turn.end or turn.name} <= stored}


def names_in(db: sqlite3.Connection, session: str) -> set[str]:
    """Return the names of the turns of a session, valid in the session and in its forks."""
    rows = db.execute("select turn, prompt_id from prompts where session = ?", (session,))
    return {name for row in rows for name in (row["turn"], row["prompt_id"]) if name}


def has_later_turn(db: sqlite3.Connection, session: str, at: datetime) -> bool:
    """Return True if a turn of a session is stored that began after a time; the mere end of the session does not
    count."""
    rows = db.execute(
        "select 1 from prompts where session = :session and created_at > :at and turn not like '%-SessionEnd' limit 1",
        {"session": session, "at": time_to_text(at)},
    )
    return rows.fetchone() is not None


def stored_turns(db: sqlite3.Connection, turns: Sequence[str]) -> set[str]:
    """Return the keys that have a stored turn."""
    rows = db.execute(
        "select turn from prompts where turn in (select value from json_each(:turns))", {"turns": json.dumps(turns)}
    )
    return {row["turn"] for row in rows}


def of_turns(db: sqlite3.Connection, turns: Sequence[str]) -> set[str]:
    """Return the sessions of these turns."""
    rows = db.execute(
        "select distinct session from prompts where turn in (select value from json_each(:turns))",
        {"turns": json.dumps(list(turns))},
    )
    return {row["session"] for row in rows}


def forget_turns(db: sqlite3.Connection, turns: Sequence[str]) -> None:
    """Blank the texts of turns; the keys stay, so that the turns are not stored again."""
    db.executemany(
        "update prompts set text = '', reply = '', tasks = '', log = '' where turn = ?", [(turn,) for turn in turns]
    )
    passages.remove_turns(db, turns)


def texts_of(db: sqlite3.Connection, turn: str) -> tuple[str, str, str, str]:
    """Return prompt, reply, tasks and log of a turn."""
    row = db.execute("select text, reply, tasks, log from prompts where turn = ?", (turn,)).fetchone()
    return (row["text"], row["reply"], row["tasks"], row["log"]) if row else ("", "", "", "")


def set_texts(db: sqlite3.Connection, turn: str, asked: str, answered: str, tasks: str, log: str) -> None:
    """Replace the texts of a turn: part of forgetting, and of a rebuild."""
    row = db.execute(
        """update prompts set text = :asked, reply = :answered, tasks = :tasks, log = :log where turn = :turn
           returning session, created_at""",
        {"turn": turn, "asked": asked, "answered": answered, "tasks": tasks, "log": log},
    ).fetchone()
    session = db.execute("select project from sessions where id = ?", (row["session"],)).fetchone()
    project, at = session["project"] if session else "", text_to_time(row["created_at"])
    passages.put_turn(db, turn, row["session"], project, at, asked, answered, log)


def prompt_ids(db: sqlite3.Connection, turns: Sequence[str]) -> set[str]:
    """Return the prompt ids of these turns."""
    rows = db.execute(
        "select prompt_id from prompts where turn in (select value from json_each(:turns)) and prompt_id <> ''",
        {"turns": json.dumps(list(turns))},
    )
    return {row["prompt_id"] for row in rows}


def _live_prompt_ids(db: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    """Return the prompt ids that hooks recorded."""
    rows = db.execute(
        """select turn, prompt_id from prompts
           where prompt_id in (select value from json_each(:ids)) and prompt_id <> ''""",
        {"ids": json.dumps(ids)},
    )
    return {row["prompt_id"] for row in rows if not is_past(row["turn"])}


def _is_same(turn: PastTurnMark, prompt_id: str, at: datetime) -> bool:
    if turn.prompt_id and prompt_id:
        return turn.prompt_id == prompt_id
    return abs(turn.began_at - at) <= _SAME_TIME
