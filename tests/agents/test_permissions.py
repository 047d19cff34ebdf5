"""The client's decision about the memory tools, by real settings files. Each case was seen in the real client."""

import json
import os
from pathlib import Path

import pytest

from claude_mem_lite.agents.client_settings import ClientSettings, config_folder_of_transcript
from claude_mem_lite.agents.permissions import GRANTED_TOOLS, PLUGIN_SERVER, SERVER, permission, tools_allowed
from claude_mem_lite.install.mcp_registration import SERVER_NAME
from claude_mem_lite.install.plugin import NAME
from claude_mem_lite.mcp.tool_schemas import TOOLS
from claude_mem_lite.models import JsonValue
from tests.support.git_repositories import Checkout, make_checkout

TOOL = f"{SERVER}__memory_save"


@pytest.fixture
def user() -> Path:
    return Path.home() / ".claude" / "settings.json"


@pytest.fixture
def shop(tmp_path: Path) -> Checkout:
    return make_checkout(tmp_path / "shop")


def write(path: Path, **rules: JsonValue) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"model": "opus", "permissions": rules}))


def trust(folder: Path, notes: Path | None = None) -> None:
    path = notes or Path.home() / ".claude.json"
    path.write_text(json.dumps({"projects": {str(folder): {"hasTrustDialogAccepted": True}}}))


def register(server: str, folder: Path | None = None) -> None:
    servers = {"mcpServers": {server: {"command": "x"}}}
    notes = {"projects": {str(folder): servers}} if folder else servers
    (Path.home() / ".claude.json").write_text(json.dumps(notes))


def test_the_names_are_those_of_the_server_the_plugin_and_its_tools() -> None:
    assert f"mcp__{SERVER_NAME}" == SERVER
    assert f"mcp__plugin_{NAME}_{SERVER_NAME}" == PLUGIN_SERVER
    deleting = [tool["name"] for tool in TOOLS if tool["annotations"] == {"destructiveHint": True}]
    assert [*GRANTED_TOOLS, *deleting] == [tool["name"] for tool in TOOLS]


@pytest.mark.parametrize("rule", [SERVER, TOOL, f"{SERVER}__*", f"{SERVER}__mem*", f"{SERVER}__*save", PLUGIN_SERVER])
def test_a_rule_for_the_tool_or_its_server_allows_it(user: Path, tmp_path: Path, rule: str) -> None:
    assert not tools_allowed(tmp_path)
    write(user, allow=["Read", 5, rule])
    assert tools_allowed(tmp_path)


@pytest.mark.parametrize(
    "rule",
    [
        "*",
        "mcp__*",
        "mcp__claude*",
        f"{SERVER}*",
        f"{SERVER}__",
        f"{SERVER}(*)",
        f"{TOOL}(*)",
        f" {TOOL} ",
        f"{SERVER}__memory_?ave",
        f"{SERVER}__memory_search",
        f"{SERVER}-other",
        TOOL.upper(),
    ],
)
def test_a_rule_of_another_form_allows_nothing(user: Path, tmp_path: Path, rule: str) -> None:
    write(user, allow=[rule])
    assert not tools_allowed(tmp_path)


@pytest.mark.parametrize("rule", [SERVER, TOOL, "*", "mcp__*", "mcp__c*", f"{SERVER}*", f"{SERVER}__mem*", "*save"])
@pytest.mark.parametrize(("kind", "decision"), [("deny", "denied"), ("ask", "asked")])
def test_deny_and_ask_of_any_file_come_before_allow(
    user: Path, tmp_path: Path, rule: str, kind: str, decision: str
) -> None:
    write(user, allow=[TOOL])
    project = tmp_path / "shop" / ".claude" / "settings.json"
    write(project, **{kind: [rule]})
    found = permission(ClientSettings(user.parent, tmp_path / "shop"))
    assert (found.decision, found.rule, found.path) == (decision, rule, project)
    assert not tools_allowed(tmp_path / "shop")
    assert tools_allowed(tmp_path)


@pytest.mark.parametrize("rule", [f"{TOOL}(*)", f"{TOOL}(x)", f"{SERVER}__", TOOL.upper(), "Bash(rm *)"])
def test_a_rule_about_something_else_denies_nothing(user: Path, tmp_path: Path, rule: str) -> None:
    write(user, allow=[TOOL], deny=[rule])
    assert tools_allowed(tmp_path)


@pytest.mark.parametrize("mode", ["", "bypassPermissions"])
@pytest.mark.parametrize("kind", ["deny", "ask"])
def test_a_rule_against_one_name_of_the_server_counts_against_the_other(
    user: Path, tmp_path: Path, kind: str, mode: str
) -> None:
    register(SERVER_NAME)
    for allowed, against in ((PLUGIN_SERVER, SERVER), (SERVER, PLUGIN_SERVER)):
        write(user, allow=[allowed], **{kind: [against]})
        assert not tools_allowed(tmp_path, mode=mode)
        write(user, **{kind: [against]})
        assert not tools_allowed(tmp_path, mode=mode)
    assert permission(ClientSettings(user.parent, tmp_path), SERVER).decision == "unset"


def test_settings_that_a_repository_brings_allow_nothing_until_the_folder_is_trusted(shop: Checkout) -> None:
    write(shop.root / ".claude" / "settings.json", allow=[SERVER])
    assert not tools_allowed(shop.root)
    trust(shop.root.parent)
    assert not tools_allowed(shop.root)
    trust(shop.root)
    assert tools_allowed(shop.root)


def test_local_settings_allow_unless_they_came_with_the_repository(shop: Checkout) -> None:
    write(shop.root / ".claude" / "settings.local.json", allow=[SERVER])
    assert tools_allowed(shop.root)
    shop.git("add", "--force", ".")
    assert not tools_allowed(shop.root)
    trust(shop.root)
    assert tools_allowed(shop.root)


def test_local_settings_allow_nothing_where_the_index_cannot_be_searched(shop: Checkout) -> None:
    write(shop.root / ".claude" / "settings.local.json", allow=[SERVER])
    shop.git("add", "--force", ".")
    shop.git("update-index", "--index-version", "4")
    assert not tools_allowed(shop.root)
    trust(shop.root)
    assert tools_allowed(shop.root)


def test_in_a_subfolder_local_settings_of_the_root_count_and_shared_ones_do_not(shop: Checkout, user: Path) -> None:
    inside = shop.root / "src"
    inside.mkdir(exist_ok=True)
    write(user, allow=[SERVER])
    write(shop.root / ".claude" / "settings.json", deny=[SERVER])
    assert tools_allowed(inside)
    write(shop.root / ".claude" / "settings.local.json", deny=[SERVER])
    assert not tools_allowed(inside)


def test_outside_of_a_repository_only_the_folder_itself_counts(tmp_path: Path) -> None:
    inside = tmp_path / "notes" / "inside"
    inside.mkdir(parents=True)
    write(tmp_path / "notes" / ".claude" / "settings.local.json", allow=[SERVER])
    assert not tools_allowed(inside.parent), "it may have come in an archive"
    trust(inside.parent)
    assert tools_allowed(inside.parent)
    assert not tools_allowed(inside)


def test_a_worktree_has_the_local_settings_and_the_trust_of_the_main_checkout(shop: Checkout) -> None:
    tree = shop.root.parent / "tree"
    shop.commit("a.py")
    shop.git("worktree", "add", "-q", "-b", "side", str(tree))
    write(shop.root / ".claude" / "settings.local.json", allow=[SERVER])
    assert tools_allowed(tree)
    (shop.root / ".claude" / "settings.local.json").unlink()
    write(tree / ".claude" / "settings.json", allow=[SERVER])
    assert not tools_allowed(tree)
    trust(shop.root)
    assert tools_allowed(tree)


@pytest.mark.parametrize("name", ["managed-settings.json", "managed-settings.d/x.json"])
def test_rules_of_the_administrator_count(user: Path, tmp_path: Path, name: str) -> None:
    settings = ClientSettings(user.parent, tmp_path, managed=tmp_path / "managed")
    write(tmp_path / "managed" / name, allow=[SERVER])
    assert permission(settings).decision == "allowed"
    write(user, deny=[SERVER])
    assert permission(settings).decision == "denied"
    write(user, allow=[SERVER])
    write(tmp_path / "managed" / name, ask=["mcp__*"])
    assert permission(settings).decision == "asked"


def test_the_administrator_may_shut_out_the_rules_of_others(user: Path, tmp_path: Path) -> None:
    settings = ClientSettings(user.parent, tmp_path, managed=tmp_path / "managed")
    write(user, allow=[SERVER])
    write(tmp_path / "managed" / "managed-settings.json")
    (tmp_path / "managed" / "managed-settings.json").write_text('{"allowManagedPermissionRulesOnly": true}')
    assert permission(settings).decision == "unset"


def test_the_configuration_folder_is_that_of_the_variable_or_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config"
    write(config / "settings.json", allow=[SERVER])
    transcript = config / "projects" / "-shop" / "s.jsonl"
    assert not tools_allowed(tmp_path)
    assert tools_allowed(tmp_path, config_folder_of_transcript(str(transcript)))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
    assert tools_allowed(tmp_path)


def test_trust_is_noted_in_the_configuration_folder(shop: Checkout, tmp_path: Path) -> None:
    write(shop.root / ".claude" / "settings.json", allow=[SERVER])
    config = tmp_path / "config"
    config.mkdir()
    trust(shop.root, config / ".claude.json")
    assert tools_allowed(shop.root, config)
    assert not tools_allowed(shop.root)


@pytest.mark.parametrize("transcript", ["", "s.jsonl", "/a/b/c/s.jsonl", "/projects/s.jsonl"])
def test_a_transcript_elsewhere_tells_no_configuration_folder(transcript: str) -> None:
    assert config_folder_of_transcript(transcript) is None


def test_the_mode_of_the_session_counts(user: Path, tmp_path: Path) -> None:
    register(SERVER_NAME)
    assert tools_allowed(tmp_path, mode="bypassPermissions")
    assert not tools_allowed(tmp_path, mode="acceptEdits")
    write(user, allow=[SERVER])
    assert not tools_allowed(tmp_path, mode="plan")
    write(user, ask=[SERVER, PLUGIN_SERVER])
    assert not tools_allowed(tmp_path, mode="bypassPermissions")


def test_where_nothing_is_asked_the_server_has_to_be_there(user: Path, tmp_path: Path) -> None:
    def is_allowed(folder: Path = tmp_path) -> bool:
        return tools_allowed(folder, mode="bypassPermissions")

    assert not is_allowed()
    register("other")
    assert not is_allowed()
    register(SERVER_NAME, tmp_path)
    assert is_allowed()
    assert not is_allowed(tmp_path.parent)
    (Path.home() / ".claude.json").unlink()
    user.parent.mkdir(exist_ok=True)
    user.write_text(json.dumps({"enabledPlugins": {f"{NAME}@market": False}}))
    assert not is_allowed()
    user.write_text(json.dumps({"enabledPlugins": {f"{NAME}@market": True}}))
    assert is_allowed()


def test_a_changed_file_is_read_again(user: Path, tmp_path: Path) -> None:
    write(user, allow=[SERVER])
    assert tools_allowed(tmp_path)
    write(user, allow=["Read"])
    assert not tools_allowed(tmp_path)
    user.unlink()
    assert not tools_allowed(tmp_path)


@pytest.mark.parametrize(
    "text",
    ["", "{broken", "[]", '{"permissions": []}', '{"permissions": {"allow": "x"}}', '{"a":' * 100_000, "\xff"],
    ids=range(7),
)
def test_settings_of_another_form_allow_nothing(user: Path, tmp_path: Path, text: str) -> None:
    user.parent.mkdir()
    user.write_bytes(text.encode("latin-1"))
    assert not tools_allowed(tmp_path)


def test_a_byte_order_mark_is_skipped(user: Path, tmp_path: Path) -> None:
    write(user, allow=[SERVER])
    user.write_text("\ufeff" + user.read_text())
    assert tools_allowed(tmp_path)


@pytest.mark.parametrize("folder", ["/nowhere", "not/absolute", "", "with\0nul", "x" * 5000])
def test_a_folder_that_cannot_be_allows_nothing_and_raises_nothing(folder: str) -> None:
    assert not tools_allowed(Path(folder))


def test_a_pipe_or_folder_in_place_of_settings_is_not_waited_for(user: Path, tmp_path: Path) -> None:
    user.parent.mkdir()
    os.mkfifo(user)
    (tmp_path / ".claude" / "settings.local.json").mkdir(parents=True)
    assert not tools_allowed(tmp_path)
