"""The tables `projects`, `sessions` and `prompts`: who worked where, on what was asked, with what result."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from typing import Any

from claude_mem_lite.db.connection import text_to_time, time_to_text
from claude_mem_lite.errors import Ambiguous, NotFound
from claude_mem_lite.models import Event, Place, Session, SessionStatus, SessionSummary
from claude_mem_lite.spool_names import event_of, is_past
from claude_mem_lite.store import passages

_SAME_MOMENT = timedelta(seconds=10)
_SHORTEST_PREFIX = 4
_SUMMARY = tuple(field.name for field in fields(SessionSummary))
_SUMMARY_LISTS = ("next_steps", "files_read", "files_edited", "key_decisions")


@dataclass(frozen=True, slots=True)
class PastTurnMark:
    """What a turn that somebody wants to import can be known by."""

    session: str
    name: str
    prompt_id: str
    began_at: datetime


def touch(db: sqlite3.Connection, event: Event, place: Place) -> None:
    """Record that a session is at work in a place. Its project is the one it began in; any event will do,
    because the first one may have been lost with the machine."""
    at = time_to_text(event.at)
    values = {
        "id": event.session,
        "project": place.project,
        "cwd": event.cwd,
        "branch": place.branch,
        "commit": place.commit,
        "source": event.source or "startup",
        "at": at,
    }
    db.execute(
        """insert into sessions (id, project, cwd, branch, commit_id, source, status, started_at, last_event_at)
           values (:id, :project, :cwd, :branch, :commit, :source, 'active', :at, :at)
           on conflict (id) do update set
             last_event_at = max(last_event_at, :at),
             started_at = min(started_at, :at),
             status = case when :at > last_event_at then 'active' else status end,
             ended_at = case when :at > last_event_at then null else ended_at end""",
        values,
    )
    db.execute(
        """insert into projects (id, name, root, first_seen_at, last_seen_at)
           values (:project, :name, :root, :at, :at)
           on conflict (id) do update set last_seen_at = max(last_seen_at, :at), root = :root""",
        {"project": place.project, "name": place.name, "root": place.root, "at": at},
    )


def note_project(db: sqlite3.Connection, project: str, at: datetime) -> None:
    """Record a project that only its memories tell of, so that it can be named; one that is known stays as it is."""
    name = project.rstrip("/").rsplit("/", 1)[-1] or project
    db.execute(
        """insert or ignore into projects (id, name, root, first_seen_at, last_seen_at)
           values (:project, :name, '', :at, :at)""",
        {"project": project, "name": name, "at": time_to_text(at)},
    )


def close(db: sqlite3.Connection, session: str, status: SessionStatus, at: datetime) -> None:
    db.execute(
        "update sessions set status = :status, ended_at = :at where id = :id",
        {"status": status, "at": time_to_text(at), "id": session},
    )


def interrupt_quiet(db: sqlite3.Connection, before: datetime) -> int:
    """Sessions that were never closed and have been quiet for long were interrupted."""
    return db.execute(
        """update sessions set status = 'interrupted', ended_at = last_event_at
           where status = 'active' and last_event_at < :before""",
        {"before": time_to_text(before)},
    ).rowcount


def set_summary(db: sqlite3.Connection, session: str, summary: SessionSummary, now: datetime) -> None:
    """What a session amounts to, as told at this moment."""
    values = {
        name: json.dumps(getattr(summary, name)) if name in _SUMMARY_LISTS else getattr(summary, name)
        for name in _SUMMARY
    }
    assignments = ", ".join(f"{name} = :{name}" for name in _SUMMARY)
    db.execute(
        f"update sessions set {assignments}, told_at = :now where id = :id",
        {**values, "id": session, "now": time_to_text(now)},
    )
    told = find(db, session)
    if told is not None:
        passages.put_session(db, told)


def mark_compacted(db: sqlite3.Connection, session: str, at: datetime) -> None:
    """The agent is about to forget the conversation: what it was given may be given again."""
    db.execute("update sessions set compacted_at = :at where id = :id", {"at": time_to_text(at), "id": session})


def find(db: sqlite3.Connection, session: str) -> Session | None:
    row = db.execute(f"{_SELECT} where id = ?", (session,)).fetchone()
    return _from_row(row) if row else None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Session:
    """One session by its id or the beginning of it."""
    wanted = id_or_prefix.strip()
    rows = db.execute(
        f"{_SELECT} where substr(id, 1, length(:id)) = :id order by id limit 2", {"id": wanted}
    ).fetchall()
    if not rows or len(wanted) < _SHORTEST_PREFIX:
        raise NotFound(f"there is no session {id_or_prefix}", "`claude-mem-lite sessions` shows the ids")
    if len(rows) > 1 and rows[0]["id"] != wanted:
        raise Ambiguous(f"{id_or_prefix} is the beginning of several sessions", "give more of it")
    return _from_row(rows[0])


def newest(
    db: sqlite3.Connection,
    *,
    project: str | None = None,
    since: datetime | None = None,
    without: str = "",
    told_only: bool = False,
    limit: int = 20,
) -> list[Session]:
    """Sessions by their last event, newest first; `told_only` leaves out those with nothing to tell.

    `since` is about when their story was last told, which may be long after their last event."""
    rows = db.execute(
        f"""{_SELECT} where (:project is null or project = :project) and id <> :without
            and (:since = '' or told_at > :since) and (not :told_only or headline <> '')
            order by last_event_at desc, id limit :limit""",
        {
            "project": project,
            "since": time_to_text(since) if since else "",
            "without": without,
            "told_only": told_only,
            "limit": limit,
        },
    )
    return [_from_row(row) for row in rows]


def add_turn(
    db: sqlite3.Connection, turn: str, event: Event, prompt: str, reply: str, tasks: Sequence[str] = ()
) -> bool:
    """Record a turn under its key, with what was asked, answered and set out to be done in it.

    False when it was recorded before and must not be stored again."""
    is_new = db.execute(
        """insert or ignore into prompts (turn, session, prompt_id, text, reply, tasks, created_at)
           values (:turn, :session, :prompt_id, :text, :reply, :tasks, :at)""",
        {
            "turn": turn,
            "session": event.session,
            "prompt_id": event.prompt_id or "",
            "text": prompt,
            "reply": reply,
            "tasks": "\n".join(tasks),
            "at": time_to_text(event.at),
        },
    ).rowcount
    if is_new:
        row = db.execute("select project from sessions where id = ?", (event.session,)).fetchone()
        passages.put_turn(db, turn, event.session, row["project"] if row else "", prompt, reply, event.at)
    return bool(is_new)


def last_prompt(db: sqlite3.Connection, session: str) -> str:
    """What the user last asked in a session: the why of a turn that arrives in parts."""
    row = db.execute(
        "select text from prompts where session = ? and text <> '' order by created_at desc limit 1",
        (session,),
    ).fetchone()
    return row["text"] if row else ""


def prompt_of(db: sqlite3.Connection, turn: str) -> str:
    """What was asked in a turn, or last before it: the why of a turn that is looked at again later."""
    row = db.execute(
        """select earlier.text from prompts join prompts as earlier
             on earlier.session = prompts.session and earlier.created_at <= prompts.created_at
           where prompts.turn = ? and earlier.text <> '' order by earlier.created_at desc limit 1""",
        (turn,),
    ).fetchone()
    return row["text"] if row else ""


def turns_of(db: sqlite3.Connection, session: str, least_trust: float) -> list[tuple[str, str]]:
    """What was asked and answered in a session, turn by turn, without the answers that gave rise to a memory of
    less trust: they repeat what pages and foreign tools said."""
    rows = db.execute(
        """select text, case when exists (
               select 1 from sightings join memories on memories.id = sightings.memory
               where sightings.turn = prompts.turn and memories.trust < :trust) then '' else reply end as reply
           from prompts where session = :session order by created_at, turn""",
        {"session": session, "trust": least_trust},
    )
    return [(row["text"], row["reply"]) for row in rows]


def latest_turn(db: sqlite3.Connection, session: str) -> str:
    """The key of the last turn that had something to tell; the mere end of a session has not."""
    row = db.execute(
        """select turn from prompts where session = ? and turn not like '%-SessionEnd'
           order by created_at desc, turn desc limit 1""",
        (session,),
    ).fetchone()
    return row["turn"] if row else ""


def known_turns(db: sqlite3.Connection, turns: Sequence[PastTurnMark]) -> set[str]:
    """Which turns of the past need not be stored: those that are, and those of forgotten sessions.

    A turn is there under its own key, or hooks saw it live: with the same prompt id, in whatever session since a
    fork repeats turns under its own name, or, where one side has none, at the same moment."""
    live_ids = _live_prompt_ids(db, [turn.prompt_id for turn in turns])
    known = {turn.name for turn in turns if turn.prompt_id in live_ids or is_forgotten(db, turn.name, turn.prompt_id)}
    for session in {turn.session for turn in turns}:
        is_gone = is_forgotten(db, session)
        rows = db.execute("select turn, prompt_id, created_at from prompts where session = ?", (session,)).fetchall()
        live = [
            (row["prompt_id"], text_to_time(row["created_at"]))
            for row in rows
            if not is_past(row["turn"]) and event_of(row["turn"]) != "SessionEnd"
        ]
        for turn in turns:
            if turn.session == session and (is_gone or any(_is_same(turn, *one) for one in live)):
                known.add(turn.name)
    return known | stored_turns(db, [turn.name for turn in turns])


def is_forgotten(db: sqlite3.Connection, *names: str) -> bool:
    """Whether a session, a turn or a prompt by one of these names was forgotten with all its session."""
    found = db.execute(
        "select 1 from tombstones where memory in (select value from json_each(:names)) and memory <> ''",
        {"names": json.dumps(names)},
    )
    return found.fetchone() is not None


def names_in(db: sqlite3.Connection, session: str) -> set[str]:
    """What the turns of a session can be known by, in this one or in a fork of it."""
    rows = db.execute("select turn, prompt_id from prompts where session = ?", (session,))
    return {name for row in rows for name in (row["turn"], row["prompt_id"]) if name}


def has_later_turn(db: sqlite3.Connection, session: str, at: datetime) -> bool:
    """Whether a turn of a session is stored that began after a moment; the mere end of the session is none."""
    found = db.execute(
        "select 1 from prompts where session = :session and created_at > :at and turn not like '%-SessionEnd' limit 1",
        {"session": session, "at": time_to_text(at)},
    )
    return found.fetchone() is not None


def stored_turns(db: sqlite3.Connection, turns: Sequence[str]) -> set[str]:
    """Which of these keys have their turn."""
    rows = db.execute(
        "select turn from prompts where turn in (select value from json_each(:turns))", {"turns": json.dumps(turns)}
    )
    return {row["turn"] for row in rows}


def _live_prompt_ids(db: sqlite3.Connection, ids: Sequence[str]) -> set[str]:
    """Those of the prompts that hooks saw."""
    rows = db.execute(
        """select turn, prompt_id from prompts
           where prompt_id in (select value from json_each(:ids)) and prompt_id <> ''""",
        {"ids": json.dumps(ids)},
    )
    return {row["prompt_id"] for row in rows if not is_past(row["turn"])}


def _is_same(turn: PastTurnMark, prompt_id: str, at: datetime) -> bool:
    if turn.prompt_id and prompt_id:
        return turn.prompt_id == prompt_id
    return abs(turn.began_at - at) <= _SAME_MOMENT


def of_turns(db: sqlite3.Connection, turns: Sequence[str]) -> set[str]:
    """The sessions that these turns belong to."""
    rows = db.execute(
        "select distinct session from prompts where turn in (select value from json_each(:turns))",
        {"turns": json.dumps(list(turns))},
    )
    return {row["session"] for row in rows}


def forget_turns(db: sqlite3.Connection, turns: Sequence[str]) -> None:
    """Blank what was asked and answered in turns; that they were stored stays known."""
    db.executemany("update prompts set text = '', reply = '', tasks = '' where turn = ?", [(turn,) for turn in turns])
    passages.remove_turns(db, turns)


def forget_session(db: sqlite3.Connection, session: str) -> None:
    """Remove a session and all that was asked and answered in it."""
    db.execute("delete from prompts where session = ?", (session,))
    db.execute("delete from receipts where session = ?", (session,))
    db.execute("delete from sessions where id = ?", (session,))
    passages.remove_of_session(db, session)


def folders(db: sqlite3.Connection, *, project: str | None, limit: int) -> list[str]:
    """The folders in which sessions last worked, newest first."""
    rows = db.execute(
        """select cwd from sessions where cwd <> '' and (:project is null or project = :project)
           group by cwd order by max(last_event_at) desc limit :limit""",
        {"project": project, "limit": limit},
    )
    return [row["cwd"] for row in rows]


def find_project(db: sqlite3.Connection, id_or_name: str) -> str:
    """The id of a project by its id, or by its name when only one is called so."""
    rows = db.execute(
        "select id from projects where id = :given or name = :given order by id = :given desc", {"given": id_or_name}
    ).fetchall()
    if not rows:
        known = [row["id"] for row in db.execute("select id from projects order by last_seen_at desc limit 5")]
        raise NotFound(f"there is no project {id_or_name}", f"the last ones are {', '.join(known) or 'none yet'}")
    if len(rows) > 1 and rows[0]["id"] != id_or_name:
        named = ", ".join(row["id"] for row in rows)
        raise Ambiguous(f"{id_or_name} is the name of several projects", f"give one of their ids: {named}")
    return str(rows[0]["id"])


def ids_of_project(db: sqlite3.Connection, project: str) -> list[str]:
    return [row["id"] for row in db.execute("select id from sessions where project = ?", (project,))]


def count(db: sqlite3.Connection) -> int:
    (number,) = db.execute("select count(*) from sessions").fetchone()
    return int(number)


_SELECT = """select *, (select count(*) from prompts where prompts.session = sessions.id and text <> '') as turns
    from sessions"""


def _from_row(row: sqlite3.Row) -> Session:
    told: dict[str, Any] = {
        name: tuple(json.loads(row[name])) if name in _SUMMARY_LISTS else row[name] for name in _SUMMARY
    }
    return Session(
        id=row["id"],
        project=row["project"],
        cwd=row["cwd"],
        status=row["status"],
        started_at=text_to_time(row["started_at"]),
        last_event_at=text_to_time(row["last_event_at"]),
        branch=row["branch"],
        commit=row["commit_id"],
        source=row["source"],
        ended_at=text_to_time(row["ended_at"]) if row["ended_at"] else None,
        turns=row["turns"],
        summary=SessionSummary(**told),
    )
