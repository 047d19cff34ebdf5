"""Where `claude-mem-lite` begins. Agents start `mcp` with every session and wait for it: it goes around the rest."""

import sys


def run() -> None:
    """Entry point of `claude-mem-lite`."""
    if sys.argv[1:] == ["mcp"]:
        from claude_mem_lite.mcp.server import main

        sys.exit(main())
    from claude_mem_lite.cli.main import run as run_command

    run_command()
