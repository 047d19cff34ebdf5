"""Codex CLI 0.166: Claude Code's names and answers, its own tools.

Its hooks do not tell how a command ended. The transcript they name does, before they run, so its end is looked at."""

import json
import os
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.models import JsonObject, text

MOMENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
_MAX_OF_TRANSCRIPT = 512 * 1024
_MAX_FILES = 500
"""Of one patch: each is an event of its own, and a patch that names more was made by a program."""
_HEADER = re.compile(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = re.compile(r"\*\*\* Move to: (.+)")
_EXIT = re.compile(r"\s*Exit code: (\d{1,9})")


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """What a hook of Codex told, in Claude Code's shape: a patch may be of several files."""
    told = {**payload, "hook_event_name": event}
    if turn := text(payload.get("turn_id")):
        told["prompt_id"] = turn
    if event != "PostToolUse":
        return (told,)
    tool, given = text(payload.get("tool_name")), payload_builders.fields(payload.get("tool_input"))
    if tool == "Bash":
        return (_command(told, text(given.get("command"))),)
    if tool == "apply_patch":
        return tuple(_patched(told, text(given.get("command"))))
    if tool == "update_plan":
        return (_planned(told, given),)
    return (told,)


def _command(told: JsonObject, command: str) -> JsonObject:
    response = told.get("tool_response")
    output = response if isinstance(response, str) else text(payload_builders.fields(response).get("output"))
    code = _exit_code(text(told.get("transcript_path")), text(told.get("tool_use_id")))
    return payload_builders.ran(told, command, output, code)


def _exit_code(transcript: str, call: str) -> int:
    """How a command ended, by the end of its session's transcript; 0 when that does not tell."""
    if not transcript or not call:
        return 0
    for line in reversed(_last_lines(transcript)):
        if b"exit_code" in line and call.encode() in line:
            try:
                item = json.loads(line)["payload"]["item"]
                if item["id"] == call and isinstance(item["exit_code"], int):
                    return int(item["exit_code"])
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
    return 0


def _last_lines(path: str) -> list[bytes]:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return []
    try:
        size = os.fstat(handle).st_size
        return os.pread(handle, _MAX_OF_TRANSCRIPT, max(size - _MAX_OF_TRANSCRIPT, 0)).split(b"\n")
    except OSError:
        return []
    finally:
        os.close(handle)


def _patched(told: JsonObject, patch: str) -> Iterator[JsonObject]:
    """One call for each thing that a patch did to a file."""
    response = text(told.get("tool_response"))
    ended = _EXIT.match(response)
    if ended and ended[1] != "0":
        yield payload_builders.failed(told, "Edit", {"file_path": _first_path(told, patch)}, response)
        return
    folder = text(told.get("cwd"))
    did = [
        one
        for action, path, lines in islice(_files(patch), _MAX_FILES)
        for one in _changed(told, action, payload_builders.absolute(path, folder), lines, folder)
    ]
    yield from did or [told]  # one that says nothing is told as it came


def _changed(told: JsonObject, action: str, path: str, lines: Sequence[str], folder: str) -> Iterator[JsonObject]:
    if action == "Add":
        content = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        yield payload_builders.written(told, path, content)
    elif action == "Delete":
        yield payload_builders.removed(told, path)
    else:
        if lines and (moved := _MOVED.fullmatch(lines[0])):
            lines, to = lines[1:], payload_builders.absolute(moved[1].strip(), folder)
            yield payload_builders.renamed(told, path, to)
            path = to
        parts = groupby((line for line in lines if not line.startswith("***")), lambda line: line.startswith("@@"))
        hunks = [list(part) for is_header, part in parts if not is_header]
        if hunks:
            yield payload_builders.edited(told, path, hunks)


def _files(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """What a patch does: add, update or delete, which file, and the lines that say how."""
    action, path, lines = "", "", list[str]()
    for line in patch.split("\n"):
        header = _HEADER.fullmatch(line.strip())
        if header or line.strip() == "*** End Patch":
            if action:
                yield action, path, lines
            action, path, lines = (header[1], header[2].strip(), []) if header else ("", "", [])
        elif action:
            lines.append(line)
    if action:
        yield action, path, lines


def _first_path(told: JsonObject, patch: str) -> str:
    return next((payload_builders.absolute(path, text(told.get("cwd"))) for _, path, _ in _files(patch)), "")


def _planned(told: JsonObject, given: JsonObject) -> JsonObject:
    plan = given.get("plan")
    steps = [payload_builders.fields(step) for step in plan] if isinstance(plan, list) else []
    todos = [{"content": text(step.get("step")), "status": text(step.get("status"))} for step in steps]
    return payload_builders.called(told, "TodoWrite", {"todos": todos}, {})
