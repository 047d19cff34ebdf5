"""Tests of `team/sync.py`: homes that synchronise with a real PostgreSQL server."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.db.connection import atomic
from claude_mem_lite.deadline import PAST
from claude_mem_lite.store import team as tables
from claude_mem_lite.team.entry import VERSION
from claude_mem_lite.team.members import revoke
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.seal import Seal, make_key, read_key
from claude_mem_lite.team.server import Greeting
from claude_mem_lite.team.sync import SyncCounts, open_seal, vector_of
from tests.support.fakes import SHOP, FakeEmbedder
from tests.support.postgres import Database
from tests.support.team_sync import Team, team_on

FIX = "Close the cursor before the pool"
DECISION = "Invoices are rounded per line"
SEAL = Seal(b"k" * 32)
OTHER_SEAL = Seal(b"x" * 32)


@pytest.fixture
def team(database: Database, tmp_path: Path) -> Iterator[Team]:
    with team_on(database, tmp_path) as made:
        yield made


@pytest.fixture
def sealed(database: Database, tmp_path: Path) -> Iterator[Team]:
    with team_on(database, tmp_path, SEAL) as made:
        yield made


def test_a_fix_learned_in_one_home_is_in_the_others(team: Team) -> None:
    ana, ben, cat = team.home("ana"), team.home("ben"), team.home("cat")
    ana.team.decide(FIX, kind="bugfix")
    assert ana.sync().pushed == 1
    assert [home.sync().pulled for home in (ben, cat)] == [1, 1]
    assert [(home.memory(FIX).origin, home.memory(FIX).author) for home in (ben, cat)] == [("team", "ana")] * 2


def test_a_forget_reaches_all_homes_and_leaves_no_text_on_the_server(team: Team) -> None:
    ana, ben, cat = team.home("ana"), team.home("ben"), team.home("cat")
    made = ana.team.decide(FIX)
    for home in (ana, ben, cat):
        home.sync()
    ana.forget(made.id)
    for home in (ana, ben, cat):
        home.sync()
    assert [home.team.titles() for home in (ana, ben, cat)] == [[], [], []]
    assert team.entries("op, body") == [("put", None), ("delete", None)]


def test_a_second_synchronisation_has_nothing_to_do(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    ana.team.decide(FIX)
    ana.sync()
    ben.sync()
    assert [home.sync() for home in (ana, ben)] == [SyncCounts(), SyncCounts()]
    assert not ana.sync().has_work()


def test_many_changes_go_and_come_in_small_batches(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    for number in range(7):
        ana.team.decide(f"{DECISION} {'abcdefg'[number] * 9}", summary=f"{'hijklmn'[number] * 7} was why.")
    assert ana.sync(fill_batch=2, push_batch=3).pushed == 7
    counts = ben.sync(fetch_batch=3, apply_batch=2)
    assert (counts.pulled, counts.projects) == (7, {SHOP.project})
    assert ben.team.titles() == ana.team.titles()


def test_two_devices_of_one_member_share_changes_in_both_directions(team: Team) -> None:
    laptop, desktop, ben = team.home("ana", "laptop"), team.home("ana", "desktop"), team.home("ben")
    laptop.team.decide(FIX)
    laptop.sync()
    desktop.sync()
    desktop.edit(FIX, "The pool keeps a closed cursor for ever.")
    for home in (desktop, laptop, ben):
        home.sync()
    assert [home.memory(FIX).summary for home in (laptop, ben)] == ["The pool keeps a closed cursor for ever."] * 2


def test_a_sealed_team_exchanges_memories_and_the_server_reads_none(sealed: Team) -> None:
    ana, ben = sealed.home("ana"), sealed.home("ben")
    ana.team.decide(FIX)
    ana.sync()
    ben.sync()
    assert ben.team.titles() == [FIX]
    ((body, words),) = sealed.database.rows(
        "select e.body, h.words from claude_mem_lite.entries e join claude_mem_lite.heads h using (project, uid)"
    )
    assert "cursor" not in body
    assert words is None


@pytest.mark.parametrize(("key", "code"), [(OTHER_SEAL, "wrong_key"), (None, "no_key")])
def test_a_third_machine_without_the_right_key_changes_nothing(sealed: Team, key: Seal | None, code: str) -> None:
    ana, third = sealed.home("ana"), sealed.home("ben", "third")
    ana.team.decide(FIX)
    ana.sync()
    third.team.decide(DECISION)
    before = list(third.db.iterdump())
    third.seal = key
    with pytest.raises(TeamError) as caught:
        third.sync()
    assert caught.value.code == code
    assert list(third.db.iterdump()) == before
    assert len(sealed.entries()) == 1
    assert sealed.database.rows("select id from claude_mem_lite.devices") == [("ana-device",)]
    third.seal = SEAL
    third.sync()
    assert third.team.titles() == [FIX, DECISION]


def test_a_host_that_says_a_sealed_team_is_open_gets_nothing(sealed: Team) -> None:
    ana = sealed.home("ana")
    ana.sync()
    with sealed.database.connect() as connection:
        connection.execute("update claude_mem_lite.team set is_sealed = false, key_check = null")
    ana.team.decide(FIX)
    with pytest.raises(TeamError) as caught:
        ana.sync()
    assert caught.value.code == "wrong_key"
    assert sealed.entries() == []


def test_a_mistyped_key_is_no_key() -> None:
    written = make_key()
    wrong = ("A" if written[5] != "A" else "C").join((written[:5], written[6:]))
    with pytest.raises(TeamError) as caught:
        read_key(wrong)
    assert caught.value.code == "wrong_key"


def test_a_team_for_newer_versions_only_is_refused() -> None:
    with pytest.raises(TeamError) as caught:
        open_seal(Greeting("t", "ana", False, None, False, VERSION + 1, {}), lambda: None)
    assert caught.value.code == "newer_schema"


def test_a_revoked_member_exchanges_nothing_and_loses_nothing(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    ana.sync()
    with team.database.connect() as connection:
        assert revoke(connection, "ana")
    ana.team.decide(FIX)
    with pytest.raises(TeamError) as caught:
        ana.sync()
    assert caught.value.code == "login"
    assert tables.has_marks(ana.db)
    ana.address = team.invite("ana")
    ana.sync()
    ben.sync()
    assert ben.team.titles() == [FIX]


def test_without_a_grant_entries_are_parked_and_sent_once_the_project_is_granted(team: Team) -> None:
    team.invite("ana", "f" * 32)
    ana, ben = team.home("ana"), team.home("ben")
    ben.team.decide(DECISION)
    ben.sync()
    ana.team.decide(FIX)
    assert ana.sync().rejected == 1
    assert [tuple(row) for row in ana.db.execute("select state, reason from team_log")] == [("parked", "no_grant")]
    assert ana.team.titles() == [FIX]
    assert not ana.sync().has_work()
    team.invite("ana")
    ana.sync()
    ben.sync()
    assert ana.team.titles() == ben.team.titles() == [FIX, DECISION]


def test_a_granted_project_that_is_not_shared_here_is_not_pulled(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    with atomic(ben.db):
        tables.unshare(ben.db, SHOP.project)
    ana.team.decide(FIX)
    ana.sync()
    assert ben.sync() == SyncCounts()
    assert (ben.team.titles(), tables.cursors(ben.db)) == ([], {})


def test_an_excluded_project_neither_sends_nor_receives(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    ana.team.decide(FIX)
    ana.sync()
    ben.team.excluded.add(SHOP.project)
    ben.team.decide(DECISION)
    assert ben.sync() == SyncCounts()
    assert ben.team.titles() == [DECISION]
    ben.team.excluded.clear()
    ben.sync()
    assert ben.team.titles() == [FIX, DECISION]


def test_a_database_of_another_team_gets_nothing(team: Team) -> None:
    ana = team.home("ana")
    with atomic(ana.db):
        tables.put_device(ana.db, replace(ana.this_device(), team="team of another company"))
    ana.team.decide(FIX)
    with pytest.raises(TeamError) as caught:
        ana.sync()
    assert caught.value.code == "other_team"
    assert team.entries() == []
    assert team.database.rows("select id from claude_mem_lite.devices") == []


def test_a_home_that_has_not_joined_is_told(team: Team) -> None:
    ana = team.home("ana")
    with atomic(ana.db):
        ana.db.execute("delete from team_device")
    with pytest.raises(TeamError) as caught:
        ana.sync()
    assert caught.value.code == "login"


def test_a_synchronisation_without_time_left_reaches_nobody(team: Team) -> None:
    ana = team.home("ana")
    ana.team.decide(FIX)
    with pytest.raises(TeamError) as caught:
        ana.sync(deadline=PAST)
    assert caught.value.code == "unreachable"
    assert tables.has_marks(ana.db)


def test_an_unreachable_server_changes_nothing_and_the_next_synchronisation_goes_on(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    ana.team.decide(FIX)
    ana.address, address = replace(ana.address, port=1), ana.address
    with pytest.raises(TeamError) as caught:
        ana.sync()
    assert caught.value.code == "unreachable"
    ana.address = address
    ana.sync()
    ben.sync()
    assert ben.team.titles() == [FIX]


def test_a_text_without_a_known_word_has_no_vector() -> None:
    assert vector_of(FakeEmbedder(), "") is None
    assert len(vector_of(FakeEmbedder(), "cursor") or []) == 256


def test_a_text_that_cannot_be_embedded_goes_without_a_vector(team: Team) -> None:
    ana, ben = team.home("ana"), team.home("ben")
    ana.embedder.unbearable = "cursor"
    ana.team.decide(FIX)
    ana.team.decide(DECISION)
    assert ana.sync().pushed == 2
    ben.sync()
    assert ben.team.titles() == [FIX, DECISION]
    assert team.database.rows("select count(embedding) from claude_mem_lite.heads") == [(1,)]
