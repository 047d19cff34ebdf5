"""Known failures of synchronised memories that concern the worker: projects by folder name, a process per session, an
excluded project, memory switched off, and a repository that turns sharing on."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from claude_mem_lite import project_config
from tests.support.git_repositories import Checkout, make_checkout
from tests.support.live_files import children
from tests.support.postgres import Database, PostgresServer, fresh_database, running_server
from tests.support.running import Answer, Json, Machine, open_machine, payload, processes_with, query, wait_until
from tests.worker.trigger_events import hooked_in_time

SSH, HTTPS, NAMESAKE = "git@github.com:acme/shop.git", "https://github.com/acme/shop", "https://gitlab.com/other/shop"
FIRST = "Keep invoices in PostgreSQL, because SQLite locked under two writers"
SECOND = "Clear the CI cache after a lockfile change, since stale modules stay in it"
THIRD = "Round totals per line, because the bank rounds them so"
CALLERS = 6


@dataclass(slots=True)
class Member:
    """Member with a home and a running worker."""

    name: str
    machine: Machine
    database: Database

    def join(self, *remotes: str) -> None:
        wanted = {"name": self.name, "projects": list(remotes), "url": self.database.address.url()}
        url = self.machine.post("/api/team/invite", wanted)["url"]
        self.machine.post("/api/team/join", {"url": url})

    def checkout(self, folder: str, remote: str) -> Checkout:
        made = make_checkout(self.machine.user_home / folder)
        made.git("remote", "add", "origin", remote)
        made.commit("README.md", "# Shop\n")
        return made

    def remember(self, text: str, folder: Path) -> None:
        self.machine.post("/api/memories", {"kind": "decision", "text": text, "cwd": str(folder)})

    def share(self, folder: Path) -> Answer:
        return self.machine.ask("POST", "/api/team/share", {"project": str(folder)})

    def sync(self) -> Json:
        done = self.machine.post("/api/team/sync", {})
        assert done["code"] == "", done
        return done

    def titles(self) -> dict[str, str]:
        """Return the titles of all memories, each with its project."""
        return {row[0]: row[1] for row in self.rows("select title, project from memories")}

    def rows(self, statement: str) -> list[tuple[str, ...]]:
        return list(query(self.machine.home.memory_db, statement))


@dataclass(slots=True)
class Members:
    """Members of one team, each with a worker, started when asked for."""

    database: Database
    stack: ExitStack = field(default_factory=ExitStack)

    def member(self, name: str) -> Member:
        made = Member(name, self.stack.enter_context(open_machine()), self.database)
        made.machine.start_worker()
        made.join(HTTPS)
        return made


@pytest.fixture(scope="module")
def postgres() -> Iterator[PostgresServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def members(postgres: PostgresServer) -> Iterator[Members]:
    with fresh_database(postgres) as database:
        made = Members(database)
        with made.stack:
            yield made


def test_clones_by_ssh_and_https_and_worktrees_meet_and_namesakes_do_not_mix(members: Members) -> None:
    ana, ben = members.member("ana"), members.member("ben")
    ours = ana.checkout("shop", SSH)
    theirs = ben.checkout("work/another name", HTTPS)
    worktree = theirs.worktree(ben.machine.user_home / "tree", "-b", "topic")
    namesake = ben.checkout("shop", NAMESAKE)
    ana.remember(FIRST, ours.root)
    ben.remember(SECOND, worktree.root)
    ben.remember(THIRD, namesake.root)
    assert [member.share(folder).status for member, folder in ((ana, ours.root), (ben, worktree.root))] == [200, 200]
    for member in (ana, ben, ana):
        member.sync()
    assert set(ana.titles()) == {FIRST, SECOND}
    assert set(ben.titles()) == {FIRST, SECOND, THIRD}
    found = ben.titles()
    assert found[FIRST] == found[SECOND] != found[THIRD]
    assert members.database.rows("select count(distinct project), count(*) from claude_mem_lite.entries") == [(1, 2)]
    assert ben.share(namesake.root).status != 200  # no grant: a project of the same name is another one


def test_a_home_cannot_join_a_second_team_under_the_same_name(members: Members, postgres: PostgresServer) -> None:
    ana = members.member("ana")
    before = ana.rows("select id, team from team_device")
    with fresh_database(postgres) as other:
        with other.connect() as admin:
            admin.execute("update claude_mem_lite.team set id = 'team of another company'")
        wanted = {"name": "ana", "projects": [HTTPS], "url": other.address.url(), "new_password": True}
        url = ana.machine.post("/api/team/invite", wanted)["url"]
        refused = ana.machine.ask("POST", "/api/team/join", {"url": url})
    assert (refused.status == 200, "another team" in str(refused.body)) == (False, True)
    assert ana.rows("select id, team from team_device") == before


def test_a_folder_without_a_remote_cannot_be_shared(members: Members) -> None:
    ana = members.member("ana")
    folder = make_checkout(ana.machine.user_home / "shop").root
    ana.remember(FIRST, folder)
    refused = ana.share(folder)
    assert (refused.status == 200, "remote" in str(refused.body)) == (False, True)


def test_many_callers_share_one_synchronisation_and_a_killed_worker_leaves_none_behind(members: Members) -> None:
    ana = members.member("ana")
    ana.sync()
    wait_until(lambda: connections(members.database) == 0, "the connection of the first synchronisation to end")
    answers: list[Json] = []
    callers = [threading.Thread(target=lambda: answers.append(ana.sync())) for _ in range(CALLERS)]
    with members.database.connect() as admin, admin.transaction():
        admin.execute("lock table claude_mem_lite.devices in access exclusive mode")
        for caller in callers:
            caller.start()
        wait_until(lambda: waiting(members.database) == 1, "the synchronisation to come to the lock")
        assert connections(members.database) == 1
        assert children(ana.machine.worker_pid()) == []
    for caller in callers:
        caller.join()
    assert len(answers) == CALLERS

    with members.database.connect() as admin, admin.transaction():
        admin.execute("lock table claude_mem_lite.devices in access exclusive mode")
        caller = threading.Thread(target=ask_in_vain, args=(ana,))
        caller.start()
        wait_until(lambda: waiting(members.database) == 1, "the synchronisation to come to the lock")
        ana.machine.kill_worker()
        caller.join()
    wait_until(lambda: connections(members.database) == 0, "the connection to end")
    assert processes_with(f"CLAUDE_MEM_LITE_HOME={ana.machine.home.root}") == []


def test_while_a_synchronisation_hangs_everything_else_is_answered(members: Members) -> None:
    ana = members.member("ana")
    ours = ana.checkout("shop", SSH)
    ana.remember(FIRST, ours.root)
    assert ana.share(ours.root).status == 200
    ana.sync()
    caller = threading.Thread(target=ask_in_vain, args=(ana,))
    with members.database.connect() as admin, admin.transaction():
        admin.execute("lock table claude_mem_lite.devices in access exclusive mode")
        caller.start()
        wait_until(lambda: waiting(members.database) == 1, "the synchronisation to come to the lock")
        ((process,),) = members.database.rows(_ACTIVITY)
        os.kill(process, signal.SIGSTOP)  # no limit of the server ends the wait any more
        try:
            given = payload("SessionStart", "s-1", str(ours.root), source="startup")
            assert FIRST in hooked_in_time(ana.machine, "SessionStart", given)
            ana.remember(SECOND, ours.root)
            found = ana.machine.run("search", "lockfile", cwd=ours.root).stdout
            assert SECOND in found
            assert caller.is_alive()
        finally:
            os.kill(process, signal.SIGCONT)
    caller.join()
    ana.sync()
    assert members.database.rows("select count(*) from claude_mem_lite.entries") == [(2,)]


def test_an_excluded_project_is_neither_shared_nor_synchronised(members: Members) -> None:
    ana, ben = members.member("ana"), members.member("ben")
    ours, theirs = ana.checkout("shop", SSH), ben.checkout("shop", HTTPS)
    ana.remember(FIRST, ours.root)
    ben.remember(SECOND, theirs.root)
    assert [ana.share(ours.root).status, ben.share(theirs.root).status] == [200, 200]
    ana.sync()
    ana.machine.home.config.write_text(f'exclude = ["{ours.root}"]\n')
    ben.sync()
    before = set(ana.titles())
    ben.remember(THIRD, theirs.root)
    ben.sync()
    assert ana.sync()["pulled"] == 0
    assert set(ana.titles()) == before
    assert ana.share(ours.root).status != 200


def test_while_memory_is_switched_off_nothing_is_synchronised(members: Members) -> None:
    ana, ben = members.member("ana"), members.member("ben")
    ours, theirs = ana.checkout("shop", SSH), ben.checkout("shop", HTTPS)
    ana.remember(FIRST, ours.root)
    ben.remember(SECOND, theirs.root)
    assert [ana.share(ours.root).status, ben.share(theirs.root).status] == [200, 200]
    for member in (ben, ana):
        member.sync()
    ana.machine.home.off_switch.touch()
    ben.remember(THIRD, theirs.root)
    ben.sync()
    refused = ana.machine.ask("POST", "/api/team/sync", {})
    assert (refused.status == 200, "on" in str(refused.body)) == (False, True)
    assert set(ana.titles()) == {FIRST, SECOND}
    ana.machine.home.off_switch.unlink()
    ana.sync()
    assert set(ana.titles()) == {FIRST, SECOND, THIRD}


@pytest.mark.parametrize(
    "text",
    [
        "share = true",
        "[team]\nshare = true",
        "team_share = true",
        'team_url = "postgresql://x@127.0.0.1/y"',
        "handoffs = true",
    ],
)
def test_no_key_of_a_repositorys_file_is_about_sharing(tmp_path: Path, text: str) -> None:
    root = make_checkout(tmp_path / "shop").root
    (root / project_config.NAME).write_text(text + "\n")
    found = project_config.find(str(root), ())
    assert len(found.problems) == 1


def test_a_repository_cannot_turn_sharing_on_by_a_file_that_it_carries(members: Members) -> None:
    ana = members.member("ana")
    ours = ana.checkout("shop", SSH)
    ours.write(project_config.NAME, '[team]\nshare = true\nprojects = ["github.com/acme/shop"]\nhandoffs = true\n')
    ours.write(".claude-mem-lite/config.toml", "[team]\nshare = true\n")
    ours.write(".claude-mem-lite/team-address", members.database.address.url())
    ana.remember(FIRST, ours.root)
    ana.sync()
    assert members.database.rows("select count(*) from claude_mem_lite.entries") == [(0,)]
    assert ana.rows("select project from team_shares") == []


def ask_in_vain(member: Member) -> None:
    """Ask a worker for a synchronisation that dies before its answer."""
    with suppress(OSError, HTTPException):
        member.machine.ask("POST", "/api/team/sync", {})


def waiting(database: Database) -> int:
    return len(database.rows(f"{_ACTIVITY} and wait_event_type = 'Lock'"))


def connections(database: Database) -> int:
    return len(database.rows(_ACTIVITY))


_ACTIVITY = "select pid from pg_stat_activity where usename = 'cml_ana'"
