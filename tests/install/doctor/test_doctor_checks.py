"""What doctor finds in the data folder, in the settings of agents, and on the machine."""

import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shutil import copy

import pytest

from claude_mem_lite.db.connection import open_for_writing
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS, migrate
from claude_mem_lite.install import hook_install, install_record
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.install.doctor.database_checks import (
    check_backups,
    check_database,
    check_recovery,
    newest_event_time,
)
from claude_mem_lite.install.doctor.home_checks import (
    check_clock,
    check_configuration,
    check_permissions,
    check_project_file,
)
from claude_mem_lite.install.doctor.hook_checks import check_hooks, check_plugin, extra_paths
from claude_mem_lite.install.doctor.machine_checks import check_other_tools, check_python
from claude_mem_lite.install.doctor.runner import run_checks
from claude_mem_lite.install.doctor.worker_checks import check_worker
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.install.hook_install import apply_install, plan_install
from claude_mem_lite.paths import Home
from claude_mem_lite.project_config import NAME
from tests.support.fake_worker import HEALTH, FakeWorker, fake_worker, run

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
MODELLED = {**HEALTH, "model": "claude-cli/haiku", "daily_usd": 1.0, "daily_tokens": 1000, "tokens_today": 100}


@pytest.fixture
def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    with fake_worker(home) as worker:
        yield worker


def named(checks: list[Check], name: str) -> Check:
    return next(check for check in checks if check.name == name)


def database(path: Path, *steps: str, at: datetime = NOW) -> None:
    """A database that had these steps; one that nobody knows has made nothing."""
    known = [step for step in (*INBOX_MIGRATIONS, *MEMORY_MIGRATIONS) if step.__name__ in steps]
    rest = set(steps) - {step.__name__ for step in known}
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        migrate(db, known, at)
        db.executemany("insert into migrations values (?, ?)", [(step, at.isoformat()) for step in rest])


def test_the_python_of_this_program_can_run_hooks() -> None:
    check = check_python()
    assert (check.state, "hooks can run with" in check.found) == ("ok", True)


def test_a_file_of_ours_that_others_may_read_is_a_warning(home: Home) -> None:
    assert check_permissions(home).state == "ok"
    home.api_key.write_text("sk-none")
    home.api_key.chmod(0o644)
    (home.root / "installs").mkdir(mode=0o755)
    check = check_permissions(home)
    assert (check.state, check.next_step) == ("warn", "run `claude-mem-lite doctor --fix`")
    assert "1 more" in check.found


def test_what_is_not_ours_and_what_the_user_writes_may_have_any_mode(home: Home) -> None:
    (home.root / "thesis").mkdir(mode=0o755)
    home.config.write_text("")
    home.config.chmod(0o644)
    home.hook_python.symlink_to("/bin/sh")
    assert check_permissions(home).state == "ok"


def test_what_is_kept_elsewhere_by_a_link_and_open_there_is_a_warning(home: Home, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o755)
    home.backups.symlink_to(tmp_path / "elsewhere")
    check = check_permissions(home)
    assert (check.state, check.next_step) == ("warn", f"run `chmod go= {tmp_path / 'elsewhere'}`")
    (tmp_path / "elsewhere").chmod(0o700)
    assert check_permissions(home).state == "ok"


def test_a_file_of_the_user_among_the_backups_may_have_any_mode(home: Home) -> None:
    home.backups.mkdir(mode=0o700)
    (home.backups / "holiday.tar").touch(0o644)
    assert check_permissions(home).state == "ok"
    (home.backups / "memory-20260101T000000Z-000000000001.db").touch(0o644)
    assert check_permissions(home).state == "warn"


def test_a_database_of_a_newer_version_fails(home: Home) -> None:
    database(home.memory_db, "m001_memory", "m999_future")
    check = check_database(home.memory_db, "memory.db", ["m001_memory"])
    assert (check.state, "m999_future" in check.found) == ("fail", True)
    assert check_database(home.memory_db, "memory.db", ["m001_memory", "m999_future"]).state == "ok"
    assert check_database(home.memory_db, "memory.db", None).state == "ok"


def test_backups_are_held_against_what_was_stored_since(home: Home) -> None:
    assert check_backups(home, NOW).state == "ok"
    database(home.memory_db, "m001_memory", at=NOW - timedelta(days=1))
    assert check_backups(home, NOW).state == "ok"
    assert check_backups(home, NOW + timedelta(days=5)).state == "warn"
    home.backups.mkdir()
    copy(home.memory_db, home.backups / "memory-20260301T100000Z-000000000009.db")
    os.utime(home.memory_db, (NOW.timestamp(), NOW.timestamp()))
    assert check_backups(home, NOW + timedelta(days=9)).state == "ok"
    later = NOW + timedelta(days=8)
    os.utime(home.memory_db, (later.timestamp(), later.timestamp()))
    check = check_backups(home, NOW + timedelta(days=9))
    assert (check.state, check.next_step) == ("warn", "run `claude-mem-lite backup`")


def test_backups_that_are_destroyed_or_of_another_memory_do_not_count(home: Home, tmp_path: Path) -> None:
    database(home.memory_db, "m001_memory", at=NOW - timedelta(days=5))
    database(tmp_path / "other.db", "m001_memory", at=NOW - timedelta(days=7))
    home.backups.mkdir()
    made = [home.backups / f"memory-20260301T1{number}0000Z-00000000001{number}.db" for number in range(4)]
    for path in made[:3]:
        copy(home.memory_db, path)
    copy(tmp_path / "other.db", made[3])
    check = check_backups(home, NOW)
    assert (check.state, check.found) == ("ok", "3, the newest of 2026-03-01 12:00 UTC")

    made[2].write_bytes(b"no database" * 1000)
    made[1].write_bytes(b"")
    check = check_backups(home, NOW)
    assert (check.state, check.found) == ("warn", "1, the newest of 2026-03-01 10:00 UTC; besides, 2 cannot be read")
    assert "backup --list" in check.next_step

    made[0].write_bytes(b"no database" * 1000)
    check = check_backups(home, NOW)
    assert (check.state, check.found) == ("warn", "none of this memory; 3 of 4 cannot be read")
    assert check.next_step == "run `claude-mem-lite backup`"


def test_a_folder_in_the_place_of_a_database_is_to_be_restored(home: Home) -> None:
    home.memory_db.mkdir()
    check = check_database(home.memory_db, "memory.db")
    assert (check.state, check.found) == ("fail", "damaged (it is a folder)")
    assert "restores it" in check.next_step


def test_a_database_that_cannot_be_opened_is_not_called_damaged(home: Home) -> None:
    open_for_writing(home.memory_db).close()
    home.memory_db.with_name("memory.db-wal").mkdir()
    check = check_database(home.memory_db, "memory.db")
    assert (check.state, "cannot be read now" in check.found) == ("fail", True)
    assert "restores it" not in check.next_step


def test_copies_under_names_of_the_users_own_count_as_no_backups(home: Home) -> None:
    database(home.memory_db, "m001_memory", at=NOW - timedelta(days=5))
    home.backups.mkdir()
    (home.backups / "memory-20260301T100000Z-mine.db").touch()
    assert check_backups(home, NOW).found == "there is none"


def test_a_recovery_is_told_for_a_week(home: Home) -> None:
    assert check_recovery(home, NOW) == []
    told = {"at": NOW.isoformat(), "text": "memory.db was damaged.", "undo": "Nothing to do."}
    home.recoveries.write_text(json.dumps({"recoveries": [told]}))
    (check,) = check_recovery(home, NOW + timedelta(days=1))
    assert (check.state, check.found) == ("warn", "2026-03-01 12:00 UTC: memory.db was damaged")
    assert check_recovery(home, NOW + timedelta(days=8)) == []
    home.recoveries.write_text(json.dumps({"recoveries": [{**told, "at": "yesterday"}]}))
    assert check_recovery(home, NOW) == []
    home.recoveries.write_text("[")
    assert check_recovery(home, NOW) == []


def test_an_event_from_the_future_is_a_warning(home: Home) -> None:
    now = NOW.timestamp()
    assert check_clock(home, now, None).state == "ok"
    assert check_clock(home, now, now + 3600).state == "warn"
    (home.spool_new / f"{int((now + 3600) * 1e9):020d}-1-abcdef12-Stop").touch()
    check = check_clock(home, now, None)
    assert (check.state, "2026-03-01 13:00 UTC" in check.found) == ("warn", True)


def test_the_newest_moment_is_that_of_the_inbox(home: Home) -> None:
    assert newest_event_time(home) is None
    with closing(sqlite3.connect(home.inbox_db)) as db:
        db.execute("create table inbox (received_at real)")
        db.execute("insert into inbox values (12.5)")
        db.commit()
    assert newest_event_time(home) == 12.5


def test_an_agent_that_has_our_hooks_is_checked_by_its_record(home: Home, settings: Path, tmp_path: Path) -> None:
    path = tmp_path / "gemini" / "settings.json"
    apply_install(home, plan_install(home, path, hook_groups(home, "gemini"), "gemini"))
    (fine,) = check_hooks(home, settings)
    assert (fine.state, fine.found) == ("ok", f"Gemini CLI: in {path}")
    path.write_text(path.read_text().replace(str(home.root), "/home/dev/other"))
    (other,) = check_hooks(home, settings)
    again = f"run `claude-mem-lite install --agent gemini --config-dir {path.parent}`"
    assert (other.state, other.next_step) == ("fail", again)
    path.write_text("{}")
    assert check_hooks(home, settings)[0].found == f"Gemini CLI: no claude-mem-lite hooks in {path}"


def test_server_and_skill_are_looked_for_where_the_install_went(home: Home, settings: Path, tmp_path: Path) -> None:
    with fake_worker(home):
        assert run("install", "--config-dir", str(tmp_path / "agent")) == 0
        (where,) = extra_paths(home, settings, os.environ)
        assert where.server.path == tmp_path / "agent" / ".claude.json"
        assert where.skill.is_relative_to(tmp_path / "agent")
        checks = list(run_checks(home, settings))
    assert {check.state for check in checks} == {"ok"}
    assert str(tmp_path / "agent") in named(checks, "MCP server").found


def test_the_plugin_is_found_by_the_settings_that_switch_it_on(home: Home, settings: Path) -> None:
    assert check_plugin([settings.parent]) == []
    settings.parent.mkdir()
    settings.write_text(json.dumps({"enabledPlugins": {"mem-lite@mem-lite": True, "other@x": True}}))
    (check,) = check_plugin([settings.parent])
    assert (check.state, check.found) == ("ok", f"mem-lite@mem-lite is enabled in {settings.parent}")
    assert check_hooks(home, settings) == []
    assert extra_paths(home, settings, {}) == []
    settings.write_text(json.dumps({"enabledPlugins": {"mem-lite@mem-lite": False}}))
    assert check_plugin([settings.parent]) == []


def test_a_plugin_of_another_version_is_a_warning(settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text(json.dumps({"enabledPlugins": {"mem-lite@mem-lite": True}}))
    listed = settings.parent / "plugins" / "installed_plugins.json"
    listed.parent.mkdir()
    listed.write_text(json.dumps({"version": 2, "plugins": {"mem-lite@mem-lite": [{"version": "0.0.1"}]}}))
    (check,) = check_plugin([settings.parent])
    assert (check.state, check.next_step) == ("warn", "run `claude plugin update mem-lite@mem-lite`")


def test_plugin_and_install_at_once_is_a_warning(home: Home, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text(json.dumps({"enabledPlugins": {"mem-lite@mem-lite": True}}))
    apply_install(home, plan_install(home, settings, hook_groups(home)))
    (check,) = check_plugin([settings.parent])
    assert check.state == "warn"
    assert "claude plugin uninstall mem-lite@mem-lite" in check.next_step


def test_a_damaged_record_is_told_and_harms_no_other_check(home: Home, settings: Path, worker: FakeWorker) -> None:
    hook_install.prepare(home)
    home.installs.mkdir()
    (home.installs / "x.json").write_text("{")
    checks = list(run_checks(home, settings))
    assert named(checks, "hooks").state == "fail"
    assert named(checks, "memory.db").state == "ok"
    with pytest.raises(Exception, match="damaged"):
        install_record.load_all(home)


def test_a_broken_configuration_fails_with_the_nearest_key(home: Home) -> None:
    assert check_configuration(home, {}).state == "ok"
    home.config.write_text("budget_token = 5\n")
    check = check_configuration(home, {})
    hint = "did you mean budget_tokens? Until it is fixed, events wait and none is lost"
    assert (check.state, check.found, check.next_step) == ("fail", f"{home.config}: unknown key budget_token", hint)
    home.config.unlink()
    os.mkfifo(home.config)
    assert check_configuration(home, {}).state == "fail"


def test_a_project_file_is_told_when_there_is_one(tmp_path: Path) -> None:
    root = tmp_path / "shop"
    (root / ".git").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert check_project_file(str(root)) == []
    (root / NAME).write_text('exclude = ["vendor"]\n')
    (fine,) = check_project_file(str(root))
    assert (fine.state, fine.found) == ("ok", f"{root / NAME} sets exclude")
    (root / NAME).write_text('base_url = "http://evil.invalid"\n')
    (bad,) = check_project_file(str(root))
    assert (bad.state, "may not set base_url" in bad.found) == ("warn", True)
    (root / NAME).write_text('base_url = "http://evil.invalid"\nbudget_tokens = "x"\npreset = 3\n')
    assert len({check.found for check in check_project_file(str(root))}) == 3


def test_other_memory_tools_are_named_and_no_fault(settings: Path, tmp_path: Path) -> None:
    user = Path.home()
    ours = {"command": "/home/dev/.claude-mem-lite/py -I -S /home/dev/.claude-mem-lite/hook.py Stop"}
    settings.parent.mkdir()
    settings.write_text(json.dumps({"hooks": {"Stop": [{"hooks": [ours]}]}, "enabledPlugins": {"mem0@x": False}}))
    assert check_other_tools(user, []).found == "none found"
    (user / ".claude-mem").mkdir()
    (user / ".claude.json").write_text(
        json.dumps({"mcpServers": {"memory": {"args": ["openmemory"]}}, "projects": {"/home/dev/cognee": {}}})
    )
    (user / ".codex").mkdir()
    (user / ".codex" / "config.toml").write_text('[mcp_servers.basic-memory]\ncommand = "uvx"\n')
    check = check_other_tools(user, [tmp_path / "none"])
    assert check.state == "ok"
    assert check.found == (
        "claude-mem (~/.claude-mem); mem0 (in the settings of an agent); Basic Memory (in the settings of an agent)"
    )
    assert "import claude-mem" in check.next_step


def test_what_was_spent_is_held_against_the_caps(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/health", {**MODELLED, "spend_today": 0.25})
    check = named(list(check_worker(home)), "spend")
    assert (check.state, check.found) == ("ok", "$0.25 of $1.00 and 100 of 1,000 tokens today")
    worker.answer("GET /api/health", {**MODELLED, "spend_today": 0.95})
    assert named(list(check_worker(home)), "spend").state == "warn"
    worker.answer("GET /api/health", {**MODELLED, "daily_tokens": 0})
    assert named(list(check_worker(home)), "spend").next_step == "raise it in config.toml"


def test_the_model_is_asked_only_when_that_is_wanted(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/health", MODELLED)
    worker.answer("POST /api/model/try", {"model": "x", "problem": "", "next_step": "", "ms": 812.3, "tokens": 41})
    assert named(list(check_worker(home)), "model").state == "ok"
    assert not any(seen.path == "/api/model/try" for seen in worker.seen)
    check = named(list(check_worker(home, online=True)), "model")
    assert (check.state, check.found) == ("ok", "claude-cli/haiku answered in 812 ms, 41 tokens")
    worker.answer("POST /api/model/try", {"problem": "no key", "next_step": "set one"})
    check = named(list(check_worker(home, online=True)), "model")
    assert (check.state, check.found, check.next_step) == ("warn", "claude-cli/haiku: no key", "set one")


def test_a_backup_that_failed_is_told(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/health", {**HEALTH, "backup_problem": "the last backup failed: no room"})
    check = named(list(check_worker(home)), "backups")
    assert (check.state, check.found) == ("warn", "the last backup failed: no room")


def test_damaged_words_fail(home: Home, worker: FakeWorker) -> None:
    worker.answer("GET /api/index/damage", {"damaged": ["memories"]})
    check = named(list(check_worker(home)), "word index")
    assert (check.state, check.next_step) == ("fail", "run `claude-mem-lite doctor --fix`")
