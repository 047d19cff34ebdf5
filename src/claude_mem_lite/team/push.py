"""Writes of a device to the server: entries with their logs and heads, each batch in one transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import field

import psycopg

from claude_mem_lite.team.connection import TimedConnection, failure, is_about_content, transaction
from claude_mem_lite.team.entry import VERSION, Entry, hash_of
from claude_mem_lite.team.reasons import Reason, TeamError
from claude_mem_lite.values import frozen

MAX_WORDS_LENGTH = 100_000


@frozen
class OutgoingEntry:
    """Entry with what only the search of the server needs. A sealed team sends neither words nor vectors."""

    entry: Entry
    words: str = field(default="", repr=False)
    vector: Sequence[float] | None = field(default=None, repr=False)


@frozen
class RejectedEntry:
    """Entry that the server refused, with the reason."""

    entry: Entry
    reason: Reason
    detail: str


@frozen
class PushResult:
    """Result of a push: every entry is in one of both."""

    sent: tuple[Entry, ...] = ()
    rejected: tuple[RejectedEntry, ...] = ()


def push(
    connection: TimedConnection,
    entries: Sequence[OutgoingEntry],
    device: str,
    token: str,
    next_token: str,
    *,
    has_vectors: bool,
) -> PushResult:
    """Send entries of the device's own log; see `Server.push`."""
    foreign = tuple(
        RejectedEntry(outgoing.entry, "rejected", "entry of another device")
        for outgoing in entries
        if outgoing.entry.device != device
    )
    own = [outgoing for outgoing in entries if outgoing.entry.device == device]
    try:
        with transaction(connection):
            _exchange_token(connection, device, token, next_token)
            _write(connection, own, has_vectors)
    except TeamError as error:
        if error.code not in ("rejected", "no_grant"):
            raise
        result = _push_one_by_one(connection, own, device, token, next_token, has_vectors)
        return PushResult(result.sent, result.rejected + foreign)
    return PushResult(tuple(outgoing.entry for outgoing in own), foreign)


def remove_entries(connection: TimedConnection, device: str, *, has_vectors: bool) -> int:
    """Delete whatever a device of this member sent: a delete entry for each live memory. See `Server.remove_device`."""
    with transaction(connection):
        # A push with the old token must fail.
        retired = connection.execute(
            """
            update claude_mem_lite.devices set synchronised_at = now(), token = gen_random_uuid()::text
            where id = %(device)s
            """,
            {"device": device},
        )
        if not retired.rowcount:
            return 0
        rows = connection.execute(_REMOVE, {"device": device, "hash": hash_of(None), "version": VERSION}).fetchall()
        deletes = [
            OutgoingEntry(Entry(key, device, seq, uid, rev, "delete", None, hash_of(None), author, at))
            for key, seq, uid, rev, author, at in rows
        ]
        if deletes:
            _write_derived(connection, deletes, has_vectors)
    return len(deletes)


def _push_one_by_one(
    connection: TimedConnection,
    entries: Iterable[OutgoingEntry],
    device: str,
    token: str,
    next_token: str,
    has_vectors: bool,
) -> PushResult:
    sent: list[Entry] = []
    rejected: list[RejectedEntry] = []
    with transaction(connection):
        _exchange_token(connection, device, token, next_token)
        for outgoing in entries:
            try:
                with connection.transaction():
                    _write(connection, [outgoing], has_vectors)
            except (psycopg.Error, UnicodeEncodeError) as error:
                if not is_about_content(error):
                    raise
                reason = failure(error)
                rejected.append(RejectedEntry(outgoing.entry, reason.code, reason.message))
            else:
                sent.append(outgoing.entry)
    return PushResult(tuple(sent), tuple(rejected))


def _exchange_token(connection: TimedConnection, device: str, token: str, next_token: str) -> None:
    """Replace the token of the device. The row stays locked, so two homes with one id cannot write at once."""
    exchanged = connection.execute(
        """
        update claude_mem_lite.devices set token = %(next)s, synchronised_at = now()
        where id = %(device)s and token in (%(token)s, %(next)s)
        """,
        {"device": device, "token": token, "next": next_token},
    )
    if not exchanged.rowcount:
        raise TeamError("cloned")


def _write(connection: TimedConnection, entries: Sequence[OutgoingEntry], has_vectors: bool) -> None:
    if not entries:
        return
    columns = _columns([outgoing.entry for outgoing in entries])
    inserted = connection.execute(_INSERT_ENTRIES, columns)
    if inserted.rowcount < len(entries) and connection.execute(_OTHER_ENTRY, columns).fetchone():
        raise TeamError("cloned")
    _write_derived(connection, entries, has_vectors)


def _write_derived(connection: TimedConnection, entries: Sequence[OutgoingEntry], has_vectors: bool) -> None:
    """Write logs and heads of entries, and remove the bodies of deleted memories."""
    last: dict[tuple[str, str], int] = {}
    newest: dict[tuple[str, str], OutgoingEntry] = {}
    for outgoing in entries:
        entry = outgoing.entry
        last[entry.project, entry.device] = max(entry.seq, last.get((entry.project, entry.device), 0))
        known = newest.setdefault((entry.project, entry.uid), outgoing)
        if entry.order() > known.entry.order():
            newest[entry.project, entry.uid] = outgoing
    heads = [newest[key] for key in sorted(newest)]  # sorted, so that two devices do not lock rows crosswise
    columns = _columns([outgoing.entry for outgoing in heads]) | {
        "words": [outgoing.words[:MAX_WORDS_LENGTH] or None for outgoing in heads],
        "vectors": [_vector(outgoing.vector) for outgoing in heads],
    }
    connection.execute(_UPSERT_HEADS_WITH_VECTORS if has_vectors else _UPSERT_HEADS, columns)
    connection.execute(_ERASE, columns)
    connection.execute(
        _UPSERT_LOGS,
        {
            "projects": [project for project, _ in last],
            "devices": [device for _, device in last],
            "seqs": list(last.values()),
        },
    )


def _columns(entries: Sequence[Entry]) -> dict[str, list[object]]:
    return {
        "projects": [entry.project for entry in entries],
        "devices": [entry.device for entry in entries],
        "seqs": [entry.seq for entry in entries],
        "uids": [entry.uid for entry in entries],
        "revs": [entry.rev for entry in entries],
        "ops": [entry.op for entry in entries],
        "bodies": [entry.body for entry in entries],
        "hashes": [entry.hash for entry in entries],
        "authors": [entry.author for entry in entries],
        "times": [entry.at for entry in entries],
        "versions": [entry.version for entry in entries],
    }


def _vector(numbers: Sequence[float] | None) -> str | None:
    return None if numbers is None else "{" + ",".join(map(repr, map(float, numbers))) + "}"


_INSERT_ENTRIES = """
insert into claude_mem_lite.entries (project, device, seq, uid, rev, op, body, hash, author, at, version)
select * from unnest(
    %(projects)s::text[], %(devices)s::text[], %(seqs)s::bigint[], %(uids)s::text[], %(revs)s::bigint[],
    %(ops)s::text[], %(bodies)s::text[], %(hashes)s::text[], %(authors)s::text[], %(times)s::timestamptz[],
    %(versions)s::integer[])
on conflict (project, device, seq) do nothing
"""
_OTHER_ENTRY = """
select 1 from claude_mem_lite.entries e
join unnest(%(projects)s::text[], %(devices)s::text[], %(seqs)s::bigint[], %(hashes)s::text[], %(uids)s::text[],
    %(revs)s::bigint[]) as sent (project, device, seq, hash, uid, rev) using (project, device, seq)
where (e.hash, e.uid, e.rev) is distinct from (sent.hash, sent.uid, sent.rev) limit 1
"""
_UPSERT_HEADS = """
insert into claude_mem_lite.heads as head (project, uid, rev, device, seq, op, author, words)
select project, uid, rev, device, seq, op, author, to_tsvector('pg_catalog.simple', words)
from unnest(
    %(projects)s::text[], %(uids)s::text[], %(revs)s::bigint[], %(devices)s::text[], %(seqs)s::bigint[],
    %(ops)s::text[], %(authors)s::text[], %(words)s::text[]) as sent (project, uid, rev, device, seq, op, author, words)
on conflict (project, uid) do update set rev = excluded.rev, device = excluded.device, seq = excluded.seq,
    op = excluded.op, words = excluded.words
where (excluded.rev, excluded.device) > (head.rev, head.device)
"""
_UPSERT_HEADS_WITH_VECTORS = """
insert into claude_mem_lite.heads as head (project, uid, rev, device, seq, op, author, words, embedding)
select project, uid, rev, device, seq, op, author, to_tsvector('pg_catalog.simple', words), vector::real[]
from unnest(
    %(projects)s::text[], %(uids)s::text[], %(revs)s::bigint[], %(devices)s::text[], %(seqs)s::bigint[],
    %(ops)s::text[], %(authors)s::text[], %(words)s::text[], %(vectors)s::text[])
    as sent (project, uid, rev, device, seq, op, author, words, vector)
on conflict (project, uid) do update set rev = excluded.rev, device = excluded.device, seq = excluded.seq,
    op = excluded.op, words = excluded.words, embedding = excluded.embedding
where (excluded.rev, excluded.device) > (head.rev, head.device)
"""
# Also a body that arrives after the deletion of its memory.
_ERASE = """
update claude_mem_lite.entries e set body = null
from unnest(%(projects)s::text[], %(uids)s::text[]) as sent (project, uid)
where e.project = sent.project and e.uid = sent.uid and e.body is not null and exists (
    select 1 from claude_mem_lite.entries d
    where d.project = sent.project and d.uid = sent.uid and d.op = 'delete' and (d.rev, d.device) >= (e.rev, e.device))
"""
_UPSERT_LOGS = """
insert into claude_mem_lite.logs as log (project, device, last_seq)
select * from unnest(%(projects)s::text[], %(devices)s::text[], %(seqs)s::bigint[])
on conflict (project, device) do update set last_seq = greatest(log.last_seq, excluded.last_seq)
"""
_REMOVE = """
with live as (
    select h.project, h.uid, least(h.rev, 9223372036854775806) + 1 as rev, h.author,
        l.last_seq + row_number() over (partition by h.project order by h.uid) as seq
    from claude_mem_lite.heads h join claude_mem_lite.logs l on l.project = h.project and l.device = %(device)s
    where h.op = 'put' and exists (
        select 1 from claude_mem_lite.entries e
        where e.project = h.project and e.uid = h.uid and e.device = %(device)s)
)
insert into claude_mem_lite.entries (project, device, seq, uid, rev, op, hash, author, at, version)
select project, %(device)s, seq, uid, rev, 'delete', %(hash)s, author, now(), %(version)s from live
returning project, seq, uid, rev, author, at
"""
