"""The real client as the model that compresses: it answers, costs little, and is not itself remembered."""

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from claude_mem_lite.compress.model.claude_cli_provider import ClaudeCliProvider
from claude_mem_lite.compress.model.request import TurnRequest, ask
from claude_mem_lite.errors import ModelRefused, ModelUnavailable
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, refuse, say
from tests.e2e.product import Product
from tests.support import live_files
from tests.support.loopback import dead_port

REQUEST = TurnRequest("Sell things", (), "Asked:\nWhy is the cart of the shop slow?")
ANSWER = '```json\n{"memories": [{"kind": "gotcha", "title": "Read the cart once a request", "summary": "s"}]}\n```'
QUESTION = "Why is the cart of the shop slow?"


def provider(client: Client, api_url: str, login: str = "not-a-token") -> ClaudeCliProvider:
    """As a worker that the agent's hook started would make it: with the agent's variables all around."""
    environment: Mapping[str, str] = {
        **client.environment,
        "PATH": f"{client.binary.parent}:{os.environ['PATH']}",
        "CLAUDECODE": "1",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9",
        **({"CLAUDE_CODE_OAUTH_TOKEN": login} if login else {}),
    }
    return ClaudeCliProvider("claude-haiku-4-5-20251001", environment, api_url)


def test_the_client_answers_by_its_own_login(client: Client, api: FakeMessagesApi) -> None:
    api.script(QUESTION, say(ANSWER))

    told = ask(provider(client, api.url), REQUEST)

    assert [draft.title for draft in told.drafts] == ["Read the cart once a request"]
    assert (told.usage.tokens_in, told.usage.tokens_out) == (100, 10)
    assert told.usage.cost_usd == pytest.approx(100 * 1e-6 + 10 * 5e-6)


def test_the_client_is_asked_once_without_tools_thoughts_and_the_users_own_instructions(
    client: Client, api: FakeMessagesApi, claude_folder: Path
) -> None:
    claude_folder.mkdir()
    (claude_folder / "CLAUDE.md").write_text("Answer in verse.")
    api.script(QUESTION, say(ANSWER))

    ask(provider(client, api.url), REQUEST)

    (request,) = api.requests
    assert request.body.get("tools") in (None, [])
    assert request.body["max_tokens"] == 1_024
    assert request.body.get("thinking") in (None, {"type": "disabled"})
    assert "You keep the memory of a coding agent" in request.system
    assert "in verse" not in request.text + request.system


def test_no_hook_of_ours_sees_the_call(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> None:
    api.script(QUESTION, say(ANSWER))
    api.script("an ordinary prompt", say("Done."))

    ask(provider(client, api.url), REQUEST)
    reply = client.run("an ordinary prompt", repo)
    memory.drain()

    assert {row.session for row in memory.inbox()} == {reply.session}
    assert memory.files_with(QUESTION) == []


def test_the_call_leaves_no_transcript(client: Client, api: FakeMessagesApi, claude_folder: Path) -> None:
    api.script(QUESTION, say(ANSWER))
    ask(provider(client, api.url), REQUEST)
    traces = live_files.files_with(claude_folder, QUESTION.encode())
    assert [path for path in traces if path.suffix == ".jsonl"] == []


def test_an_overloaded_api_is_worth_another_try(client: Client, api: FakeMessagesApi) -> None:
    api.script(QUESTION, refuse(529))
    with pytest.raises(ModelUnavailable, match="status 529"):
        ask(provider(client, api.url), REQUEST)
    assert len(api.requests) == 1


def test_an_api_that_is_not_there_is_worth_another_try(client: Client) -> None:
    with dead_port() as port, pytest.raises(ModelUnavailable):
        ask(provider(client, f"http://127.0.0.1:{port}"), REQUEST)


def test_a_client_without_a_login_says_so(client: Client, api: FakeMessagesApi) -> None:
    with pytest.raises(ModelRefused, match="not logged in; run `claude`"):
        ask(provider(client, api.url, login=""), REQUEST)
    assert api.requests == []
