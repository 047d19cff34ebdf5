"""Checks of the Pythons of program, hook and worker and of their SQLite, and detection of other memory tools.

Other tools may stay. The user is told because each tool injects its own context and captures the same work."""

import json
import os
import platform
import re
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import claude_mem_lite
from claude_mem_lite import __version__, hook_program
from claude_mem_lite.client.worker_process import worker_interpreter
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import interpreter, settings_files
from claude_mem_lite.install.doctor.check import INSTALL, Check
from claude_mem_lite.models import JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

OLDEST_SQLITE = (3, 35)
OLDEST_PYTHON = (3, 11)


@frozen
class Tool:
    """Signs of one tool: folders in the user's home, and words in commands and names."""

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
# Files with hooks, servers and plugins of agents, below the user's home.
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


def check_other_tools(user: Path, folders: Sequence[Path]) -> Check:
    """Check for other memory tools of a user; `folders` are folders of Claude Code with our install."""
    words = sorted({*_all_words(user), *(word for folder in folders for word in _words(folder / "settings.json"))})
    texts = [text for tool in TOOLS if (text := _signs(tool, user, words))]
    if not texts:
        return Check("other memory tools", "ok", "none found")
    steps = [_SIDE_BY_SIDE, *([_OF_CLAUDE_MEM] if (user / ".claude-mem").is_dir() else [])]
    return Check("other memory tools", "ok", "; ".join(texts), "; ".join(steps))


def _signs(tool: Tool, user: Path, words: Sequence[str]) -> str:
    """Return the places of a tool in words; '' if not found."""
    places = [f"~/{name}" for name in tool.folders if (user / name).is_dir()]
    # Not inside a longer name: our name begins with another tool's name.
    sign = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, tool.words))})(?![\w-])", re.I)
    is_used = any(sign.search(word) for word in words)
    return (
        f"{tool.name} ({', '.join([*places, *(['in the settings of an agent'] if is_used else [])])})"
        if (places or is_used)
        else ""
    )


def _all_words(user: Path) -> Iterator[str]:
    for name in _JSON_FILES:
        yield from _words(user / name)
    for name in _TOML_FILES:
        with suppress(SettingsError, ValueError, RecursionError):
            yield from _names_in(tomllib.loads((settings_files.read(user / name) or b"").decode("utf-8")))


def _words(path: Path) -> Iterator[str]:
    with suppress(SettingsError, ValueError, RecursionError):
        yield from _names_in(json.loads(settings_files.read(path) or b"{}"))


def _names_in(settings: JsonValue) -> Iterator[str]:
    """Yield the commands and names of hooks, servers and plugins, not other notes of the agent."""
    waiting: list[JsonValue] = [settings.get(part) for part in _PARTS] if isinstance(settings, dict) else []
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            yield from (str(name) for name, item in value.items() if item is not False)
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value


def check_sqlite() -> Check:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        return Check("sqlite", "fail", f"version {version} is too old", "use a Python with SQLite 3.35 or newer")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("create virtual table words using fts5(word)")
    except sqlite3.Error:
        return Check("sqlite", "fail", f"version {version} lacks FTS5", "use a Python whose SQLite has FTS5")
    finally:
        connection.close()
    return Check("sqlite", "ok", f"version {version} with FTS5")


def check_python() -> Check:
    """Check the Python of this program, and the Python behind it, without venv or shim, that runs hooks."""
    version = f"{platform.python_implementation()} {platform.python_version()}"
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", "fail", f"{version} is too old", "install the package with Python 3.11 or newer")
    try:
        base = interpreter.base_interpreter()
    except MemoryLiteError as error:
        return Check("python", "fail", f"{version}: {error.message}", error.next_step)
    return Check("python", "ok", f"{version}, hooks can run with {base}")


def is_installed_from(home: Home) -> bool:
    """Return whether the home has or had a hook program and its links: `doctor --fix` makes them again."""
    return home.installs.is_dir() or home.hook_program.exists() or home.hook_python.is_symlink()


def check_hook_python(home: Home, setup: str = INSTALL) -> Check:
    """Check that a hook runs; `setup` is the step that makes its links and its program."""
    if not home.hook_python.is_symlink():
        return Check("hook", "fail", f"the link {home.hook_python} is missing", setup)
    if trouble := interpreter.try_hook(home):
        return Check("hook", "fail", trouble, setup)
    if not hook_program.is_current(home):
        return Check("hook", "warn", "the hook program is of another version", setup)
    if home.hook_python.read_bytes()[:2] == b"#!":
        return Check("hook", "warn", f"{home.hook_python} leads to a script, which makes hooks slow", setup)
    return Check("hook", "ok", f"runs with {os.readlink(home.hook_python)}")


def check_worker_python(home: Home, setup: str = INSTALL) -> Check:
    chosen = worker_interpreter(home)
    if not home.worker_python.is_symlink() or os.readlink(home.worker_python) != chosen:
        return Check("worker python", "fail", f"the link {home.worker_python} is missing or leads nowhere", setup)
    program = "import claude_mem_lite; print(claude_mem_lite.__version__); print(claude_mem_lite.__file__)"
    ran = subprocess.run([chosen, "-I", "-c", program], capture_output=True, check=False)
    version, _, package = ran.stdout.decode(errors="replace").strip().partition("\n")
    if ran.returncode != 0:
        return Check("worker python", "fail", f"{chosen} does not have this package", setup)
    if version != __version__:
        return Check("worker python", "warn", f"{chosen} has version {version}, this is {__version__}", setup)
    if os.path.realpath(package) != os.path.realpath(claude_mem_lite.__file__):
        return Check("worker python", "warn", f"{chosen} is of another installation than this program", setup)
    return Check("worker python", "ok", chosen)
