"""Putting another file in the place of a database, so that a kill at any moment leaves the old one or the new one.

What was there is moved aside, never deleted. The caller holds the home's lock."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.models import JsonObject, load_json
from claude_mem_lite.paths import Home, sync

NEW = ".new"
_LOGS = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class Replacement:
    """One database file that gets another in its place."""

    target: str
    """The name of the database in the home; the new one lies beside it, with `.new` behind its name."""
    aside: str
    """The folder in the home that what was there is moved to."""
    note: JsonObject
    """What to tell of it."""


def new_file(target: Path) -> Path:
    """Where the file that takes the place of a database is made ready."""
    return target.with_name(target.name + NEW)


def replace(home: Home, replacement: Replacement) -> None:
    """Put the new file in place. From the moment that this is written down, it will be done, by whoever starts next."""
    written = {"target": replacement.target, "aside": replacement.aside, "note": dict(replacement.note)}
    write_json(home.replacing, written)
    finish(home)


def finish(home: Home) -> Replacement | None:
    """Bring to an end what was written down; what it was, for the caller to note before it calls `end`."""
    replacement = under_way(home)
    if replacement is None:
        return None
    target, aside = home.root / replacement.target, home.root / replacement.aside
    new = new_file(target)
    if new.exists():  # else it is in place already
        aside.mkdir(mode=0o700, exist_ok=True)
        for suffix in ("", *_LOGS):
            old = target.with_name(target.name + suffix)
            if suffix and old.is_file() and (suffix == "-shm" or old.stat().st_size == 0):  # nothing to be kept in it
                old.unlink()
            elif os.path.lexists(old):
                old.rename(aside / old.name)
        sync(aside)
        new.rename(target)
        sync(home.root)
    return replacement


def end(home: Home) -> None:
    """What was written down is done and noted."""
    home.replacing.unlink(missing_ok=True)
    sync(home.root)


def under_way(home: Home) -> Replacement | None:
    """What was written down and is not at its end; a record that cannot be read was never complete."""
    told = read_json(home.replacing)
    if told is None:
        return None
    note = told.get("note")
    return Replacement(str(told.get("target")), str(told.get("aside")), note if isinstance(note, dict) else {})


def remove_new(target: Path) -> None:
    """Remove what was being made ready when somebody was killed."""
    for suffix in ("", *_LOGS):
        (target.parent / f"{target.name}{NEW}{suffix}").unlink(missing_ok=True)


def write_json(path: Path, value: Mapping[str, object]) -> None:
    """Write a small file at once, complete or not at all."""
    unfinished = path.with_name(f"{path.name}{NEW}")
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
    with open(handle, "w", encoding="utf-8") as file:
        json.dump(value, file)
        file.flush()
        os.fsync(handle)
    unfinished.rename(path)
    sync(path.parent)


def read_json(path: Path) -> JsonObject | None:
    """What such a file says; None when there is none, or it is none."""
    try:
        told = load_json(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None
