"""Tests of `team/members.py`: what an invitation allows and what a revocation ends, tried with the psql program."""

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.members import invite, members, revoke
from claude_mem_lite.team.reasons import TeamError
from tests.support.postgres import Database, PostgresServer, fresh_database, psql
from tests.support.team_members import SECRET, SHOP, connected, entry, invited, joined, outgoing

BY_MEANING = "select uid from claude_mem_lite.search_vectors(array_fill(0.1::real, array[256]), 10)"
TABLES = ("team", "members", "projects", "grants", "devices", "logs", "entries", "heads")


@pytest.fixture(scope="module")
def reader(postgres: PostgresServer) -> Iterator[Address]:
    """The address of rita, who may use SHOP, in a database where wim wrote one entry to SECRET and one to SHOP."""
    with fresh_database(postgres) as database:
        _plant(database, "wim")
        address = invited(database, "rita")
        with connected(address) as rita:
            rita.register_device("rita-device", "token-0")
        yield address


def _plant(database: Database, name: str) -> None:
    """Let a new member write one entry to SECRET and one to SHOP."""
    with joined(database, name, SECRET, SHOP) as server:
        secret = entry(1, "hidden", author=name, project=SECRET, body="treasure")
        public = entry(1, "open", author=name, body="common")
        sent = [replace(one, vector=[0.1] * 256) for one in outgoing(secret, public)]
        server.push(sent, f"{name}-device", "token-0", "token-1")


def test_a_member_reads_granted_projects_with_psql(reader: Address) -> None:
    result = psql(reader, "select body from claude_mem_lite.entries")
    assert (result.returncode, result.stdout.split()) == (0, ["common"])


@pytest.mark.parametrize("query", ["select uid from claude_mem_lite.search_words('common', 10)", BY_MEANING])
def test_a_member_searches_granted_projects_with_psql(reader: Address, query: str) -> None:
    assert psql(reader, query).stdout.split() == ["wim:open"]


@pytest.mark.parametrize(
    "query",
    [
        f"select * from claude_mem_lite.entries where project = '{SECRET}'",
        f"select * from claude_mem_lite.heads where project = '{SECRET}'",
        f"select * from claude_mem_lite.logs where project = '{SECRET}'",
        f"select * from claude_mem_lite.projects where key = '{SECRET}'",
        "select * from claude_mem_lite.grants where role <> current_user",
        "select * from claude_mem_lite.members where role <> current_user",
        "select * from claude_mem_lite.devices where role <> current_user",
        "select * from claude_mem_lite.search_words('treasure', 10)",
        f"{BY_MEANING} where uid <> 'wim:open'",
        "set role claude_mem_lite_member; select * from claude_mem_lite.entries",
    ],
)
def test_a_member_sees_nothing_of_another_project_with_psql(reader: Address, query: str) -> None:
    result = psql(reader, query)
    assert (result.returncode, result.stdout.replace("SET", "").strip()) == (0, "")


@pytest.mark.parametrize("table", ["entries", "heads"])
def test_a_member_cannot_read_a_partition_directly(reader: Address, table: str) -> None:
    for number in range(16):
        result = psql(reader, f"select * from claude_mem_lite.{table}_{number:02}")
        assert "permission denied" in result.stderr


@pytest.mark.parametrize(
    "query",
    [
        "insert into claude_mem_lite.grants (role, project) values (current_user, '{secret}')",
        "update claude_mem_lite.grants set project = '{secret}'",
        "delete from claude_mem_lite.grants",
        "insert into claude_mem_lite.members (role, name, invited_at) values ('cml_eve', 'eve', now())",
        "update claude_mem_lite.members set name = 'wim'",
        "update claude_mem_lite.team set min_version = 9",
        "insert into claude_mem_lite.projects values ('x', 'x')",
        "delete from claude_mem_lite.entries",
        "delete from claude_mem_lite.heads",
        "delete from claude_mem_lite.logs",
        "delete from claude_mem_lite.devices",
        "truncate claude_mem_lite.entries",
        "update claude_mem_lite.entries set author = 'rita'",
        "update claude_mem_lite.devices set role = 'cml_wim'",
        "insert into claude_mem_lite.devices values ('eve-device', 'cml_wim', 'x', now())",
        "create table claude_mem_lite.mine (x int)",
        "alter table claude_mem_lite.entries disable row level security",
        "create policy mine on claude_mem_lite.entries using (true)",
        "create role eve superuser",
        "alter role cml_rita createrole",
        "set role cml_wim",
        "set role postgres",
        "grant claude_mem_lite_member to cml_wim with admin option",
        "alter function claude_mem_lite.search_words(text, integer) owner to cml_rita",
        "drop schema claude_mem_lite cascade",
    ],
)
def test_a_member_cannot_escalate_with_psql(reader: Address, query: str) -> None:
    result = psql(reader, query.format(secret=SECRET))
    assert result.returncode != 0
    assert "denied" in result.stderr or "row-level security" in result.stderr or "must be owner" in result.stderr


@pytest.mark.parametrize(
    "values",
    [
        "('{shop}', 'rita-device', 9, 'wim:open', 9, 'put', 'x', repeat('0', 64), 'rita', now(), 1)",
        "('{shop}', 'rita-device', 9, 'wim:open', 9, 'delete', null, repeat('0', 64), 'wim', now(), 1)",
        "('{shop}', 'wim-device', 9, 'rita:x', 9, 'put', 'x', repeat('0', 64), 'rita', now(), 1)",
        "('{shop}', 'no-device', 9, 'rita:x', 9, 'put', 'x', repeat('0', 64), 'rita', now(), 1)",
        "('{secret}', 'rita-device', 9, 'rita:x', 9, 'put', 'x', repeat('0', 64), 'rita', now(), 1)",
    ],
)
def test_a_member_cannot_write_as_another_member_or_device(reader: Address, values: str) -> None:
    result = psql(reader, f"insert into claude_mem_lite.entries values {values.format(shop=SHOP, secret=SECRET)}")
    assert "row-level security" in result.stderr


@pytest.mark.parametrize(
    "values",
    [
        "('{shop}', 'wim:new', 1, 'rita-device', 9, 'put', 'wim')",
        "('{shop}', 'wim:new', 1, 'rita-device', 9, 'put', 'rita')",
        "('{shop}', 'rita:new', 1, 'wim-device', 9, 'put', 'rita')",
        "('{secret}', 'rita:new', 1, 'rita-device', 9, 'put', 'rita')",
    ],
)
def test_a_member_cannot_put_a_head_in_the_name_of_another(reader: Address, values: str) -> None:
    columns = "project, uid, rev, device, seq, op, author"
    row = values.format(shop=SHOP, secret=SECRET)
    result = psql(reader, f"insert into claude_mem_lite.heads ({columns}) values {row}")
    assert "row-level security" in result.stderr


@pytest.mark.parametrize("values", ["('{shop}', 'no-device', 9)", "('{secret}', 'rita-device', 9)"])
def test_a_member_cannot_begin_a_log_of_another_device_or_project(reader: Address, values: str) -> None:
    row = values.format(shop=SHOP, secret=SECRET)
    result = psql(reader, f"insert into claude_mem_lite.logs (project, device, last_seq) values {row}")
    assert "row-level security" in result.stderr


@pytest.mark.parametrize(
    "query",
    [
        "update claude_mem_lite.entries set body = null",
        "update claude_mem_lite.heads set op = 'delete', words = null",
        "update claude_mem_lite.logs set last_seq = 99",
        "update claude_mem_lite.devices set token = 'x' where id = 'wim-device'",
    ],
)
def test_a_member_changes_no_row_of_others(reader: Address, query: str) -> None:
    result = psql(reader, query)
    assert (result.returncode, result.stdout.strip()) == (0, "UPDATE 0")


def test_a_member_can_remove_its_own_body_but_not_replace_it(database: Database) -> None:
    address = invited(database, "ana")
    with connected(address) as ana:
        ana.register_device("ana-device", "token-0")
        ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
    replaced = psql(address, "update claude_mem_lite.entries set body = 'other'")
    removed = psql(address, "update claude_mem_lite.entries set body = null")
    assert "row-level security" in replaced.stderr
    assert removed.stdout.strip() == "UPDATE 1"


def test_a_revoked_member_cannot_log_in_with_psql(database: Database) -> None:
    address = invited(database, "ana")
    with database.connect() as connection:
        assert revoke(connection, "ana")
    result = psql(address, "select 1")
    assert result.returncode != 0
    assert result.stdout == ""


def test_a_revoked_member_has_neither_grants_nor_the_rights_of_members(database: Database) -> None:
    invited(database, "ana")
    with database.connect() as connection:
        assert revoke(connection, "ana")
    rights = "pg_has_role('cml_ana', 'claude_mem_lite_member', 'member'), rolcanlogin"
    assert database.rows(f"select {rights} from pg_roles where rolname = 'cml_ana'") == [(False, False)]
    assert database.rows("select project from claude_mem_lite.grants where role = 'cml_ana'") == []


def test_a_revocation_ends_running_connections(database: Database) -> None:
    with connected(invited(database, "ana")) as ana, database.connect() as connection:
        revoke(connection, "ana")
        with pytest.raises(TeamError):
            ana.positions()


def test_a_connection_that_outlives_the_revocation_reads_nothing(database: Database) -> None:
    """As with an administrator who may not end connections of others."""
    _plant(database, "ben")
    address = invited(database, "ana")
    with psycopg.connect(address.url(), autocommit=True) as ana, database.connect() as connection:
        connection.execute("delete from claude_mem_lite.grants where role = 'cml_ana'")
        connection.execute("update claude_mem_lite.members set revoked_at = now() where role = 'cml_ana'")
        counts = [ana.execute(f"select count(*) from claude_mem_lite.{table}".encode()).fetchone() for table in TABLES]
    assert [count[0] for count in counts if count] == [0, 1, 0, 0, 0, 0, 0, 0]  # its own name


def test_a_second_revocation_finds_no_member(database: Database) -> None:
    invited(database, "ana")
    with database.connect() as connection:
        assert revoke(connection, "ana")
        assert not revoke(connection, "ana")


def test_a_new_invitation_after_a_revocation_works_with_a_new_password(database: Database) -> None:
    first = invited(database, "ana")
    with database.connect() as connection:
        revoke(connection, "ana")
    second = invited(database, "ana")
    assert second.password != first.password
    with connected(second) as ana:
        assert list(ana.greeting().projects) == [SHOP]


def test_a_further_project_keeps_the_password(database: Database) -> None:
    address = invited(database, "ana")
    with database.connect() as connection:
        invitation = invite(connection, "ana", [(SECRET, "secret")], database.address)
    assert (invitation.address, invitation.projects) == (None, (SHOP, SECRET))
    with connected(address) as ana:
        assert set(ana.greeting().projects) == {SHOP, SECRET}


def test_a_new_password_ends_the_old_one(database: Database) -> None:
    first = invited(database, "ana")
    with database.connect() as connection:
        second = invite(connection, "ana", [], database.address, new_password=True).address
    assert second is not None
    connected(second).close()
    with pytest.raises(TeamError) as caught:
        connected(first)
    assert caught.value.code == "login"


def test_a_role_of_somebody_else_is_not_taken_over(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("create role cml_ana login password 'other'")
        with pytest.raises(MemoryLiteError, match="not of this team"):
            invite(connection, "ana", [(SHOP, "shop")], database.address)


def test_the_password_is_not_in_the_statements(database: Database) -> None:
    address = invited(database, "ana")
    ((stored,),) = database.rows("select rolpassword from pg_authid where rolname = 'cml_ana'")
    assert stored.startswith("SCRAM-SHA-256$")
    assert len(address.password) >= 32


@pytest.mark.parametrize("name", ["", "Ana", "a b", 'a"; drop role x; --', "a:b", "ä", "a" * 41, "a\n"])
def test_a_bad_name_is_refused(database: Database, name: str) -> None:
    with database.connect() as connection, pytest.raises(MemoryLiteError, match="lowercase"):
        invite(connection, name, [], database.address)


def test_a_name_with_a_hyphen_works(database: Database) -> None:
    with connected(invited(database, "ana-2_x")) as server:
        assert server.greeting().member == "ana-2_x"


def test_members_are_listed_with_projects_and_devices(database: Database) -> None:
    joined(database, "ana", SHOP, SECRET).close()
    invited(database, "ben")
    with database.connect() as connection:
        revoke(connection, "ben")
        ana, ben = members(connection)
    assert (ana.name, ana.projects, ana.devices, ana.revoked_at) == ("ana", ("project a", "project b"), 1, None)
    assert (ben.name, ben.projects, ben.revoked_at is None) == ("ben", (), False)
