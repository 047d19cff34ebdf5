"""Tests of wrong and unusual use of the team commands: each message names the next step, and nothing is lost."""

import json
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.git_repositories import make_checkout
from tests.support.postgres import Database, PostgresServer, fresh_database
from tests.support.running import Machine, open_machine
from tests.support.team_workers import REMOTE, Member, open_members

GOTCHA = "The CI cache must be cleared after a lockfile change, since it keeps the old node_modules"


@pytest.fixture
def machine() -> Iterator[Machine]:
    with open_machine() as made:
        made.start_worker()
        yield made


@pytest.fixture
def empty_database(postgres: PostgresServer) -> Iterator[Database]:
    with fresh_database(postgres, is_set_up=False) as database:
        yield database


@pytest.fixture
def ana(database: Database) -> Iterator[Member]:
    """A member who has joined and shares nothing."""
    with open_members(database, "ana", is_shared=False) as (ana,):
        yield ana


def test_the_set_up_speaks_to_an_administrator(machine: Machine, empty_database: Database) -> None:
    address = empty_database.address
    steps = {
        replace(address, password="wrong").url(): "check the role and the password in the connection string",
        replace(address, database="nowhere").url(): "make the database first, such as with `createdb NAME`",
        replace(address, port=1).url(): "check host, port and network",
    }
    for url, step in steps.items():
        assert step in machine.run("team", "init", url, status=1).stderr


def test_an_open_team_is_not_sealed_later(machine: Machine, database: Database) -> None:
    refused = machine.run("team", "init", "--sealed", database.address.url(), status=1)
    assert "make another database for a sealed team" in refused.stderr
    assert not machine.home.team_key.exists()


def test_a_sealed_team_keeps_its_key(machine: Machine, empty_database: Database) -> None:
    url = empty_database.address.url()
    assert "Team key, shown only now" in machine.run("team", "init", "--sealed", url).stdout
    again = machine.run("team", "init", "--sealed", url).stdout
    assert "sealed and keeps the key" in again
    assert "shown only now" not in again


def test_a_project_that_is_named_twice_is_granted_once(machine: Machine, database: Database) -> None:
    url = database.address.url()
    twice = ("--project", REMOTE, "--project", "git@github.com:acme/shop.git")
    assert machine.run("team", "invite", "ana", *twice, "--url", url).stdout.startswith(f"ana may share {REMOTE}.\n")
    again = machine.run("team", "invite", "ana", *twice, "--url", url).stdout
    assert "--new-password makes another" in again


def test_members_are_listed_with_their_devices(ana: Member, database: Database) -> None:
    ana.sync()
    (member,) = ana.command("team", "members", "--url", database.address.url())
    assert (member["devices"], member["projects"]) == (1, [REMOTE])
    assert member["synchronised_at"]


def test_a_member_is_revoked_once(ana: Member, database: Database) -> None:
    revoke = ("team", "revoke", "ana", "--url", database.address.url())
    ana.machine.run(*revoke)
    assert "no member ana with access" in ana.machine.run(*revoke, status=1).stderr


def test_a_database_that_is_not_there_is_a_wrong_name_for_a_member(ana: Member) -> None:
    refused = ana.machine.run("team", "join", f"{ana.url}x", status=1)
    assert "check the name of the database" in refused.stderr


def test_joining_again_says_what_is_shared(ana: Member) -> None:
    assert "Nothing is shared yet." in ana.machine.run("team", "join", ana.url).stdout
    ana.share()
    assert "Shared from here: shop." in ana.machine.run("team", "join", ana.url).stdout


def test_a_key_outside_of_a_team_is_not_called_wrong(machine: Machine) -> None:
    assert "this home is in no team" in machine.run("team", "key", "abc", status=1).stderr


def test_without_a_command_the_state_is_shown(ana: Member) -> None:
    shown = ana.machine.run("team").stdout
    assert shown.startswith("Member ana")
    assert "Nothing is shared" in shown


def test_without_a_command_and_without_a_team_the_help_is_shown(machine: Machine) -> None:
    shown = machine.run("team").stdout
    assert shown.startswith("Usage:")
    assert shown.endswith("This machine is in no team. `claude-mem-lite team join` joins one, `team init` makes one.\n")


def test_a_folder_without_a_memory_receives_from_the_first_day(database: Database) -> None:
    with open_members(database, "ana", "ben", is_shared=False) as (ana, ben):
        ana.share()
        ana.remember("gotcha", GOTCHA)
        ana.sync()
        assert ben.command("team", "preview", "--project", ".")["memories"] == []
        assert ben.command("team", "share", ".")["name"] == "shop"
        ben.sync()
        assert ben.titles() == [GOTCHA]


def test_an_excluded_folder_without_a_memory_is_not_shared(ana: Member) -> None:
    ana.machine.home.config.write_text(f'exclude = ["{ana.checkout}"]\n')
    refused = ana.machine.run("team", "share", ana.checkout, status=1)
    assert "excluded by the settings" in refused.stderr
    assert ana.machine.get("/api/projects")["projects"] == []


def test_a_folder_without_a_remote_is_refused(ana: Member) -> None:
    plain = make_checkout(ana.machine.user_home / "plain").root
    assert "add a remote" in ana.machine.run("team", "share", plain, status=1).stderr


def test_an_unknown_project_asks_for_the_folder(ana: Member) -> None:
    for command in ("share", "unshare"):
        assert "give the folder of your clone" in ana.machine.run("team", command, "nosuch", status=1).stderr


def test_a_memory_that_never_goes_fails_with_the_reason_in_json_too(ana: Member) -> None:
    ana.share()
    memory = ana.remember("preference", "I like short answers without tables")
    refused = ana.command("share", memory, status=1)
    assert refused["reason"] == "it holds beyond the project"


def test_received_memories_that_were_forgotten_are_not_counted(database: Database) -> None:
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("gotcha", GOTCHA)
        ana.sync()
        ben.sync()
        assert ben.status()["projects"][0]["received"] == 1
        (memory,) = json.loads(ben.machine.run("list", "--json", cwd=ben.checkout).stdout)
        ben.machine.run("forget", memory["id"], "--yes")
        state = ben.status()
        assert (state["projects"][0]["received"], state["authors"]) == (0, [])


def test_a_failed_synchronisation_counts_nothing(ana: Member, database: Database) -> None:
    ana.share()
    ana.remember("gotcha", GOTCHA)
    ana.sync()
    ana.machine.run("team", "revoke", "ana", "--url", database.address.url())
    failed = ana.command("team", "sync", status=1)
    assert (failed["pushed"], failed["pulled"], failed["code"]) == (0, 0, "login")


def test_a_purge_that_fails_keeps_the_membership(ana: Member, database: Database) -> None:
    ana.machine.run("team", "revoke", "ana", "--url", database.address.url())
    refused = ana.machine.run("team", "leave", "--purge", "--yes", status=1)
    assert "or leave without --purge" in refused.stderr
    assert ana.machine.home.team_address.exists()


def test_nobody_leaves_twice(ana: Member) -> None:
    ana.machine.run("team", "leave", "--yes")
    assert "there is nothing to leave" in ana.machine.run("team", "leave", "--yes", status=1).stderr


def test_a_search_of_the_team_names_memories_that_are_here_and_none_that_were_forgotten(database: Database) -> None:
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("gotcha", GOTCHA)
        ana.sync()
        ben.sync()
        (hit,) = ben.command("search", "--team", "lockfile")
        ben.machine.run("forget", hit["id"], "--yes")
        assert ben.command("search", "--team", "lockfile") == []
        assert ben.command("search", "--team", "kangaroo") == [], "nothing is near enough"


def test_a_received_memory_cannot_be_kept_from_the_team_here(database: Database) -> None:
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("gotcha", GOTCHA)
        ana.sync()
        ben.sync()
        (received,) = [memory["id"] for memory in ben.command("list")]
        refused = ben.machine.run("keep", received, status=1)
        assert "was made on another machine" in refused.stderr
        assert "run `keep` on that machine" in refused.stderr
