"""`install`, `uninstall` and `hooks` as a user calls them."""

import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from claude_mem_lite import __version__, hook_copy
from claude_mem_lite.install.hooks import hook_settings
from claude_mem_lite.install.interpreter import base_interpreter, link, try_hook, why_unfit
from claude_mem_lite.install.settings import has_ours
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from tests.unit.fake_worker import HEALTH, fake_worker, run

TRUE = shutil.which("true") or "/bin/true"
VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"


@pytest.fixture
def new_home(tmp_path: Path) -> Home:
    """The home commands will use, not made yet."""
    return Home(tmp_path / "home")


@pytest.fixture
def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


def everything_below(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def test_install_adds_the_hooks_to_the_users_settings(
    new_home: Home, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install") == 0
    assert json.loads(settings.read_text()) == hook_settings(new_home)
    shown = capsys.readouterr().out
    assert str(settings) in shown
    assert "claude-mem-lite status" in shown
    assert "claude-mem-lite import transcripts" in shown


def test_the_installed_hook_keeps_an_event_in_this_home(new_home: Home, settings: Path, tmp_path: Path) -> None:
    run("install")
    new_home.worker_python.unlink()
    command = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"][0]["command"]
    ran = subprocess.run(
        ["sh", "-c", command], input=b"{}", env={"HOME": str(tmp_path)}, capture_output=True, check=False
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
    assert [each.read_bytes() for each in new_home.spool_new.iterdir()] == [b"{}"]


def test_install_makes_a_private_home_with_both_links(new_home: Home) -> None:
    run("install")
    assert new_home.root.stat().st_mode & 0o777 == 0o700
    assert os.readlink(new_home.worker_python) == sys.executable
    assert Path(os.readlink(new_home.hook_python)) == base_interpreter()


def test_install_twice_says_that_nothing_was_to_be_done(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install")
    before = settings.read_bytes()
    capsys.readouterr()
    assert run("install") == 0
    assert capsys.readouterr().out.startswith("Installed already")
    assert settings.read_bytes() == before


def test_a_dry_run_touches_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = everything_below(tmp_path)
    assert run("install", "--dry-run") == 0
    assert everything_below(tmp_path) == before
    assert '+    "SessionStart": [' in capsys.readouterr().out


def test_a_dry_run_of_the_uninstall_touches_nothing(tmp_path: Path, settings: Path) -> None:
    run("install")
    before, content = everything_below(tmp_path), settings.read_bytes()
    assert run("uninstall", "--dry-run") == 0
    assert (everything_below(tmp_path), settings.read_bytes()) == (before, content)


def test_broken_settings_stop_the_install_before_anything_is_made(
    new_home: Home, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir()
    settings.write_text("{ oops")
    assert run("install") == 1
    assert settings.read_text() == "{ oops"
    assert not new_home.root.exists()
    shown = capsys.readouterr().err
    assert len(shown.splitlines()) == 1
    assert "not valid JSON" in shown


@pytest.mark.parametrize("how", ["option", "variable"])
def test_another_configuration_folder_is_used_when_named(
    tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    folder = tmp_path / "agent"
    if how == "variable":
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    run("install", *(["--config-dir", str(folder)] if how == "option" else []))
    assert has_ours((folder / "settings.json").read_text())
    assert not settings.exists()


def test_a_project_gets_the_hooks_in_its_local_settings(
    tmp_path: Path, settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    run("install", "--scope", "project")
    assert has_ours((project / ".claude" / "settings.local.json").read_text())
    assert not settings.exists()
    assert "paths of this machine" in capsys.readouterr().out
    run("uninstall", "--scope", "project")
    assert everything_below(project) == []


def test_settings_that_disable_all_hooks_are_pointed_out(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.parent.mkdir()
    settings.write_text('{"disableAllHooks": true}')
    run("install")
    assert "disableAllHooks" in capsys.readouterr().out


def test_install_stops_a_worker_of_another_version(new_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with fake_worker(new_home) as worker:
        worker.answer("GET /api/health", {**HEALTH, "version": "0.0.1"})
        assert run("install") == 0
        assert worker.stopped.is_set()
    assert "another version" in capsys.readouterr().out


def test_install_leaves_a_worker_of_the_same_version_alone(new_home: Home) -> None:
    with fake_worker(new_home) as worker:
        assert HEALTH["version"] == __version__
        run("install")
        assert not worker.stopped.is_set()


def test_uninstall_restores_the_settings_and_keeps_the_data(
    new_home: Home, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir()
    settings.write_text('{"model":  "opus"}')
    run("install")
    assert run("uninstall") == 0
    assert settings.read_text() == '{"model":  "opus"}'
    assert new_home.spool_new.is_dir()
    assert not new_home.hook_python.is_symlink()
    assert not new_home.worker_python.is_symlink()
    assert f"stays in {new_home.root}" in capsys.readouterr().out


def test_uninstall_stops_the_worker(new_home: Home) -> None:
    run("install")
    with fake_worker(new_home) as worker:
        run("uninstall")
        assert worker.stopped.is_set()


def test_uninstall_without_an_install_says_so_and_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("uninstall") == 0
    assert "no hooks of ours" in capsys.readouterr().out


def test_a_home_still_used_by_other_settings_keeps_its_links(
    new_home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    run("install", "--config-dir", str(tmp_path / "agent"))
    run("uninstall")
    assert new_home.hook_python.is_symlink()
    assert f"Still installed in {tmp_path / 'agent' / 'settings.json'}" in capsys.readouterr().out


def test_purge_with_yes_deletes_the_data(new_home: Home) -> None:
    run("install")
    assert run("uninstall", "--purge", "--yes") == 0
    assert not new_home.root.exists()


def test_purge_needs_yes_where_nobody_can_be_asked(
    new_home: Home, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("install")
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    assert run("uninstall", "--purge") == 2
    assert has_ours(settings.read_text())
    assert new_home.root.exists()


def test_purge_refuses_a_folder_that_holds_the_user_himself(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(Path.home()))
    run("install")
    assert run("uninstall", "--purge", "--yes") == 1
    assert Path.home().exists()
    assert "does not look like" in capsys.readouterr().err


def test_purge_refuses_a_folder_that_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "photos").mkdir()
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(tmp_path / "photos"))
    assert run("uninstall", "--purge", "--yes") == 1
    assert (tmp_path / "photos").exists()


def test_hooks_prints_what_install_writes(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("hooks")
    printed: JsonObject = json.loads(capsys.readouterr().out)
    run("install")
    assert json.loads(settings.read_text()) == printed


def test_the_interpreter_of_the_hook_is_no_script_and_no_venv() -> None:
    chosen = base_interpreter()
    assert why_unfit(chosen, VERSION) is None
    assert not (chosen.parent.parent / "pyvenv.cfg").exists()


def test_a_shim_is_no_interpreter_for_the_hook(tmp_path: Path) -> None:
    shim = tmp_path / "python"
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    shim.chmod(0o755)
    assert why_unfit(shim, VERSION) == "is a script that only leads to a Python"


@pytest.mark.parametrize("program", [TRUE, "/no/such/python"])
def test_what_is_no_python_is_no_interpreter_for_the_hook(program: str) -> None:
    assert why_unfit(Path(program), VERSION) is not None


def test_a_link_is_replaced_by_a_new_one(tmp_path: Path) -> None:
    link(tmp_path / "py", "/bin/true")
    link(tmp_path / "py", "/bin/false")
    assert os.readlink(tmp_path / "py") == "/bin/false"
    assert everything_below(tmp_path / "user") == []


def test_a_trial_of_the_hook_notices_a_python_that_does_nothing(home: Home) -> None:
    home.hook_python.symlink_to(TRUE)
    assert try_hook(home) == "the hook ran but kept nothing"


def test_a_trial_of_the_hook_notices_a_python_that_is_gone(home: Home) -> None:
    home.hook_python.symlink_to("/no/such/python")
    trouble = try_hook(home)
    assert trouble is not None
    assert "cannot be run" in trouble


def test_a_trial_of_the_hook_leaves_nothing_in_the_home(home: Home) -> None:
    home.hook_python.symlink_to(base_interpreter())
    hook_copy.make(home)
    assert try_hook(home) is None
    assert list(home.spool_new.iterdir()) == []
