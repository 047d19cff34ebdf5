"""Commands that serve: `mcp` serves an agent, `ui` serves the page."""

import os
import sys
import threading
from contextlib import ExitStack

import click

from claude_mem_lite.cli.options import WholeNumber, connect
from claude_mem_lite.paths import current_folder


@click.command(short_help="Serve memories to an agent (MCP).")
def mcp() -> int:
    """Serve memories to an agent (MCP).

    Speaks the Model Context Protocol on standard input and output until the input ends. Agents start this command
    themselves; `install` registers it. It serves the project of the current folder, or of CLAUDE_PROJECT_DIR, and
    starts the worker when a tool needs the worker.

    \b
    Examples:
      claude-mem-lite mcp
      echo '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}' | claude-mem-lite mcp
    """
    from claude_mem_lite.mcp.server import main

    return main()


@click.command(short_help="See, search and correct all memories in your browser.")
@click.option(
    "--port",
    metavar="N",
    type=WholeNumber(0, 65535),
    default=0,
    help="The port to listen on; any free one if not given.",
)
@click.option("--no-open", is_flag=True, help="Print the link only.")
def ui(port: int, no_open: bool) -> None:
    """See, search and correct all memories in your browser.

    Serves a page on this machine alone, until you press Ctrl-C. The page begins with the project of the current folder.
    A link opens the page once, in one browser; after its use the next link is printed. Anyone with an unused link can
    read and change your memories, so keep it to yourself.

    \b
    Examples:
      claude-mem-lite ui
      claude-mem-lite ui --no-open --port 8765
    """
    from claude_mem_lite.ui.process import link_file, open_browser, serve

    client = connect()
    with ExitStack() as until_the_end:

        def opened(link: str) -> None:
            click.echo(f"The page is at {link}\nPress Ctrl-C to end it.")
            if no_open:
                return
            address = until_the_end.enter_context(link_file(client.home, link))
            open_browser(address, lambda: click.echo("No browser was found: open the link yourself.", err=True))

        serve(client, port, opened, lambda link: click.echo(f"Opened. For another browser: {link}"), current_folder())
    if threading.active_count() > 1:
        # Somebody still waits for a worker that does not answer; nobody wants to wait for that.
        sys.stdout.flush()
        os._exit(0)
