"""Whether the agent may use our tools unasked: the client asks its user before each one, until a rule allows it.

Such a rule is the user's to give, so it is only looked for, never written. `install` and `doctor` tell of it."""

from collections.abc import Iterator
from pathlib import Path

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.git.checkout import find_checkout
from claude_mem_lite.install import files, jsontext
from claude_mem_lite.install.serving import SERVER_NAME
from claude_mem_lite.models import JsonObject

RULE = f"mcp__{SERVER_NAME}"
"""Allows all tools of our server (2.1.325)."""
FORM = f'"permissions": {{"allow": ["{RULE}"]}}'
ASKS = "Claude asks you before it uses the memory tools, and does without where nobody can answer (`claude -p`)"


def is_allowed(settings: Path, folder: Path) -> bool:
    """Whether a rule for any of our tools stands in these settings, or in those of the project of a folder."""
    found = find_checkout(folder)
    projects = {folder, found[0] if found else folder}
    local = [each / ".claude" / name for each in projects for name in ("settings.json", "settings.local.json")]
    return any(_is_ours(rule) for path in (settings, *local) for rule in _rules(path))


def _is_ours(rule: str) -> bool:
    return rule == RULE or rule.startswith(f"{RULE}__")


def _rules(path: Path) -> Iterator[str]:
    permissions = _settings(path).get("permissions")
    allowed = permissions.get("allow") if isinstance(permissions, dict) else None
    yield from (rule for rule in (allowed if isinstance(allowed, list) else ()) if isinstance(rule, str))


def _settings(path: Path) -> JsonObject:
    """What cannot be read allows nothing; other checks say what is wrong with it."""
    try:
        value = jsontext.parse((files.read(path) or b"{}").decode("utf-8")).value
    except (SettingsError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
