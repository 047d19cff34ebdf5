"""Members of a team with a home, a checkout and a real worker each, and a real PostgreSQL between them."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.git_repositories import make_checkout
from tests.support.postgres import Database
from tests.support.running import Json, Machine, open_machine

REMOTE = "github.com/acme/shop"
_REMOTES = ("git@github.com:acme/shop.git", "https://github.com/acme/shop")
"""The same project, as two people clone it."""


@dataclass(frozen=True, slots=True)
class Member:
    """One member: a home with a worker, and a checkout of the shop."""

    name: str
    machine: Machine
    checkout: Path
    url: str
    """Connection string of the invitation."""

    def command(self, *words: str, status: int = 0) -> Json:
        """Run a command in the checkout and return its JSON."""
        done = self.machine.run(*words, "--json", cwd=self.checkout, status=status)
        return json.loads(done.stdout)

    def said(self, *words: str) -> str:
        """Run a command in the checkout and return what it prints."""
        return self.machine.run(*words, cwd=self.checkout).stdout

    def remember(self, kind: str, text: str) -> str:
        """Store a memory of the project and return its id."""
        stored = self.machine.post("/api/memories", {"kind": kind, "text": text, "cwd": str(self.checkout)})
        return str(stored["id"])

    def join(self) -> Json:
        return self.machine.post("/api/team/join", {"url": self.url})

    def share(self) -> Json:
        return self.machine.post("/api/team/share", {"project": str(self.checkout)})

    def sync(self) -> Json:
        done = self.machine.post("/api/team/sync", {})
        assert done["code"] == "", done
        return done

    def status(self, *, check: bool = True) -> Json:
        return self.machine.get(f"/api/team?check={str(check).lower()}")

    def titles(self) -> list[str]:
        """Titles of all active memories of the home."""
        found = self.machine.get("/api/feed")
        return sorted(memory["title"] for memory in found["memories"])


@contextmanager
def open_members(
    database: Database, *names: str, is_joined: bool = True, is_shared: bool = True
) -> Iterator[tuple[Member, ...]]:
    """Members with running workers; by default each has joined and shares the shop."""
    with ExitStack() as stack:
        yield tuple(
            _member(stack.enter_context(open_machine()), database, name, _REMOTES[number % 2], is_joined, is_shared)
            for number, name in enumerate(names)
        )


def _member(machine: Machine, database: Database, name: str, remote: str, is_joined: bool, is_shared: bool) -> Member:
    checkout = make_checkout(machine.user_home / "shop")
    checkout.git("remote", "add", "origin", remote)
    checkout.commit("README.md", "# Shop\n")
    machine.start_worker()
    body = {"name": name, "projects": [REMOTE], "url": database.address.url()}
    member = Member(name, machine, checkout.root, machine.post("/api/team/invite", body)["url"])
    if is_joined:
        member.join()
    if is_joined and is_shared:
        member.share()
    return member
