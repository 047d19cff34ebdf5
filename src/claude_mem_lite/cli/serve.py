"""The command that serves an agent: mcp."""

import click


@click.command(short_help="Serve an agent that asks for memories (MCP).")
def mcp() -> int:
    """Serve an agent that asks for memories (MCP).

    Speaks the Model Context Protocol on standard input and output until the input ends. Agents start it
    themselves; `install` registers it. It serves the project of the current folder, or of CLAUDE_PROJECT_DIR, and
    starts the worker when a tool needs it.

    \b
    Examples:
      claude-mem-lite mcp
      echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | claude-mem-lite mcp
    """
    from claude_mem_lite.mcp.server import main

    return main()
