"""An agent that calls tools: on the official SDK, whose client starts `claude-mem-lite mcp` and speaks to it over
stdio, or by the same lines to a server in this process, which takes a twentieth of the time."""

import io
import json
import sys
from collections.abc import Awaitable, Callable, Mapping
from contextlib import chdir
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import anyio
from mcp.client.client import Client
from mcp_types import CallToolResult, TextContent

from claude_mem_lite.mcp.server import serve
from claude_mem_lite.mcp.tool_handlers import CALL_S, Tools
from mcp import StdioServerParameters
from tests.support.running import Json, Machine

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
        """A conversation of the SDK's client with a server of its own, from its start to its end."""
        self._see_to_worker()
        server = StdioServerParameters(command=str(COMMAND), args=["mcp"], env=self._environment(), cwd=self.folder)

        async def run() -> Result:
            async with Client(server, mode=mode, read_timeout_seconds=60) as client:
                return await conversation(client)

        return anyio.run(run)

    def calls_by_sdk(self, *wanted: tuple[str, Json]) -> list[Told]:
        """Some tools, one after the other, of one server that the SDK's client has started."""

        async def conversation(client: Client) -> list[Told]:
            return [told(await client.call_tool(tool, given)) for tool, given in wanted]

        return self.talk(conversation)

    def call(self, tool: str, **given: Json) -> Told:
        """One tool, with a server of its own in this process."""
        return self.calls((tool, given))[0]

    def calls(self, *wanted: tuple[str, Json], call_s: float = CALL_S) -> list[Told]:
        """Some tools, one after the other, of one server in this process."""
        self._see_to_worker()
        requests = [
            {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": {"name": tool, "arguments": given}}
            for id_, (tool, given) in enumerate(wanted)
        ]
        replies = io.BytesIO()
        with chdir(self.folder):
            asked = io.BytesIO("".join(f"{json.dumps(one)}\n" for one in requests).encode())
            assert serve(asked, replies, Tools(self.machine.home, self._environment(), call_s).call) == 0
        results = [json.loads(line)["result"] for line in replies.getvalue().splitlines()]
        return [Told(one["content"][0]["text"], one["isError"]) for one in results]

    def _see_to_worker(self) -> None:
        if self.finds_worker and not self.machine.is_served():
            self.machine.start_worker()
            self.machine.drain()  # what was planted is found when it is indexed

    def _environment(self) -> dict[str, str]:
        session = {"CLAUDE_CODE_SESSION_ID": self.session} if self.session else {}
        return self.machine.environment({**session, **self.more})


def told(result: CallToolResult) -> Told:
    (content,) = result.content
    assert isinstance(content, TextContent)
    return Told(content.text, bool(result.is_error))
