"""Tests of `team/server_schema.py` on a real server: complete after any number of runs, for any administrator."""

from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.team.address import Address
from claude_mem_lite.team.members import invite, revoke
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.server_schema import set_up
from tests.support.postgres import NOW, Database, PostgresServer, fresh_database, psql, running_server
from tests.support.team_members import SHOP, connected, entry, invited, outgoing

MANAGER = "manager"


@pytest.fixture(scope="module")
def new_server() -> Iterator[PostgresServer]:
    """A server on which nobody has set up a team, as roles belong to the whole server."""
    with running_server() as server:
        yield server


@pytest.fixture
def managed(new_server: PostgresServer) -> Iterator[tuple[Database, Address]]:
    """An empty database, and the address of its owner, who is no superuser but may create roles."""
    with fresh_database(new_server, is_set_up=False) as database, database.connect() as connection:
        connection.execute(f"create role {MANAGER} login createrole password 'managed'")
        connection.execute(f"grant create on database {database.name} to {MANAGER}".encode())
        yield database, database.address.of_member(MANAGER, "managed")


def test_the_first_set_up_makes_all_tables(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        result = set_up(connection, NOW, None)
    assert (len(result.applied), result.has_vectors, result.is_sealed) == (6, True, False)
    tables = empty_database.rows("select count(*) from pg_tables where schemaname = 'claude_mem_lite'")
    assert tables == [(9 + 2 * 16,)]


def test_a_second_set_up_changes_nothing(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        first = set_up(connection, NOW, None)
        second = set_up(connection, NOW, None)
    assert first.applied
    assert (second.applied, second.team) == ((), first.team)


def test_entries_and_heads_are_partitioned_by_project(database: Database) -> None:
    keys = database.rows(
        "select partrelid::regclass::text, pg_get_partkeydef(partrelid) from pg_partitioned_table order by 1"
    )
    assert keys == [("claude_mem_lite.entries", "HASH (project)"), ("claude_mem_lite.heads", "HASH (project)")]


def test_every_table_of_members_has_row_level_security(database: Database) -> None:
    unprotected = database.rows(
        """
        select relname from pg_class c where relnamespace = 'claude_mem_lite'::regnamespace and relkind in ('r', 'p')
        and not relrowsecurity and has_table_privilege('claude_mem_lite_member', c.oid, 'select')
        """
    )
    assert unprotected == [("migrations",)]


def test_functions_of_the_owner_have_a_fixed_search_path(database: Database) -> None:
    functions = database.rows(
        "select proname, proconfig from pg_proc where pronamespace = 'claude_mem_lite'::regnamespace and prosecdef"
    )
    assert {name for name, _ in functions} == {"search_words", "search_vectors"}
    assert all(settings == ["search_path=pg_catalog, pg_temp"] for _, settings in functions)


def test_a_sealed_team_keeps_its_first_check_value(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        set_up(connection, NOW, b"sealed")
        assert set_up(connection, NOW, b"other").is_sealed
    assert empty_database.rows("select key_check from claude_mem_lite.team") == [(b"sealed",)]


def test_names_of_projects_of_a_sealed_team_are_not_stored(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        set_up(connection, NOW, b"sealed")
    with connected(invited(empty_database, "ana")) as ana:
        greeting = ana.greeting()
    assert (greeting.is_sealed, greeting.key_check, greeting.projects) == (True, b"sealed", {SHOP: ""})


def test_a_newer_schema_is_refused_and_left_alone(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("insert into claude_mem_lite.migrations values ('m999_future', now())")
        with pytest.raises(TeamError) as caught:
            set_up(connection, NOW, None)
    assert caught.value.code == "newer_schema"


def test_a_set_up_that_fails_leaves_nothing(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        connection.execute("create schema claude_mem_lite create table logs (x int)")
        with pytest.raises(psycopg.errors.DuplicateTable):
            set_up(connection, NOW, None)
    tables = empty_database.rows("select tablename from pg_tables where schemaname = 'claude_mem_lite'")
    assert tables == [("logs",)]


def test_an_owner_without_superuser_rights_can_run_a_team(managed: tuple[Database, Address]) -> None:
    database, owner = managed
    with database.connect(owner) as connection:
        result = set_up(connection, NOW, None)
        address = invite(connection, "ana", [(SHOP, "shop")], owner).address
        assert address is not None
        with connected(address) as ana:
            ana.register_device("ana-device", "token-0")
            ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
            assert [hit.uid for hit in ana.search("m1", None, 5)] == ["ana:m1"]
        assert revoke(connection, "ana")
    assert not result.has_vectors  # this pgvector can be created by superusers only
    assert psql(address, "select 1").returncode != 0


def test_the_members_of_such_an_owner_see_only_their_projects(managed: tuple[Database, Address]) -> None:
    database, owner = managed
    with database.connect(owner) as connection:
        set_up(connection, NOW, None)
        address = invite(connection, "ana", [], owner).address
        invite(connection, "ben", [(SHOP, "shop")], owner)
    assert address is not None
    assert psql(address, "select * from claude_mem_lite.projects").stdout == ""


def test_vectors_are_added_when_the_extension_appears(managed: tuple[Database, Address]) -> None:
    database, owner = managed
    with database.connect(owner) as connection, database.connect() as superuser:
        set_up(connection, NOW, None)
        superuser.execute("create extension vector with schema public")
        assert set_up(connection, NOW, None).applied == ("vectors",)
        address = invite(connection, "ana", [(SHOP, "shop")], owner).address
    assert address is not None
    with connected(address) as ana:
        assert ana.greeting().has_vectors
        ana.register_device("ana-device", "token-0")
        sent = [replace(one, vector=[0.5] * 256) for one in outgoing(entry(1))]
        ana.push(sent, "ana-device", "token-0", "token-1")
        assert [hit.uid for hit in ana.search("", [0.5] * 256, 5)] == ["ana:m1"]


def test_a_group_role_of_another_administrator_is_explained(empty_database: Database) -> None:
    """The superuser of this server has set up other teams, so the group role is the superuser's."""
    with empty_database.connect() as connection:
        connection.execute(f"create role {MANAGER} login createrole password 'managed'")
        connection.execute(f"grant create on database {empty_database.name} to {MANAGER}".encode())
        connection.execute("do $$ begin create role claude_mem_lite_member; exception when others then end $$")
    owner = empty_database.address.of_member(MANAGER, "managed")
    with empty_database.connect(owner) as connection:
        set_up(connection, NOW, None)
        with pytest.raises(MemoryLiteError, match="may not manage"):
            invite(connection, "ana", [(SHOP, "shop")], owner)


def test_a_database_without_a_team_is_not_set_up(empty_database: Database) -> None:
    with pytest.raises(TeamError) as caught:
        connected(empty_database.address)
    assert caught.value.code == "not_set_up"
