"""What the model is told in the middle of a session, as it stands in the requests of the real client."""

from pathlib import Path

import pytest

from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, Request, say, use
from tests.e2e.product import Product

OPENING = "<claude-mem-lite>"
MAX_TRIES = 10
DECISION = "Keep the shopping carts in SQLite, because one file is easy to back up"
ABOUT_IT = "where do we keep the shopping carts, and why SQLite?"
UNRELATED = "rename the invoice template to receipt.html"
GOTCHA = "split.py: the last part takes the rounding, never the first"


BROKEN_LINE = "    return [int(cents / parts)] * parts\n"
MENDED_LINE = "    share, rest = divmod(cents, parts)\n    return [share + (i < rest) for i in range(parts)]\n"


@pytest.fixture
def silent_start(memory: Product) -> Product:
    """The command, installed, with no room for anything at the start of a session."""
    memory.home.mkdir(exist_ok=True)
    (memory.home / "config.toml").write_text("budget_tokens = 1\n")
    return memory


def test_a_second_prompt_about_an_old_decision_has_it_and_an_unrelated_one_has_nothing_of_ours(
    client: Client, api: FakeMessagesApi, silent_start: Product, repo: Path
) -> None:
    silent_start.run("remember", "decision", DECISION, cwd=repo)
    silent_start.drain()
    for prompt in ("hello", ABOUT_IT, UNRELATED):
        api.script(prompt, say("Very well."))

    first, second, third, fourth = told_in_time(
        client, api, repo, "hello", ABOUT_IT, UNRELATED, f"once more: {ABOUT_IT}"
    )
    assert OPENING not in first.text
    assert second.text.count(OPENING) == 1
    assert DECISION in second.text
    assert OPENING not in second.system
    assert third.text.count(OPENING) == 1
    assert fourth.text.count(OPENING) == 1


def test_a_prompt_is_told_nothing_that_the_start_told(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    memory.run("remember", "decision", DECISION, cwd=repo)
    memory.drain()
    api.script(ABOUT_IT, say("In SQLite."))

    client.run(ABOUT_IT, repo)

    (request,) = api.requests
    assert request.text.count(DECISION) == 1


def test_a_failing_command_with_a_known_fix_brings_it_into_the_next_request(
    client: Client, api: FakeMessagesApi, silent_start: Product, repo: Path
) -> None:
    script_mending(api, repo)
    client.run("a cent is lost", repo)
    silent_start.drain()
    split = repo / "split.py"
    split.write_text(f"divmod = lambda whole, parts: (whole // parts, 0)\n\n\n{split.read_text()}")
    api.script("is everything fine?", use("Bash", command="python3 check.py"), say("It is not."))

    asked, after = told_after_a_tool(client, api, "is everything fine?", repo)

    assert OPENING not in asked.text
    assert "[bugfix]" in after.text
    assert "[worked " in after.text
    assert after.text.count(OPENING) == 1


def test_a_file_with_a_gotcha_brings_it_into_the_next_request(
    client: Client, api: FakeMessagesApi, silent_start: Product, repo: Path
) -> None:
    path = repo / "split.py"
    path.write_text("def split_price(cents, parts):\n    return [cents // parts] * parts\n")
    silent_start.run("remember", "gotcha", GOTCHA, cwd=repo)
    silent_start.drain()
    api.script("what is in there?", use("Read", file_path=str(path)), say("A split."))

    asked, after = told_after_a_tool(client, api, "what is in there?", repo)

    assert OPENING not in asked.text
    assert GOTCHA in after.text
    assert after.text.count(OPENING) == 1


def test_receipts_tell_of_every_moment(client: Client, api: FakeMessagesApi, silent_start: Product, repo: Path) -> None:
    silent_start.run("remember", "decision", DECISION, cwd=repo)
    silent_start.drain()
    for prompt in ("hello", ABOUT_IT):
        api.script(prompt, say("In SQLite."))

    told_in_time(client, api, repo, "hello", ABOUT_IT)
    silent_start.drain()

    assert "prompt" in silent_start.run("receipts", cwd=repo)


def told_in_time(client: Client, api: FakeMessagesApi, repo: Path, *prompts: str) -> list[Request]:
    """The requests of a conversation, of the first one whose second prompt is told something.

    A prompt waits 0.3 s for its answer, which a busy machine may miss several times in a row."""
    for _ in range(MAX_TRIES):
        before = len(api.requests)
        with client.conversation(repo) as talk:
            for prompt in prompts:
                talk.say(prompt)
        if OPENING in api.requests[before + 1].text:
            break
    return api.requests[before:]


def told_after_a_tool(client: Client, api: FakeMessagesApi, prompt: str, repo: Path) -> tuple[Request, Request]:
    """The request of a prompt, and the one that follows its tool call; of the first session that is told something.

    A tool call waits 0.15 s for its answer, which a busy machine may miss several times in a row."""
    for _ in range(MAX_TRIES):
        before = len(api.requests)
        client.run(prompt, repo)
        asked, after = api.requests[before:]
        if OPENING in after.text:
            break
    return asked, after


def script_mending(api: FakeMessagesApi, repo: Path) -> None:
    """A session that finds out why a check fails, and puts it right."""
    path = repo / "split.py"
    path.write_text(f"def split_price(cents, parts):\n{BROKEN_LINE}")
    (repo / "check.py").write_text(
        "from split import split_price\n\nassert sum(split_price(1000, 3)) == 1000, 'lost'\n"
    )
    api.script(
        "a cent is lost",
        use("Bash", command="python3 check.py"),
        use("Read", file_path=str(path)),
        use("Edit", file_path=str(path), old_string=BROKEN_LINE, new_string=MENDED_LINE),
        use("Bash", command="python3 check.py"),
        say("The cause was that `split_price` used float division, which dropped the remainder. check.py passes now."),
    )
