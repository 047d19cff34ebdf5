"""Entry points of the installed programs. Agents start `mcp` with every session and wait, so `mcp` skips all other
imports."""

import os
import sys

INTERRUPTED = 130
"""Exit code of a program after Ctrl-C."""


def run() -> None:
    """Entry point of `claude-mem-lite`."""
    _refuse_windows("claude-mem-lite")
    try:
        if sys.argv[1:] == ["mcp"]:
            from claude_mem_lite.mcp.server import main

            sys.exit(main())
        from claude_mem_lite.cli.main import run as run_command

        run_command()
    except KeyboardInterrupt:  # while modules are imported: commands end by themselves
        sys.exit(INTERRUPTED)


def run_worker() -> None:
    """Entry point of `claude-mem-worker`, which is `claude-mem-lite worker`."""
    _refuse_windows("claude-mem-worker")
    try:
        from claude_mem_lite.cli.main import run_worker as run_command

        run_command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _refuse_windows(program: str) -> None:
    """Exit with a sentence on Windows, before the import of a module that Windows lacks would print a stack trace."""
    if os.name != "posix":
        sys.exit(f"{program}: native Windows is not supported; install it inside WSL, together with your agent")
