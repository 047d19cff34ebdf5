"""JSON in the text of a model -> the object that was asked for, whatever stands around it; never raises on any text."""

import json
import re
from collections.abc import Iterator, Mapping

from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, JsonValue

_MAX_STARTS = 40
_THOUGHT = lazy(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.S)
_NOTHING = lazy(r"[\s`]*(?:json)?\s*\[\s*\][\s`]*")
_EXTRA_COMMA = lazy(r",(\s*[}\]])")
_DECODER = json.JSONDecoder(strict=False)


def read_answer(text: str) -> JsonObject | None:
    """Return the object that a model was asked for, wherever in its text it stands; None when there is none.

    A list counts as the memories, and so do single memories: what is left of an answer that was cut off."""
    text = _THOUGHT.sub("", text)
    if _NOTHING.fullmatch(text):
        return {"memories": []}
    alone: list[JsonValue] = []
    for value in _values(text):
        if isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
            return {"memories": value}
        for found in (value, *value.values()) if isinstance(value, Mapping) else ():
            if isinstance(found, Mapping) and ("memories" in found or "headline" in found):
                return found
        if isinstance(value, Mapping) and ("title" in value or "summary" in value):
            alone.append(value)
    return {"memories": alone} if alone else None


def _values(text: str) -> Iterator[JsonValue]:
    """Yield every JSON value of a text that could be the answer, outermost first, without prose and fences."""
    starts = [found.start() for found in re.finditer(r"[{\[]", text)][: _MAX_STARTS * 20]
    end = tries = 0
    for start in starts:
        if start < end or tries == _MAX_STARTS:
            continue
        tries += 1
        for version in (text[start:], _EXTRA_COMMA.sub(r"\1", text[start:])):
            try:
                value, length = _DECODER.raw_decode(version)
            except (ValueError, RecursionError):
                continue
            end = start + length
            yield value
            break
