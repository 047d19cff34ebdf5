"""The table `tombstones`: names of what was forgotten, so that nothing brings it back.

Names are the ids of memories, sessions, turns and prompts, and of what was replaced by a memory that is gone; what a
memory said stands here only as a salted hash, by which the same words under another id are known again and from which
nobody can read them."""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.db import tombstone_merge
from claude_mem_lite.models import Memory, without_request
from claude_mem_lite.store.projects import change_log, marks
from claude_mem_lite.text import index_text, query_words
from claude_mem_lite.timestamps import text_to_time, time_to_text

_SALT = "salt:"
_SAID = "said:"
_LEFT = "left:"
# A title of fewer words fits many things: by itself it would keep out what nobody wanted forgotten.
_TELLING_TITLE = 4


def bury(db: sqlite3.Connection, names: Iterable[str], now: datetime) -> None:
    """Nothing by these names may come back."""
    known = [name for name in names if name]
    tombstone_merge.drop_marks(db, "memory", known)
    db.executemany(
        "insert or ignore into tombstones (memory, forgotten_at) values (?, ?)",
        [(name, time_to_text(now)) for name in known],
    )


def is_buried(db: sqlite3.Connection, *names: str) -> bool:
    """Whether anything by one of these names was forgotten."""
    found = db.execute(
        "select 1 from tombstones where memory in (select value from json_each(:names)) and memory <> ''",
        {"names": json.dumps(names)},
    )
    return found.fetchone() is not None


def all_of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Every name with when it was forgotten, in the order of forgetting."""
    return [(row[0], row[1]) for row in db.execute("select memory, forgotten_at from tombstones order by rowid")]


def names(db: sqlite3.Connection) -> bytes:
    """All names in one, sorted: two databases know the same names when theirs are equal."""
    row = db.execute(
        "select cast(group_concat(memory, char(10)) as blob) from (select memory from tombstones order by memory)"
    ).fetchone()
    return bytes(row[0] or b"")


def latest(db: sqlite3.Connection) -> datetime | None:
    """Return when something was last forgotten; None when nothing ever was."""
    (at,) = db.execute("select max(forgotten_at) from tombstones").fetchone()
    return text_to_time(at) if at else None


def since(db: sqlite3.Connection, at: datetime) -> list[tuple[str, str]]:
    """The names that were buried at this moment or later."""
    rows = db.execute("select memory, forgotten_at from tombstones where forgotten_at >= ?", (time_to_text(at),))
    return [(row[0], row[1]) for row in rows]


def has_between(db: sqlite3.Connection, start: datetime, end: datetime) -> bool:
    """Return whether anything was forgotten from one moment to another."""
    found = db.execute(
        "select 1 from tombstones where forgotten_at between :start and :end limit 1",
        {"start": time_to_text(start), "end": time_to_text(end)},
    )
    return found.fetchone() is not None


def put(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> int:
    """Take over names that another database has; returns how much that changed."""
    return tombstone_merge.merge(db, "memory", names)


def bury_memory(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Neither the memory may come back, nor, by an import, what says the same under another id."""
    salt = next(iter(_salts(db)), _SALT + secrets.token_hex(16))
    bury(db, (salt, memory.id, *_said(salt, memory)), now)


def note_left(db: sqlite3.Connection, command: str, left: Iterable[tuple[str, str]], now: datetime) -> None:
    """What a command to forget left replaced, each id with that of what replaces it now or '': the words that had
    replaced it are gone, and nothing else tells of it when a lost database is made anew."""
    bury(db, (_LEFT + json.dumps([command, id_, successor]) for id_, successor in left), now)


def left_by(db: sqlite3.Connection, command: str) -> list[tuple[str, str]]:
    """What a command to forget left replaced, as it was noted."""
    rows = db.execute(
        "select memory from tombstones where memory >= :start and memory < :start || char(0x10ffff) order by rowid",
        {"start": f"{_LEFT}[{json.dumps(command)},"},
    )
    noted = (json.loads(row["memory"].removeprefix(_LEFT)) for row in rows)
    return [(id_, successor) for _, id_, successor in noted]


def beginning_with(db: sqlite3.Connection, start: str) -> set[str]:
    """The buried ids that begin so."""
    rows = db.execute(
        "select memory from tombstones where substr(memory, 1, length(:start)) = :start", {"start": start}
    )
    return {row["memory"] for row in rows} if start else set()


def is_said_again(db: sqlite3.Connection, memory: Memory) -> bool:
    """Whether a memory says what a forgotten one said in the same scope: all of it, or by a title that tells enough.

    The hashes of what was forgotten hold the id that its project had then."""
    former: list[str] = []
    if memory.scope == f"project:{memory.project}":
        former = marks.former_ids(db, memory.project) + change_log.split_from(db, memory.project)
    known_as = [memory, *(replace(memory, scope=f"project:{one}") for one in former)]
    return is_buried(db, *(said for salt in _salts(db) for one in known_as for said in _said(salt, one)))


def _said(salt: str, memory: Memory) -> list[str]:
    """The hashes of what a memory says; spelling, stops and the words of the request aside."""
    title = index_text(memory.title)
    told = index_text(without_request(memory.summary))
    hashes = [_hash(salt, "all", memory.scope, title, told)]
    if len(query_words(memory.title)) >= _TELLING_TITLE:
        hashes.append(_hash(salt, "title", memory.kind, memory.scope, title))
    return hashes


def _hash(salt: str, *parts: str) -> str:
    return _SAID + hashlib.sha256("\x00".join((salt, *parts)).encode("utf-8", "replace")).hexdigest()


def _salts(db: sqlite3.Connection) -> list[str]:
    """The salt of this home; none before the first tombstone of a memory, and more when another home's were added."""
    rows = db.execute(
        "select memory from tombstones where memory >= :salt and memory < :salt || char(0x10ffff) order by rowid",
        {"salt": _SALT},
    )
    return [str(row["memory"]) for row in rows]
