"""Raw bytes of a hook -> what the inbox keeps: parsed, capped, without secrets. Called at intake only;
nothing it is given may make it raise anything but PayloadError."""

import json
from itertools import islice

from claude_mem_lite.errors import PayloadError
from claude_mem_lite.models import JsonObject, JsonValue, load_json, text
from claude_mem_lite.safety.redact import redact, redact_json

STORED_LIMIT = 512 * 1024
# How long strings and how many items may be, tried one after the other until the whole fits.
_CUTS = ((128 * 1024, 100_000), (32 * 1024, 10_000), (8 * 1024, 2000), (1024, 500), (200, 100), (200, 10))
_ALWAYS_KEPT = ("session_id", "cwd", "hook_event_name", "prompt_id", "agent_id", "agent_type", "tool_name")
_MAX_KEPT_LENGTH = 4096
_UNREADABLE_HEAD = 2000
_MAX_TOKEN_LENGTH = 1000


def parse(raw: bytes) -> JsonObject:
    """The JSON object in the bytes; PayloadError says why there is none."""
    if not raw.strip():
        raise PayloadError("the payload is empty")
    try:
        value = load_json(raw.decode("utf-8", "replace"))
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    except ValueError as error:
        raise PayloadError(f"the payload is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise PayloadError(f"the payload is a JSON {type(value).__name__}, not an object")
    for key in _ALWAYS_KEPT:
        given = text(value.get(key))
        if len(given) > _MAX_KEPT_LENGTH or "\x00" in given:
            raise PayloadError(f"the payload's {key} is nothing a client would send")
    return value


def to_stored(payload: JsonObject) -> str:
    """The payload as the inbox keeps it: at most STORED_LIMIT characters, secrets out.

    Capped first, at the ends of lines, because redacting 50 MB would hold up all else for seconds."""
    try:
        stored = _encode(redact_json(_fit(payload)))
        if len(stored) > STORED_LIMIT:
            stored = _encode(redact_json(_kept(payload)))
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    return stored


def unreadable_head(raw: bytes) -> str:
    """The beginning of a payload that could not be parsed, for whoever looks at the error."""
    cleaned = redact(raw[: _UNREADABLE_HEAD * 4].decode("utf-8", "replace").replace("\x00", "�"))
    if len(raw) > _UNREADABLE_HEAD * 4:
        # Half a token is not known for one.
        cleaned = cleaned[:-_MAX_TOKEN_LENGTH]
    return cleaned[:_UNREADABLE_HEAD]


def cut_middle(value: str, limit: int) -> str:
    """Head and tail of a long text, cut at the ends of lines where there are any, the gap marked.

    A cut inside a line could leave half a token that no rule recognises."""
    if len(value) <= limit:
        return value
    head, tail = value[: limit * 2 // 3], value[-(limit // 3) :]
    head = head[: head.rfind("\n") + 1] or head[: head.rfind(" ") + 1]
    tail = tail[tail.find("\n") :] if "\n" in tail else tail[tail.find(" ") :] if " " in tail else ""
    return f"{head}[… {len(value) - len(head) - len(tail)} characters cut …]{tail}"


def _kept(payload: JsonObject) -> JsonObject:
    return {key: payload[key] for key in _ALWAYS_KEPT if text(payload.get(key))}


def _fit(payload: JsonObject) -> JsonObject:
    """The payload with long strings cut, then with many items left out; what names the event stays whole."""
    if len(_encode(payload)) <= STORED_LIMIT:
        return payload
    for longest, most in _CUTS:
        fitted = {**_cut_members(payload, longest, most), **_kept(payload)}
        if len(_encode(fitted)) <= STORED_LIMIT:
            return fitted
    return _kept(payload)


def _cut(value: JsonValue, longest: int, most: int) -> JsonValue:
    if isinstance(value, str):
        return cut_middle(value, longest)
    if isinstance(value, list):
        head, tail = (value, []) if len(value) <= most else (value[: most * 2 // 3], value[-(most // 3) :])
        gap = [f"[… {len(value) - len(head) - len(tail)} items cut …]"] if len(value) > most else []
        return [*(_cut(item, longest, most) for item in head), *gap, *(_cut(item, longest, most) for item in tail)]
    return _cut_members(value, longest, most) if isinstance(value, dict) else value


def _cut_members(value: JsonObject, longest: int, most: int) -> dict[str, JsonValue]:
    return {cut_middle(key, longest): _cut(item, longest, most) for key, item in islice(value.items(), most)}


def _encode(value: JsonValue) -> str:
    """Compact JSON that SQLite can hold: ASCII, so that lone surrogates stay escaped."""
    return json.dumps(value, separators=(",", ":"))
