"""Removal of context that claude-mem-lite injected itself: memory must not feed on itself."""

from collections.abc import Mapping

from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.safety.redact import texts_of

_OWN_BLOCKS = (
    ("<claude-mem-lite>", "</claude-mem-lite>"),
    ("--- memory (", "--- end memory ---"),
    ("--- the user's standing rules (", "--- end rules ---"),
)


def without_own_blocks(text: str) -> str:
    """Return the text without injected blocks of claude-mem-lite."""
    for begin, end in _OWN_BLOCKS:
        kept: list[str] = []
        after = 0
        while (at := text.find(begin, after)) >= 0:
            stop = text.find(end, at)
            if stop < 0:
                # An unclosed block was truncated.
                text = text[:at] if begin.startswith("<") else text
                break
            kept.append(text[after:at])
            after = stop + len(end)
        text = "".join((*kept, text[after:])) if after else text
    return text


def payload_without_own_blocks(payload: JsonObject) -> JsonObject:
    """Return a payload without injected blocks; the same object if there are none, as mostly."""
    if not any(begin in written for written in texts_of(payload) for begin, _ in _OWN_BLOCKS):
        return payload
    return {key: _without(item) for key, item in payload.items()}


def _without(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return without_own_blocks(value)
    if isinstance(value, Mapping):
        return {key: _without(item) for key, item in value.items()}
    return [_without(item) for item in value] if isinstance(value, list) else value
