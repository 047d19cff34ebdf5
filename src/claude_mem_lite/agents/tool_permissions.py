"""Permission of Claude Code to use the memory tools unasked: looked up in its settings, never guessed."""

import json
import os
from functools import lru_cache
from pathlib import Path

from claude_mem_lite.git.checkout import find_checkout
from claude_mem_lite.paths import read_regular, state_of

RULE = "mcp__claude-mem-lite"
_MAX_BYTES = 4 * 2**20


def tools_allowed(cwd: Path) -> bool:
    """Return whether a rule in the settings of the user or of the project of a folder allows the memory tools."""
    user = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude") / "settings.json"
    found = find_checkout(cwd)
    roots = {cwd, found[0] if found else cwd}
    local = [root / ".claude" / name for root in roots for name in ("settings.json", "settings.local.json")]
    return any(_allows(path, state_of(path)) for path in (user, *local))


@lru_cache(maxsize=64)
def _allows(path: Path, state: tuple[int, int, int] | None) -> bool:
    if state is None:
        return False
    try:
        settings = json.loads(read_regular(path, _MAX_BYTES))
    except (OSError, ValueError, RecursionError):
        return False
    permissions = settings.get("permissions") if isinstance(settings, dict) else None
    rules = permissions.get("allow") if isinstance(permissions, dict) else None
    return any(rule in (RULE, f"{RULE}__memory_save") for rule in rules) if isinstance(rules, list) else False
