"""Turns whose memories an older composer made, and the progress of their rebuild: the columns `composer` and
`left_by` of `prompts`, and the table `rebuilt_summaries`. Written by the worker alone.

`snapshot` and `compared` report the memories before and after."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, NamedTuple

from claude_mem_lite.models import COMPOSER_VERSION, Memory, SessionSummary
from claude_mem_lite.responses.imports import MemoryChange, RebuildReport, StaleSession, SummaryRow
from claude_mem_lite.store import lesson_candidates, memories, memory_links, turns
from claude_mem_lite.timestamps import text_to_time
from claude_mem_lite.values import frozen

# Excludes ends of sessions, turns of another product, forgotten turns and turns that a model summarised.
_STALE = """prompts.composer < :version
    and prompts.turn not like '%-SessionEnd' and prompts.turn not like '%-ClaudeMem%'
    and not exists (select 1 from tombstones where memory = prompts.turn)
    and not exists (select 1 from model_calls as told where told.session = prompts.session
        and told.turn = prompts.turn and told.purpose = 'turn' and told.outcome = 'told')"""
_VERSION = {"version": COMPOSER_VERSION}
_WORTH = "headline_worth"
_HELD = ("active", "quarantined")


class OutdatedTurn(NamedTuple):
    """A turn of an older composer, with the fields that identify the turn in a transcript."""

    turn: str
    prompt_id: str
    began_at: datetime
    is_left: bool
    """True if a rebuild of this version found neither events nor a transcript of the turn."""


def count(db: sqlite3.Connection) -> int:
    """Return the number of turns of an older composer that no rebuild of this version has tried."""
    (number,) = db.execute(f"select count(*) from prompts where {_STALE} and left_by < :version", _VERSION).fetchone()
    return int(number)


def stale_sessions(db: sqlite3.Connection, project: str | None) -> list[StaleSession]:
    """Return the sessions of a project, or of all, that have turns of an older composer, the oldest first."""
    rows = db.execute(
        f"""select prompts.session as id, count(*) as turns from prompts join sessions on sessions.id = prompts.session
            where {_STALE} and (:project is null or sessions.project = :project)
            group by prompts.session order by min(prompts.created_at), prompts.session""",
        {**_VERSION, "project": project},
    )
    return [StaleSession(row["id"], row["turns"]) for row in rows]


def stale_turns(db: sqlite3.Connection, session: str) -> list[OutdatedTurn]:
    """Return the turns of a session that an older composer made memories of, in order."""
    rows = db.execute(
        f"""select turn, prompt_id, created_at, left_by >= :version as is_left from prompts
            where prompts.session = :session and {_STALE} order by created_at, turn""",
        {**_VERSION, "session": session},
    )
    return [
        OutdatedTurn(row["turn"], row["prompt_id"], text_to_time(row["created_at"]), bool(row["is_left"]))
        for row in rows
    ]


def session_of(db: sqlite3.Connection, turn: str) -> str:
    """Return the session of a turn of an older composer; '' for any other turn."""
    row = db.execute(
        f"select session from prompts where turn = :turn and {_STALE}", {**_VERSION, "turn": turn}
    ).fetchone()
    return str(row["session"]) if row else ""


def note_rebuilt(db: sqlite3.Connection, turn: str) -> None:
    """Record that this composer made the memories of a turn."""
    db.execute("update prompts set composer = :version, left_by = 0 where turn = :turn", {**_VERSION, "turn": turn})


def note_left(db: sqlite3.Connection, turn: str) -> None:
    """Record that the memories of a turn and the summary of its session stay unchanged."""
    db.execute("update prompts set left_by = :version where turn = :turn", {**_VERSION, "turn": turn})
    db.execute("delete from rebuilt_summaries where session = (select session from prompts where turn = ?)", (turn,))


def summary_before(db: sqlite3.Connection, session: str, turn: str) -> tuple[SessionSummary, float] | None:
    """Return the summary of a session up to a turn, as this composer makes it, with the worth of its headline: empty
    before the first turn, None when an earlier turn was skipped."""
    before = db.execute(
        """select earlier.turn from prompts join prompts as earlier on earlier.session = prompts.session
             and (earlier.created_at, earlier.turn) < (prompts.created_at, prompts.turn)
             and earlier.turn not like '%-SessionEnd'
           where prompts.turn = ? order by earlier.created_at desc, earlier.turn desc limit 1""",
        (turn,),
    ).fetchone()
    if before is None:
        return SessionSummary(), 0.0
    row = db.execute(
        "select summary from rebuilt_summaries where session = ? and turn = ?", (session, before["turn"])
    ).fetchone()
    return _summary(row["summary"]) if row else None


def put_summary(
    db: sqlite3.Connection, session: str, turn: str, summary: SessionSummary, headline_worth: float
) -> None:
    """Store the summary of a session up to a turn, until the next turn is rebuilt."""
    db.execute(
        "insert or replace into rebuilt_summaries (session, turn, summary) values (?, ?, ?)",
        (session, turn, json.dumps({**asdict(summary), _WORTH: headline_worth})),
    )


def summary_row(db: sqlite3.Connection, session: str) -> SummaryRow | None:
    """Return the unfinished summary of a session as stored, for a dry run to continue from."""
    row = db.execute("select session, turn, summary from rebuilt_summaries where session = ?", (session,)).fetchone()
    return SummaryRow(*row) if row else None


def put_summary_row(db: sqlite3.Connection, row: SummaryRow) -> None:
    """Put back what `summary_row` returned."""
    db.execute(
        "insert or replace into rebuilt_summaries (session, turn, summary) values (:session, :turn, :summary)",
        asdict(row),
    )


def drop_summaries(db: sqlite3.Connection, session: str | None = None) -> None:
    """Drop the unfinished summary of a session, or of all: part of forgetting, because summaries repeat the
    conversation."""
    db.execute("delete from rebuilt_summaries where :session is null or session = :session", {"session": session})


def _summary(stored: str) -> tuple[SessionSummary, float]:
    fields: dict[str, Any] = json.loads(stored)
    worth = float(fields.pop(_WORTH, 0.0))
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
    return SessionSummary(**values), worth


@frozen
class Snapshot:
    """Memories of some turns of a session, and the turns of an older composer among them."""

    memories: dict[str, Memory]
    stale: frozenset[str]
    unsure: int


def snapshot(db: sqlite3.Connection, session: str, keys: Sequence[str]) -> Snapshot:
    """Return the present memories of turns; the handoff of a session belongs to the session's last turn."""
    handoff = memories.handoff_id(session)
    ids = [id_ for id_ in memory_links.memories_in(db, keys) if id_ != handoff]
    ids += [handoff] if turns.latest_turn(db, session) in keys else []
    held = {memory.id: memory for memory in memories.by_ids(db, ids) if memory.status in _HELD}
    stale = {turn.turn for turn in stale_turns(db, session)}
    candidates = [candidate for key in keys for candidate in lesson_candidates.of_turn(db, key)]
    unsure = sum(candidate.state in lesson_candidates.OPEN for candidate in candidates)
    return Snapshot(held, frozenset(stale & set(keys)), unsure)


def compared(before: Snapshot, after: Snapshot) -> RebuildReport:
    """Return the changes between two snapshots."""
    both = before.memories.keys() & after.memories.keys()
    reworded = [id_ for id_ in both if _says(before.memories[id_]) != _says(after.memories[id_])]
    new = after.memories.keys() - both
    gone = before.memories.keys() - both
    changes = (
        *(MemoryChange("new", id_, after.memories[id_].title) for id_ in sorted(new)),
        *(MemoryChange("reworded", id_, after.memories[id_].title) for id_ in sorted(reworded)),
        *(MemoryChange("taken back", id_, before.memories[id_].title) for id_ in sorted(gone)),
    )
    return RebuildReport(
        turns=len(before.stale - after.stale),
        left=len(after.stale),
        kept=len(both) - len(reworded),
        reworded=len(reworded),
        new=len(new),
        taken_back=len(gone),
        unsure=max(after.unsure - before.unsure, 0),
        changes=changes,
    )


def _says(memory: Memory) -> tuple[object, ...]:
    return memory.kind, memory.title, memory.summary, memory.detail, memory.facts, memory.files, memory.anchors
