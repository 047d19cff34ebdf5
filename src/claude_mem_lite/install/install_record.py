"""Record of an install in one settings file, kept in the home with the file's former bytes.

`hook_install` writes records, `doctor` reads them; without a record `uninstall` still works, but only by structure."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.agents.claude_code import CLAUDE_CODE
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import settings_files
from claude_mem_lite.install.permissions import NO_GRANT, Grant
from claude_mem_lite.install.settings_merge import Additions
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

VERSION = 1


@frozen
class Record:
    """One settings file changed by an install."""

    settings: Path
    """The file itself, links resolved."""
    written_sha256: str | None
    """Checksum of the file as written; None if the former bytes must not be restored whole."""
    backup: str | None
    """Name of the file with the former bytes; None if there was no file."""
    folders_made: tuple[Path, ...]
    additions: Additions
    agent: str = CLAUDE_CODE
    project: Path | None = None
    """Folder in which the settings apply; None for all."""


def load(home: Home, settings: Path) -> Record | None:
    """Return the record of one settings file, if readable."""
    path = home.installs / f"{key(settings)}.json"
    content = settings_files.read(path)
    return None if content is None else from_json(path, content)


def load_all(home: Home) -> Sequence[Record]:
    """Return every install of this home."""
    files = ((path, settings_files.read(path)) for path in sorted(home.installs.glob("*.json")))
    records = (from_json(path, content) for path, content in files if content is not None)
    return [record for record in records if record is not None]


def save(home: Home, record: Record) -> None:
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = home.installs / f"{key(record.settings)}.json"
    settings_files.replace(path, settings_files.read(path), json.dumps(to_json(record), indent=2).encode() + b"\n")


def keep_backup(home: Home, settings: Path, content: bytes) -> str:
    """Save the former bytes; the name carries their checksum, so that no backup replaces another."""
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{key(settings)}-{sha256(content)[:12]}.backup"
    if settings_files.read(home.installs / name) is None:
        settings_files.replace(home.installs / name, None, content)
    return name


def backup_of(home: Home, record: Record) -> bytes | None:
    """Return the former bytes, if still there."""
    return None if record.backup is None else settings_files.read(home.installs / record.backup)


def drop(home: Home, record: Record, *, with_backup: bool) -> None:
    """Delete the record of an install; the backup too if its bytes are restored."""
    if with_backup and record.backup is not None:
        settings_files.delete(home.installs / record.backup)
    settings_files.delete(home.installs / f"{key(record.settings)}.json")
    settings_files.remove_empty([home.installs])


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def key(settings: Path) -> str:
    """Return the common name of an install's files, for a settings file with its links resolved."""
    return sha256(bytes(settings))[:16]


def to_json(record: Record) -> JsonObject:
    """Return a record as it is kept."""
    return {
        "version": VERSION,
        "settings": str(record.settings),
        "file_existed": record.backup is not None,
        "written_sha256": record.written_sha256,
        "backup": record.backup,
        "folders_made": [str(folder) for folder in record.folders_made],
        "made_hooks": record.additions.hooks,
        "made_events": sorted(record.additions.events),
        "commands": sorted(record.additions.commands),
        "rules": list(record.additions.grant.rules),
        "rules_depth": record.additions.grant.depth,
        "agent": record.agent,
        "project": str(record.project) if record.project else "",
    }


def from_json(path: Path, content: bytes) -> Record | None:
    """Return the record in a file; None if it is of another version."""
    try:
        fields: JsonValue = json.loads(content)
    except ValueError as error:
        raise SettingsError(f"the install record {path} is damaged", "remove it, then run this again") from error
    if not isinstance(fields, dict) or fields.get("version") != VERSION:
        return None
    backup, written = fields.get("backup"), fields.get("written_sha256")
    agent, project = fields.get("agent"), fields.get("project")
    return Record(
        settings=Path(str(fields.get("settings"))),
        written_sha256=written if isinstance(written, str) else None,
        backup=backup if isinstance(backup, str) else None,
        folders_made=tuple(map(Path, _strings(fields, "folders_made"))),
        additions=Additions(
            hooks=fields.get("made_hooks") is True,
            events=frozenset(_strings(fields, "made_events")),
            commands=frozenset(_strings(fields, "commands")),
            grant=_grant(fields),
        ),
        agent=agent if isinstance(agent, str) and agent else CLAUDE_CODE,
        project=Path(project) if isinstance(project, str) and project else None,
    )


def _grant(fields: JsonObject) -> Grant:
    depth = fields.get("rules_depth")
    return Grant(tuple(_strings(fields, "rules")), depth) if isinstance(depth, int) else NO_GRANT


def _strings(fields: JsonObject, key: str) -> list[str]:
    value = fields.get(key)
    return [str(each) for each in value] if isinstance(value, list) else []
