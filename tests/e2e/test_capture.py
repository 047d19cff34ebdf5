"""What sessions of the real client leave in the product, whatever happens to the worker meanwhile."""

import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e import story
from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, Step, refuse, say, together, use, while_thinking
from tests.e2e.product import Product
from tests.support.running import wait_until

REPORT = (
    "The gateway refuses amounts above 50000 cents because its fraud rule counts them as suspicious. "
    "The rule is applied before the currency is converted, so an order in yen meets it a hundred times sooner. "
    "Orders that were refused stay open for two days, and the nightly job in `src/orders.py` closes them "
    "without telling the customer. The shop can ask for a higher limit per currency, which the contract "
    "allows once a quarter; until then large orders have to be split into parts of at most 50000 cents each."
)
QUIET_SESSION = Counter(SessionStart=1, UserPromptSubmit=1, Stop=1, SessionEnd=1)


def write_tax(repo: Path) -> Step:
    return use("Write", file_path=str(repo / "tax.py"), content="def tax(cents):\n    return cents // 5\n")


def test_every_event_of_a_session_becomes_an_inbox_row_and_none_ends_in_error(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)

    reply = client.run(story.PROMPT, repo)
    memory.drain()

    assert memory.events(reply.session) == story.EVENTS
    counts = memory.queue()
    assert sum(counts.values()) == story.EVENTS.total()
    assert counts["raw"] == counts["processing"] == counts["error"] == 0
    assert memory.waiting() == []


def test_a_session_leaves_memories_of_its_work(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)

    reply = client.run(story.PROMPT, repo)
    memory.drain()

    found = memory.memories(repo)
    assert {one["session"] for one in found} == {reply.session}
    assert any(story.FILE in json.dumps(one["files"]) for one in found)
    assert "bugfix" in {one["kind"] for one in found}
    told = json.dumps(found)
    assert story.CAUSE in told
    assert story.DECISION in told


def test_a_session_leaves_a_summary(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> None:
    story.script(api, repo)

    reply = client.run(story.PROMPT, repo)
    memory.drain()

    session = memory.session(repo, reply.session)
    summary = session["summary"]
    assert isinstance(summary, dict)
    assert session["status"] == "completed"
    assert summary["headline"]
    assert summary["request"] == story.PROMPT
    assert story.FILE in json.dumps(summary["files_edited"])
    assert story.NEXT_STEP in json.dumps(summary["next_steps"])
    assert story.DECISION in json.dumps(summary["key_decisions"])


def test_hooks_exit_zero_and_write_nothing_to_stderr(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)

    reply = client.run(story.PROMPT, repo)

    assert reply.text == story.CLOSING
    assert reply.events + Counter(SessionEnd=1) == story.EVENTS
    assert {(hook.exit_code, hook.stderr) for hook in reply.hooks} == {(0, "")}


def test_tool_calls_made_at_the_same_time_are_all_kept(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    writes = [use("Write", file_path=str(repo / f"part{i}.py"), content=f"PART = {i}\n") for i in range(8)]
    api.script("write the parts", together(*writes), say("Eight parts are written."))

    reply = client.run("write the parts", repo)
    memory.drain()

    assert memory.events(reply.session) == QUIET_SESSION + Counter(PostToolUse=8)


def test_a_worker_killed_in_the_middle_of_a_turn_loses_nothing(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    steps = story.steps(repo)
    api.script(story.PROMPT, *steps[:2], while_thinking(memory.kill_worker, steps[2]), *steps[3:])

    reply = client.run(story.PROMPT, repo)
    memory.drain()

    assert memory.events(reply.session) == story.EVENTS
    assert memory.queue()["error"] == 0
    assert story.DECISION in json.dumps(memory.memories(repo))


def test_events_that_came_while_the_worker_hung_are_not_lost_with_it(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    hung: list[int] = []
    first, *rest = story.steps(repo)
    api.script(story.PROMPT, while_thinking(lambda: hung.append(memory.freeze_worker()), first), *rest)

    reply = client.run(story.PROMPT, repo)
    memory.kill_worker(hung[0])
    memory.drain()

    assert memory.events(reply.session) == story.EVENTS
    assert memory.queue()["error"] == 0
    assert story.DECISION in json.dumps(memory.memories(repo))


def test_a_worker_killed_between_two_turns_loses_nothing(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("tidy up", use("Bash", command="ls"), say("The folder is tidy."))

    with client.conversation(repo) as talk:
        session = talk.say(story.PROMPT).session
        memory.kill_worker()
        talk.say("tidy up")
    memory.drain()

    assert memory.events(session) == story.EVENTS + Counter(UserPromptSubmit=1, PostToolUse=1, Stop=1)
    assert memory.queue()["error"] == 0


def test_a_worker_killed_right_after_a_session_remembers_its_work_once(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)

    reply = client.run(story.PROMPT, repo)
    memory.kill_worker()
    memory.drain()
    once = memory.memories(repo)
    memory.kill_worker()
    memory.drain()

    assert memory.events(reply.session) == story.EVENTS
    assert story.DECISION in json.dumps(once)
    assert memory.memories(repo) == once


def test_a_turn_that_ends_in_an_api_error_keeps_its_events_and_its_work(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("add the tax", write_tax(repo), refuse(500))

    reply = client.run("add the tax", repo)
    # The client does not wait for this hook, it only tries to end it.
    wait_until(lambda: memory.events(reply.session)["StopFailure"] == 1, "the event of the failed turn")
    memory.drain()

    expected = Counter(SessionStart=1, UserPromptSubmit=1, PostToolUse=1, StopFailure=1, SessionEnd=1)
    assert reply.is_error
    assert memory.events(reply.session) == expected
    assert memory.queue()["error"] == 0
    assert "tax.py" in memory.run("search", "add the tax", "--json", cwd=repo)


def test_a_conversation_that_goes_on_after_an_api_error_keeps_both_turns(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("add the tax", write_tax(repo), refuse(500))
    api.script("go on", use("Bash", command="ls"), say("The tax is added."))
    memory.run("worker", "start")

    with client.conversation(repo) as talk:
        session = talk.say("add the tax").session
        wait_until(lambda: memory.events(session)["StopFailure"] == 1, "the event of the failed turn")
        talk.say("go on")
    memory.drain()

    failed, good = Counter(PostToolUse=1, StopFailure=1, UserPromptSubmit=1), Counter(PostToolUse=1)
    assert memory.events(session) == QUIET_SESSION + failed + good
    assert memory.queue()["error"] == 0
    assert "tax.py" in memory.run("search", "add the tax", "--json", cwd=repo)


@pytest.mark.parametrize("in_background", [True, False])
def test_the_events_of_a_sub_agent_belong_to_the_session_that_asked_it(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, in_background: bool
) -> None:
    job = {"description": "find the limit", "prompt": "which limit holds", "subagent_type": "general-purpose"}
    api.script("ask somebody", use("Agent", **job, run_in_background=in_background), say("Asked."))
    api.script("which limit holds", use("Bash", command="cat src/orders.py"), say(REPORT))

    reply = client.run("ask somebody", repo)
    memory.drain()

    assert memory.events() == memory.events(reply.session) == reply.events + Counter(SessionEnd=1)
    assert memory.events()["SubagentStop"] == 1
    assert [one["id"] for one in memory.sessions(repo)] == [reply.session]
    assert memory.queue()["error"] == 0
    assert "50000 cents" in memory.run("search", "gateway refuses amounts", cwd=repo)


def test_tools_that_only_search_leave_no_event(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    search = (use("Grep", pattern="OPEN"), use("Glob", pattern="**/*.py"))
    api.script("look around", *search, use("Bash", command="ls"), say("One file is open."))

    reply = client.run("look around", repo)
    memory.drain()

    assert [hook.name for hook in reply.hooks if hook.event == "PostToolUse"] == ["PostToolUse:Bash"]
    assert memory.events(reply.session) == QUIET_SESSION + Counter(PostToolUse=1)


def test_the_off_switch_leaves_no_event_and_gives_no_context_until_it_is_on_again(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", say("Hello."))
    client.run(story.PROMPT, repo)
    memory.drain()

    memory.run("off")
    unseen = client.run("hello", repo)
    memory.run("on")
    memory.drain()

    assert unseen.start_contexts == []
    assert memory.events() == story.EVENTS
    assert memory.waiting() == []
    assert len(client.run("hello", repo).start_contexts) == 1


def test_private_text_of_a_prompt_is_in_no_file_of_the_home(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("rename the invoice", say("The invoice is now called a receipt."))

    client.run("rename the invoice <private>for customer Xanthippe</private> to receipt", repo)
    found_at_once = memory.files_with("Xanthippe")
    memory.drain()

    assert found_at_once == []
    assert memory.files_with("Xanthippe") == []
    assert "memory.db" in {name.removesuffix("-wal") for name in memory.files_with("rename the invoice")}


def test_a_secret_printed_by_a_command_is_in_no_file_of_the_home(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    token = "gh" + "p_" + hashlib.sha256(b"not a real token").hexdigest()[:36]
    (repo / "settings.env").write_text(f"REGION=eu-north\nGITHUB_TOKEN={token}\n")
    api.script("show the settings", use("Bash", command="cat settings.env; exit 4"), say("The region is set."))

    client.run("show the settings", repo)
    memory.drain()

    assert memory.files_with(token) == []
    assert "inbox.db" in {name.removesuffix("-wal") for name in memory.files_with("REGION=eu-north")}
