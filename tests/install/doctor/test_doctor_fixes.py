"""What `doctor --fix` does, and what it leaves alone."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite import hook_program
from claude_mem_lite.install.doctor.check import FIX
from claude_mem_lite.install.doctor.fixes import DoctorFix, apply, find_fixes
from claude_mem_lite.install.doctor.home_checks import check_home, check_permissions
from claude_mem_lite.install.doctor.hook_checks import check_hooks, setup_step
from claude_mem_lite.install.doctor.runner import run_checks
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.install.hook_install import apply_install, plan_install
from claude_mem_lite.install.settings_merge import is_current
from claude_mem_lite.paths import Home
from tests.support.fake_worker import FakeWorker, fake_worker, run

FALSE = shutil.which("false") or "/bin/false"


@pytest.fixture
def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


@pytest.fixture
def worker(home: Home) -> Iterator[FakeWorker]:
    """A home with everything in order: installed, and with a worker."""
    with fake_worker(home) as worker:
        run("install")
        yield worker


def fixes(home: Home, settings: Path) -> list[DoctorFix]:
    return list(find_fixes(home, settings, {}))


def mend(home: Home, settings: Path) -> list[str]:
    """Do what can be done; the names of what was."""
    done = [apply(fix) for fix in find_fixes(home, settings, {})]
    assert [one.failure for one in done] == [""] * len(done)
    return [one.name for one in done]


def test_there_is_nothing_to_mend_where_all_is_well(worker: FakeWorker, home: Home, settings: Path) -> None:
    assert fixes(home, settings) == []


def test_where_nothing_is_installed_nothing_is_made(tmp_path: Path, settings: Path) -> None:
    assert fixes(Home(tmp_path / "never"), settings) == []


def test_what_others_could_read_is_closed_and_what_is_not_ours_is_not(
    worker: FakeWorker, home: Home, settings: Path, tmp_path: Path
) -> None:
    (home.root / "thesis").write_text("mine")
    (home.root / "thesis").chmod(0o644)
    (tmp_path / "precious").write_text("x")
    (tmp_path / "precious").chmod(0o644)
    (home.root / "off").symlink_to(tmp_path / "precious")
    home.root.chmod(0o755)
    (home.spool_new / "odd").write_text("x")
    (home.spool_new / "odd").chmod(0o664)
    home.installs.chmod(0o755)
    assert mend(home, settings) == ["data folder", "permissions"]
    assert [path.stat().st_mode & 0o777 for path in (home.root, home.spool_new / "odd", home.installs)] == [
        0o700,
        0o600,
        0o700,
    ]
    assert (home.root / "thesis").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "precious").stat().st_mode & 0o777 == 0o644
    assert fixes(home, settings) == []


def test_a_file_that_has_another_name_elsewhere_is_told_and_left_as_it_is(
    worker: FakeWorker, home: Home, settings: Path, tmp_path: Path
) -> None:
    shared = tmp_path / "shared.txt"
    shared.touch(0o644)
    home.rendered_for("/home/dev").hardlink_to(shared)
    assert mend(home, settings) == []
    assert shared.stat().st_mode & 0o777 == 0o644
    check = check_permissions(home)
    assert (check.state, "another name" in check.found) == ("warn", True)


@pytest.mark.parametrize("harm", ["no link", "link to nowhere", "wrong link", "old program", "no program"])
def test_links_and_the_hook_program_are_made_anew(worker: FakeWorker, home: Home, settings: Path, harm: str) -> None:
    if harm == "no link":
        home.hook_python.unlink()
    elif harm == "link to nowhere":
        home.hook_python.unlink()
        home.hook_python.symlink_to(home.root / "gone")
    elif harm == "wrong link":
        home.worker_python.unlink()
        home.worker_python.symlink_to(FALSE)
    elif harm == "old program":
        home.hook_program.with_name("kernel.py").write_text("old = True\n")
    else:
        shutil.rmtree(home.hook_program.parent.parent)
    told = [check.next_step for check in run_checks(home, settings) if check.name in ("hook", "worker python")]
    assert [step for step in told if step] == [FIX]
    assert mend(home, settings) == ["hook"]
    assert hook_program.is_current(home)
    assert fixes(home, settings) == []


def test_hooks_of_ours_that_are_of_another_place_are_updated_and_all_else_stays(
    worker: FakeWorker, home: Home, settings: Path, tmp_path: Path
) -> None:
    theirs = {"hooks": [{"type": "command", "command": "/home/dev/notify"}]}
    told = json.loads(settings.read_text().replace(f"{home.root}/py", "/home/dev/old/py"))
    told["hooks"]["Stop"].append(theirs)
    settings.write_text(json.dumps({**told, "model": "opus"}))
    other = tmp_path / "gemini" / "settings.json"
    apply_install(home, plan_install(home, other, hook_groups(home, "gemini"), "gemini"))
    other.write_text(other.read_text().replace(f"{home.root}/py", "/home/dev/old/py"))
    assert mend(home, settings) == ["hooks", "hooks"]
    after = json.loads(settings.read_text())
    assert is_current(settings.read_text(), hook_groups(home))
    assert is_current(other.read_text(), hook_groups(home, "gemini"))
    assert (after["model"], theirs in after["hooks"]["Stop"]) == ("opus", True)


def test_hooks_that_complain_when_the_home_is_deleted_are_renewed(
    worker: FakeWorker, home: Home, settings: Path
) -> None:
    """As installs of before have them: the program alone, without a look whether it is there."""
    guard = f"[ -x {home.hook_python} ] && [ -r {home.hook_program} ] || exec cat >/dev/null; exec "
    before = settings.read_text().replace(guard, "")
    assert guard not in before
    settings.write_text(before)
    assert check_hooks(home, settings)[0].state == "fail"
    assert mend(home, settings) == ["hooks"]
    assert is_current(settings.read_text(), hook_groups(home))


@pytest.mark.parametrize("text", ["{}", "{", '{"hooks": {"Stop": []}}'])
def test_where_our_hooks_are_not_none_are_added(worker: FakeWorker, home: Home, settings: Path, text: str) -> None:
    settings.write_text(text)
    assert fixes(home, settings) == []
    assert settings.read_text() == text


def test_a_server_of_ours_that_is_old_is_updated_and_one_that_is_gone_is_not_added(
    worker: FakeWorker, home: Home, settings: Path
) -> None:
    notes = Path.home() / ".claude.json"
    told = json.loads(notes.read_text())
    told["mcpServers"]["claude-mem-lite"]["command"] = "/home/dev/old/claude-mem-lite"
    notes.write_text(json.dumps({**told, "theirs": 1}))
    assert mend(home, settings) == ["MCP server"]
    after = json.loads(notes.read_text())
    assert after["theirs"] == 1
    assert after["mcpServers"]["claude-mem-lite"]["command"] != "/home/dev/old/claude-mem-lite"
    notes.write_text("{}")
    assert fixes(home, settings) == []


def test_a_worker_of_another_version_and_an_open_socket_are_seen(
    worker: FakeWorker, home: Home, settings: Path
) -> None:
    home.socket.chmod(0o666)
    (fix,) = fixes(home, settings)[-1:]
    assert fix.what.startswith("start the worker anew")
    worker.answer("GET /api/health", {"version": "0.0.1", "pid": 1})
    assert fixes(home, settings)[-1].what == "replace the worker of version 0.0.1"


def test_damaged_words_are_made_anew(worker: FakeWorker, home: Home, settings: Path) -> None:
    worker.answer("GET /api/index/damage", {"damaged": ["memories", "passages"]})
    worker.answer("POST /api/rebuild", {"waiting": 0})
    assert mend(home, settings) == ["word index"]
    assert worker.last("/api/rebuild").method == "POST"


def test_what_cannot_be_done_is_told_and_the_rest_is_done(worker: FakeWorker, home: Home, settings: Path) -> None:
    worker.answer("GET /api/index/damage", {"damaged": ["memories"]})
    worker.refuse("POST /api/rebuild", 500, "internal", "the disk is full", "make room")
    home.hook_python.unlink()
    done = [apply(fix) for fix in find_fixes(home, settings, {})]
    assert [(one.name, one.failure) for one in done] == [("hook", ""), ("word index", "the disk is full; make room")]


def test_a_dry_run_changes_nothing_and_says_what_would_be_done(
    worker: FakeWorker, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.root.chmod(0o755)
    capsys.readouterr()
    assert run("doctor", "--fix", "--dry-run") == 0
    assert capsys.readouterr().out == f"Would: close {home.root} to others.\n"
    assert home.root.stat().st_mode & 0o777 == 0o755
    assert run("doctor", "--fix", "--dry-run", "--json") == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["would_fix"]] == ["data folder"]
    assert run("doctor", "--dry-run") == 2


def test_what_was_done_is_said_before_the_checks(
    worker: FakeWorker, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.root.chmod(0o755)
    capsys.readouterr()
    assert run("doctor", "--fix") == 0
    assert capsys.readouterr().out.startswith(f"Did: close {home.root} to others.\n")
    assert run("doctor", "--fix") == 0
    assert capsys.readouterr().out.endswith("\nNothing needs repair.\n")
    assert run("doctor", "--fix", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["fixed"] == []
    assert {check["state"] for check in told["checks"]} == {"ok"}


@pytest.mark.parametrize("mode", [0o500, 0o300])
def test_a_home_that_is_closed_to_its_owner_is_opened_again(
    worker: FakeWorker, home: Home, settings: Path, mode: int
) -> None:
    home.root.chmod(mode)
    assert check_home(home).next_step.startswith("run `claude-mem-lite doctor --fix`; until then ")
    apply(next(find_fixes(home, settings, {})))
    assert home.root.stat().st_mode & 0o777 == 0o700
    assert fixes(home, settings) == []


def test_a_folder_that_is_not_ours_is_named_and_not_mended(settings: Path, tmp_path: Path) -> None:
    foreign = Home(tmp_path / "work")
    foreign.root.mkdir()
    foreign.root.chmod(0o755)
    (foreign.root / "thesis").touch()
    assert fixes(foreign, settings) == []
    assert "nothing of this memory" in check_home(foreign).found
    assert foreign.root.stat().st_mode & 0o777 == 0o755


def test_the_data_folder_is_made_for_who_has_the_plugin(tmp_path: Path, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text('{"enabledPlugins": {"mem-lite@mem-lite": true}}')
    new = Home(tmp_path / "new")
    step = setup_step(new, settings)
    assert step == "run `claude-mem-lite plugin --prepare`"
    assert check_home(new, step).next_step == step
    fix = next(find_fixes(new, settings, {}))
    assert fix.what == f"make {new.root} ready for the hooks of the plugin"
    assert apply(fix).failure == ""
    assert hook_program.is_current(new)
    assert json.loads(settings.read_text()) == {"enabledPlugins": {"mem-lite@mem-lite": True}}


def test_one_hook_that_was_removed_is_named_and_put_back(worker: FakeWorker, home: Home, settings: Path) -> None:
    told = json.loads(settings.read_text())
    del told["hooks"]["Stop"]
    settings.write_text(json.dumps(told))
    (check,) = check_hooks(home, settings)
    assert (check.state, check.found) == ("fail", f"{settings} lacks the hooks for Stop")
    assert mend(home, settings) == ["hooks"]
    assert is_current(settings.read_text(), hook_groups(home))
