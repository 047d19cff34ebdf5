"""Raw bytes of a hook -> what the inbox keeps: parsed, capped, without secrets. Called at intake only;
nothing it is given may make it raise anything but PayloadError."""

import json

from claude_mem_lite.agents import text
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.redact import redact, redact_json

STORED_LIMIT = 512 * 1024
_STRING_LIMITS = (128 * 1024, 32 * 1024, 8 * 1024, 1024, 200)
_ALWAYS_KEPT = ("session_id", "cwd", "hook_event_name", "prompt_id", "agent_id", "agent_type", "tool_name")
_UNREADABLE_HEAD = 2000


def parse(raw: bytes) -> JsonObject:
    """The JSON object in the bytes; PayloadError says why there is none."""
    if not raw.strip():
        raise PayloadError("the payload is empty")
    try:
        value = json.loads(raw.decode("utf-8", "replace"))
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    except ValueError as error:
        raise PayloadError(f"the payload is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise PayloadError(f"the payload is a JSON {type(value).__name__}, not an object")
    return value


def to_stored(payload: JsonObject) -> str:
    """The payload as the inbox keeps it: at most STORED_LIMIT characters, secrets out.

    Capped first, at the ends of lines, because redacting 50 MB would take a minute."""
    try:
        stored = _encode(redact_json(_fit(payload)))
        if len(stored) > STORED_LIMIT:
            stored = _encode(redact_json({k: payload[k] for k in _ALWAYS_KEPT if k in payload and text(payload[k])}))
    except RecursionError:
        raise PayloadError("the payload is nested too deeply") from None
    if len(stored) > STORED_LIMIT:
        raise PayloadError("the payload's fields are too long to be real")
    return stored


def unreadable_head(raw: bytes) -> str:
    """The beginning of a payload that could not be parsed, for whoever looks at the error."""
    return redact(raw[:_UNREADABLE_HEAD].decode("utf-8", "replace").replace("\x00", "�"))


def cut_middle(value: str, limit: int) -> str:
    """Head and tail of a long text, cut at the ends of lines where there are any, the gap marked.

    A cut inside a line could leave half a token that no rule recognises."""
    if len(value) <= limit:
        return value
    head, tail = value[: limit * 2 // 3], value[-(limit // 3) :]
    head = head[: head.rfind("\n") + 1] or head[: head.rfind(" ") + 1]
    tail = tail[tail.find("\n") :] if "\n" in tail else tail[tail.find(" ") :] if " " in tail else ""
    return f"{head}[… {len(value) - len(head) - len(tail)} characters cut …]{tail}"


def _fit(payload: JsonObject) -> JsonValue:
    if len(_encode(payload)) <= STORED_LIMIT:
        return payload
    fitted: JsonValue = payload
    for limit in _STRING_LIMITS:
        fitted = _cut_strings(payload, limit)
        if len(_encode(fitted)) <= STORED_LIMIT:
            break
    return fitted


def _cut_strings(value: JsonValue, limit: int) -> JsonValue:
    if isinstance(value, str):
        return cut_middle(value, limit)
    if isinstance(value, list):
        return [_cut_strings(item, limit) for item in value]
    if isinstance(value, dict):
        return {key: _cut_strings(item, limit) for key, item in value.items()}
    return value


def _encode(value: JsonValue) -> str:
    """Compact JSON that SQLite can hold: ASCII, so that lone surrogates stay escaped."""
    return json.dumps(value, separators=(",", ":"))
