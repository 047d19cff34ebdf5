"""An agent on the official SDK: its client starts `claude-mem-lite mcp` and speaks to it over stdio."""

import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from mcp import StdioServerParameters
from tests.running import Json, Machine

COMMAND = Path(sys.executable).parent / "claude-mem-lite"
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Told:
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent in one folder; `session` is what its client says of itself.

    Unless it `finds_worker`, its server has to start one."""

    machine: Machine
    folder: Path
    session: str = ""
    more: Mapping[str, str] = field(default_factory=dict)
    finds_worker: bool = False

    def talk(self, conversation: Callable[[Client], Awaitable[Result]], mode: str = "auto") -> Result:
        """A conversation with a server of its own, from its start to its end."""
        if self.finds_worker and not self.machine.is_served():
            self.machine.start_worker()
        session = {"CLAUDE_CODE_SESSION_ID": self.session} if self.session else {}
        environment = self.machine.environment({**session, **self.more})
        server = StdioServerParameters(command=str(COMMAND), args=["mcp"], env=environment, cwd=self.folder)

        async def run() -> Result:
            async with Client(server, mode=mode, read_timeout_seconds=60) as client:
                return await conversation(client)

        return anyio.run(run)

    def call(self, tool: str, **given: Json) -> Told:
        """One tool, with a server of its own."""
        return self.calls((tool, given))[0]

    def calls(self, *wanted: tuple[str, Json]) -> list[Told]:
        """Some tools, one after the other, of one server."""

        async def conversation(client: Client) -> list[Told]:
            return [told(await client.call_tool(tool, given)) for tool, given in wanted]

        return self.talk(conversation)


def told(result: CallToolResult) -> Told:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return Told(content.text, bool(result.is_error))
