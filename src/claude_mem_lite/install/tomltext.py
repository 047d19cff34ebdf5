"""One table in a TOML document as text: appended, brought up to date and taken out, all else left byte for byte.

Called by `serving` for Codex CLI. Whatever is done to the text is checked by reading the result."""

import json
import re
import tomllib
from collections.abc import Mapping

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.models import JsonObject, JsonValue

_TABLE = "mcp_servers"
NOT_TOUCHED = "mend it by hand, then run this again; nothing was changed"


def servers(text: str) -> JsonObject:
    """The servers that a configuration names; SettingsError when it cannot be read."""
    found = _parsed(text).get(_TABLE, {})
    if not isinstance(found, dict):
        raise SettingsError(f"its `{_TABLE}` is no table", NOT_TOUCHED)
    return found


def gap_before(text: str) -> str:
    """What stands between a text and a table that is appended to it."""
    return "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"


def append(text: str, name: str, entry: JsonObject) -> str:
    """The text with one more server at its end."""
    lines = [f"[{_TABLE}.{name}]", *(f"{key} = {_value(value)}" for key, value in entry.items() if value != {})]
    return _checked(text + gap_before(text) + "\n".join(lines) + "\n", text, name, _shown(entry))


def update(text: str, name: str, entry: JsonObject) -> str:
    """The text with other values for some members of a server; what else its table has stays."""
    start, end = _extent(text, name)
    head, *lines = text[start:end].split("\n")
    for key, value in entry.items():
        lines = [line for line in lines if not re.match(rf"{key}\s*=", line)]
        if value != {}:
            lines.insert(0, f"{key} = {_value(value)}")
    changed = text[:start] + "\n".join((head, *lines)) + text[end:]
    known = servers(text).get(name)
    kept = {key: value for key, value in known.items() if key not in entry} if isinstance(known, dict) else {}
    return _checked(changed, text, name, {**kept, **_shown(entry)})


def remove(text: str, name: str, gap: int) -> str:
    """The text without a server, and without so many line ends before it; undoes `append`."""
    start, end = _extent(text, name)
    before = text[:start]
    for _ in range(gap):
        before = before.removesuffix("\n")
    return _checked(before + text[end:], text, name, None)


def _extent(text: str, name: str) -> tuple[int, int]:
    """From the header of a server's table to the next table that is not a part of it."""
    own = re.search(rf'(?m)^\[{_TABLE}\.(?:{name}|"{name}")\][ \t]*(?:#.*)?\r?$', text)
    if own is None:
        raise SettingsError(f"its server {name} is written in a form we cannot change", NOT_TOUCHED)
    other = re.compile(rf'(?m)^[ \t]*\[(?!{_TABLE}\.(?:{name}|"{name}")\.)').search(text, own.end())
    return own.start(), other.start() if other else len(text)


def _checked(after: str, before: str, name: str, entry: JsonObject | None) -> str:
    """The text, if it says what was there before, with nothing changed but one server."""
    wanted, found = _parsed(before), _parsed(after)
    others = {key: value for key, value in servers(before).items() if key != name}
    expected = {**others, name: entry} if entry is not None else others
    if servers(after) != expected or _without_servers(wanted) != _without_servers(found):
        raise SettingsError(f"its server {name} is written in a form we cannot change", NOT_TOUCHED)
    return after


def _without_servers(document: Mapping[str, JsonValue]) -> JsonObject:
    return {key: value for key, value in document.items() if key != _TABLE}


def _parsed(text: str) -> dict[str, JsonValue]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"it is not valid TOML ({error})", NOT_TOUCHED) from error


def _shown(entry: JsonObject) -> JsonObject:
    return {key: value for key, value in entry.items() if value != {}}


def _value(value: JsonValue) -> str:
    """A string, a list of strings or a table of strings on one line. JSON's strings are TOML's, too."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(one)}" for key, one in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
