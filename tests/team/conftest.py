"""Fixtures of PostgreSQL: a server for all tests of a process, a database with a team for each test."""

from collections.abc import Iterator

import pytest

from tests.support.postgres import Database, PostgresServer, fresh_database, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def database(postgres: PostgresServer) -> Iterator[Database]:
    """A database with the tables of a team."""
    with fresh_database(postgres) as database:
        yield database


@pytest.fixture
def empty_database(postgres: PostgresServer) -> Iterator[Database]:
    with fresh_database(postgres, is_set_up=False) as database:
        yield database
