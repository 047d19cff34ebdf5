"""A command at a real terminal of its own: what it shows, what is typed, and how it ends."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tests.support.running import PROC, WAIT_S, wait_until

# The terminal must control the program, so that Ctrl-C typed at it interrupts the program.
_PROGRAM = """
import fcntl, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from claude_mem_lite.cli.entry import run
run()
"""
CTRL_C, CTRL_D = "\x03", "\x04"


@dataclass(slots=True)
class Terminal:
    """Terminal at which a command runs."""

    process: subprocess.Popen[bytes]
    _ours: int
    shown: str = ""
    is_closed: bool = False

    def wait_for(self, text: str, after: int = 0) -> int:
        """Read until the text was shown behind a place; return the place behind it."""
        deadline = time.monotonic() + WAIT_S
        while (found := self.shown.find(text, after)) < 0:
            assert self._read(deadline), f"{text!r} was never shown in:\n{self.shown}"
        return found + len(text)

    def wait_for_any(self, texts: Sequence[str], after: int = 0) -> int:
        """Read until one of the texts was shown behind a place; return the place behind it, 0 if the command ended."""
        deadline = time.monotonic() + WAIT_S
        while not (ends := [at + len(text) for text in texts if (at := self.shown.find(text, after)) >= 0]):
            if not self._read(deadline):
                return 0
        return min(ends)

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def wait_until_it_reads(self) -> None:
        """Wait until the command sleeps: Python would notice a signal right before it reads only with the next key."""
        state = PROC / str(self.process.pid) / "stat"
        wait_until(lambda: not PROC.exists() or state.read_text().rpartition(")")[2].split()[0] == "S", "a reader")

    def kill(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> int:
        """Read until the command ends; return its exit status."""
        deadline = time.monotonic() + WAIT_S
        while self._read(deadline):
            pass
        return self.process.wait(WAIT_S)

    def _read(self, deadline: float) -> bool:
        """Read what comes next; False if the command closed the terminal."""
        if self.is_closed:
            return False
        ready, _, _ = select.select([self._ours], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more came after:\n{self.shown}"
        try:
            read = os.read(self._ours, 65536)
        except OSError:  # the other end was closed
            read = b""
        self.is_closed = not read
        self.shown += read.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(read)


@contextmanager
def at_terminal(*arguments: str, environment: Mapping[str, str] | None = None) -> Iterator[Terminal]:
    """Start a command at a terminal of 200 columns; end it with the block."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, b"\x32\x00\xc8\x00\x00\x00\x00\x00")
    variables = {**(os.environ if environment is None else environment), "NO_COLOR": "1", "TERM": "dumb"}
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=variables,
        start_new_session=True,
    )
    os.close(theirs)
    try:
        yield Terminal(process, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)
