"""Connection of one member to the team's database. The synchronisation thread and `search --team` use it, nobody else.

Every failure is a TeamError with a reason code."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field
from datetime import UTC, datetime
from types import TracebackType

from psycopg.rows import TupleRow

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.team import push as writes
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.connection import TimedConnection, connect, transaction
from claude_mem_lite.team.entry import VERSION, Entry
from claude_mem_lite.team.push import OutgoingEntry, PushResult, RejectedEntry
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.values import frozen

__all__ = ["Greeting", "OutgoingEntry", "PushResult", "RejectedEntry", "TeamHit", "TeamServer"]
# Python has no time before the year 1, after 9999, or infinite; PostgreSQL has, and a client may send them.
_EARLIEST, _LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(9000, 1, 1, tzinfo=UTC)
_FUSION_RANK = 60
"""Weight of the first ranks when hits of words and of vectors are joined: 1 / (60 + rank), as usual."""
MAX_FETCH_BYTES = 8_000_000
_FETCH = """
select project, device, seq, uid, rev, op, body, hash, author,
    greatest(least(at, %(latest)s), %(earliest)s), version
from (
    select next.*, sum(coalesce(octet_length(body), 0)) over (order by seq rows unbounded preceding exclude current row)
        as bytes_before from (
        select * from claude_mem_lite.entries
        where project = %(project)s and device = %(device)s and seq > %(after)s order by seq limit %(limit)s
    ) next
) sized
where bytes_before is null or bytes_before <= %(bytes)s order by seq
"""


@frozen
class Greeting:
    """State of the team, as the connected member sees it."""

    team: str
    """Id of the team."""
    member: str
    is_sealed: bool
    key_check: bytes | None = field(repr=False)
    has_vectors: bool
    min_version: int
    """Lowest version of the protocol that may write."""
    projects: Mapping[str, str]
    """Names of the granted projects by key; the names are empty in a sealed team."""


@frozen
class TeamHit:
    """Memory that the server found; `body` is the text of its newest entry."""

    project: str
    uid: str
    author: str
    at: datetime
    body: str
    score: float


class TeamServer(AbstractContextManager["TeamServer"]):
    """Open connection of a member."""

    def __init__(self, connection: TimedConnection, *, has_vectors: bool) -> None:
        self._connection = connection
        self._has_vectors = has_vectors

    @classmethod
    def connect(cls, address: Address, deadline: Deadline) -> "TeamServer":
        """Log in. All later calls have to end before the deadline."""
        connection = connect(address, deadline)
        try:
            with transaction(connection):
                names = {name for (name,) in connection.execute("select name from claude_mem_lite.migrations")}
        except TeamError as error:
            connection.close()
            if error.code == "no_grant":  # the schema is there, but not for this role
                raise TeamError("login", "the role is not a member of the team") from None
            raise
        return cls(connection, has_vectors="vectors" in names)

    def close(self) -> None:
        self._connection.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def greeting(self) -> Greeting:
        """Return the state of the team. TeamError `newer_schema`: this version may not take part any more."""
        with transaction(self._connection):
            row = self._connection.execute(
                """
                select t.id, m.name, t.is_sealed, t.key_check, t.min_version
                from claude_mem_lite.team t, claude_mem_lite.members m
                where m.role = current_user and m.revoked_at is null
                """
            ).fetchone()
            projects = self._connection.execute(
                """
                select p.key, p.name from claude_mem_lite.projects p join claude_mem_lite.grants g on g.project = p.key
                where g.role = current_user order by p.key
                """
            ).fetchall()
        if row is None:
            raise TeamError("login", "the role is not a member of the team")
        team, member, is_sealed, key_check, min_version = row
        if min_version > VERSION:
            raise TeamError("newer_schema")
        return Greeting(team, member, is_sealed, key_check, self._has_vectors, min_version, dict(projects))

    def token_of(self, device: str) -> str | None:
        """Return the token of a device of this member; None if the server does not know the device."""
        with transaction(self._connection):
            row = self._connection.execute(
                "select token from claude_mem_lite.devices where id = %(id)s", {"id": device}
            ).fetchone()
        return None if row is None else str(row[0])

    def register_device(self, id: str, token: str) -> None:
        """Make a device known. TeamError `cloned`: the id is in use, with another token or by another member."""
        with transaction(self._connection):
            self._connection.execute(
                """
                insert into claude_mem_lite.devices (id, role, token, synchronised_at)
                values (%(id)s, current_user, %(token)s, now()) on conflict (id) do nothing
                """,
                {"id": id, "token": token},
            )
            own = self._connection.execute(
                "select 1 from claude_mem_lite.devices where id = %(id)s and token = %(token)s",
                {"id": id, "token": token},
            ).fetchone()
        if own is None:
            raise TeamError("cloned")

    def push(self, entries: Sequence[OutgoingEntry], device: str, token: str, next_token: str) -> PushResult:
        """Send entries of the device's own log, in one transaction with the exchange of its token.

        If the content of an entry makes the batch fail, the entries are written one by one, and the bad ones are
        returned as rejected. TeamError `cloned`: the server has neither token, or other entries under these numbers."""
        return writes.push(self._connection, entries, device, token, next_token, has_vectors=self._has_vectors)

    def positions(self) -> Mapping[tuple[str, str], int]:
        """Return the highest `seq` of each log, by project and device."""
        with transaction(self._connection):
            rows = self._connection.execute("select project, device, last_seq from claude_mem_lite.logs").fetchall()
        return {(project, device): last for project, device, last in rows}

    def fetch(self, project: str, device: str, after: int, limit: int) -> list[Entry]:
        """Return the next entries of a log, in order: at most `limit`, and fewer if their bodies are large."""
        with transaction(self._connection):
            rows = self._connection.execute(
                _FETCH,
                {
                    "project": project,
                    "device": device,
                    "after": after,
                    "limit": limit,
                    "bytes": MAX_FETCH_BYTES,
                    "earliest": _EARLIEST,
                    "latest": _LATEST,
                },
            ).fetchall()
        return [_entry(row) for row in rows]

    def search(self, words: str, vector: Sequence[float] | None, limit: int) -> list[TeamHit]:
        """Return the best memories of all granted projects, by their words and, if the server can, by their meaning."""
        with transaction(self._connection):
            lists = [self._found("select * from claude_mem_lite.search_words(%(sought)s, %(limit)s)", words, limit)]
            if vector is not None and self._has_vectors:
                query = "select * from claude_mem_lite.search_vectors(%(sought)s::real[], %(limit)s)"
                lists.append(self._found(query, list(vector), limit))
            scores: dict[tuple[str, str], float] = {}
            for found in lists:
                for rank, key in enumerate(found, 1):
                    scores[key] = scores.get(key, 0.0) + 1 / (_FUSION_RANK + rank)
            best = sorted(scores, key=lambda key: (-scores[key], key))[:limit]
            rows = self._bodies(best)
        hits = [
            TeamHit(project, uid, author, at.astimezone(UTC), body, scores[project, uid])
            for project, uid, author, at, body in rows
        ]
        return sorted(hits, key=lambda hit: (-hit.score, hit.project, hit.uid))

    def remove_device(self, device: str) -> int:
        """Delete everywhere whatever a device of this member sent, and return the number of memories.

        Each live memory gets a delete entry at the end of the device's log, so receivers remove it too, and no body
        stays on the server. The device's token is replaced: a home that goes on under this id has to take a new one."""
        return writes.remove_entries(self._connection, device, has_vectors=self._has_vectors)

    def _found(self, query: str, sought: object, limit: int) -> list[tuple[str, str]]:
        rows = self._connection.execute(query.encode(), {"sought": sought, "limit": 2 * limit}).fetchall()
        return [(project, uid) for project, uid in rows]

    def _bodies(self, keys: Sequence[tuple[str, str]]) -> list[TupleRow]:
        return self._connection.execute(
            """
            select h.project, h.uid, h.author, greatest(least(e.at, %(latest)s), %(earliest)s), e.body
            from unnest(%(projects)s::text[], %(uids)s::text[]) as found (project, uid)
            join claude_mem_lite.heads h on h.project = found.project and h.uid = found.uid
            join claude_mem_lite.entries e on e.project = h.project and e.device = h.device and e.seq = h.seq
            where e.body is not null
            """,
            {
                "projects": [project for project, _ in keys],
                "uids": [uid for _, uid in keys],
                "earliest": _EARLIEST,
                "latest": _LATEST,
            },
        ).fetchall()


def _entry(row: TupleRow) -> Entry:
    project, device, seq, uid, rev, op, body, digest, author, at, version = row
    return Entry(project, device, seq, uid, rev, op, body, digest, author, at.astimezone(UTC), version)
