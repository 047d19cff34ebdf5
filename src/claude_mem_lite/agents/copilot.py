"""Copilot CLI, by its documentation: under Claude Code's names of events payloads near to Claude Code's, own tools."""

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.models import JsonObject, text

MOMENTS = ("SessionStart", "PostToolUseFailure")
"""It drops what hooks of prompts and of calls that went well answer."""
_PATHS = ("path", "file_path", "filePath")
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
# What only Claude Code, and VS Code where it is as Claude Code, tell.
_CLAUDES = ("prompt_id", "permission_mode", "tool_use_id", "tool_response", "transcript_path")


def is_sender(payload: JsonObject) -> bool:
    """Whether a payload is Copilot's: it carries the time, which Claude Code's never do, and an own kind of end."""
    if not text(payload.get("timestamp")):
        return False
    return "tool_result" in payload or "stop_reason" in payload or not any(key in payload for key in _CLAUDES)


def answer(_event: str, context: str) -> JsonObject:
    return {"additionalContext": context}


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """What a hook of Copilot CLI told, in Claude Code's shape."""
    told = {
        **payload,
        "hook_event_name": event,
        "session_id": payload_builders.first_text(payload, "session_id", "sessionId"),
    }
    if event == "SessionStart" and text(payload.get("source")) == "new":
        told["source"] = "startup"
    elif event == "SubagentStop":
        told["agent_type"] = payload_builders.first_text(payload, "agent_name", "agentName", "agent_type") or "subagent"
    elif event in ("PostToolUse", "PostToolUseFailure"):
        return (_tool(event, told),)
    return (told,)


def _tool(event: str, told: JsonObject) -> JsonObject:
    named = payload_builders.first_text(told, "tool_name", "toolName")
    tool = _SAME.get(named, named)
    given = payload_builders.fields(told.get("tool_input", told.get("toolArgs")))
    path = payload_builders.absolute(payload_builders.first_text(given, *_PATHS), text(told.get("cwd")))
    if path and tool in ("Write", "Edit", "Read"):
        given = {**given, "file_path": path}
    result = payload_builders.fields(told.get("tool_result", told.get("toolResult")))
    shown = payload_builders.first_text(result, "text_result_for_llm", "textResultForLlm")
    kind = payload_builders.first_text(result, "result_type", "resultType")
    if event == "PostToolUseFailure" or kind in ("failure", "denied"):
        error = told.get("error")
        message = error if isinstance(error, str) else text(payload_builders.fields(error).get("message"))
        return payload_builders.failed(told, tool, given, message or shown or "failed")
    if tool == "Bash":
        return payload_builders.ran(told, text(given.get("command")), *_ended(shown))
    if tool == "Write" and path:
        return payload_builders.written(told, path, payload_builders.first_text(given, "file_text", "content"))
    if tool == "Edit" and path:
        old, new = (
            payload_builders.first_text(given, "old_str", "old_string"),
            payload_builders.first_text(given, "new_str", "new_string"),
        )
        return payload_builders.replaced(told, path, old, new)
    return payload_builders.called(told, tool, given, shown)


def _ended(shown: str) -> tuple[str, int]:
    """What a command printed, and the code it ended with, which Copilot writes behind it."""
    output, mark, code = shown.rpartition("<exited with exit code ")
    number = code.strip().removesuffix(">")
    return (output.rstrip("\n"), int(number)) if mark and number.isdecimal() and len(number) < 10 else (shown, 0)
