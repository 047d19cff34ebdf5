"""Tests of `team/push.py` on a real server: tokens, clones, bad entries, deletions, and a server that is killed."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import psycopg
import pytest

from claude_mem_lite.team.entry import Entry
from claude_mem_lite.team.push import OutgoingEntry, PushResult
from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.server import TeamServer
from tests.support.database_front import database_front
from tests.support.postgres import Database, PostgresServer, fresh_database, running_server
from tests.support.team_members import SECRET, SHOP, connected, entry, invited, joined, outgoing

DEVICE = "ana-device"


def _heads(database: Database) -> list[tuple[object, ...]]:
    return database.rows("select uid, rev, device, op, words is null from claude_mem_lite.heads order by uid")


def _seqs(database: Database) -> list[int]:
    return [seq for (seq,) in database.rows("select seq from claude_mem_lite.entries order by seq")]


def _push(server: TeamServer, *entries: Entry, token: int = 0, device: str = DEVICE) -> PushResult:
    return server.push(outgoing(*entries), device, f"token-{token}", f"token-{token + 1}")


def test_all_entries_of_a_batch_are_sent(database: Database) -> None:
    with joined(database, "ana") as ana:
        result = _push(ana, entry(1), entry(2, "m2"))
    assert result == PushResult((entry(1), entry(2, "m2")), ())
    assert _heads(database) == [("ana:m1", 1, DEVICE, "put", False), ("ana:m2", 1, DEVICE, "put", False)]


def test_an_empty_batch_exchanges_the_token(database: Database) -> None:
    with joined(database, "ana") as ana:
        assert _push(ana) == PushResult()
        assert ana.token_of(DEVICE) == "token-1"


def test_a_batch_sent_again_after_a_lost_confirmation_is_not_doubled(database: Database) -> None:
    with joined(database, "ana") as ana:
        _push(ana, entry(1), entry(2, "m2"))
        again = _push(ana, entry(1), entry(2, "m2"), entry(3, "m3"))
        assert len(again.sent) == 3
        _push(ana, entry(4, "m4"), token=1)
    assert _seqs(database) == [1, 2, 3, 4]


def test_a_device_with_an_old_token_is_a_clone(database: Database) -> None:
    with joined(database, "ana") as ana:
        _push(ana, entry(1))
        _push(ana, entry(2), token=1)
        with pytest.raises(TeamError) as caught:
            _push(ana, entry(2, "other"))
    assert caught.value.code == "cloned"
    assert _seqs(database) == [1, 2]


def test_a_device_that_the_server_does_not_know_is_a_clone(database: Database) -> None:
    with connected(invited(database, "ana")) as ana, pytest.raises(TeamError) as caught:
        _push(ana, entry(1))
    assert caught.value.code == "cloned"


def test_another_entry_under_the_same_number_is_a_clone_and_changes_nothing(database: Database) -> None:
    with joined(database, "ana") as ana:
        _push(ana, entry(1))
        with pytest.raises(TeamError) as caught:
            _push(ana, entry(1, "other"), entry(2), token=1)
        assert (caught.value.code, ana.token_of(DEVICE)) == ("cloned", "token-1")
    assert _seqs(database) == [1]


def test_two_homes_with_one_id_cannot_both_push(database: Database) -> None:
    address = invited(database, "ana")
    with connected(address) as first, connected(address) as second:
        first.register_device(DEVICE, "token-0")
        first.push(outgoing(entry(1)), DEVICE, "token-0", "first")
        with pytest.raises(TeamError) as caught:
            second.push(outgoing(entry(1, "other")), DEVICE, "token-0", "second")
    assert caught.value.code == "cloned"


@pytest.mark.parametrize(
    ("poison", "reason"),
    [
        (entry(2, "m2", body="a\x00b"), "rejected"),
        (replace(entry(2, "m2"), body="a\ud800b"), "rejected"),
        (replace(entry(2, "m2"), hash="short"), "rejected"),
        (replace(entry(2, "m2"), rev=0), "rejected"),
        (replace(entry(2, "m2"), seq=2**70), "rejected"),
        (replace(entry(2, "m2"), op="drop"), "rejected"),  # type: ignore[arg-type]
        (replace(entry(2, "m2"), uid="ben:m2"), "no_grant"),
        (replace(entry(2, "m2"), author="ben", uid="ben:m2"), "no_grant"),
        (entry(2, "m2", project=SECRET), "no_grant"),
        (replace(entry(2, "m2"), device="other-device"), "rejected"),
    ],
    ids=lambda value: value if isinstance(value, str) else "entry",
)
def test_a_bad_entry_in_the_middle_is_rejected_alone(database: Database, poison: Entry, reason: str) -> None:
    with joined(database, "ana") as ana:
        batch = [*outgoing(entry(1)), OutgoingEntry(poison, "words"), *outgoing(entry(3, "m3"))]
        result = ana.push(batch, DEVICE, "token-0", "token-1")
        assert (ana.token_of(DEVICE), ana.positions()) == ("token-1", {(SHOP, DEVICE): 3})
    assert result.sent == (entry(1), entry(3, "m3"))
    assert [(rejected.entry, rejected.reason) for rejected in result.rejected] == [(poison, reason)]
    assert _seqs(database) == [1, 3]


def test_a_vector_of_a_wrong_size_is_rejected_alone(database: Database) -> None:
    with joined(database, "ana") as ana:
        result = ana.push([OutgoingEntry(entry(1), "words", [1.0])], DEVICE, "token-0", "token-1")
    assert [rejected.reason for rejected in result.rejected] == ["rejected"]
    assert _heads(database) == []


def test_a_failure_that_is_not_about_content_is_raised(database: Database) -> None:
    address = invited(database, "ana")
    with connected(address) as ana:
        ana.register_device(DEVICE, "token-0")
    with database.connect() as connection:
        connection.execute("alter role cml_ana set default_transaction_read_only = on")
    with connected(address) as ana:
        with pytest.raises(TeamError) as caught:
            _push(ana, entry(1))
        assert ana.token_of(DEVICE) == "token-0"
    assert caught.value.code == "read_only"


def test_a_full_disk_is_told_and_changes_nothing(database: Database) -> None:
    """A trigger raises the error of a full disk: filling one is left to the machine."""
    with joined(database, "ana") as ana, database.connect() as connection:
        connection.execute(
            """
            create function full_disk() returns trigger language plpgsql as
                $$ begin raise exception using errcode = 'disk_full'; end $$;
            create trigger full_disk before insert on claude_mem_lite.entries for each row execute function full_disk()
            """
        )
        with pytest.raises(TeamError) as caught:
            _push(ana, entry(1))
        assert (caught.value.code, ana.token_of(DEVICE)) == ("full", "token-0")


def test_the_head_is_the_newest_entry_in_any_order_of_arrival(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.register_device("laptop", "token-0")
        _push(ana, entry(1, rev=3), entry(2, rev=2))
        _push(ana, entry(1, rev=3, device="laptop"), device="laptop")
        _push(ana, entry(3, rev=1), token=1)
    assert _heads(database) == [("ana:m1", 3, "laptop", "put", False)]


def test_a_delete_removes_all_bodies_and_the_words(database: Database) -> None:
    with joined(database, "ana") as ana:
        _push(ana, entry(1), entry(2, rev=2), entry(3, "m2"))
        _push(ana, entry(4, rev=3, op="delete"), token=1)
        bodies = [one.body for one in ana.fetch(SHOP, DEVICE, 0, 10)]
        assert ana.search("m1", None, 10) == []
    assert bodies == [None, None, entry(3, "m2").body, None]
    assert _heads(database)[0] == ("ana:m1", 3, DEVICE, "delete", True)


def test_the_vector_is_that_of_the_newest_revision_and_leaves_with_a_delete(database: Database) -> None:
    nonzero = "select array_position(embedding::real[], 1) from claude_mem_lite.heads"
    found = []
    with joined(database, "ana") as ana:
        for number, sent in enumerate((entry(1), entry(2, rev=2), entry(3, rev=3, op="delete"))):
            vector = None if sent.op == "delete" else [float(place == number) for place in range(256)]
            ana.push([OutgoingEntry(sent, "words", vector)], DEVICE, f"token-{number}", f"token-{number + 1}")
            found += database.rows(nonzero)
    assert found == [(1,), (2,), (None,)]


def test_a_body_that_arrives_after_its_deletion_is_not_kept(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.register_device("laptop", "token-0")
        _push(ana, entry(1), entry(2, rev=3, op="delete"))
        _push(ana, entry(1, rev=2, device="laptop"), device="laptop")
        assert [one.body for one in ana.fetch(SHOP, "laptop", 0, 10)] == [None]
        assert _push(ana, entry(1, rev=2, device="laptop"), device="laptop").sent  # again, after a lost confirmation
    assert _heads(database) == [("ana:m1", 3, DEVICE, "delete", True)]


def test_a_memory_shared_again_after_its_deletion_has_a_body(database: Database) -> None:
    with joined(database, "ana") as ana:
        _push(ana, entry(1), entry(2, rev=2, op="delete"), entry(3, rev=3))
        assert [one.body for one in ana.fetch(SHOP, DEVICE, 0, 10)] == [None, None, entry(3, rev=3).body]
    assert _heads(database) == [("ana:m1", 3, DEVICE, "put", False)]


@pytest.fixture(scope="module")
def own_server() -> Iterator[PostgresServer]:
    """A server that tests of this module may kill."""
    with running_server() as server:
        yield server


@pytest.fixture
def mortal(own_server: PostgresServer) -> Iterator[Database]:
    with fresh_database(own_server) as database:
        yield database


def test_a_server_killed_in_the_middle_of_a_batch_loses_and_doubles_nothing(mortal: Database) -> None:
    address = invited(mortal, "ana")
    batch = [entry(number, f"m{number}") for number in range(1, 201)]
    failures: list[str] = []

    def push_and_fail(server: TeamServer) -> None:
        try:
            _push(server, *batch[100:], token=1)
        except TeamError as error:
            failures.append(error.code)

    with connected(address) as ana:
        ana.register_device(DEVICE, "token-0")
        _push(ana, *batch[:100])
        blocker = mortal.connect()
        _block_entry(blocker, batch[150])
        thread = threading.Thread(target=push_and_fail, args=(ana,))
        thread.start()
        _wait_for_lock(mortal)
        mortal.server.kill()
        thread.join()
    blocker.close()
    mortal.server.start()
    assert failures == ["unreachable"]
    assert _seqs(mortal) == list(range(1, 101))
    with connected(address) as ana:
        assert len(_push(ana, *batch[100:], token=1).sent) == 100
        assert ana.fetch(SHOP, DEVICE, 0, 500) == batch


def test_a_confirmation_lost_by_a_cut_connection_is_repaired_by_the_next_push(database: Database) -> None:
    address = invited(database, "ana")
    with connected(address) as ana:
        ana.register_device(DEVICE, "token-0")
    with database_front(database.server.port) as front:
        cut = connected(replace(address, port=front.port))
        front.is_silent.set()
        sender = threading.Thread(target=_push_into_silence, args=(cut,))
        sender.start()
        front.close()
        sender.join()
    with connected(address) as ana:
        assert _push(ana, entry(1)).sent == (entry(1),)
    assert _seqs(database) == [1]


def _push_into_silence(server: TeamServer) -> None:
    with pytest.raises(TeamError):
        _push(server, entry(1))


def _block_entry(connection: psycopg.Connection[tuple[object, ...]], blocked: Entry) -> None:
    """Insert an entry without a commit: whoever inserts the same one waits."""
    connection.autocommit = False
    connection.execute(
        """
        insert into claude_mem_lite.entries
        values (%s, %s, %s, 'ana:blocked', 1, 'put', 'x', repeat('0', 64), 'ana', now(), 1)
        """,
        (blocked.project, blocked.device, blocked.seq),
    )


def _wait_for_lock(database: Database) -> None:
    for _ in range(10_000):
        if database.rows("select 1 from pg_stat_activity where usename = 'cml_ana' and wait_event_type = 'Lock'"):
            return
    raise AssertionError("the push did not come to the blocked entry")


def test_the_highest_revision_there_can_be_does_not_block_leaving(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.push(outgoing(entry(1, rev=2**63 - 1), entry(2, "m2")), "ana-device", "token-0", "token-1")
        assert ana.remove_device("ana-device") == 2
    assert database.rows("select count(*) from claude_mem_lite.entries where body is not null") == [(0,)]
