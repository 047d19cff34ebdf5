"""Repositories made by the real git, for tests of what reads them."""

import os
import subprocess
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

BEGIN = datetime(2026, 3, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class Clock:
    """A time that goes on by a minute with each commit, in all checkouts that share it."""

    now: datetime = BEGIN

    def tick(self, **more: float) -> datetime:
        self.now += timedelta(**more) if more else timedelta(minutes=1)
        return self.now


@dataclass(slots=True)
class Checkout:
    """One checkout and short ways to work in it."""

    root: Path
    clock: Clock = field(default_factory=Clock)

    def git(self, *arguments: str, given: bytes = b"") -> str:
        """Run git here, whatever the user of this machine has configured; what it prints."""
        moment = str(int(self.clock.tick().timestamp())) + " +0000"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "t",
            "GIT_AUTHOR_EMAIL": "t@example.org",
            "GIT_COMMITTER_NAME": "t",
            "GIT_COMMITTER_EMAIL": "t@example.org",
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
            "GIT_EDITOR": "true",
        }
        command = ["git", "-C", str(self.root), "-c", "protocol.file.allow=always", *arguments]
        done = subprocess.run(command, check=True, input=given, capture_output=True, env=environment)
        return done.stdout.decode().strip()

    def commit(self, path: str, text: str = "", message: str = "") -> str:
        """Write a file and commit it; the commit's id."""
        self.write(path, text or f"{path} as of {self.clock.now}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message or f"change {path}")
        return self.id()

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def id(self, name: str = "HEAD") -> str:
        return self.git("rev-parse", name)

    def switch(self, branch: str) -> None:
        self.git("switch", "-q", branch)

    def begin(self, branch: str, at: str = "HEAD") -> None:
        """Create a branch and switch to it."""
        self.git("switch", "-q", "-c", branch, at)

    def worktree(self, folder: Path, *arguments: str) -> "Checkout":
        self.git("worktree", "add", "-q", str(folder), *arguments)
        return Checkout(folder, self.clock)

    def clone(self, folder: Path, *arguments: str) -> "Checkout":
        self.git("clone", "-q", *arguments, f"file://{self.root}", str(folder))
        return Checkout(folder, self.clock)


def make_checkout(folder: Path, *arguments: str) -> Checkout:
    """A new repository without commits, on the branch `main`."""
    folder.mkdir(parents=True, exist_ok=True)
    made = Checkout(folder)
    made.git("init", "-q", "-b", "main", *arguments)
    return made


def many_files(checkout: Checkout, folder: str, count: int) -> None:
    """Stage files of one content, without writing them."""
    blob = checkout.git("hash-object", "-w", "--stdin", given=b"page = 1\n")
    lines = "".join(f"100644 {blob}\t{folder}/{number}.py\n" for number in range(count))
    checkout.git("update-index", "--index-info", given=lines.encode())


def many_commits(checkout: Checkout, count: int) -> None:
    """Put empty commits before the next one, in one go."""
    at = int(checkout.clock.tick().timestamp())
    lines = "".join(f"commit refs/heads/long\ncommitter t <t@example.org> {at} +0000\ndata 0\n\n" for _ in range(count))
    checkout.git("fast-import", "--quiet", given=lines.encode())
    checkout.git("reset", "-q", "--soft", "long")
