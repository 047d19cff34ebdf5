"""Permission rules in the text of Claude Code's settings: added on the user's demand, removed again.

Called by `settings_merge`. Touches no file; settings of another form raise SettingsError."""

from collections.abc import Collection, Sequence

from claude_mem_lite.agents.permissions import GRANTED_TOOLS, PLUGIN_SERVER, SERVER, allows
from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import json_edit
from claude_mem_lite.install.settings_files import NOT_TOUCHED
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.values import frozen

RULES = tuple(f"{SERVER}__{tool}" for tool in GRANTED_TOOLS)
PLUGIN_FORM = f'"permissions": {{"allow": ["{PLUGIN_SERVER}"]}}'
ASKS = "Claude asks you before it uses the memory tools, and cannot use them where nobody can answer (`claude -p`)"
_PATH = ("permissions", "allow")


@frozen
class Grant:
    """Rules that an install added, and the number of the objects on their path that existed before."""

    rules: tuple[str, ...] = ()
    depth: int = len(_PATH)


NO_GRANT = Grant()


def add(text: str, rules: Sequence[str]) -> tuple[str, Grant]:
    """Return the settings with these rules after the existing ones."""
    if not rules:
        return text, NO_GRANT
    depth = _depth(text)
    if depth == 0:
        return json_edit.append(text, [], _PATH[0], {_PATH[1]: list(rules)}), Grant(tuple(rules), depth)
    if depth == 1:
        return json_edit.append(text, [_PATH[0]], _PATH[1], list(rules)), Grant(tuple(rules), depth)
    for rule in rules:
        text = json_edit.append(text, _PATH, None, rule)
    return text, Grant(tuple(rules), depth)


def remove(text: str, grant: Grant) -> str:
    """Return the settings without the rules of a grant, and without the objects made for them that are empty now."""
    present = rules_in(text, grant.rules)
    for rule in present:
        text = json_edit.remove(text, _PATH, _allowed(text).index(rule))
    for depth in range(len(_PATH), grant.depth if present else len(_PATH), -1):
        if json_edit.find(text, _PATH[:depth]).parts:
            break
        text = json_edit.remove(text, _PATH[: depth - 1], _PATH[depth - 1])
    return text


def rules_in(text: str, rules: Collection[str]) -> tuple[str, ...]:
    """Return the given rules that the settings hold."""
    allowed = _allowed(text)
    return tuple(rule for rule in rules if rule in allowed)


def missing_rules(text: str) -> tuple[str, ...]:
    """Return our rules that no rule of the settings covers; SettingsError if there is no place for them."""
    _depth(text)
    covering = [rule for rule in _allowed(text) if isinstance(rule, str)]
    return tuple(name for name in RULES if not any(allows(rule, name) for rule in covering))


def _depth(text: str) -> int:
    """Return the number of existing objects on the path to a rule; SettingsError for another form."""
    root = _root(text)
    permissions = root.get("permissions", {})
    if not isinstance(permissions, dict):
        raise SettingsError("its `permissions` is not an object", NOT_TOUCHED)
    if not isinstance(permissions.get("allow", []), list):
        raise SettingsError("its `permissions.allow` is not a list", NOT_TOUCHED)
    return ("permissions" in root) + ("allow" in permissions)


def _allowed(text: str) -> list[JsonValue]:
    permissions = _root(text).get("permissions")
    allowed = permissions.get("allow") if isinstance(permissions, dict) else None
    return allowed if isinstance(allowed, list) else []


def _root(text: str) -> JsonObject:
    value = json_edit.parse(text).value
    return value if isinstance(value, dict) else {}
