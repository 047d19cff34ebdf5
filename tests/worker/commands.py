"""Commands as a person runs them on a machine, but in this process: to start Python for each takes ten times as long.

What is about the program itself (its signals, its pipes, its terminal, its end) starts it."""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from tests.support.fake_worker import run
from tests.support.running import Machine


def run_here(
    machine: Machine,
    *arguments: str | Path,
    cwd: str | Path | None = None,
    status: int = 0,
    more: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    """What `Machine.run` does: a command to its end, in a folder or else the user's, with more in its environment."""
    done = run_raw_here(machine, *arguments, cwd=cwd, status=status, more=more)
    return subprocess.CompletedProcess(done.args, status, done.stdout.decode(), done.stderr.decode())


def run_raw_here(
    machine: Machine,
    *arguments: str | Path,
    cwd: str | Path | None = None,
    status: int = 0,
    given: bytes = b"",
    more: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[bytes]":
    """The same with bytes, some of them on its standard input."""
    out, err = _stream(), _stream()
    standing = _standing_in(machine, cwd or machine.user_home, more)
    with standing, _reading(given), redirect_stdout(out), redirect_stderr(err):
        ended = run(*map(str, arguments))
    done = subprocess.CompletedProcess(arguments, ended, _written(out), _written(err))
    assert ended == status, done.stderr
    return done


def _stream(given: bytes = b"") -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")


def _written(stream: io.TextIOWrapper) -> bytes:
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue()


@contextmanager
def _reading(given: bytes) -> Iterator[None]:
    before, sys.stdin = sys.stdin, _stream(given)
    try:
        yield
    finally:
        sys.stdin = before


@contextmanager
def _standing_in(machine: Machine, folder: str | Path, more: Mapping[str, str] | None) -> Iterator[None]:
    """The environment and the folder that a process of this machine would have."""
    before, theirs = dict(os.environ), machine.environment(more)
    try:
        os.environ.clear()
        os.environ.update(theirs)
        with chdir(folder):
            yield
    finally:
        os.environ.clear()
        os.environ.update(before)
