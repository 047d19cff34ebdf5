"""Text of an agent's settings: our hooks and permission rules merged in and removed again, all else left byte for byte.

Called by `hook_install`. Touches no file; settings of an unknown form raise SettingsError."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install import json_edit, permissions
from claude_mem_lite.install.hook_config import command_of, is_guard, is_ours
from claude_mem_lite.install.permissions import NO_GRANT, Grant
from claude_mem_lite.install.settings_files import NOT_TOUCHED
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home
from claude_mem_lite.values import frozen

EMPTY_SETTINGS = "{}\n"


@frozen
class Additions:
    """Additions of an install: its commands and rules, and objects that may be removed when empty."""

    hooks: bool
    events: frozenset[str]
    commands: frozenset[str]
    grant: Grant = NO_GRANT


@frozen
class Merged:
    """Settings with our hooks, and with the rules that the user wants."""

    text: str
    additions: Additions
    had_ours: bool
    """True if hooks of an earlier install exist, or were replaced."""
    changes_hooks: bool


@frozen
class _HookPosition:
    event: str
    group: int
    hook: int | None
    """Index in the group; None for hooks without groups."""


def merge(
    text: str,
    wanted: Mapping[str, JsonObject],
    known: Additions | None,
    home: Home | None = None,
    allow_tools: bool | None = None,
) -> Merged | None:
    """Return the settings with the wanted hooks, in place of any of ours; None if nothing has to change.

    `known` is the record of an earlier install. `allow_tools` adds the rules for the memory tools, or removes the rules
    that an install added; None leaves them unchanged."""
    hooks = _checked_hooks(text, wanted)
    is_hooked = is_current(text, wanted, home)
    granted = permissions.rules_in(text, known.grant.rules if known else ())
    rules = _wanted_rules(text, granted, allow_tools)
    if is_hooked and rules == granted:
        return None
    if is_hooked and known is not None:
        text, additions = permissions.remove(text, known.grant), known
    else:
        text, additions = add(strip(text, known, home), wanted)
    text, grant = permissions.add(text, rules)
    had_ours = bool(_ours(hooks, _known_commands(known), home))
    return Merged(text, replace(additions, grant=grant), had_ours, changes_hooks=not is_hooked)


def _wanted_rules(text: str, granted: tuple[str, ...], allow_tools: bool | None) -> tuple[str, ...]:
    if allow_tools is None:
        return granted
    return (*granted, *permissions.missing_rules(text)) if allow_tools else ()


def add(stripped: str, wanted: Mapping[str, JsonObject]) -> tuple[str, Additions]:
    """Return settings without our entries together with the wanted ones, and what was added."""
    _checked_hooks(stripped, wanted)
    before = _hooks(stripped)
    additions = Additions(
        hooks="hooks" not in _root(stripped),
        events=frozenset(event for event in wanted if event not in before),
        commands=frozenset(_commands(wanted)),
    )
    return _appended(stripped, wanted, additions), additions


def strip(text: str, known: Additions | None, home: Home | None = None) -> str:
    """Remove our entries, and objects left empty that `known` says were ours.

    Without a record, objects filled only by our hooks count as ours, and rules as the user's."""
    commands = _known_commands(known)
    text = _stripped(text, known, lambda hooks: _ours(hooks, commands, home))
    return permissions.remove(text, known.grant) if known is not None else text


def strip_guards(text: str, known: Additions | None) -> str:
    """Remove the entries of guards in the same way."""
    return _stripped(text, known, _guards)


def holds_guards(text: str, wanted: Mapping[str, JsonObject]) -> bool:
    """Return whether the settings hold exactly the wanted entries of guards, each once."""
    hooks = _hooks(text)
    is_whole = all(_groups(hooks, event).count(group) == 1 for event, group in wanted.items())
    return is_whole and len(_guards(hooks)) == len(wanted)


def _stripped(text: str, known: Additions | None, found: Callable[[JsonObject], Sequence[_HookPosition]]) -> str:
    touched: set[str] = set()
    while positions := found(_hooks(text)):
        last = positions[-1]
        touched.add(last.event)
        if last.hook is None:
            text = json_edit.remove(text, ["hooks", last.event], last.group)
            continue
        inside: list[str | int] = ["hooks", last.event, last.group, "hooks"]
        text = json_edit.remove(text, inside, last.hook)
        if not json_edit.find(text, inside).parts:
            text = json_edit.remove(text, ["hooks", last.event], last.group)
    for event in sorted(touched):
        if not _hooks(text)[event] and (known is None or event in known.events):
            text = json_edit.remove(text, ["hooks"], event)
    if touched and not _hooks(text) and (known is None or known.hooks):
        text = json_edit.remove(text, [], "hooks")
    return text


def has_ours(text: str, home: Home | None = None) -> bool:
    return bool(_ours(_hooks(text), (), home))


def is_current(text: str, wanted: Mapping[str, JsonObject], home: Home | None = None) -> bool:
    """Return whether the settings hold exactly our wanted entries, each once."""
    return missing(text, wanted, home) == []


def missing(text: str, wanted: Mapping[str, JsonObject], home: Home | None = None) -> Sequence[str] | None:
    """Return the events without our entry, if all existing entries are right; None otherwise."""
    hooks = _hooks(text)
    present = [event for event, group in wanted.items() if _groups(hooks, event).count(group) == 1]
    return [event for event in wanted if event not in present] if len(_ours(hooks, (), home)) == len(present) else None


def is_empty(text: str, but_for: JsonObject | None = None) -> bool:
    """Return whether settings are empty, except for the keys that a file of ours begins with."""
    return _root(text) in ({}, but_for or {})


def disables_hooks(text: str) -> bool:
    """Return whether the user told the client to run no hooks at all."""
    return _root(text).get("disableAllHooks") is True


def _appended(text: str, wanted: Mapping[str, JsonObject], additions: Additions) -> str:
    if additions.hooks:
        return json_edit.append(text, [], "hooks", {event: [group] for event, group in wanted.items()})
    for event, group in wanted.items():
        if event in additions.events:
            text = json_edit.append(text, ["hooks"], event, [group])
        else:
            text = json_edit.append(text, ["hooks", event], None, group)
    return text


def _root(text: str) -> JsonObject:
    try:
        value = json_edit.parse(text).value
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"it {_fault(error)}", NOT_TOUCHED) from error
    if not isinstance(value, dict):
        raise SettingsError("it does not hold a JSON object", NOT_TOUCHED)
    return value


def _fault(error: ValueError | RecursionError) -> str:
    """Return why the settings cannot be read. Some agents accept comments, which an edit would lose."""
    if isinstance(error, json.JSONDecodeError) and error.doc[error.pos : error.pos + 2] in ("//", "/*"):
        return f"has a comment in line {error.lineno}, which is not valid JSON"
    return f"is not valid JSON ({error})"


def _hooks(text: str) -> JsonObject:
    value = _root(text).get("hooks", {})
    if not isinstance(value, dict):
        raise SettingsError("its `hooks` is not an object", NOT_TOUCHED)
    return value


def _checked_hooks(text: str, wanted: Collection[str]) -> JsonObject:
    hooks = _hooks(text)
    for event in wanted:
        if not isinstance(hooks.get(event, []), list):
            raise SettingsError(f"its `hooks.{event}` is not a list", NOT_TOUCHED)
    return hooks


def _ours(hooks: JsonObject, commands: Collection[str], home: Home | None = None) -> Sequence[_HookPosition]:
    return _positions(hooks, lambda hook: is_ours(hook, home) or command_of(hook) in commands)


def _guards(hooks: JsonObject) -> Sequence[_HookPosition]:
    return _positions(hooks, is_guard)


def _positions(hooks: JsonObject, is_wanted: Callable[[JsonValue], bool]) -> Sequence[_HookPosition]:
    return [
        _HookPosition(event, at_group, at_hook)
        for event in hooks
        for at_group, group in enumerate(_groups(hooks, event))
        for at_hook, hook in _entries(group)
        if is_wanted(hook)
    ]


def _groups(hooks: JsonObject, event: str) -> Sequence[JsonValue]:
    value = hooks.get(event)
    return value if isinstance(value, list) else []


def _entries(group: JsonValue) -> Sequence[tuple[int | None, JsonValue]]:
    """Return the hooks of a group with their indexes, or the single hook in the place of a group."""
    value = group.get("hooks") if isinstance(group, dict) else None
    if isinstance(value, list):
        return list(enumerate(value))
    return [(None, group)] if value is None and command_of(group) is not None else []


def _commands(wanted: Mapping[str, JsonObject]) -> list[str]:
    commands = (command_of(hook) for group in wanted.values() for _, hook in _entries(group))
    return [command for command in commands if command is not None]


def _known_commands(known: Additions | None) -> Collection[str]:
    return known.commands if known is not None else ()
