"""Raw bytes of a hook to the stored form: parsed, capped, without secrets. Called at intake only; no input raises
anything but PayloadError."""

import json
from collections.abc import Mapping, Sequence
from itertools import islice

from claude_mem_lite.errors import PayloadError
from claude_mem_lite.models import JsonObject, JsonValue, load_json, text
from claude_mem_lite.safety.redact import redact, redact_json, texts_of

STORED_LIMIT = 512 * 1024
# Maximum length of strings and number of items, tried in turn until the payload fits.
_CUTS = ((128 * 1024, 100_000), (32 * 1024, 10_000), (8 * 1024, 2000), (1024, 500), (200, 100), (200, 10))
_IDENTIFYING_FIELDS = ("session_id", "cwd", "hook_event_name", "prompt_id", "agent_id", "agent_type", "tool_name")
_MAX_FIELD_LENGTH = 4096
_MAX_HEAD_LENGTH = 2000
_MAX_TOKEN_LENGTH = 1000
_MAX_ESCAPE_LENGTH = len(r"\ud83d\ude00")
_MAX_FLOAT_LENGTH = 32


def parse(raw: bytes) -> JsonObject:
    """Return the JSON object in the bytes; PayloadError gives the reason if there is none."""
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
    return _checked(value)


def accept(payload: JsonObject) -> JsonObject:
    """Return a payload that is parsed already, without lone surrogates; PayloadError as in `parse`."""
    try:
        for written in texts_of(payload):
            written.encode()
    except UnicodeEncodeError:
        return parse(_encode(payload).encode())
    return _checked(payload)


def _checked(payload: JsonObject) -> JsonObject:
    for key in _IDENTIFYING_FIELDS:
        field = text(payload.get(key))
        if len(field) > _MAX_FIELD_LENGTH or "\x00" in field:
            raise PayloadError(f"the payload's {key} is nothing a client would send")
    return payload


def to_stored(payload: JsonObject) -> str:
    """Return the stored form: at most STORED_LIMIT characters, without secrets.

    Capped first, at line ends, because redacting 50 MB would block everything else for seconds."""
    try:
        fitted, encoded = _fit(payload)
        redacted = redact_json(fitted)
        stored = encoded if encoded and redacted == fitted else _encode(redacted)
        if len(stored) > STORED_LIMIT:
            stored = _encode(redact_json(_identifying(payload)))
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    return stored


def unreadable_head(raw: bytes) -> str:
    """Return the beginning of an unparsable payload, to be shown with the error."""
    cleaned = redact(raw[: _MAX_HEAD_LENGTH * 4].decode("utf-8", "replace").replace("\x00", "�"))
    if len(raw) > _MAX_HEAD_LENGTH * 4:
        # Half a token is not recognised as a secret.
        cleaned = cleaned[:-_MAX_TOKEN_LENGTH]
    return cleaned[:_MAX_HEAD_LENGTH]


def cut_middle(value: str, limit: int) -> str:
    """Return head and tail of a long text, cut at line ends if possible, with the gap marked.

    A cut inside a line could leave half a token that no rule recognises."""
    if len(value) <= limit:
        return value
    head, tail = value[: limit * 2 // 3], value[-(limit // 3) :]
    head = head[: head.rfind("\n") + 1] or head[: head.rfind(" ") + 1]
    tail = tail[tail.find("\n") :] if "\n" in tail else tail[tail.find(" ") :] if " " in tail else ""
    return f"{head}[… {len(value) - len(head) - len(tail)} characters cut …]{tail}"


def _identifying(payload: JsonObject) -> JsonObject:
    return {key: payload[key] for key in _IDENTIFYING_FIELDS if text(payload.get(key))}


def _fit(payload: JsonObject) -> tuple[JsonObject, str]:
    """Return the payload with long strings cut, then with items left out, and its encoding if needed for the size.

    The fields that identify the event stay whole."""
    if _max_encoded_length(payload) <= STORED_LIMIT:
        return payload, ""
    if len(encoded := _encode(payload)) <= STORED_LIMIT:
        return payload, encoded
    for max_length, max_items in _CUTS:
        fitted = {**_cut_members(payload, max_length, max_items), **_identifying(payload)}
        if len(encoded := _encode(fitted)) <= STORED_LIMIT:
            return fitted, encoded
    return _identifying(payload), ""


def _max_encoded_length(value: JsonValue) -> int:
    """Return an upper bound for `_encode`, whose longest character is a pair of escapes; most events are far smaller
    than the limit, and need not be encoded for their size."""
    if isinstance(value, str):
        return _MAX_ESCAPE_LENGTH * len(value) + 3
    if isinstance(value, Mapping):
        return 2 + sum(_MAX_ESCAPE_LENGTH * len(key) + 4 + _max_encoded_length(item) for key, item in value.items())
    if isinstance(value, Sequence):
        return 2 + sum(_max_encoded_length(item) + 1 for item in value)
    return value.bit_length() + 3 if isinstance(value, int) else _MAX_FLOAT_LENGTH


def _cut(value: JsonValue, max_length: int, max_items: int) -> JsonValue:
    if isinstance(value, str):
        return cut_middle(value, max_length)
    if isinstance(value, list):
        head, tail = (
            (value, []) if len(value) <= max_items else (value[: max_items * 2 // 3], value[-(max_items // 3) :])
        )
        gap = [f"[… {len(value) - len(head) - len(tail)} items cut …]"] if len(value) > max_items else []
        return [
            *(_cut(item, max_length, max_items) for item in head),
            *gap,
            *(_cut(item, max_length, max_items) for item in tail),
        ]
    return _cut_members(value, max_length, max_items) if isinstance(value, dict) else value


def _cut_members(value: JsonObject, max_length: int, max_items: int) -> dict[str, JsonValue]:
    return {
        cut_middle(key, max_length): _cut(item, max_length, max_items) for key, item in islice(value.items(), max_items)
    }


def _encode(value: JsonValue) -> str:
    """Return compact JSON that SQLite can hold: ASCII, so that lone surrogates stay escaped."""
    return json.dumps(value, separators=(",", ":"))
