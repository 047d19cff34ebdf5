"""Result of one `doctor` check: name, state, finding and next step."""

from typing import Literal

from claude_mem_lite.models import JsonObject
from claude_mem_lite.values import frozen

State = Literal["ok", "warn", "fail"]
Name = Literal[
    "sqlite",
    "python",
    "data folder",
    "permissions",
    "hooks",
    "plugin",
    "switch",
    "MCP server",
    "MCP permission",
    "skill",
    "hook",
    "worker python",
    "worker",
    "socket",
    "queue",
    "search by meaning",
    "composer",
    "lessons",
    "model",
    "spend",
    "team",
    "guards",
    "inbox.db",
    "memory.db",
    "word index",
    "backups",
    "recovery",
    "spool",
    "disk",
    "clock",
    "configuration",
    "project file",
    "synonyms",
    "other memory tools",
]
"""docs/troubleshooting.md explains each name."""
INSTALL = "run `claude-mem-lite install`"
PREPARE = "run `claude-mem-lite plugin --prepare`"
"""The same for users of the plugin: `install` would give the agent everything twice."""
FIX = "run `claude-mem-lite doctor --fix`"


@frozen
class Check:
    """Result of one check."""

    name: Name
    state: State
    found: str
    next_step: str = ""


def as_json(check: Check) -> JsonObject:
    return {"name": check.name, "state": check.state, "found": check.found, "next_step": check.next_step}
