"""What install and uninstall do to the settings of a user who has some, and of one who has none."""

import json
from pathlib import Path

import pytest

from tests.e2e import story
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, say, use
from tests.e2e.product import Product

PLAIN = '{\n\t"model":  "opus",\n\t"env": {"NAME": "Zoë"}\n}'


def own_hooks(diary: Path) -> str:
    """Settings of somebody who keeps a diary by hooks, in a form of his own."""
    note = {"type": "command", "command": f"cat >> '{diary}'; echo >> '{diary}'"}
    hooks = {
        "PostToolUse": [{"matcher": "Bash", "hooks": [note]}],
        "Stop": [{"hooks": [note]}],
        "Notification": [{"hooks": [note]}],
    }
    return json.dumps({"hooks": hooks, "cleanupPeriodDays": 90}, indent=7)


@pytest.mark.parametrize("text", [PLAIN, own_hooks(Path("diary")), "{}", '{"hooks": {}}\n', None])
def test_uninstall_leaves_the_settings_byte_for_byte_as_they_were(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path, claude_folder: Path, text: str | None
) -> None:
    settings = claude_folder / "settings.json"
    if text is not None:
        claude_folder.mkdir()
        settings.write_text(text)
    api.script("hello", say("Hello."))

    product.run("install")
    reply = client.run("hello", repo)
    product.run("uninstall")

    assert reply.events["SessionStart"] == 1
    assert (settings.read_text() if settings.exists() else None) == text


def test_uninstall_leaves_nothing_behind_in_the_clients_folder(product: Product, claude_folder: Path) -> None:
    claude_folder.mkdir()
    (claude_folder / "CLAUDE.md").write_text("Be kind.\n")

    product.run("install")
    product.run("uninstall")

    assert [one.name for one in claude_folder.rglob("*")] == ["CLAUDE.md"]


def test_after_uninstall_a_session_leaves_no_event(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", say("Hello."))
    client.run(story.PROMPT, repo)

    memory.run("uninstall")
    unseen = client.run("hello", repo)
    memory.drain()

    assert unseen.hooks == ()
    assert memory.events() == story.EVENTS


def test_installing_twice_captures_once(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> None:
    memory.run("install")
    story.script(api, repo)

    client.run(story.PROMPT, repo)
    memory.drain()

    assert memory.events() == story.EVENTS


def test_hooks_of_the_user_stay_and_run_beside_ours(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path, claude_folder: Path
) -> None:
    diary = repo.parent / "diary"
    claude_folder.mkdir()
    settings = claude_folder / "settings.json"
    settings.write_text(own_hooks(diary))
    before = json.loads(settings.read_text())
    api.script("look around", use("Bash", command="ls"), say("Nothing new."))

    product.run("install")
    reply = client.run("look around", repo)
    product.drain()

    after = json.loads(settings.read_text())
    assert after["cleanupPeriodDays"] == before["cleanupPeriodDays"]
    for event, entries in before["hooks"].items():
        assert [entry for entry in after["hooks"][event] if entry in entries] == entries
    written = [json.loads(line)["hook_event_name"] for line in diary.read_text().splitlines() if line]
    assert written == ["PostToolUse", "Stop"]
    assert product.events(reply.session)["PostToolUse"] == 1
    assert product.events(reply.session)["Stop"] == 1
