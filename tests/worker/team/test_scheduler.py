"""Tests of `worker/team/scheduler.py`: when a synchronisation begins, and when it does not."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from claude_mem_lite.deadline import Deadline
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.paths import Home
from claude_mem_lite.store import team as tables
from claude_mem_lite.team.address import save_address
from claude_mem_lite.timestamps import utc_now
from claude_mem_lite.worker.services import Services
from claude_mem_lite.worker.team import membership
from claude_mem_lite.worker.team.scheduler import MAX_ASKERS, next_pause_s
from tests.support.fakes import FakeEmbedder
from tests.support.patience import PATIENT
from tests.support.postgres import Database
from tests.support.running import leave, payload, running_loop, wait_until
from tests.support.team_members import invited
from tests.support.team_workers import Member, open_members
from tests.worker.trigger_events import now_name

WAIT_S = 60.0
RARELY = replace(PATIENT, team_min_pause_s=3600.0, team_max_pause_s=3600.0)
ALWAYS = replace(PATIENT, team_min_pause_s=0.0, team_max_pause_s=0.0)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path / "home")
    home.make()
    return home


@pytest.fixture
def joined(home: Home, database: Database) -> Iterator[Services]:
    """The services of a worker in a team that synchronises once an hour, after its first synchronisation."""
    with running_loop(home, utc_now, embedder=FakeEmbedder(), limits=RARELY) as services:
        membership.join(services, invited(database, "ana").url(), deadline=Deadline.after(WAIT_S))
        services.team.wait_for_round(WAIT_S)
        yield services


def pauses(limits: Limits, code: str, number: int) -> list[float]:
    found = [limits.team_min_pause_s]
    for _ in range(number):
        found.append(next_pause_s(found[-1], code, limits, has_work=False))
    return found


def test_pauses_without_work_grow_to_ten_minutes() -> None:
    assert pauses(LIMITS, "", 5) == [60, 120, 240, 480, 600, 600]


def test_after_work_the_pause_is_a_minute_again() -> None:
    assert next_pause_s(600, "", LIMITS, has_work=True) == 60


def test_a_server_that_fails_is_asked_less_and_less() -> None:
    assert pauses(LIMITS, "unreachable", 5) == [60, 120, 240, 480, 600, 600]


@pytest.mark.parametrize(
    "code", ["login", "insecure", "not_set_up", "other_team", "newer_schema", "wrong_key", "no_key"]
)
def test_a_failure_that_needs_somebody_waits_for_ten_minutes_at_once(code: str) -> None:
    assert next_pause_s(60, code, LIMITS, has_work=False) == 600


def test_without_a_team_nothing_is_synchronised(home: Home) -> None:
    with running_loop(home, utc_now, embedder=FakeEmbedder(), limits=ALWAYS) as services:
        services.team.request()
        assert services.passes.wait_until_idle(WAIT_S)
        assert services.team.state.rounds == 0
        with pytest.raises(MemoryLiteError, match="team join"):
            services.team.wait_for_round(WAIT_S)


def test_synchronisations_go_on_by_themselves(home: Home, database: Database) -> None:
    with running_loop(home, utc_now, embedder=FakeEmbedder(), limits=ALWAYS) as services:
        membership.join(services, invited(database, "ana").url(), deadline=Deadline.after(WAIT_S))
        wait_until(lambda: services.team.state.rounds >= 3, "three synchronisations")
        assert services.team.state.code == ""


def test_the_end_of_a_session_begins_one_at_once(joined: Services, home: Home) -> None:
    before = joined.team.state.rounds
    for event in ("UserPromptSubmit", "Stop", "SessionEnd"):
        leave(home, payload(event, "s-1", "/elsewhere", prompt="look"), name=now_name(event))
    assert joined.passes.wait_until_idle(WAIT_S)
    wait_until(lambda: joined.team.state.rounds > before, "a synchronisation after the end")


def test_other_events_do_not(joined: Services, home: Home) -> None:
    before = joined.team.state.rounds
    for event in ("UserPromptSubmit", "Stop"):
        leave(home, payload(event, "s-1", "/elsewhere", prompt="look"), name=now_name(event))
    assert joined.passes.wait_until_idle(WAIT_S, flush=True)
    assert joined.team.state.rounds == before


def test_while_memory_is_off_nothing_is_synchronised(joined: Services, home: Home) -> None:
    before = joined.team.state.rounds
    home.off_switch.touch()
    joined.team.request()
    assert joined.passes.wait_until_idle(WAIT_S)
    assert joined.team.state.rounds == before
    with pytest.raises(MemoryLiteError, match="claude-mem-lite on"):
        joined.team.wait_for_round(WAIT_S)
    home.off_switch.unlink()
    assert joined.team.wait_for_round(WAIT_S).rounds > before


def test_commands_beyond_a_few_do_not_wait_for_the_server(joined: Services) -> None:
    with ExitStack() as taken:
        for _ in range(MAX_ASKERS):
            taken.enter_context(joined.team.asking())
        with pytest.raises(MemoryLiteError, match="many commands"), joined.team.asking():
            pass
    with joined.team.asking():
        pass


def test_while_the_home_leaves_no_synchronisation_begins(joined: Services) -> None:
    with joined.team.held(WAIT_S):
        before = joined.team.state.rounds
        joined.team.request()
        assert joined.passes.wait_until_idle(WAIT_S)
        assert joined.team.state.rounds == before
    assert joined.team.wait_for_round(WAIT_S).rounds > before


def test_a_failure_is_kept_with_its_next_step_until_a_success(joined: Services, home: Home, database: Database) -> None:
    good = home.team_address.read_text()
    home.team_address.write_text(good.replace(f":{database.server.port}/", ":1/"))
    failed = joined.team.wait_for_round(WAIT_S)
    assert (failed.code, bool(failed.next_step), failed.failed_at is not None) == ("unreachable", True, True)
    home.team_address.write_text(good)
    assert joined.team.wait_for_round(WAIT_S).code == ""


def test_a_change_does_not_wait_for_the_end_of_a_long_pause(home: Home, database: Database) -> None:
    limits = replace(PATIENT, team_min_pause_s=0.0, team_max_pause_s=3600.0)
    with running_loop(home, utc_now, embedder=FakeEmbedder(), limits=limits) as services:
        address = invited(database, "ana")
        membership.join(services, address.url(), deadline=Deadline.after(WAIT_S))
        save_address(home.team_address, replace(address, password="wrong"))
        wait_until(lambda: services.team.state.code == "login", "a failure, whose pause is the longest")
        save_address(home.team_address, address)
        before = services.team.wait_for_round(WAIT_S).rounds
        services.team.local().write(lambda _: None)
        assert services.passes.wait_until_idle(WAIT_S)
        assert services.team.state.rounds == before
        services.team.local().write(lambda db: tables.mark(db, ["aaaa"]))
        wait_until(lambda: services.team.state.rounds > before, "a synchronisation for the change")


def test_an_idle_worker_in_a_team_still_ends(database: Database) -> None:
    with open_members(database, "ana") as (ana,):
        ana.machine.stop_worker()
        ana.machine.home.config.write_text("idle_exit_s = 1\n")
        process = ana.machine.spawn_worker()
        wait_until(lambda: process.poll() is not None, "the idle worker to end")
        assert process.returncode == 0


def test_a_worker_that_starts_synchronises_by_itself(database: Database) -> None:
    with open_members(database, "ana", "ben") as (ana, ben):
        ana.remember("decision", "Keep invoices in PostgreSQL, because SQLite locked under two writers")
        ana.machine.stop_worker()
        ana.machine.start_worker()
        wait_until(lambda: _sent(ana) == 1, "the memory to be sent")
        ben.sync()
        assert len(ben.titles()) == 1


def _sent(member: Member) -> int:
    return int(member.status(check=False)["projects"][0]["sent"])
