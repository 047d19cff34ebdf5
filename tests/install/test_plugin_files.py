"""The folder of the plugin: what in it follows from the package, and that it names only what exists."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from claude_mem_lite import __version__
from claude_mem_lite.agents.claude_code import is_own_tool
from claude_mem_lite.compress.rules.turn_lessons import lesson_drafts
from claude_mem_lite.install import agent_extras, plugin
from claude_mem_lite.install.hook_config import hook_groups
from claude_mem_lite.mcp.tool_schemas import TOOLS
from claude_mem_lite.models import KINDS, Event, Turn
from claude_mem_lite.paths import Home
from tests.docs.pages import ROOT
from tests.support.fake_worker import fake_worker, run

MARKETPLACES = (ROOT / ".claude-plugin" / "marketplace.json", plugin.FOLDER / ".claude-plugin" / "marketplace.json")
SCRIPTS = sorted(path.name for path in (plugin.FOLDER / "scripts").iterdir())
TOOL_LEAD = f"mcp__plugin_{plugin.NAME}_claude-mem-lite__"


def read(name: str) -> str:
    return (plugin.FOLDER / name).read_text("utf-8")


@pytest.mark.parametrize("name", plugin.generated())
def test_a_generated_file_is_what_the_package_generates(name: str) -> None:
    assert read(name) == plugin.generated()[name], "run `python -m claude_mem_lite.install.plugin`"


def test_the_plugin_has_the_hooks_that_install_writes_but_for_their_command(home: Home) -> None:
    def without_command(groups: object) -> object:
        return json.loads(re.sub(r'"command": "(?:[^"\\]|\\.)*"', '"command": ""', json.dumps(groups)))

    told = json.loads(read("hooks/hooks.json"))["hooks"]
    assert {event: without_command(group) for event, [group] in told.items()} == {
        event: without_command(group) for event, group in hook_groups(home).items()
    }


def test_a_stop_that_failed_is_shielded_from_the_signal_that_follows_it() -> None:
    told = json.loads(read("hooks/hooks.json"))["hooks"]["StopFailure"][0]["hooks"][0]["command"]
    assert told.startswith('trap "" TERM; ')


def test_the_plugin_carries_the_version_of_the_package() -> None:
    assert json.loads(read(".claude-plugin/plugin.json"))["version"] == __version__


def test_both_marketplaces_offer_the_same_plugin_from_where_it_lies() -> None:
    for path in MARKETPLACES:
        offered = json.loads(path.read_text())
        [entry] = offered["plugins"]
        assert (offered["name"], entry["name"]) == (plugin.NAME, plugin.NAME)
        assert (path.parents[1] / entry.pop("source")).resolve() == plugin.FOLDER.resolve()
    first, second = (json.loads(path.read_text())["plugins"][0]["description"] for path in MARKETPLACES)
    assert first == second


def test_install_writes_the_skill_of_the_plugin() -> None:
    source = plugin.FOLDER / "skills" / agent_extras.FOLDER / "SKILL.md"
    assert agent_extras.skill_content() == source.read_bytes()
    assert list((ROOT / "src").rglob("SKILL.md")) == [source]


def test_what_is_said_to_a_command_of_the_plugin_is_not_learned_besides() -> None:
    said = "Never commit to main"

    def learned(prompt: str) -> int:
        event = Event("n", "UserPromptSubmit", "s", datetime(2026, 1, 1, tzinfo=UTC), prompt=prompt)
        return len(lesson_drafts(Turn("k", "s", "p", prompt, (event,))))

    assert (learned(said), learned(f"/{plugin.NAME}:remember {said}")) == (1, 0)


def test_the_commands_name_only_tools_and_kinds_that_exist() -> None:
    tools = {str(tool["name"]) for tool in TOOLS}
    named = re.findall(rf"{TOOL_LEAD}(\w+)", read("commands/recall.md"))
    assert named
    assert set(named) <= tools
    assert is_own_tool(f"{TOOL_LEAD}{named[0]}")
    kinds = re.findall(r"`(\w+)`", read("commands/remember.md"))
    assert len(kinds) > 5
    assert set(kinds) <= set(KINDS)


@pytest.mark.parametrize("name", ["commands/remember.md", "commands/status.md", ".mcp.json"])
def test_what_runs_the_program_runs_the_script_that_finds_it(name: str) -> None:
    named = re.findall(r"\$\{CLAUDE_PLUGIN_ROOT\}/([\w./]+)", read(name))
    assert set(named) == {"scripts/run.sh"}


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_plain_shell(name: str) -> None:
    subprocess.run(["sh", "-n", plugin.FOLDER / "scripts" / name], check=True)


def test_the_command_prints_the_folder_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("plugin") == 0
    shown = capsys.readouterr()
    assert (Path(shown.out.strip()), shown.err) == (plugin.FOLDER, "")


def test_a_home_is_made_ready_without_any_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home = Home(tmp_path / "home")
    assert run("plugin", "--prepare") == 0
    assert run("plugin", "--prepare") == 0
    assert (home.hook_python.is_symlink(), home.hook_program.is_file()) == (True, True)
    assert home.worker_python.readlink() == Path(sys.executable)
    assert not home.installs.exists()
    assert list((tmp_path / "user").iterdir()) == []


def test_status_tells_of_the_plugin(home: Home, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "user" / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"enabledPlugins": {f"{plugin.NAME}@{plugin.NAME}": True}}))
    with fake_worker(home):
        assert run("status") == 0
    assert f"installed:  {settings.parent} as the plugin {plugin.NAME}@{plugin.NAME}\n" in capsys.readouterr().out


def test_the_page_tells_of_every_command() -> None:
    told = (ROOT / "docs" / "plugin.md").read_text("utf-8")
    named = set(re.findall(rf"/{plugin.NAME}:(\w+)", told))
    assert named == {path.stem for path in (plugin.FOLDER / "commands").iterdir()}
