"""Sessions that the real clients of all agents stored, imported into one home."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.agents import AgentClient, agent_environment, find_program
from tests.e2e.client import Client
from tests.e2e.fake_agent_apis import FakeAgentApi
from tests.e2e.fake_messages_api import FakeMessagesApi, JsonObject, say, use
from tests.e2e.product import Product
from tests.e2e.test_agents import AGENTS, ASKED, GEMINI_SETTINGS, SAID, work
from tests.support.running import cannot

STORING = (*AGENTS, "opencode")
"""OpenCode runs no hooks of ours."""
LONG_AGO_S = 1_700_000_000


@pytest.fixture
def home(environment: dict[str, str]) -> Path:
    """The home of the test, in which Gemini CLI may use its key."""
    folder = Path(environment["HOME"])
    (folder / ".gemini").mkdir()
    (folder / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS)
    return folder


@pytest.fixture
def agent_api() -> Iterator[FakeAgentApi]:
    with FakeAgentApi() as server:
        yield server
    assert server.unscripted == [], "every prompt needs a script"


def do_work(name: str, api: FakeAgentApi, home: Path, repo: Path) -> None:
    """Let a client do its work in one session."""
    program = find_program(name)
    if not program.is_file():
        cannot(f"{name} is not at {program}; run `make e2e`, or set {name.upper()}_BINARY to its path.")
    agent = AgentClient(name, program, agent_environment(home, api), api.url)
    api.script(ASKED, *work(agent, repo))
    agent.run(ASKED, repo)
    age_chats(home)


def age_chats(home: Path) -> None:
    """Let the chats of Gemini CLI look old: the client does not note the end of a turn."""
    for chat in (home / ".gemini" / "tmp").glob("*/chats/*"):
        os.utime(chat, (LONG_AGO_S, LONG_AGO_S))


def imported(product: Product, *options: str) -> JsonObject:
    report: JsonObject = json.loads(product.run("import", "transcripts", "--json", *options))
    assert (report["unreadable"], report["waiting"], report["still_open"]) == ([], 0, 0)
    return report


def test_sessions_of_all_clients_are_imported_into_one_memory(
    client: Client, api: FakeMessagesApi, agent_api: FakeAgentApi, product: Product, home: Path, repo: Path
) -> None:
    api.script(ASKED, use("Write", file_path=str(repo / "claude.py"), content="RATE = 19\n"), say(SAID))
    client.run(ASKED, repo)
    for name in STORING:
        do_work(name, agent_api, home, repo)

    first, again = imported(product), imported(product)

    assert first["files"] == dict.fromkeys(("claude-code", *STORING), 1)
    assert (first["sessions"], first["turns"], first["unused"]) == (5, 5, [])
    assert (again["turns"], again["known"]) == (0, 5)
    assert reasons(again) == ["already known"] * 5
    sessions = {str(one["id"]) for one in product.sessions(repo)}
    assert len(sessions) == 5
    assert {str(product.session(repo, session)["summary"]) for session in sessions} != {""}
    found = json.dumps(product.memories(repo))
    assert "whole per cent" in found
    assert "tax.py" in found
    assert "claude.py" in found


@pytest.mark.parametrize("name", AGENTS)
def test_a_session_that_hooks_captured_is_not_stored_again(
    agent_api: FakeAgentApi, product: Product, home: Path, repo: Path, name: str
) -> None:
    product.run("install", "--agent", name)
    do_work(name, agent_api, home, repo)
    product.drain()
    (session,) = product.sessions(repo)
    memories, events = product.memories(repo), product.events()

    report = imported(product, "--agent", name)

    assert (report["turns"], report["known"], report["files"]) == (0, 1, {name: 1})
    assert reasons(report) == ["already known"]
    assert [one["id"] for one in product.sessions(repo)] == [session["id"]]
    assert product.memories(repo) == memories
    assert product.events() == events


@pytest.mark.parametrize("name", AGENTS)
def test_a_transcript_gives_the_memories_that_hooks_give(
    agent_api: FakeAgentApi, product: Product, home: Path, repo: Path, name: str
) -> None:
    product.run("install", "--agent", name)
    do_work(name, agent_api, home, repo)
    product.drain()

    other = Product({**product.environment, "CLAUDE_MEM_LITE_HOME": str(repo.parent / "other")})
    try:
        assert imported(other, "--agent", name)["turns"] == 1
        assert shown(other, repo)
        assert shown(other, repo) == shown(product, repo)
    finally:
        other.run("worker", "stop")


def reasons(report: JsonObject) -> list[str]:
    unused = report["unused"]
    assert isinstance(unused, list)
    return [one["reason"] for one in unused]


def shown(product: Product, repo: Path) -> list[tuple[str, ...]]:
    fields = ("session", "kind", "title", "summary", "detail", "files")
    return sorted(tuple(str(one[name]) for name in fields) for one in product.memories(repo))
