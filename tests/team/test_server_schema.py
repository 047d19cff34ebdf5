"""Tests of `team/server_schema.py` on a real server."""

from claude_mem_lite.team.server_schema import set_up
from tests.support.postgres import NOW, Database


def test_a_second_set_up_changes_nothing(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        first = set_up(connection, NOW, None)
        second = set_up(connection, NOW, None)
    assert first.applied
    assert (second.applied, second.team) == ((), first.team)
