"""Entry of our MCP server in an agent's file of servers: merged in and removed again.

Claude Code's file, `.claude.json`, is the client's own notebook and is rewritten all the time: only the entry is
changed, and former bytes are never restored. Called by `agent_extras`; `doctor` compares."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.agent_folders import VARIABLES, agent_folder
from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import project_root
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import json_edit, settings_files, toml_edit
from claude_mem_lite.install.settings_files import NOT_TOUCHED
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import HOME_VARIABLE, Home
from claude_mem_lite.values import frozen

SERVER_NAME = "claude-mem-lite"
"""Also the name of the program that serves."""
_EMPTY_JSON = "{}\n"
_MAX_GAP_LENGTH = 2
_MORE_OF_ENTRY: Mapping[str, tuple[JsonObject, JsonObject]] = {
    CLAUDE_CODE: ({"type": "stdio"}, {}),
    "copilot": ({"type": "local"}, {"tools": ["*"]}),
}
"""Keys of a server's entry that only one agent needs, before and after the common keys."""
State = Literal["absent", "current", "other", "foreign"]


@frozen
class ServerLocation:
    """Position of an entry: a file, and the object in it that holds servers by name."""

    path: Path
    inside: tuple[str, ...]
    agent: str = CLAUDE_CODE

    @property
    def is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    def describe(self) -> str:
        where = f" for {self.inside[1]}" if len(self.inside) > 1 else ""
        return f"{self.path}{where}"


@frozen
class ServerChange:
    """Planned change of the file; `after` is None if the file stays unchanged."""

    location: ServerLocation
    before: bytes | None
    after: bytes | None
    state: State
    existing_depth: int | None = None
    """Number of the objects on the path to the entry that existed before, in TOML the number of line ends put before
    it; None if nothing is added."""
    lost: tuple[str, ...] = ()
    """Keys that the user had added to a removed entry."""


def location_of(
    scope: str, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None
) -> ServerLocation:
    """Return the client's place for the servers of a user, or of a user in one project (2.1.325), by default the
    current folder.

    Not a project's `.mcp.json`: everybody with the repository shares that file, and our entry holds paths of this
    machine. The client knows a project by the root of its repository."""
    folder = agent_folder(CLAUDE_CODE, environment, config_dir)
    is_default = not environment.get(VARIABLES[CLAUDE_CODE]) and folder == agent_folder(CLAUDE_CODE, {})
    path = (Path.home() if is_default else folder) / ".claude.json"
    if scope == "user":
        return ServerLocation(path, ("mcpServers",))
    return ServerLocation(path, ("projects", str(project_root(project or Path.cwd())), "mcpServers"))


def entry(home: Home, agent: str = CLAUDE_CODE) -> JsonObject:
    """Return the entry that starts the server. Without `alwaysLoad`: tools are found by name when needed, and other
    sessions pay nothing for their descriptions."""
    is_default = home.root == Path.home() / ".claude-mem-lite"
    first, last = _MORE_OF_ENTRY.get(agent, ({}, {}))
    env: JsonObject = {} if is_default else {HOME_VARIABLE: str(home.root)}
    return {**first, "command": str(_program()), "args": ["mcp"], "env": env, **last}


def plan_adding(location: ServerLocation, wanted: JsonObject) -> ServerChange:
    """Plan the addition without any change. A foreign entry with our name stays."""
    path = settings_files.real_path(location.path)
    before = settings_files.read(path)
    if location.is_toml:
        return _plan_adding_toml(location, path, before, wanted)
    text = _text(path, before)
    existing = _servers(path, text, location.inside).get(SERVER_NAME)
    state = _state(existing, wanted)
    if state in ("current", "foreign"):
        return ServerChange(location, before, None, state)
    if state == "other":
        wanted = _with_user_keys(wanted, existing)
        text = _without(text, location.inside, len(location.inside))
    depth = _depth(text, location.inside)
    return ServerChange(
        location, before, settings_files.encoded(path, _with(text, location.inside, wanted)), state, depth
    )


def plan_removing(location: ServerLocation, existing_depth: int) -> ServerChange:
    """Plan the removal of the entry, with the objects that an install made and that are empty now."""
    return plan_removing_from(location, settings_files.read(settings_files.real_path(location.path)), existing_depth)


def plan_removing_from(location: ServerLocation, before: bytes | None, existing_depth: int) -> ServerChange:
    """Plan the removal for a file with this content."""
    path = settings_files.real_path(location.path)
    if before is None:
        return ServerChange(location, None, None, "absent")
    if location.is_toml:
        return _plan_removing_toml(location, path, before, existing_depth)
    text = _text(path, before)
    existing = _servers(path, text, location.inside).get(SERVER_NAME)
    if not _is_ours(existing):
        return ServerChange(location, before, None, "absent" if existing is None else "foreign")
    after = settings_files.encoded(path, _without(text, location.inside, existing_depth))
    return ServerChange(location, before, after, "current", lost=_user_keys(existing))


def apply(change: ServerChange) -> None:
    """Write the planned change, if the file is unchanged."""
    if change.after is not None:
        path = settings_files.real_path(change.location.path)
        settings_files.make_folders(path.parent)
        settings_files.replace(path, change.before, change.after)


def is_named(location: ServerLocation) -> bool:
    """Return whether a file names our server, in any form."""
    return SERVER_NAME.encode() in (settings_files.read(settings_files.real_path(location.path)) or b"")


def is_empty(content: bytes) -> bool:
    """Return whether a file has no content left."""
    return content.strip() in (b"{}", b"")


def _plan_adding_toml(location: ServerLocation, path: Path, before: bytes | None, wanted: JsonObject) -> ServerChange:
    text = settings_files.decoded(path, before)
    try:
        existing = toml_edit.servers(text).get(SERVER_NAME)
        if existing is None:
            after = toml_edit.append(text, SERVER_NAME, wanted)
            return ServerChange(
                location, before, settings_files.encoded(path, after), "absent", len(toml_edit.gap_before(text))
            )
        if not _is_ours(existing):
            return ServerChange(location, before, None, "foreign")
        merged = _with_user_keys(wanted, existing)
        if {key: value for key, value in merged.items() if value != {}} == existing:
            return ServerChange(location, before, None, "current")
        after = toml_edit.update(text, SERVER_NAME, {key: merged[key] for key in wanted})
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    return ServerChange(location, before, settings_files.encoded(path, after), "other")


def _plan_removing_toml(location: ServerLocation, path: Path, before: bytes, existing_depth: int) -> ServerChange:
    text = settings_files.decoded(path, before)
    try:
        existing = toml_edit.servers(text).get(SERVER_NAME)
        if not _is_ours(existing):
            return ServerChange(location, before, None, "absent" if existing is None else "foreign")
        after = toml_edit.remove(text, SERVER_NAME, existing_depth if existing_depth <= _MAX_GAP_LENGTH else 1)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    return ServerChange(location, before, settings_files.encoded(path, after), "current", lost=_user_keys(existing))


def _program() -> Path:
    """Return the installed command: beside the running interpreter, else as called, else on the path."""
    beside = Path(sys.executable).parent / SERVER_NAME
    called = Path(sys.argv[0]).absolute() if sys.argv and Path(sys.argv[0]).name == SERVER_NAME else None
    for candidate in (beside, called):
        if candidate is not None and os.access(candidate, os.X_OK):
            return candidate
    if path := shutil.which(SERVER_NAME):
        return Path(path).absolute()
    raise MemoryLiteError("the command claude-mem-lite was not found beside its Python", "install the package again")


def _state(existing: JsonValue, wanted: JsonObject) -> State:
    if existing is None:
        return "absent"
    if not _is_ours(existing):
        return "foreign"
    return "current" if _with_user_keys(wanted, existing) == existing else "other"


def _is_ours(existing: JsonValue) -> bool:
    """Return whether an entry with our name runs our server, of any version or place; the user may have added keys."""
    if not isinstance(existing, dict):
        return False
    command, arguments = existing.get("command"), existing.get("args")
    return isinstance(command, str) and Path(command).name == SERVER_NAME and arguments == ["mcp"]


def _with_user_keys(wanted: JsonObject, existing: JsonValue) -> JsonObject:
    """Return the wanted entry with the user's additions: `alwaysLoad`, say, or a variable."""
    known = existing if isinstance(existing, dict) else {}
    env, wanted_env = known.get("env"), wanted.get("env")
    added = {name: value for name, value in env.items() if name != HOME_VARIABLE} if isinstance(env, dict) else {}
    return {**known, **wanted, "env": {**added, **(wanted_env if isinstance(wanted_env, dict) else {})}}


def _user_keys(existing: JsonValue) -> tuple[str, ...]:
    known = existing if isinstance(existing, dict) else {}
    env = known.get("env")
    variables = env if isinstance(env, dict) else {}
    return (
        *(key for key in known if key not in ("type", "command", "args", "env", "tools")),
        *(f"env.{name}" for name in variables if name != HOME_VARIABLE),
    )


def _with(text: str, inside: Sequence[str], wanted: JsonObject) -> str:
    depth = _depth(text, inside)
    *outer, key = (*inside[depth:], SERVER_NAME)
    value: JsonValue = wanted
    for name in reversed((*outer, key)[1:]):
        value = {name: value}
    return json_edit.append(text, list(inside[:depth]), (*outer, key)[0], value)


def _depth(text: str, inside: Sequence[str]) -> int:
    """Return the number of existing objects on the path to an entry."""
    return next((depth for depth, key in enumerate(inside) if key not in _object(text, inside[:depth])), len(inside))


def _without(text: str, inside: Sequence[str], existing_depth: int) -> str:
    """Return the text without our entry, and without the empty objects from a depth on."""
    text = json_edit.remove(text, list(inside), SERVER_NAME)
    for depth in range(len(inside), existing_depth, -1):
        if _object(text, inside[:depth]):
            break
        text = json_edit.remove(text, list(inside[: depth - 1]), inside[depth - 1])
    return text


def _object(text: str, path: Sequence[str]) -> JsonObject:
    value = json_edit.find(text, list(path)).value
    return value if isinstance(value, dict) else {}


def _servers(path: Path, text: str, inside: Sequence[str]) -> JsonObject:
    """Return the servers at a path; SettingsError for another form."""
    try:
        value = json_edit.parse(text).value
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} was left alone: it is not valid JSON ({error})", NOT_TOUCHED) from error
    for key in inside:
        value = _as_object(path, value).get(key, {})
    return _as_object(path, value)


def _as_object(path: Path, value: JsonValue) -> JsonObject:
    if not isinstance(value, dict):
        raise SettingsError(f"{path} was left alone: where its MCP servers should be is no object", NOT_TOUCHED)
    return value


def _text(path: Path, content: bytes | None) -> str:
    text = settings_files.decoded(path, content)
    return text if text.strip("\ufeff \t\r\n") else _EMPTY_JSON
