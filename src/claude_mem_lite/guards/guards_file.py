"""Writer of the files that the hook before tool calls reads; the worker calls it after each change of guards."""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from claude_mem_lite import held_guards
from claude_mem_lite.guards.guard import Guard
from claude_mem_lite.guards.rule import all_tokens
from claude_mem_lite.models import JsonObject
from claude_mem_lite.paths import Home

_MAX_REASON_LENGTH, _MAX_INSTEAD_LENGTH = 300, 150


def path_of(home: Home, project: str) -> Path:
    """Return the file of a project's guards."""
    return home.guards / held_guards.name_of(project)


def write(home: Home, project: str, guards: Sequence[Guard]) -> None:
    """Write the active guards among `guards`; without any, remove the file. A former failure is forgotten."""
    active = [guard for guard in guards if guard.status == "active"][: held_guards.MAX_GUARDS]
    if not active:
        remove(home, project)
        return
    tokens = " ".join(all_tokens([guard.rule for guard in active]))
    lines = [tokens, *(json.dumps(_as_json(guard), ensure_ascii=False) for guard in active)]
    home.guards.mkdir(mode=0o700, exist_ok=True)
    held_guards.replace(path_of(home, project), "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
    held_guards.failure_mark(home, held_guards.name_of(project)).unlink(missing_ok=True)


def remove(home: Home, project: str) -> None:
    """Remove the file of a project, if there is one."""
    _remove(home, held_guards.name_of(project))


def remove_others(home: Home, projects: Sequence[str]) -> None:
    """Remove the files of all projects but these."""
    known = {held_guards.name_of(project) for project in projects}
    for name in held_guards.names(home):
        if name not in known:
            _remove(home, name)


def _remove(home: Home, name: str) -> None:
    (home.guards / name).unlink(missing_ok=True)
    held_guards.failure_mark(home, name).unlink(missing_ok=True)
    with suppress(OSError):  # further files
        home.guards.rmdir()


def _as_json(guard: Guard) -> JsonObject:
    return {
        "id": guard.id,
        "project": guard.project,
        "mode": guard.mode,
        "date": guard.created_at[:10],
        "reason": " ".join(guard.reason.split())[:_MAX_REASON_LENGTH],
        "instead": " ".join(guard.instead.split())[:_MAX_INSTEAD_LENGTH],
        "tools": list(guard.rule.tools),
        "rule": guard.rule.to_json(),
        "fires_on": {"tool": guard.fires_on.tool, "text": guard.fires_on.text},
        "passes_on": {"tool": guard.passes_on.tool, "text": guard.passes_on.text},
    }
