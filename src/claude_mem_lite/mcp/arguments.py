"""Arguments of tools as checked values; an unusable argument is refused in one sentence."""

import re
from collections.abc import Sequence

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.mcp.tool_schemas import KINDS
from claude_mem_lite.models import JsonObject
from claude_mem_lite.text import harmless

HOW_TO_FIND_IDS = "memory_search shows ids"

MAX_IDS = 20
MAX_QUERY_LENGTH = 2_000
"""Maximum length of a query. A longer text is a page, and its beginning says what it is about."""
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MAX_SHOWN_LENGTH = 40


def text(given: JsonObject, name: str) -> str:
    """Return a text, or ''."""
    value = given.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise MemoryLiteError(f"{name} is no text", f"give {name} as a string")
    return value.strip()


def query(given: JsonObject) -> str:
    """Return the query, cut to the maximum length."""
    return text(given, "query")[:MAX_QUERY_LENGTH]


def needed(given: JsonObject, name: str) -> str:
    if found := text(given, name):
        return found
    raise MemoryLiteError(f"{name} is missing", f"call it again with {name}")


def texts(given: JsonObject, name: str) -> Sequence[str]:
    """Return texts; a single text counts as a list."""
    value = given.get(name)
    if value is None:
        return []
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise MemoryLiteError(f"{name} is no list of texts", f"give {name} as a list of strings")
    return [one.strip() for one in listed if one.strip()]


def ids(given: JsonObject, name: str = "ids") -> Sequence[str]:
    """Return ids, each once, without a leading `#`; refuse a text that cannot be an id."""
    found, problems = ids_and_problems(given, name)
    if problems:
        raise MemoryLiteError("; ".join(problems), HOW_TO_FIND_IDS)
    return found


def ids_and_problems(given: JsonObject, name: str = "ids") -> tuple[Sequence[str], Sequence[str]]:
    """Return the ids, and a sentence for each text that cannot be an id."""
    found = list(dict.fromkeys(one.lstrip("#") for one in texts(given, name)))
    if not found:
        raise MemoryLiteError("no id is given", HOW_TO_FIND_IDS)
    if len(found) > MAX_IDS:
        raise MemoryLiteError(f"{len(found)} ids are too many", f"give {MAX_IDS} at a time")
    bad = [f"{harmless(one[:_MAX_SHOWN_LENGTH])!r} is no id" for one in found if not _ID.fullmatch(one)]
    return [one for one in found if _ID.fullmatch(one)], bad


def kinds(given: JsonObject) -> Sequence[str]:
    found = [one.lower() for one in texts(given, "kinds")]
    for one in found:
        check_kind(one)
    return found


def check_kind(kind: str) -> None:
    if kind not in KINDS:
        raise MemoryLiteError(f"{kind[:40]!r} is no kind of memory", f"kinds are {', '.join(KINDS)}")


def number(given: JsonObject, name: str, default: int, most: int) -> int:
    """Return a whole number, limited to 1 and the maximum."""
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, str) and value.strip().isdecimal():
        value = int(value.strip()[:9])
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        raise MemoryLiteError(f"{name} is no number", f"give {name} as a whole number up to {most}")
    return min(max(value, 1), most)
