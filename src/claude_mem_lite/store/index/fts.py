"""The word index over memories, `memories_fts`: derived, and rebuildable.

Filter tokens in each row let a match select by scope, kind, branch, status and date."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.index import filter_tokens, ranking
from claude_mem_lite.store.index.ranking import SCORING_LIMITS, ScoringLimits
from claude_mem_lite.text import index_text, query_words

# Weights of title, summary, facts, files with symbols and tags, detail, and filter tokens.
_INDEX = ranking.WordIndex("memories_fts", "2.0, 1.0, 1.0, 2.0, 1.0, 0.0")
_HASTY_INDEX = replace(_INDEX, share=0.2, is_hasty=True)
_MAX_WORDS = 16
_COMMON = 50
_RAREST = 5
_MIN_KNOWN = 0.6
_MAX_SHARED = 3


def naming_file(file: str) -> str:
    """Return an FTS5 expression for rows that name a file; '' if the file name has no words.

    Matching files have the same name, whatever folder either path is relative to."""
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
                    *map(filter_tokens.anchor_token, memory.anchors),
                )
            ),
            "detail": index_text(memory.detail),
            "marks": filter_tokens.of_memory(memory),
        },
    )


def update_filter_tokens(db: sqlite3.Connection, seq: int, memory: Memory) -> None:
    """Update the filter tokens of a changed memory; its words stay unchanged."""
    db.execute("update memories_fts set marks = ? where rowid = ?", (filter_tokens.of_memory(memory), seq))


def remove(db: sqlite3.Connection, seq: int) -> None:
    db.execute("delete from memories_fts where rowid = ?", (seq,))


def remove_orphans(db: sqlite3.Connection) -> None:
    """Remove the words of memories that are gone."""
    ranking.remove_orphans(db, _INDEX, "memories")


def scrub(db: sqlite3.Connection) -> None:
    """Rewrite the index, so that the words of removed memories leave the file."""
    ranking.scrub(db, _INDEX)


def is_corrupt(db: sqlite3.Connection) -> bool:
    return ranking.is_corrupt(db, _INDEX)


def repair(db: sqlite3.Connection) -> None:
    """Repair the index if it is corrupt."""
    ranking.repair(db, _INDEX)


def search(
    db: sqlite3.Connection,
    words: Sequence[str],
    filters: Filters,
    limit: int,
    *,
    hasty: bool = False,
    limits: ScoringLimits = SCORING_LIMITS,
) -> list[tuple[int, float]]:
    """Return row numbers with scores, best first, of memories that have any of the words and match the filters.

    `hasty` does less than half of the usual work among very many memories, for the very best hits only."""
    index = replace(_HASTY_INDEX if hasty else _INDEX, limits=limits)
    return ranking.best_rows(
        db, index, words, _filter_match(filters), lambda seqs: filter_tokens.matching(db, filters, seqs), limit
    )


def highest(db: sqlite3.Connection) -> int:
    """Return the highest row number: about the number of memories."""
    return ranking.highest_row(db, _INDEX)


def with_anchor(db: sqlite3.Connection, anchor: str, scope: str, limit: int) -> list[int]:
    """Return the row numbers of memories of a scope with an anchor, newest first."""
    match = f"files : {filter_tokens.anchor_token(anchor)} AND marks : {filter_tokens.scope_token(scope)}"
    return _rows(db, match, "rowid desc", limit)


def anchored_to(db: sqlite3.Connection, anchors: Sequence[str], project: str, limit: int) -> list[int]:
    """Return the row numbers of memories with any of these anchors that may hold in a project, newest first."""
    anchors_match = " OR ".join(map(filter_tokens.anchor_token, anchors))
    match = f"files : ({anchors_match}) AND {filter_tokens.for_memories(Filters(project=project))}"
    return _rows(db, match, "rowid desc", limit) if anchors_match else []


def about_files(db: sqlite3.Connection, paths: Sequence[str], project: str, limit: int) -> list[int]:
    """Return the row numbers of guidance and decisions, of a project or of universal scope, that name any of these
    files and folders, or a file of the same name, newest first."""
    named = " OR ".join(map(filter_tokens.file_token, paths))
    scopes = " OR ".join(map(filter_tokens.scope_token, (f"project:{project}", "universal")))
    match = f"marks : ({named}) AND marks : ({scopes})"
    return _rows(db, match, "rowid desc", limit) if named else []


def of_kinds_naming(
    db: sqlite3.Connection, names: Sequence[str], kinds: Sequence[Kind], project: str, limit: int
) -> list[int]:
    """Return the row numbers of memories of a project and these kinds that name any of these files, functions or
    classes in a text or among their files, newest first. A name counts as a whole."""
    words_of_names = [words[: 1 if name.isidentifier() else None] for name in names if (words := _file_words(name))]
    named = " OR ".join(f"({' AND '.join(map(ranking.phrase, words))})" for words in words_of_names)
    of_kind = " OR ".join(map(filter_tokens.kind_token, kinds))
    in_project = filter_tokens.scope_token(f"project:{project}")
    match = f"{{title summary facts files}} : ({named}) AND marks : ({of_kind}) AND marks : {in_project}"
    return _rows(db, match, "rowid desc", limit) if named else []


def stating(
    db: sqlite3.Connection, words: Sequence[str], names: Sequence[str], kinds: Sequence[Kind], project: str, limit: int
) -> list[int]:
    """Return the row numbers of memories of a project and these kinds that have all words and one of these names in
    their texts, newest first."""
    of_kind = " OR ".join(map(filter_tokens.kind_token, kinds))
    in_project = filter_tokens.scope_token(f"project:{project}")
    stated = f"{{title summary facts detail}} : ({ranking.all_with_one_of(words, names)})"
    return _rows(db, f"{stated} AND marks : ({of_kind}) AND marks : {in_project}", "rowid desc", limit)


def alike(db: sqlite3.Connection, memory: Memory, limit: int) -> list[int]:
    """Return the row numbers of memories of the same scope that may be duplicates, by an anchor or by their titles.

    Only the rarest words of the title are used: common words would match all of a large project."""
    seqs = [seq for anchor in memory.anchors for seq in with_anchor(db, anchor, memory.scope, limit)]
    scope = filter_tokens.scope_token(memory.scope)
    phrases = [ranking.phrase(word) for word in query_words(memory.title)[:_MAX_WORDS]]
    times = {phrase: ranking.count(db, _INDEX, f"title : {phrase} AND marks : {scope}", _COMMON) for phrase in phrases}
    known = sorted((phrase for phrase in phrases if times[phrase]), key=lambda phrase: times[phrase])
    if len(known) < max(_MIN_KNOWN * len(phrases), 2):
        return seqs
    # Pairs of the rarest words, so that one word may differ.
    rarest = known[:_RAREST]
    pairs = [f"({word} AND ({' OR '.join(rarest[at:])}))" for at, word in enumerate(rarest[:2], 1) if rarest[at:]]
    return seqs + _rows(db, f"title : ({' OR '.join(pairs)}) AND marks : {scope}", "rowid", limit)


def count_with(db: sqlite3.Connection, word: str, scope: str, most: int) -> int:
    """Return the number of memories of a scope that have a word, counted up to `most`."""
    return ranking.count(db, _INDEX, f"{ranking.phrase(word)} AND marks : {filter_tokens.scope_token(scope)}", most)


def naming(db: sqlite3.Connection, words: Sequence[str], scope: str, limit: int) -> list[int]:
    """Return the row numbers of memories of a scope with any of these words in their title, newest first."""
    phrases = [ranking.phrase(token) for word in words[:_MAX_WORDS] for token in index_text(word).split()]
    if not phrases:
        return []
    return _rows(
        db, f"title : ({' OR '.join(phrases)}) AND marks : {filter_tokens.scope_token(scope)}", "rowid desc", limit
    )


def with_most(db: sqlite3.Connection, words: Sequence[str], scope: str, limit: int) -> list[int]:
    """Return the row numbers of memories with the longest of these plain words in their title, newest first: those of
    a scope, and perhaps a few of others.

    Each word costs a look into every part of the index, and the scope is the most frequent word of all: it is asked for
    only if many titles match."""
    match = f"title : ({' AND '.join(map(ranking.phrase, sorted(words, key=len)[-_MAX_SHARED:]))})"
    seqs = _rows(db, match, "rowid desc", limit) if words else []
    if len(seqs) < limit:
        return seqs
    return _rows(db, f"{match} AND marks : {filter_tokens.scope_token(scope)}", "rowid desc", limit)


def count_everywhere(db: sqlite3.Connection, word: str, most: int) -> int:
    """Return the number of memories that have a word, counted up to `most`."""
    return ranking.count(db, _INDEX, ranking.phrase(word), most)


def _filter_match(filters: Filters) -> str:
    """Return the filters that the index can apply, as an expression; matching rows may still fail other filters."""
    parts = [filter_tokens.for_memories(filters)]
    if filters.file and (words := _file_words(filters.file)):
        # One word is enough: every row that has `py` would be counted for the score.
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
