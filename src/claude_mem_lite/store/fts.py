"""The word index over memories, `memories_fts`: derived, can be rebuilt. The project is a token in each row."""

import hashlib
import sqlite3

from claude_mem_lite.models import Memory
from claude_mem_lite.words import index_text, query_words

_WEIGHTS = "4.0, 2.0, 2.0, 2.0, 1.0, 0.0"
_MOST_WORDS = 16
_COMMON = 50
_RAREST = 5
_LEAST_KNOWN = 0.6


def _scope_token(scope: str) -> str:
    """Where a memory holds, as one word no text contains; beyond one project it is the same word for all."""
    held = scope if scope.startswith("project:") else "everywhere"
    return "sc" + hashlib.sha256(held.encode("utf-8", "replace")).hexdigest()[:20]


def _anchor_token(anchor: str) -> str:
    return "an" + hashlib.sha256(anchor.encode("utf-8", "replace")).hexdigest()[:20]


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
            "files": "\n".join(
                (index_text("\n".join((*memory.files, *symbols, *memory.tags))), *map(_anchor_token, memory.anchors))
            ),
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


def with_anchor(db: sqlite3.Connection, anchor: str, scope: str, limit: int) -> list[int]:
    """The row numbers of memories of a scope that are tied to an anchor, newest first."""
    match = f"files : {_anchor_token(anchor)} AND project : {_scope_token(scope)}"
    return _rows(db, match, "rowid desc", limit)


def alike(db: sqlite3.Connection, memory: Memory, limit: int) -> list[int]:
    """The row numbers of memories of the same scope that may say the same, by an anchor or by their titles.

    Only by the rarest words of the title: common ones would have all of a large project looked at."""
    found = [seq for anchor in memory.anchors for seq in with_anchor(db, anchor, memory.scope, limit)]
    scope = _scope_token(memory.scope)
    words = query_words(memory.title)[:_MOST_WORDS]
    times = {word: _times(db, f'title : "{word}" AND project : {scope}') for word in words}
    known = sorted((word for word in words if times[word]), key=lambda word: times[word])
    if len(known) < max(_LEAST_KNOWN * len(words), 2):
        return found
    # Two of the rarest, so that one word may differ.
    rarest = [f'"{word}"' for word in known[:_RAREST]]
    pairs = [f"({word} AND ({' OR '.join(rarest[at:])}))" for at, word in enumerate(rarest[:2], 1) if rarest[at:]]
    return found + _rows(db, f"title : ({' OR '.join(pairs)}) AND project : {scope}", "rowid", limit)


def _times(db: sqlite3.Connection, match: str) -> int:
    """How many rows match, counted as far as matters."""
    (number,) = db.execute(
        "select count(*) from (select 1 from memories_fts where memories_fts match :match limit :limit)",
        {"match": match, "limit": _COMMON},
    ).fetchone()
    return int(number)


def _rows(db: sqlite3.Connection, match: str, order: str, limit: int) -> list[int]:
    rows = db.execute(
        f"select rowid as seq from memories_fts where memories_fts match :match order by {order} limit :limit",
        {"match": match, "limit": limit},
    )
    return [row["seq"] for row in rows]
