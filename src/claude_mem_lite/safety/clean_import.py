"""Removal of secrets and private spans from imported memories, and of private spans from commands.

An imported memory is cleaned until nothing changes any more, so that export and import give the same memory."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import cast

from claude_mem_lite.hook.kernel import PRIVATE_MARKS
from claude_mem_lite.hook.private import MARK, hide, without_spans
from claude_mem_lite.models import JsonObject, JsonValue, Memory, SymbolChange, text
from claude_mem_lite.safety.redact import is_untouched, redact_json, rules_for, texts_of

_LISTS = ("facts", "files", "anchors", "tags")
# Checked one by one when read: enumerations, numbers, times, and ids without secrets.
_CHECKED = (
    "id",
    "kind",
    "status",
    "origin",
    "trust",
    "confidence",
    "times_seen",
    "pinned",
    "created_at",
    "last_seen_at",
)
_COUNTED = ("tokens_in", "tokens_out", "cost_usd")
_SYMBOLS = "symbols"
_TEXTS = tuple(field.name for field in fields(Memory) if field.name not in (*_CHECKED, *_COUNTED))
_SINGLE = tuple(name for name in _TEXTS if name not in (*_LISTS, _SYMBOLS))
# A folder keeps text that only looks like a secret: `/srv/token=one` and `/srv/token=two` are two projects.
_FOLDER = re.compile(r"/(?!/)\S+")
_OF_PROJECT = "project:"
_MAX_ROUNDS = 5
_PRIVATE_MARKS = tuple(mark.decode() for mark in PRIVATE_MARKS)
_NO_RULES = rules_for("")
Values = dict[str, JsonValue]


def cleaned(memory: Memory) -> tuple[Memory, int]:
    """Return the memory without secrets and private spans, and the number of changed values."""
    if _is_clean(memory):
        return memory, 0
    before = _values(memory)
    values = before
    for _ in range(_MAX_ROUNDS):
        after = _without(values)
        if after == values:
            break
        values = after
    changed = [name for name in values if values[name] != before[name]]
    return (_with(memory, {name: values[name] for name in changed}), len(changed)) if changed else (memory, 0)


def _is_clean(memory: Memory) -> bool:
    """Return whether nothing of a memory can be a secret or private, as of most."""
    single = {name: text(getattr(memory, name)) for name in _SINGLE}
    single["scope"] = single["scope"].removeprefix(_OF_PROJECT)
    texts = list(filter(None, single.values()))
    for symbol in memory.symbols:
        texts += (symbol.file, symbol.name, symbol.action)
    lists = [lines for name in _LISTS if (lines := getattr(memory, name))]
    if any("private" in written.lower() for written in (*texts, *(line for lines in lists for line in lines))):
        return False
    return is_untouched(texts, lists)


def _values(memory: Memory) -> Values:
    values: Values = {name: getattr(memory, name) for name in _TEXTS}
    for name in _LISTS:
        values[name] = list(getattr(memory, name))
    values["symbols"] = [asdict(symbol) for symbol in memory.symbols]
    return values


def _without(values: Values) -> Values:
    """Return the values after one round; a value that differs only in formatting stays unchanged."""
    result: Values = dict(without_private(values))
    scope = text(result["scope"])
    of_project = _OF_PROJECT if scope.startswith(_OF_PROJECT) else ""
    texts = {name: result[name] for name in _TEXTS} | {"scope": scope.removeprefix(of_project)}
    folders = {name: value for name in ("project", "scope") if _FOLDER.fullmatch(value := text(texts[name]))}
    redacted = cast(
        "Mapping[str, JsonValue]", redact_json({name: texts[name] for name in _TEXTS if name not in folders})
    )
    rules = rules_for("\n".join(folders.values()))
    redacted = {**redacted, **{name: rules.known_out(value) for name, value in folders.items()}}
    redacted["scope"] = of_project + text(redacted["scope"])
    for name in _TEXTS:
        # Redaction also removes colours, and splits items at its own separator.
        if redacted[name] != result[name] and _plain(redacted[name]) != _plain(result[name]):
            result[name] = redacted[name]
    return result


def without_private(value: JsonObject) -> JsonObject:
    """Return a JSON object without its private spans; the same object if there are none."""
    lowered = (written.lower() for written in texts_of(value))
    # The single word first: most texts do not have it.
    if not any("private" in written and any(mark in written for mark in _PRIVATE_MARKS) for written in lowered):
        return value
    hidden: JsonObject = json.loads(without_spans(json.dumps(value).encode()))
    return hidden


def has_private(passage: str) -> bool:
    """Return whether a text has private passages."""
    return hide(passage) != passage


def is_all_private(passage: str) -> bool:
    """Return whether a text consists of private passages only."""
    return not hide(passage).replace(MARK, "").strip()


def _plain(value: JsonValue) -> str:
    """Return all text of a value, without colours."""
    return _NO_RULES.known_out("\n\x1e".join(texts_of(value)))


def _with(memory: Memory, changed: Values) -> Memory:
    values: dict[str, object] = {
        name: tuple(cast("list[str]", value)) if isinstance(value, list) else value for name, value in changed.items()
    }
    if "symbols" in changed:
        symbols = cast("list[Mapping[str, str]]", changed["symbols"])
        values["symbols"] = tuple(
            SymbolChange(new["file"], new["name"], old.action) for new, old in zip(symbols, memory.symbols, strict=True)
        )
    return replace(memory, **values)  # type: ignore[arg-type]  # by name, each of its former type
