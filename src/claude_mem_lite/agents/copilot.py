"""Copilot CLI, by its documentation: Claude Code's event names, similar payloads, own tools."""

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.models import JsonObject, text

TRIGGERS = ("SessionStart", "PostToolUseFailure")
"""Copilot drops the answers of prompt hooks and of hooks after successful calls."""
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
    adapted = {
        **payload,
        "hook_event_name": event,
        "session_id": payload_builders.first_text(payload, "session_id", "sessionId"),
    }
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
    output, mark, code = shown.rpartition("<exited with exit code ")
    number = code.strip().removesuffix(">")
    return (output.rstrip("\n"), int(number)) if mark and number.isdecimal() and len(number) < 10 else (shown, 0)
