"""Which kept events tell of a memory or a session by its id: what forgetting has to erase besides its turns."""

import re
from collections.abc import Set as AbstractSet

from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.payload import parse
from claude_mem_lite.models import JsonObject, text, texts

_QUOTED = re.compile(r'"([^"\\]+)"')


def tells_of(event: str, payload: str, ids: AbstractSet[str]) -> bool:
    """Whether a command changed one of these, or a note tells of a context that gave one. What a command to forget says
    is no more than their ids."""
    if event == "Rendered":
        return not ids.isdisjoint(_QUOTED.findall(payload))
    try:
        told = parse(payload.encode())
    except PayloadError:
        return False
    if told.get("command") == "forget":
        return False
    # A person gives as much of an id as is needed.
    given = {one.strip().lstrip("#").lower() for one in (text(told.get("id")), *texts(told.get("ids")))} - {""}
    return any(id_.startswith(tuple(given)) for id_ in ids) or not ids.isdisjoint(_said_in(told))


def _said_in(told: JsonObject) -> set[str]:
    """Return the ids of the sentences that a command on a lesson quotes, and of their sessions."""
    said = told.get("said")
    quoted = [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []
    return {text(one.get(name)) for one in quoted for name in ("id", "session")} - {""}


def answers_lesson(found: str, ids: AbstractSet[str]) -> bool:
    """Return whether a command saved the answer to a question about a sentence of one of these turns, sessions and
    candidates."""
    try:
        lesson = parse(found.encode()).get("lesson") if found else None
    except PayloadError:
        return False
    return isinstance(lesson, dict) and any(text(lesson.get(key)) in ids for key in ("id", "turn", "session"))


def changes_project(payload: str, found: str, known_as: AbstractSet[str]) -> bool:
    """Return whether a command changed a project that is known by one of these ids and folders."""
    try:
        told = parse(payload.encode())
        split = parse(found.encode()).get("split") if found else None
    except PayloadError:
        return False
    named = [told, split] if isinstance(split, dict) else [told]
    return any(text(one.get(end)) in known_as for one in named for end in ("source", "target"))
