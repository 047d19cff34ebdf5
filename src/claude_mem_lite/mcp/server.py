"""MCP server of `claude-mem-lite mcp`: an agent on stdin and stdout, a message a line, until stdin ends.

An agent starts the server with every session and waits for the list of tools, so hardly anything is imported before the
first call of a tool. Only the protocol writes to stdout.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, BinaryIO

from claude_mem_lite.mcp.protocol import Reply, ToolAnswer, reply_to, too_long

if TYPE_CHECKING:
    from claude_mem_lite.mcp.protocol import Call
    from claude_mem_lite.mcp.tool_handlers import Tools
    from claude_mem_lite.models import JsonObject

MAX_LINE_LENGTH = 1024 * 1024
_PIECE = 64 * 1024


def main() -> int:
    """Serve the agent of this process, and return the exit status."""
    lines, replies = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # whatever is printed by mistake is no message
    try:
        return serve(lines, replies, call_tool)
    except KeyboardInterrupt:
        return 130
    finally:
        _close(replies)


def serve(lines: BinaryIO, replies: BinaryIO, call: "Call") -> int:
    """Answer until nobody asks any more, or nobody listens."""
    while line := lines.readline(MAX_LINE_LENGTH):
        if len(line) == MAX_LINE_LENGTH and not line.endswith(b"\n"):
            _pass_over_line(lines)
            reply = too_long()
        else:
            reply = reply_to(line, call) if line.strip() else Reply()
        if not reply.line:
            continue
        try:
            replies.write(reply.line.encode("ascii") + b"\n")
            replies.flush()
        except (BrokenPipeError, ConnectionResetError):
            return 0
        for action in reply.when_sent:
            action()
    return 0


def call_tool(name: str, given: "JsonObject") -> ToolAnswer:
    """Call a tool; the modules of tools are imported at the first call."""
    return _tools().call(name, given)


@cache
def _tools() -> "Tools":
    from claude_mem_lite.mcp.tool_handlers import tools_of_this_process

    return tools_of_this_process()


def _pass_over_line(lines: BinaryIO) -> None:
    while (piece := lines.readline(_PIECE)) and not piece.endswith(b"\n"):
        pass


def _close(replies: BinaryIO) -> None:
    """Close the output without an error, also when nobody reads the rest."""
    with suppress(BrokenPipeError, ConnectionResetError):
        replies.flush()
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
