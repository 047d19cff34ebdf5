"""Fields of tool calls of any form, as text, and paths relative to the checkout. Payloads are not trusted."""

import posixpath
from collections.abc import Mapping, Sequence

from claude_mem_lite.compress.prose.clean import clean, storable
from claude_mem_lite.models import Event, JsonObject, JsonValue, ToolCall, text
from claude_mem_lite.values import frozen

COMMAND_TOOLS = ("Bash", "shell", "run_shell_command", "PowerShell")
WEB_TOOLS = ("WebFetch", "WebSearch")
READ_TOOLS = ("Read", "NotebookRead", "ViewFile", "read_file")
_MAX_DEPTH = 6


def flatten(value: JsonValue, depth: int = 0) -> str:
    """Return the text in a response of any form: a string, content blocks, an object with a usual field."""
    if isinstance(value, str):
        return value
    if depth > _MAX_DEPTH:
        return ""
    if isinstance(value, Mapping):
        for name in ("text", "result", "results", "content", "output", "stdout", "message", "title"):
            if text := flatten(value.get(name), depth + 1):
                return text
        return ""
    if isinstance(value, Sequence):
        return "\n".join(part for item in value[:50] if (part := flatten(item, depth + 1)))
    return ""


def typed_command(call: ToolCall) -> str:
    """Return the command of a call, from a line or from a list of words."""
    typed = call.input.get("command")
    return " ".join(word for word in typed if isinstance(word, str)) if isinstance(typed, list) else text(typed)


def fields(value: JsonValue) -> JsonObject:
    """Return an object unchanged, an empty object for any other value."""
    return value if isinstance(value, Mapping) else {}


def line(value: str) -> str:
    """Return a short text on one line, without terminal noise."""
    return " ".join(clean(value[:2_000]).split())[:300]


@frozen
class Folder:
    """A working folder, with its path inside of the checkout, '' at the root."""

    path: str
    inside: str = ""

    @property
    def root(self) -> str:
        """Return the root of the checkout, in the spelling of the client."""
        path = self.path.rstrip("/")
        return path.removesuffix(f"/{self.inside}") if self.inside else path

    def name(self, path: str) -> str:
        """Return a path relative to the root; a path outside of the checkout unchanged."""
        path = storable(path)
        if not self.root or path.startswith("~"):
            return path
        whole = path if path.startswith("/") else f"{self.path.rstrip('/')}/{path}"
        whole = posixpath.normpath(whole) if "/." in whole or "//" in whole else whole
        return whole[len(self.root) + 1 :] if whole.startswith(f"{self.root}/") else path

    def shorten(self, text: str) -> str:
        """Return a text with paths relative to the root."""
        return text.replace(f"{self.root}/", "") if len(self.root) > 1 else text


def folder_of(event: Event) -> Folder:
    return Folder(event.cwd, event.inside)


def file_of(call: ToolCall) -> str:
    """Return the path of the file that a call reads or writes, or ''."""
    return text(call.input.get("file_path")) or text(call.input.get("path"))


def closing_message(events: Sequence[Event]) -> str:
    """Return the last message of the agent in a turn; '' for an API error."""
    return next((event.message for event in reversed(events) if event.kind == "Stop" and event.message), "")


def shorten_paths(message: str, events: Sequence[Event]) -> str:
    """Return a text with paths relative to the checkout of a turn."""
    first = next((event for event in events if event.cwd), None)
    return folder_of(first).shorten(message) if first else message
