"""Secrets out of text, before any database or model sees it; paths, ids and hashes stay.

Called by the worker on every event it takes in. Never raises and never reports what it found."""

from collections.abc import Mapping, Sequence

from claude_mem_lite.models import JsonValue
from claude_mem_lite.redaction.formats import without_known_secrets
from claude_mem_lite.redaction.names import MARK, is_secret_name, without_named_secrets
from claude_mem_lite.redaction.values import is_worth_finding, looks_real

_JOIN = "\n\x1e"
_DEEPEST = 200
_MOST_SOUGHT = 200
# What tells events apart: `/srv/token=one` and `/srv/token=two` are two projects.
_NAMES_THE_EVENT = frozenset(
    ("cwd", "session_id", "transcript_path", "hook_event_name", "tool_name", "prompt_id", "agent_id")
)
_HEADERS = ("authorization", "proxy-authorization", "cookie", "set-cookie")


def redact(text: str) -> str:
    """The text with every secret replaced by `[redacted:KIND]`."""
    found: set[str] = set()
    cleaned = _redact(text, found)
    return _without(_sought(found), cleaned)


def redact_json(value: JsonValue) -> JsonValue:
    """The same over every string of a JSON value, keys included; a list of strings is also read as one text.

    A secret that one string gives away is taken out of all others too; members that name the event keep theirs,
    unless it is of a known form."""
    found: set[str] = set()
    cleaned = _json(value, 0, found)
    sought = _sought(found)
    return _everywhere(sought, cleaned, 0) if sought else cleaned


def _redact(text: str, found: set[str]) -> str:
    return without_named_secrets(without_known_secrets(text), found) if len(text) >= 8 else text


def _sought(found: set[str]) -> list[str]:
    """What to look for elsewhere, longest first: a secret may be part of another."""
    return sorted(filter(is_worth_finding, found), key=lambda value: (-len(value), value))[:_MOST_SOUGHT]


def _without(sought: list[str], text: str) -> str:
    for secret in sought:
        text = text.replace(secret, MARK)
    return text


def _everywhere(sought: list[str], value: JsonValue, depth: int) -> JsonValue:
    if isinstance(value, str):
        return _without(sought, value)
    if isinstance(value, Mapping):
        return {
            _without(sought, key): item
            if depth == 0 and key in _NAMES_THE_EVENT
            else _everywhere(sought, item, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, Sequence):
        return [_everywhere(sought, item, depth + 1) for item in value]
    return value


def _json(value: JsonValue, depth: int, found: set[str]) -> JsonValue:
    if isinstance(value, str):
        return _redact(value, found)
    if depth > _DEEPEST:
        return None
    if isinstance(value, Mapping):
        return {_redact(key, found): _member(value, key, depth, found) for key in value}
    if isinstance(value, Sequence):
        strings = [item for item in value if isinstance(item, str)]
        if len(strings) == len(value):
            return _strings(strings, found)
        return [_json(item, depth + 1, found) for item in value]
    return value


def _member(value: Mapping[str, JsonValue], key: str, depth: int, found: set[str]) -> JsonValue:
    item = value[key]
    if not isinstance(item, str):
        return _json(item, depth + 1, found)
    if depth == 0 and key in _NAMES_THE_EVENT:
        return without_known_secrets(item)
    named = value.get("name", value.get("key"))
    name = named if key == "value" and isinstance(named, str) else key
    if is_secret_name(name) and looks_real(name, item, quoted=True, tight=True):
        found.add(item)
        return MARK
    if name.lower() in _HEADERS:
        return _redact(f"{name}: {item}", found).removeprefix(f"{name}: ")
    return _redact(item, found)


def _strings(strings: list[str], found: set[str]) -> list[JsonValue]:
    """A list of lines: a key spread over them is found, and what follows a `--password` is one."""
    if not strings:
        return []
    result: list[JsonValue] = []
    flag = ""
    for line in _redact(_JOIN.join(strings), found).split(_JOIN):
        is_secret = flag.startswith("-") and is_secret_name(flag) and looks_real(flag, line, quoted=True, tight=True)
        if is_secret:
            found.add(line)
        result.append(MARK if is_secret else line)
        flag = line
    return result
