"""Session of an agent other than Claude Code, as the readers of its files and the builder of turns share it."""

from collections.abc import Sequence
from dataclasses import field
from datetime import UTC, datetime
from typing import Literal

from claude_mem_lite.agents.claude_code import IGNORED_TOOLS
from claude_mem_lite.importers.jsonl_reader import is_deep
from claude_mem_lite.importers.transcript_entries import EPOCH, blocks, sane
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.values import frozen

OF_SUBAGENT = "a sub-agent's own session"
NO_FOLDER = "the folder of the session is unknown"

StepKind = Literal["prompt", "tool", "reply", "stop", "abort", "compact", "end"]


@frozen
class AgentSession:
    """Head of a stored session. `unusable` is the reason not to read the session; '' to read it."""

    agent: str
    id: str
    cwd: str
    branch: str = ""
    began_ns: int = 0
    unusable: str = ""


@frozen
class AgentStep:
    """Step of a session. A prompt and a reply have `text`, a tool call has its payloads in Claude Code's form.

    `stop`: the agent says that the turn is over; `abort`: the user ended it; `end`: the client was left."""

    kind: StepKind
    at_ns: int
    id: str
    cwd: str
    text: str = ""
    turn: str = ""
    """The agent's id of the turn, as its hooks report it; '' without one."""
    calls: Sequence[JsonObject] = field(default=())


def captured(calls: Sequence[JsonObject]) -> tuple[JsonObject, ...]:
    """Return the calls worth storing: no searches, none of the package's own tools, which would feed memory to itself,
    and none with input that is nested too deeply for later steps."""
    named = [(call, text(call.get("tool_name"))) for call in calls if not is_deep(call)]
    return tuple(call for call, tool in named if tool and tool not in IGNORED_TOOLS and not _is_own(tool))


def _is_own(tool: str) -> bool:
    return "claude-mem-lite" in tool.replace("_", "-")


def joined_text(content: JsonValue) -> str:
    """Return the texts of the parts of a message."""
    return "\n".join(part for block in blocks(content) if (part := text(block.get("text"))))


def epoch_ns(milliseconds: JsonValue) -> int:
    """Return a time in milliseconds since 1970 in nanoseconds; 0 for an invalid or impossible time."""
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return 0
    try:
        at = sane(datetime.fromtimestamp(milliseconds / 1000, UTC))
    except (ValueError, OverflowError, OSError):
        return 0
    return int((at - EPOCH).total_seconds() * 1e6) * 1000 if at else 0
