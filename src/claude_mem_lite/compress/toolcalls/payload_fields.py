"""What tools were given and what they answered, of whatever shape, as text. Payloads are not to be trusted."""

from collections.abc import Mapping, Sequence

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.models import JsonObject, JsonValue, ToolCall, text

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
