"""The table `tombstones`: names of forgotten things, so that nothing brings them back.

Names are the ids of memories, sessions, turns and prompts, and of memories replaced by a removed memory. The text of
a memory is stored only as a salted hash, which recognises the same words under another id without revealing them."""

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.db import tombstone_merge
from claude_mem_lite.models import Memory, without_request
from claude_mem_lite.store.projects import change_log, marks
from claude_mem_lite.text import index_text, query_words
from claude_mem_lite.timestamps import text_to_time, time_to_text

_SALT = "salt:"
_TEXT_HASH = "said:"
_LEFT = "left:"
# A title of fewer words fits many memories: alone, the title would keep out memories that nobody wanted forgotten.
_MIN_TITLE_WORDS = 4


def add_names(db: sqlite3.Connection, names: Iterable[str], now: datetime) -> None:
    """Add tombstones for names."""
    known = [name for name in names if name]
    tombstone_merge.drop_marks(db, "memory", known)
    db.executemany(
        "insert or ignore into tombstones (memory, forgotten_at) values (?, ?)",
        [(name, time_to_text(now)) for name in known],
    )


def is_buried(db: sqlite3.Connection, *names: str) -> bool:
    """Return True if any of these names was forgotten."""
    rows = db.execute(
        "select 1 from tombstones where memory in (select value from json_each(:names)) and memory <> ''",
        {"names": json.dumps(names)},
    )
    return rows.fetchone() is not None


def all_of(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Return every name with the time of its tombstone, in order of creation."""
    return [(row[0], row[1]) for row in db.execute("select memory, forgotten_at from tombstones order by rowid")]


def names(db: sqlite3.Connection) -> bytes:
    """Return all names as one sorted text, to compare the names of two databases."""
    row = db.execute(
        "select cast(group_concat(memory, char(10)) as blob) from (select memory from tombstones order by memory)"
    ).fetchone()
    return bytes(row[0] or b"")


def latest(db: sqlite3.Connection) -> datetime | None:
    """Return the time of the last tombstone, or None."""
    (at,) = db.execute("select max(forgotten_at) from tombstones").fetchone()
    return text_to_time(at) if at else None


def since(db: sqlite3.Connection, at: datetime) -> list[tuple[str, str]]:
    """Return the names that were forgotten at a time or later."""
    rows = db.execute("select memory, forgotten_at from tombstones where forgotten_at >= ?", (time_to_text(at),))
    return [(row[0], row[1]) for row in rows]


def has_between(db: sqlite3.Connection, start: datetime, end: datetime) -> bool:
    """Return True if anything was forgotten between two times."""
    rows = db.execute(
        "select 1 from tombstones where forgotten_at between :start and :end limit 1",
        {"start": time_to_text(start), "end": time_to_text(end)},
    )
    return rows.fetchone() is not None


def put(db: sqlite3.Connection, names: Iterable[tuple[str, str]]) -> int:
    """Merge names of another database; return the number of changed rows."""
    return tombstone_merge.merge(db, "memory", names)


def add_memory(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Add tombstones for a memory and, against imports, for the same text under another id."""
    salt = next(iter(_salts(db)), _SALT + secrets.token_hex(16))
    add_names(db, (salt, memory.id, *_text_hashes(salt, memory)), now)


def note_left(db: sqlite3.Connection, command: str, left: Iterable[tuple[str, str]], now: datetime) -> None:
    """Record the memories that a command to forget left replaced, each id with that of its new replacement or ''.
    The replacing text is gone, and no other record is left when a lost database is rebuilt."""
    add_names(db, (_LEFT + json.dumps([command, id_, successor]) for id_, successor in left), now)


def left_by(db: sqlite3.Connection, command: str) -> list[tuple[str, str]]:
    """Return the memories that a command to forget left replaced, as recorded."""
    rows = db.execute(
        "select memory from tombstones where memory >= :start and memory < :start || char(0x10ffff) order by rowid",
        {"start": f"{_LEFT}[{json.dumps(command)},"},
    )
    noted = (json.loads(row["memory"].removeprefix(_LEFT)) for row in rows)
    return [(id_, successor) for _, id_, successor in noted]


class StillStored(NamedTuple):
    """Ids of forgotten things that an older database brought back."""

    memories: list[str]
    turns: list[str]
    sessions: list[str]


def still_stored(db: sqlite3.Connection) -> StillStored:
    """Return the forgotten memories, turns and sessions that are stored all the same.

    A session with turns after the forgetting is not included."""
    named = "in (select memory from tombstones)"
    queries = (
        f"select id from memories where id {named}",
        f"""select turn from prompts where turn {named}
              and (text <> '' or reply <> '' or tasks <> '' or log <> '')""",
        f"""select id from sessions where id {named}
              and not exists (select 1 from prompts where session = sessions.id and not turn {named})""",
    )
    return StillStored(*([row[0] for row in db.execute(query)] for query in queries))


def beginning_with(db: sqlite3.Connection, start: str) -> set[str]:
    """Return the forgotten ids with a prefix."""
    rows = db.execute(
        "select memory from tombstones where substr(memory, 1, length(:start)) = :start", {"start": start}
    )
    return {row["memory"] for row in rows} if start else set()


def repeats_forgotten(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return True if a memory repeats a forgotten memory of the same scope: completely, or by a distinctive title.

    The hashes of forgotten memories contain the project id of their time."""
    salts = _salts(db)
    if not salts:
        return False
    former: list[str] = []
    if memory.scope == f"project:{memory.project}":
        former = marks.former_ids(db, memory.project) + change_log.split_from(db, memory.project)
    versions = [memory, *(replace(memory, scope=f"project:{id_}") for id_ in former)]
    return is_buried(
        db, *(text_hash for salt in salts for version in versions for text_hash in _text_hashes(salt, version))
    )


def _text_hashes(salt: str, memory: Memory) -> list[str]:
    """Return the hashes of the text of a memory, ignoring spelling, stops and the words of the request."""
    title = index_text(memory.title)
    summary = index_text(without_request(memory.summary))
    hashes = [_hash(salt, "all", memory.scope, title, summary)]
    if len(query_words(memory.title)) >= _MIN_TITLE_WORDS:
        hashes.append(_hash(salt, "title", memory.kind, memory.scope, title))
    return hashes


def _hash(salt: str, *parts: str) -> str:
    return _TEXT_HASH + hashlib.sha256("\x00".join((salt, *parts)).encode("utf-8", "replace")).hexdigest()


def _salts(db: sqlite3.Connection) -> list[str]:
    """Return the salts: none before the first tombstone of a memory, and several after a merge with another home."""
    rows = db.execute(
        "select memory from tombstones where memory >= :salt and memory < :salt || char(0x10ffff) order by rowid",
        {"salt": _SALT},
    )
    return [str(row["memory"]) for row in rows]
