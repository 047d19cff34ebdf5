"""Drives the real Claude Code client in a terminal of its own, as a person sees it."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.e2e.client import RUN_TIMEOUT_S

_KEY = "sk-ant-api03-not-a-key-000000"
_CONTROL = re.compile(rb"\x1b\[[0-9;?>=<]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()=>78]")


@dataclass(slots=True)
class Terminal:
    handle: int
    shown: bytes = field(default=b"")

    @property
    def text(self) -> str:
        """All that was shown so far, as words with one space between."""
        return " ".join(_CONTROL.sub(b" ", self.shown).decode(errors="replace").split())

    def type(self, keys: str) -> None:
        os.write(self.handle, keys.encode())

    def wait_until(self, condition: Callable[[], bool], what: str) -> None:
        """Read the screen until a condition holds."""
        deadline = time.monotonic() + RUN_TIMEOUT_S
        while not condition():
            assert time.monotonic() < deadline, f"waited for {what}; the terminal shows: {self.text[-1500:]}"
            ready, _, _ = select.select([self.handle], [], [], 0.1)
            if ready:
                with suppress(OSError):  # the client has ended
                    self.shown += os.read(self.handle, 65536)


@contextmanager
def in_terminal(binary: Path, environment: Mapping[str, str], cwd: Path, prompt: str) -> Iterator[Terminal]:
    """An interactive session that begins with a prompt, in a folder that the user has trusted."""
    prepared = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [_KEY[-20:]], "rejected": []},
        "projects": {str(cwd): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
    }
    notes = Path(environment["HOME"]) / ".claude.json"
    known = json.loads(notes.read_text()) if notes.exists() else {}
    notes.write_text(json.dumps({**known, **prepared}))
    pid, handle = pty.fork()
    if pid == 0:  # the client's own process
        os.chdir(cwd)
        with suppress(OSError):
            variables = {**environment, "TERM": "xterm-256color", "ANTHROPIC_API_KEY": _KEY}
            os.execve(binary, [str(binary), prompt], variables)
        os._exit(127)
    fcntl.ioctl(handle, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
    try:
        yield Terminal(handle)
    finally:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(handle)
