"""What the real client's edits tell of functions, and what a later session is told of code that changed since."""

import shlex
from pathlib import Path

from tests.e2e.client import Client
from tests.e2e.fake_messages_api import FakeMessagesApi, Step, say, use
from tests.e2e.product import Product
from tests.e2e.repositories import PERSON, git
from tests.support import commit_turns

ADDED = "Added `net` to src/prices.py, which takes the tax off and rounds to cents."
FIXED = "Fixed `total` in src/prices.py, which counted a returned item twice."

PRICES = '''\
"""Prices."""


def net(gross):
    """Without the tax."""
    return gross / 1.19


def total(items):
    """All of them."""
    return sum(item.price for item in items)
'''


def commits(file: Path) -> tuple[Step, ...]:
    """Return two commits that the client makes with git itself, and the words it ends with."""
    edit = use("Edit", file_path=str(file), old_string="item.price", new_string="item.price * item.kept")
    made = [
        commit_turns.commit(said, "src/prices.py", prefix=kind)[0]
        for said, kind in ((ADDED, "feat: "), (FIXED, "fix: "))
    ]
    first, second = (one.replace("git ", f"git add . && git {shlex.join(PERSON)} ", 1) for one in made)
    closing = commit_turns.closing(FIXED, "src/prices.py")
    return (use("Bash", command=first), edit, use("Bash", command=second), say(closing))


def told_in_one_of_three(client: Client, repo: Path, *texts: str) -> str:
    """The context that tells all of it. Looks have only the time that users wait for here: a machine at a standstill
    cuts one short, and the session after that is told. Without the client, tests are patient, and told at once."""
    contexts: list[str] = []
    for _ in range(3):
        (context,) = client.run("hello", repo).start_contexts
        if all(text in context for text in texts):
            return context
        contexts.append(context)
    raise AssertionError(f"not told: {texts}\n" + "\n".join(contexts))


def test_edits_of_the_client_are_told_and_found_stale_once_the_code_is_another(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    file = repo / "src" / "prices.py"
    api.script(
        "we need prices",
        use("Write", file_path=str(file), content=PRICES),
        use("Read", file_path=str(file)),
        use("Edit", file_path=str(file), old_string="gross / 1.19", new_string="round(gross / 1.19, 2)"),
        *commits(file),
    )
    api.script("hello", say("Hello."))
    client.run("we need prices", repo)
    memory.drain()

    (context,) = client.run("hello", repo).start_contexts
    assert "src/prices.py" in context
    assert "def net" not in context  # nothing was left open: git tells the rest
    assert "[may be stale]" not in context

    file.write_text(PRICES.replace("1.19", "1.07"))
    context = told_in_one_of_three(client, repo, "[may be stale]")
    assert "[may be stale]" in context.partition("## Earlier work")[2]


def test_work_of_the_client_on_a_branch_is_not_told_on_another(
    client: Client, api: FakeMessagesApi, memory: Product, repo: Path
) -> None:
    api.script("hello", say("Hello."))
    api.script(
        "we need prices",
        use("Write", file_path=str(repo / "src" / "prices.py"), content=PRICES),
        *commits(repo / "src" / "prices.py"),
    )
    git(repo, "switch", "--quiet", "--create", "feature/prices")
    client.run("we need prices", repo)
    memory.drain()
    assert "takes the tax off" in client.run("hello", repo).start_contexts[0]

    git(repo, "switch", "--quiet", "main")
    told = client.run("hello", repo).start_contexts
    assert "def net" not in "".join(told)
    assert FIXED not in "".join(told)
    assert all("[its code is not here]" in line for line in "".join(told).split("\n") if "takes the tax off" in line)

    git(repo, "merge", "--quiet", "feature/prices")
    (merged,) = client.run("hello", repo).start_contexts
    sessions, _, work = merged.partition("## Earlier work")
    assert "takes the tax off" in sessions
    assert "[its code is not here]" not in merged
    assert FIXED.removesuffix(".") in work
