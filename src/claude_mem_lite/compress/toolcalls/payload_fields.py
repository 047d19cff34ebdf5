"""What tools were given and what they answered, of whatever shape, as text. Payloads are not to be trusted.

The folder a tool worked in, and how paths are written as seen from the root of its checkout."""

import posixpath
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from claude_mem_lite.compress.prose.clean import clean, storable
from claude_mem_lite.models import Event, JsonObject, JsonValue, ToolCall, text

COMMAND_TOOLS = ("Bash", "shell", "run_shell_command", "PowerShell")
WEB_TOOLS = ("WebFetch", "WebSearch")
READ_TOOLS = ("Read", "NotebookRead", "ViewFile", "read_file")
_DEEPEST = 6


def flatten(value: JsonValue, depth: int = 0) -> str:
    """The text in a response of any shape: a string, content blocks, an object with one of the usual fields."""
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return ""
    if isinstance(value, Mapping):
        for name in ("text", "result", "results", "content", "output", "stdout", "message", "title"):
            if found := flatten(value.get(name), depth + 1):
                return found
        return ""
    if isinstance(value, Sequence):
        return "\n".join(part for item in value[:50] if (part := flatten(item, depth + 1)))
    return ""


def typed_command(call: ToolCall) -> str:
    """The command that was to be run, given as a line or as a list of words."""
    typed = call.input.get("command")
    return " ".join(word for word in typed if isinstance(word, str)) if isinstance(typed, list) else text(typed)


def fields(value: JsonValue) -> JsonObject:
    """An object as it is, anything else as an empty one."""
    return value if isinstance(value, Mapping) else {}


def line(value: str) -> str:
    """A short text on one line, without noise."""
    return " ".join(clean(value[:2_000]).split())[:300]


@dataclass(frozen=True, slots=True)
class Folder:
    """A working folder, and where it stands in its checkout: nothing at the root."""

    path: str
    inside: str = ""

    @property
    def root(self) -> str:
        """The root of the checkout, spelt as the client spells its folders."""
        path = self.path.rstrip("/")
        return path.removesuffix(f"/{self.inside}") if self.inside else path

    def name(self, path: str) -> str:
        """A path as seen from the root, when it is inside the checkout; else as it was given."""
        path = storable(path)
        if not self.root or path.startswith("~"):
            return path
        whole = path if path.startswith("/") else f"{self.path.rstrip('/')}/{path}"
        whole = posixpath.normpath(whole) if "/." in whole or "//" in whole else whole
        return whole[len(self.root) + 1 :] if whole.startswith(f"{self.root}/") else path

    def shorten(self, text: str) -> str:
        """A text with the paths in it as seen from the root."""
        return text.replace(f"{self.root}/", "") if len(self.root) > 1 else text


def folder_of(event: Event) -> Folder:
    return Folder(event.cwd, event.inside)
