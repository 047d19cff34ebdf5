"""Builders of payloads in Claude Code's form, for the adapters. Input is untrusted."""

import os
import shlex
from collections.abc import Sequence

from claude_mem_lite.models import JsonObject, JsonValue, load_json, text


def fields(value: JsonValue) -> JsonObject:
    """Return an object, also from JSON in a string; {} for any other value."""
    if isinstance(value, str) and value.lstrip().startswith("{"):
        try:
            value = load_json(value)
        except (ValueError, RecursionError):
            return {}
    return value if isinstance(value, dict) else {}


def first_text(source: JsonObject, *keys: str) -> str:
    """Return the first of these fields that is a non-empty text."""
    return next((value for key in keys if (value := text(source.get(key)))), "")


def absolute(path: str, folder: str) -> str:
    """Return a path as Claude Code names it."""
    return os.path.normpath(os.path.join(folder, path)) if path else ""


def called(payload: JsonObject, tool: str, tool_input: JsonObject, response: JsonValue) -> JsonObject:
    """Return a successful tool call."""
    name = "PostToolUse"
    return {**payload, "hook_event_name": name, "tool_name": tool, "tool_input": tool_input, "tool_response": response}


def failed(payload: JsonObject, tool: str, tool_input: JsonObject, error: str) -> JsonObject:
    """Return a failed tool call."""
    rest = {key: value for key, value in payload.items() if key != "tool_response"}
    return {
        **rest,
        "hook_event_name": "PostToolUseFailure",
        "tool_name": tool,
        "tool_input": tool_input,
        "error": error,
    }


def ran(payload: JsonObject, command: str, output: str, code: int) -> JsonObject:
    """Return a shell command with its exit code."""
    tool_input = {"command": command}
    if code:
        return failed(payload, "Bash", tool_input, f"Exit code {code}\n{output}")
    return called(payload, "Bash", tool_input, {"stdout": output, "stderr": "", "interrupted": False})


def opened(payload: JsonObject, path: str, content: str) -> JsonObject:
    """Return a file read."""
    return called(
        payload, "Read", {"file_path": path}, {"type": "text", "file": {"filePath": path, "content": content}}
    )


def removed(payload: JsonObject, path: str) -> JsonObject:
    """Return the deletion of a file as a command, as Claude Code would have run it."""
    return ran(payload, shlex.join(["rm", path]), "", 0)


def renamed(payload: JsonObject, path: str, to: str) -> JsonObject:
    return ran(payload, shlex.join(["mv", path, to]), "", 0)


def written(payload: JsonObject, path: str, content: str, original: str = "") -> JsonObject:
    """Return the write of a whole file."""
    kind = "update" if original else "create"
    response = {"type": kind, "filePath": path, "content": content, "structuredPatch": [], "originalFile": original}
    return called(payload, "Write", {"file_path": path, "content": content}, response)


def edited(payload: JsonObject, path: str, hunks: Sequence[Sequence[str]]) -> JsonObject:
    """Return an edit by hunks: lines with their signs, as in a patch, without line numbers."""
    patch: list[JsonObject] = [{"oldStart": 1, "lines": list(lines)} for lines in hunks]
    return called(payload, "Edit", {"file_path": path}, {"filePath": path, "structuredPatch": patch})


def replaced(payload: JsonObject, path: str, old: str, new: str, original: str = "") -> JsonObject:
    """Return an edit that replaces one text by another."""
    response: dict[str, JsonValue] = {"filePath": path, "oldString": old, "newString": new}
    if original:
        response["originalFile"] = original
    return called(payload, "Edit", {"file_path": path, "old_string": old, "new_string": new}, response)
