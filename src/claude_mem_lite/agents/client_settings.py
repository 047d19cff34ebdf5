"""Settings files of Claude Code in the order of their scopes, with the permission rules of each file.

The client's choice of files was observed in runs of 2.1.325. Install records show whether an agent has hooks of its
own. This module only reads; parsed files are cached until they change."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from claude_mem_lite.code.git.refs import common_folder, find_checkout
from claude_mem_lite.code.git.repository import open_repository
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.paths import HOOK_PROGRAM, Home, read_regular, state_of
from claude_mem_lite.values import frozen

LOCAL_NAME = "settings.local.json"
MAX_SETTINGS_BYTES = 4 * 2**20
MAX_NOTES_BYTES = 64 * 2**20
"""Limit of `.claude.json`, which holds a history for each project."""
SettingsScope = Literal["managed", "user", "project", "local"]
_State = tuple[int, int, int] | None
_MAX_BYTES = 4 * 2**20
_FileStates = tuple[int, int, int] | None


@frozen
class PermissionRules:
    """Permission rules of one settings file, and its plugins."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    managed_only: bool = False
    """The administrator's switch: rules of other files do not count."""
    plugins: tuple[str, ...] = ()
    """Plugins enabled by the file, without their marketplaces."""


@frozen
class SettingsFile:
    path: Path
    scope: SettingsScope
    rules: PermissionRules


@frozen
class ClientSettings:
    """Settings in force in a folder, or in all folders if `cwd` is None."""

    config: Path
    cwd: Path | None = None
    managed: Path | None = None
    """The administrator's folder, if not the system's default."""

    def files(self) -> Sequence[SettingsFile]:
        """Return the readable settings files with their rules."""
        files = [SettingsFile(path, scope, _rules(path, state_of(path))) for path, scope in self._paths()]
        is_managed_only = any(file.rules.managed_only for file in files if file.scope == "managed")
        return [file for file in files if file.scope == "managed"] if is_managed_only else files

    def honours_allow(self, file: SettingsFile) -> bool:
        """Return whether the client applies the `allow` rules of a file.

        A file that may have come with a repository or archive allows nothing until the user has trusted the folder."""
        if file.scope in ("managed", "user") or (file.scope == "local" and not _may_be_foreign(file.path)):
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
        """Return the names of the user's MCP servers, global or of this project."""
        root = str(project_root(self.cwd)) if self.cwd is not None else ""
        all_notes = [_read_notes(path, state_of(path)) for path in self._notes()]
        return frozenset[str]().union(*(notes.servers.get(folder, ()) for notes in all_notes for folder in ("", root)))

    def _is_trusted(self, root: str) -> bool:
        return any(root in _read_notes(path, state_of(path)).trusted for path in self._notes())

    def _notes(self) -> Sequence[Path]:
        is_default = os.path.realpath(self.config) == os.path.realpath(Path.home() / ".claude")
        return [self.config / ".claude.json", *([Path.home() / ".claude.json"] if is_default else [])]


@frozen
class _Notes:
    """Notes of the client about projects: `.claude.json`."""

    trusted: frozenset[str]
    servers: Mapping[str, frozenset[str]]
    """MCP servers by folder; '' stands for all folders."""


def config_folder_of_transcript(transcript: str) -> Path | None:
    """Return the configuration folder of a session by its transcript in `projects/PROJECT/`.

    The worker uses the transcript because it does not inherit $CLAUDE_CONFIG_DIR."""
    folders = Path(transcript).parents
    return folders[2] if len(folders) > 2 and folders[1].name == "projects" else None


def managed_folder() -> Path:
    """Return the folder of the administrator's settings on this system."""
    return Path("/Library/Application Support/ClaudeCode" if sys.platform == "darwin" else "/etc/claude-code")


def project_root(folder: Path) -> Path:
    """Return the folder by which the client knows a project: the root of the checkout, for a worktree the root of the
    main checkout, else the folder itself."""
    real = Path(os.path.realpath(folder))
    checkout = find_checkout(real)
    if checkout is None:
        return real
    root, git_folder = checkout
    common = common_folder(git_folder)
    return common.parent if common.name == ".git" else root


@lru_cache(maxsize=64)
def _rules(path: Path, state: _State) -> PermissionRules:
    if state is None:
        return PermissionRules()
    settings = _read_object(path, MAX_SETTINGS_BYTES)
    permissions = settings.get("permissions")
    held = permissions if isinstance(permissions, dict) else {}
    is_managed_only = settings.get("allowManagedPermissionRulesOnly") is True
    plugins = settings.get("enabledPlugins")
    enabled = plugins.items() if isinstance(plugins, dict) else ()
    return PermissionRules(
        _strings(held.get("allow")),
        _strings(held.get("ask")),
        _strings(held.get("deny")),
        is_managed_only,
        tuple(name.partition("@")[0] for name, is_on in enabled if is_on is True),
    )


@lru_cache(maxsize=4)
def _read_notes(path: Path, state: _State) -> _Notes:
    content = _read_object(path, MAX_NOTES_BYTES) if state is not None else {}
    projects = content.get("projects")
    held = {**(projects if isinstance(projects, dict) else {}), "": content}
    folders = {folder: notes for folder, notes in held.items() if isinstance(notes, dict)}
    trusted = (folder for folder, notes in folders.items() if notes.get("hasTrustDialogAccepted") is True)
    named = {folder: notes.get("mcpServers") for folder, notes in folders.items()}
    servers = {folder: frozenset(names) for folder, names in named.items() if isinstance(names, dict)}
    return _Notes(frozenset(trusted) - {""}, servers)


def may_be_tracked(path: Path) -> bool:
    """Return whether git tracks a file of a checkout, or may."""
    return find_checkout(path.parent) is not None and _may_be_foreign(path)


def _may_be_foreign(path: Path) -> bool:
    """Return whether a file may have come with its folder: tracked by git, or unknown."""
    checkout = find_checkout(path.parent)
    if checkout is None:
        return True
    root, git_folder = checkout
    return _may_be_in_index(root, path.relative_to(root).as_posix(), state_of(git_folder / "index"))


@lru_cache(maxsize=16)
def _may_be_in_index(root: Path, name: str, state: _State) -> bool:
    if state is None:
        return False
    repository = open_repository(str(root))
    if repository is None:
        return True
    index = repository.entries().find([name])
    return name in index.entries or not index.is_all


def _read_object(path: Path, max_bytes: int) -> JsonObject:
    """Return a JSON object from a file; {} for an unreadable file, as the client does."""
    try:
        value: JsonValue = json.loads(read_regular(path, max_bytes).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def has_own_hooks(home: Home, agent: str, folder: str) -> bool:
    """Return whether own hooks in the agent's configuration cover a folder."""
    for record in _records(home.installs, state_of(home.installs)):
        settings, project = Path(text(record.get("settings"))), text(record.get("project"))
        covers = not project or f"{os.path.realpath(folder)}/".startswith(f"{project}/")
        if record.get("agent") == agent and covers and _has_our_hook(settings, state_of(settings)):
            return True
    return False


@lru_cache(maxsize=4)
def _records(folder: Path, state: _FileStates) -> tuple[JsonObject, ...]:  # noqa: ARG001  part of the cache key
    records = []
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(read_regular(path, _MAX_BYTES))
        except (OSError, ValueError):
            continue
        records += [record] if isinstance(record, dict) else []
    return tuple(records)


@lru_cache(maxsize=32)
def _has_our_hook(settings: Path, state: _FileStates) -> bool:
    try:
        return state is not None and HOOK_PROGRAM.encode() in read_regular(settings, _MAX_BYTES)
    except OSError:
        return False
