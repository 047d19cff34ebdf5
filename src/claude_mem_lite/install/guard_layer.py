"""Hooks of guards in one settings file, as a layer above all else in the file: put on, changed and taken off.

The former bytes come back if nobody wrote to the file since; otherwise only our entries are removed. An install or
uninstall of other hooks takes the layer off first, so that each restores its own bytes."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import install_record, settings_files, settings_merge
from claude_mem_lite.install.hook_config import besides_hooks
from claude_mem_lite.install.install_record import Record
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

_SUFFIX = ".guards"


@frozen
class _Base:
    """Settings without the layer."""

    content: bytes | None
    """None if there is no file without the layer."""
    folders_made: tuple[Path, ...] = ()


def reconcile(home: Home, path: Path, agent: str, groups: Mapping[str, JsonObject]) -> bool:
    """Have exactly these groups as hooks of guards in a settings file, none if empty; return whether the file
    changed."""
    path = settings_files.real_path(path)
    known, now = load(home, path), settings_files.read(path)
    base = _base(home, path, known, now)
    record: Record | None = None
    after = base.content
    if groups:
        try:
            text, additions = settings_merge.add(_text(path, base.content, agent), groups)
        except SettingsError as error:
            raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
        after = settings_files.encoded(path, text)
        record = Record(path, install_record.sha256(after), None, base.folders_made, additions, agent)
    if after != now:
        settings_files.check_writable(path)
    if record is not None and after is not None:
        _put_on(home, record, base, now, after)
    else:
        _take_off(home, path, known, base, now)
    return after != now


def load(home: Home, path: Path) -> Record | None:
    """Return the record of the layer in a settings file with its links resolved; None without one."""
    content = settings_files.read(_record_path(home, path))
    return None if content is None else install_record.from_json(_record_path(home, path), content)


def load_all(home: Home) -> Sequence[Record]:
    """Return the record of every layer of this home."""
    files = ((path, settings_files.read(path)) for path in sorted(home.installs.glob(f"*{_SUFFIX}")))
    records = (install_record.from_json(path, content) for path, content in files if content is not None)
    return [record for record in records if record is not None]


def is_current(path: Path, groups: Mapping[str, JsonObject]) -> bool:
    """Return whether a settings file has exactly these groups as hooks of guards; one that cannot be read has none."""
    try:
        return settings_merge.holds_guards(_text(path, settings_files.read(path)), groups)
    except SettingsError:
        return False


def _base(home: Home, path: Path, known: Record | None, now: bytes | None) -> _Base:
    folders = known.folders_made if known else ()
    if known is not None and now is not None and known.written_sha256 == install_record.sha256(now):
        former = None if known.backup is None else settings_files.read(home.installs / known.backup)
        if known.backup is None or former is not None:
            return _Base(former, folders)
    if now is None:
        return _Base(None, folders)
    text = _text(path, now)
    try:
        stripped = settings_merge.strip_guards(text, known.additions if known else None)
        is_empty = settings_merge.is_empty(stripped, besides_hooks(known.agent) if known else None)
    except SettingsError as error:
        raise SettingsError(f"{path} was left alone: {error.message}", error.next_step) from error
    if is_empty and known is not None and known.backup is None:
        return _Base(None, folders)
    return _Base(now if stripped == text else settings_files.encoded(path, stripped), folders)


def _put_on(home: Home, record: Record, base: _Base, now: bytes | None, after: bytes) -> None:
    made = base.folders_made or settings_files.missing_folders(record.settings.parent)
    backup = None if base.content is None else f"{install_record.key(record.settings)}{_SUFFIX}-backup"
    home.installs.mkdir(mode=0o700, parents=True, exist_ok=True)
    if backup is not None and base.content is not None:
        _keep(home.installs / backup, base.content)
    kept = Record(record.settings, record.written_sha256, backup, made, record.additions, record.agent)
    _keep(_record_path(home, record.settings), json.dumps(install_record.to_json(kept), indent=2).encode() + b"\n")
    settings_files.make_folders(record.settings.parent)
    if after != now:
        settings_files.replace(record.settings, now, after)


def _take_off(home: Home, path: Path, known: Record | None, base: _Base, now: bytes | None) -> None:
    if base.content is None and now is not None:
        settings_files.delete(path)
    elif base.content is not None and base.content != now:
        settings_files.replace(path, now, base.content)
    if known is None:
        return
    if base.content is None:
        settings_files.remove_empty(known.folders_made)
    if known.backup is not None:
        settings_files.delete(home.installs / known.backup)
    settings_files.delete(_record_path(home, path))
    settings_files.remove_empty([home.installs])


def _keep(path: Path, content: bytes) -> None:
    settings_files.replace(path, settings_files.read(path), content)


def _record_path(home: Home, path: Path) -> Path:
    return home.installs / f"{install_record.key(path)}{_SUFFIX}"


def _text(path: Path, content: bytes | None, agent: str = "") -> str:
    text = settings_files.decoded(path, content)
    if text.strip("\ufeff \t\r\n"):
        return text
    besides = besides_hooks(agent)
    return f"{json.dumps(besides, indent=2)}\n" if besides else settings_merge.EMPTY_SETTINGS
