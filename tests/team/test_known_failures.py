"""Failures of other synchronised memories, one test each, with homes that synchronise through a real PostgreSQL server.

Wrong keys are in `test_sync.py`, the worker's own rows in `tests/faults/test_team_worker.py`."""

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.store import memories
from claude_mem_lite.store import team as tables
from claude_mem_lite.team import outbox, replica
from claude_mem_lite.team.entry import VERSION, hash_of
from tests.support.fakes import NOW
from tests.support.postgres import Database
from tests.support.team_sync import SyncedHome, Team, team_on

TITLES = (
    "Invoices are rounded per line",
    "Caches live beside their owners",
    "Migrations run inside transactions",
    "Avatars come from gravatar",
    "Tokens expire at midnight",
)
FIRST, SECOND, THIRD, FOURTH, FIFTH = TITLES


@pytest.fixture
def team(database: Database, tmp_path: Path) -> Iterator[Team]:
    with team_on(database, tmp_path) as made:
        yield made


@pytest.fixture
def ana(team: Team) -> SyncedHome:
    return team.home("ana", "laptop")


@pytest.fixture
def ben(team: Team) -> SyncedHome:
    return team.home("ben")


def sync(*homes: SyncedHome) -> None:
    for home in homes:
        home.sync()


def repair(home: SyncedHome) -> None:
    """Do what `team repair` does with the local tables."""
    with atomic(home.db):
        outbox.requeue_parked(home.db)
    replica.retry_parked(home.db, seal=home.seal, now=NOW)


def decided(home: SyncedHome, *titles: str) -> None:
    for title in titles:
        home.team.decide(title, summary=f"{title} after {title[::-1].split()[0]} failed.")


def put_body(home: SyncedHome, title: str, body: str) -> None:
    """Give an entry that waits in the log another body, as another version would have made it."""
    with atomic(home.db):
        changed = home.db.execute(
            "update team_log set body = ?, hash = ? where memory = ?", (body, hash_of(body), home.memory(title).id)
        )
    assert changed.rowcount == 1


def fill(home: SyncedHome) -> None:
    """Write the entries of all changes to the log, without sending them."""
    home.team.fill()


@pytest.mark.parametrize("poison", ['{"title": "a\0b"}', "x" * 1_000_001], ids=["nul", "too long"])
def test_one_bad_row_at_the_head_of_the_outbox_does_not_block_it(ana: SyncedHome, ben: SyncedHome, poison: str) -> None:
    decided(ana, FIRST, SECOND, THIRD)
    fill(ana)
    put_body(ana, FIRST, poison)
    counts = ana.sync(push_batch=2)
    assert (counts.pushed, counts.rejected, ana.states()) == (2, 1, ["parked", "sent", "sent"])
    ben.sync()
    assert ben.team.titles() == [SECOND, THIRD]


def test_one_conflict_does_not_reject_the_batch_and_a_repair_sends_it(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    with team.database.connect() as connection:
        connection.execute(f"alter table claude_mem_lite.entries add constraint no check (body not like '%{SECOND}%')")
    decided(ana, FIRST, SECOND, THIRD)
    sync(ana, ben)
    assert ben.team.titles() == [FIRST, THIRD]
    with team.database.connect() as connection:
        connection.execute("alter table claude_mem_lite.entries drop constraint no")
    repair(ana)
    sync(ana, ben)
    assert ben.team.titles() == sorted((FIRST, SECOND, THIRD))
    assert ana.states() == ["sent"] * 3


def test_a_number_that_is_taken_on_the_server_blocks_nothing(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    ana.sync()
    with team.database.connect() as connection:
        connection.execute(
            """insert into claude_mem_lite.entries values
               (%s, 'laptop', 1, 'ana:other', 1, 'delete', null, %s, 'ana', now(), 1)""",
            (team.key, hash_of(None)),
        )
    decided(ana, FIRST)
    sync(ana, ben)
    assert (ben.team.titles(), ana.states()) == ([FIRST], ["sent"])
    assert ana.this_device().id != "laptop"


def test_a_re_minted_device_id_keeps_the_identity_of_pending_deletes(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    decided(ana, FIRST, SECOND)
    sync(ana, ben)
    ana.forget(ana.memory(FIRST).id)
    fill(ana)
    with team.database.connect() as connection:
        connection.execute("update claude_mem_lite.devices set token = 'of a copy'")
    sync(ana, ben)
    assert ana.this_device().id != "laptop"
    assert (ana.team.titles(), ben.team.titles()) == ([SECOND], [SECOND])
    assert [op for (op,) in team.entries("op") if op == "delete"] == ["delete"]


def test_a_validation_added_later_does_not_make_old_rows_unsendable(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    decided(ana, FIRST, SECOND, THIRD)
    fill(ana)
    put_body(ana, FIRST, '{"kind": "of an older version"}')
    put_body(ana, SECOND, "no JSON at all")
    assert ana.sync().pushed == 3
    counts = ben.sync()
    assert (counts.pulled, counts.parked, ben.team.titles()) == (3, 2, [THIRD])
    assert {reason for _, reason in replica.parked(ben.db)} == {"bad_body"}


def test_a_memory_whose_old_body_breaks_a_new_limit_can_still_be_changed(ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST)
    ana.sync()
    with atomic(ana.db):
        ana.db.execute("update team_heads set body = 'no JSON at all'")
    ana.edit(FIRST, "Rounded totals differ from the bank's.")
    sync(ana, ben)
    assert ben.memory(FIRST).summary == "Rounded totals differ from the bank's."


def test_bodies_of_older_and_newer_clients_have_their_own_hashes(ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST, SECOND, THIRD)
    fill(ana)
    bodies = {title: json.loads(body) for title, body in bodies_of(ana).items()}
    older = {name: bodies[FIRST][name] for name in ("kind", "title", "created_at")}
    newer = {"urgency": {"level": 3}, **bodies[SECOND]}
    put_body(ana, FIRST, json.dumps(older, indent=1))
    put_body(ana, SECOND, json.dumps(newer, ensure_ascii=True, separators=(" , ", " : ")))
    sync(ana, ben)
    assert ben.team.titles() == sorted((FIRST, SECOND, THIRD))
    assert replica.parked(ben.db) == []


def test_an_entry_of_a_newer_version_waits_for_an_upgrade_and_the_rest_goes_on(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    decided(ana, FIRST, SECOND)
    ana.sync()
    with team.database.connect() as connection:
        connection.execute("update claude_mem_lite.entries set version = %s where seq = 1", (VERSION + 1,))
    ben.sync()
    assert (ben.team.titles(), [reason for _, reason in replica.parked(ben.db)]) == ([SECOND], ["newer_version"])
    with atomic(ben.db):
        ben.db.execute("update team_heads set version = ? where state = 'parked'", (VERSION,))  # the upgrade
    repair(ben)
    assert ben.team.titles() == sorted((FIRST, SECOND))


def test_what_is_personal_never_replicates(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    ana.team.decide(FIRST, scope="universal")
    ana.team.decide(SECOND, kind="preference")
    ana.team.decide(THIRD, tags=("Private",))
    ana.team.decide(FOURTH, kind="correction")
    ana.team.decide(FIFTH, status="quarantined")
    sync(ana, ben)
    assert team.entries() == []
    assert ben.team.titles() == []


def test_a_memory_made_personal_later_leaves_the_team(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST)
    sync(ana, ben)
    ana.team.change(ana.memory(FIRST), scope="universal")
    sync(ana, ben)
    assert (ana.team.titles(), ben.team.titles()) == ([FIRST], [])
    assert team.entries("body") == [(None,), (None,)]


@pytest.mark.parametrize("days", [-3, 3])
def test_a_clock_three_days_off_decides_nothing_and_no_delete_comes_back(
    team: Team, ana: SyncedHome, ben: SyncedHome, days: int
) -> None:
    desktop = team.home("ana", "desktop")
    decided(ana, FIRST, SECOND)
    sync(ana, desktop, ben)
    ana.now = NOW + timedelta(days=days)
    desktop.now = NOW - timedelta(days=days)
    ana.edit(FIRST, "Sent first.")
    ana.forget(ana.memory(SECOND).id)
    sync(ana, desktop)
    desktop.edit(FIRST, "Sent second.")
    sync(desktop, ana, ben, desktop, ana)
    assert [home.memory(FIRST).summary for home in (ana, desktop, ben)] == ["Sent second."] * 3
    assert [home.team.titles() for home in (ana, desktop, ben)] == [[FIRST]] * 3


def test_a_delete_wins_over_an_edit_made_offline_with_a_clock_ahead(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    desktop = team.home("ana", "desktop")
    decided(ana, FIRST)
    sync(ana, desktop, ben)
    desktop.now = NOW + timedelta(days=3)
    desktop.edit(FIRST, "Made offline.")
    ana.forget(ana.memory(FIRST).id)
    sync(ana, desktop, ben, ana, desktop, ben)
    assert [home.team.titles() for home in (ana, desktop, ben)] == [[], [], []]


def test_machine_local_values_never_travel(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST)
    sync(ana, ben)
    for home in (ana, ben):
        with atomic(home.db):
            changed = home.db.execute(
                "update memories set pinned = 1, confidence = 0.9, trust = 0.1, detail = 'seen here', session = 'other'"
            )
        assert changed.rowcount == 1
    before = [memories.get(home.db, home.memory(FIRST).id) for home in (ana, ben)]
    assert [home.sync().has_work() for home in (ana, ben, ana)] == [False] * 3
    assert [memories.get(home.db, home.memory(FIRST).id) for home in (ana, ben)] == before
    ((body,),) = team.entries("body")
    assert not {"pinned", "confidence", "trust", "detail", "session", "last_seen_at"} & set(json.loads(str(body)))


def test_a_copied_home_gets_an_id_of_its_own_and_both_go_on(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST)
    ana.sync()
    ana.copy_to(team.folder / "copy.db")
    copy = team.adopt(team.folder / "copy.db", "ana", "laptop")
    decided(ana, SECOND)
    decided(copy, THIRD)
    sync(ana, copy, ana, ben)
    assert [home.team.titles() for home in (ana, copy, ben)] == [sorted((FIRST, SECOND, THIRD))] * 3
    assert (ana.this_device().id, copy.this_device().id != "laptop") == ("laptop", True)
    uids = team.entries("uid")
    assert len(uids) == len(set(uids)) == 3


def test_a_copied_home_that_was_never_connected_gets_an_id_of_its_own(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    decided(ana, FIRST)
    ana.copy_to(team.folder / "copy.db")
    copy = team.adopt(team.folder / "copy.db", "ana", "laptop")
    decided(copy, THIRD)
    sync(ana, copy, ana, copy, ben)
    assert [home.team.titles() for home in (ana, copy, ben)] == [sorted((FIRST, THIRD))] * 3
    assert ana.this_device().id != copy.this_device().id


def test_a_laptop_restored_from_a_backup_reuses_no_number_and_gets_its_lost_memories_back(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    decided(ana, FIRST, SECOND)
    ana.sync()
    ana.copy_to(team.folder / "backup")
    decided(ana, THIRD)
    ana.edit(FIRST, "Edited after the backup.")
    ana.forget(ana.memory(SECOND).id)
    sync(ana, ben)
    ana.db.close()
    team.homes.remove(ana)
    for name in ("laptop.db-wal", "laptop.db-shm"):
        (team.folder / name).unlink(missing_ok=True)
    shutil.copy(team.folder / "backup", team.folder / "laptop.db")
    restored = team.adopt(team.folder / "laptop.db", "ana", "laptop")
    decided(restored, FOURTH)
    sync(restored, ben, restored)
    assert restored.team.titles() == ben.team.titles() == sorted((FIRST, THIRD, FOURTH))
    assert [home.memory(FIRST).summary for home in (restored, ben)] == ["Edited after the backup."] * 2
    assert restored.this_device().id != "laptop"


def test_a_server_restored_from_a_backup_gets_everything_again(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST, SECOND)
    ana.sync(push_batch=1)
    with team.database.connect() as connection:
        connection.execute("delete from claude_mem_lite.entries where seq = 2")
        connection.execute("delete from claude_mem_lite.heads where seq = 2")
        connection.execute("update claude_mem_lite.logs set last_seq = 1")
        connection.execute("update claude_mem_lite.devices set token = 'of the backup'")
    sync(ana, ben)
    assert ben.team.titles() == sorted((FIRST, SECOND))


def test_sharing_a_project_again_takes_back_no_change_of_another_device(
    team: Team, ana: SyncedHome, ben: SyncedHome
) -> None:
    desktop = team.home("ana", "desktop")
    decided(ana, FIRST, SECOND)
    sync(ana, desktop)
    desktop.edit(FIRST, "Changed at the desktop.")
    desktop.sync()
    with atomic(ana.db):
        tables.share(ana.db, replace(tables.shares(ana.db)[0], handoffs=True))
    sync(ana, desktop, ben)
    assert [home.memory(FIRST).summary for home in (ana, desktop, ben)] == ["Changed at the desktop."] * 3


def test_an_entry_with_an_impossible_time_blocks_nothing(team: Team, ana: SyncedHome, ben: SyncedHome) -> None:
    decided(ana, FIRST, SECOND, THIRD)
    ana.sync()
    with team.database.connect() as connection:
        for seq, at in ((1, "infinity"), (2, "20000-01-01"), (3, "0400-01-01 BC")):
            connection.execute("update claude_mem_lite.entries set at = %s where seq = %s", (at, seq))
    assert ben.sync().pulled == 3
    assert ben.team.titles() == sorted((FIRST, SECOND, THIRD))


def bodies_of(home: SyncedHome) -> dict[str, str]:
    """Return the bodies in the log by the titles of their memories."""
    rows = home.db.execute("select m.title, l.body from team_log l join memories m on m.id = l.memory")
    return {row["title"]: row["body"] for row in rows}
