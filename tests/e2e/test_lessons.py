"""The real client and a scripted model: from what the user says in passing to what the next session is told."""

from pathlib import Path

from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, say, use
from tests.e2e.product import Product
from tests.support.lesson_stories import stories

(STORY,) = stories()
SAVE = "mcp__claude-mem-lite__memory_save"
QUESTION = "may hold beyond this task"
STANDING = "When the user corrects you"


def allow(product: Product, client: Client, api: FakeMessagesApi, repo: Path) -> None:
    """Allow the memory tools, and have a first session, so that what questions need is loaded."""
    product.run("install", "--allow-tools")
    api.script("hello", say("Hello."))
    client.run("hello", repo)
    product.drain()
    product.drain()  # the scorer is loaded once nothing else is left to do


def test_a_remark_is_judged_by_the_agent_and_told_to_the_next_session_in_its_words(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path
) -> None:
    allow(product, client, api, repo)
    api.script(STORY.said, use(SAVE, kind="rule", text=STORY.saved), say("Understood."))
    api.script("go on", say("Done."))

    client.run(STORY.said, repo)
    product.drain()
    client.run("go on", repo)

    asked = api.requests_for(STORY.said)[0].text
    assert QUESTION in asked
    context = api.requests_for("go on")[0].text
    line = next(one for one in context.splitlines() if STORY.saved.rstrip(".") in one)
    assert "saved by the agent after the user said so" in line
    assert STANDING in context
    (lesson,) = [one for one in product.memories(repo) if one["kind"] == "rule"]
    assert STORY.said in product.run("show", str(lesson["id"]), cwd=repo)


def test_without_permission_nothing_is_asked(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> None:
    api.script(STORY.said, say("Understood."))
    api.script("go on", say("Done."))

    client.run(STORY.said, repo)
    memory.drain()
    client.run("go on", repo)

    told = "\n".join(request.text for request in api.requests)
    assert QUESTION not in told
    assert STANDING not in told
    assert STORY.said in memory.run("lessons", cwd=repo)


def test_said_in_two_sessions_it_is_stated_by_the_user_to_the_third(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    for prompt in (STORY.said, STORY.again):
        api.script(prompt, say("Understood."))
        client.run(prompt, repo)
        memory.drain()
    api.script("go on", say("Done."))

    client.run("go on", repo)

    context = api.requests_for("go on")[0].text
    assert any("stated by the user" in line and STORY.again[:60] in line for line in context.splitlines())


def test_what_was_dismissed_never_comes_again(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path
) -> None:
    allow(product, client, api, repo)
    api.script(STORY.said, use(SAVE, kind="rule", text=STORY.saved), say("Understood."))
    api.script(STORY.again, use(SAVE, kind="rule", text=STORY.said), say("Understood."))
    api.script("go on", say("Done."))
    client.run(STORY.said, repo)
    product.drain()
    (lesson,) = [one for one in product.memories(repo) if one["kind"] == "rule"]
    product.run("lessons", "dismiss", str(lesson["id"]), cwd=repo)

    client.run(STORY.again, repo)
    product.drain()
    client.run("go on", repo)

    assert QUESTION not in api.requests_for(STORY.again)[0].text
    assert [one for one in product.memories(repo) if one["kind"] == "rule"] == []
    assert "stated by the user" not in api.requests_for("go on")[0].text
