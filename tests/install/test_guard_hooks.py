"""Hooks of guards in the settings of agents: there while a project has guards, and gone without a trace."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_mem_lite import held_guards
from claude_mem_lite.install import git_exclude, guard_hooks, guard_layer
from claude_mem_lite.install.hook_config import hook_settings, is_guard, is_ours
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from tests.support.fake_worker import run
from tests.support.git_repositories import make_checkout

PROJECT = "example.org/team/shop"
EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
OWN = b'{\n    "permissions": {"allow": ["Bash(make:*)"]},\n    "hooks": {}\n}'


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home")


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    make_checkout(folder)
    return folder


def hold(home: Home, project: str, tools: Sequence[str], folders: Sequence[Path]) -> guard_hooks.Placement:
    """Have one guard for these tools in force, none without tools, and place its hook."""
    home.make()
    path = home.guards / held_guards.name_of(project)
    path.unlink(missing_ok=True)
    if tools:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"npm\n{json.dumps({'id': 'g1', 'mode': 'ask', 'rule': {}, 'tools': list(tools)})}\n")
    return guard_hooks.hold(home, project, folders)


def local(shop: Path) -> Path:
    return shop / ".claude" / "settings.local.json"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def status_of(folder: Path) -> str:
    command = ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=all"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def guards_in(path: Path, event: str = "PreToolUse") -> list[tuple[str, str]]:
    groups = json.loads(path.read_bytes())["hooks"].get(event, []) if path.exists() else []
    return [
        (group["matcher"], " ".join(hook["command"].split()[-2:]))
        for group in groups
        for hook in group["hooks"]
        if is_guard(hook)
    ]


def test_the_hook_runs_for_the_tools_that_guards_name_and_no_other(home: Home, shop: Path) -> None:
    placed = hold(home, PROJECT, ["Bash"], [shop / ".git" / ".."])
    name = held_guards.name_of(PROJECT)
    assert placed.changed == (local(shop),)
    assert guards_in(local(shop)) == [("^(Bash)$", f"PreToolUse {name}")]
    hold(home, PROJECT, ["Bash", *EDITS], [shop])
    assert guards_in(local(shop)) == [("^(Bash|Edit|MultiEdit|NotebookEdit|Write)$", f"PreToolUse {name}")]
    assert home.can_run_hooks()


def test_a_file_made_for_the_hook_goes_with_it_and_never_shows_in_git(home: Home, shop: Path) -> None:
    before = files_of(shop)
    hold(home, PROJECT, ["Bash"], [shop])
    assert status_of(shop) == ""
    hold(home, PROJECT, ["Bash", "Edit"], [shop])
    hold(home, PROJECT, [], [shop])
    assert files_of(shop) == before
    assert not (shop / ".claude").exists()
    assert not home.guards.exists()


@pytest.mark.parametrize("content", [OWN, b'{"hooks":{"PreToolUse":[]}}', b"{}", b'{"a": 1}\r\n', b"\n"])
def test_a_file_of_the_user_comes_back_byte_for_byte(home: Home, shop: Path, content: bytes) -> None:
    local(shop).parent.mkdir()
    local(shop).write_bytes(content)
    before = files_of(shop)
    hold(home, PROJECT, ["Bash"], [shop])
    assert len(guards_in(local(shop))) == 1
    hold(home, PROJECT, ["Edit"], [shop])
    assert len(guards_in(local(shop))) == 1
    hold(home, PROJECT, [], [shop])
    assert files_of(shop) == before
    assert not home.installs.exists()


def test_changes_of_the_user_stay_when_the_hook_goes(home: Home, shop: Path) -> None:
    hold(home, PROJECT, ["Bash"], [shop])
    settings = json.loads(local(shop).read_bytes())
    settings["model"] = "opus"
    own = {"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}
    settings["hooks"]["PreToolUse"].insert(0, own)
    local(shop).write_text(json.dumps(settings))
    hold(home, PROJECT, ["Edit"], [shop])
    hold(home, PROJECT, [], [shop])
    assert json.loads(local(shop).read_bytes()) == {"hooks": {"PreToolUse": [own]}, "model": "opus"}


def test_lines_of_the_user_in_the_exclude_file_stay(home: Home, shop: Path) -> None:
    exclude = shop / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_bytes(b"*.log")
    hold(home, PROJECT, ["Bash"], [shop])
    assert exclude.read_bytes() == b"*.log\n/.claude/settings.local.json\n"
    hold(home, PROJECT, [], [shop])
    assert exclude.read_bytes() == b"*.log"
    hold(home, PROJECT, ["Bash"], [shop])
    exclude.write_bytes(exclude.read_bytes() + b"*.tmp\n")
    hold(home, PROJECT, [], [shop])
    assert exclude.read_bytes() == b"*.log\n*.tmp\n"


@pytest.mark.parametrize("line", [".claude/", "settings.local.json", "**/.claude/settings.local.json", "*.local.json"])
def test_a_file_that_is_ignored_already_needs_no_line(home: Home, shop: Path, line: str) -> None:
    (shop / ".gitignore").write_text(f"{line}\n")
    before = files_of(shop)
    git_exclude.add(home, shop, ".claude/settings.local.json")
    assert files_of(shop) == before


def test_a_project_without_guards_loses_the_hook_in_every_checkout(home: Home, shop: Path, tmp_path: Path) -> None:
    other = (tmp_path / "shop-2").resolve()
    make_checkout(other)
    hold(home, PROJECT, ["Bash"], [shop, other, tmp_path / "gone"])
    hold(home, PROJECT, ["Edit"], [])
    assert [guards_in(local(each))[0][0] for each in (shop, other)] == ["^(Edit)$", "^(Edit)$"]
    hold(home, PROJECT, [], [])
    assert not (shop / ".claude").exists()
    assert not (other / ".claude").exists()


def test_a_worktree_shares_the_hook_of_its_main_checkout(home: Home, shop: Path, tmp_path: Path) -> None:
    worktree = tmp_path / "fix"
    (shop / ".git" / "worktrees" / "fix").mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text(f"gitdir: {shop}/.git/worktrees/fix\n")
    (shop / ".git" / "worktrees" / "fix" / "commondir").write_text("../..\n")
    (shop / ".git" / "worktrees" / "fix" / "HEAD").write_text("ref: refs/heads/fix\n")
    hold(home, PROJECT, ["Bash"], [worktree])
    assert len(guards_in(local(shop))) == 1
    assert not (worktree / ".claude").exists()


def test_settings_that_git_tracks_or_that_are_behind_a_link_are_left_alone(
    home: Home, shop: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (shop / ".claude").symlink_to(elsewhere)
    assert "behind a link" in hold(home, PROJECT, ["Bash"], [shop]).troubles[0].message
    assert list(elsewhere.iterdir()) == []
    (shop / ".claude").unlink()
    local(shop).parent.mkdir()
    local(shop).write_bytes(b"{}\n")
    subprocess.run(["git", "-C", str(shop), "add", "--force", ".claude"], check=True)
    assert "git tracks it" in hold(home, PROJECT, ["Bash"], [shop]).troubles[0].message
    assert local(shop).read_bytes() == b"{}\n"


def test_settings_that_cannot_be_read_are_left_alone_and_told(home: Home, shop: Path) -> None:
    local(shop).parent.mkdir()
    local(shop).write_bytes(b"{ // mine\n}")
    (trouble,) = hold(home, PROJECT, ["Bash"], [shop]).troubles
    assert "comment in line 1" in trouble.message
    assert local(shop).read_bytes() == b"{ // mine\n}"


def test_no_folder_is_made_anew_for_a_checkout_that_is_gone(home: Home, shop: Path) -> None:
    hold(home, PROJECT, ["Bash"], [shop])
    shop.rename(shop.with_name("moved"))
    assert guard_hooks.refresh(home).troubles == ()
    assert not shop.exists()


@pytest.mark.parametrize("order", ["install first", "guards first"])
@pytest.mark.parametrize("content", [None, OWN])
def test_hooks_of_an_install_in_the_same_file_and_those_of_guards_leave_each_other_alone(
    home: Home, shop: Path, monkeypatch: pytest.MonkeyPatch, order: str, content: bytes | None
) -> None:
    monkeypatch.chdir(shop)
    if content is not None:
        local(shop).parent.mkdir()
        local(shop).write_bytes(content)
    before = files_of(shop)
    if order == "install first":
        run("install", "--scope", "project")
    hold(home, PROJECT, ["Bash"], [shop])
    if order == "guards first":
        run("install", "--scope", "project")
    assert len(guards_in(local(shop))) == 1
    present = json.loads(local(shop).read_bytes())["hooks"]
    wanted = hook_settings(home)["hooks"]
    assert isinstance(wanted, dict)
    assert {event: present[event] for event in wanted} == wanted
    before_install = local(shop).read_bytes()
    assert run("install", "--scope", "project") == 0
    assert local(shop).read_bytes() == before_install
    if order == "install first":
        run("uninstall", "--scope", "project")
        assert not any(is_ours(hook) for hook in _hooks_in(local(shop)))
    else:
        hold(home, PROJECT, [], [shop])
        assert guards_in(local(shop)) == []
        run("uninstall", "--scope", "project")
    hold(home, PROJECT, [], [shop])
    assert files_of(shop) == before
    assert (shop / ".claude").exists() == (content is not None)


def _hooks_in(path: Path) -> list[JsonValue]:
    if not path.exists():
        return []
    hooks = json.loads(path.read_bytes()).get("hooks", {})
    return [hook for groups in hooks.values() for group in groups for hook in group["hooks"]]


def test_the_last_uninstall_takes_the_hook_out_and_the_next_install_has_it_back(home: Home, shop: Path) -> None:
    assert run("install") == 0
    before = files_of(shop)
    hold(home, PROJECT, ["Bash"], [shop])
    assert run("uninstall") == 0
    assert files_of(shop) == before
    assert run("install") == 0
    assert len(guards_in(local(shop))) == 1


@pytest.mark.parametrize(
    ("agent", "events", "matcher"),
    [
        ("codex", ("PreToolUse",), "^(Bash|apply_patch)$"),
        ("gemini", ("BeforeTool", "AfterTool"), "^(run_shell_command|write_file|replace)$"),
    ],
)
def test_an_agent_gets_the_hook_where_it_was_installed_and_loses_it_with_the_last_guard(
    home: Home, shop: Path, agent: str, events: tuple[str, ...], matcher: str
) -> None:
    folder = Path.home() / f".{agent}"
    folder.mkdir()
    (folder / "settings.json").write_text('{"theme": "dark"}')
    untouched = files_of(folder)
    assert run("install", "--agent", agent) == 0
    settings = folder / ("hooks.json" if agent == "codex" else "settings.json")
    installed = settings.read_bytes()
    hold(home, PROJECT, ["Bash", *EDITS], [shop])
    assert [guards_in(settings, event) for event in events] == [[(matcher, f"here {agent}")]] * len(events)
    assert not (shop / ".claude").exists()
    assert run("install", "--agent", agent) == 0
    assert len(guards_in(settings, events[0])) == 1
    hold(home, PROJECT, [], [shop])
    assert settings.read_bytes() == installed
    hold(home, PROJECT, ["Bash"], [shop])
    assert run("uninstall", "--agent", agent) == 0
    assert files_of(folder) == untouched


def test_an_agent_installed_later_gets_the_hook_of_guards_too(home: Home, shop: Path) -> None:
    hold(home, PROJECT, ["Bash"], [shop])
    assert run("install", "--agent", "codex") == 0
    settings = Path.home() / ".codex" / "hooks.json"
    assert guards_in(settings) == [("^(Bash)$", "here codex")]
    assert [record.agent for record in guard_layer.load_all(home)] == ["codex"]


def test_agents_whose_hooks_cannot_refuse_get_none(home: Home, shop: Path) -> None:
    assert run("install", "--agent", "cursor") == 0
    before = (Path.home() / ".cursor" / "hooks.json").read_bytes()
    hold(home, PROJECT, ["Bash"], [shop])
    assert (Path.home() / ".cursor" / "hooks.json").read_bytes() == before


def test_files_of_a_repository_turn_no_guard_on(home: Home, shop: Path) -> None:
    (shop / "guards").mkdir()
    (shop / "guards" / "roots").write_text(f"x Bash {shop}\n")
    (shop / ".claude-mem-lite.toml").write_text('guards = ["deny npm"]\n')
    assert guard_hooks.refresh(home).changed == ()
    assert guard_hooks.roots(home) == []


@pytest.mark.parametrize("linked", ["info", "info/exclude"])
def test_an_exclude_file_behind_a_link_is_left_alone(home: Home, shop: Path, tmp_path: Path, linked: str) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "exclude").write_text("echo hello\n")
    shutil.rmtree(shop / ".git" / "info", ignore_errors=True)
    (shop / ".git" / linked).parent.mkdir(exist_ok=True)
    (shop / ".git" / linked).symlink_to(tmp_path / "own" / linked.removeprefix("info").strip("/"))
    assert hold(home, PROJECT, ["Bash"], [shop]).changed == (local(shop),)
    assert files_of(tmp_path / "own") == {"exclude": b"echo hello\n"}
    hold(home, PROJECT, [], [shop])
    assert files_of(tmp_path / "own") == {"exclude": b"echo hello\n"}


@pytest.mark.parametrize("separator", ["\x0c", "\r", "\x85", "\u2028"])
def test_the_hook_is_in_a_folder_whose_name_has_a_separator_and_in_no_other(
    home: Home, tmp_path: Path, separator: str
) -> None:
    folder = (tmp_path / f"shop{separator}old").resolve()
    make_checkout(folder)
    (tmp_path / "shop").mkdir()
    assert hold(home, PROJECT, ["Bash"], [folder]).changed == (local(folder),)
    assert hold(home, PROJECT, [], []).changed == (local(folder),)
    assert not (tmp_path / "shop" / ".claude").exists()


def test_projects_that_get_their_hooks_at_once_all_have_them(home: Home, tmp_path: Path) -> None:
    folders = [(tmp_path / f"shop{number}").resolve() for number in range(6)]
    for folder in folders:
        make_checkout(folder)

    def place(folder: Path) -> guard_hooks.Placement:
        return hold(home, f"example.org/{folder.name}", ["Bash"], [folder])

    with ThreadPoolExecutor(len(folders)) as pool:
        placed = list(pool.map(place, folders))
    assert [one.troubles for one in placed] == [()] * len(folders)
    assert [root.folder for root in sorted(guard_hooks.roots(home), key=lambda root: root.folder)] == folders
    assert all(guards_in(local(folder)) for folder in folders)
