"""Drives the installed `claude-mem-lite` as a user would, and looks at what it left behind."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.fake_messages_api import JsonObject
from tests.support import live_files
from tests.support.running import query, wait_until

COMMAND = Path(sys.executable).parent / "claude-mem-lite"
WAIT_S = 60


@dataclass(frozen=True, slots=True)
class InboxRow:
    event: str
    session: str
    status: str
    reason: str


@dataclass(frozen=True, slots=True)
class Product:
    environment: Mapping[str, str]

    @property
    def home(self) -> Path:
        return Path(self.environment["HOME"]) / ".claude-mem-lite"

    def run(self, *arguments: str, cwd: Path | None = None) -> str:
        """One command that must succeed; its stdout."""
        done = subprocess.run(
            [COMMAND, *arguments],
            cwd=cwd or self.environment["HOME"],
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=WAIT_S + 30,
        )
        told = f"{done.stdout}\n{done.stderr}"
        assert done.returncode == 0, f"claude-mem-lite {' '.join(arguments)} exits {done.returncode}: {told}"
        return done.stdout

    def drain(self) -> None:
        """Wait until nothing is left to do."""
        self.run("worker", "drain", "--timeout", str(WAIT_S))

    def memories(self, cwd: Path) -> list[JsonObject]:
        found: list[JsonObject] = json.loads(self.run("list", "--json", cwd=cwd))
        return found

    def sessions(self, cwd: Path) -> list[JsonObject]:
        found: list[JsonObject] = json.loads(self.run("sessions", "--json", cwd=cwd))
        return found

    def session(self, cwd: Path, session: str) -> JsonObject:
        found = [one for one in self.sessions(cwd) if one["id"] == session]
        assert len(found) == 1, f"session {session} is listed {len(found)} times"
        return found[0]

    def queue(self) -> dict[str, int]:
        """How many inbox rows there are by status."""
        counts: dict[str, int] = json.loads(self.run("queue", "--json"))
        return counts

    def inbox(self, session: str | None = None) -> list[InboxRow]:
        """What hooks saw, in order, read from the file: the commands tell numbers only."""
        rows = query(self.home / "inbox.db", "select event, session, status, reason from inbox order by name")
        # a note that the hook printed a context rendered ahead is no event of the client
        found = [InboxRow(*row) for row in rows if row[0] != "Rendered"]
        return [row for row in found if session is None or row.session == session]

    def events(self, session: str | None = None) -> Counter[str]:
        return Counter(row.event for row in self.inbox(session))

    def waiting(self) -> list[str]:
        """Events that hooks kept and no worker took in yet."""
        folder = self.home / "spool" / "new"
        return sorted(one.name for one in folder.iterdir()) if folder.is_dir() else []

    def worker_pid(self) -> int:
        """The worker that answers; one that a hook has just started is waited for."""
        found: list[int] = []

        def answers() -> bool:
            pid = json.loads(self.run("worker", "status", "--json"))["pid"]
            found.extend([pid] if isinstance(pid, int) else [])
            return bool(found)

        wait_until(answers, "a worker that answers")
        return found[0]

    def freeze_worker(self) -> int:
        """Have the worker hang: it is there, but answers nobody and takes nothing in."""
        pid = self.worker_pid()
        os.kill(pid, signal.SIGSTOP)
        return pid

    def kill_worker(self, pid: int | None = None) -> None:
        """kill -9, as a crash or the kernel would."""
        victim = pid or self.worker_pid()
        os.kill(victim, signal.SIGKILL)
        wait_until(lambda: not is_worker(victim), f"worker {victim} to die")

    @contextmanager
    def broken_worker(self) -> Iterator[None]:
        """Hooks find, for a while, an interpreter that fails at once."""
        link = self.home / "worker-py"
        aside = link.rename(link.with_name("worker-py-aside"))
        link.symlink_to(shutil.which("false") or "/nowhere")
        try:
            yield
        finally:
            aside.replace(link)

    def files_with(self, text: str) -> list[str]:
        """Every file of the home that holds these words, databases and their logs included."""
        return [str(path.relative_to(self.home)) for path in live_files.files_with(self.home, text.encode())]

    def end(self) -> None:
        """Leave no worker behind, also after a test that went wrong."""
        pid = self._last_pid()
        if pid is not None and is_worker(pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
        if COMMAND.exists() and self.home.is_dir():
            subprocess.run(
                [COMMAND, "worker", "stop"],
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=WAIT_S,
            )
        if pid is not None and is_worker(pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _last_pid(self) -> int | None:
        """The worker by its own note; None when it left none."""
        try:
            return int((self.home / "worker.pid").read_text().split()[0])
        except (OSError, ValueError, IndexError):
            return None


def is_worker(pid: int) -> bool:
    """Whether a process lives and is a worker: its number may be another program's by now."""
    report = ["ps", "-o", "stat=", "-o", "command=", "-p", str(pid)]
    state, _, command = subprocess.run(report, capture_output=True, text=True).stdout.partition(" ")
    return "claude_mem_lite" in command and not state.startswith("Z")
