"""Members of the team on the server: a database role for each, with grants for projects. The administrator's side."""

import secrets
from collections.abc import Sequence
from datetime import datetime

import psycopg
from psycopg import sql
from psycopg.rows import TupleRow

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.entry import MAX_NAME_LENGTH, is_name
from claude_mem_lite.team.server_schema import GROUP
from claude_mem_lite.values import frozen

_PASSWORD_BYTES = 24


@frozen
class Invitation:
    """Result of `invite`. The address, with the password, exists nowhere else."""

    name: str
    role: str
    projects: tuple[str, ...]
    """Keys of all projects that the member may use now."""
    address: Address | None
    """Address to join with; None if the member keeps its password."""


@frozen
class Member:
    """Member with its projects, as the administrator sees it."""

    name: str
    role: str
    invited_at: datetime
    revoked_at: datetime | None
    projects: tuple[str, ...]
    """Names of the projects, or their keys in a sealed team."""
    devices: int
    synchronised_at: datetime | None
    """Time of the last synchronisation of any device."""


def invite(
    connection: psycopg.Connection[TupleRow],
    name: str,
    projects: Sequence[tuple[str, str]],
    address: Address,
    *,
    new_password: bool = False,
) -> Invitation:
    """Make a member, or give an existing one more projects. Projects are pairs of key and name."""
    role = role_of(name)
    with connection.transaction():
        is_active = _is_active(connection, role)
        if not is_active and not new_password and _role_exists(connection, role) and not _is_member(connection, role):
            raise MemoryLiteError(
                f"the server has a role {role} that is not of this team",
                "choose another name, or ask for a new password",
            )
        password = None if is_active and not new_password else secrets.token_urlsafe(_PASSWORD_BYTES)
        if password is not None:
            _allow_login(connection, role, password)
        _write_member(connection, role, name, projects)
        granted = _granted(connection, role)
    joined = None if password is None else address.of_member(role, password)
    return Invitation(name, role, granted, joined)


def revoke(connection: psycopg.Connection[TupleRow], name: str) -> bool:
    """Take all rights of a member and end its connections. Return False if there is no such active member."""
    role = role_of(name)
    with connection.transaction():
        if not _is_active(connection, role):
            return False
        named = {"role": role}
        connection.execute("delete from claude_mem_lite.grants where role = %(role)s", named)
        connection.execute("update claude_mem_lite.members set revoked_at = now() where role = %(role)s", named)
        quoted = sql.Identifier(role)
        connection.execute(sql.SQL("revoke {} from {}").format(sql.Identifier(GROUP), quoted))
        connection.execute(sql.SQL("alter role {} nologin password null").format(quoted))
    _end_connections(connection, role)
    return True


def members(connection: psycopg.Connection[TupleRow]) -> tuple[Member, ...]:
    """Return all members, by name."""
    rows = connection.execute(
        """
        select m.name, m.role::text, m.invited_at, m.revoked_at,
            array(select coalesce(nullif(p.name, ''), p.key) from claude_mem_lite.grants g
                join claude_mem_lite.projects p on p.key = g.project where g.role = m.role order by 1),
            (select count(*) from claude_mem_lite.devices d where d.role = m.role),
            (select max(d.synchronised_at) from claude_mem_lite.devices d where d.role = m.role)
        from claude_mem_lite.members m order by m.name
        """
    )
    return tuple(
        Member(name, role, invited_at, revoked_at, tuple(projects), devices, synchronised_at)
        for name, role, invited_at, revoked_at, projects, devices, synchronised_at in rows
    )


def role_of(name: str) -> str:
    """Return the database role of a member. MemoryLiteError: the name cannot be one."""
    if not is_name(name):
        raise MemoryLiteError(
            f"the name of a member has lowercase letters, digits, - and _ only, at most {MAX_NAME_LENGTH}",
            "choose another name",
        )
    return f"cml_{name}"


def _allow_login(connection: psycopg.Connection[TupleRow], role: str, password: str) -> None:
    # The verifier goes to the server, not the password: statements are written to logs.
    verifier = connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256").decode()
    verb = "alter" if _role_exists(connection, role) else "create"
    quoted = sql.Identifier(role)
    try:
        connection.execute(sql.SQL(f"{verb} role {{}} login password {{}}").format(quoted, sql.Literal(verifier)))
        connection.execute(sql.SQL("grant {} to {}").format(sql.Identifier(GROUP), quoted))
    except psycopg.errors.InsufficientPrivilege:
        raise MemoryLiteError(
            f"this role of the database may not manage the roles {role} and {GROUP}",
            f"use the role that ran `team init`, or have it `grant {GROUP} to ROLE with admin option`",
        ) from None


def _write_member(
    connection: psycopg.Connection[TupleRow], role: str, name: str, projects: Sequence[tuple[str, str]]
) -> None:
    connection.execute(
        """
        insert into claude_mem_lite.members (role, name, invited_at) values (%(role)s, %(name)s, now())
        on conflict (role) do update set revoked_at = null
        """,
        {"role": role, "name": name},
    )
    for key, project in projects:
        connection.execute(
            """
            insert into claude_mem_lite.projects (key, name)
            values (%(key)s, case when (select is_sealed from claude_mem_lite.team) then '' else %(name)s end)
            on conflict (key) do nothing
            """,
            {"key": key, "name": project},
        )
        connection.execute(
            """
            insert into claude_mem_lite.grants (role, project) values (%(role)s, %(key)s) on conflict do nothing
            """,
            {"role": role, "key": key},
        )


def _granted(connection: psycopg.Connection[TupleRow], role: str) -> tuple[str, ...]:
    query = "select project from claude_mem_lite.grants where role = %(role)s order by project"
    return tuple(project for (project,) in connection.execute(query, {"role": role}))


def _is_active(connection: psycopg.Connection[TupleRow], role: str) -> bool:
    query = "select 1 from claude_mem_lite.members where role = %(role)s and revoked_at is null"
    return connection.execute(query, {"role": role}).fetchone() is not None


def _is_member(connection: psycopg.Connection[TupleRow], role: str) -> bool:
    query = "select 1 from claude_mem_lite.members where role = %(role)s"
    return connection.execute(query, {"role": role}).fetchone() is not None


def _role_exists(connection: psycopg.Connection[TupleRow], role: str) -> bool:
    return connection.execute("select 1 from pg_roles where rolname = %(role)s", {"role": role}).fetchone() is not None


def _end_connections(connection: psycopg.Connection[TupleRow], role: str) -> None:
    """End the connections of a role, if the administrator may. Without grants they can read nothing in any case."""
    query = "select pg_terminate_backend(pid) from pg_stat_activity where usename = %(role)s"
    try:
        with connection.transaction():
            connection.execute(query, {"role": role})
    except psycopg.errors.InsufficientPrivilege:
        return
