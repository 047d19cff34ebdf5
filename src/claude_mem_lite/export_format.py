"""One memory as a JSON object, the format of `export` and `import jsonl`: fields and their checks.

The command line checks a file before sending anything; the worker checks every request."""

import difflib
import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import get_args

from claude_mem_lite.models import KINDS, JsonObject, JsonValue, Memory, Origin, Status, SymbolAction, SymbolChange
from claude_mem_lite.safety.redact import rules_for
from claude_mem_lite.scopes import SCOPES, written_scope
from claude_mem_lite.timestamps import time_to_text

FIELDS = tuple(field.name for field in fields(Memory))
REQUIRED = ("kind", "title")
# Far more than any real memory. A longer memory would block storing and indexing.
MAX_MEMORY_LENGTH = 1_000_000
_MAX_SHOWN_LENGTH = 60
_MAX_INTEGER = 2**63 - 1
_MIN_SECRET_LENGTH = 16
_ID = re.compile(r"[a-z0-9][a-z0-9_-]{3,63}")
# JSON need not escape these characters, but a terminal obeys some, and many programs end a line at others.
_NEVER_RAW = re.compile("[\x7f-\x9f\u2028\u2029]")


def to_object(memory: Memory) -> JsonObject:
    """Return all fields in order; times are in UTC with microseconds."""
    # No asdict() for the whole memory: copying every value took ten times as long.
    return {
        **{name: getattr(memory, name) for name in FIELDS},
        "created_at": time_to_text(memory.created_at),
        "last_seen_at": time_to_text(memory.last_seen_at),
        "symbols": [asdict(symbol) for symbol in memory.symbols],
    }


def to_line(memory: JsonObject) -> str:
    """Return the object as one line with its newline; equal objects give equal text."""
    line = json.dumps(memory, ensure_ascii=False)
    return _NEVER_RAW.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n"


def values_of(memory: JsonObject) -> tuple[dict[str, object], list[str]]:
    """Return the valid fields as `Memory` takes them, and the problems of the others."""
    problems = [f"{name} is missing" for name in REQUIRED if name not in memory]
    values: dict[str, object] = {}
    for name, value in memory.items():
        read = _READ.get(name)
        if read is None:
            problems.append(f"unknown key {_shown(name)}{_nearest(name, FIELDS)}")
            continue
        try:
            values[name] = read(value)
        except ValueError as error:
            problems.append(f"{name} {error}")
    if not problems and _size(memory) > MAX_MEMORY_LENGTH:
        problems.append(f"longer than {MAX_MEMORY_LENGTH:,} characters")
    return values, problems


def _text(value: JsonValue) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be text, not {_shown(value)}")
    if "\x00" in value:
        raise ValueError("holds a NUL character")
    return value


def _filled(value: JsonValue) -> str:
    if not _text(value).strip():
        raise ValueError("is empty")
    return _text(value)


def _text_or_null(value: JsonValue) -> str | None:
    return None if value is None else _text(value)


def _texts(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise ValueError(f"must be a list of texts, not {_shown(value)}")
    return tuple(map(_text, value))


def _one_of(choices: Sequence[str]) -> Callable[[JsonValue], str]:
    def read(value: JsonValue) -> str:
        if value not in choices:
            near = _nearest(value, choices) if isinstance(value, str) else ""
            raise ValueError(f"cannot be {_shown(value)}{near or '; it is one of ' + ', '.join(choices)}")
        return str(value)

    return read


def _id(value: JsonValue) -> str:
    id_ = _text(value)
    if not _ID.fullmatch(id_):
        raise ValueError(
            f"cannot be {_shown(id_)}; it has 4 to 64 of a-z, 0-9, _ and -, begins with a letter or digit, "
            "and may be left out"
        )
    if len(id_) >= _MIN_SECRET_LENGTH and rules_for(id_).known_out(id_) != id_:
        raise ValueError("looks like a secret")
    return id_


def _scope(value: JsonValue) -> str:
    scope = written_scope(_text(value))
    if scope is None:
        raise ValueError(f"cannot be {_shown(value)}; it is {SCOPES}")
    return scope


def _time(value: JsonValue) -> datetime:
    try:
        time = datetime.fromisoformat(value if isinstance(value, str) else "")
    except ValueError:
        raise ValueError(f"must be a time like 2026-03-01T12:00:00Z, not {_shown(value)}") from None
    if time.tzinfo is None:
        raise ValueError(f"has no time zone: {_shown(value)}; write Z at its end if it is UTC")
    try:
        return time.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"is out of range: {_shown(value)}") from None


def _number(value: JsonValue) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ValueError(f"must be a number, not {_shown(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or number < 0:
        raise ValueError(f"cannot be {_shown(value)}")
    return number + 0.0  # SQLite knows no -0.0


def _share(value: JsonValue) -> float:
    if not (number := _number(value)) <= 1:
        raise ValueError(f"must be from 0 to 1, not {_shown(value)}")
    return number


def _whole(value: JsonValue) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MAX_INTEGER:
        raise ValueError(f"must be a whole number of 0 or more, not {_shown(value)}")
    return value


def _flag(value: JsonValue) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {_shown(value)}")
    return value


_SYMBOL = {"file": _text, "name": _text, "action": _one_of(get_args(SymbolAction))}


def _symbols(value: JsonValue) -> tuple[SymbolChange, ...]:
    if not isinstance(value, list):
        raise ValueError(f"must be a list, not {_shown(value)}")
    return tuple(_symbol(item) for item in value)


def _symbol(value: JsonValue) -> SymbolChange:
    if not isinstance(value, dict) or set(value) != set(_SYMBOL):
        raise ValueError(f"must hold objects with file, name and action, not {_shown(value)}")
    read: dict[str, str] = {}
    for name, item in value.items():
        try:
            read[name] = _SYMBOL[name](item)
        except ValueError as error:
            raise ValueError(f"has one whose {name} {error}") from None
    return SymbolChange(**read)  # type: ignore[arg-type]  # the action is one of those it may be


_READ: dict[str, Callable[[JsonValue], object]] = {
    "id": _id,
    "kind": _one_of(KINDS),
    "title": _filled,
    "summary": _text,
    "created_at": _time,
    "last_seen_at": _time,
    "scope": _scope,
    "project": _filled,
    "status": _one_of(get_args(Status)),
    "detail": _text,
    "facts": _texts,
    "files": _texts,
    "symbols": _symbols,
    "anchors": _texts,
    "tags": _texts,
    "session": _text,
    "prompt": _text,
    "branch": _text,
    "commit": _text,
    "origin": _one_of(get_args(Origin)),
    "author": _text,
    "trust": _share,
    "confidence": _share,
    "times_seen": _whole,
    "pinned": _flag,
    "superseded_by": _text_or_null,
    "made_by": _text,
    "prompt_version": _text,
    "tokens_in": _whole,
    "tokens_out": _whole,
    "cost_usd": _number,
}


def _size(value: JsonValue) -> int:
    """Return the number of characters; an item of a list counts one more."""
    if isinstance(value, str):
        return len(value)
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return sum([_size(item) + 1 for item in items])


def _nearest(word: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(word[:_MAX_SHOWN_LENGTH].lower().replace("-", "_"), known, n=1, cutoff=0.6)
    return f", did you mean {near[0]}?" if near else ""


def _shown(value: JsonValue) -> str:
    """Return a value as JSON for a message, cut if long."""
    text = json.dumps(value[: _MAX_SHOWN_LENGTH * 2] if isinstance(value, str) else value)
    return text if len(text) <= _MAX_SHOWN_LENGTH else f"{text[:_MAX_SHOWN_LENGTH]}…"
