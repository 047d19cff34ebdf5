"""What a user line of a transcript says: a prompt, a mark of the client, or nothing that anybody typed.

Text that the client or its hooks put in is taken out here; it must never be remembered as somebody's words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from claude_mem_lite.agents.injected_markup import (
    INJECTED_TAGS,
    INTERRUPTED,
    NOT_TYPED,
    NOTIFICATION,
    OWN_COMMAND,
    without_tags,
)
from claude_mem_lite.models import JsonObject, JsonValue, text

_CLIENTS_MARKS = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")

Mark = Literal["prompt", "notification", "interruption", "nothing"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a user line amounts to; `text` only when it is a prompt."""

    mark: Mark
    text: str = ""


NOTHING = Said("nothing")


def blocks(content: JsonValue) -> list[JsonObject]:
    """The blocks of a message, whether it was written as a text or as a list."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def text_of(content: JsonValue) -> str:
    """The text in a message or a tool's result, without what the client put in."""
    said = [text(block.get("text")) for block in blocks(content) if block.get("type") == "text"]
    return without_injected("\n".join(said))


def read_user_line(line: JsonObject, content: Sequence[JsonObject]) -> Said:
    """What a user line that brings no tool's result says."""
    if any(line.get(mark) is True for mark in _CLIENTS_MARKS):
        return NOTHING
    origin = line.get("origin")
    if isinstance(origin, dict) and origin.get("kind") == "task-notification":
        return Said("notification")
    said = without_injected("\n".join(text(block.get("text")) for block in content if block.get("type") == "text"))
    if said.startswith(INTERRUPTED):
        return Said("interruption")
    if said.startswith(NOTIFICATION):
        return Said("notification")
    if said.startswith("<command-message>"):
        said = _command(said)
    if not said or said.startswith((OWN_COMMAND, *NOT_TYPED)):
        return NOTHING
    return Said("prompt", said)


def without_injected(given: str) -> str:
    """The text without the blocks that the client and its hooks put into it."""
    return without_tags(given, INJECTED_TAGS).strip()


def _command(said: str) -> str:
    """What a command of the user's own asks for: its arguments, else only its name is known."""
    return _between(said, "<command-args>", "</command-args>") or _between(said, OWN_COMMAND, "</command-name>")


def _between(given: str, begin: str, end: str) -> str:
    return given.partition(begin)[2].partition(end)[0].strip()
