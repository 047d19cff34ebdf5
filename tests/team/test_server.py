"""Tests of `team/server.py`: reading of one member on a real server."""

from dataclasses import replace

import pytest

from claude_mem_lite.team.reasons import TeamError
from claude_mem_lite.team.server import OutgoingEntry
from tests.support.postgres import Database
from tests.support.team_members import SECRET, SHOP, connected, entry, invited, joined, outgoing


def test_the_greeting_tells_member_and_projects(database: Database) -> None:
    with connected(invited(database, "ana", SHOP, SECRET)) as ana:
        greeting = ana.greeting()
    assert (greeting.member, greeting.is_sealed, greeting.key_check) == ("ana", False, None)
    assert (greeting.has_vectors, greeting.min_version) == (True, 1)
    assert greeting.projects == {SHOP: "project a", SECRET: "project b"}


def test_a_team_that_needs_a_newer_protocol_is_told(database: Database) -> None:
    with connected(invited(database, "ana")) as ana, database.connect() as connection:
        connection.execute("update claude_mem_lite.team set min_version = 2")
        with pytest.raises(TeamError) as caught:
            ana.greeting()
    assert caught.value.code == "newer_schema"


def test_an_administrator_who_is_no_member_is_told(database: Database) -> None:
    with connected(database.address) as server, pytest.raises(TeamError) as caught:
        server.greeting()
    assert caught.value.code == "login"


def test_a_role_outside_of_the_team_is_told(database: Database) -> None:
    with database.connect() as connection:
        connection.execute("create role visitor login password 'x'")
    with pytest.raises(TeamError) as caught:
        connected(database.address.of_member("visitor", "x"))
    assert caught.value.code == "login"


def test_a_registered_device_has_its_token(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.register_device("ana-device", "token-0")
        assert (ana.token_of("ana-device"), ana.token_of("other")) == ("token-0", None)


def test_a_device_id_with_another_token_is_a_clone(database: Database) -> None:
    with joined(database, "ana") as ana, pytest.raises(TeamError) as caught:
        ana.register_device("ana-device", "other")
    assert caught.value.code == "cloned"


def test_a_device_id_of_another_member_is_a_clone(database: Database) -> None:
    with joined(database, "ana"), joined(database, "ben") as ben, pytest.raises(TeamError) as caught:
        ben.register_device("ana-device", "token-0")
    assert caught.value.code == "cloned"


def test_another_member_fetches_what_was_sent(database: Database) -> None:
    sent = [entry(number, f"m{number}") for number in (1, 2, 3)]
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        ana.push(outgoing(*sent), "ana-device", "token-0", "token-1")
        assert ben.positions() == {(SHOP, "ana-device"): 3}
        assert ben.fetch(SHOP, "ana-device", 0, 2) == sent[:2]
        assert ben.fetch(SHOP, "ana-device", 2, 2) == sent[2:]


def test_a_member_without_the_project_fetches_nothing(database: Database) -> None:
    with joined(database, "ana") as ana, joined(database, "ben", SECRET) as ben:
        ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
        assert (ben.positions(), ben.fetch(SHOP, "ana-device", 0, 10)) == ({}, [])
        assert ben.search("m1", [0.1] * 256, 10) == []


def test_search_finds_any_word_and_prefers_more_words(database: Database) -> None:
    bodies = {"m1": "retry the payment after a timeout", "m2": "payment provider", "m3": "colours of the page"}
    sent = [entry(number, name, body=body) for number, (name, body) in enumerate(bodies.items(), 1)]
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        ana.push(outgoing(*sent), "ana-device", "token-0", "token-1")
        hits = ben.search("payment timeout", None, 10)
    assert [(hit.uid, hit.author, hit.body) for hit in hits] == [
        ("ana:m1", "ana", bodies["m1"]),
        ("ana:m2", "ana", bodies["m2"]),
    ]


@pytest.mark.parametrize("words", ["", "   ", "& | !", "'", "a:*b <-> (", "-", "%s"])
def test_search_takes_any_text(database: Database, words: str) -> None:
    with joined(database, "ana") as ana:
        assert ana.search(words, None, 10) == []


def test_search_finds_the_nearest_vectors(database: Database) -> None:
    sent = outgoing(*(entry(number, f"m{number}") for number in (1, 2, 3)))
    vectors = [[1.0] + [0.0] * 255, [0.8, 0.6] + [0.0] * 254, [0.0, 1.0] + [0.0] * 254]
    with joined(database, "ana") as ana:
        pairs = [replace(one, vector=vector) for one, vector in zip(sent, vectors, strict=True)]
        ana.push(pairs, "ana-device", "token-0", "token-1")
        hits = ana.search("", [1.0, 0.1] + [0.0] * 254, 2)
    assert [hit.uid for hit in hits] == ["ana:m1", "ana:m2"]


def test_search_can_use_the_index_of_words(database: Database) -> None:
    with database.connect() as connection:
        connection.execute(
            """
            insert into claude_mem_lite.heads
            select 'p', 'ana:' || n, 1, 'd', n, 'put', 'ana', to_tsvector('simple', 'word' || n)
            from generate_series(1, 3000) n
            """
        )
        connection.execute("analyze claude_mem_lite.heads")
        plan = connection.execute(
            "explain select * from claude_mem_lite.heads where words @@ 'word7'::tsquery and project = any (array['p'])"
        ).fetchall()
    assert "words_idx" in str(plan)


def test_a_server_that_dies_is_unreachable(database: Database) -> None:
    with joined(database, "ana") as ana, database.connect() as connection:
        connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'cml_ana'")
        with pytest.raises(TeamError) as caught:
            ana.positions()
    assert caught.value.code == "unreachable"


def test_leaving_deletes_what_the_device_sent(database: Database) -> None:
    other = entry(1, "kept", device="laptop")
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        ana.register_device("laptop", "token-0")
        ana.push(outgoing(entry(1), entry(2, "m2"), entry(3, "m2", rev=2)), "ana-device", "token-0", "token-1")
        ana.push(outgoing(other), "laptop", "token-0", "token-1")
        assert ana.remove_device("ana-device") == 2
        received = ben.fetch(SHOP, "ana-device", 0, 10)
        assert [one.body for one in received] == [None] * 5
        assert [(one.seq, one.uid, one.rev, one.op) for one in received[3:]] == [
            (4, "ana:m1", 2, "delete"),
            (5, "ana:m2", 3, "delete"),
        ]
        assert ben.positions()[SHOP, "ana-device"] == 5
        assert ben.fetch(SHOP, "laptop", 0, 10) == [other]
        assert [hit.uid for hit in ben.search("m1 m2 kept", None, 10)] == ["ana:kept"]


def test_leaving_twice_deletes_nothing_more(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
        assert [ana.remove_device("ana-device"), ana.remove_device("ana-device")] == [1, 0]


def test_a_device_that_left_cannot_go_on_under_its_id(database: Database) -> None:
    with joined(database, "ana") as ana:
        ana.remove_device("ana-device")
        with pytest.raises(TeamError) as caught:
            ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
    assert caught.value.code == "cloned"


def test_a_device_of_another_member_is_not_removed(database: Database) -> None:
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        ana.push(outgoing(entry(1)), "ana-device", "token-0", "token-1")
        assert ben.remove_device("ana-device") == 0
        assert ben.fetch(SHOP, "ana-device", 0, 10) == [entry(1)]


@pytest.mark.parametrize("at", ["infinity", "-infinity", "4000-01-01 BC", "20000-01-01"])
def test_a_time_that_no_calendar_here_has_does_not_stop_the_readers(database: Database, at: str) -> None:
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        ana.push(outgoing(entry(1), entry(2, "m2")), "ana-device", "token-0", "token-1")
        with database.connect() as connection:
            connection.execute("update claude_mem_lite.entries set at = %s where seq = 1", [at])
        assert [one.seq for one in ben.fetch(SHOP, "ana-device", 0, 10)] == [1, 2]
        assert len(ben.search("m1 m2", None, 10)) == 2


def test_a_fetch_ends_early_if_its_bodies_are_large(database: Database) -> None:
    with joined(database, "ana") as ana, joined(database, "ben") as ben:
        large = [entry(seq, f"m{seq}", body="x" * 900_000) for seq in range(1, 13)]
        large.append(entry(13, "m1", rev=2, op="delete"))
        ana.push([OutgoingEntry(one) for one in large], "ana-device", "token-0", "token-1")
        first = ben.fetch(SHOP, "ana-device", 0, 500)
        assert 1 <= len(first) < 12
        rest = ben.fetch(SHOP, "ana-device", first[-1].seq, 500)
        assert [one.seq for one in (*first, *rest)] == list(range(1, 14))
