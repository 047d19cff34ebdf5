"""Tests of `worker/team/state.py`, `worker/team/sharing.py` and `worker/team/membership.py` with real workers: what the
state tells about entries that wait or are parked, what `team repair` does about them, and sharing that begins again."""

import sqlite3
from contextlib import closing

from claude_mem_lite.team.entry import VERSION
from tests.support.postgres import Database
from tests.support.team_workers import Member, open_members

DECISION = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
GOTCHA = "The CI cache must be cleared after a lockfile change, since it keeps the old node_modules"


def change(database: Database, statement: str) -> None:
    """Change the server as its administrator can."""
    with database.connect() as connection:
        connection.execute(statement.encode())


def test_the_state_tells_what_waits_in_both_directions(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ben.sync()
    for kind, text in (("decision", DECISION), ("gotcha", GOTCHA)):
        ana.remember(kind, text)
    ana.sync()
    assert (ben.status()["waiting_in"], ben.status()["waiting_out"]) == (2, 0)
    ben.sync()
    assert ben.status()["waiting_in"] == 0
    ben.machine.home.off_switch.touch()
    ben.remember("rule", "Round totals per line, because the bank rounds them so")
    assert ben.status()["waiting_out"] == 1


def test_a_refused_entry_is_told_and_sent_by_a_repair(pair: tuple[Member, Member], database: Database) -> None:
    ana, ben = pair
    change(database, "alter table claude_mem_lite.entries add constraint no check (body not like '%SQLite%')")
    ana.remember("decision", DECISION)
    ana.remember("gotcha", GOTCHA)
    ana.sync()
    ben.sync()
    assert ben.titles() == [GOTCHA]
    (parked,) = ana.command("team", "status")["parked"]
    assert (parked["direction"], parked["code"], "team repair" in parked["next_step"]) == ("out", "rejected", True)
    change(database, "alter table claude_mem_lite.entries drop constraint no")
    assert ana.command("team", "repair")["requeued"] == 1
    ana.sync()
    ben.sync()
    assert ana.command("team", "status")["parked"] == []
    assert ben.titles() == sorted((DECISION, GOTCHA))


def test_an_entry_of_a_newer_version_is_applied_by_a_repair_after_the_upgrade(
    pair: tuple[Member, Member], database: Database
) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    ana.sync()
    change(database, f"update claude_mem_lite.entries set version = {VERSION + 1}")
    ben.sync()
    assert [parked["code"] for parked in ben.status()["parked"]] == ["newer_version"]
    assert ben.command("team", "repair") == {"requeued": 0, "applied": 0, "still_parked": 1}
    with closing(sqlite3.connect(ben.machine.home.memory_db)) as db, db:
        db.execute("update team_heads set version = ?", (VERSION,))  # the upgrade
    assert ben.command("team", "repair") == {"requeued": 0, "applied": 1, "still_parked": 0}
    assert ben.titles() == [DECISION]


def test_a_project_that_is_shared_again_is_received_again(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    ana.sync()
    ben.sync()
    ben.command("team", "unshare", ".")
    assert ben.titles() == []
    ben.share()
    ben.sync()
    assert ben.titles() == [DECISION]


def test_a_home_cannot_join_as_another_member(database: Database) -> None:
    with open_members(database, "ana", "ben", is_shared=False) as (ana, ben):
        refused = ana.machine.run("team", "join", ben.url, status=1)
        assert "this home is ana's device of a team" in refused.stderr
        assert "team leave" in refused.stderr
        assert ana.status()["member"] == "ana"
