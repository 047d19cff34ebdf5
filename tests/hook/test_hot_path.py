"""What a real hook imports and calls: its speed is the imports it does without."""

import os
import subprocess
from collections.abc import Callable

import pytest

from claude_mem_lite.paths import Home
from tests.hook.conftest import GUARD_S, LAUNCHER, PYTHON, Answer, Hooks, Worker, reply

PROBE = """
import posix, sys

def note(event, args):
    if event == "import":
        posix.write({fd}, b"import %b\\n" % args[0].encode())
    if event == "socket.connect":
        posix.write({fd}, b"loaded %b\\n" % " ".join(sys.modules).encode())

def profile(frame, event, function):
    if event == "c_call" and function.__name__ in ("fsync", "rename", "fork"):
        posix.write({fd}, b"call %b\\n" % function.__name__.encode())

sys.argv = ["hook.py", *{event!r}.split()]
with open({launcher!r}) as file:
    code = compile(file.read(), {launcher!r}, "exec")
posix.write({fd}, b"loaded %b\\n" % " ".join(sys.modules).encode())
sys.addaudithook(note)
sys.setprofile(profile)
exec(code, {{"__name__": "__main__", "__file__": {launcher!r}}})
"""
DEAR = {"json", "re", "os", "socket", "sqlite3", "pathlib", "logging", "site"}


def observe(hooks: Hooks, event: str, payload: bytes = b"{}") -> list[str]:
    """What the launcher, run for `event` and its arguments as by an agent, imported and called."""
    reading, writing = os.pipe()
    code = PROBE.format(fd=writing, event=event, launcher=str(LAUNCHER))
    subprocess.run(
        [PYTHON, "-I", "-S", "-c", code],
        input=payload,
        stdout=subprocess.DEVNULL,
        env=hooks.environment(),
        pass_fds=[writing],
        timeout=GUARD_S,
        check=True,
    )
    os.close(writing)
    with open(reading) as file:
        return file.read().splitlines()


def imported(lines: list[str]) -> set[str]:
    return {line.removeprefix("import ") for line in lines if line.startswith("import ")}


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "Stop"])
def test_a_hook_with_the_worker_up_imports_its_kernel_and_sockets_only(
    hooks: Hooks, listen: Callable[[Answer], Worker], event: str
) -> None:
    worker = listen(reply("200 OK", b"{}"))
    lines = observe(hooks, event, b'{"cwd": "/private/tmp", "text": "private"}')
    assert imported(lines) == {"kernel", "_socket"}
    before, after = (set(line.split()[1:]) for line in lines if line.startswith("loaded "))
    assert after - before == {"kernel", "_socket"}
    assert not after & DEAR
    assert len(after) < 40
    worker.stop()
    assert worker.lines[0] == f"POST /hook/{event} HTTP/1.1"


def test_starting_the_worker_adds_the_starter_and_its_lock_only(hooks: Hooks, home: Home) -> None:
    home.make()
    home.worker_python.symlink_to("/nonexistent/python")
    lines = observe(hooks, "PostToolUse")
    assert imported(lines) == {"kernel", "_socket", "fcntl", "spawn_worker"}
    assert "call fork" in lines


def test_a_fallback_place_adds_the_checksum_only(hooks: Hooks, home: Home) -> None:
    home.root.touch()
    assert imported(observe(hooks, "PostToolUse")) == {"kernel", "zlib"}


@pytest.mark.parametrize("event", ["Stop", "StopFailure", "SessionEnd"])
def test_the_end_of_a_turn_is_on_disk_before_it_is_moved(hooks: Hooks, event: str) -> None:
    calls = [line for line in observe(hooks, event) if line.startswith("call ")]
    assert calls == ["call fsync", "call rename"]


@pytest.mark.parametrize("event", ["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStop"])
def test_other_events_do_not_wait_for_the_disk(hooks: Hooks, event: str) -> None:
    assert "call fsync" not in observe(hooks, event)
