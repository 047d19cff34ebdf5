"""Guards with the real clients: what each mode does before each tool, and that a removed guard leaves no trace."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from claude_mem_lite.cli.options import asking_agent
from tests.e2e.agents import AgentClient, agent_environment, find_program
from tests.e2e.client import Client
from tests.e2e.fake_agent_apis import FakeAgentApi
from tests.e2e.fake_messages_api import FakeMessagesApi, Step, say, use
from tests.e2e.product import Product
from tests.e2e.repositories import git
from tests.e2e.terminal import in_terminal
from tests.e2e.test_agents import GEMINI_SETTINGS
from tests.support.running import cannot

PROMPT = "Bring the vendored list up to date"
COMMAND_RULE = "files are made by the generator"
PATH_RULE = "vendored code comes from upstream"
OWN = b'{"permissions": {"allow": ["Bash(make:*)"]}}'


def hold(product: Product, repo: Path, mode: str) -> None:
    """Put two guards in force: one on a command, one on a folder."""
    added = ("--mode", mode)
    product.run("guards", "add", "--command", "touch", "--reason", COMMAND_RULE, *added, cwd=repo)
    product.run("guards", "add", "--path", "vendor/", "--reason", PATH_RULE, *added, cwd=repo)


def remove_all(product: Product, repo: Path) -> None:
    for guard in json.loads(product.run("guards", "--json", cwd=repo))["guards"]:
        product.run("guards", "remove", guard["id"], cwd=repo)


@pytest.fixture
def vendored(repo: Path) -> Path:
    """A repository with a vendored file, and with settings of the user's own."""
    (repo / "vendor").mkdir()
    (repo / "vendor" / "list.txt").write_text("alpha\n")
    (repo / ".gitignore").write_text(".claude/\n")
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.local.json").write_bytes(OWN)
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "--message=Vendor")
    return repo


def work(repo: Path) -> tuple[Step, ...]:
    listed = str(repo / "vendor" / "list.txt")
    return (
        use("Bash", command="cd . && touch made"),
        use("Read", file_path=listed),
        use("Edit", file_path=listed, old_string="alpha", new_string="beta"),
        use("Write", file_path=str(repo / "vendor" / "more.txt"), content="gamma\n"),
        use("Bash", command="echo touch vendor/list.txt"),
        say("Done."),
    )


def done_in(repo: Path) -> list[bool]:
    """Whether the command, the edit and the write took place."""
    return [
        (repo / "made").exists(),
        (repo / "vendor" / "list.txt").read_text() == "beta\n",
        (repo / "vendor" / "more.txt").exists(),
    ]


def told(api: FakeMessagesApi) -> str:
    return json.dumps(api.requests[-1].body["messages"])


@pytest.mark.parametrize(
    ("mode", "runs", "lead"),
    [
        ("remind", True, "PreToolUse:{} hook additional context"),
        ("auto", True, "PreToolUse:{} hook additional context"),
        ("ask", False, ""),
        ("deny", False, "PreToolUse:{} hook error"),
    ],
)
def test_each_mode_holds_for_each_tool_and_its_reason_reaches_the_model(
    client: Client, api: FakeMessagesApi, memory: Product, vendored: Path, mode: str, runs: bool, lead: str
) -> None:
    api.script(PROMPT, *work(vendored))
    hold(memory, vendored, mode)

    reply = client.run(PROMPT, vendored)
    memory.drain()

    assert done_in(vendored) == [runs] * 3
    words = told(api)
    assert words.count(COMMAND_RULE) == 1
    assert words.count(PATH_RULE) == 2
    assert all(lead.format(tool) in words for tool in ("Bash", "Edit", "Write"))
    before = [hook for hook in reply.hooks if hook.event == "PreToolUse"]
    assert [(hook.exit_code, hook.stderr) for hook in before] == [(0, "")] * 4
    assert memory.events()["GuardFired"] == 3
    remove_all(memory, vendored)
    assert (vendored / ".claude" / "settings.local.json").read_bytes() == OWN


def test_a_removed_guard_takes_its_hook_out_and_the_client_runs_none(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script(PROMPT, use("Bash", command="touch made"), say("Done."))
    hold(memory, repo, "deny")
    assert (repo / ".claude" / "settings.local.json").exists()
    remove_all(memory, repo)

    reply = client.run(PROMPT, repo)

    assert (repo / "made").exists()
    assert reply.events["PreToolUse"] == 0
    assert not (repo / ".claude").exists()
    assert (repo / ".git" / "info" / "exclude").read_text().count(".claude") == 0


def test_guards_hold_without_a_worker_and_in_a_worktree(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script(PROMPT, use("Bash", command="touch made"), say("Done."))
    hold(memory, repo, "deny")
    git(repo, "worktree", "add", "--quiet", "-b", "fix", str(repo.parent / "fix"))
    memory.run("worker", "stop")
    with memory.broken_worker():
        client.run(PROMPT, repo.parent / "fix")
        client.run(PROMPT, repo)
    assert not (repo / "made").exists()
    assert not (repo.parent / "fix" / "made").exists()
    assert sum("GuardFired" in name for name in memory.waiting()) == 2


def test_an_interactive_session_asks_the_user_who_may_let_the_call_run(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script(PROMPT, use("Bash", command="touch made"), say("All is done now."))
    hold(memory, repo, "auto")
    with in_terminal(client.binary, client.environment, repo, PROMPT) as terminal:
        terminal.wait_until(lambda: "Do you want to proceed" in terminal.text, "the question")
        assert COMMAND_RULE in terminal.text
        assert not (repo / "made").exists()
        terminal.type("1")
        terminal.wait_until(lambda: (repo / "made").exists(), "the command that the user allowed")
    memory.drain()
    assert memory.events()["GuardFired"] == 1


@pytest.fixture
def agent_api() -> Iterator[FakeAgentApi]:
    with FakeAgentApi() as server:
        yield server
    assert server.unscripted == [], "every prompt needs a script"


@pytest.fixture(params=("codex", "gemini"))
def agent(request: pytest.FixtureRequest, root: Path, agent_api: FakeAgentApi) -> AgentClient:
    name = str(request.param)
    program = find_program(name)
    if not program.is_file():
        cannot(f"{name} is not at {program}; run `make e2e`, or set {name.upper()}_BINARY to its path.")
    (root / "home" / f".{name}").mkdir(parents=True, exist_ok=True)
    if name == "gemini":
        (root / "home" / ".gemini" / "settings.json").write_text(GEMINI_SETTINGS)
    return AgentClient(name, program, agent_environment(root / "home", agent_api), agent_api.url)


@pytest.fixture
def installed(agent: AgentClient) -> Iterator[Product]:
    product = Product(agent.environment)
    product.run("install", "--agent", agent.agent)
    yield product
    product.end()


def agents_work(agent: AgentClient, repo: Path) -> tuple[Step, ...]:
    if agent.agent == "codex":
        patch = "*** Begin Patch\n*** Add File: vendor/more.txt\n+gamma\n*** End Patch\n"
        return use("exec_command", cmd="cd . && touch made"), use("apply_patch", patch=patch), say("Done.")
    return (
        use("run_shell_command", command="cd . && touch made"),
        use("write_file", file_path=str(repo / "vendor" / "more.txt"), content="gamma\n"),
        say("Done."),
    )


@pytest.mark.parametrize(("mode", "runs"), [("remind", True), ("ask", True), ("deny", False)])
def test_other_agents_are_reminded_or_refused_and_never_made_to_wait(
    agent: AgentClient, agent_api: FakeAgentApi, installed: Product, repo: Path, mode: str, runs: bool
) -> None:
    settings = repo.parent / "home" / f".{agent.agent}" / ("hooks.json" if agent.agent == "codex" else "settings.json")
    before = settings.read_bytes()
    agent_api.script(PROMPT, *agents_work(agent, repo))
    hold(installed, repo, mode)

    agent.run(PROMPT, repo)
    installed.drain()

    assert [(repo / "made").exists(), (repo / "vendor" / "more.txt").exists()] == [runs, runs]
    words = json.dumps(agent_api.requests[-1])
    assert COMMAND_RULE in words
    assert PATH_RULE in words
    assert installed.events()["GuardFired"] == 2
    remove_all(installed, repo)
    assert settings.read_bytes() == before
    assert not (repo / ".claude").exists()


def test_a_shell_of_another_agent_is_known_as_an_agents(
    agent: AgentClient, agent_api: FakeAgentApi, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, word = ("exec_command", "cmd") if agent.agent == "codex" else ("run_shell_command", "command")
    agent_api.script(PROMPT, use(name, **{word: "env -0 > variables"}), say("Done."))
    agent.run(PROMPT, repo)
    for each in tuple(os.environ):
        monkeypatch.delenv(each)
    for variable in (repo / "variables").read_text().strip("\0").split("\0"):
        monkeypatch.setenv(*variable.split("=", 1))
    assert asking_agent(str(repo)) is not None
