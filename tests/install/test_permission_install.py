"""The permission for the memory tools: asked by install, written to the settings, taken out again, told by doctor."""

import json
from pathlib import Path

import pytest

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.permissions import PLUGIN_SERVER, SERVER, tools_allowed
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.install.doctor.hook_checks import check_plugin_permission, check_tools
from claude_mem_lite.install.hook_config import hook_settings
from claude_mem_lite.install.permissions import RULES
from claude_mem_lite.install.targets import target_of
from claude_mem_lite.paths import Home
from tests.support.fake_worker import run
from tests.support.git_repositories import make_checkout
from tests.support.terminals import at_terminal

FORMS = {
    "missing": None,
    "an empty object": "{}",
    "no rules": '{\n\t"model":  "opus",\n\t"permissions": {"defaultMode": "acceptEdits"},\n\t"x": [ 1,2 ]\n}',
    "no allow rules": '{"permissions":{"deny":["Bash(rm *)"]},"unknown":{"b":1,"a":2}}',
    "an empty list": '{\r\n  "permissions": {\r\n    "allow": []\r\n  }\r\n}\r\n',
    "other rules": '{\n  "permissions": {\n    "allow": ["Read",\n  "mcp__github"],\n    "ask": []\n  },\n  "z": 0\n}',
    "hooks of the user": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}, "model": "opus"}',
}
FORBIDDEN = f'{{"permissions": {{"deny": ["{SERVER}"]}}}}'


@pytest.fixture
def settings() -> Path:
    return Path.home() / ".claude" / "settings.json"


def allowed_in(settings: Path) -> list[str]:
    found: list[str] = json.loads(settings.read_text()).get("permissions", {}).get("allow", [])
    return found


def put(settings: Path, text: str | None) -> None:
    settings.parent.mkdir(parents=True, exist_ok=True)
    if text is not None:
        settings.write_bytes(text.encode())


def text_of(settings: Path) -> str | None:
    return settings.read_bytes().decode() if settings.exists() else None


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("steps", [["--allow-tools"], [None, "--allow-tools"], ["--allow-tools", None]])
def test_uninstall_takes_the_rules_out_and_leaves_every_byte_of_the_user(
    settings: Path, form: str, steps: list[str | None]
) -> None:
    put(settings, FORMS[form])
    before = json.loads(FORMS[form] or "{}")
    for step in steps:
        assert run("install", *([step] if step else [])) == 0
    assert allowed_in(settings) == [*before.get("permissions", {}).get("allow", []), *RULES]
    assert tools_allowed(Path.home())
    once = text_of(settings)
    run("install", "--allow-tools")
    assert text_of(settings) == once
    run("uninstall")
    assert text_of(settings) == FORMS[form]


@pytest.mark.parametrize("form", sorted(FORMS))
def test_what_the_user_wrote_since_stays(settings: Path, form: str) -> None:
    put(settings, FORMS[form])
    run("install", "--allow-tools")
    written = json.loads(settings.read_text())
    written["permissions"]["allow"].insert(0, "WebSearch")
    written["theme"] = "dark"
    settings.write_text(json.dumps(written, indent=4))
    run("uninstall")
    expected = json.loads(FORMS[form] or "{}")
    expected.setdefault("permissions", {})["allow"] = ["WebSearch", *expected.get("permissions", {}).get("allow", [])]
    left = json.loads(settings.read_text())
    assert left == {**expected, "theme": "dark"}
    assert [key for key in left if key in expected] == [key for key in written if key in expected]


def test_what_was_made_for_the_rules_goes_when_nothing_else_is_in_it(settings: Path) -> None:
    run("install", "--allow-tools")
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "theme": "dark"}))
    run("uninstall")
    assert json.loads(settings.read_text()) == {"theme": "dark"}


def test_without_a_terminal_and_without_a_word_nothing_is_allowed(
    settings: Path, home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install")
    assert json.loads(settings.read_text()) == hook_settings(home)
    assert "To allow them, run `claude-mem-lite install --allow-tools`.\n" in capsys.readouterr().out


def test_a_rule_of_the_user_is_not_written_twice_and_stays(settings: Path) -> None:
    put(settings, f'{{"permissions": {{"allow": ["{RULES[1]}", "{SERVER}__memory_g*"]}}}}')
    run("install", "--allow-tools")
    rest = [rule for rule in RULES if "_search" not in rule and "_get" not in rule]
    assert allowed_in(settings) == [RULES[1], f"{SERVER}__memory_g*", *rest]
    settings.write_text(json.dumps(json.loads(settings.read_text()), indent=3))
    run("uninstall")
    assert allowed_in(settings) == [RULES[1], f"{SERVER}__memory_g*"]


def test_a_server_that_the_user_allowed_needs_no_more_rules(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(settings, f'{{"permissions": {{"allow": ["{SERVER}"]}}}}')
    run("install", "--allow-tools")
    assert allowed_in(settings) == [SERVER]
    run("install", "--no-allow-tools")
    assert allowed_in(settings) == [SERVER]
    assert f"by a rule of your own: {SERVER} in {settings}.\n" in capsys.readouterr().out


def test_no_allow_tools_takes_out_what_allow_tools_added(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(settings, '{"permissions": {"allow": ["Read"]}}')
    run("install")
    hooked = settings.read_bytes()
    run("install", "--allow-tools")
    assert f"Allowed the memory tools in {settings};" in capsys.readouterr().out
    run("install", "--no-allow-tools")
    shown = capsys.readouterr().out
    assert settings.read_bytes() == hooked
    assert f"Took the rules that allowed the memory tools out of {settings}.\n" in shown
    assert "Installed already: the hooks in" in shown


def test_an_upgrade_of_the_hooks_keeps_the_rules(settings: Path, home: Home) -> None:
    run("install", "--allow-tools")
    put(settings, settings.read_text().replace('"timeout": ', '"timeout": 1'))
    assert run("install") == 0
    written = json.loads(settings.read_text())
    assert written["hooks"] == hook_settings(home)["hooks"]
    assert allowed_in(settings) == list(RULES)
    run("uninstall")
    assert not settings.exists()


def test_a_rule_that_the_user_took_out_again_does_not_come_back_unasked(settings: Path) -> None:
    run("install", "--allow-tools")
    written = json.loads(settings.read_text())
    del written["permissions"]
    settings.write_text(json.dumps(written))
    run("install")
    assert "permissions" not in json.loads(settings.read_text())
    assert run("uninstall") == 0


def test_in_a_project_the_rules_are_in_the_file_that_is_the_users_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Path
) -> None:
    make_checkout(tmp_path / "shop")
    monkeypatch.chdir(tmp_path / "shop")
    run("install", "--scope", "project", "--allow-tools")
    assert allowed_in(tmp_path / "shop" / ".claude" / "settings.local.json") == list(RULES)
    assert tools_allowed(tmp_path / "shop")
    assert not tools_allowed(tmp_path)
    assert not settings.exists()
    run("uninstall", "--scope", "project")
    assert not (tmp_path / "shop" / ".claude").exists()


def test_another_configuration_folder_has_its_own_rules(tmp_path: Path) -> None:
    run("install", "--config-dir", str(tmp_path / "config"), "--allow-tools")
    assert tools_allowed(tmp_path, tmp_path / "config")
    assert not tools_allowed(tmp_path)


def test_a_dry_run_shows_the_rules_and_writes_nothing(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("install", "--allow-tools", "--dry-run")
    shown = capsys.readouterr().out
    assert all(f'+      "{rule}"' in shown for rule in RULES)
    assert str(settings) in shown
    assert not settings.exists()


BROKEN = {
    "{broken": "it is not valid JSON",
    '{"permissions": []}': "its `permissions` is not an object",
    '{"permissions": {"allow": "Read"}}': "its `permissions.allow` is not a list",
}


@pytest.mark.parametrize("text", BROKEN)
def test_settings_that_are_not_understood_stop_the_install_before_anything_is_touched(
    settings: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    put(settings, text)
    assert run("install", "--allow-tools") == 1
    shown = capsys.readouterr().err
    assert f"{settings} was left alone: {BROKEN[text]}" in shown
    assert "nothing was changed" in shown
    assert settings.read_text() == text
    assert not (Path.home() / ".claude.json").exists()


def test_a_server_of_our_name_that_is_not_ours_is_not_allowed(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = {"mcpServers": {"claude-mem-lite": {"command": "/usr/bin/other", "args": ["serve"]}}}
    (Path.home() / ".claude.json").write_text(json.dumps(other))
    assert run("install", "--allow-tools") == 1
    assert "would allow that one; nothing was changed" in capsys.readouterr().err
    assert not settings.exists()


def test_a_rule_that_denies_is_told(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(settings, FORBIDDEN)
    run("install", "--allow-tools")
    assert f"Careful: the rule {SERVER} in {settings} denies them all the same.\n" in capsys.readouterr().out


def test_an_agent_may_not_allow_itself_the_tools(
    settings: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CLAUDECODE", "1")
    assert run("install", "--allow-tools") == 1
    assert "speaks for the user" in capsys.readouterr().err
    assert not settings.exists()


@pytest.mark.parametrize("option", ["--allow-tools", "--no-allow-tools"])
def test_other_agents_have_no_such_rules(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install", "--agent", "codex", option) == 2
    assert "are for Claude Code" in capsys.readouterr().err


def on_terminal(*arguments: str, answer: str = "") -> str:
    """Run a command at a real terminal, answer the question about the tools, take the default of other questions, and
    return all that was shown."""
    with at_terminal(*arguments) as terminal:
        place = 0
        while question := terminal.wait_for_any(("[y/N]: ", "[rules]: ", "[Y/n]: "), place):
            terminal.type(f"{answer if terminal.shown[:question].endswith('[y/N]: ') else ''}\n")
            place = question
        assert terminal.finish() == 0, terminal.shown
    return terminal.shown


def test_on_a_terminal_the_user_is_asked_and_sees_what_is_written_and_where(settings: Path) -> None:
    shown = on_terminal("install", answer="y")
    question = shown.index("May Claude use these tools without asking each time? [y/N]: ")
    assert f"To allow them, this is added to {settings}:\n" in shown[:question]
    assert all(f'      "{rule}"' in shown[:question] for rule in RULES)
    assert "Added the hooks" in shown[question:]
    assert allowed_in(settings) == list(RULES)
    again = on_terminal("install")
    assert "May Claude" not in again


def test_on_a_terminal_no_leaves_the_settings_without_rules(settings: Path, home: Home) -> None:
    on_terminal("install", answer="n")
    assert json.loads(settings.read_text()) == hook_settings(home)


@pytest.mark.parametrize("option", ["--allow-tools", "--no-allow-tools", "--dry-run"])
def test_a_word_on_the_command_line_is_not_asked_for(settings: Path, option: str) -> None:
    assert "[y/N]" not in on_terminal("install", option)
    assert (settings.exists() and bool(allowed_in(settings))) is (option == "--allow-tools")


def test_who_has_decided_by_a_rule_is_not_asked(settings: Path) -> None:
    put(settings, FORBIDDEN)
    assert "[y/N]" not in on_terminal("install")


def permission_check(home: Home) -> Check:
    checks = check_tools(home, target_of(CLAUDE_CODE, "user", None, {}).tools)
    return next(check for check in checks if check.name == "MCP permission")


def test_doctor_tells_whether_the_tools_are_allowed_and_how_to_allow_them(home: Home, settings: Path) -> None:
    run("install")
    before = permission_check(home)
    assert before.state == "ok"
    assert before.found.startswith("Claude asks you before it uses the memory tools")
    assert before.next_step == "to allow them, run `claude-mem-lite install --allow-tools`"
    run("install", "--allow-tools")
    allowed = f"{SERVER}__memory_save in {settings} allows the memory tools"
    assert permission_check(home) == Check("MCP permission", "ok", allowed)
    written = json.loads(settings.read_text())
    written["permissions"]["ask"] = ["mcp__*"]
    settings.write_text(json.dumps(written))
    after = permission_check(home)
    assert after.found == f"mcp__* in {settings} has Claude ask"
    assert after.next_step == "to allow them, take that rule out"


def test_doctor_names_the_rule_for_the_tools_of_the_plugin(settings: Path) -> None:
    put(settings, '{"enabledPlugins": {"mem-lite@mem-lite": true}}')
    (check,) = check_plugin_permission(settings)
    assert check.next_step == f'to allow them, add "permissions": {{"allow": ["{PLUGIN_SERVER}"]}} to {settings}'
    put(settings, '{"enabledPlugins": {"mem-lite@mem-lite": false}}')
    assert check_plugin_permission(settings) == []
