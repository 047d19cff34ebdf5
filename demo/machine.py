"""A machine of its own for the replay: a temporary HOME, a git repository, the product installed as by a user.

It drives only what users and Claude Code have: the command line, and the hook commands that `install` wrote.
When it is left, however, the worker has ended and the folder is gone."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from demo.recording import Recorded

COMMAND = Path(sys.executable).with_name("claude-mem-lite")
COMMAND_TIMEOUT_S = 60
WORKER_START_S = 5.0
KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "LC_CTYPE")
REMOVE_S = 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class CommandFailed(Exception):
    """A command of the product did not do what it should."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one hook printed, and how long the client would have waited for it."""

    printed: str
    ms: float


class Machine:
    """Opened by `with`; everything it makes lies below `root`."""

    root: Path
    user: Path
    project: Path
    home: Path

    def __init__(self) -> None:
        self._hooks: Mapping[str, str] = {}

    def __enter__(self) -> "Machine":
        # A signal meanwhile is heard when there is something to remove: Python, too, tries out where to put the folder.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        self.root = Path(tempfile.mkdtemp(prefix="claude-mem-lite-demo-")).resolve()
        self.user = self.root / "user"
        self.project = self.root / "teashop"
        self.home = self.user / ".claude-mem-lite"
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        except BaseException:
            self.root.rmdir()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        before = [signal.signal(number, signal.SIG_IGN) for number in SIGNALS]
        try:
            self._end_worker()
        finally:
            self._remove()
            for number, handler in zip(SIGNALS, before, strict=True):
                signal.signal(number, handler)

    def _remove(self) -> None:
        # A command that was ended in the middle may have left a child that still writes.
        deadline = time.monotonic() + REMOVE_S
        while self.root.exists() and time.monotonic() < deadline:
            shutil.rmtree(self.root, ignore_errors=True)
            time.sleep(0.02)

    def make_project(self, files: Mapping[Path, str]) -> None:
        """A git repository with these files, committed."""
        for path, content in files.items():
            self.write(path, content)
        for arguments in (
            ["init", "--quiet"],
            ["add", "--all"],
            ["commit", "--quiet", "--message=Reports by day"],
        ):
            settings = ("init.defaultBranch=main", "user.name=dev", "user.email=dev@example.com")
            done = subprocess.run(
                ["git", *(part for each in settings for part in ("-c", each)), *arguments],
                cwd=self.project,
                env={**self.environment(), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
                capture_output=True,
                text=True,
                timeout=COMMAND_TIMEOUT_S,
            )
            if done.returncode:
                raise CommandFailed(f"git {shlex.join(arguments)} exits {done.returncode}: {done.stderr}")

    def write(self, path: Path, content: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def install(self) -> None:
        """Install for Claude Code, and learn from its settings which command each event runs."""
        self.user.mkdir(exist_ok=True)
        folder = self.user / ".claude"
        self.run("install", "--config-dir", str(folder))
        settings = json.loads((folder / "settings.json").read_text("utf-8"))
        self._hooks = {event: groups[0]["hooks"][0]["command"] for event, groups in settings["hooks"].items()}

    def hook(self, event: Recorded) -> Told:
        """Send an event to its hook, as the client does: by a shell, the payload on its stdin."""
        began = time.perf_counter()
        done = subprocess.run(
            ["/bin/sh", "-c", self._hooks[event.kind]],
            input=event.text.encode(),
            cwd=self.project,
            env=self.environment(),
            capture_output=True,
            timeout=COMMAND_TIMEOUT_S,
        )
        ms = (time.perf_counter() - began) * 1000
        if done.returncode or done.stderr:
            raise CommandFailed(f"the {event.kind} hook exits {done.returncode}: {done.stderr.decode()}")
        return Told(done.stdout.decode(), ms)

    def run(self, *arguments: str) -> str:
        """Run a command of `claude-mem-lite` in the project; what it printed."""
        done = subprocess.run(
            [COMMAND, *arguments],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
        )
        if done.returncode:
            raise CommandFailed(f"claude-mem-lite {shlex.join(arguments)} exits {done.returncode}: {done.stderr}")
        return done.stdout

    def ask(self, *arguments: str) -> Any:
        """The same for a command that can print JSON."""
        return json.loads(self.run(*arguments, "--json"))

    def holds(self, words: str) -> bool:
        """Whether any file of the data folder has these words in it."""
        files = [path for path in self.home.rglob("*") if path.is_file() and not path.is_symlink()]
        return any(words.encode() in _content(path) for path in files)

    def environment(self) -> dict[str, str]:
        """Nothing of the user's own: neither an agent's variables nor another data folder. What is stopped in the
        middle leaves its temporary files here."""
        kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        return {**kept, "HOME": str(self.user), "TMPDIR": str(self.root)}

    def _end_worker(self) -> None:
        # A hook may have started one a moment ago: it cannot be asked to stop before it is up.
        start, deadline = self.home / "start.lock", time.monotonic() + WORKER_START_S
        while start.exists() and start.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.02)
        if not (self.home / "worker.lock").exists():
            return
        try:
            self.run("worker", "stop")
        except (CommandFailed, subprocess.TimeoutExpired):
            os.kill(int((self.home / "worker.pid").read_text()), signal.SIGKILL)


def _content(path: Path) -> bytes:
    """What is in a file; nothing when it was taken in meanwhile."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
