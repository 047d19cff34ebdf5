"""A text -> its first parts, each about one thing. A long text is as near to a question as the nearest of its parts."""

import re

_ENDS = re.compile(r"(?<=[.!?:;])\s+|\n+")
_LONG_ENOUGH = 150
MOST = 6


def parts_of(text: str) -> list[str]:
    """Sentences, put together to parts of some 150 characters, the first six; none when the text is one part."""
    parts: list[str] = []
    part = ""
    for sentence in _ENDS.split(text[: 8 * MOST * _LONG_ENOUGH]):
        if part and len(part) + len(sentence) > _LONG_ENOUGH:
            parts.append(part)
            part = ""
        part = f"{part} {sentence}".strip()
        while len(part) > 2 * _LONG_ENOUGH:
            parts.append(part[:_LONG_ENOUGH])
            part = part[_LONG_ENOUGH:]
        if len(parts) >= MOST:
            break
    parts += [part] if part else []
    return parts[:MOST] if len(parts) > 1 else []
