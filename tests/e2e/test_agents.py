"""Codex CLI, Copilot CLI and Gemini CLI, the real ones: their work is captured, and what is known is given to them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.agents import AgentClient, agent_environment, find_program
from tests.e2e.fake_agent_apis import FakeAgentApi
from tests.e2e.fake_messages_api import Step, say, use
from tests.e2e.product import Product
from tests.support import live_files
from tests.support.running import cannot

AGENTS = ("codex", "copilot", "gemini")
PATCH = "*** Begin Patch\n*** Add File: tax.py\n+def rate(country):\n+    return 19\n*** End Patch\n"
ASKED = "Decide on the tax rate and write it down"
SAID = "Decided to keep tax rates as whole per cent, because the ledger rounds to cents. The rate is in tax.py now."
# A key is used only by who has chosen so.
GEMINI_SETTINGS = '{"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"enableAutoUpdate": false}}'
AGAIN = "What did we decide about the tax rates of the ledger?"


@pytest.fixture
def agent_api() -> Iterator[FakeAgentApi]:
    with FakeAgentApi() as server:
        yield server
    assert server.unscripted == [], "every prompt needs a script"


@pytest.fixture(params=AGENTS)
def agent(request: pytest.FixtureRequest, root: Path, agent_api: FakeAgentApi) -> AgentClient:
    name = str(request.param)
    program = find_program(name)
    if not program.is_file():
        cannot(f"{name} is not at {program}; run `make e2e`, or set {name.upper()}_BINARY to its path.")
    (root / "home").mkdir(exist_ok=True)
    if name == "gemini":
        (root / "home" / ".gemini").mkdir()
        (root / "home" / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS)
    return AgentClient(name, program, agent_environment(root / "home", agent_api), agent_api.url)


@pytest.fixture
def installed(agent: AgentClient) -> Iterator[Product]:
    """The command, installed into the agent."""
    product = Product(agent.environment)
    product.run("install", "--agent", agent.agent)
    yield product
    product.end()


def work(agent: AgentClient, repo: Path) -> tuple[Step, ...]:
    """What the model does: a command that goes well, one that fails, a new file, closing words."""
    content, path = "def rate(country):\n    return 19\n", str(repo / "tax.py")
    write = {
        "codex": use("apply_patch", patch=PATCH),
        "copilot": use("create", path=path, file_text=content),
        "gemini": use("write_file", file_path=path, content=content),
        "opencode": use("write", filePath=path, content=content),
    }[agent.agent]
    return run(agent, "echo looked"), run(agent, "python3 -m no_such_module_here"), write, say(SAID)


def run(agent: AgentClient, command: str) -> Step:
    """A command, by the tool of the agent."""
    if agent.agent == "codex":
        return use("exec_command", cmd=command)
    if agent.agent == "gemini":
        return use("run_shell_command", command=command)
    return use("bash", command=command, description="run it")


def test_a_session_is_captured_and_the_next_one_is_given_its_memories(
    agent: AgentClient, agent_api: FakeAgentApi, installed: Product, repo: Path
) -> None:
    agent_api.script(ASKED, *work(agent, repo))
    agent_api.script(AGAIN, say("Whole per cent."))

    agent.run(ASKED, repo)
    installed.drain()
    (session,) = installed.sessions(repo)
    events = installed.events(str(session["id"]))
    told = json.dumps(installed.memories(repo))
    agent.run(AGAIN, repo)
    installed.drain()

    assert dict(events) == {
        "SessionStart": 1,
        "UserPromptSubmit": 1,
        "PostToolUse": 2,
        "PostToolUseFailure": 1,
        "Stop": 1,
        "SessionEnd": 1,
    }
    assert "whole per cent" in told
    assert "tax.py" in told
    (asked,) = agent_api.asked(AGAIN)
    assert "claude-mem-lite" in asked
    assert "whole per cent" in asked
    receipts = json.loads(installed.run("receipts", "--json", cwd=repo))
    assert any(one["given_at"] for one in receipts)
    # What was given is nobody's words: neither a prompt's nor a memory's of its own.
    prompts = [one.get("request") or one.get("headline") for one in installed.sessions(repo)]
    assert not any("hook_context" in str(prompt) for prompt in prompts)
    assert "hook_context" not in json.dumps(installed.memories(repo))


def test_a_prompt_is_given_the_decision_that_it_is_about(
    agent: AgentClient, agent_api: FakeAgentApi, installed: Product, repo: Path
) -> None:
    # No room at the start, where the decision would be given otherwise.
    (Path(agent.environment["HOME"]) / ".claude-mem-lite" / "config.toml").write_text("budget_tokens = 40\n")
    installed.run("remember", "decision", "Tax rates of the ledger are whole per cent, because it rounds", cwd=repo)
    agent_api.script(AGAIN, say("Whole per cent."))

    agent.run(AGAIN, repo)
    installed.drain()

    (asked,) = agent_api.asked(AGAIN)
    assert "are whole per cent, because it rounds" in asked
    receipts = json.loads(installed.run("receipts", "--json", cwd=repo))
    assert [one["moment"] for one in receipts if one["given_at"]] == ["prompt"]


def test_the_tools_for_asking_and_the_skill_are_found(
    agent: AgentClient, agent_api: FakeAgentApi, installed: Product, repo: Path
) -> None:
    # Time enough for the server to come up: on a busy machine requests go out before it did.
    agent_api.script("hello", *[run(agent, "sleep 1")] * 30, say("Hello."), as_soon_as="memory_search")
    agent.run("hello", repo)
    request = json.dumps(agent_api.requests)
    assert "Long-term memory of earlier sessions" in request
    assert "memory_search" in request
    installed.drain()
    assert installed.waiting() == []


def test_uninstall_leaves_no_trace_in_the_agents_folder(
    agent: AgentClient, agent_api: FakeAgentApi, installed: Product, repo: Path
) -> None:
    agent_api.script("hello", say("Hello."))
    agent.run("hello", repo)
    installed.drain()
    before = installed.events()

    installed.run("uninstall", "--agent", agent.agent)
    agent.run("hello", repo)

    folder = Path(agent.environment["HOME"]) / f".{agent.agent}"
    traces = live_files.files_with(folder, b"claude_mem_lite")
    assert [one.name for one in traces if one.suffix in (".json", ".toml", ".md")] == []
    assert not (folder / "skills" / "claude-mem-lite").exists()
    assert installed.events() == before
    assert installed.waiting() == []
