"""Whether an agent has hooks of its own from us, by the records of installs: then what it sends by reading another
agent's settings would be told twice. Asked by the worker; it only reads."""

import json
import os
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.paths import HOOK_PROGRAM, Home, read_regular, state_of

_MAX_BYTES = 4 * 2**20
_State = tuple[int, int, int] | None


def has_own_hooks(home: Home, agent: str, folder: str) -> bool:
    """Whether hooks of ours in the agent's own configuration cover a folder."""
    for record in _records(home.installs, state_of(home.installs)):
        settings, project = Path(text(record.get("settings"))), text(record.get("project"))
        covers = not project or f"{os.path.realpath(folder)}/".startswith(f"{project}/")
        if record.get("agent") == agent and covers and _names_us(settings, state_of(settings)):
            return True
    return False


@lru_cache(maxsize=4)
def _records(folder: Path, state: _State) -> tuple[JsonObject, ...]:  # noqa: ARG001  the key is what counts
    found = []
    for path in sorted(folder.glob("*.json")):
        try:
            record = json.loads(read_regular(path, _MAX_BYTES))
        except (OSError, ValueError):
            continue
        found += [record] if isinstance(record, dict) else []
    return tuple(found)


@lru_cache(maxsize=32)
def _names_us(settings: Path, state: _State) -> bool:
    try:
        return state is not None and HOOK_PROGRAM.encode() in read_regular(settings, _MAX_BYTES)
    except OSError:
        return False
