"""The entry by which an agent finds our MCP server: merged into its own file of servers and taken out again.

That of Claude Code, `.claude.json`, is the client's own notebook, which it rewrites all the time: only our entry is
ours, and the bytes of before are never put back. `agent_tools` calls it; `doctor` compares."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.agents.client_settings import project_root
from claude_mem_lite.errors import MemoryLiteError, SettingsError
from claude_mem_lite.install import json_edit, settings_files, toml_edit
from claude_mem_lite.install.settings_files import NOT_TOUCHED
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import HOME_VARIABLE, Home

SERVER_NAME = "claude-mem-lite"
"""Also the name of the program that serves."""
_EMPTY = "{}\n"
_MAX_GAP_LENGTH = 2
_MORE_OF_ENTRY: Mapping[str, tuple[JsonObject, JsonObject]] = {
    CLAUDE_CODE: ({"type": "stdio"}, {}),
    "copilot": ({"type": "local"}, {"tools": ["*"]}),
}
"""What an agent wants to know of a server before and behind what all of them do."""
State = Literal["absent", "current", "other", "foreign"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where an entry stands: a file, and the object in it that holds servers by name."""

    path: Path
    inside: tuple[str, ...]
    agent: str = CLAUDE_CODE

    @property
    def is_toml(self) -> bool:
        return self.path.suffix == ".toml"

    def told(self) -> str:
        where = f" for {self.inside[1]}" if len(self.inside) > 1 else ""
        return f"{self.path}{where}"


@dataclass(frozen=True, slots=True)
class Change:
    """What will become of the file; `after` is None when it stays as it is."""

    place: Place
    before: bytes | None
    after: bytes | None
    state: State
    made_from: int | None = None
    """How many of the objects that lead to the entry were there before, in TOML how many line ends were put before it;
    None when nothing is added."""
    lost: tuple[str, ...] = ()
    """What the user had added to an entry that goes, by name."""


def place_of(scope: str, config_dir: Path | None, environment: Mapping[str, str], project: Path | None = None) -> Place:
    """Where the client looks for the servers of a user, or of a user in one project (2.1.325), which is the current
    folder if no other is named.

    Not in a project's `.mcp.json`: that is for everybody who has the repository, and our entry holds paths of this
    machine. The client knows a project by the root of its repository."""
    chosen = environment.get("CLAUDE_CONFIG_DIR")
    folder = config_dir or (Path(chosen) if chosen else None)
    is_default = folder is None or (not chosen and folder.expanduser().absolute() == Path.home() / ".claude")
    base = Path.home() if is_default or folder is None else folder.expanduser().absolute()
    path = base / ".claude.json"
    if scope == "user":
        return Place(path, ("mcpServers",))
    return Place(path, ("projects", str(project_root(project or Path.cwd())), "mcpServers"))


def entry(home: Home, agent: str = CLAUDE_CODE) -> JsonObject:
    """What starts the server. Without `alwaysLoad`: its tools are found by name when they are needed, and a session
    that does not need them pays nothing for their descriptions."""
    is_default = home.root == Path.home() / ".claude-mem-lite"
    first, last = _MORE_OF_ENTRY.get(agent, ({}, {}))
    env: JsonObject = {} if is_default else {HOME_VARIABLE: str(home.root)}
    return {**first, "command": str(_program()), "args": ["mcp"], "env": env, **last}


def plan_adding(place: Place, wanted: JsonObject) -> Change:
    """See what has to change; touches nothing. An entry of that name that is not ours stays."""
    path = settings_files.real_path(place.path)
    before = settings_files.read(path)
    if place.is_toml:
        return _plan_adding_toml(place, path, before, wanted)
    text = _text(path, before)
    found = _servers(path, text, place.inside).get(SERVER_NAME)
    state = _state(found, wanted)
    if state in ("current", "foreign"):
        return Change(place, before, None, state)
    if state == "other":
        wanted = _with_the_users(wanted, found)
        text = _without(text, place.inside, len(place.inside))
    there = _depth(text, place.inside)
    return Change(place, before, settings_files.encoded(path, _with(text, place.inside, wanted)), state, there)


def plan_removing(place: Place, made_from: int) -> Change:
    """The same for taking it out, with the objects that an install made, as far as nothing else is in them now."""
    return plan_removing_from(place, settings_files.read(settings_files.real_path(place.path)), made_from)


def plan_removing_from(place: Place, before: bytes | None, made_from: int) -> Change:
    """The same for a file that holds this."""
    path = settings_files.real_path(place.path)
    if before is None:
        return Change(place, None, None, "absent")
    if place.is_toml:
        return _plan_removing_toml(place, path, before, made_from)
    text = _text(path, before)
    found = _servers(path, text, place.inside).get(SERVER_NAME)
    if not _is_ours(found):
        return Change(place, before, None, "absent" if found is None else "foreign")
    after = settings_files.encoded(path, _without(text, place.inside, made_from))
    return Change(place, before, after, "current", lost=_added_to(found))


def apply(change: Change) -> None:
    """Write what was planned, if the file is still what it was."""
    if change.after is not None:
        path = settings_files.real_path(change.place.path)
        settings_files.make_folders(path.parent)
        settings_files.replace(path, change.before, change.after)


def is_named(place: Place) -> bool:
    """Whether a file names our server, whatever form it is in."""
    return SERVER_NAME.encode() in (settings_files.read(settings_files.real_path(place.path)) or b"")


def is_empty(content: bytes) -> bool:
    """Whether nothing is left in a file."""
    return content.strip() in (b"{}", b"")


def _plan_adding_toml(place: Place, path: Path, before: bytes | None, wanted: JsonObject) -> Change:
    text = settings_files.decoded(path, before)
    try:
        found = toml_edit.servers(text).get(SERVER_NAME)
        if found is None:
            after = toml_edit.append(text, SERVER_NAME, wanted)
            return Change(place, before, settings_files.encoded(path, after), "absent", len(toml_edit.gap_before(text)))
        if not _is_ours(found):
            return Change(place, before, None, "foreign")
        merged = _with_the_users(wanted, found)
        if {key: value for key, value in merged.items() if value != {}} == found:
            return Change(place, before, None, "current")
        after = toml_edit.update(text, SERVER_NAME, {key: merged[key] for key in wanted})
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    return Change(place, before, settings_files.encoded(path, after), "other")


def _plan_removing_toml(place: Place, path: Path, before: bytes, made_from: int) -> Change:
    text = settings_files.decoded(path, before)
    try:
        found = toml_edit.servers(text).get(SERVER_NAME)
        if not _is_ours(found):
            return Change(place, before, None, "absent" if found is None else "foreign")
        after = toml_edit.remove(text, SERVER_NAME, made_from if made_from <= _MAX_GAP_LENGTH else 1)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    return Change(place, before, settings_files.encoded(path, after), "current", lost=_added_to(found))


def _program() -> Path:
    """The installed command: beside the interpreter that runs this, else as it was called, else on the path."""
    beside = Path(sys.executable).parent / SERVER_NAME
    called = Path(sys.argv[0]).absolute() if sys.argv and Path(sys.argv[0]).name == SERVER_NAME else None
    for candidate in (beside, called):
        if candidate is not None and os.access(candidate, os.X_OK):
            return candidate
    if found := shutil.which(SERVER_NAME):
        return Path(found).absolute()
    raise MemoryLiteError("the command claude-mem-lite was not found beside its Python", "install the package again")


def _state(found: JsonValue, wanted: JsonObject) -> State:
    if found is None:
        return "absent"
    if not _is_ours(found):
        return "foreign"
    return "current" if _with_the_users(wanted, found) == found else "other"


def _is_ours(found: JsonValue) -> bool:
    """Whether an entry of our name runs our server, of whatever version or place; the user may have added keys."""
    if not isinstance(found, dict):
        return False
    command, arguments = found.get("command"), found.get("args")
    return isinstance(command, str) and Path(command).name == SERVER_NAME and arguments == ["mcp"]


def _with_the_users(wanted: JsonObject, found: JsonValue) -> JsonObject:
    """What we want, with what the user added to our entry: `alwaysLoad`, say, or a variable."""
    known = found if isinstance(found, dict) else {}
    env, own = known.get("env"), wanted.get("env")
    added = {name: value for name, value in env.items() if name != HOME_VARIABLE} if isinstance(env, dict) else {}
    return {**known, **wanted, "env": {**added, **(own if isinstance(own, dict) else {})}}


def _added_to(found: JsonValue) -> tuple[str, ...]:
    known = found if isinstance(found, dict) else {}
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
    """How many of the objects that lead to an entry are there."""
    return next((depth for depth, key in enumerate(inside) if key not in _object(text, inside[:depth])), len(inside))


def _without(text: str, inside: Sequence[str], made_from: int) -> str:
    """Without our entry, and without the objects from a depth on that then hold nothing."""
    text = json_edit.remove(text, list(inside), SERVER_NAME)
    for depth in range(len(inside), made_from, -1):
        if _object(text, inside[:depth]):
            break
        text = json_edit.remove(text, list(inside[: depth - 1]), inside[depth - 1])
    return text


def _object(text: str, path: Sequence[str]) -> JsonObject:
    value = json_edit.find(text, list(path)).value
    return value if isinstance(value, dict) else {}


def _servers(path: Path, text: str, inside: Sequence[str]) -> JsonObject:
    """The servers that stand there; SettingsError when something else does."""
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
    return text if text.strip("\ufeff \t\r\n") else _EMPTY
