"""The word index over memories, `memories_fts`: derived, can be rebuilt. The project is a token in each row."""

import hashlib
import sqlite3

from claude_mem_lite.models import Memory
from claude_mem_lite.words import index_text

_WEIGHTS = "4.0, 2.0, 2.0, 2.0, 1.0, 0.0"


def _scope_token(scope: str) -> str:
    """Where a memory holds, as one word no text contains; beyond one project it is the same word for all."""
    held = scope if scope.startswith("project:") else "everywhere"
    return "sc" + hashlib.sha256(held.encode("utf-8", "replace")).hexdigest()[:20]


def add(db: sqlite3.Connection, seq: int, memory: Memory) -> None:
    symbols = (symbol.name for symbol in memory.symbols)
    db.execute(
        """insert into memories_fts (rowid, title, summary, facts, files, detail, project)
           values (:seq, :title, :summary, :facts, :files, :detail, :project)""",
        {
            "seq": seq,
            "title": index_text(memory.title),
            "summary": index_text(memory.summary),
            "facts": index_text("\n".join(memory.facts)),
            "files": index_text("\n".join((*memory.files, *symbols, *memory.tags))),
            "detail": index_text(memory.detail),
            "project": _scope_token(memory.scope),
        },
    )


def remove(db: sqlite3.Connection, seq: int) -> None:
    db.execute("delete from memories_fts where rowid = ?", (seq,))


def scrub(db: sqlite3.Connection) -> None:
    """Rewrite the index so that removed words leave the file: deleting alone keeps them."""
    db.execute("insert into memories_fts (memories_fts) values ('optimize')")


def search(db: sqlite3.Connection, words: list[str], project: str | None, limit: int) -> list[tuple[int, float]]:
    """Row numbers with their BM25 score, higher is better, of memories that have any of the words.

    With a project: those that hold in it, or everywhere."""
    if not words:
        return []
    asked = " OR ".join(f'"{word}"' for word in words)
    match = asked
    if project is not None:
        match = f"({asked}) AND project : ({_scope_token(f'project:{project}')} OR {_scope_token('everywhere')})"
    rows = db.execute(
        f"""select rowid as seq, -bm25(memories_fts, {_WEIGHTS}) as score from memories_fts
            where memories_fts match :match order by score desc, rowid desc limit :limit""",
        {"match": match, "limit": limit},
    )
    return [(row["seq"], row["score"]) for row in rows]
