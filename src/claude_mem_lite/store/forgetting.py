"""Forgetting: a memory goes from every table, and what repeats it nearby goes with it.

Called by the worker on the user's word; nothing here can be undone."""

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from claude_mem_lite.db.connection import time_to_text
from claude_mem_lite.models import Memory, SessionSummary
from claude_mem_lite.store import branches, fts, memories, passages, sessions, symbols, turns
from claude_mem_lite.words import query_words

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n+")
# A sentence repeats what is to be forgotten when this share of its words, of at least three, is from there.
_ECHO_SHARE = 0.7
_ECHO_WORDS = 3


def forget(db: sqlite3.Connection, ids: Sequence[str], whole_sessions: Sequence[str], now: datetime) -> list[str]:
    """Remove memories and sessions inside the caller's transaction; returns the turns they came from."""
    forgotten = [memories.get(db, id_) for id_ in ids]
    behind = _turns_behind(db, ids)
    told_in = {memory.session for memory in forgotten} | turns.of_turns(db, behind)
    memories.remove(db, ids, now)
    turns.forget_turns(db, behind)
    symbols.forget(db, sessions=whole_sessions, turns=behind)
    for session in whole_sessions:
        # Its transcript is still there, and those of its forks: reading them must not bring the session back.
        db.executemany(
            "insert or ignore into tombstones (memory, forgotten_at) values (?, ?)",
            [(name, time_to_text(now)) for name in (session, *sorted(turns.names_in(db, session)))],
        )
        sessions.forget_session(db, session)
    words = {word for memory in forgotten for word in _words(memory)}
    for sibling in _seen_in(db, behind):
        _rewrite_memory(db, sibling, words, now)
    for session in told_in - set(whole_sessions):
        _rewrite_summary(db, session, words, now)
    branches.drop_unused(db)
    fts.scrub(db)
    passages.scrub(db)
    return behind


def without_echo(text: str, words: set[str]) -> str:
    """The sentences of a text that do not repeat what is to be forgotten."""
    return " ".join(one for one in _SENTENCE_END.split(text) if one and not _is_echo(one, words))


def _is_echo(sentence: str, words: set[str]) -> bool:
    own = query_words(sentence)
    return len(own) >= _ECHO_WORDS and sum(word in words for word in own) >= _ECHO_SHARE * len(own)


def _words(memory: Memory) -> list[str]:
    return query_words(" ".join((memory.title, memory.summary, memory.detail, *memory.facts)))


def _rewrite_memory(db: sqlite3.Connection, memory: Memory, words: set[str], now: datetime) -> None:
    left = replace(
        memory,
        title=without_echo(memory.title, words),
        summary=without_echo(memory.summary, words),
        detail=without_echo(memory.detail, words),
        facts=tuple(fact for fact in memory.facts if not _is_echo(fact, words)),
    )
    if not left.title:
        memories.remove(db, [memory.id], now)
    elif left != memory:
        memories.rewrite(db, left)


def _rewrite_summary(db: sqlite3.Connection, session: str, words: set[str], now: datetime) -> None:
    found = sessions.find(db, session)
    if found is None:
        return
    left: dict[str, Any] = {}
    for field in fields(SessionSummary):
        value = getattr(found.summary, field.name)
        if isinstance(value, str):
            left[field.name] = without_echo(value, words)
        else:
            left[field.name] = tuple(item for item in value if not _is_echo(item, words))
    left["headline"] = left["headline"] or left["request"]
    sessions.set_summary(db, session, SessionSummary(**left), now)


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
