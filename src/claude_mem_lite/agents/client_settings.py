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

from claude_mem_lite.git.checkout import common_folder, find_checkout
from claude_mem_lite.git.repository import open_repository
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
    """Permission rules of one settings file."""

    allow: tuple[str, ...] = ()
    ask: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    managed_only: bool = False
    """The administrator's switch: rules of other files do not count."""


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

        A file that came with a repository may allow nothing until the user has trusted the folder."""
        if file.scope in ("managed", "user") or (file.scope == "local" and not _is_tracked(file.path)):
            return True
        return self.cwd is not None and self._is_trusted(str(project_root(self.cwd)))

    def _paths(self) -> Iterator[tuple[Path, SettingsScope]]:
        managed = self.managed or managed_folder()
        yield managed / "managed-settings.json", "managed"
        yield from ((path, "managed") for path in sorted((managed / "managed-settings.d").glob("*.json")))
        yield self.config / "settings.json", "user"
        if self.cwd is not None:
            cwd = Path(os.path.realpath(self.cwd))
            yield cwd / ".claude" / "settings.json", "project"
            for folder in dict.fromkeys((cwd, project_root(cwd))):
                yield folder / ".claude" / LOCAL_NAME, "local"

    def _is_trusted(self, root: str) -> bool:
        is_default = os.path.realpath(self.config) == os.path.realpath(Path.home() / ".claude")
        notes = [self.config / ".claude.json", *([Path.home() / ".claude.json"] if is_default else [])]
        return any(root in _trusted_folders(path, state_of(path)) for path in notes)


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
    return Rules(_strings(held.get("allow")), _strings(held.get("ask")), _strings(held.get("deny")), is_managed_only)


@lru_cache(maxsize=4)
def _trusted_folders(path: Path, state: _State) -> frozenset[str]:
    projects = _read_object(path, MAX_NOTES_BYTES).get("projects") if state is not None else None
    held = projects if isinstance(projects, dict) else {}
    return frozenset(
        folder
        for folder, notes in held.items()
        if isinstance(notes, dict) and notes.get("hasTrustDialogAccepted") is True
    )


def _is_tracked(path: Path) -> bool:
    """Return whether git tracks a file, so that it may have come with the repository."""
    found = find_checkout(path.parent)
    if found is None:
        return False
    root, git_folder = found
    return _is_in_index(root, path.relative_to(root).as_posix(), state_of(git_folder / "index"))


@lru_cache(maxsize=16)
def _is_in_index(root: Path, name: str, state: _State) -> bool:
    repository = open_repository(str(root)) if state is not None else None
    return repository is not None and name in repository.entries().find([name]).entries


def _read_object(path: Path, max_bytes: int) -> JsonObject:
    """Return a JSON object from a file; an empty one when the file cannot be read, as the client does."""
    try:
        value: JsonValue = json.loads(read_regular(path, max_bytes).decode("utf-8-sig"))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _strings(value: JsonValue) -> tuple[str, ...]:
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()
