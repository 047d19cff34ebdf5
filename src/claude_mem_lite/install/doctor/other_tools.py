"""Other memory tools on this machine: found by their folders, hooks, plugins and servers, and only named.

They may well stay. Whoever has two is told, because each gives context of its own and each captures the same work."""

import json
import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import settings_files
from claude_mem_lite.install.doctor.check import Check
from claude_mem_lite.models import JsonValue


@dataclass(frozen=True, slots=True)
class Tool:
    """How one of them is known: folders in the user's home, and words in commands and names."""

    name: str
    folders: tuple[str, ...]
    words: tuple[str, ...]


TOOLS = (
    Tool("claude-mem", (".claude-mem",), ("claude-mem",)),
    Tool("mem0", (".mem0", ".openmemory"), ("mem0", "openmemory")),
    Tool("MemPalace", (".mempalace",), ("mempalace",)),
    Tool("cognee", (".cognee",), ("cognee", "cognee-mcp")),
    Tool("Hindsight", (".hindsight",), ("hindsight", "hindsight-memory")),
    Tool("memsearch", (".memsearch",), ("memsearch",)),
    Tool("agentmemory", (".agentmemory",), ("agentmemory",)),
    Tool("memesh", (".memesh",), ("memesh",)),
    Tool("deja-vu", (".deja-vu",), ("deja-vu",)),
    Tool("Basic Memory", (".basic-memory",), ("basic-memory",)),
    Tool("Letta", (".letta",), ("letta",)),
    Tool("supermemory", (".supermemory",), ("supermemory", "claude-supermemory")),
    Tool("the MCP reference memory server", (), ("server-memory",)),
)
_SIDE_BY_SIDE = "they can stay; each gives context of its own, so use one if prompts grow too long"
_OF_CLAUDE_MEM = "`claude-mem-lite import claude-mem` brings its memories in"
# Where agents keep hooks, servers and plugins, below the user's home.
_JSON_FILES = (
    ".claude/settings.json",
    ".claude.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".cursor/hooks.json",
    ".cursor/mcp.json",
    ".copilot/mcp-config.json",
)
_TOML_FILES = (".codex/config.toml",)
_PARTS = ("hooks", "mcpServers", "mcp_servers", "enabledPlugins")


def check_neighbours(user: Path, folders: Sequence[Path]) -> Check:
    """The other memory tools of a user; `folders` are those of Claude Code where we are installed."""
    words = sorted({*_said(user), *(word for folder in folders for word in _words(folder / "settings.json"))})
    found = [told for tool in TOOLS if (told := _signs(tool, user, words))]
    if not found:
        return Check("other memory tools", "ok", "none found")
    steps = [_SIDE_BY_SIDE, *([_OF_CLAUDE_MEM] if (user / ".claude-mem").is_dir() else [])]
    return Check("other memory tools", "ok", "; ".join(found), "; ".join(steps))


def _signs(tool: Tool, user: Path, words: Sequence[str]) -> str:
    """Where a tool was found, in words; '' when it was not."""
    places = [f"~/{name}" for name in tool.folders if (user / name).is_dir()]
    # Not inside a longer name: ours begins with the name of another.
    sign = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tool.words))})(?![\w-])", re.I)
    is_used = any(sign.search(word) for word in words)
    return (
        f"{tool.name} ({', '.join([*places, *(['in the settings of an agent'] if is_used else [])])})"
        if (places or is_used)
        else ""
    )


def _said(user: Path) -> Iterator[str]:
    for name in _JSON_FILES:
        yield from _words(user / name)
    for name in _TOML_FILES:
        with suppress(SettingsError, ValueError, RecursionError):
            yield from _of(tomllib.loads((settings_files.read(user / name) or b"").decode("utf-8")))


def _words(path: Path) -> Iterator[str]:
    with suppress(SettingsError, ValueError, RecursionError):
        yield from _of(json.loads(settings_files.read(path) or b"{}"))


def _of(settings: JsonValue) -> Iterator[str]:
    """The commands and names that stand where hooks, servers and plugins are told; not what the agent noted besides."""
    waiting: list[JsonValue] = [settings.get(part) for part in _PARTS] if isinstance(settings, dict) else []
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            yield from (str(name) for name, value in one.items() if value is not False)
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
