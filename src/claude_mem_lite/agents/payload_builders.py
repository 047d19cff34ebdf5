"""Pieces that the adapters make Claude-shaped payloads of. Payloads are not to be trusted."""

import json
import os
import shlex
from collections.abc import Sequence

from claude_mem_lite.models import JsonObject, JsonValue, text


def fields(value: JsonValue) -> JsonObject:
    """An object as it is, also when it is written as JSON in a string; anything else as an empty one."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def first_text(source: JsonObject, *keys: str) -> str:
    """The first of these members that is a text with something in it."""
    return next((found for key in keys if (found := text(source.get(key)))), "")


def absolute(path: str, folder: str) -> str:
    """A path as Claude Code names it."""
    return os.path.normpath(os.path.join(folder, path)) if path else ""


def called(payload: JsonObject, tool: str, given: JsonObject, response: JsonValue) -> JsonObject:
    """A tool call that went well."""
    name = "PostToolUse"
    return {**payload, "hook_event_name": name, "tool_name": tool, "tool_input": given, "tool_response": response}


def failed(payload: JsonObject, tool: str, given: JsonObject, error: str) -> JsonObject:
    """A tool call that failed."""
    kept = {key: value for key, value in payload.items() if key != "tool_response"}
    return {**kept, "hook_event_name": "PostToolUseFailure", "tool_name": tool, "tool_input": given, "error": error}


def ran(payload: JsonObject, command: str, output: str, code: int) -> JsonObject:
    """A shell command that ended with a code."""
    given = {"command": command}
    if code:
        return failed(payload, "Bash", given, f"Exit code {code}\n{output}")
    return called(payload, "Bash", given, {"stdout": output, "stderr": "", "interrupted": False})


def opened(payload: JsonObject, path: str, content: str) -> JsonObject:
    """A file that was read."""
    return called(
        payload, "Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": content}}
    )


def removed(payload: JsonObject, path: str) -> JsonObject:
    """A file that was deleted: told as the command that does it, which Claude Code would have run."""
    return ran(payload, shlex.join(["rm", path]), "", 0)


def renamed(payload: JsonObject, path: str, to: str) -> JsonObject:
    return ran(payload, shlex.join(["mv", path, to]), "", 0)


def written(payload: JsonObject, path: str, content: str, original: str = "") -> JsonObject:
    """A file that was written whole."""
    kind = "update" if original else "create"
    response = {"type": kind, "filePath": path, "content": content, "structuredPatch": [], "originalFile": original}
    return called(payload, "Write", {"file_path": path, "content": content}, response)


def edited(payload: JsonObject, path: str, hunks: Sequence[Sequence[str]]) -> JsonObject:
    """A file in which pieces were replaced: lines with their signs, as in a patch, of which no line number is known."""
    patch: list[JsonObject] = [{"oldStart": 1, "lines": list(lines)} for lines in hunks]
    return called(payload, "Edit", {"file_path": path}, {"filePath": path, "structuredPatch": patch})


def replaced(payload: JsonObject, path: str, old: str, new: str, original: str = "") -> JsonObject:
    """A file in which one text was put in the place of another."""
    response: dict[str, JsonValue] = {"filePath": path, "oldString": old, "newString": new}
    if original:
        response["originalFile"] = original
    return called(payload, "Edit", {"file_path": path, "old_string": old, "new_string": new}, response)
