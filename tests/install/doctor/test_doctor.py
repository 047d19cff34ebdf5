"""What doctor finds, and what it advises."""

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from claude_mem_lite.install.doctor.check import INSTALL, Check
from claude_mem_lite.install.doctor.database_checks import check_database
from claude_mem_lite.install.doctor.home_checks import check_home, check_spool, check_switch, check_synonyms
from claude_mem_lite.install.doctor.hook_checks import check_hooks
from claude_mem_lite.install.doctor.machine_checks import check_hook_python, check_worker_python
from claude_mem_lite.install.doctor.runner import run_checks
from claude_mem_lite.install.doctor.worker_checks import check_worker
from claude_mem_lite.paths import Home
from tests.support.fake_worker import COUNTS, HEALTH, FakeWorker, fake_worker, run

FALSE = shutil.which("false") or "/bin/false"


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    """A home with everything in order: installed, and with a worker."""
    with fake_worker(home) as worker:
        run("install")
        yield worker


@pytest.fixture
def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


def states(home: Home, settings: Path) -> dict[str, str]:
    return {check.name: check.state for check in run_checks(home, settings)}


def found(checks: Sequence[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def test_everything_in_order_is_ok_and_exits_0(
    worker: FakeWorker, home: Home, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert set(states(home, settings).values()) == {"ok"}
    assert run("doctor") == 0
    assert "FAIL" not in capsys.readouterr().out


def test_json_is_a_list_of_checks(worker: FakeWorker, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run("doctor", "--json") == 0
    checks = json.loads(capsys.readouterr().out)
    assert {frozenset(check) for check in checks} == {frozenset(("name", "state", "found", "next_step"))}


def test_nothing_installed_fails_with_the_way_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "never"))
    assert run("doctor") == 1
    assert "run `claude-mem-lite install`" in capsys.readouterr().out
    assert not (tmp_path / "never").exists()


@pytest.mark.parametrize("missing", ["disk", "home"])
def test_of_a_home_that_is_missing_nothing_else_is_told_to_install(
    home: Home, tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    if missing == "disk":
        monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "no disk" / "home"))
    else:
        shutil.rmtree(home.root)
    capsys.readouterr()
    assert run("doctor") == 1
    told = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in told] == ["ok    sqlite", "ok    python", "FAIL  data folder"]


def test_a_home_others_can_read_fails(home: Home) -> None:
    home.root.chmod(0o755)
    check = check_home(home)
    assert (check.state, check.next_step) == ("fail", f"chmod 700 {home.root}")


def test_hooks_of_another_place_fail(worker: FakeWorker, home: Home, settings: Path) -> None:
    settings.write_text(settings.read_text().replace("/py -I", "/elsewhere/py -I"))
    check = check_hooks(home, settings)[0]
    assert (check.state, check.next_step) == ("fail", INSTALL)


def test_settings_that_disable_hooks_fail(worker: FakeWorker, home: Home, settings: Path) -> None:
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "disableAllHooks": True}))
    assert check_hooks(home, settings)[0].state == "fail"


def test_broken_settings_fail(worker: FakeWorker, home: Home, settings: Path) -> None:
    settings.write_text("{")
    assert check_hooks(home, settings)[0].state == "fail"


def test_an_install_elsewhere_is_checked_instead_of_the_default(home: Home, settings: Path, tmp_path: Path) -> None:
    run("install", "--config-dir", str(tmp_path / "agent"))
    (check,) = check_hooks(home, settings)
    assert (check.state, check.found) == ("ok", f"in {tmp_path / 'agent' / 'settings.json'}")


def test_synonyms_that_cannot_be_read_are_a_warning(home: Home) -> None:
    assert check_synonyms(home) == []
    home.synonyms.write_text('ledger = ["books"]\n')
    (fine,) = check_synonyms(home)
    home.synonyms.write_text("ledger = \n")
    (broken,) = check_synonyms(home)
    home.synonyms.unlink()
    os.mkfifo(home.synonyms)
    (pipe,) = check_synonyms(home)
    assert (fine.state, broken.state, pipe.state) == ("ok", "warn", "warn")
    assert "those of the package hold" in broken.found
    assert broken.next_step.startswith("write lines like")
    assert pipe.next_step == "correct or remove it"


def test_a_switch_that_is_off_is_a_warning(home: Home) -> None:
    home.off_switch.touch()
    assert check_switch(home).state == "warn"


def test_missing_links_fail(home: Home) -> None:
    assert check_hook_python(home).state == "fail"
    assert check_worker_python(home).state == "fail"


def test_a_worker_python_without_the_package_fails(home: Home) -> None:
    home.worker_python.symlink_to(FALSE)
    assert check_worker_python(home).state == "fail"


def test_a_worker_of_another_version_is_a_warning(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", {**HEALTH, "version": "0.0.1"})
    assert found(check_worker(home), "worker").state == "warn"


def test_a_worker_that_takes_nothing_in_fails_with_its_reason(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", {**HEALTH, "status": "degraded", "problem": "the disk is full"})
    check = found(check_worker(home), "worker")
    assert check.state == "fail"
    assert "the disk is full" in check.found
    assert check.next_step == "until that is fixed, events wait"


def test_a_worker_that_cannot_start_fails(home: Home) -> None:
    home.worker_python.symlink_to(FALSE)
    assert check_worker(home)[0].state == "fail"


def test_a_socket_open_to_others_fails(worker: FakeWorker, home: Home) -> None:
    home.socket.chmod(0o666)
    assert found(check_worker(home), "socket").state == "fail"


def test_events_in_error_are_a_warning(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/queue/stats", {**COUNTS, "error": 2})
    check = found(check_worker(home), "queue")
    assert (check.state, check.next_step) == ("warn", "run `claude-mem-lite queue --errors`")


def test_search_by_meaning_is_ok_when_everything_is_indexed_or_waits_to_be(worker: FakeWorker, home: Home) -> None:
    check = found(check_worker(home), "search by meaning")
    assert (check.state, check.found) == ("ok", "everything is indexed")
    worker.answer("GET /api/health", {**HEALTH, "unindexed": 1200, "index_problem": ""})
    check = found(check_worker(home), "search by meaning")
    assert (check.state, check.found[:26]) == ("ok", "still to be indexed: 1,200")


def test_vectors_that_cannot_be_made_fail_with_what_to_do(worker: FakeWorker, home: Home) -> None:
    worker.answer("GET /api/health", {**HEALTH, "unindexed": 0, "index_problem": "no vectors can be made: OSError"})
    check = found(check_worker(home), "search by meaning")
    assert (check.state, check.found) == ("fail", "no vectors can be made: OSError; search goes by words alone")
    assert "install claude-mem-lite again" in check.next_step


def test_events_that_wait_for_long_are_a_warning(home: Home) -> None:
    (home.spool_new / "00000000001000000000-1-abcdef12-Stop").touch()
    assert check_spool(home, now_s=10).state == "ok"
    assert check_spool(home, now_s=10_000).state == "warn"


def test_events_in_a_fallback_place_are_a_warning(home: Home) -> None:
    place = home.fallback_spools()[0]
    place.mkdir(mode=0o700)
    kept = place / "00000000001000000000-1-abcdef12-Stop"
    kept.touch()
    try:
        check = check_spool(home, now_s=10)
    finally:
        kept.unlink()
        place.rmdir()
    assert check.state == "warn"
    assert str(place) in check.found


def test_a_sound_database_is_ok_and_stays_untouched(home: Home) -> None:
    with closing(sqlite3.connect(home.memory_db)) as database:
        database.execute("create table t (x)")
    before = home.memory_db.read_bytes()
    assert check_database(home.memory_db, "memory.db").state == "ok"
    assert home.memory_db.read_bytes() == before


def test_a_damaged_database_fails(home: Home) -> None:
    home.memory_db.write_bytes(b"not a database" * 1000)
    assert check_database(home.memory_db, "memory.db").state == "fail"


def test_a_database_in_a_folder_with_odd_characters_is_found(tmp_path: Path) -> None:
    path = tmp_path / "a?b#c%20d" / "memory.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as database:
        database.execute("create table t (x)")
    assert check_database(path, "memory.db").found.startswith("sound")


def test_events_that_were_let_go_fail_the_check_of_the_spool(home: Home) -> None:
    home.dropped.touch()
    assert check_spool(home, 0.0).state == "fail"
