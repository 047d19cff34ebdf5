"""The real client with our MCP server: found by its own configuration, called by the model, within its budgets."""

import json
import re
from pathlib import Path

from claude_mem_lite.context.render import estimate_tokens
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, JsonObject, Request, say, use
from tests.e2e.product import Product

OURS = "mcp__claude-mem-lite__"
ALLOWED = ("--allowedTools", "mcp__claude-mem-lite")


def results(request: Request) -> list[str]:
    """What tools answered in a conversation so far, as the model sees it."""
    blocks = [block for one in request.messages for block in _blocks(one)]
    return [_text(block) for block in blocks if block.get("type") == "tool_result"]


def _blocks(message: JsonObject) -> list[JsonObject]:
    content = message["content"]
    return [one for one in content if isinstance(one, dict)] if isinstance(content, list) else []


def _text(block: JsonObject) -> str:
    content = block["content"]
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "\n".join(str(part.get("text", "")) for part in content)


def server_entry(environment: dict[str, str]) -> object:
    told = json.loads((Path(environment["HOME"]) / ".claude.json").read_text())
    return told.get("mcpServers", {}).get("claude-mem-lite")


def test_the_model_calls_every_tool_and_is_answered_within_the_budgets(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    words = "Retry the checkout five times\nThe payment service drops one call in ten."
    known = json.loads(memory.run("remember", "decision", words, "--json", cwd=repo))
    api.script(
        "look around",
        use(f"{OURS}memory_context", query="checkout retry"),
        use(f"{OURS}memory_context", query="payment service"),
        use(f"{OURS}memory_context", query="calls that drop"),
        use(f"{OURS}memory_search", query="checkout"),
        use(f"{OURS}memory_get", ids=[f"#{known['id'][:6]}"]),
        use(f"{OURS}memory_timeline", id=known["id"]),
        use(f"{OURS}memory_save", kind="gotcha", text="The test database needs port 5433"),
        use(f"{OURS}memory_forget", ids=[known["id"]]),
        say("Done."),
    )

    reply = client.run("look around", repo, *ALLOWED)

    assert reply.text == "Done."
    told = results(api.requests[-1])
    assert len(told) == 8
    context, second, third, found, whole, around, saved, refused = told
    assert all(estimate_tokens(one) <= 500 for one in (context, second, third))
    assert sum(map(estimate_tokens, (context, second, third))) <= 3000
    # what the start gave is not given again, only named
    assert f"#{known['id']}" in context
    assert f"#{known['id']} [decision" in found
    assert "drops one call in ten" in whole
    assert "Retry the checkout five times" in around
    assert "Saved as #" in saved
    assert f"`claude-mem-lite forget {known['id']}`" in refused
    memory.drain()
    assert {one["origin"] for one in memory.memories(repo) if one["kind"] == "gotcha"} == {"assistant"}
    assert [row for row in memory.inbox(reply.session) if row.event == "PostToolUse"] == []


def test_the_budgets_hold_where_there_is_much_to_tell(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, tmp_path: Path
) -> None:
    """Forty memories of a hundred words each would take ten times what may be told."""
    (memory.home / "config.toml").write_text("budget_tokens = 1\n")  # else the start tells of some of them
    # Each of its own words: those that say the same are one hit, and which of them stands for all may be known already.
    told = [
        {
            "kind": "decision",
            "title": f"Retry the checkout, part {part}",
            "summary": " ".join(f"The checkout asks the payment service for item{part}x{n} again." for n in range(9)),
        }
        for part in range(40)
    ]
    file = tmp_path / "many.jsonl"
    file.write_text("".join(f"{json.dumps(one)}\n" for one in told))
    memory.run("import", "jsonl", str(file), "--trust", cwd=repo)
    memory.drain()
    queries = ("checkout retry", "payment service gives up", "how often the checkout asks")
    api.script("look around", *(use(f"{OURS}memory_context", query=query) for query in queries), say("Done."))

    client.run("look around", repo, *ALLOWED)

    first, second, third = results(api.requests[-1])
    assert [estimate_tokens(one) <= 500 for one in (first, second, third)] == [True, True, True]
    are_told = ["memory of this project" in one for one in (first, second, third)]
    assert are_told == [True, True, False], (first, second, third)
    assert "#" in third
    found = [set(re.findall(r"^\[decision\].*(#\w{10})$", one, re.MULTILINE)) for one in (first, second)]
    assert all(found)
    assert not found[0] & found[1], "what was told is not told again"


def test_what_is_saved_in_one_session_is_given_to_the_next(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("save it", use(f"{OURS}memory_save", kind="decision", text="Use Valkey for the carts"), say("Saved."))
    api.script("start again", use(f"{OURS}memory_context", query="carts Valkey"), say("Read."))

    client.run("save it", repo, *ALLOWED)
    client.run("start again", repo, *ALLOWED)

    assert "Use Valkey for the carts" in api.requests_for("start again")[0].text


def test_the_model_knows_of_the_tools_and_the_skill_but_pays_for_no_description(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("hello", say("Hello."))

    client.run("hello", repo)

    body = json.dumps(api.requests[-1].body)
    assert f"{OURS}memory_search" in body
    assert "Memory of earlier sessions on this project" in body
    assert "- claude-mem-lite: Long-term memory" in body
    assert "Find memories and earlier conversations" not in body


def test_install_and_uninstall_leave_the_clients_own_notes_alone(
    client: Client, api: FakeMessagesApi, product: Product, environment: dict[str, str], repo: Path
) -> None:
    api.script("hello", say("Hello."))
    notes = Path(environment["HOME"]) / ".claude.json"
    client.run("hello", repo)
    before = notes.read_bytes()

    product.run("install")
    product.run("install")
    assert server_entry(environment) is not None
    product.run("uninstall")
    assert notes.read_bytes() == before

    product.run("install")
    client.run("hello", repo)
    assert server_entry(environment) is not None
    product.run("uninstall")
    assert server_entry(environment) is None
    assert set(json.loads(before)) <= set(json.loads(notes.read_text()))


def test_installed_for_one_project_the_server_is_there_alone(
    client: Client, api: FakeMessagesApi, product: Product, environment: dict[str, str], repo: Path, root: Path
) -> None:
    other = root / "other"
    other.mkdir()
    api.script("hello", say("Hello."))
    product.run("install", "--scope", "project", cwd=repo)

    client.run("hello", repo)
    client.run("hello", other)

    inside, outside = api.requests_for("hello")
    assert f"{OURS}memory_search" in json.dumps(inside.body)
    assert f"{OURS}memory_search" not in json.dumps(outside.body)
    product.run("uninstall", "--scope", "project", cwd=repo)
    assert "claude-mem-lite" not in (Path(environment["HOME"]) / ".claude.json").read_text()
    assert not (repo / ".claude" / "skills").exists()


def test_another_configuration_folder_has_its_own_server(
    client: Client, api: FakeMessagesApi, product: Product, environment: dict[str, str], repo: Path, root: Path
) -> None:
    environment["CLAUDE_CONFIG_DIR"] = str(root / "config")
    api.script("hello", say("Hello."))
    product.run("install")

    client.run("hello", repo)

    assert f"{OURS}memory_search" in json.dumps(api.requests[-1].body)
    product.run("uninstall")
    assert "claude-mem-lite" not in (root / "config" / ".claude.json").read_text()
