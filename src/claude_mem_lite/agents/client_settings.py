"""Settings files of Claude Code in the order of their scopes, and the permission rules that each of them holds.

The client's choice of files was observed in runs of 2.1.325. This module only reads; parsed files are cached until they
change."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal

from claude_mem_lite.code.git.checkout import common_folder, find_checkout
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import read_regular, state_of

LOCAL_NAME = "settings.local.json"
MAX_SETTINGS_BYTES = 4 * 2**20
MAX_NOTES_BYTES = 64 * 2**20
"""Of `.claude.json`, where the client keeps a history for each project."""
SettingsScope = Literal["managed", "user", "project", "local"]
_State = tuple[int, int, int] | None


@dataclass(frozen=True, slots=True)
class Rules:
    """Permission rules of one settings file, and its plugins."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    managed_only: bool = False
    """The administrator's switch: rules of other files do not count."""
    plugins: tuple[str, ...] = ()
    """The plugins that the file switches on, without their marketplaces."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    path: Path
    scope: SettingsScope
    rules: Rules


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """The settings that apply in a folder, or to all folders where `cwd` is None."""

    config: Path
    cwd: Path | None = None
    managed: Path | None = None
    """The administrator's folder, if not the one of this system."""

    def files(self) -> Sequence[SettingsFile]:
        """Return the settings files that exist and can be read, with their rules."""
        found = [SettingsFile(path, scope, _rules(path, state_of(path))) for path, scope in self._paths()]
        is_managed_only = any(file.rules.managed_only for file in found if file.scope == "managed")
        return [file for file in found if file.scope == "managed"] if is_managed_only else found

    def honours_allow(self, file: SettingsFile) -> bool:
        """Return whether the client heeds the `allow` rules of a file.

        A file that may have come with a repository or archive allows nothing until the user has trusted the folder."""
        if file.scope in ("managed", "user") or (file.scope == "local" and not _may_have_come_along(file.path)):
            return True
        return self.cwd is not None and self._is_trusted(str(project_root(self.cwd)))

    def _paths(self) -> Iterator[tuple[Path, SettingsScope]]:
        managed = self.managed or managed_folder()
        if managed.is_dir():
            yield managed / "managed-settings.json", "managed"
            yield from ((path, "managed") for path in sorted((managed / "managed-settings.d").glob("*.json")))
        yield self.config / "settings.json", "user"
        if self.cwd is not None:
            cwd = Path(os.path.realpath(self.cwd))
            yield cwd / ".claude" / "settings.json", "project"
            for folder in dict.fromkeys((cwd, project_root(cwd))):
                yield folder / ".claude" / LOCAL_NAME, "local"

    def servers(self) -> frozenset[str]:
        """Return the names of the MCP servers that the user has, everywhere or in this project."""
        root = str(project_root(self.cwd)) if self.cwd is not None else ""
        noted = [_noted(path, state_of(path)) for path in self._notes()]
        return frozenset[str]().union(*(one.servers.get(place, ()) for one in noted for place in ("", root)))

    def _is_trusted(self, root: str) -> bool:
        return any(root in _noted(path, state_of(path)).trusted for path in self._notes())

    def _notes(self) -> Sequence[Path]:
        is_default = os.path.realpath(self.config) == os.path.realpath(Path.home() / ".claude")
        return [self.config / ".claude.json", *([Path.home() / ".claude.json"] if is_default else [])]


@dataclass(frozen=True, slots=True)
class _Notes:
    """Notes of the client about projects: `.claude.json`."""

    trusted: frozenset[str]
    servers: Mapping[str, frozenset[str]]
    """The MCP servers of each folder, of '' those of all."""


def config_folder(chosen: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the client's configuration folder: the chosen one, else $CLAUDE_CONFIG_DIR, else ~/.claude."""
    folder = chosen or environment.get("CLAUDE_CONFIG_DIR")
    return Path(os.path.abspath(Path(folder).expanduser())) if folder else Path.home() / ".claude"


def config_folder_of_transcript(transcript: str) -> Path | None:
    """Return the configuration folder of a session by its transcript, which is in `projects/PROJECT/` there.

    The worker has to ask this way: it does not inherit $CLAUDE_CONFIG_DIR."""
    folders = Path(transcript).parents
    return folders[2] if len(folders) > 2 and folders[1].name == "projects" else None


def managed_folder() -> Path:
    """Return the folder of the settings that an administrator has set on this system."""
    return Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")


def project_root(folder: Path) -> Path:
    """Return the folder by which the client knows a project: the root of its checkout, for a worktree that of the main
    checkout, outside of any the folder itself."""
    real = Path(os.path.realpath(folder))
    found = find_checkout(real)
    if found is None:
        return real
    root, git_folder = found
    common = common_folder(git_folder)
    return common.parent if common.name == ".git" else root


@lru_cache(maxsize=64)
def _rules(path: Path, state: _State) -> Rules:
    if state is None:
        return Rules()
    settings = _read_object(path, MAX_SETTINGS_BYTES)
    permissions = settings.get("permissions")
    held = permissions if isinstance(permissions, dict) else {}
    is_managed_only = settings.get("allowManagedPermissionRulesOnly") is True
    plugins = settings.get("enabledPlugins")
    enabled = plugins.items() if isinstance(plugins, dict) else ()
    return Rules(
        _strings(held.get("allow")),
        _strings(held.get("ask")),
        _strings(held.get("deny")),
        is_managed_only,
        tuple(name.partition("@")[0] for name, is_on in enabled if is_on is True),
    )


@lru_cache(maxsize=4)
def _noted(path: Path, state: _State) -> _Notes:
    told = _read_object(path, MAX_NOTES_BYTES) if state is not None else {}
    projects = told.get("projects")
    held = {**(projects if isinstance(projects, dict) else {}), "": told}
    folders = {folder: notes for folder, notes in held.items() if isinstance(notes, dict)}
    trusted = (folder for folder, notes in folders.items() if notes.get("hasTrustDialogAccepted") is True)
    named = {folder: notes.get("mcpServers") for folder, notes in folders.items()}
    servers = {folder: frozenset(found) for folder, found in named.items() if isinstance(found, dict)}
    return _Notes(frozenset(trusted) - {""}, servers)


def _may_have_come_along(path: Path) -> bool:
    """Return whether a file may have come with its folder: git tracks it, or nobody can tell."""
    found = find_checkout(path.parent)
    if found is None:
        return True
    root, git_folder = found
    return _may_be_in_index(root, path.relative_to(root).as_posix(), state_of(git_folder / "index"))


@lru_cache(maxsize=16)
def _may_be_in_index(root: Path, name: str, state: _State) -> bool:
    if state is None:
        return False
    repository = open_repository(str(root))
    if repository is None:
        return True
    found = repository.entries().find([name])
    return name in found.entries or not found.is_all


def _read_object(path: Path, max_bytes: int) -> JsonObject:
    """Return a JSON object from a file; an empty one when the file cannot be read, as the client does."""
    try:
        value: JsonValue = json.loads(read_regular(path, max_bytes).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
