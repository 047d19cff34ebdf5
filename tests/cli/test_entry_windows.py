"""Native Windows, where half of what is needed does not exist: a sentence instead of a stack trace."""

import subprocess
import sys

import pytest

# What only Unix has cannot be imported there, and the programs must not try to.
AS_ON_WINDOWS = """
import os, sys
os.name = "nt"
for name in ("fcntl", "pwd", "grp", "resource", "termios"):
    sys.modules[name] = None
sys.argv = {argv!r}
from claude_mem_lite.cli.entry import {entry}
{entry}()
"""


@pytest.mark.parametrize(
    ("entry", "argv"),
    [
        ("run", ["claude-mem-lite", "install"]),
        ("run", ["claude-mem-lite", "mcp"]),
        ("run", ["claude-mem-lite", "--help"]),
        ("run_worker", ["claude-mem-worker", "start"]),
    ],
    ids=["install", "mcp", "help", "worker"],
)
def test_native_windows_gets_a_clear_word(entry: str, argv: list[str]) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AS_ON_WINDOWS.format(entry=entry, argv=argv)], capture_output=True, text=True
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert (
        ran.stderr == f"{argv[0]}: native Windows is not supported; install it inside WSL, together with your agent\n"
    )
