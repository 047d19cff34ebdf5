"""Codex CLI 0.166: Claude Code's names and answers, own tools.

Its hooks do not report exit codes. The transcript has the exit code before the hook runs, so the end of the transcript
is read."""

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.agents.transcript_end import last_lines
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text

TRIGGERS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
_MAX_FILES = 500
"""Maximum per patch: each file is an event of its own, and a patch with more files was made by a program."""
_HEADER = lazy(r"\*\*\* (Add|Update|Delete) File: (.+)")
_MOVED = lazy(r"\*\*\* Move to: (.+)")
_EXIT = lazy(r"\s*Exit code: (\d{1,9})")


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """Return a Codex payload in Claude Code's form: several for a patch of several files."""
    adapted = {**payload, "hook_event_name": event}
    if turn := text(payload.get("turn_id")):
        adapted["prompt_id"] = turn
    if event != "PostToolUse":
        return (adapted,)
    tool, tool_input = text(payload.get("tool_name")), payload_builders.fields(payload.get("tool_input"))
    if tool == "Bash":
        return (_command(adapted, text(tool_input.get("command"))),)
    if tool == "apply_patch":
        return tuple(_patched(adapted, text(tool_input.get("command"))))
    if tool == "update_plan":
        return (_planned(adapted, tool_input),)
    return (adapted,)


def _command(payload: JsonObject, command: str) -> JsonObject:
    response = payload.get("tool_response")
    output = response if isinstance(response, str) else text(payload_builders.fields(response).get("output"))
    code = _exit_code(text(payload.get("transcript_path")), text(payload.get("tool_use_id")))
    return payload_builders.ran(payload, command, output, code)


def _exit_code(transcript: str, call: str) -> int:
    """Return the exit code of a command from the end of the session's transcript; 0 if unknown."""
    if not transcript or not call:
        return 0
    for line in reversed(last_lines(transcript)):
        if b"exit_code" in line and call.encode() in line:
            try:
                item = json.loads(line)["payload"]["item"]
                if item["id"] == call and isinstance(item["exit_code"], int):
                    return int(item["exit_code"])
            except (ValueError, LookupError, TypeError, RecursionError):
                continue
    return 0


def _patched(payload: JsonObject, patch: str) -> Iterator[JsonObject]:
    """Yield one call for each change of a file in a patch."""
    response = text(payload.get("tool_response"))
    ended = _EXIT.match(response)
    if ended and ended[1] != "0":
        yield payload_builders.failed(payload, "Edit", {"file_path": _first_path(payload, patch)}, response)
        return
    folder = text(payload.get("cwd"))
    calls = [
        call
        for action, path, lines in islice(_files(patch), _MAX_FILES)
        for call in _changed(payload, action, payload_builders.absolute(path, folder), lines, folder)
    ]
    yield from calls or [payload]  # an empty patch is passed on unchanged


def _changed(payload: JsonObject, action: str, path: str, lines: Sequence[str], folder: str) -> Iterator[JsonObject]:
    if action == "Add":
        content = "".join(f"{line[1:]}\n" for line in lines if line.startswith("+"))
        yield payload_builders.written(payload, path, content)
    elif action == "Delete":
        yield payload_builders.removed(payload, path)
    else:
        if lines and (moved := _MOVED.fullmatch(lines[0])):
            lines, to = lines[1:], payload_builders.absolute(moved[1].strip(), folder)
            yield payload_builders.renamed(payload, path, to)
            path = to
        parts = groupby((line for line in lines if not line.startswith("***")), lambda line: line.startswith("@@"))
        hunks = [list(part) for is_header, part in parts if not is_header]
        if hunks:
            yield payload_builders.edited(payload, path, hunks)


def _files(patch: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield the changes of a patch: action (add, update or delete), file and lines."""
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


def _first_path(payload: JsonObject, patch: str) -> str:
    return next((payload_builders.absolute(path, text(payload.get("cwd"))) for _, path, _ in _files(patch)), "")


def _planned(payload: JsonObject, tool_input: JsonObject) -> JsonObject:
    plan = tool_input.get("plan")
    steps = [payload_builders.fields(step) for step in plan] if isinstance(plan, list) else []
    todos = [{"content": text(step.get("step")), "status": text(step.get("status"))} for step in steps]
    return payload_builders.called(payload, "TodoWrite", {"todos": todos}, {})
