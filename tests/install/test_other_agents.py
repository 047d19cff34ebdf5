"""Installing into Codex CLI, Gemini CLI, Cursor and Copilot CLI and out again: every byte of the user's stays."""

import json
import shlex
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import has_own_hooks
from claude_mem_lite.cli.setup.install import hooks, install
from claude_mem_lite.cli.setup.uninstall import uninstall
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import agent_extras, hook_install, install_record, toml_edit
from claude_mem_lite.install.agent_extras import server_state, skill_state
from claude_mem_lite.install.doctor.fixes import apply, find_fixes
from claude_mem_lite.install.doctor.hook_checks import check_hooks, check_tools, extra_paths, hooks_state
from claude_mem_lite.install.hook_config import hook_groups, is_ours
from claude_mem_lite.install.targets import Target, target_of, target_of_record
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

PROGRAM = Path(sys.executable).parent / "claude-mem-lite"
OTHERS = [agent for agent in NAMES if agent != CLAUDE_CODE]
BEFORE = {
    "codex": '{\n\t"description":  "my",\n\t"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "beep"}]}]}}',
    "gemini": '{"theme": "Zoë", "mcpServers": {"other": {"command": "x"}}}',
    "cursor": '{"version": 1, "hooks": {"stop": [{"command": "./beep.sh"}], "afterFileEdit": [{"command": "fmt"}]}}\n',
    "copilot": '{"version":1,"hooks":{"sessionStart":[{"type":"command","bash":"beep"}]}}',
}
CONFIG = (
    '# mine\nmodel = "gpt-5.5"   # the good one\n\n[mcp_servers.other]\ncommand = "x"\n\n[tui]\nnotifications = true'
)


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    (tmp_path / "project").mkdir()
    monkeypatch.chdir(tmp_path / "project")

    def ran(command: object, *arguments: str) -> str:
        done = CliRunner().invoke(command, arguments, catch_exceptions=False)  # type: ignore[arg-type]
        assert done.exit_code == 0, done.output
        return done.output

    return ran


def target(agent: str, scope: str = "user") -> Target:
    return target_of(agent, "project" if scope == "project" else "user", None, {})


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("agent", OTHERS)
def test_uninstall_leaves_nothing_where_there_was_nothing(
    agent: str, scope: str, run: Callable[..., str], tmp_path: Path
) -> None:
    run(install, "--agent", agent, "--scope", scope)
    installed = target(agent, scope)
    assert installed.settings.is_file()
    assert installed.tools.skill.is_file()
    home = Home(tmp_path / "home")
    assert hooks_state(home, installed.settings, agent) == "current"
    assert skill_state(home, installed.tools) == "current"
    assert [target_of_record(one) for one in install_record.load_all(home)] == [installed]
    run(uninstall, "--agent", agent, "--scope", scope)
    assert list((tmp_path / "user").iterdir()) == []
    assert list((tmp_path / "project").iterdir()) == []


@pytest.mark.parametrize("agent", OTHERS)
def test_what_the_user_has_comes_back_byte_for_byte(agent: str, run: Callable[..., str], tmp_path: Path) -> None:
    one = target(agent)
    one.settings.parent.mkdir(parents=True)
    one.settings.write_text(BEFORE[agent], encoding="utf-8")
    if agent == "codex":
        one.tools.server.path.write_text(CONFIG)
    before = files_of(tmp_path / "user")

    run(install, "--agent", agent)
    installed = files_of(tmp_path / "user")
    run(install, "--agent", agent)
    assert files_of(tmp_path / "user") == installed
    hooks_now = json.loads(one.settings.read_text("utf-8"))["hooks"]
    assert "beep" in one.settings.read_text("utf-8") or agent == "gemini"
    assert all(
        any(group == wanted for group in hooks_now[event])
        for event, wanted in hook_groups(Home(tmp_path / "home"), agent).items()
    )

    run(uninstall, "--agent", agent)
    assert files_of(tmp_path / "user") == before


def install_as_earlier(home: Home, agent: str) -> None:
    """What an earlier version, with other hooks, would have installed."""
    earlier = hook_groups(Home(Path("/old")), agent)
    hook_install.apply_install(home, hook_install.plan_install(home, target(agent).settings, earlier, agent))
    list(agent_extras.install(home, target(agent).tools))


@pytest.mark.parametrize("before", [None, BEFORE["gemini"], '{\n  "theme": "dark"\n}\n'])
@pytest.mark.parametrize("by", ["install", "doctor"])
@pytest.mark.parametrize("agent", ["codex", "gemini"])
def test_what_the_user_has_comes_back_also_when_our_hooks_were_changed_in_between(
    agent: str, by: str, before: str | None, run: Callable[..., str], tmp_path: Path, home: Home
) -> None:
    """In Gemini CLI hooks and server stand in the same file."""
    one = target(agent)
    if before is not None:
        one.settings.parent.mkdir(parents=True)
        one.settings.write_text(before)
    install_as_earlier(home, agent)
    if by == "install":
        run(install, "--agent", agent)
    else:
        fixes = list(find_fixes(home, tmp_path / "none", {}))
        assert [apply(fix).failure for fix in fixes if fix.name == "hooks"] == [""]
    assert hooks_state(home, one.settings, agent) == "current"
    told = "removed, because" if before is None else "put back exactly"
    assert told in run(uninstall, "--agent", agent)
    assert (one.settings.read_text() if before is not None else None) == before
    assert not home.installs.exists()


@pytest.mark.parametrize("agent", OTHERS)
def test_what_the_user_wrote_since_stays(agent: str, run: Callable[..., str], tmp_path: Path) -> None:
    one = target(agent)
    run(install, "--agent", agent)
    held = json.loads(one.settings.read_text())
    one.settings.write_text(json.dumps({**held, "mine": True}))
    run(uninstall, "--agent", agent)
    left = json.loads(one.settings.read_text())
    assert left["mine"] is True
    assert not any(is_ours(entry) for groups in left.get("hooks", {}).values() for entry in groups)
    assert install_record.load_all(Home(tmp_path / "home")) == []


def test_the_server_is_registered_where_each_agent_looks_for_it(run: Callable[..., str], tmp_path: Path) -> None:
    for agent in OTHERS:
        run(install, "--agent", agent)
    user = tmp_path / "user"
    env = {"CLAUDE_MEM_LITE_HOME": str(tmp_path / "home")}
    common = {"command": str(PROGRAM), "args": ["mcp"], "env": env}
    codex = tomllib.loads((user / ".codex" / "config.toml").read_text())
    assert codex["mcp_servers"]["claude-mem-lite"] == common
    for path in (".gemini/settings.json", ".cursor/mcp.json"):
        assert json.loads((user / path).read_text())["mcpServers"]["claude-mem-lite"] == common
    copilot = json.loads((user / ".copilot" / "mcp-config.json").read_text())
    assert copilot["mcpServers"]["claude-mem-lite"] == {"type": "local", **common, "tools": ["*"]}
    assert {server_state(Home(tmp_path / "home"), target(agent).tools) for agent in OTHERS} == {"current"}


def test_a_server_that_cannot_be_taken_out_keeps_the_hooks_in_no_file(run: Callable[..., str]) -> None:
    run(install, "--agent", "codex")
    one = target("codex")
    one.tools.server.path.write_text("a = ")
    done = CliRunner().invoke(uninstall, ["--agent", "codex"])
    assert isinstance(done.exception, SettingsError)
    assert str(one.tools.server.path) in str(done.exception)
    assert "removed, because the install had made it" in done.output
    assert not one.settings.exists()


@pytest.mark.parametrize("place", ["usual", "other", "project"])
@pytest.mark.parametrize("agent", NAMES)
def test_doctor_names_the_command_that_installs_into_the_same_place(
    agent: str, place: str, run: Callable[..., str], tmp_path: Path, home: Home
) -> None:
    folder = tmp_path / "my settings"
    more = {"usual": [], "other": ["--config-dir", str(folder)], "project": ["--scope", "project"]}[place]
    run(install, "--agent", agent, *more)
    (known,) = install_record.load_all(home)
    known.settings.write_text("{}")
    (check,) = check_hooks(home, Path.home() / ".claude" / "settings.json")
    of_agent = "" if agent == CLAUDE_CODE else f" --agent {agent}"
    of_place = {"usual": "", "other": f" --config-dir '{folder}'", "project": " --scope project"}[place]
    where = f" in {tmp_path / 'project'}" if place == "project" else ""
    assert check.next_step == f"run `claude-mem-lite install{of_agent}{of_place}`{where}"
    if place != "project":  # of the tools in a project nothing is told
        (tools,) = extra_paths(home, Path.home() / ".claude" / "settings.json", {})
        tools.skill.unlink()
        assert check_tools(home, tools)[-1].next_step == check.next_step
    run(install, *shlex.split(check.next_step.split("`")[1])[2:])
    assert check_hooks(home, Path.home() / ".claude" / "settings.json")[0].state == "ok"


@pytest.mark.parametrize("agent", NAMES)
def test_settings_that_are_kept_elsewhere_and_linked_to_are_those_of_the_usual_place(
    agent: str, run: Callable[..., str], tmp_path: Path, home: Home
) -> None:
    usual = target(agent).folder
    (tmp_path / "dotfiles").mkdir()
    usual.symlink_to(tmp_path / "dotfiles")
    run(install, "--agent", agent)
    (known,) = install_record.load_all(home)
    assert known.settings.is_relative_to(tmp_path / "dotfiles")
    assert target_of_record(known) == target(agent)


@pytest.mark.parametrize("agent", OTHERS)
def test_install_ends_with_steps_of_that_agent(agent: str, run: Callable[..., str]) -> None:
    shown = run(install, "--agent", agent)
    assert f"to change an answer, run `claude-mem-lite install --agent {agent}`" in shown
    assert "imports your earlier sessions" not in shown


def test_a_dry_run_touches_nothing(run: Callable[..., str], tmp_path: Path) -> None:
    for agent in OTHERS:
        assert "Would" in run(install, "--agent", agent, "--dry-run")
        assert "Would" not in run(uninstall, "--agent", agent, "--dry-run")
    assert list((tmp_path / "user").iterdir()) == []


@pytest.mark.parametrize("agent", NAMES)
def test_a_dry_run_of_the_uninstall_says_what_the_uninstall_does(agent: str, run: Callable[..., str]) -> None:
    one = target(agent)
    assert run(uninstall, "--agent", agent, "--dry-run") == f"There are no claude-mem-lite hooks in {one.settings}.\n"
    run(install, "--agent", agent)
    before = one.settings.read_bytes()
    assert run(uninstall, "--agent", agent, "--dry-run").splitlines() == [
        f"Would remove the hooks from {one.settings}.",
        f"Would remove the MCP server claude-mem-lite from {one.tools.server.describe()}.",
        f"Would remove the skill {one.tools.skill}.",
    ]
    assert one.settings.read_bytes() == before


@pytest.mark.parametrize("agent", ["gemini", CLAUDE_CODE])
def test_settings_with_comments_are_left_alone_and_the_way_by_hand_is_told(agent: str, run: Callable[..., str]) -> None:
    one = target(agent)
    one.settings.parent.mkdir(parents=True)
    one.settings.write_text('{\n  "theme": "dark", // at night\n  "a": 1\n}\n')
    done = CliRunner().invoke(install, ["--agent", agent])
    assert isinstance(done.exception, SettingsError)
    assert "has a comment in line 2" in done.exception.message
    assert f"`claude-mem-lite hooks{'' if agent == CLAUDE_CODE else f' --agent {agent}'}`" in done.exception.next_step
    assert "no claude-mem-lite hooks" in run(uninstall, "--agent", agent)


def test_another_configuration_folder_can_be_named(run: Callable[..., str], tmp_path: Path) -> None:
    run(install, "--agent", "codex", "--config-dir", str(tmp_path / "other"))
    assert (tmp_path / "other" / "hooks.json").is_file()
    assert (tmp_path / "other" / "config.toml").is_file()


@pytest.mark.parametrize("agent", NAMES)
def test_hooks_prints_what_install_writes(agent: str, run: Callable[..., str]) -> None:
    printed = json.loads(run(hooks, "--agent", agent))
    run(install, "--agent", agent)
    written = json.loads(target(agent).settings.read_text())
    assert {key: written[key] for key in printed} == printed


def test_own_hooks_are_known_by_the_records_of_installs(run: Callable[..., str], tmp_path: Path) -> None:
    home, project = Home(tmp_path / "home"), tmp_path / "project"
    assert not has_own_hooks(home, "cursor", str(project))
    run(install, "--agent", "cursor", "--scope", "project")
    assert has_own_hooks(home, "cursor", str(project / "src"))
    assert not has_own_hooks(home, "cursor", str(tmp_path / "projects"))
    assert not has_own_hooks(home, "copilot", str(project))
    (project / ".cursor" / "hooks.json").write_text("{}")
    assert not has_own_hooks(home, "cursor", str(project))
    run(install, "--agent", "cursor")
    assert has_own_hooks(home, "cursor", "/home/dev/elsewhere")


ENTRY: JsonObject = {"command": "/home/dev/bin/claude-mem-lite", "args": ["mcp"], "env": {"A_HOME": 'with "quotes"'}}
NAME = "claude-mem-lite"


@pytest.mark.parametrize(
    "text", ["", "\n", CONFIG, CONFIG + "\n", "[[tables]]\na = 1\n", 'mcp_servers.other.command = "x"\n']
)
def test_a_table_is_appended_and_taken_out_again(text: str) -> None:
    after = toml_edit.append(text, NAME, ENTRY)
    assert toml_edit.servers(after)[NAME] == ENTRY
    assert toml_edit.remove(after, NAME, len(toml_edit.gap_before(text))) == text


@pytest.mark.parametrize("behind", ["\n# of mine\n[mine]\na = 1\n", "# at the end\n", "\n\n  # a\n\n[[mine]]\n"])
def test_a_comment_behind_our_table_is_the_users(behind: str) -> None:
    for before in (CONFIG, f"{CONFIG}\n"):
        text = toml_edit.append(before, NAME, ENTRY) + behind
        assert toml_edit.remove(text, NAME, len(toml_edit.gap_before(before))) == f"{CONFIG}\n{behind}"
    assert toml_edit.update(text, NAME, {**ENTRY, "command": "/new"}).endswith(behind)


def test_what_looks_like_our_table_in_a_text_is_left_alone() -> None:
    text = f'{CONFIG}\ntold = """\n[mcp_servers.{NAME}]\ncommand = "x"\n\n"""\n'
    after = toml_edit.append(text, NAME, ENTRY)
    assert toml_edit.remove(after, NAME, 1) == text
    assert toml_edit.servers(toml_edit.update(after, NAME, {**ENTRY, "command": "/new"}))[NAME] == {
        **ENTRY,
        "command": "/new",
    }


def test_what_the_user_added_to_our_server_is_named_when_it_goes(run: Callable[..., str]) -> None:
    run(install, "--agent", "codex")
    path = target("codex").tools.server.path
    path.write_text(f'{path.read_text()}startup_timeout_sec = 20\n[mcp_servers.{NAME}.mine]\nTOKEN = "x"\n# stays\n')
    told = run(uninstall, "--agent", "codex")
    assert f"{path}, with what was added to it by hand: startup_timeout_sec, mine." in told
    assert path.read_text() == "# stays\n"


def test_what_the_user_added_to_our_table_stays_through_an_update() -> None:
    text = toml_edit.append(CONFIG, NAME, {**ENTRY, "command": "/old"}) + "startup_timeout_sec = 20\n\n[mine]\na = 1\n"
    after = toml_edit.update(text, NAME, ENTRY)
    assert toml_edit.servers(after)[NAME] == {**ENTRY, "startup_timeout_sec": 20}
    assert "[mine]\na = 1\n" in after


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = { other = { command = 'x' } }", "mcp_servers = 1"])
def test_a_document_that_cannot_take_a_table_is_left_alone(text: str) -> None:
    with pytest.raises(SettingsError):
        toml_edit.append(text, NAME, ENTRY)
