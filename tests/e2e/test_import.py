"""Transcripts that the real client wrote, imported."""

import json
from pathlib import Path

import pytest

from tests.e2e import story
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, JsonObject, refuse, say, use
from tests.e2e.product import Product

WITHOUT_HOOKS = ("--settings", '{"disableAllHooks": true}')
TOLD = ("kind", "title", "summary", "detail", "facts", "files", "symbols", "prompt", "origin", "branch")


def import_all(memory: Product) -> JsonObject:
    report: JsonObject = json.loads(memory.run("import", "transcripts", "--json"))
    assert report["unreadable"] == []
    assert report["waiting"] == 0
    return report


def counted(report: JsonObject) -> tuple[object, ...]:
    return tuple(report[name] for name in ("sessions", "turns", "known", "still_open"))


def told(memory: Product, repo: Path, session: str) -> list[JsonObject]:
    found = [one for one in memory.memories(repo) if one["session"] == session]
    return sorted(({name: one[name] for name in TOLD} for one in found), key=str)


def test_only_what_hooks_did_not_see_is_imported_and_the_next_session_is_told_of_it(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("tidy up", use("Bash", command="ls"), say("The folder is tidy."))
    api.script("hello", say("Hello."))
    story.script(api, repo)
    seen = client.run("tidy up", repo)
    unseen = client.run(story.PROMPT, repo, *WITHOUT_HOOKS)
    memory.drain()

    assert counted(import_all(memory)) == (1, 1, 1, 0)
    assert counted(import_all(memory)) == (0, 0, 2, 0)

    assert {one["id"] for one in memory.sessions(repo)} == {seen.session, unseen.session}
    assert {one["session"] for one in memory.memories(repo)} == {unseen.session}
    assert {one["status"] for one in memory.sessions(repo)} == {"completed"}
    (context,) = client.run("hello", repo).start_contexts
    for fact in story.FACTS:
        assert fact in context


def test_an_imported_session_is_remembered_as_if_hooks_had_seen_it(
    client: Client, api: FakeMessagesApi, memory: Product, environment: dict[str, str], repo: Path
) -> None:
    story.script(api, repo)
    reply = client.run(story.PROMPT, repo)
    memory.drain()

    other = Product({**environment, "CLAUDE_MEM_LITE_HOME": str(repo.parent / "other")})
    try:
        assert counted(import_all(other)) == (1, 1, 0, 0)
        assert told(other, repo, reply.session) == told(memory, repo, reply.session)
        assert other.session(repo, reply.session)["summary"] == memory.session(repo, reply.session)["summary"]
    finally:
        other.run("worker", "stop")


@pytest.mark.parametrize("in_background", [False, True])
def test_what_a_sub_agent_found_is_imported(
    client: Client, api: FakeMessagesApi, product: Product, repo: Path, in_background: bool
) -> None:
    job = {"description": "find the limit", "prompt": "which limit holds", "subagent_type": "general-purpose"}
    report = (
        "The gateway refuses amounts above 50000 cents because its fraud rule counts them as suspicious. The rule is "
        "applied before the currency is converted, so an order in yen meets it a hundred times sooner. Orders that "
        "were refused stay open for two days, and the nightly job in `src/orders.py` closes them without telling the "
        "customer. Until the limit is raised, large orders have to be split into parts of at most 50000 cents each."
    )
    api.script("ask somebody", use("Agent", **job, run_in_background=in_background), say("Asked."))
    api.script("which limit holds", use("Bash", command="cat src/orders.py"), say(report))
    reply = client.run("ask somebody", repo)

    assert import_all(product)["still_open"] == 0

    assert [one["id"] for one in product.sessions(repo)] == [reply.session]
    assert product.events(reply.session)["SubagentStop"] == 1
    assert "50000 cents" in product.run("search", "gateway refuses amounts", cwd=repo)


def test_a_long_conversation_that_hooks_saw_is_known_to_its_last_turn(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    job = {"description": "find the limit", "prompt": "which limit holds", "subagent_type": "general-purpose"}
    api.script("ask somebody", use("Agent", **job, run_in_background=True), say("Asked."))
    api.script("which limit holds", use("Bash", command="ls"), say("None."))
    api.script("tidy up", use("Bash", command="ls"), say("The folder is tidy."))
    api.script("this fails", refuse(400))
    api.script("another way", say("Done another way."))
    with client.conversation(repo) as talk:
        session = talk.say("tidy up").session
        talk.say("/compact")
        talk.say("ask somebody")
        talk.say("this fails")
    client.resume(session, "tidy up once more", repo)
    client.fork(session, "another way", repo)
    memory.drain()

    report = import_all(memory)

    assert (report["sessions"], report["turns"], report["still_open"]) == (0, 0, 0)
    assert memory.queue()["error"] == 0
