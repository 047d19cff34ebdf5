"""Installing into Codex CLI, Gemini CLI, Cursor and Copilot CLI and out again: every byte of the user's stays."""

import json
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from claude_mem_lite.agents.adapters import NAMES
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.installed import has_own_hooks
from claude_mem_lite.cli.setup import hooks, install, uninstall
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import tomltext
from claude_mem_lite.install.hooks import hook_groups, is_ours
from claude_mem_lite.install.installs import installs
from claude_mem_lite.install.targets import Target, target_of
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
    assert {one.agent: (one.hooks, one.skill) for one in installs(Home(tmp_path / "home"))} == {agent: ("current",) * 2}
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
    assert installs(Home(tmp_path / "home")) == []


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
    assert {one.server for one in installs(Home(tmp_path / "home"))} == {"current"}


def test_a_dry_run_touches_nothing(run: Callable[..., str], tmp_path: Path) -> None:
    for agent in OTHERS:
        assert "Would" in run(install, "--agent", agent, "--dry-run")
        assert "Would" in run(uninstall, "--agent", agent, "--dry-run")
    assert list((tmp_path / "user").iterdir()) == []


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
    after = tomltext.append(text, NAME, ENTRY)
    assert tomltext.servers(after)[NAME] == ENTRY
    assert tomltext.remove(after, NAME, len(tomltext.gap_before(text))) == text


def test_what_the_user_added_to_our_table_stays_through_an_update() -> None:
    text = tomltext.append(CONFIG, NAME, {**ENTRY, "command": "/old"}) + "startup_timeout_sec = 20\n\n[mine]\na = 1\n"
    after = tomltext.update(text, NAME, ENTRY)
    assert tomltext.servers(after)[NAME] == {**ENTRY, "startup_timeout_sec": 20}
    assert "[mine]\na = 1\n" in after


@pytest.mark.parametrize("text", ["a = ", "mcp_servers = { other = { command = 'x' } }", "mcp_servers = 1"])
def test_a_document_that_cannot_take_a_table_is_left_alone(text: str) -> None:
    with pytest.raises(SettingsError):
        tomltext.append(text, NAME, ENTRY)
