"""A PostgreSQL server for all tests of a process, a database with a team for each test, two members with workers."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Database, PostgresServer, fresh_database, running_server
from tests.support.team_workers import Member, open_members


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    with fresh_database(postgres) as database:
        yield database


@pytest.fixture
def pair(database: Database) -> Iterator[tuple[Member, Member]]:
    """Two members who share the same project."""
    with open_members(database, "ana", "ben") as (ana, ben):
        yield ana, ben
