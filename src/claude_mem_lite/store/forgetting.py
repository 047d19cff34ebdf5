"""Forgetting: a memory goes from every table, and what repeats it goes with it.

Called by the worker on the user's word; nothing here can be undone."""

import json
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.models import LONGEST_TITLE, Memory
from claude_mem_lite.store import (
    branches,
    echoes,
    fts,
    memories,
    passages,
    receipts,
    redoing,
    sessions,
    symbols,
    tombstones,
    turns,
)
from claude_mem_lite.store.echoes import Echo
from claude_mem_lite.words import one_line, within

# What repeats them is looked for everywhere when no more are forgotten at once: for each that takes some milliseconds.
_MOST_SPREAD = 50


def forget(
    db: sqlite3.Connection,
    ids: Sequence[str],
    whole_sessions: Sequence[str],
    now: datetime,
    *,
    whole_turns: Sequence[str] = (),
    project: str | None = None,
) -> list[str]:
    """Remove memories, and turns, sessions and a project with all that was made of them, inside the caller's
    transaction; returns the turns whose events must go as well."""
    forgotten = [memories.get(db, id_) for id_ in ids]
    behind = list(dict.fromkeys((*_turns_behind(db, ids), *whole_turns)))
    said = echoes.said_in(text for turn in behind for text in turns.texts_of(db, turn))
    said |= echoes.said_in((text for turn in whole_turns for text in turns.texts_of(db, turn)), echoes.SAID_WORDS)
    told_in = {memory.session for memory in forgotten} | turns.of_turns(db, behind)
    replaced = _replaced_by(db, ids)
    repeated = [echoes.elsewhere(db, memory) for memory in forgotten] if len(forgotten) <= _MOST_SPREAD else []

    for memory in forgotten:
        tombstones.bury_memory(db, memory, now)
    memories.remove(db, ids, now)
    tombstones.bury(db, (*behind, *turns.prompt_ids(db, behind)), now)
    turns.forget_turns(db, behind)
    symbols.forget(db, sessions=whole_sessions, turns=behind)
    for session in whole_sessions:
        # Its transcript is still there, and those of its forks: reading them must not bring the session back.
        tombstones.bury(db, (session, *sorted(turns.names_in(db, session))), now)
        sessions.forget_session(db, session)

    echo = replace(echoes.of_memories(forgotten), said=said)
    versions = [version for id_ in replaced if (version := memories.find(db, id_))]
    gone = [one.id for one in (*_seen_in(db, behind), *versions) if _is_rewritten_away(db, one, echo, now)]
    for session in told_in - set(whole_sessions):
        _rewrite_summary(db, session, echo, now)
    repeating = [turn for found in repeated for turn in _rewrite_elsewhere(db, *found, now)]

    receipts.forget(db, sources=[*ids, *gone], sessions=whole_sessions, project=project)
    if project is not None:
        sessions.forget_project(db, project)
    branches.drop_unused(db)
    fts.scrub(db)
    passages.scrub(db)
    return list(dict.fromkeys((*behind, *repeating)))


def made_in(db: sqlite3.Connection, turn: str) -> list[str]:
    """The ids of the memories that a turn made, and of those that were seen in no other."""
    rows = db.execute(
        """select memory from sightings where turn = :turn
             and not exists (select 1 from sightings as other where other.memory = sightings.memory and turn <> :turn)
           order by memory""",
        {"turn": turn},
    )
    made = (memory.id for memory in redoing.of_turn(db, turn))
    return list(dict.fromkeys((*made, *(row["memory"] for row in rows))))


def _is_rewritten_away(db: sqlite3.Connection, memory: Memory, echo: Echo, now: datetime) -> bool:
    """Take what is to be forgotten out of a memory; True when nothing is left of it."""
    left = echo.out_of_memory(memory)
    if not left.title:
        memories.remove(db, [memory.id], now)
    elif left != memory:
        memories.rewrite(db, left)
    return not left.title


def _rewrite_summary(db: sqlite3.Connection, session: str, echo: Echo, now: datetime) -> None:
    """Take what is to be forgotten out of a session's summary; it is told by something else, if anything is left."""
    found = sessions.find(db, session)
    if found is None or (left := echo.out_of_summary(found.summary)) == found.summary:
        return
    if found.summary.headline and not left.headline:
        left = replace(left, headline=left.request or left.completed or _what_is_left(db, session))
    sessions.set_summary(db, session, left, now)


def _what_is_left(db: sqlite3.Connection, session: str) -> str:
    """What a session was about, by what is still remembered of it, or was asked in it."""
    titles = (memory.title for memory in redoing.of_session(db, session, limit=1))
    return within(one_line(next(titles, "") or turns.last_prompt(db, session)), LONGEST_TITLE)


def _rewrite_elsewhere(
    db: sqlite3.Connection, echo: Echo, found: Iterable[tuple[str, str]], now: datetime
) -> list[str]:
    """Take what is to be forgotten out of what was said in other turns and sessions; returns the turns that had it."""
    changed = []
    for kind, name in found:
        if kind == "session":
            _rewrite_summary(db, name, echo, now)
            continue
        said = turns.texts_of(db, name)
        asked, answered, tasks = (echo.out_of(text) for text in said)
        if (asked, answered, tasks) != said:
            turns.set_texts(db, name, asked, answered, tasks)
            changed.append(name)
    return changed


def _turns_behind(db: sqlite3.Connection, ids: Sequence[str]) -> list[str]:
    """The turns in which these memories were seen."""
    rows = db.execute(
        "select distinct turn from sightings where memory in (select value from json_each(:ids))",
        {"ids": json.dumps(list(ids))},
    )
    return [row["turn"] for row in rows]


def _seen_in(db: sqlite3.Connection, turns: Sequence[str]) -> list[Memory]:
    rows = db.execute(
        """select distinct memories.* from memories join sightings on sightings.memory = memories.id
           where sightings.turn in (select value from json_each(:turns))""",
        {"turns": json.dumps(list(turns))},
    )
    return [memories.from_row(row) for row in rows]


def _replaced_by(db: sqlite3.Connection, ids: Sequence[str]) -> list[str]:
    """The ids of what these memories had replaced: earlier versions say much of the same."""
    rows = db.execute(
        """select id from memories where superseded_by in (select value from json_each(:ids))
             and id not in (select value from json_each(:ids))""",
        {"ids": json.dumps(list(ids))},
    )
    return [row["id"] for row in rows]
