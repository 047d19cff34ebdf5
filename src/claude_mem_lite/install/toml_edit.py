"""Edits of one table in a TOML document as text: append, update and remove, all else left byte for byte.

Called by `mcp_registration` for Codex CLI. Every edit is checked by parsing the result."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from claude_mem_lite.errors import SettingsError
from claude_mem_lite.install.settings_files import NOT_TOUCHED
from claude_mem_lite.models import JsonObject, JsonValue

_TABLE = "mcp_servers"
_ENTRY = re.compile(r"^[ \t]*[^\s#].*\n?", re.MULTILINE)


def servers(text: str) -> JsonObject:
    """Return the servers of a configuration; SettingsError if unreadable."""
    table = _parsed(text).get(_TABLE, {})
    if not isinstance(table, dict):
        raise SettingsError(f"its `{_TABLE}` is no table", NOT_TOUCHED)
    return table


def gap_before(text: str) -> str:
    """Return the line ends between a text and an appended table."""
    return "" if not text.strip() else "\n" if text.endswith("\n") else "\n\n"


def append(text: str, name: str, entry: JsonObject) -> str:
    """Return the text with one more server at its end."""
    lines = [f"[{_TABLE}.{name}]", *(f"{key} = {_value(value)}" for key, value in entry.items() if value != {})]
    return _checked(text + gap_before(text) + "\n".join(lines) + "\n", text, name, _shown(entry))


def update(text: str, name: str, entry: JsonObject) -> str:
    """Return the text with new values for some keys of a server; the rest of its table stays."""

    def updated(before: str, table: str, behind: str) -> str:
        head, *lines = table.split("\n")
        for key, value in entry.items():
            lines = [line for line in lines if not re.match(rf"{key}\s*=", line)]
            if value != {}:
                lines.insert(0, f"{key} = {_value(value)}")
        return before + "\n".join((head, *lines)) + behind

    known = servers(text).get(name)
    unchanged = {key: value for key, value in known.items() if key not in entry} if isinstance(known, dict) else {}
    return _changed(text, name, updated, {**unchanged, **_shown(entry)})


def remove(text: str, name: str, gap: int) -> str:
    """Return the text without a server, and without `gap` line ends before it; undoes `append`."""

    def removed(before: str, _table: str, behind: str) -> str:
        for _ in range(gap):
            before = before.removesuffix("\n")
        if before and behind and not before.endswith("\n"):  # the last line had no end, and text follows the table
            before += "\n"
        return before + behind

    return _changed(text, name, removed, None)


def _changed(text: str, name: str, change: Callable[[str, str, str], str], entry: JsonObject | None) -> str:
    """Return the text with a server's table changed. A multi-line string may look like its header, so the header counts
    that leaves all else unchanged."""
    for start, end in _extents(text, name):
        with suppress(SettingsError):
            return _checked(change(text[:start], text[start:end], text[end:]), text, name, entry)
    raise SettingsError(f"its server {name} is written in a form we cannot change", NOT_TOUCHED)


def _extents(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Yield the extent from the header of a server's table to its last entry, with its sub-tables. Comments and blank
    lines after that belong to the next table."""
    next_header = re.compile(rf'(?m)^[ \t]*\[(?!{_TABLE}\.(?:{name}|"{name}")\.)')
    for header in re.finditer(rf'(?m)^\[{_TABLE}\.(?:{name}|"{name}")\][ \t]*(?:#.*)?\r?$', text):
        following = next_header.search(text, header.end())
        *_, last = _ENTRY.finditer(text, header.start(), following.start() if following else len(text))
        yield header.start(), last.end()


def _checked(after: str, before: str, name: str, entry: JsonObject | None) -> str:
    """Return the text, if parsing proves that only one server changed."""
    document_before, document_after = _parsed(before), _parsed(after)
    others = {key: value for key, value in servers(before).items() if key != name}
    expected = {**others, name: entry} if entry is not None else others
    if servers(after) != expected or _without_servers(document_before) != _without_servers(document_after):
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
    """Return a string, a list of strings or a table of strings on one line. JSON's strings are TOML's, too."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_value(item)}" for key, item in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
