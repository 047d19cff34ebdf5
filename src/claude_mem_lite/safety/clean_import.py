"""What must never be stored, out of a memory that comes from a file: secrets, and what stands in private spans. Of what
a command says, the latter.

The memories of a file are cleaned until nothing changes any more, so that what was imported once is exported and
imported as it is."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import cast

from claude_mem_lite.hook.kernel import PRIVATE_MARKS
from claude_mem_lite.hook.private import MARK, hide, without_spans
from claude_mem_lite.models import JsonValue, Memory, SymbolChange, text
from claude_mem_lite.safety.redact import redact_json, rules_for, texts_of

_LISTS = ("facts", "files", "anchors", "tags")
# Checked word by word when they are read: one of a list, a number, a time, or an id that holds no secret.
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
_TEXTS = tuple(field.name for field in fields(Memory) if field.name not in (*_CHECKED, *_COUNTED))
# A folder keeps what only looks like a secret: `/srv/token=one` and `/srv/token=two` are two projects.
_FOLDER = re.compile(r"/(?!/)\S+")
_OF_PROJECT = "project:"
_MAX_ROUNDS = 5
_NO_RULES = rules_for("")
Values = dict[str, JsonValue]


def cleaned(memory: Memory) -> tuple[Memory, int]:
    """The memory without them, and how many of its values that changed."""
    before = _values(memory)
    values = before
    for _ in range(_MAX_ROUNDS):
        after = _without(values)
        if after == values:
            break
        values = after
    changed = [name for name in values if values[name] != before[name]]
    return (_with(memory, {name: values[name] for name in changed}), len(changed)) if changed else (memory, 0)


def _values(memory: Memory) -> Values:
    values: Values = {name: getattr(memory, name) for name in _TEXTS}
    for name in _LISTS:
        values[name] = list(getattr(memory, name))
    values["symbols"] = [asdict(symbol) for symbol in memory.symbols]
    return values


def _without(values: Values) -> Values:
    """The values after one round; one that only differs in what is no secret is the one that was given."""
    result = _without_private(values)
    scope = text(result["scope"])
    of_project = _OF_PROJECT if scope.startswith(_OF_PROJECT) else ""
    given = {name: result[name] for name in _TEXTS} | {"scope": scope.removeprefix(of_project)}
    folders = {name: value for name in ("project", "scope") if _FOLDER.fullmatch(value := text(given[name]))}
    told = cast("Mapping[str, JsonValue]", redact_json({name: given[name] for name in _TEXTS if name not in folders}))
    rules = rules_for("\n".join(folders.values()))
    told = {**told, **{name: rules.known_out(value) for name, value in folders.items()}}
    told["scope"] = of_project + text(told["scope"])
    for name in _TEXTS:
        # It also takes out colours, and tears items at its own separator.
        if told[name] != result[name] and _plain(told[name]) != _plain(result[name]):
            result[name] = told[name]
    return result


def without_private(raw: bytes) -> bytes:
    """JSON without its private spans; the very same when it has none."""
    lowered = raw.lower()
    # The one word first: most has not even that.
    if b"private" not in lowered or not any(mark in lowered for mark in PRIVATE_MARKS):
        return raw
    return without_spans(raw)


def has_private(given: str) -> bool:
    """Whether a text has private passages."""
    return hide(given) != given


def is_all_private(given: str) -> bool:
    """Whether nothing is left of a text without its private passages."""
    return not hide(given).replace(MARK, "").strip()


def _without_private(values: Values) -> Values:
    raw = json.dumps(values).encode()
    hidden = without_private(raw)
    told: Values = dict(values) if hidden is raw else json.loads(hidden)
    return told


def _plain(value: JsonValue) -> str:
    """All of a value's text in one, without colours."""
    return _NO_RULES.known_out("\n\x1e".join(texts_of(value)))


def _with(memory: Memory, changed: Values) -> Memory:
    values: dict[str, object] = {
        name: tuple(cast("list[str]", value)) if isinstance(value, list) else value for name, value in changed.items()
    }
    if "symbols" in changed:
        told = cast("list[Mapping[str, str]]", changed["symbols"])
        values["symbols"] = tuple(
            SymbolChange(new["file"], new["name"], old.action) for new, old in zip(told, memory.symbols, strict=True)
        )
    return replace(memory, **values)  # type: ignore[arg-type]  # by name, each of the type it had
