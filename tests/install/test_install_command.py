"""`install`, `uninstall` and `hooks` as a user calls them."""

import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from claude_mem_lite import __version__, hook_program
from claude_mem_lite.install.doctor.hook_checks import check_hooks
from claude_mem_lite.install.hook_config import hook_settings
from claude_mem_lite.install.interpreter import base_interpreter, is_temporary, link, try_hook, why_unfit
from claude_mem_lite.install.settings_merge import has_ours
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from tests.support.fake_worker import HEALTH, fake_worker, run
from tests.support.running import cannot

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
    assert "claude-mem-lite import transcripts" not in shown  # there is nothing to import


@pytest.mark.parametrize("options", [(), ("--dry-run",), ("--scope", "project")])
def test_install_warns_when_the_plugin_is_on_as_well(
    settings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enabledPlugins": {"mem-lite@mem-lite": true, "other@x": true}}')
    (tmp_path / "shop").mkdir()
    monkeypatch.chdir(tmp_path / "shop")
    assert run("install", *options) == 0
    (warning,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("Careful: ")]
    assert warning.startswith(f"Careful: the plugin mem-lite@mem-lite is on as well, in {settings}.")
    assert warning.endswith("keep one: `claude plugin uninstall mem-lite@mem-lite`, or `claude-mem-lite uninstall`.")


def test_a_plugin_that_is_switched_off_is_no_reason_to_warn(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text('{"enabledPlugins": {"mem-lite@mem-lite": false}}')
    assert run("install") == 0
    assert "Careful" not in capsys.readouterr().out


def test_the_package_runs_as_a_module_too() -> None:
    for arguments in (["--version"], ["status", "--help"]):
        done = subprocess.run([sys.executable, "-m", "claude_mem_lite", *arguments], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert "claude-mem-lite" in done.stdout


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


def test_the_step_to_change_an_answer_names_the_same_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "agent"
    run("install", "--config-dir", str(folder))
    assert f"to change an answer, run `claude-mem-lite install --config-dir {folder}`." in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    run("install", "--scope", "project")
    step = f"to change an answer, run `claude-mem-lite install --scope project` in {tmp_path}."
    assert step in capsys.readouterr().out


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


@pytest.fixture
def dead_disk(new_home: Home, tmp_path: Path) -> Home:
    """A home on another disk, by a link, installed from; then the disk is gone."""
    disk = tmp_path / "disk"
    disk.mkdir()
    new_home.root.symlink_to(disk)
    run("install")
    shutil.rmtree(disk)
    return new_home


def test_uninstall_goes_on_without_a_home_whose_disk_is_gone(
    dead_disk: Home, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run("uninstall", "--dry-run") == 0
    assert f"Would remove the hooks from {settings}." in capsys.readouterr().out
    assert run("uninstall") == 0
    assert capsys.readouterr().err == ""
    assert not has_ours(settings.read_text())
    assert "claude-mem-lite" not in (Path.home() / ".claude.json").read_text()
    assert not (settings.parent / "skills" / "claude-mem-lite").exists()
    assert dead_disk.root.is_symlink()


@pytest.mark.parametrize("options", [("--yes",), ("--dry-run",)])
def test_a_purge_says_that_nothing_on_a_missing_disk_is_deleted(
    dead_disk: Home, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run("uninstall", "--purge", *options) == 0
    assert f"The memories were not deleted: {dead_disk.root} is a link to" in capsys.readouterr().out


def test_uninstall_without_an_install_says_so_and_is_no_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("uninstall") == 0
    assert "no claude-mem-lite hooks" in capsys.readouterr().out


def test_uninstall_tells_how_the_plugin_is_removed(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = "The plugin mem-lite@mem-lite is on as well; `claude plugin uninstall mem-lite@mem-lite` removes it.\n"
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"mem-lite@mem-lite": true, "other@other": true}}')
    run("install")
    assert run("uninstall", "--dry-run") == 0
    assert run("uninstall") == 0
    assert capsys.readouterr().out.count(told) == 2
    assert run("uninstall", "--agent", "codex") == 0
    settings.write_text('{"enabledPlugins": {"mem-lite@mem-lite": false}}')
    assert run("uninstall") == 0
    assert told not in capsys.readouterr().out


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


def test_purge_deletes_the_temporary_folder_of_a_killed_evaluation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    left = tmp_path / f"claude-mem-lite-walk-{os.getuid()}-b-a-c-d-e"
    left.mkdir()
    os.utime(left, (0, 0))
    run("install")
    assert run("uninstall", "--purge", "--yes") == 0
    assert not left.exists()
    assert "Deleted 1 temporary folder of killed runs of `claude-mem-lite eval`." in capsys.readouterr().out


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


@pytest.mark.parametrize(
    "command", [("list",), ("off",), ("on",), ("install",), ("plugin", "--prepare"), ("uninstall",)]
)
def test_a_folder_with_the_users_own_files_is_never_made_ours(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work"
    (folder / "claude_mem_lite").mkdir(parents=True)
    (folder / "off").touch()
    folder.chmod(0o755)
    monkeypatch.setenv("CLAUDE_MEM_LITE_HOME", str(folder))
    assert run(*command) == (0 if command == ("uninstall",) else 1)
    assert (everything_below(folder), folder.stat().st_mode & 0o777) == (["claude_mem_lite", "off"], 0o755)
    shown = capsys.readouterr()
    assert command == ("uninstall",) or "set CLAUDE_MEM_LITE_HOME to a folder that is new or empty" in shown.err
    assert str(folder) not in shown.out
    assert not (Path.home() / ".claude").exists()


def test_a_folder_that_a_link_in_the_home_leads_to_keeps_its_mode(tmp_path: Path) -> None:
    place, elsewhere = tmp_path / "place", tmp_path / "elsewhere"
    for folder in (place, elsewhere):
        folder.mkdir(mode=0o755)
    (place / "rendered").symlink_to(elsewhere)
    (tmp_path / "link").symlink_to(place)
    Home(tmp_path / "link").make()
    assert [folder.stat().st_mode & 0o777 for folder in (place, elsewhere)] == [0o700, 0o755]


def test_a_folder_that_is_empty_or_holds_settings_of_ours_is_used(new_home: Home) -> None:
    new_home.root.mkdir(mode=0o755)
    new_home.config.touch()
    assert run("off") == 0
    assert new_home.root.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("where", ["user", "project", "local"])
def test_purge_refuses_while_the_plugin_is_on(
    where: str,
    new_home: Home,
    settings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("plugin", "--prepare")
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")
    local = tmp_path / "project" / ".claude"
    path = {"user": settings, "project": local / "settings.json", "local": local / "settings.local.json"}[where]
    path.parent.mkdir()
    path.write_text('{"enabledPlugins": {"mem-lite@mem-lite": true}}')
    for more in ((), ("--dry-run",), ("--all",), ("--agent", "codex")):
        assert run("uninstall", "--purge", "--yes", *more) == 1
    assert new_home.hook_program.exists()
    scope = "" if where == "user" else f" --scope {where}"
    assert f"`claude plugin uninstall mem-lite@mem-lite{scope}`" in capsys.readouterr().err
    path.write_text('{"enabledPlugins": {"mem-lite@mem-lite": false}}')
    assert run("uninstall", "--purge", "--yes") == 0
    assert not new_home.root.exists()


def test_all_installs_are_taken_back_at_once(
    new_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    projects = [tmp_path / "shop", tmp_path / "blog"]
    run("install", "--agent", "codex")
    run("install", "--config-dir", str(tmp_path / "agent"))
    for project, agent in zip(projects, ("claude-code", "gemini"), strict=True):
        project.mkdir()
        monkeypatch.chdir(project)
        run("install", "--scope", "project", "--agent", agent)
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    assert run("uninstall", "--purge", "--yes") == 1
    assert "`claude-mem-lite uninstall --all --purge`" in capsys.readouterr().err
    assert run("uninstall", "--all", "--purge", "--dry-run") == 0
    assert capsys.readouterr().out.count("Would remove the hooks from") == 4
    assert run("uninstall", "--all", "--purge", "--yes") == 0
    assert capsys.readouterr().out.count("removed, because the install had made it") == 4
    assert [everything_below(folder) for folder in (Path.home(), *projects)] == [[], [], []]
    assert not (tmp_path / "agent").exists()
    assert not new_home.root.exists()


@pytest.mark.parametrize(
    "wrong", [("--all", "--gone"), ("--all", "--agent", "codex"), ("--gone", "--scope", "user"), ("--gone", "--purge")]
)
def test_what_to_take_out_is_said_in_one_way(wrong: tuple[str, ...]) -> None:
    assert run("uninstall", *wrong) == 2


@pytest.mark.parametrize("how", [("--gone",), ("--all",), ("--purge", "--yes")])
def test_what_is_left_of_an_install_in_a_folder_that_is_gone_is_taken_back(
    how: tuple[str, ...],
    new_home: Home,
    settings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    shop, notes = tmp_path / "shop", Path.home() / ".claude.json"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (shop / "web").mkdir()
    monkeypatch.chdir(shop / "web")
    run("install", "--scope", "project")
    assert list(json.loads(notes.read_text())["projects"]) == [str(shop)]
    monkeypatch.chdir(tmp_path)
    shutil.rmtree(shop)
    (gone,) = [check for check in check_hooks(new_home, settings) if check.state == "warn"]
    assert gone.found == f"{shop}/web/.claude/settings.local.json is gone, though it was installed there"
    assert run("uninstall", *how, "--dry-run") == 0
    assert notes.exists()
    assert run("uninstall", *how) == 0
    assert not notes.exists()
    assert f"from {notes} for {shop}." in capsys.readouterr().out
    assert not new_home.installs.exists()
    assert new_home.hook_python.is_symlink() == (how == ("--gone",))


def uninstall_without_privileges(*options: str) -> "subprocess.CompletedProcess[str]":
    """As somebody whom modes stop: root goes past them unless that is taken away."""
    drop = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
    if drop and not shutil.which("setpriv"):
        cannot("root cannot be held back here: setpriv is missing")
    command = [*drop, str(Path(sys.executable).parent / "claude-mem-lite"), "uninstall", *options]
    return subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("what", ["settings.json", "skills", ""])
def test_an_uninstall_that_cannot_write_takes_nothing_out(what: str, settings: Path) -> None:
    run("install")
    closed = settings.parent / what
    before, mode = everything_below(Path.home()), closed.stat().st_mode
    closed.chmod(mode & ~0o222)
    done = uninstall_without_privileges()
    assert (done.returncode, done.stdout) == (1, "")
    assert str(closed) in done.stderr
    assert everything_below(Path.home()) == before
    closed.chmod(mode)
    assert run("uninstall") == 0
    assert everything_below(Path.home()) == []


def test_an_uninstall_that_was_stopped_is_brought_to_an_end(settings: Path) -> None:
    run("install")
    (settings.parent / "skills" / "claude-mem-lite" / "SKILL.md").unlink()
    (settings.parent / "skills" / "claude-mem-lite").rmdir()
    settings.unlink()
    assert run("uninstall") == 0
    assert everything_below(Path.home()) == []


def test_a_stale_hook_in_our_folder_is_taken_out(new_home: Home, settings: Path) -> None:
    run("install")
    settings.write_text(settings.read_text().replace("hook/hook.py Stop", "hook/oldhook.py Stop"))
    assert check_hooks(new_home, settings)[0].state == "fail"
    assert run("uninstall") == 0
    assert not settings.exists()


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
    hook_program.make(home)
    assert try_hook(home) is None
    assert list(home.spool_new.iterdir()) == []


def test_an_empty_configuration_folder_is_refused(
    new_home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert run("install", "--config-dir", "") == 2
    assert "the folder is empty text" in capsys.readouterr().err
    assert list(here.iterdir()) == []


@pytest.mark.parametrize(
    ("prefix", "expected"),
    [
        ("/home/me/.cache/uv/archive-v0/Q2hlY2s", True),
        ("/home/me/.local/share/pipx/.cache/3b4f5a6c7d8e9f0", True),
        ("/home/me/.local/share/uv/tools/claude-mem-lite", False),
        ("/home/me/.local/share/pipx/venvs/claude-mem-lite", False),
        ("/usr", False),
    ],
)
def test_environments_of_uvx_and_pipx_run_are_temporary(prefix: str, expected: bool) -> None:
    assert is_temporary(Path(prefix)) is expected
