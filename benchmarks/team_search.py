"""`search --team` on a server with many memories: how long it takes, and how large the database is.

The server is filled by SQL, without a client: 50,000 made-up texts (synthetic.py), each as often as the size needs, in
100 projects, one of them with half of everything. The member who searches may read all of them, the worst case. The
indexes of words and vectors are built after the rows, except at the smallest size. Each query is asked as the worker
does it: log in, greeting, search. The data of the server lie in memory (tmpfs) and it has 1 GB of buffers: what
is told is the work of the processor, not of a disk."""

import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

import psycopg
from psycopg.rows import TupleRow
from tests.support.postgres import Database, PostgresServer

from benchmarks.scale_queries import queries
from benchmarks.synthetic import PROJECTS, Language, project_id
from benchmarks.team_exchange import body_text, decisions
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.embed.embedder import StaticTable
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.body import words_of_body
from claude_mem_lite.team.entry import hash_of, project_key
from claude_mem_lite.team.members import invite
from claude_mem_lite.team.server import TeamServer
from claude_mem_lite.team.sync import vector_of

TEXTS = 50_000
QUERIES, WARMING = 150, 10
LIMIT = 10
_AUTHOR = "ana"
_LOGIN_S = 60.0
_SETTINGS = {"shared_buffers": "1GB", "maintenance_work_mem": "2GB", "max_wal_size": "8GB", "work_mem": "4MB"}


@dataclass(frozen=True, slots=True)
class Searched:
    """Times of all queries at one size, in milliseconds."""

    size: int
    has_vectors: bool
    whole: Sequence[float]
    """With login and greeting."""
    alone: Sequence[float]
    """On a connection that is open."""
    entry_bytes: float
    """Of the table of entries with its indexes, for each entry."""
    head_bytes: float


def enlarge(server: PostgresServer, database: Database) -> None:
    """Give the server the buffers of a small machine instead of those of a test."""
    with database.connect() as connection:
        for name, value in _SETTINGS.items():
            connection.execute(f"alter system set {name} = '{value}'".encode())
        connection.execute("checkpoint")
    server.stop()
    server.start()


class FilledServer:
    """Fills one database up to one size after the other."""

    def __init__(self, database: Database, language: Language, *, has_vectors: bool) -> None:
        self._database = database
        self._language = language
        self._has_vectors = has_vectors
        self._size = 0
        self._device = str(uuid.uuid4())
        self._keys = [project_key(project_id(number)) for number in range(PROJECTS)]
        with database.connect() as connection:
            if not has_vectors:
                connection.execute("drop index claude_mem_lite.heads_embedding")
            projects = [(key, f"project {number}") for number, key in enumerate(self._keys)]
            made = invite(connection, _AUTHOR, projects, database.address).address
            assert made is not None
            self.address: Address = made
            device = "insert into claude_mem_lite.devices (id, role, token, synchronised_at) values (%s, %s, '', now())"
            connection.execute(device, (self._device, f"cml_{_AUTHOR}"))
            self._write_texts(connection)

    def fill(self, size: int, *, at_once: bool) -> float:
        """Add entries and heads up to a size; `at_once`: build the indexes afterwards. The seconds taken."""
        began = time.perf_counter()
        with self._database.connect() as connection:
            indexes = _INDEXES if self._has_vectors else _INDEXES[:1]
            for name, _ in indexes if at_once else ():
                connection.execute(f"drop index claude_mem_lite.{name}".encode())
            values = {"first": self._size, "last": size - 1, "texts": TEXTS, "keys": self._keys, "device": self._device}
            connection.execute(_ENTRIES, values)
            connection.execute(_HEADS_WITH_VECTORS if self._has_vectors else _HEADS, values)
            for name, definition in indexes if at_once else ():
                connection.execute(f"create index {name} on claude_mem_lite.heads using {definition}".encode())
            connection.execute("vacuum analyze claude_mem_lite.entries")
            connection.execute("vacuum analyze claude_mem_lite.heads")
        self._size = size
        return time.perf_counter() - began

    def search(self) -> Searched:
        """Ask all queries."""
        embedder = StaticTable()
        whole, alone = [], []
        asked = queries(self._language, QUERIES + WARMING, 1, self._size)
        for number, query in enumerate(asked):
            began = time.perf_counter()
            with TeamServer.connect(self.address, Deadline.after(_LOGIN_S)) as server:
                server.greeting()
                vector = vector_of(embedder, query.text) if self._has_vectors else None
                logged_in = time.perf_counter()
                server.search(query.text, vector, LIMIT)
                ended = time.perf_counter()
            if number >= WARMING:
                whole.append((ended - began) * 1000)
                alone.append((ended - logged_in) * 1000)
        entry, head = (self._bytes(table) / self._size for table in ("entries", "heads"))
        return Searched(self._size, self._has_vectors, whole, alone, entry, head)

    def _bytes(self, table: str) -> int:
        query = "select sum(pg_total_relation_size(relid)) from pg_partition_tree(%s) where isleaf"
        with self._database.connect() as connection:
            row = connection.execute(query, (f"claude_mem_lite.{table}",)).fetchone()
        assert row is not None
        return int(row[0])

    def _write_texts(self, connection: psycopg.Connection[TupleRow]) -> None:
        vector = ", embedding claude_mem_lite.vector(256)" if self._has_vectors else ""
        connection.execute(
            f"create unlogged table texts (n integer, body text, hash text, words text{vector})".encode()
        )
        embedder = StaticTable()
        columns = "n, body, hash, words" + (", embedding" if self._has_vectors else "")
        with connection.cursor() as cursor, cursor.copy(f"copy texts ({columns}) from stdin".encode()) as copy:
            for number, memory in enumerate(decisions(self._language, TEXTS)):
                body = body_text(memory)
                words = words_of_body(body)
                row = [number, body, hash_of(body), words]
                if self._has_vectors:
                    row.append(str(vector_of(embedder, words) or [0.0] * 255 + [1.0]))
                copy.write_row(row)
        connection.execute("alter table texts add column tokens tsvector")
        connection.execute("update texts set tokens = to_tsvector('pg_catalog.simple', words)")
        connection.execute("create index on texts (n)")


_INDEXES = (("heads_words", "gin (words)"), ("heads_embedding", "hnsw (embedding claude_mem_lite.vector_cosine_ops)"))
_NUMBERED = """
select g, 'ana:' || md5(g::text) as uid, texts.*,
    (%(keys)s::text[])[case when g %% 2 = 0 then 1 else 2 + g / 2 %% (cardinality(%(keys)s::text[]) - 1) end] as key
from generate_series(%(first)s::integer, %(last)s::integer) g join texts on texts.n = g %% %(texts)s
"""
_ENTRIES = f"""
insert into claude_mem_lite.entries (project, device, seq, uid, rev, op, body, hash, author, at, version)
select key, %(device)s, g + 1, uid, 1, 'put', body, hash, 'ana', now(), 1 from ({_NUMBERED}) made
"""
_HEADS = f"""
insert into claude_mem_lite.heads (project, uid, rev, device, seq, op, author, words)
select key, uid, 1, %(device)s, g + 1, 'put', 'ana', tokens from ({_NUMBERED}) made
"""
_HEADS_WITH_VECTORS = f"""
insert into claude_mem_lite.heads (project, uid, rev, device, seq, op, author, words, embedding)
select key, uid, 1, %(device)s, g + 1, 'put', 'ana', tokens, embedding from ({_NUMBERED}) made
"""
