"""Tests of `cli/team/group.py`, `cli/team/admin.py`, `cli/team/membership.py`, `cli/team/sharing.py`,
`cli/team/dialogue.py`, `client/team.py`, `responses/team.py`, `worker/api/team.py`, `worker/team/membership.py`,
`worker/team/sharing.py` and `worker/team/state.py`: the commands of a team by the real command line, with `--json`."""

import json
import stat
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from claude_mem_lite.paths import Home
from tests.support.git_repositories import make_checkout
from tests.support.postgres import Database, PostgresServer, fresh_database
from tests.support.running import COMMAND, Machine, open_machine
from tests.support.team_workers import REMOTE, Member, open_members

DECISION = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
PREFERENCE = "I like short answers without tables"


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
def invited(database: Database) -> Iterator[Member]:
    """A member with an invitation who has not joined yet."""
    with open_members(database, "ana", is_joined=False) as (ana,):
        yield ana


def modes(home: Home) -> set[int]:
    paths = [path for path in (home.team_address, home.team_admin_address, home.team_key) if path.exists()]
    return {stat.S_IMODE(path.stat().st_mode) for path in paths}


def piped(machine: Machine, text: str, *words: str) -> str:
    """Run a command with a line on its standard input."""
    done = subprocess.run(
        [COMMAND, *words], env=machine.environment(), input=f"{text}\n", capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_team_is_set_up_and_members_come_and_go(machine: Machine, empty_database: Database) -> None:
    made = json.loads(machine.run("team", "init", empty_database.address.url(), "--json").stdout)
    assert (bool(made["migrations"]), made["is_sealed"], made["key"]) == (True, False, "")
    again = json.loads(machine.run("team", "init", empty_database.address.url(), "--json").stdout)
    assert (again["migrations"], again["team"]) == ([], made["team"])
    invitation = json.loads(machine.run("team", "invite", "ana", "--project", REMOTE, "--json").stdout)
    assert invitation["url"].startswith("postgresql://cml_ana:")
    kept = json.loads(machine.run("team", "invite", "ana", "--project", "github.com/acme/till", "--json").stdout)
    assert kept["url"] == "", "a known member keeps the password"
    (member,) = json.loads(machine.run("team", "members", "--json").stdout)
    assert (member["name"], len(member["projects"]), member["revoked_at"]) == ("ana", 2, None)
    machine.run("team", "revoke", "ana", "--json")
    (member,) = json.loads(machine.run("team", "members", "--json").stdout)
    assert member["revoked_at"]
    refused = machine.run("team", "join", invitation["url"], status=1)
    assert "refused the login" in refused.stderr
    assert modes(machine.home) == {0o600}


def test_a_member_joins_looks_shares_and_leaves(invited: Member) -> None:
    ana = invited
    ana.remember("decision", DECISION)
    ana.remember("preference", PREFERENCE)
    joined = json.loads(piped(ana.machine, ana.url, "team", "join", "--json"))
    assert (joined["member"], joined["reached"], joined["waiting_out"]) == ("ana", True, 0)
    assert [(one["name"], one["is_shared"]) for one in joined["projects"]] == [("shop", False)]
    found = ana.command("team", "preview", "--project", ".")
    assert [json.loads(one["body"])["title"] for one in found["memories"]] == [DECISION]
    assert [(one["code"], one["memories"]) for one in found["held_back"]] == [("scope", 1)]
    assert ana.command("team", "preview")["memories"] == [], "nothing is shared yet"
    shared = ana.command("team", "share", ".")
    assert (shared["is_shared"], shared["remote"], shared["marked"]) == (True, REMOTE, 2)
    assert ana.command("team", "sync")["code"] == ""
    state = ana.command("team", "status")
    assert (state["code"], state["projects"][0]["sent"], state["waiting_out"]) == ("", 1, 0)
    assert state["last_sync_at"]
    assert modes(ana.machine.home) == {0o600}
    left = ana.command("team", "leave")
    assert left == {"purged": 0, "forgotten": 0}
    assert ana.command("team", "status")["is_joined"] is False
    assert not ana.machine.home.team_address.exists()
    assert DECISION in ana.titles()


def test_leaving_with_purge_takes_everything_back(pair: tuple[Member, Member], database: Database) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    ana.sync()
    ben.sync()
    assert ben.titles() == [DECISION]
    assert ana.command("team", "leave", "--purge")["purged"] == 1
    assert database.rows("select count(*) from claude_mem_lite.entries where body is not null") == [(0,)]
    ben.sync()
    assert ben.titles() == []


def test_leaving_removes_what_was_received(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    ana.sync()
    ben.sync()
    assert ben.command("team", "leave")["forgotten"] == 1
    assert ben.titles() == []
    ana.sync()
    assert ana.titles() == [DECISION]


def test_one_memory_is_shared_by_hand_and_kept_again(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    id_ = ana.remember("discovery", "The nightly job of the shop begins at two, after the stock is counted")
    ana.sync()
    ben.sync()
    assert ben.titles() == []
    assert ana.command("share", id_)["reason"] == ""
    ana.sync()
    ben.sync()
    assert len(ben.titles()) == 1
    assert ana.command("keep", id_)["choice"] == "keep"
    ana.sync()
    ben.sync()
    assert ben.titles() == []


def test_a_project_is_unshared_and_taken_back(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("decision", DECISION)
    ana.sync()
    ben.sync()
    assert ana.command("team", "unshare", ".")["is_shared"] is False
    ana.sync()
    ben.sync()
    assert ben.titles() == []
    assert ana.titles() == [DECISION]


def test_sharing_says_whether_open_work_goes_and_unsharing_what_is_removed(pair: tuple[Member, Member]) -> None:
    ana, _ = pair
    assert "is shared with the team, open work too." in ana.said("team", "share", ".", "--handoffs")
    assert "is shared with the team." in ana.said("team", "share", ".")
    assert "what was received is removed here" in ana.said("team", "unshare", ".")


def test_the_state_says_that_memory_is_off(pair: tuple[Member, Member]) -> None:
    ana, _ = pair
    assert "Memory is off" not in ana.said("team", "status")
    ana.said("off")
    assert "`claude-mem-lite on` switches it on" in ana.said("team", "status")


def test_the_state_does_not_guess_what_waits_on_a_server_that_refuses_the_login(
    pair: tuple[Member, Member], database: Database
) -> None:
    ana, _ = pair
    ana.sync()
    assert "0 out, 0 in" in ana.said("team", "status")
    ana.machine.run("team", "revoke", "ana", "--url", database.address.url())
    assert "0 out, ? in" in ana.said("team", "status")


def test_a_search_of_the_team_finds_what_is_not_on_this_machine(database: Database) -> None:
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("decision", DECISION)
        ana.sync()
        ben.command("team", "unshare", ".")
        (hit,) = ben.command("search", "--team", "invoices in PostgreSQL")
        assert (hit["title"], hit["author"]) == (DECISION, "ana")


def test_a_sealed_team_needs_its_key(machine: Machine, empty_database: Database) -> None:
    made = json.loads(machine.run("team", "init", "--sealed", empty_database.address.url(), "--json").stdout)
    assert made["key"]
    with open_machine() as other:
        other.start_worker()
        url = json.loads(machine.run("team", "invite", "ben", "--project", REMOTE, "--json").stdout)["url"]
        joined = json.loads(other.run("team", "join", url, "--json").stdout)
        assert (joined["code"], joined["is_sealed"], joined["has_key"]) == ("no_key", True, False)
        refused = other.run("team", "key", made["key"][:-1] + ("A" if made["key"][-1] != "A" else "B"), status=1)
        assert "key" in refused.stderr
        assert not other.home.team_key.exists()
        assert json.loads(piped(other, made["key"], "team", "key", "--json"))["code"] == ""
        assert modes(other.home) == modes(machine.home) == {0o600}


def sealed_pair(stack: ExitStack, database: Database) -> tuple[Member, Member]:
    """Two members of a sealed team, both with its key, who share the same project."""
    first = stack.enter_context(open_machine())
    first.start_worker()
    key = json.loads(first.run("team", "init", "--sealed", database.address.url(), "--json").stdout)["key"]
    made = []
    for name, machine in (("ana", first), ("ben", stack.enter_context(open_machine()))):
        url = json.loads(first.run("team", "invite", name, "--project", REMOTE, "--json").stdout)["url"]
        checkout = make_checkout(machine.user_home / "shop")
        checkout.git("remote", "add", "origin", f"https://{REMOTE}")
        if not machine.is_served():
            machine.start_worker()
        made.append(Member(name, machine, checkout.root, url))
        made[-1].join()
        piped(machine, key, "team", "key")
        made[-1].share()
    return made[0], made[1]


def test_a_search_of_a_sealed_team_finds_what_was_received(empty_database: Database) -> None:
    with ExitStack() as stack:
        ana, ben = sealed_pair(stack, empty_database)
        ana.remember("decision", DECISION)
        ben.remember("decision", "Round invoices per line, because the bank does it so")
        ana.sync()
        ben.sync()
        (hit,) = ben.command("search", "--team", "invoices")
        assert (hit["title"], hit["author"], hit["project"]) == (DECISION, "ana", REMOTE)
        assert ([hit["id"]], hit["uid"][:4]) == ([memory["id"] for memory in ben.command("show", hit["id"])], "ana:")
        told = ben.machine.run("search", "--team", "kangaroo").stdout
        assert told == "What was received of the sealed team has nothing about 'kangaroo'.\n"


def test_a_search_of_a_sealed_team_without_the_key_says_so(machine: Machine, empty_database: Database) -> None:
    machine.run("team", "init", "--sealed", empty_database.address.url())
    url = json.loads(machine.run("team", "invite", "ben", "--project", REMOTE, "--json").stdout)["url"]
    with open_machine() as other:
        other.start_worker()
        other.run("team", "join", url)
        refused = other.run("search", "--team", "invoices", status=1)
    assert "the team is sealed and this device has no key" in refused.stderr


def test_open_work_is_shared_if_the_project_was_shared_with_it(pair: tuple[Member, Member]) -> None:
    ana, ben = pair
    ana.remember("handoff", "Left open: the refund page, which still needs its form")
    ana.sync()
    ben.sync()
    assert ben.titles() == []
    assert ana.command("team", "share", ".", "--handoffs")["handoffs"] is True
    ana.sync()
    ben.sync()
    (received,) = ben.command("list")
    assert (received["kind"], received["author"]) == ("handoff", "ana")


def test_a_command_outside_of_a_team_says_how_to_join(machine: Machine) -> None:
    for words in (("sync",), ("repair",), ("leave", "--yes")):
        refused = machine.run("team", *words, status=1)
        assert "team" in refused.stderr
    assert json.loads(machine.run("team", "status", "--json").stdout)["is_joined"] is False


def test_no_secret_is_in_a_log_an_event_a_backup_or_a_database(pair: tuple[Member, Member]) -> None:
    ana, _ = pair
    ana.remember("decision", DECISION)
    ana.command("team", "sync")
    ana.command("team", "status")
    ana.machine.run("backup")
    password = ana.url.split(":")[2].split("@")[0]
    assert ana.machine.files_with(password) == ["team-url"]
    assert not [row for row in ana.machine.rows() if password in row.payload]
    assert [path for path in ana.machine.home.backups.iterdir() if path.is_file()]


def test_a_failure_tells_no_password(pair: tuple[Member, Member], database: Database) -> None:
    ana, _ = pair
    password = ana.url.split(":")[2].split("@")[0]
    with database.connect() as connection:
        connection.execute("alter role cml_ana password 'another one'")
    state = ana.command("team", "status")
    assert state["code"] == "login"
    refused = ana.machine.run("team", "sync", status=1)
    assert password not in refused.stdout + refused.stderr + json.dumps(state)
    assert ana.machine.files_with(password) == ["team-url"]


def test_doctor_tells_the_state_of_the_team(pair: tuple[Member, Member]) -> None:
    ana, _ = pair
    ana.machine.home.team_address.write_text("mysql://nowhere")
    (check,) = (one for one in json.loads(_doctor(ana.machine)) if one["name"] == "team")
    assert check["state"] == "warn"
    assert "no PostgreSQL address" in check["found"]
    assert "postgresql://" in check["next_step"]


def _doctor(machine: Machine) -> str:
    done = subprocess.run(
        [COMMAND, "doctor", "--json"], env=machine.environment(), capture_output=True, text=True, timeout=60
    )
    return done.stdout
