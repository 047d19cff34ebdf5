"""The word index over memories, `memories_fts`: derived, can be rebuilt.

Where a memory holds, of what kind it is and the like are marks in its row, so that a match can ask for them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.models import Filters, Kind, Memory
from claude_mem_lite.store.index import filter_tokens, ranking
from claude_mem_lite.text import index_text, query_words

# Title, summary, facts, files with symbols and tags, detail; marks tell nothing.
_INDEX = ranking.WordIndex("memories_fts", "2.0, 1.0, 1.0, 2.0, 1.0, 0.0")
_HASTY_INDEX = replace(_INDEX, share=0.2, is_hasty=True)
_MAX_WORDS = 16
_COMMON = 50
_RAREST = 5
_MIN_KNOWN = 0.6


def naming_file(file: str) -> str:
    """What a row that names a file matches, as an expression; nothing when its name has no words.

    A file that fits has the same name, whatever folder either is given from."""
    words = _file_words(file)
    return f"files : ({' AND '.join(map(ranking.phrase, words))})" if words else ""


def add(db: sqlite3.Connection, seq: int, memory: Memory) -> None:
    symbols = (symbol.name for symbol in memory.symbols)
    db.execute(
        """insert into memories_fts (rowid, title, summary, facts, files, detail, marks)
           values (:seq, :title, :summary, :facts, :files, :detail, :marks)""",
        {
            "seq": seq,
            "title": index_text(memory.title),
            "summary": index_text(memory.summary),
            "facts": index_text("\n".join(memory.facts)),
            "files": " ".join(
                (
                    index_text("\n".join((*memory.files, *symbols, *memory.tags))),
                    *map(filter_tokens.anchor_mark, memory.anchors),
                )
            ),
            "detail": index_text(memory.detail),
            "marks": filter_tokens.of_memory(memory),
        },
    )


def mark_again(db: sqlite3.Connection, seq: int, memory: Memory) -> None:
    """A memory is no longer what its marks say; its words stay as they are."""
    db.execute("update memories_fts set marks = ? where rowid = ?", (filter_tokens.of_memory(memory), seq))


def remove(db: sqlite3.Connection, seq: int) -> None:
    db.execute("delete from memories_fts where rowid = ?", (seq,))


def remove_orphans(db: sqlite3.Connection) -> None:
    """Remove the words of memories that are gone."""
    ranking.remove_orphans(db, _INDEX, "memories")


def scrub(db: sqlite3.Connection) -> None:
    """Have the words of removed memories leave the file."""
    ranking.scrub(db, _INDEX)


def is_damaged(db: sqlite3.Connection) -> bool:
    return ranking.is_damaged(db, _INDEX)


def mend(db: sqlite3.Connection) -> None:
    """Make the index sound again if it is damaged."""
    ranking.mend(db, _INDEX)


def search(
    db: sqlite3.Connection, words: Sequence[str], filters: Filters, limit: int, *, hasty: bool = False
) -> list[tuple[int, float]]:
    """Row numbers with their score, best first, of memories that have any of the words and are what is asked.

    `hasty`: among very many memories less than half of the usual work is done, for the very best of them."""
    index = _HASTY_INDEX if hasty else _INDEX
    return ranking.best_rows(
        db, index, words, _held(filters), lambda seqs: filter_tokens.matching(db, filters, seqs), limit
    )


def highest(db: sqlite3.Connection) -> int:
    """The highest row number: about how many memories there are."""
    return ranking.highest_row(db, _INDEX)


def with_anchor(db: sqlite3.Connection, anchor: str, scope: str, limit: int) -> list[int]:
    """The row numbers of memories of a scope that are tied to an anchor, newest first."""
    match = f"files : {filter_tokens.anchor_mark(anchor)} AND marks : {filter_tokens.scope_mark(scope)}"
    return _rows(db, match, "rowid desc", limit)


def tied_to(db: sqlite3.Connection, anchors: Sequence[str], project: str, limit: int) -> list[int]:
    """The row numbers of memories that are tied to any of these anchors and may hold in a project, newest first."""
    tied = " OR ".join(map(filter_tokens.anchor_mark, anchors))
    match = f"files : ({tied}) AND {filter_tokens.for_memories(Filters(project=project))}"
    return _rows(db, match, "rowid desc", limit) if tied else []


def about_files(db: sqlite3.Connection, paths: Sequence[str], project: str, limit: int) -> list[int]:
    """The row numbers of guidance and decisions of a project, or such as hold everywhere, that name any of these files
    and folders, or have a name like that, newest first."""
    named = " OR ".join(map(filter_tokens.file_mark, paths))
    scopes = " OR ".join(map(filter_tokens.scope_mark, (f"project:{project}", "universal")))
    match = f"marks : ({named}) AND marks : ({scopes})"
    return _rows(db, match, "rowid desc", limit) if named else []


def of_kinds_naming(
    db: sqlite3.Connection, names: Sequence[str], kinds: Sequence[Kind], project: str, limit: int
) -> list[int]:
    """Return the row numbers of memories of a project and these kinds that name any of these files, functions or
    classes in a text or among their files, newest first. A name counts as a whole."""
    said = [words[: 1 if name.isidentifier() else None] for name in names if (words := _file_words(name))]
    named = " OR ".join(f"({' AND '.join(map(ranking.phrase, words))})" for words in said)
    of_kind = " OR ".join(map(filter_tokens.kind_mark, kinds))
    in_project = filter_tokens.scope_mark(f"project:{project}")
    match = f"{{title summary facts files}} : ({named}) AND marks : ({of_kind}) AND marks : {in_project}"
    return _rows(db, match, "rowid desc", limit) if named else []


def alike(db: sqlite3.Connection, memory: Memory, limit: int) -> list[int]:
    """The row numbers of memories of the same scope that may say the same, by an anchor or by their titles.

    Only by the rarest words of the title: common ones would have all of a large project looked at."""
    found = [seq for anchor in memory.anchors for seq in with_anchor(db, anchor, memory.scope, limit)]
    scope = filter_tokens.scope_mark(memory.scope)
    phrases = [ranking.phrase(word) for word in query_words(memory.title)[:_MAX_WORDS]]
    times = {phrase: ranking.count(db, _INDEX, f"title : {phrase} AND marks : {scope}", _COMMON) for phrase in phrases}
    known = sorted((phrase for phrase in phrases if times[phrase]), key=lambda phrase: times[phrase])
    if len(known) < max(_MIN_KNOWN * len(phrases), 2):
        return found
    # Two of the rarest, so that one word may differ.
    rarest = known[:_RAREST]
    pairs = [f"({word} AND ({' OR '.join(rarest[at:])}))" for at, word in enumerate(rarest[:2], 1) if rarest[at:]]
    return found + _rows(db, f"title : ({' OR '.join(pairs)}) AND marks : {scope}", "rowid", limit)


def count_with(db: sqlite3.Connection, word: str, scope: str, most: int) -> int:
    """How many memories of a scope have a word, counted as far as matters."""
    return ranking.count(db, _INDEX, f"{ranking.phrase(word)} AND marks : {filter_tokens.scope_mark(scope)}", most)


def naming(db: sqlite3.Connection, words: Sequence[str], scope: str, limit: int) -> list[int]:
    """The row numbers of memories of a scope that have any of these words in their title, newest first."""
    phrases = [ranking.phrase(token) for word in words[:_MAX_WORDS] for token in index_text(word).split()]
    if not phrases:
        return []
    return _rows(
        db, f"title : ({' OR '.join(phrases)}) AND marks : {filter_tokens.scope_mark(scope)}", "rowid desc", limit
    )


def count_everywhere(db: sqlite3.Connection, word: str, most: int) -> int:
    """How many memories have a word, counted as far as matters."""
    return ranking.count(db, _INDEX, ranking.phrase(word), most)


def _held(filters: Filters) -> str:
    """What the index can tell of the filters, as an expression; rows that match may still not fit."""
    parts = [filter_tokens.for_memories(filters)]
    if filters.file and (words := _file_words(filters.file)):
        # One is enough: every row that has `py` would be counted for the score.
        parts.append(f"files : {ranking.phrase(max(words, key=len))}")
    return " AND ".join(part for part in parts if part)


def _file_words(file: str) -> list[str]:
    return list(dict.fromkeys(index_text(file.rstrip("/").rpartition("/")[2]).split()))


def _rows(db: sqlite3.Connection, match: str, order: str, limit: int) -> list[int]:
    rows = db.execute(
        f"select rowid as seq from memories_fts where memories_fts match :match order by {order} limit :limit",
        {"match": match, "limit": limit},
    )
    return [row["seq"] for row in rows]
