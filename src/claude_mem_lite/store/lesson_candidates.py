"""The table `lesson_candidates`: sentences of the user that may be lessons, with their origin and outcome.

Written by the worker. No candidate is injected into a session before it has become a memory."""

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import asdict, fields
from datetime import datetime
from typing import Literal, NamedTuple, get_args

from claude_mem_lite.errors import NotFound
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.store.ids import row_by_prefix, short_id
from claude_mem_lite.text import denies, one_line, stems, within
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

State = Literal["unsure", "asked", "promoted", "accepted", "dismissed"]
STATES: tuple[State, ...] = get_args(State)
OPEN: tuple[State, ...] = ("unsure", "asked")
"""The states of candidates that nobody has judged."""
HELD: tuple[State, ...] = ("unsure", "asked", "promoted", "accepted")
"""The states of candidates that a later sentence may repeat."""
MAX_SENTENCE = 400
MAX_AFTER = 400
MAX_COMPARED = 500
"""The number of candidates of a project that a new one is compared with, the newest."""


_PUSHBACK = lazy(
    r"(?i)^(?:(?:no|nope|stop|yes|again)\s*[,.!:;–—-]+\s*"
    r"|(?:hmm+|but|well|ok(?:ay)?|and|so|also|please|like always)\b[\s,.!:;–—-]*)+"
)


@frozen
class Candidate:
    """One sentence of the user that may be a lesson."""

    id: str
    project: str
    session: str
    turn: str
    """The spool name of the prompt."""
    sentence: str
    after_message: str
    """The end of the agent's message that the sentence answers."""
    probability: float
    state: State
    created_at: datetime
    asked_at: datetime | None = None
    """The time when an agent was asked for a judgement."""
    decided_at: datetime | None = None
    memory: str = ""
    """The id of the memory that the candidate has become or repeats."""


_COLUMNS = tuple(field.name for field in fields(Candidate))
_TIMES = ("created_at", "asked_at", "decided_at")


class QuestionCount(NamedTuple):
    """The questions that a session was asked so far."""

    number: int
    last_at: datetime | None


def make(
    project: str,
    session: str,
    turn: str,
    sentence: str,
    probability: float,
    at: datetime,
    *,
    after_message: str = "",
    state: State = "unsure",
) -> Candidate:
    """Return a new candidate; the same sentence of a session has always the same id."""
    text = within(one_line(sentence), MAX_SENTENCE)
    end = one_line(after_message)[-MAX_AFTER:]
    return Candidate(
        short_id("lesson", session, text.lower()), project, session, turn, text, end, probability, state, at
    )


def without_pushback(sentence: str) -> str:
    """Return a sentence without leading words of pushback: "no, the docs are fine" denies nothing."""
    return _PUSHBACK.sub("", sentence)


def wording_of(sentence: str) -> str:
    """Return the sorted stems of a sentence and a mark for denial: equal for sentences of the same words."""
    text = without_pushback(sentence)
    return " ".join((*sorted(stems(text)), *(["-"] if denies(text) else [])))


def put(db: sqlite3.Connection, candidate: Candidate) -> None:
    """Store a candidate under its id, replacing an earlier version."""
    values = {**asdict(candidate), "wording": wording_of(candidate.sentence)}
    values |= {name: time_to_text(at) if (at := getattr(candidate, name)) else None for name in _TIMES}
    columns = ", ".join(values)
    marks = ", ".join(f":{name}" for name in values)
    db.execute(f"insert or replace into lesson_candidates ({columns}) values ({marks})", values)


def find(db: sqlite3.Connection, id_: str) -> Candidate | None:
    """Return the candidate with exactly this id."""
    row = db.execute("select * from lesson_candidates where id = ?", (id_,)).fetchone()
    return _from_row(row) if row else None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Candidate:
    """Return a candidate by id or id prefix."""
    nobody = NotFound(f"there is no lesson {id_or_prefix}", "`claude-mem-lite lessons` shows the ids")
    return _from_row(row_by_prefix(db, "select * from lesson_candidates", "lesson_candidates", id_or_prefix, nobody))


def of_project(
    db: sqlite3.Connection, project: str | None, states: Sequence[State], limit: int = MAX_COMPARED
) -> list[Candidate]:
    """Return the candidates of a project, or of all, in these states, newest first."""
    # Two forms: with a single form for both cases SQLite reads the whole table.
    in_project = "project = :project and" if project is not None else ""
    rows = db.execute(
        f"""select * from lesson_candidates where {in_project} state in (select value from json_each(:states))
            order by created_at desc, id limit :limit""",
        {"project": project, "states": json.dumps(list(states)), "limit": limit},
    )
    return [_from_row(row) for row in rows]


def of_session(db: sqlite3.Connection, session: str) -> list[Candidate]:
    """Return the candidates of a session, newest first."""
    rows = db.execute("select * from lesson_candidates where session = ? order by created_at desc, id", (session,))
    return [_from_row(row) for row in rows]


def of_turn(db: sqlite3.Connection, turn: str) -> list[Candidate]:
    """Return the candidates of a turn, the most probable first."""
    rows = db.execute("select * from lesson_candidates where turn = ? order by probability desc, id", (turn,))
    return [_from_row(row) for row in rows]


def of_wording(db: sqlite3.Connection, sentence: str, but_project: str) -> list[Candidate]:
    """Return the candidates of other projects that have the same words, newest first."""
    rows = db.execute(
        """select * from lesson_candidates where wording = :wording and project <> :project
           order by created_at desc, id limit :limit""",
        {"wording": wording_of(sentence), "project": but_project, "limit": MAX_COMPARED},
    )
    return [_from_row(row) for row in rows]


def is_dismissed(db: sqlite3.Connection, project: str | None, sentence: str) -> bool:
    """Return True if the user dismissed the words of a sentence in a project, or in any; paraphrases do not count."""
    in_project = "and project = :project" if project is not None else ""
    (found,) = db.execute(
        f"""select exists (select 1 from lesson_candidates
              where wording = :wording {in_project} and state = 'dismissed')""",
        {"wording": wording_of(sentence), "project": project},
    ).fetchone()
    return bool(found)


def of_memories(db: sqlite3.Connection, memories: Sequence[str]) -> list[Candidate]:
    """Return the candidates that have become these memories, oldest first."""
    rows = db.execute(
        """select * from lesson_candidates where memory <> '' and memory in (select value from json_each(:ids))
           order by created_at, id""",
        {"ids": json.dumps(list(memories))},
    )
    return [_from_row(row) for row in rows]


def asked_in(db: sqlite3.Connection, session: str) -> QuestionCount:
    """Return how often an agent was asked in a session, and when last."""
    number, last = db.execute(
        "select count(asked_at), max(asked_at) from lesson_candidates where session = ?", (session,)
    ).fetchone()
    return QuestionCount(int(number), text_to_time(last) if last else None)


def count(db: sqlite3.Connection, project: str | None, states: Sequence[State]) -> int:
    """Return how many candidates of a project, or of all, are in these states."""
    in_project = "project = :project and" if project is not None else ""
    (number,) = db.execute(
        f"select count(*) from lesson_candidates where {in_project} state in (select value from json_each(:states))",
        {"project": project, "states": json.dumps(list(states))},
    ).fetchone()
    return int(number)


def decide(db: sqlite3.Connection, id_: str, state: State, at: datetime, memory: str = "") -> None:
    """Set the outcome of a candidate; without a memory the candidate keeps its former memory."""
    db.execute(
        """update lesson_candidates set state = :state, decided_at = :at,
             memory = case when :memory = '' then memory else :memory end where id = :id""",
        {"id": id_, "state": state, "at": time_to_text(at), "memory": memory},
    )


def memories_after(db: sqlite3.Connection, turns: Sequence[str], sessions: Sequence[str]) -> list[str]:
    """Return the ids of the memories that candidates of turns and sessions have become."""
    rows = db.execute(
        """select distinct memory from lesson_candidates where memory <> ''
             and (turn in (select value from json_each(:turns)) or session in (select value from json_each(:sessions)))
           order by memory""",
        {"turns": json.dumps(list(turns)), "sessions": json.dumps(list(sessions))},
    )
    return [row["memory"] for row in rows]


def forget(
    db: sqlite3.Connection,
    *,
    turns: Sequence[str],
    sessions: Sequence[str],
    memories: Sequence[str],
    project: str | None,
) -> list[Candidate]:
    """Remove the candidates of turns, sessions and a project, and the candidates of these memories; return the
    removed ones."""
    rows = db.execute(
        """delete from lesson_candidates where turn in (select value from json_each(:turns))
             or session in (select value from json_each(:sessions)) or project = :project
             or (memory <> '' and memory in (select value from json_each(:memories))) returning *""",
        {
            "turns": json.dumps(list(turns)),
            "sessions": json.dumps(list(sessions)),
            "memories": json.dumps(list(memories)),
            "project": project,
        },
    )
    return [_from_row(row) for row in rows.fetchall()]


def forget_repetitions(
    db: sqlite3.Connection, is_in: Callable[[str], bool], sessions: Collection[str] | None = None
) -> list[Candidate]:
    """Remove the candidates, of these sessions or of all, that repeat forgotten text; return the removed ones.

    A dismissed candidate is removed only for its own sentence, because the dismissal keeps the sentence from being
    learned again."""
    of_sessions = "" if sessions is None else "where session in (select value from json_each(:sessions))"
    rows = db.execute(
        f"select * from lesson_candidates {of_sessions}", {"sessions": json.dumps(sorted(sessions or ()))}
    )
    repetitions = [
        _from_row(row)
        for row in rows.fetchall()
        if is_in(row["sentence"]) or (row["state"] != "dismissed" and is_in(row["after_message"]))
    ]
    db.executemany("delete from lesson_candidates where id = ?", [(candidate.id,) for candidate in repetitions])
    return repetitions


def _from_row(row: sqlite3.Row) -> Candidate:
    values = {name: row[name] for name in _COLUMNS}
    return Candidate(**values | {name: text_to_time(row[name]) if row[name] else None for name in _TIMES})
