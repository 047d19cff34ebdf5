"""File of a project's active guards, all that the hook before tool calls reads: `guards/NAME` in the home.

The first line has the tokens, each further line one guard as JSON. The worker writes the file after each change;
`doctor` reads it. A file is replaced whole: a hook sees the former guards or the present ones."""

import hashlib
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from claude_mem_lite.guards.guard import Example, Guard, Mode
from claude_mem_lite.guards.rule import Rule, all_tokens, rule_from_json
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.paths import Home, read_regular

MAX_BYTES = 1_000_000
"""Maximum that the hook reads."""
MAX_GUARDS = 200
"""Maximum that the hook matches."""
_MAX_REASON_LENGTH, _MAX_INSTEAD_LENGTH = 300, 150
_FAILED = ".failed"
_MODES: dict[str, Mode] = {"auto": "auto", "remind": "remind", "ask": "ask", "deny": "deny"}


@dataclass(frozen=True, slots=True)
class HeldGuard:
    """Guard as the hook reads it."""

    id: str
    project: str
    mode: Mode
    rule: Rule
    fires_on: Example
    passes_on: Example


def name_of(project: str) -> str:
    """Return the name of a project's file; a project's id is an address or a path."""
    return hashlib.sha256(project.encode("utf-8", "replace")).hexdigest()[:16]


def path_of(home: Home, project: str) -> Path:
    return home.guards / name_of(project)


def write(home: Home, project: str, guards: Sequence[Guard]) -> None:
    """Write the active guards among `guards`; without any, remove the file. A former failure is forgotten."""
    active = [guard for guard in guards if guard.status == "active"][:MAX_GUARDS]
    if not active:
        remove(home, project)
        return
    tokens = " ".join(all_tokens([guard.rule for guard in active]))
    lines = [tokens, *(json.dumps(_as_json(guard), ensure_ascii=False) for guard in active)]
    home.guards.mkdir(mode=0o700, exist_ok=True)
    replace_file(path_of(home, project), "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    path_of(home, project).with_suffix(_FAILED).unlink(missing_ok=True)


def remove(home: Home, project: str) -> None:
    """Remove the file of a project, if there is one."""
    path_of(home, project).unlink(missing_ok=True)
    path_of(home, project).with_suffix(_FAILED).unlink(missing_ok=True)
    with suppress(OSError):  # further files
        home.guards.rmdir()


def remove_others(home: Home, projects: Sequence[str]) -> None:
    """Remove the files of all projects but these."""
    known = {name_of(project) for project in projects}
    for name in names(home):
        if name not in known:
            (home.guards / name).unlink(missing_ok=True)
            (home.guards / name).with_suffix(_FAILED).unlink(missing_ok=True)


def names(home: Home) -> Sequence[str]:
    """Return the names of all files of guards."""
    try:
        found = sorted(os.listdir(home.guards))
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in found if len(name) == 16 and name.isalnum()]


def read(home: Home, name: str) -> Sequence[HeldGuard]:
    """Return the guards in a file; OSError if it cannot be read, ValueError if it is broken."""
    first, *lines = read_regular(home.guards / name, MAX_BYTES, follow=False).decode().split("\n")
    if not first.split():
        raise ValueError("it has no tokens")
    return [_from_json(json.loads(line)) for line in lines if line]


def failure(home: Home, name: str) -> str:
    """Return the reason of the last call that passed unchecked since the file was written; '' without one."""
    try:
        note: JsonValue = json.loads(read_regular((home.guards / name).with_suffix(_FAILED), MAX_BYTES, follow=False))
    except (OSError, ValueError):
        return ""
    members = note if isinstance(note, dict) else {}
    guard = text(members.get("guard"))
    return f"{text(members.get('reason'))}{f' (guard {guard})' if guard else ''}"


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file whole, closed to other users."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _as_json(guard: Guard) -> JsonObject:
    return {
        "id": guard.id,
        "project": guard.project,
        "mode": guard.mode,
        "date": guard.created_at[:10],
        "reason": " ".join(guard.reason.split())[:_MAX_REASON_LENGTH],
        "instead": " ".join(guard.instead.split())[:_MAX_INSTEAD_LENGTH],
        "rule": guard.rule.to_json(),
        "fires_on": {"tool": guard.fires_on.tool, "text": guard.fires_on.text},
        "passes_on": {"tool": guard.passes_on.tool, "text": guard.passes_on.text},
    }


def _from_json(value: JsonValue) -> HeldGuard:
    rule = value.get("rule") if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(rule, dict):
        raise ValueError("a line is no guard")
    mode = _MODES.get(text(value.get("mode")))
    if mode is None:
        raise ValueError("a guard has no mode")
    return HeldGuard(
        text(value.get("id")),
        text(value.get("project")),
        mode,
        rule_from_json(rule),
        _example(value.get("fires_on")),
        _example(value.get("passes_on")),
    )


def _example(value: JsonValue) -> Example:
    members = value if isinstance(value, dict) else {}
    return Example(text(members.get("tool")), text(members.get("text")))
