"""The real client and its permission rules: the memory tools are refused until install allows them, and our reading of
the settings agrees with the client's."""

import json
from pathlib import Path

import pytest

from claude_mem_lite.agents.permissions import PLUGIN_SERVER, SERVER, tools_allowed
from claude_mem_lite.install import plugin
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, JsonObject, say, use
from tests.e2e.product import Product
from tests.e2e.repositories import git
from tests.e2e.test_mcp import results

TOOL = f"{SERVER}__memory_save"
FORGET = f"{SERVER}__memory_forget"
TEXT = "The test database needs port 5433"


class Unattended(Client):
    """A client whose permissions come from settings files only, with nobody to answer a question."""

    def _command(self, *options: str) -> list[str]:
        return [str(self.binary), "-p", *options, "--output-format", "stream-json", "--verbose"]


@pytest.fixture
def unattended(client: Client, api: FakeMessagesApi) -> Unattended:
    api.script("save it", use(TOOL, kind="gotcha", text=TEXT), say("Done."))
    return Unattended(client.binary, client.environment)


def answer(client: Client, api: FakeMessagesApi, folder: Path) -> str:
    """Return what the tool answered the model."""
    client.run("save it", folder)
    return results(api.requests[-1])[-1]


def write(path: Path, **rules: list[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    before: JsonObject = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps({**before, "permissions": rules}))


@pytest.mark.parametrize("scope", ["user", "project"])
def test_the_tools_are_refused_unless_install_was_told_to_allow_them(
    unattended: Unattended, api: FakeMessagesApi, product: Product, repo: Path, scope: str
) -> None:
    product.run("install", "--scope", scope, cwd=repo)
    assert "you haven't granted it yet" in answer(unattended, api, repo)
    product.run("install", "--scope", scope, "--allow-tools", cwd=repo)
    assert "Saved as #" in answer(unattended, api, repo)
    assert [one["title"] for one in product.memories(repo)] == [TEXT]
    product.run("install", "--scope", scope, "--no-allow-tools", cwd=repo)
    assert "you haven't granted it yet" in answer(unattended, api, repo)


def test_before_a_memory_is_deleted_the_client_still_asks(
    unattended: Unattended, api: FakeMessagesApi, product: Product, repo: Path
) -> None:
    product.run("install", "--allow-tools")
    api.script("forget it", use(FORGET, ids=["abc"]), say("Done."))
    unattended.run("forget it", repo)
    assert "you haven't granted it yet" in results(api.requests[-1])[-1]


SHARED, LOCAL = ".claude/settings.json", ".claude/settings.local.json"
CASES: dict[str, tuple[dict[str, dict[str, list[str]]], str]] = {
    "server": ({"~": {"allow": [SERVER]}}, "allowed"),
    "pattern behind the server": ({"~": {"allow": [f"{SERVER}__mem*"]}}, "allowed"),
    "pattern for servers": ({"~": {"allow": ["mcp__*"]}}, "refused"),
    "shared, not trusted": ({SHARED: {"allow": [SERVER]}}, "refused"),
    "local": ({LOCAL: {"allow": [TOOL]}}, "allowed"),
    "local, tracked": ({LOCAL: {"allow": [TOOL]}}, "refused"),
    "denied by a pattern": ({"~": {"allow": [TOOL]}, SHARED: {"deny": ["mcp__*"]}}, "refused"),
    "asked by the server": ({"~": {"allow": [TOOL]}, LOCAL: {"ask": [SERVER]}}, "refused"),
    "denied with an argument": ({"~": {"allow": [TOOL]}, LOCAL: {"deny": [f"{TOOL}(*)"]}}, "allowed"),
}


@pytest.mark.parametrize("case", CASES)
def test_our_reading_of_the_settings_agrees_with_the_client(
    unattended: Unattended, api: FakeMessagesApi, memory: Product, claude_folder: Path, repo: Path, case: str
) -> None:
    files, decision = CASES[case]
    for name, rules in files.items():
        write(claude_folder / "settings.json" if name == "~" else repo / name, **rules)
    if "tracked" in case:
        git(repo, "add", "--force", ".")
    assert tools_allowed(repo, claude_folder) is (decision == "allowed")
    assert ("Saved as #" in answer(unattended, api, repo)) is (decision == "allowed")


def test_the_tools_of_the_plugin_are_allowed_by_their_own_name(
    client: Client, api: FakeMessagesApi, product: Product, claude_folder: Path, repo: Path
) -> None:
    product.run("plugin", "--prepare")
    write(claude_folder / "settings.json", allow=[PLUGIN_SERVER])
    api.script("save it", use(f"{PLUGIN_SERVER}__memory_save", kind="gotcha", text=TEXT), say("Done."))
    unattended = Unattended(client.binary, client.environment)
    unattended.run("save it", repo, "--plugin-dir", str(plugin.FOLDER))
    assert "Saved as #" in results(api.requests[-1])[-1]
    assert tools_allowed(repo, claude_folder)
