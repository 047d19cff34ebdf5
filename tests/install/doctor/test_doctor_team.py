"""What doctor finds about a team, and what it closes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.client.client import Client
from claude_mem_lite.install.doctor.check import FIX, Check
from claude_mem_lite.install.doctor.fixes import apply, find_fixes
from claude_mem_lite.install.doctor.team_checks import check_team
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.team.secret_files import write_secret
from tests.support.fake_worker import FakeWorker, fake_worker, run

JOINED: dict[str, JsonValue] = {"is_joined": True, "member": "ana", "device": "d", "waiting_out": 2}


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        worker.answers["GET /api/team"] = (200, {})
        yield worker


def joined(home: Home, worker: FakeWorker, **state: JsonValue) -> None:
    write_secret(home.team_address, "postgresql://cml_ana:secret@localhost/team")
    worker.answers["GET /api/team"] = (200, {**JOINED, **state})


def found(home: Home, *, online: bool = False) -> Check:
    (check,) = check_team(home, Client(home), online=online)
    return check


def test_without_a_team_there_is_nothing_to_say(home: Home, worker: FakeWorker) -> None:
    assert list(check_team(home, Client(home))) == []


def test_a_team_in_order_is_told_without_the_network(home: Home, worker: FakeWorker) -> None:
    joined(home, worker)
    assert found(home) == Check("team", "ok", "member ana: 0 projects shared, 2 changes wait")
    assert worker.seen[-1].query == ()


def test_online_logs_in(home: Home, worker: FakeWorker) -> None:
    joined(home, worker, reached=True)
    assert "the login works" in found(home, online=True).found
    assert worker.seen[-1].query == (("check", "true"),)


@pytest.mark.parametrize("name", ["team_address", "team_admin_address", "team_key"])
def test_a_secret_that_others_may_read_is_a_failure(home: Home, worker: FakeWorker, name: str) -> None:
    path: Path = getattr(home, name)
    write_secret(path, "a secret")
    path.chmod(0o644)
    check = found(home)
    assert (check.state, check.next_step.startswith(FIX)) == ("fail", True)
    assert "a secret and is open to others (644)" in check.found


def test_a_link_in_the_place_of_a_secret_is_a_failure(home: Home, worker: FakeWorker, tmp_path: Path) -> None:
    home.team_key.symlink_to(tmp_path / "elsewhere")
    assert (found(home).state, "not a regular file" in found(home).found) == ("fail", True)


def test_the_last_failure_is_a_warning_with_its_next_step(home: Home, worker: FakeWorker) -> None:
    joined(home, worker, code="login", message="the login was refused", next_step="get a new invitation")
    assert found(home) == Check("team", "warn", "login: the login was refused", "get a new invitation")


def test_parked_entries_are_a_warning(home: Home, worker: FakeWorker) -> None:
    joined(home, worker, parked=[{"uid": "ben:1", "code": "bad_hash"}])
    assert found(home) == Check(
        "team", "warn", "1 entry is parked (bad_hash), all others go on", "run `claude-mem-lite team repair`"
    )


def test_an_administrator_need_not_be_a_member(home: Home, worker: FakeWorker) -> None:
    write_secret(home.team_admin_address, "postgresql://admin@localhost/team")
    assert (found(home).state, "administers" in found(home).found) == ("ok", True)


def test_the_fix_closes_an_open_secret(home: Home, worker: FakeWorker) -> None:
    run("install")
    joined(home, worker)
    home.team_address.chmod(0o640)
    settings = Path.home() / ".claude" / "settings.json"
    done = [apply(fix) for fix in find_fixes(home, settings, {})]
    assert [(one.name, one.failure) for one in done] == [("permissions", "")]
    assert home.team_address.stat().st_mode & 0o777 == 0o600
    assert found(home).state == "ok"
