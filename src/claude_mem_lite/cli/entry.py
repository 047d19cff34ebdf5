"""Where the installed programs begin. Agents start `mcp` with every session and wait for it: it goes round the rest."""

import os
import sys


def run() -> None:
    """Entry point of `claude-mem-lite`."""
    _refuse_windows("claude-mem-lite")
    if sys.argv[1:] == ["mcp"]:
        from claude_mem_lite.mcp.server import main

        sys.exit(main())
    from claude_mem_lite.cli.main import run as run_command

    run_command()


def run_worker() -> None:
    """Entry point of `claude-mem-worker`, which is `claude-mem-lite worker`."""
    _refuse_windows("claude-mem-worker")
    from claude_mem_lite.cli.main import run_worker as run_command

    run_command()


def _refuse_windows(program: str) -> None:
    """Before anything is imported that only exists elsewhere: a sentence helps, a stack trace does not."""
    if os.name != "posix":
        sys.exit(f"{program}: native Windows is not supported; install it inside WSL, together with your agent")
