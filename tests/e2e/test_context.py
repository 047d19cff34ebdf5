"""What the model is told at the start of a session, as it stands in the requests of the real client."""

from itertools import count
from pathlib import Path

import pytest

from tests.e2e import story
from tests.e2e.client import Client, Reply
from tests.e2e.fake_messages_api import FakeMessagesApi, say, use
from tests.e2e.product import Product
from tests.e2e.repositories import git, make_repo
from tests.support.running import wait_until

OPENING, CLOSING = "<claude-mem-lite>", "</claude-mem-lite>"
NEWS = "the mail server needs port 2525"


@pytest.fixture
def worked(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> Reply:
    """A first session, finished and digested."""
    story.script(api, repo)
    api.script("hello", say("Hello."))
    reply = client.run(story.PROMPT, repo)
    memory.drain()
    return reply


def assert_tells_everything(context: str) -> None:
    assert context.startswith(OPENING)
    assert context.rstrip().endswith(CLOSING)
    for fact in story.FACTS:
        assert fact in context


def tells_everything(context: str) -> bool:
    return all(fact in context for fact in story.FACTS)


def test_a_first_session_gets_no_context(client: Client, api: FakeMessagesApi, memory: Product, repo: Path) -> None:
    api.script("hello", say("Hello."))

    reply = client.run("hello", repo)

    assert reply.start_contexts == []
    assert OPENING not in api.requests_for("hello")[0].text


def test_the_first_request_of_a_new_session_names_the_facts_of_the_one_before(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", say("Hello."))
    client.run(story.PROMPT, repo)

    second = client.run("hello", repo)

    request = api.requests_for("hello")[0]
    block = request.text[request.text.index(OPENING) : request.text.index(CLOSING) + len(CLOSING)]
    assert [block] == second.start_contexts
    assert_tells_everything(block)
    assert OPENING not in request.system


def test_the_context_shows_the_headline_of_the_session_before(
    client: Client, memory: Product, repo: Path, worked: Reply
) -> None:
    context = client.run("hello", repo).start_contexts[0]

    summary = memory.session(repo, worked.session)["summary"]
    assert isinstance(summary, dict)
    assert str(summary["headline"])[:100] in context


def test_the_context_names_no_project_path_and_no_session_id(client: Client, repo: Path, worked: Reply) -> None:
    context = client.run("hello", repo).start_contexts[0]

    assert str(repo) not in context
    assert worked.session not in context


def test_a_new_session_gets_the_facts_after_the_worker_was_killed(
    client: Client, memory: Product, repo: Path, worked: Reply
) -> None:
    memory.kill_worker()

    second = client.run("hello", repo)

    assert_tells_everything(second.start_contexts[0])
    memory.drain()
    assert memory.events(worked.session) == story.EVENTS


def test_a_new_session_gets_the_facts_of_one_whose_worker_was_killed_before_it_was_done(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    story.script(api, repo)
    api.script("hello", say("Hello."))
    first = client.run(story.PROMPT, repo)
    memory.kill_worker()
    memory.drain()  # nothing is rendered yet, and under load a cold worker may miss the hook's deadline

    second = client.run("hello", repo)

    assert_tells_everything(second.start_contexts[0])
    assert memory.events(first.session) == story.EVENTS


def test_a_session_whose_worker_does_not_start_gets_what_was_rendered_before_and_gets_it_once(
    client: Client, memory: Product, repo: Path, worked: Reply
) -> None:
    memory.kill_worker()
    with memory.broken_worker():
        second = client.run("hello", repo)
    memory.drain()

    assert_tells_everything(second.start_contexts[0])
    assert client.resume(second.session, "hello again", repo).start_contexts == []


def test_resume_with_nothing_new_gives_no_context(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, worked: Reply
) -> None:
    session = client.run("hello", repo).session
    memory.drain()

    resumed = client.resume(session, "hello again", repo)

    assert resumed.session == session
    assert resumed.start_contexts == []
    assert api.requests_for("hello again")[0].text.count(OPENING) == 1


def test_resume_does_not_tell_a_session_its_own_work(client: Client, repo: Path, worked: Reply) -> None:
    assert client.resume(worked.session, "hello", repo).start_contexts == []


def test_resume_with_news_from_another_session_gives_just_the_news(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, worked: Reply
) -> None:
    session = client.run("hello", repo).session
    api.script("mail is stuck", say(f"I found the cause: {NEWS} since the firewall changed."))
    client.run("mail is stuck", repo)
    memory.drain()

    resumed = client.resume(session, "hello again", repo)

    [news] = resumed.start_contexts
    assert NEWS in news
    assert [fact for fact in story.FACTS if fact in news] == []
    assert NEWS in api.requests_for("hello again")[0].text


def test_continue_gives_what_resume_gives(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, worked: Reply
) -> None:
    session = client.run("hello", repo).session
    memory.drain()

    again = client.resume_latest("hello again", repo)

    assert again.session == session
    assert again.start_contexts == []


@pytest.mark.parametrize("command", ["/compact", "/clear"])
def test_compact_and_clear_give_everything_again(
    client: Client, api: FakeMessagesApi, repo: Path, worked: Reply, command: str
) -> None:
    with client.conversation(repo) as talk:
        talk.say("hello")
        emptied = talk.say(command)
        talk.say("hello again")

    [context] = emptied.start_contexts
    assert_tells_everything(context)
    assert context in api.requests_for("hello again")[0].text


def test_fork_gives_everything_again(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path, worked: Reply
) -> None:
    session = client.run("hello", repo).session
    memory.drain()

    [context] = client.fork(session, "hello again", repo).start_contexts

    assert_tells_everything(context)
    assert context in api.requests_for("hello again")[0].text


def test_a_subdirectory_gets_the_facts_of_its_repository(client: Client, repo: Path, worked: Reply) -> None:
    [context] = client.run("hello", repo / "src").start_contexts

    assert_tells_everything(context)


def test_a_worktree_gets_the_facts_of_its_repository(client: Client, repo: Path, worked: Reply) -> None:
    worktree = repo.parent / "elsewhere"
    git(repo, "add", ".")
    git(repo, "commit", "--quiet", "--message=Split prices")
    git(repo, "worktree", "add", "--quiet", str(worktree), "-b", "side")

    # The first look at a new worktree may be cut short on a busy machine.
    later = (client.run("hello", worktree).start_contexts for _ in count())
    wait_until(lambda: any(map(tells_everything, next(later))), "a session that is told all facts")


def test_another_repository_with_the_same_folder_name_gets_none_of_them(
    client: Client, memory: Product, repo: Path, worked: Reply
) -> None:
    namesake = make_repo(repo.parent / "other" / repo.name)

    assert client.run("hello", namesake).start_contexts == []
    assert memory.memories(namesake) == []
    assert memory.memories(repo) != []


def test_work_done_after_cd_into_a_nested_repository_belongs_to_the_project_of_the_session(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    nested = make_repo(repo / "vendor" / "tools")
    api.script(story.PROMPT, use("Bash", command="cd vendor/tools && ls && cd ../.."), *story.steps(repo))
    api.script("hello", say("Hello."))

    client.run(story.PROMPT, repo)
    memory.drain()

    assert client.run("hello", nested).start_contexts == []
    assert_tells_everything(client.run("hello", repo).start_contexts[0])
