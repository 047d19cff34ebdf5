"""Replacement of a database file. A kill at any time leaves the old file or the new file.

Old files are moved aside, never deleted. The caller holds the lock of the home."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from claude_mem_lite.models import JsonObject, load_json
from claude_mem_lite.paths import Home, sync
from claude_mem_lite.values import frozen

NEW = ".new"
_LOGS = ("-wal", "-shm", "-journal")


@frozen
class Replacement:
    """Replacement of one database file by another."""

    target: str
    """Name of the database in the home. The new file lies beside the database, with the suffix `.new`."""
    aside: str
    """Folder in the home for the old files."""
    note: JsonObject
    """Details for the report to the user."""


def new_file(target: Path) -> Path:
    """Return the path at which the new file of a database is prepared."""
    return target.with_name(target.name + NEW)


def replace(home: Home, replacement: Replacement) -> None:
    """Replace a database by its prepared file. Once the replacement is recorded, the next start completes an
    interrupted one."""
    written = {"target": replacement.target, "aside": replacement.aside, "note": dict(replacement.note)}
    write_json(home.replacing, written)
    finish(home)


def finish(home: Home) -> Replacement | None:
    """Complete a recorded replacement and return it; the caller reports the replacement before it calls `end`."""
    replacement = under_way(home)
    if replacement is None:
        return None
    target, aside = home.root / replacement.target, home.root / replacement.aside
    new = new_file(target)
    if new.exists():  # else the new file is in place already
        aside.mkdir(mode=0o700, exist_ok=True)
        for suffix in ("", *_LOGS):
            old = target.with_name(target.name + suffix)
            if suffix and old.is_file() and (suffix == "-shm" or old.stat().st_size == 0):  # nothing worth keeping
                old.unlink()
            elif os.path.lexists(old):
                old.rename(aside / old.name)
        sync(aside)
        new.rename(target)
        sync(home.root)
    return replacement


def end(home: Home) -> None:
    """Delete the record of a completed and reported replacement."""
    home.replacing.unlink(missing_ok=True)
    sync(home.root)


def under_way(home: Home) -> Replacement | None:
    """Return the recorded replacement that is not complete; an unreadable record was never complete."""
    record = read_json(home.replacing)
    if record is None:
        return None
    note = record.get("note")
    return Replacement(str(record.get("target")), str(record.get("aside")), note if isinstance(note, dict) else {})


def remove_new(target: Path) -> None:
    """Remove a prepared file that a killed process left."""
    for suffix in ("", *_LOGS):
        (target.parent / f"{target.name}{NEW}{suffix}").unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write a small JSON file atomically."""
    unfinished = path.with_name(f"{path.name}{NEW}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(handle)
    unfinished.rename(path)
    sync(path.parent)


def read_json(path: Path) -> JsonObject | None:
    """Read a JSON object from a file; None when the file is missing or invalid."""
    try:
        value = load_json(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
