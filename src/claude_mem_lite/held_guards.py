"""Files of the guards in force, `guards/NAME` in the home, as the hook before tool calls reads them.

The first line has the tokens, each further line one guard as JSON. `guards/guards_file.py` writes them; install and
`doctor` read them without a worker."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from claude_mem_lite.models import JsonValue, text
from claude_mem_lite.paths import Home, read_regular
from claude_mem_lite.values import frozen

MAX_BYTES = 1_000_000
"""Maximum that the hook reads."""
MAX_GUARDS = 200
"""Maximum that the hook matches."""
_FAILED = ".failed"
_NAME_LENGTH = 16


@frozen
class HeldExample:
    """Call by which a guard is tested: a command line, or a file or line that is written."""

    tool: str
    text: str


@frozen
class HeldGuard:
    """Guard in force, as far as its hook and its test need it."""

    id: str
    project: str
    tools: tuple[str, ...]
    """Tools whose calls it matches, by Claude Code's names."""
    fires_on: HeldExample
    passes_on: HeldExample


def name_of(project: str) -> str:
    """Return the name of a project's file; a project's id is an address or a path."""
    return hashlib.sha256(project.encode("utf-8", "replace")).hexdigest()[:_NAME_LENGTH]


def names(home: Home) -> Sequence[str]:
    """Return the names of all files of guards."""
    try:
        found = sorted(os.listdir(home.guards))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in found if len(name) == _NAME_LENGTH and name.isalnum()]


def read(home: Home, name: str) -> Sequence[HeldGuard]:
    """Return the guards in a file; OSError if it cannot be read, ValueError if it is broken."""
    first, *lines = read_regular(home.guards / name, MAX_BYTES, follow=False).decode().split("\n")
    if not first.split():
        raise ValueError("it has no tokens")
    return [_from_json(json.loads(line)) for line in lines if line]


def replace(path: Path, content: bytes) -> None:
    """Replace a file whole, closed to other users: a hook sees the former content or the present one."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def failure(home: Home, name: str) -> str:
    """Return the reason of the last call that passed unchecked since the file was written; '' without one."""
    try:
        note: JsonValue = json.loads(read_regular(failure_mark(home, name), MAX_BYTES, follow=False))
    except (OSError, ValueError):
        return ""
    members = note if isinstance(note, dict) else {}
    guard = text(members.get("guard"))
    return f"{text(members.get('reason'))}{f' (guard {guard})' if guard else ''}"


def failure_mark(home: Home, name: str) -> Path:
    """Return the file in which the hook notes its last failure."""
    return home.guards / f"{name}{_FAILED}"


def _from_json(value: JsonValue) -> HeldGuard:
    if not isinstance(value, dict) or not isinstance(value.get("rule"), dict) or not text(value.get("mode")):
        raise ValueError("a line is no guard")
    return HeldGuard(
        text(value.get("id")),
        text(value.get("project")),
        _texts(value.get("tools")),
        _example(value.get("fires_on")),
        _example(value.get("passes_on")),
    )


def _texts(value: JsonValue) -> tuple[str, ...]:
    return tuple(text(one) for one in value) if isinstance(value, list) else ()


def _example(value: JsonValue) -> HeldExample:
    members = value if isinstance(value, dict) else {}
    return HeldExample(text(members.get("tool")), text(members.get("text")))
