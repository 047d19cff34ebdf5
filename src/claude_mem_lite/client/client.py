"""Typed calls to the worker, for the command line, `doctor`, the MCP server and the page. Opens no database."""

from claude_mem_lite.client.admin import Administration
from claude_mem_lite.client.reads import MemoryReads
from claude_mem_lite.client.team import TeamCalls
from claude_mem_lite.client.transfers import Transfers
from claude_mem_lite.client.writes import MemoryWrites


class Client(MemoryReads, MemoryWrites, Transfers, TeamCalls, Administration):
    """Client of the worker of one home. Every call raises WorkerUnavailable if no worker answers."""

    __slots__ = ()
