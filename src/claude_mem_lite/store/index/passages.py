"""The tables `passages` and `passages_fts`: searchable raw text of turns and session summaries.

Both tables are derived from `prompts` and `sessions`, and the text itself stays in these tables."""

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import MAX_TITLE_LENGTH, Passage, PassageKind, Session
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store.ids import row_by_prefix, short_id
from claude_mem_lite.store.index import filter_tokens, index_queue, ranking, vectors
from claude_mem_lite.store.index.ranking import SCORING_LIMITS, ScoringLimits
from claude_mem_lite.text import index_text, one_line, within
from claude_mem_lite.timestamps import text_to_time, time_to_text

# With as many scored rows as for memories, search at 100,000 took a fifth longer, and 95 % of the hits were the same.
_INDEX = ranking.WordIndex("passages_fts", "1.0, 1.0, 0.0", share=0.5)
_ASKED = ("headline", "request")
_PROSE = ("completed", "learned", "investigated", "notes")
_LISTED = ("key_decisions", "next_steps", "files_edited", "files_read")
# Prompt and reply of a passage, by kind; the prompt of a session is its headline and its request.
_SOURCES = f"""
    select passages.*, prompts.text as asked, prompts.reply as answered, prompts.tasks as tasks,
        prompts.log as log,
        {", ".join(f"sessions.{name}" for name in (*_ASKED, *_PROSE, *_LISTED))}
    from passages
    left join prompts on passages.kind = 'turn' and prompts.turn = passages.source
    left join sessions on passages.kind = 'session' and sessions.id = passages.source"""
_HAS_TEXT = " or ".join([f"{name} <> ''" for name in (*_ASKED, *_PROSE)] + [f"{name} <> '[]'" for name in _LISTED])


def put_turn(db: sqlite3.Connection, turn: str, session: str, project: str, at: datetime, *texts: str) -> None:
    """Index the texts of a turn, or remove its passage if all texts are empty."""
    if any(texts):
        _put(db, "turn", turn, session, project, at)
    else:
        remove_turns(db, [turn])


def put_session(db: sqlite3.Connection, session: Session) -> None:
    """Index the summary of a session, or remove its passage if the summary is empty."""
    if any(getattr(session.summary, name) for name in (*_ASKED, *_PROSE, *_LISTED)):
        _put(db, "session", session.id, session.id, session.project, session.last_event_at)
    else:
        _remove(db, "kind = 'session' and source = :source", session.id)


def remove_turns(db: sqlite3.Connection, turns: Sequence[str]) -> None:
    for turn in turns:
        _remove(db, "kind = 'turn' and source = :source", turn)


def remove_of_session(db: sqlite3.Connection, session: str) -> None:
    """Remove the passages of a session: its turns and its summary."""
    _remove(db, "session = :source", session)


def add_missing(db: sqlite3.Connection, limit: int) -> int:
    """Add missing passages for turns and sessions with text, and return their number."""
    rows = db.execute(
        f"""select 'turn' as kind, prompts.turn as source, prompts.session as session, prompts.created_at as at,
               coalesce(sessions.project, '') as project
           from prompts left join sessions on sessions.id = prompts.session
           where (prompts.text <> '' or prompts.reply <> '' or prompts.log <> '')
             and not exists (select 1 from passages where kind = 'turn' and source = prompts.turn)
           union all
           select 'session', id, id, last_event_at, project from sessions
           where ({_HAS_TEXT})
             and not exists (select 1 from passages where kind = 'session' and source = sessions.id)
           limit :limit""",
        {"limit": limit},
    ).fetchall()
    for row in rows:
        _put(db, row["kind"], row["source"], row["session"], row["project"], text_to_time(row["at"]))
    return len(rows)


def is_corrupt(db: sqlite3.Connection) -> bool:
    return ranking.is_corrupt(db, _INDEX)


def repair(db: sqlite3.Connection) -> None:
    """Repair the index, remove passages without a source or text, move passages to the project of their session, and
    remove words without a passage. Vectors are not changed."""
    ranking.repair(db, _INDEX)
    db.execute(
        f"""delete from passages where not case kind
              when 'turn' then exists (
                select 1 from prompts
                where turn = passages.source and (text <> '' or reply <> '' or log <> ''))
              else exists (select 1 from sessions where id = passages.source and ({_HAS_TEXT})) end"""
    )
    db.execute(
        """update passages set project = sessions.project from sessions
           where sessions.id = passages.session and sessions.project <> passages.project"""
    )
    ranking.remove_orphans(db, _INDEX, "passages")


def scrub(db: sqlite3.Connection) -> None:
    """Rewrite the index, so that the words of removed passages leave the file."""
    ranking.scrub(db, _INDEX)


def search(
    db: sqlite3.Connection,
    words: Sequence[str],
    filters: Filters,
    limit: int,
    limits: ScoringLimits = SCORING_LIMITS,
) -> list[tuple[int, float]]:
    """Return row numbers with scores, best first, of passages that have any of the words and match the filters."""
    if not filters.admits_passages():
        return []

    def fits(seqs: Sequence[int]) -> set[int]:
        return filter_tokens.matching_passages(db, filters, seqs)

    index = replace(_INDEX, limits=limits)
    return ranking.best_rows(db, index, words, filter_tokens.for_passages(filters), fits, limit)


def highest(db: sqlite3.Connection) -> int:
    """Return the highest row number: about the number of passages."""
    return ranking.highest_row(db, _INDEX)


def count_with(db: sqlite3.Connection, word: str, most: int) -> int:
    """Return the number of passages that have a word, counted up to `most`."""
    return ranking.count(db, _INDEX, ranking.phrase(word), most)


def with_two_of(db: sqlite3.Connection, words: Sequence[str], limit: int) -> list[tuple[str, str]]:
    """Return the turns and sessions, by kind and name, with at least two of these words, the newest first."""
    phrases = [ranking.phrase(word) for word in words]
    pairs = [f"({word} AND ({' OR '.join(phrases[at:])}))" for at, word in enumerate(phrases[:-1], 1)]
    rows = db.execute(
        """select kind, source from passages where seq in (
             select rowid from passages_fts where passages_fts match :match order by rowid desc limit :limit)""",
        {"match": " OR ".join(pairs), "limit": limit},
    )
    return [(row["kind"], row["source"]) for row in rows]


def stating(
    db: sqlite3.Connection,
    words: Sequence[str],
    names: Sequence[str],
    project: str,
    limit: int,
    *,
    session: str = "",
) -> list[Passage]:
    """Return the turns of a project, or of one of its sessions, that have all words and one of these names, newest
    first."""
    rows = db.execute(
        f"""{_SOURCES} where passages.seq in (select rowid from passages_fts where passages_fts match :match)
              and passages.kind = 'turn' and passages.project = :project
              and (:session = '' or passages.session = :session)
            order by passages.created_at desc, passages.seq desc limit :limit""",
        {
            "match": ranking.all_with_one_of(words, names),
            "project": project,
            "session": session,
            "limit": limit,
        },
    )
    return [_from_row(row) for row in rows]


def source_of_turn(db: sqlite3.Connection, id_: str) -> str:
    """Return the key of the turn of a passage; '' if the passage is no turn."""
    row = db.execute("select source from passages where id = ? and kind = 'turn'", (id_,)).fetchone()
    return str(row["source"]) if row else ""


def by_seq(db: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Passage]:
    """Return passages by row number, as used in the index."""
    rows = db.execute(
        f"{_SOURCES} where passages.seq in (select value from json_each(:seqs))", {"seqs": json.dumps(list(seqs))}
    )
    return {row["seq"]: _from_row(row) for row in rows}


def find(db: sqlite3.Connection, id_: str) -> Passage | None:
    row = db.execute(f"{_SOURCES} where passages.id = ?", (id_,)).fetchone()
    return _from_row(row) if row else None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Passage:
    """Return a turn by id or id prefix; a session by the complete id that search once showed for its summary."""
    nobody = NotFound(f"there is no passage {id_or_prefix}", "`claude-mem-lite search` shows the ids")
    condition = "(passages.kind = 'turn' or passages.id = :id)"
    return _from_row(row_by_prefix(db, _SOURCES, "passages", id_or_prefix, nobody, condition=condition))


def index_words(db: sqlite3.Connection, seq: int, passage: Passage) -> None:
    """Index the words of a passage, replacing former words."""
    db.execute("delete from passages_fts where rowid = ?", (seq,))
    db.execute(
        "insert into passages_fts (rowid, asked, answered, marks) values (:seq, :asked, :answered, :marks)",
        {
            "seq": seq,
            "asked": index_text(passage.asked),
            "answered": index_text(_lines(passage.answered, passage.log)),
            "marks": filter_tokens.of_passage(passage.project, passage.created_at),
        },
    )


def update_filter_tokens(db: sqlite3.Connection, seq: int, passage: Passage) -> None:
    """Update the filter tokens of a passage that moved to another project; its words stay unchanged."""
    values = {"marks": filter_tokens.of_passage(passage.project, passage.created_at), "seq": seq}
    db.execute("update passages_fts set marks = :marks where rowid = :seq", values)


def _put(
    db: sqlite3.Connection, kind: PassageKind, source: str, session: str, project: str, created_at: datetime
) -> None:
    row = db.execute(
        """insert into passages (id, kind, source, session, project, created_at)
           values (:id, :kind, :source, :session, :project, :at)
           on conflict (kind, source) do update set project = :project, created_at = :at returning seq""",
        {
            "id": short_id(kind, source),
            "kind": kind,
            "source": source,
            "session": session,
            "project": project,
            "at": time_to_text(created_at),
        },
    ).fetchone()
    index_words(db, row["seq"], by_seq(db, [row["seq"]])[row["seq"]])
    index_queue.note(db, vectors.of_passage(row["seq"]))


def _remove(db: sqlite3.Connection, condition: str, source: str) -> None:
    rows = db.execute(f"delete from passages where {condition} returning seq", {"source": source}).fetchall()
    for row in rows:
        db.execute("delete from passages_fts where rowid = ?", (row["seq"],))
        index_queue.drop(db, vectors.of_passage(row["seq"]))


def _text(row: sqlite3.Row) -> tuple[str, str]:
    if row["kind"] == "turn":
        return _lines(row["asked"], row["tasks"]), row["answered"] or ""
    return _lines(row["headline"], row["request"]), _session_text(row)


def _session_text(row: sqlite3.Row) -> str:
    listed = (item for name in _LISTED for item in json.loads(row[name] or "[]"))
    return _lines(*(row[name] for name in _PROSE), *listed)


def _lines(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


def _from_row(row: sqlite3.Row) -> Passage:
    asked, answered = _text(row)
    return Passage(
        # The summary of a session has no id of its own: a session is shown under a single id.
        id=row["session"] if row["kind"] == "session" else row["id"],
        kind=row["kind"],
        title=_title(asked) or _title(answered),
        text=_lines(row["request"], answered) if row["kind"] == "session" else _lines(answered, row["log"]),
        session=row["session"],
        project=row["project"],
        created_at=text_to_time(row["created_at"]),
        asked=asked,
        answered=answered,
        log=row["log"] or "",
    )


def _title(text: str) -> str:
    """Return the first line with text, cut to fit."""
    return within(next((line for line in map(one_line, text.splitlines()) if line), ""), MAX_TITLE_LENGTH)
