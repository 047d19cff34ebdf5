"""Schema `claude_mem_lite` on the server: tables, row-level security and the group role of members.

Whoever may create tables runs `set_up`. It can run again at any time, and adds what is missing."""

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.search.rank_fusion import RULE
from claude_mem_lite.team.entry import VERSION
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.values import frozen

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.rows import TupleRow

SCHEMA = "claude_mem_lite"
GROUP = "claude_mem_lite_member"
PARTITIONS = 16
DIMENSIONS = 256
MIN_SERVER_VERSION = 140000
MAX_DISTANCE = round(1 - RULE.least_cosine, 2)
"""Cosine distance up to which a memory is found by its meaning alone, as in the local search."""
_LOCK = 0x636D6C
_VECTORS = "vectors"


@frozen
class SetUp:
    """Result of `set_up`."""

    team: str
    """Id of the team."""
    applied: tuple[str, ...]
    """Steps that this run applied; none if the schema was complete."""
    has_vectors: bool
    is_sealed: bool


def set_up(connection: "Connection[TupleRow]", now: datetime, key_check: bytes | None) -> SetUp:
    """Make or complete the schema and the team. `key_check` makes a new team sealed; an existing team keeps its own."""
    if connection.info.server_version < MIN_SERVER_VERSION:
        raise MemoryLiteError("the team's database needs PostgreSQL 14 or newer", "use a newer server")
    with connection.transaction():
        # Two administrators at once would both create what is missing.
        connection.execute("select pg_advisory_xact_lock(%(lock)s)", {"lock": _LOCK})
        _make_schema(connection)
        known = _applied(connection)
        if not known <= {*_STEPS, _VECTORS}:
            raise TeamError("newer_schema")
        applied = [name for name in _STEPS if name not in known]
        for name in applied:
            _STEPS[name](connection)
        if _VECTORS not in known and _add_vectors(connection):
            applied.append(_VECTORS)
        for name in applied:
            connection.execute(
                "insert into claude_mem_lite.migrations (name, applied_at) values (%(name)s, %(now)s)",
                {"name": name, "now": now},
            )
        team, is_sealed = _make_team(connection, now, key_check)
    return SetUp(team, tuple(applied), bool({_VECTORS} & {*known, *applied}), is_sealed)


def has_schema(connection: "Connection[TupleRow]") -> bool:
    """Return whether the database has the schema, readable or not."""
    found = connection.execute("select 1 from pg_namespace where nspname = %(name)s", {"name": SCHEMA}).fetchone()
    return found is not None


def _make_schema(connection: "Connection[TupleRow]") -> None:
    if not has_schema(connection):
        connection.execute("create schema claude_mem_lite")
    connection.execute(
        "create table if not exists claude_mem_lite.migrations (name text primary key, applied_at timestamptz not null)"
    )


def _applied(connection: "Connection[TupleRow]") -> set[str]:
    return {name for (name,) in connection.execute("select name from claude_mem_lite.migrations")}


def _make_team(connection: "Connection[TupleRow]", now: datetime, key_check: bytes | None) -> tuple[str, bool]:
    connection.execute(
        """
        insert into claude_mem_lite.team (id, min_version, is_sealed, key_check, created_at)
        values (gen_random_uuid()::text, %(version)s, %(sealed)s, %(check)s, %(now)s)
        on conflict (is_only) do nothing
        """,
        {"version": VERSION, "sealed": key_check is not None, "check": key_check, "now": now},
    )
    row = connection.execute("select id, is_sealed from claude_mem_lite.team").fetchone()
    if row is None:
        raise TeamError("not_set_up")
    return str(row[0]), bool(row[1])


def _m001_group(connection: "Connection[TupleRow]") -> None:
    """Make the group role. Roles belong to the whole server, so another team there may have made it."""
    from psycopg import errors, sql

    found = connection.execute("select 1 from pg_roles where rolname = %(group)s", {"group": GROUP}).fetchone()
    if found is None:
        connection.execute(f"create role {GROUP} nologin")
    connection.execute(f"grant usage on schema claude_mem_lite to {GROUP}")
    connection.execute(f"grant select on claude_mem_lite.migrations to {GROUP}")
    try:
        with connection.transaction():
            grant = sql.SQL("grant connect on database {} to {}")
            connection.execute(grant.format(sql.Identifier(connection.info.dbname), sql.Identifier(GROUP)))
    except errors.InsufficientPrivilege:
        pass  # every role may connect, unless the owner of the database has changed that


def _m002_people(connection: "Connection[TupleRow]") -> None:
    connection.execute(
        """
        create table claude_mem_lite.team (
            is_only boolean primary key default true check (is_only),
            id text not null,
            min_version integer not null,
            is_sealed boolean not null,
            key_check bytea check ((key_check is not null) = is_sealed),
            created_at timestamptz not null
        );
        create table claude_mem_lite.members (
            role name primary key,
            name text collate "C" not null unique,
            invited_at timestamptz not null,
            revoked_at timestamptz
        );
        create table claude_mem_lite.projects (
            key text collate "C" primary key,
            name text not null
        );
        create table claude_mem_lite.grants (
            role name not null references claude_mem_lite.members (role),
            project text collate "C" not null references claude_mem_lite.projects (key),
            primary key (role, project)
        );
        create table claude_mem_lite.devices (
            id text collate "C" primary key check (length(id) between 1 and 100),
            role name not null references claude_mem_lite.members (role),
            token text not null,
            synchronised_at timestamptz not null
        );
        """
    )


def _m003_entries(connection: "Connection[TupleRow]") -> None:
    # No foreign keys to small tables: a distributed table cannot have them everywhere. Row-level security checks more.
    connection.execute(
        """
        create table claude_mem_lite.logs (
            project text collate "C" not null,
            device text collate "C" not null,
            last_seq bigint not null check (last_seq > 0),
            primary key (project, device)
        );
        create table claude_mem_lite.entries (
            project text collate "C" not null,
            device text collate "C" not null,
            seq bigint not null check (seq > 0),
            uid text collate "C" not null check (length(uid) between 3 and 200),
            rev bigint not null check (rev > 0),
            op text not null check (op in ('put', 'delete')),
            body text check (body is null or (op = 'put' and length(body) <= 1000000)),
            hash text not null check (length(hash) = 64),
            author text collate "C" not null,
            at timestamptz not null,
            version integer not null,
            primary key (project, device, seq)
        ) partition by hash (project);
        create index entries_uid on claude_mem_lite.entries (project, uid);
        create table claude_mem_lite.heads (
            project text collate "C" not null,
            uid text collate "C" not null,
            rev bigint not null,
            device text collate "C" not null,
            seq bigint not null,
            op text not null,
            author text collate "C" not null,
            words tsvector,
            primary key (project, uid)
        ) partition by hash (project);
        create index heads_words on claude_mem_lite.heads using gin (words);
        create index heads_device on claude_mem_lite.heads (project, device);
        """
    )
    for table in ("entries", "heads"):
        for number in range(PARTITIONS):
            connection.execute(
                f"create table claude_mem_lite.{table}_{number:02} partition of claude_mem_lite.{table}"
                f" for values with (modulus {PARTITIONS}, remainder {number})"
            )


_MEMBER = "(select name from claude_mem_lite.members where role = current_user and revoked_at is null)"
_GRANTED = "project in (select project from claude_mem_lite.grants where role = current_user)"
_OWN_DEVICE = "device in (select id from claude_mem_lite.devices where role = current_user)"
_OWN = f"{_GRANTED} and author = {_MEMBER} and split_part(uid, ':', 1) = author"
# Table, right, condition. `using` selects rows, `with check` limits what is written; no right means no access.
_POLICIES = (
    ("team", "select", f"using ({_MEMBER} is not null)"),
    ("members", "select", "using (role = current_user)"),
    ("projects", "select", "using (key in (select project from claude_mem_lite.grants where role = current_user))"),
    ("grants", "select", "using (role = current_user)"),
    ("devices", "select", "using (role = current_user)"),
    ("devices", "insert", f"with check (role = current_user and {_MEMBER} is not null)"),
    ("devices", "update", "using (role = current_user) with check (role = current_user)"),
    ("logs", "select", f"using ({_GRANTED})"),
    ("logs", "insert", f"with check ({_GRANTED} and {_OWN_DEVICE})"),
    ("logs", "update", f"using ({_GRANTED} and {_OWN_DEVICE}) with check ({_GRANTED} and {_OWN_DEVICE})"),
    ("entries", "select", f"using ({_GRANTED})"),
    ("entries", "insert", f"with check ({_OWN} and {_OWN_DEVICE})"),
    # Entries never change, except that a deletion removes bodies.
    ("entries", "update", f"using ({_OWN}) with check ({_OWN} and body is null)"),
    ("heads", "select", f"using ({_GRANTED})"),
    ("heads", "insert", f"with check ({_OWN} and {_OWN_DEVICE})"),
    ("heads", "update", f"using ({_OWN}) with check ({_OWN} and {_OWN_DEVICE})"),
)
_UPDATABLE = {
    "devices": ("token", "synchronised_at"),
    "logs": ("last_seq",),
    "entries": ("body",),
    "heads": ("rev", "device", "seq", "op", "words"),
}


def _m004_security(connection: "Connection[TupleRow]") -> None:
    for table in dict.fromkeys(table for table, _, _ in _POLICIES):
        connection.execute(f"alter table claude_mem_lite.{table} enable row level security")
        connection.execute(f"revoke all on claude_mem_lite.{table} from public")
    for table, right, condition in _POLICIES:
        columns = f" ({', '.join(_UPDATABLE[table])})" if right == "update" else ""
        connection.execute(f"grant {right}{columns} on claude_mem_lite.{table} to {GROUP}")
        connection.execute(
            f"create policy member_{right} on claude_mem_lite.{table} for {right} to {GROUP} {condition}"
        )


def _m005_search(connection: "Connection[TupleRow]") -> None:
    # A function of the owner: under row-level security PostgreSQL does not use the index of words, because its
    # operator might reveal rows. The function itself selects the granted projects of the session's role.
    connection.execute(
        """
        create function claude_mem_lite.search_words(sought text, at_most integer)
        returns table (project text, uid text) language plpgsql stable security definer
        set search_path = pg_catalog, pg_temp as $$
        declare
            every_word tsquery := plainto_tsquery('pg_catalog.simple', left(sought, 4000));
            any_word tsquery := replace(every_word::text, ' & ', ' | ')::tsquery;
            granted text[] := array(select g.project from claude_mem_lite.grants g where g.role = session_user);
        begin
            if numnode(every_word) = 0 or granted = '{}' then return; end if;
            return query
                with best as (
                    select h.project, h.uid, h.words from claude_mem_lite.heads h
                    where h.words @@ every_word and h.project = any (granted) limit 2000
                ), more as (
                    select h.project, h.uid, h.words from claude_mem_lite.heads h
                    where h.words @@ any_word and not h.words @@ every_word and h.project = any (granted) limit 5000
                ), found as (select * from best union all select * from more)
                select f.project::text, f.uid::text from found f
                order by ts_rank(f.words, any_word) desc, f.project, f.uid limit least(at_most, 1000);
        end $$;
        revoke all on function claude_mem_lite.search_words(text, integer) from public;
        """
    )
    connection.execute(f"grant execute on function claude_mem_lite.search_words(text, integer) to {GROUP}")


_STEPS: dict[str, Callable[["Connection[TupleRow]"], None]] = {
    "m001_group": _m001_group,
    "m002_people": _m002_people,
    "m003_entries": _m003_entries,
    "m004_security": _m004_security,
    "m005_search": _m005_search,
}


def _add_vectors(connection: "Connection[TupleRow]") -> bool:
    """Add vectors to heads. Return False if the server has no pgvector, or none that this role may create."""
    from psycopg import errors, sql

    query = "select 1 from pg_available_extensions where name = 'vector'"
    if connection.execute(query).fetchone() is None:
        return False
    try:
        with connection.transaction():
            connection.execute("create extension if not exists vector with schema claude_mem_lite")
            place = connection.execute(
                "select n.nspname from pg_extension e join pg_namespace n on n.oid = e.extnamespace"
                " where e.extname = 'vector'"
            ).fetchone()
            schema = sql.Identifier(str(place[0]) if place else SCHEMA)
            connection.execute(sql.SQL(_VECTOR_COLUMN).format(schema=schema))
            connection.execute(sql.SQL(_VECTOR_SEARCH).format(schema=schema, distance=sql.Literal(MAX_DISTANCE)))
            connection.execute(f"grant update (embedding) on claude_mem_lite.heads to {GROUP}")
            connection.execute(f"grant execute on function claude_mem_lite.search_vectors(real[], integer) to {GROUP}")
    except (errors.InsufficientPrivilege, errors.UndefinedObject, errors.FeatureNotSupported, errors.UndefinedFile):
        return False  # refused by the service, or a pgvector older than its index type hnsw
    return True


_VECTOR_COLUMN = f"""
alter table claude_mem_lite.heads add column embedding {{schema}}.vector({DIMENSIONS});
create index heads_embedding on claude_mem_lite.heads using hnsw (embedding {{schema}}.vector_cosine_ops);
"""
# Filtering by project happens after the index: a deeper search finds enough granted rows.
_VECTOR_SEARCH = """
create function claude_mem_lite.search_vectors(sought real[], at_most integer)
returns table (project text, uid text) language plpgsql stable security definer
set search_path = pg_catalog, pg_temp as $$
declare
    granted text[] := array(select g.project from claude_mem_lite.grants g where g.role = session_user);
    near {schema}.vector := sought::{schema}.vector;
begin
    if granted = '{{}}' then return; end if;
    perform set_config('hnsw.ef_search', '100', true);
    if current_setting('hnsw.iterative_scan', true) is not null then  -- pgvector 0.8 or newer
        perform set_config('hnsw.iterative_scan', 'strict_order', true);
    end if;
    return query
        select found.key, found.id from (
            select h.project::text as key, h.uid::text as id, h.embedding operator({schema}.<=>) near as distance
            from claude_mem_lite.heads h where h.project = any (granted) and h.embedding is not null
            order by h.embedding operator({schema}.<=>) near limit least(at_most, 1000)
        ) found where found.distance <= {distance} order by found.distance;
end $$;
revoke all on function claude_mem_lite.search_vectors(real[], integer) from public;
"""
