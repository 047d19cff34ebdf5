"""Queries for the memories that a new, changed or forgotten memory is compared with."""

import json
import sqlite3
from collections.abc import Collection, Sequence

from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.store.memories import from_row

_MAX_DUPLICATES = 30


def duplicate_candidates(
    db: sqlite3.Connection, memory: Memory, seqs: Sequence[int], kinds: Sequence[Kind]
) -> list[Memory]:
    """Return the memories of a scope among the rows `seqs`, and those with the same kind and title, oldest first.

    Memories that the user retired, or that were contradicted too often, are included."""
    held = """(memories.status = 'active' or (memories.status = 'retired' and exists (select 1 from retirements
        where retirements.memory = memories.id and cause in ('user', 'contradicted'))))"""
    rows = db.execute(
        # The signs keep SQLite from a walk through the scope and kind (6 ms at 20,000) where the rows are known.
        f"""select * from memories where seq in (select value from json_each(:seqs))
             and +kind in (select value from json_each(:kinds)) and {held} and +scope = :scope
           union
           select * from memories where kind = :kind and {held} and scope = :scope
             and lower(title) = lower(:title)
           order by seq limit :limit""",
        {
            "scope": memory.scope,
            "kind": memory.kind,
            "kinds": json.dumps(kinds),
            "title": memory.title,
            "seqs": json.dumps(seqs),
            "limit": _MAX_DUPLICATES,
        },
    )
    return [from_row(row) for row in rows]


def same_in_quarantine(db: sqlite3.Connection, memory: Memory) -> Memory | None:
    """Return the quarantined memory with exactly the same words. Joined with another memory, the words would leave the
    quarantine with that memory."""
    row = db.execute(
        """select * from memories where status = 'quarantined' and scope = :scope and kind = :kind and title = :title
             and summary = :summary and origin = :origin order by seq limit 1""",
        {name: getattr(memory, name) for name in ("scope", "kind", "title", "summary", "origin")},
    ).fetchone()
    return from_row(row) if row is not None else None


def active_rows(
    db: sqlite3.Connection, memory: Memory, seqs: Sequence[int], kinds: Sequence[Kind]
) -> list[sqlite3.Row]:
    """Return the rows among `seqs` of other active memories of the same scope. A caller that compares hundreds of
    titles makes memories of few rows."""
    return db.execute(
        """select * from memories where seq in (select value from json_each(:seqs)) and +status = 'active'
             and +scope = :scope and id <> :id
             and kind in (select value from json_each(:kinds)) order by seq""",
        {
            "seqs": json.dumps(seqs),
            "scope": memory.scope,
            "id": memory.id,
            "kinds": json.dumps(list(kinds)),
        },
    ).fetchall()


def with_detail(
    db: sqlite3.Connection, text: str, projects: Collection[str], sessions: Collection[str]
) -> list[Memory]:
    """Return the memories of projects or sessions with a text in the detail."""
    rows = db.execute(
        """select * from memories where detail like '%' || :text || '%'
             and (project in (select value from json_each(:projects))
               or session in (select value from json_each(:sessions)))""",
        {"text": text, "projects": json.dumps(sorted(projects)), "sessions": json.dumps(sorted(sessions))},
    )
    return [from_row(row) for row in rows.fetchall()]


def titles_in(db: sqlite3.Connection, sessions: Collection[str]) -> list[str]:
    """Return the titles of all memories of sessions."""
    rows = db.execute(
        "select title from memories where session in (select value from json_each(:sessions))",
        {"sessions": json.dumps(sorted(sessions))},
    )
    return [row["title"] for row in rows]
