"""The tables `receipts` and `receipt_items`: injections into sessions, their delivery and their outcomes."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from datetime import datetime

from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import MAX_TITLE_LENGTH, RAW, WORK_TRIGGERS, Outcome, Receipt, ReceiptItem, Tally
from claude_mem_lite.store.ids import MIN_PREFIX_LENGTH, ambiguous, beginning_with, short_id
from claude_mem_lite.store.sessions import TITLE
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.values import frozen

_PLAIN = ("spool_name", "session", "project", "moment", "tokens", "budget", "build_ms")
_ITEM = tuple(field.name for field in fields(ReceiptItem))
_BY_OUTCOME = """count(distinct case when outcome = 'used' then receipts.session end) as used,
    count(distinct case when outcome <> 'ignored' then receipts.session end) as not_ignored,
    count(distinct receipts.session) as given"""


@frozen
class InjectedItem:
    """Item that reached a session, and the time of delivery."""

    receipt: str
    moment: str
    at: datetime
    source: str


def add(db: sqlite3.Connection, receipt: Receipt) -> None:
    """Record an answer. The answer counts as injected only after the hook has printed it.

    A delivered answer stays recorded unchanged."""
    drop_unprinted = "delete from receipts where spool_name = ? and given_at is null"
    if db.execute(drop_unprinted, (receipt.spool_name,)).rowcount:
        db.execute("delete from receipt_items where receipt = ?", (receipt.spool_name,))
    is_new = db.execute(
        """insert or ignore into receipts (spool_name, session, project, moment, layers,
               layers_skipped, tokens, budget, build_ms, created_at, given_at)
           values (:spool_name, :session, :project, :moment, :layers,
               :layers_skipped, :tokens, :budget, :build_ms, :created_at, :given_at)""",
        {
            **{name: getattr(receipt, name) for name in _PLAIN},
            "layers": json.dumps(receipt.layers),
            "layers_skipped": json.dumps(receipt.layers_skipped),
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


def mark_injected(db: sqlite3.Connection, spool_name: str, now: datetime) -> None:
    """Record that the hook printed the answer to an event."""
    db.execute(
        "update receipts set given_at = :now where spool_name = :name",
        {"now": time_to_text(now), "name": spool_name},
    )


def last_injected_at(db: sqlite3.Connection) -> datetime | None:
    """Return the time of the last injection into any session."""
    (last,) = db.execute("select max(given_at) from receipts").fetchone()
    return text_to_time(last) if last else None


def was_injected_for_file(db: sqlite3.Connection, session: str, reason: str) -> bool:
    """Return True if a session got an injection for this reason at the opening of a file, after the last compaction."""
    rows = db.execute(
        """select 1 from receipts join receipt_items on receipt = spool_name
           where session = :session and moment = 'file' and reason = :reason
             and given_at > coalesce((select compacted_at from sessions where id = :session), '') limit 1""",
        {"session": session, "reason": reason},
    )
    return rows.fetchone() is not None


def known_until(db: sqlite3.Connection, session: str) -> datetime | None:
    """Return the time of the last full context of a session after the last compaction, or None.

    A few memories for a prompt do not count as a full context, nor does what a control session got before its
    experiment ended."""
    (built,) = db.execute(
        """select max(created_at) from receipts where session = :session
             and moment not in (select value from json_each(:at_need))
             and given_at > coalesce((select compacted_at from sessions where id = :session), '')
             and created_at > coalesce(
               (select closed_at from experiment_arms where session = :session and arm = 'control'), '')""",
        {"session": session, "at_need": json.dumps(WORK_TRIGGERS)},
    ).fetchone()
    return text_to_time(built) if built else None


def tallies(db: sqlite3.Connection, sources: Sequence[str]) -> dict[str, Tally]:
    """Return the number of sessions that used or ignored each of these memories and sessions, if any.

    A session counts once for each source, by the best outcome: a second injection after a compaction is no second
    vote."""
    rows = db.execute(
        f"""select source, {_BY_OUTCOME} from receipt_items join receipts on spool_name = receipt
           where source in (select value from json_each(:sources)) and outcome is not null group by source""",
        {"sources": json.dumps(list(sources))},
    )
    return {row["source"]: _tally(row) for row in rows}


def tallies_since_last_seen(db: sqlite3.Connection, sources: Sequence[str], *, at_need: bool) -> dict[str, Tally]:
    """Return the tallies that raise or lower these memories and sessions, at session starts or at triggers of need.

    Starts and needs are counted apart: a memory without use at a start may be right for a prompt. Ignoring sessions
    from before the memory was last seen, confirmed or edited do not count, so that the memory can come back."""
    need = "in" if at_need else "not in"
    # The success of a fix says nothing about a prompt.
    moments = [moment for moment in WORK_TRIGGERS if moment != "failure" or not at_need]
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
    """Return the outcomes of injecting these memories for failing commands: memory, session, outcome and time."""
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
    """Return the last injections, newest first: all, or those of a project, or of a session."""
    rows = db.execute(
        """select * from receipts where (:project is null or project = :project)
             and (:session is null or session = :session)
           order by created_at desc, spool_name desc limit :limit""",
        {"project": project, "session": session, "limit": limit},
    ).fetchall()
    return _with_items(db, rows)


def session_named(db: sqlite3.Connection, id_or_prefix: str) -> str | None:
    """Return the session of any receipt by id or id prefix, even if no other table knows the session."""
    ids = beginning_with(db, "receipts", "session", id_or_prefix)
    if id_or_prefix in ids or len(ids) == 1:
        return id_or_prefix if id_or_prefix in ids else ids[0]
    if ids and len(id_or_prefix) >= MIN_PREFIX_LENGTH:
        raise ambiguous(id_or_prefix, ids)
    return None


def id_of(receipt: Receipt) -> str:
    """Return the short id of a receipt: the spool name is far too long to type."""
    return id_of_name(receipt.spool_name)


def get(db: sqlite3.Connection, id_or_prefix: str) -> Receipt:
    """Return a receipt by id, id prefix, or the name of the answered event."""
    prefix = id_or_prefix.strip().lstrip("#").lower()
    if len(prefix) < MIN_PREFIX_LENGTH:
        raise NotFound(f"{id_or_prefix!r} is too short for an id", f"give {MIN_PREFIX_LENGTH} characters or more of it")
    # Ids are computed, not stored: there are a few thousand receipts at most, and lookups are rare.
    names = [row["spool_name"] for row in db.execute("select spool_name from receipts")]
    matches = [name for name in names if name.lower() == prefix or id_of_name(name).startswith(prefix)]
    if not matches:
        raise NotFound(f"there is no receipt {id_or_prefix}", "`claude-mem-lite receipts --all-projects` shows the ids")
    if len(matches) > 1:
        raise ambiguous(id_or_prefix, sorted(map(id_of_name, matches)))
    (receipt,) = _with_items(db, db.execute("select * from receipts where spool_name = ?", matches).fetchall())
    return receipt


def items_of(db: sqlite3.Connection, session: str) -> list[InjectedItem]:
    """Return the items that reached a session, in order, without items that are known as used."""
    rows = db.execute(
        """select distinct spool_name, moment, created_at, source from receipts join receipt_items
             on receipt = spool_name
           where session = :session and given_at is not null and outcome is not 'used'
           order by created_at, spool_name, source""",
        {"session": session},
    )
    return [
        InjectedItem(row["spool_name"], row["moment"], text_to_time(row["created_at"]), row["source"]) for row in rows
    ]


def mark(db: sqlite3.Connection, outcomes: Mapping[InjectedItem, Outcome]) -> None:
    """Record the outcomes of a session. A used item stays used, and an unknown item never becomes ignored, because
    the evidence may be gone at a later judgement."""
    db.executemany(
        """update receipt_items set outcome = :outcome where source = :source and receipt = :receipt
             and (outcome is null or outcome = 'ignored' or :outcome = 'used')""",
        [{"source": item.source, "receipt": item.receipt, "outcome": outcome} for item, outcome in outcomes.items()],
    )


def titles(db: sqlite3.Connection, sources: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return kind and title of each of these memories, sessions and turns that still exist."""
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
    """Drop receipts from before a time, with their outcomes, and return the number of receipts."""
    gone = "select spool_name from receipts where created_at < :before"
    values = {"before": time_to_text(before)}
    db.execute(f"delete from receipt_items where receipt in ({gone})", values)
    return db.execute("delete from receipts where created_at < :before", values).rowcount


def forget(db: sqlite3.Connection, *, sources: Sequence[str], sessions: Sequence[str], project: str | None) -> None:
    """Remove the receipts of these sessions and of a project, and all items about these memories and sessions, or
    about raw text that is gone."""
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
    items: dict[str, list[ReceiptItem]] = {row["spool_name"]: [] for row in rows}
    rows_of_items = db.execute(
        """select * from receipt_items where receipt in (select value from json_each(:names))
           order by receipt, position""",
        {"names": json.dumps(list(items))},
    )
    for row in rows_of_items:
        items[row["receipt"]].append(ReceiptItem(**{name: row[name] for name in _ITEM}))
    return [_from_row(row, tuple(items[row["spool_name"]])) for row in rows]


def _from_row(row: sqlite3.Row, items: tuple[ReceiptItem, ...]) -> Receipt:
    return Receipt(
        **{name: row[name] for name in _PLAIN},
        items=items,
        layers=tuple(json.loads(row["layers"])),
        layers_skipped=tuple(json.loads(row["layers_skipped"])),
        created_at=text_to_time(row["created_at"]),
        given_at=text_to_time(row["given_at"]) if row["given_at"] else None,
    )
