"""The tables `receipts` and `receipt_items`: what was given to which session, if it arrived, and what came of it."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from datetime import datetime

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import MAX_TITLE_LENGTH, NEED_MOMENTS, RAW, Outcome, Receipt, ReceiptItem, Tally
from claude_mem_lite.store.ids import MIN_PREFIX_LENGTH, ambiguous, beginning_with, short_id
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.timestamps import text_to_time, time_to_text

_ITEM = tuple(field.name for field in fields(ReceiptItem))
_BY_OUTCOME = """count(distinct case when outcome = 'used' then receipts.session end) as used,
    count(distinct case when outcome <> 'ignored' then receipts.session end) as not_ignored,
    count(distinct receipts.session) as given"""
# Of each project and moment: enough to judge a source by, and read within 2 ms on every prompt.


@dataclass(frozen=True, slots=True)
class Giving:
    """One item that reached a session, and when it could begin to be of use."""

    receipt: str
    moment: str
    at: datetime
    source: str


def add(db: sqlite3.Connection, receipt: Receipt) -> None:
    """Record an answer that was made; it counts as given only once the hook has printed it.

    What was given already stays recorded as it was."""
    drop_unprinted = "delete from receipts where spool_name = ? and given_at is null"
    if db.execute(drop_unprinted, (receipt.spool_name,)).rowcount:
        db.execute("delete from receipt_items where receipt = ?", (receipt.spool_name,))
    is_new = db.execute(
        """insert or ignore into receipts (spool_name, session, project, moment, layers,
               layers_skipped, tokens, budget, build_ms, created_at, given_at)
           values (:spool_name, :session, :project, :moment, :layers,
               :layers_skipped, :tokens, :budget, :build_ms, :created_at, :given_at)""",
        {
            "spool_name": receipt.spool_name,
            "session": receipt.session,
            "project": receipt.project,
            "moment": receipt.moment,
            "layers": json.dumps(receipt.layers),
            "layers_skipped": json.dumps(receipt.layers_skipped),
            "tokens": receipt.tokens,
            "budget": receipt.budget,
            "build_ms": receipt.build_ms,
            "created_at": time_to_text(receipt.created_at),
            "given_at": time_to_text(receipt.given_at) if receipt.given_at else None,
        },
    ).rowcount
    if is_new:
        db.executemany(
            """insert into receipt_items (receipt, position, source, layer, reason, tokens, score, outcome)
               values (:receipt, :position, :source, :layer, :reason, :tokens, :score, :outcome)""",
            [
                {"receipt": receipt.spool_name, "position": position, **asdict(item)}
                for position, item in enumerate(receipt.items)
            ],
        )


def mark_given(db: sqlite3.Connection, spool_name: str, now: datetime) -> None:
    """The hook printed the answer to this event."""
    db.execute(
        "update receipts set given_at = :now where spool_name = :name",
        {"now": time_to_text(now), "name": spool_name},
    )


def last_given(db: sqlite3.Connection) -> datetime | None:
    """When context last reached any session."""
    (given,) = db.execute("select max(given_at) from receipts").fetchone()
    return text_to_time(given) if given else None


def is_told_of_file(db: sqlite3.Connection, session: str, reason: str) -> bool:
    """Whether a session was given something for this reason when it opened a file, and still remembers it."""
    found = db.execute(
        """select 1 from receipts join receipt_items on receipt = spool_name
           where session = :session and moment = 'file' and reason = :reason
             and given_at > coalesce((select compacted_at from sessions where id = :session), '') limit 1""",
        {"session": session, "reason": reason},
    )
    return found.fetchone() is not None


def known_until(db: sqlite3.Connection, session: str) -> datetime | None:
    """The moment whose state a session was last told and still remembers; None when it remembers nothing.

    A few memories for a prompt are no news of all else."""
    (built,) = db.execute(
        """select max(created_at) from receipts where session = :session
             and moment not in (select value from json_each(:at_need))
             and given_at > coalesce((select compacted_at from sessions where id = :session), '')""",
        {"session": session, "at_need": json.dumps(NEED_MOMENTS)},
    ).fetchone()
    return text_to_time(built) if built else None


def tallies(db: sqlite3.Connection, sources: Sequence[str]) -> dict[str, Tally]:
    """Count the sessions that used or ignored each of these memories and sessions; only what has any.

    A session counts once for each, by its best outcome: an item given again after a compaction is no second vote."""
    rows = db.execute(
        f"""select source, {_BY_OUTCOME} from receipt_items join receipts on spool_name = receipt
           where source in (select value from json_each(:sources)) and outcome is not null group by source""",
        {"sources": json.dumps(list(sources))},
    )
    return {row["source"]: _tally(row) for row in rows}


def standing_tallies(db: sqlite3.Connection, sources: Sequence[str], *, at_need: bool) -> dict[str, Tally]:
    """By what these memories and sessions rise and sink: at the start of sessions, or at moments of need.

    The two do not count for each other: what a start tells in vain may be just right for a prompt. Who ignored
    something before it was last seen, confirmed or edited is not counted, so that it can come back from silence."""
    need = "in" if at_need else "not in"
    # How often a fix worked says nothing about a prompt.
    moments = [moment for moment in NEED_MOMENTS if moment != "failure" or not at_need]
    rows = db.execute(
        f"""select item.source, {_BY_OUTCOME} from receipt_items as item join receipts on spool_name = receipt
              left join memories on memories.id = item.source left join sessions on sessions.id = item.source
            where item.source in (select value from json_each(:sources)) and outcome is not null
              and moment {need} (select value from json_each(:moments))
              and (outcome <> 'ignored' or receipts.created_at >= coalesce(last_seen_at, last_event_at, ''))
            group by item.source""",
        {"sources": json.dumps(list(sources)), "moments": json.dumps(moments)},
    )
    return {row["source"]: _tally(row) for row in rows}


def judged_for_failures(db: sqlite3.Connection, sources: Sequence[str]) -> list[tuple[str, str, Outcome, datetime]]:
    """What came of giving these memories for failing commands: the memory, the session, the outcome and when."""
    rows = db.execute(
        """select source, session, outcome, created_at from receipt_items join receipts on spool_name = receipt
           where source in (select value from json_each(:sources)) and moment = 'failure' and outcome is not null
             and given_at is not null
           order by created_at, spool_name""",
        {"sources": json.dumps(list(sources))},
    )
    return [(row["source"], row["session"], row["outcome"], text_to_time(row["created_at"])) for row in rows]


def newest(
    db: sqlite3.Connection, *, project: str | None = None, session: str | None = None, limit: int
) -> list[Receipt]:
    """The last injections, newest first: all, or those to a project's sessions, or to one session."""
    rows = db.execute(
        """select * from receipts where (:project is null or project = :project)
             and (:session is null or session = :session)
           order by created_at desc, spool_name desc limit :limit""",
        {"project": project, "session": session, "limit": limit},
    ).fetchall()
    return _with_items(db, rows)


def session_named(db: sqlite3.Connection, given: str) -> str | None:
    """The session that receipts know by its id or the beginning of it, whether or not anything else does."""
    found = beginning_with(db, "receipts", "session", given)
    if given in found or len(found) == 1:
        return given if given in found else found[0]
    if found and len(given) >= MIN_PREFIX_LENGTH:
        raise ambiguous(given, found)
    return None


def id_of(receipt: Receipt) -> str:
    """What a person calls a receipt: its own name is far too long to type."""
    return id_of_name(receipt.spool_name)


def get(db: sqlite3.Connection, id_or_prefix: str) -> Receipt:
    """One receipt by its id or the beginning of it, or by the name of the event that was answered."""
    wanted = id_or_prefix.strip().lstrip("#").lower()
    if len(wanted) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{id_or_prefix!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    # Ids are made here, not stored: a few thousand receipts are there at most, and seldom asked for.
    names = [row["spool_name"] for row in db.execute("select spool_name from receipts")]
    found = [name for name in names if name.lower() == wanted or id_of_name(name).startswith(wanted)]
    if not found:
        raise NotFound(f"there is no receipt {id_or_prefix}", "`claude-mem-lite receipts --all-projects` shows the ids")
    if len(found) > 1:
        raise ambiguous(id_or_prefix, sorted(map(id_of_name, found)))
    (receipt,) = _with_items(db, db.execute("select * from receipts where spool_name = ?", found).fetchall())
    return receipt


def given_to(db: sqlite3.Connection, session: str) -> list[Giving]:
    """What reached a session, in order, without what is known to be used."""
    rows = db.execute(
        """select distinct spool_name, moment, created_at, source from receipts join receipt_items
             on receipt = spool_name
           where session = :session and given_at is not null and outcome is not 'used'
           order by created_at, spool_name, source""",
        {"session": session},
    )
    return [Giving(row["spool_name"], row["moment"], text_to_time(row["created_at"]), row["source"]) for row in rows]


def mark(db: sqlite3.Connection, outcomes: Mapping[Giving, Outcome]) -> None:
    """Record the outcomes of a session. A used item stays used and an unknown one is never ignored later: the evidence
    may be gone when the session is judged again."""
    db.executemany(
        """update receipt_items set outcome = :outcome where source = :source and receipt = :receipt
             and (outcome is null or outcome = 'ignored' or :outcome = 'used')""",
        [
            {"source": giving.source, "receipt": giving.receipt, "outcome": outcome}
            for giving, outcome in outcomes.items()
        ],
    )


def titles(db: sqlite3.Connection, sources: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The kind and the title of each of these memories, sessions and turns, of those that are still there."""
    rows = db.execute(
        f"""select id, kind, title from memories where id in (select value from json_each(:sources))
           union all
           select id, 'session', {TITLE} from sessions
           where id in (select value from json_each(:sources))
           union all
           select passages.id, passages.kind, substr(prompts.text, 1, {MAX_TITLE_LENGTH}) from passages
           join prompts on passages.kind = 'turn' and prompts.turn = passages.source
           where passages.id in (select value from json_each(:sources))""",
        {"sources": json.dumps(list(sources))},
    )
    return {row["id"]: (row["kind"], row["title"]) for row in rows}


def trim(db: sqlite3.Connection, before: datetime) -> int:
    """Drop what was given before a moment, and with it what came of it; returns how many receipts."""
    gone = "select spool_name from receipts where created_at < :before"
    values = {"before": time_to_text(before)}
    db.execute(f"delete from receipt_items where receipt in ({gone})", values)
    return db.execute("delete from receipts where created_at < :before", values).rowcount


def forget(db: sqlite3.Connection, *, sources: Sequence[str], sessions: Sequence[str], project: str | None) -> None:
    """Remove what receipts tell of these memories and sessions, or of raw text that is gone, and the receipts of
    these sessions and of a project."""
    named = {"sources": json.dumps([*sources, *sessions]), "sessions": json.dumps(list(sessions))}
    values = {**named, "project": project, "raw": RAW}
    gone = "session in (select value from json_each(:sessions)) or project = :project"
    db.execute(
        f"""delete from receipt_items where source in (select value from json_each(:sources))
              or (layer = :raw and source not in (select id from passages union select id from sessions))
              or receipt in (select spool_name from receipts where {gone})""",
        values,
    )
    db.execute(f"delete from receipts where {gone}", values)


def id_of_name(spool_name: str) -> str:
    return short_id("receipt", spool_name)


def _tally(row: sqlite3.Row) -> Tally:
    used, not_ignored = row["used"], row["not_ignored"]
    return Tally(used, row["given"] - not_ignored, not_ignored - used)


def _with_items(db: sqlite3.Connection, rows: Sequence[sqlite3.Row]) -> list[Receipt]:
    given: dict[str, list[ReceiptItem]] = {row["spool_name"]: [] for row in rows}
    found = db.execute(
        """select * from receipt_items where receipt in (select value from json_each(:names))
           order by receipt, position""",
        {"names": json.dumps(list(given))},
    )
    for row in found:
        given[row["receipt"]].append(ReceiptItem(**{name: row[name] for name in _ITEM}))
    return [_from_row(row, tuple(given[row["spool_name"]])) for row in rows]


def _from_row(row: sqlite3.Row, items: tuple[ReceiptItem, ...]) -> Receipt:
    return Receipt(
        spool_name=row["spool_name"],
        session=row["session"],
        project=row["project"],
        moment=row["moment"],
        items=items,
        layers=tuple(json.loads(row["layers"])),
        layers_skipped=tuple(json.loads(row["layers_skipped"])),
        tokens=row["tokens"],
        budget=row["budget"],
        build_ms=row["build_ms"],
        created_at=text_to_time(row["created_at"]),
        given_at=text_to_time(row["given_at"]) if row["given_at"] else None,
    )
