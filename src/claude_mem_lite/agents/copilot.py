"""Copilot CLI 1.0: Claude Code's event names, similar payloads, own tools.

Its hook at the end of a turn does not report the closing message. The log of the session has it a moment later, so the
end of the log is read."""

import json
import os
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.agents.transcript_end import last_lines
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, text

TRIGGERS = ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure")
_MAX_WAIT_S = 2.0
"""Wait after the stop. The log was there within 0.15 s, on a busy machine: Copilot collects its lines before it writes
them. For an older stop the log is there, or will never be."""
_EXIT = lazy(r"\n?<[^<>\n]{1,80} with exit code (\d{1,9})>\s*\Z")
_PATHS = ("path", "file_path", "filePath")
_OF_SUBAGENT = {"SessionStart": "SubagentStart", "UserPromptSubmit": "SubagentPrompt", "Stop": "SubagentEnd"}
"""Names that no step takes for an event of the session. SubagentStop follows; other events get names alike."""
_KEPT = ("PostToolUse", "PostToolUseFailure", "SubagentStop")
"""Events of a sub-agent that count as the session's."""
_SAME = {
    "bash": "Bash",
    "create": "Write",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "powershell": "PowerShell",
    "task": "Agent",
    "view": "Read",
    "web_fetch": "WebFetch",
}
# Fields that only Claude Code sends, and VS Code in Claude Code's form.
_CLAUDES = ("prompt_id", "permission_mode", "tool_use_id", "tool_response", "transcript_path")


def is_sender(payload: JsonObject) -> bool:
    """Return whether a payload is Copilot's: it has a timestamp, which Claude Code never sends, and its own end
    fields."""
    if not text(payload.get("timestamp")):
        return False
    return "tool_result" in payload or "stop_reason" in payload or not any(key in payload for key in _CLAUDES)


def answer(_event: str, context: str) -> JsonObject:
    return {"additionalContext": context}


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """Return a Copilot CLI payload in Claude Code's form."""
    # A sub-agent reports as a session of its own, with a model's words as its prompt.
    parent = text(payload.get("parent_agent_id"))
    session = payload_builders.first_text(payload, "session_id", "sessionId")
    adapted = {**payload, "hook_event_name": event, "session_id": parent or session}
    if parent:
        adapted["agent_id"] = text(payload.get("agent_id")) or session
    if parent and event not in _KEPT:
        return ({**adapted, "hook_event_name": _OF_SUBAGENT.get(event, f"Subagent{event}")},)
    if event == "SessionStart" and text(payload.get("source")) == "new":
        adapted["source"] = "startup"
    elif event == "SubagentStop":
        adapted["agent_type"] = (
            payload_builders.first_text(payload, "agent_name", "agentName", "agent_type") or "subagent"
        )
    elif event in ("PostToolUse", "PostToolUseFailure"):
        return (_tool(event, adapted),)
    return (adapted,)


def _tool(event: str, payload: JsonObject) -> JsonObject:
    named = payload_builders.first_text(payload, "tool_name", "toolName")
    tool = _SAME.get(named, named)
    tool_input = payload_builders.fields(payload.get("tool_input", payload.get("toolArgs")))
    path = payload_builders.absolute(payload_builders.first_text(tool_input, *_PATHS), text(payload.get("cwd")))
    if path and tool in ("Write", "Edit", "Read"):
        tool_input = {**tool_input, "file_path": path}
    result = payload_builders.fields(payload.get("tool_result", payload.get("toolResult")))
    shown = payload_builders.first_text(result, "text_result_for_llm", "textResultForLlm")
    kind = payload_builders.first_text(result, "result_type", "resultType")
    if event == "PostToolUseFailure" or kind in ("failure", "denied"):
        error = payload.get("error")
        message = error if isinstance(error, str) else text(payload_builders.fields(error).get("message"))
        return payload_builders.failed(payload, tool, tool_input, message or shown or "failed")
    if tool == "Bash":
        return payload_builders.ran(payload, text(tool_input.get("command")), *_ended(shown))
    if tool == "Write" and path:
        return payload_builders.written(payload, path, payload_builders.first_text(tool_input, "file_text", "content"))
    if tool == "Edit" and path:
        old, new = (
            payload_builders.first_text(tool_input, "old_str", "old_string"),
            payload_builders.first_text(tool_input, "new_str", "new_string"),
        )
        return payload_builders.replaced(payload, path, old, new)
    return payload_builders.called(payload, tool, tool_input, shown)


def _ended(shown: str) -> tuple[str, int]:
    """Return output and exit code of a command; Copilot appends the code to the output."""
    ended = _EXIT.search(shown)
    return (shown[: ended.start()], int(ended[1])) if ended else (shown, 0)


def complete(payload: JsonObject, now_s: float) -> JsonObject | None:
    """Return an adapted payload, at the end of a turn with the closing message from the log of the session; None while
    the log may still get the message."""
    path, stop = text(payload.get("transcript_path")), _milliseconds(text(payload.get("timestamp")))
    if payload.get("hook_event_name") != "Stop" or not stop or not os.path.isdir(os.path.dirname(path)):
        return payload
    said = _said_before(stop, last_lines(path))
    if said is None and abs(now_s - stop / 1000) <= _MAX_WAIT_S:
        return None
    return {**payload, "last_assistant_message": said} if said else payload


def _said_before(stop: int, lines: Sequence[bytes]) -> str | None:
    """Return the closing message of the turn with this stop; None if the stop is not in the log yet."""
    number = str(stop).encode()
    at = next((at for at, line in enumerate(lines) if b'"agentStop"' in line and number in line), None)
    if at is None:
        return None
    for line in reversed(lines[:at]):
        try:
            entry = payload_builders.fields(json.loads(line))
        except (ValueError, RecursionError):
            continue
        data = payload_builders.fields(entry.get("data"))
        if entry.get("type") == "user.message":
            break
        if entry.get("type") == "assistant.message" and not data.get("parentToolCallId"):
            return "" if data.get("toolRequests") else text(data.get("content")).strip()
    return ""


def _milliseconds(stamp: str) -> int:
    try:
        return round(datetime.fromisoformat(stamp).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return 0
