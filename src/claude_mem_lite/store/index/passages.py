"""The tables `passages` and `passages_fts`: turns and session summaries as raw text that can be found.

Derived of `prompts` and `sessions`, whose words they follow; the text itself stays there."""

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import MAX_TITLE_LENGTH, Filters, Passage, PassageKind, Session
from claude_mem_lite.store.ids import one_by_prefix, short_id
from claude_mem_lite.store.index import filter_tokens, index_queue, ranking, vectors
from claude_mem_lite.text import index_text, one_line, within
from claude_mem_lite.timestamps import text_to_time, time_to_text

# With as many rows as memories have, search at 100,000 took a fifth longer, and 95 % of the hits were the same.
_INDEX = ranking.WordIndex("passages_fts", "1.0, 1.0, 0.0", share=0.5)
_ASKED = ("headline", "request")
_TOLD = ("completed", "learned", "investigated", "notes")
_LISTED = ("key_decisions", "next_steps", "files_edited", "files_read")
# What is asked and answered in a passage's source, by kind; a session is asked by its headline and its request.
_SOURCES = f"""
    select passages.*, prompts.text as asked, prompts.reply as answered, prompts.tasks as tasks,
        prompts.log as log,
        {", ".join(f"sessions.{name}" for name in (*_ASKED, *_TOLD, *_LISTED))}
    from passages
    left join prompts on passages.kind = 'turn' and prompts.turn = passages.source
    left join sessions on passages.kind = 'session' and sessions.id = passages.source"""
_TELLS = " or ".join([f"{name} <> ''" for name in (*_ASKED, *_TOLD)] + [f"{name} <> '[]'" for name in _LISTED])


def put_turn(db: sqlite3.Connection, turn: str, session: str, project: str, at: datetime, *texts: str) -> None:
    """Make the texts of a turn findable, or no longer when nothing is left of them."""
    if any(texts):
        _put(db, "turn", turn, session, project, at)
    else:
        remove_turns(db, [turn])


def put_session(db: sqlite3.Connection, session: Session) -> None:
    """Make the summary of a session findable as it is told now, or no longer when it tells nothing."""
    if any(getattr(session.summary, name) for name in (*_ASKED, *_TOLD, *_LISTED)):
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
    """Make passages of turns and sessions that have text and none; returns how many were added."""
    rows = db.execute(
        f"""select 'turn' as kind, prompts.turn as source, prompts.session as session, prompts.created_at as at,
               coalesce(sessions.project, '') as project
           from prompts left join sessions on sessions.id = prompts.session
           where (prompts.text <> '' or prompts.reply <> '' or prompts.log <> '')
             and not exists (select 1 from passages where kind = 'turn' and source = prompts.turn)
           union all
           select 'session', id, id, last_event_at, project from sessions
           where ({_TELLS})
             and not exists (select 1 from passages where kind = 'session' and source = sessions.id)
           limit :limit""",
        {"limit": limit},
    ).fetchall()
    for row in rows:
        _put(db, row["kind"], row["source"], row["session"], row["project"], text_to_time(row["at"]))
    return len(rows)


def is_damaged(db: sqlite3.Connection) -> bool:
    return ranking.is_damaged(db, _INDEX)


def mend(db: sqlite3.Connection) -> None:
    """Remove passages whose source is gone or tells nothing, and words without a passage; a passage is of the project
    that its session is of now. A damaged index is mended first. Their vectors are left to others."""
    ranking.mend(db, _INDEX)
    db.execute(
        f"""delete from passages where not case kind
              when 'turn' then exists (
                select 1 from prompts
                where turn = passages.source and (text <> '' or reply <> '' or log <> ''))
              else exists (select 1 from sessions where id = passages.source and ({_TELLS})) end"""
    )
    db.execute(
        """update passages set project = sessions.project from sessions
           where sessions.id = passages.session and sessions.project <> passages.project"""
    )
    ranking.remove_orphans(db, _INDEX, "passages")


def scrub(db: sqlite3.Connection) -> None:
    """Have the words of removed passages leave the file."""
    ranking.scrub(db, _INDEX)


def search(db: sqlite3.Connection, words: Sequence[str], filters: Filters, limit: int) -> list[tuple[int, float]]:
    """Row numbers with their score, best first, of passages that have any of the words and are what is asked."""
    if not filters.admits_passages():
        return []

    def fits(seqs: Sequence[int]) -> set[int]:
        return filter_tokens.matching_passages(db, filters, seqs)

    return ranking.best_rows(db, _INDEX, words, filter_tokens.for_passages(filters), fits, limit)


def highest(db: sqlite3.Connection) -> int:
    """The highest row number: about how many passages there are."""
    return ranking.highest_row(db, _INDEX)


def count_with(db: sqlite3.Connection, word: str, most: int) -> int:
    """How many passages have a word, counted as far as matters."""
    return ranking.count(db, _INDEX, ranking.phrase(word), most)


def with_two_of(db: sqlite3.Connection, words: Sequence[str], limit: int) -> list[tuple[str, str]]:
    """The turns and sessions, by kind and name, whose text has at least two of these words, the newest first."""
    asked = [ranking.phrase(word) for word in words]
    pairs = [f"({word} AND ({' OR '.join(asked[at:])}))" for at, word in enumerate(asked[:-1], 1)]
    rows = db.execute(
        """select kind, source from passages where seq in (
             select rowid from passages_fts where passages_fts match :match order by rowid desc limit :limit)""",
        {"match": " OR ".join(pairs), "limit": limit},
    )
    return [(row["kind"], row["source"]) for row in rows]


def source_of_turn(db: sqlite3.Connection, id_: str) -> str:
    """The key of the turn that a passage tells; '' when it tells none."""
    row = db.execute("select source from passages where id = ? and kind = 'turn'", (id_,)).fetchone()
    return str(row["source"]) if row else ""


def by_seq(db: sqlite3.Connection, seqs: Sequence[int]) -> dict[int, Passage]:
    """Passages by their row number, as the index names them."""
    rows = db.execute(
        f"{_SOURCES} where passages.seq in (select value from json_each(:seqs))", {"seqs": json.dumps(list(seqs))}
    )
    return {row["seq"]: _from_row(row) for row in rows}


def find(db: sqlite3.Connection, id_: str) -> Passage | None:
    row = db.execute(f"{_SOURCES} where passages.id = ?", (id_,)).fetchone()
    return _from_row(row) if row else None


def get(db: sqlite3.Connection, id_or_prefix: str) -> Passage:
    """A turn by its id or the beginning of it; a session by the whole id that search once showed for its summary."""
    nobody = NotFound(f"there is no passage {id_or_prefix}", "`claude-mem-lite search` shows the ids")
    known = "(passages.kind = 'turn' or passages.id = :id)"
    return _from_row(one_by_prefix(db, _SOURCES, "passages", id_or_prefix, nobody, condition=known))


def index_words(db: sqlite3.Connection, seq: int, passage: Passage) -> None:
    """Write the words of a passage in the place of any it had."""
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


def mark_again(db: sqlite3.Connection, seq: int, passage: Passage) -> None:
    """Write the marks of a passage that belongs to another project now; its words stay as they are."""
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
    return _lines(row["headline"], row["request"]), _told(row)


def _told(row: sqlite3.Row) -> str:
    listed = (item for name in _LISTED for item in json.loads(row[name] or "[]"))
    return _lines(*(row[name] for name in _TOLD), *listed)


def _lines(*parts: str | None) -> str:
    return "\n".join(part for part in parts if part)


def _from_row(row: sqlite3.Row) -> Passage:
    asked, answered = _text(row)
    return Passage(
        # The summary of a session has no id of its own: a session has one id, wherever it is shown.
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
    """The first line that says something, cut to fit."""
    return within(next((line for line in map(one_line, text.splitlines()) if line), ""), MAX_TITLE_LENGTH)
