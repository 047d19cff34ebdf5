"""The real client with our plugin: valid, from a checkout and from an installed wheel, captured, told and asked."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from claude_mem_lite.install import plugin
from tests.docs.pages import ROOT
from tests.e2e import story
from tests.e2e.client import RUN_TIMEOUT_S, Client
from tests.e2e.fake_messages_api import FakeMessagesApi, say, use
from tests.e2e.product import Product
from tests.pipeline.wheels import Tool, build
from tests.support.running import wait_until

FROM_CHECKOUT = ("--plugin-dir", str(plugin.FOLDER))
TOOLS = f"mcp__plugin_{plugin.NAME}_claude-mem-lite"
ALLOWED = ("--allowedTools", f"Bash,Write,Edit,Read,{TOOLS}")
NAME = f"{plugin.NAME}@{plugin.NAME}"


class Careful(Client):
    """A client that has to ask before any tool is used."""

    def _command(self, *options: str) -> list[str]:
        return [str(self.binary), "-p", *options, "--output-format", "stream-json", "--verbose"]


def manage(client: Client, *arguments: str) -> str:
    """Run `claude plugin …`."""
    done = subprocess.run(
        [client.binary, "plugin", *arguments],
        env=dict(client.environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=RUN_TIMEOUT_S,
    )
    assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
    return done.stdout


def wait_for_the_first_session(memory: Product) -> None:
    """Its events are kept once the data folder is ready, which its own hooks had made in the background."""
    wait_until(lambda: (memory.home / "worker.pid").exists(), "a worker that the hooks have started")

    def has_all() -> bool:
        memory.drain()
        return memory.events() == story.EVENTS

    wait_until(has_all, "every event of the first session")


@pytest.mark.parametrize("folder", [ROOT, plugin.FOLDER], ids=["checkout", "package"])
def test_the_client_finds_nothing_wrong_with_marketplace_and_plugin(client: Client, folder: Path) -> None:
    assert "Validation passed" in manage(client, "validate", "--strict", str(folder))
    assert "Validation passed" in manage(client, "validate", "--strict", f"{plugin.FOLDER}/.claude-plugin/plugin.json")


def test_from_a_checkout_the_first_session_is_captured_and_the_next_is_told_and_can_ask(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", use(f"{TOOLS}__memory_search", query="float division"), say("Hello."))

    first = client.run(story.PROMPT, repo, *FROM_CHECKOUT)
    wait_for_the_first_session(product)
    second = client.run("hello", repo, *FROM_CHECKOUT, *ALLOWED)

    assert {(hook.stdout, hook.stderr, hook.exit_code) for hook in first.hooks} == {("", "", 0)}
    [context] = second.start_contexts
    assert [fact for fact in story.FACTS if fact not in context] == []
    assert context in api.requests_for("hello")[0].text
    assert story.CAUSE in json.dumps(api.requests[-1].messages[-1])
    product.drain()
    assert product.events(second.session)["PostToolUse"] == 0, "our own tools are not captured"


def test_from_the_wheel_it_is_installed_by_its_own_marketplace_and_leaves_again(
    client: Client, api: FakeMessagesApi, product: Product, environment: dict[str, str], repo: Path, root: Path
) -> None:
    tool = Tool(root / "tool", root / "bin")
    tool.install(build("wheel", root / "dist"))
    environment["PATH"] = f"{tool.bin}:{os.environ['PATH']}"
    folder = subprocess.run([tool.bin / "claude-mem-lite", "plugin"], capture_output=True, text=True, check=True).stdout
    story.script(api, repo)
    api.script("hello", use(f"{TOOLS}__memory_search", query="float division"), say("Hello."))

    manage(client, "marketplace", "add", folder.strip())
    manage(client, "install", NAME)
    client.run(story.PROMPT, repo)
    wait_for_the_first_session(product)
    second = client.run("hello", repo, *ALLOWED)

    [context] = second.start_contexts
    assert [fact for fact in story.FACTS if fact not in context] == []
    assert story.CAUSE in json.dumps(api.requests[-1].messages[-1])
    assert (product.home / "worker-py").readlink().is_relative_to(tool.environment)
    product.drain()
    manage(client, "uninstall", NAME)
    manage(client, "marketplace", "remove", plugin.NAME)
    captured = product.events()
    api.script("bye", say("Bye."))
    client.run("bye", repo)
    product.drain()
    assert product.events() == captured


def test_the_commands_run_the_program_and_nothing_else_unasked(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path
) -> None:
    product.run("plugin", "--prepare")
    careful = Careful(client.binary, client.environment)
    program = f'sh "{plugin.FOLDER}/scripts/run.sh"'
    api.script("whether it captures", say("It stands well."))
    api.script(
        "as my own word",
        use("Bash", command=f"{program} remember rule 'Never commit to main'"),
        use("Bash", command=f"{program} uninstall --purge --yes"),
        say("Done."),
    )
    api.script("for: checkout", use(f"{TOOLS}__memory_search", query="commit"), say("Done."))

    careful.run(f"/{plugin.NAME}:status", repo, *FROM_CHECKOUT)
    assert "capture:" in json.dumps(api.requests[-1].messages)
    careful.run(f"/{plugin.NAME}:remember Never commit to main", repo, *FROM_CHECKOUT)
    assert "requires approval" in json.dumps(api.requests[-1].messages[-1])
    careful.run(f"/{plugin.NAME}:recall checkout", repo, *FROM_CHECKOUT)
    assert "Never commit to main" in json.dumps(api.requests[-1].messages[-1])
    assert [(one["kind"], one["origin"]) for one in product.memories(repo)] == [("rule", "user")]


def test_a_person_who_has_the_plugin_alone_is_told_what_is_missing(
    client: Client, api: FakeMessagesApi, environment: dict[str, str], repo: Path, root: Path
) -> None:
    shutil.copytree(plugin.FOLDER, root / "plugin")
    environment["PATH"] = "/usr/bin:/bin"
    api.script("hello", say("Hello."))

    replies = [client.run("hello", repo, "--plugin-dir", str(root / "plugin")) for _ in range(2)]

    told = [[hook.stdout for hook in reply.hooks if hook.stdout] for reply in replies]
    assert told[1] == []
    assert "pipx install ." in json.loads(told[0][0])["systemMessage"]
    assert not (Path(environment["HOME"]) / ".claude-mem-lite").exists()


def test_by_plugin_and_by_install_at_once_everything_is_captured_and_told_once(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", say("Hello."))

    first = client.run(story.PROMPT, repo, *FROM_CHECKOUT)
    memory.drain()
    second = client.run("hello", repo, *FROM_CHECKOUT)

    assert first.events["SessionStart"] == 2, "both ran"
    assert memory.events(first.session) == story.EVENTS
    assert len(second.start_contexts) == 1
