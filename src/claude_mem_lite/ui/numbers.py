"""Numbers in what the worker told; anything else in their place is 0."""

from claude_mem_lite.models import JsonObject


def number(value: object) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else 0.0


def whole(told: JsonObject, name: str) -> int:
    return int(number(told.get(name)))
