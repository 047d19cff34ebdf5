"""Cursor, by its documentation: events in camelCase, conversations for sessions, and results as JSON in a string."""

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.models import JsonObject, JsonValue, text

TRIGGERS = ("SessionStart", "PostToolUse")
EVENTS = {
    "SessionStart": "sessionStart",
    "UserPromptSubmit": "beforeSubmitPrompt",
    "PostToolUse": "postToolUse",
    "PostToolUseFailure": "postToolUseFailure",
    "PreCompact": "preCompact",
    "SubagentStop": "subagentStop",
    "AgentMessage": "afterAgentResponse",
    "Stop": "stop",
    "SessionEnd": "sessionEnd",
}
"""Claude Code's names of events, with Cursor's. Cursor has an event of its own for the closing message."""
_OWN_TOOLS = ("memory_context", "memory_search", "memory_timeline", "memory_get", "memory_save", "memory_forget")
_SAME = {"Shell": "Bash", "Terminal": "Bash", "StrReplace": "Edit", "EditFile": "Edit", "Task": "Agent"}
_PATHS = ("file_path", "path", "target_file", "filePath")


def is_sender(payload: JsonObject) -> bool:
    """Return whether a payload is Cursor's: no other agent has these fields."""
    return bool(text(payload.get("cursor_version")) or text(payload.get("generation_id")))


def answer(_event: str, context: str) -> JsonObject:
    return {"additional_context": context}


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """Return a Cursor payload in Claude Code's form."""
    roots = payload.get("workspace_roots")
    root = text(roots[0]) if isinstance(roots, list) and roots else ""
    adapted: dict[str, JsonValue] = {
        **payload,
        "hook_event_name": event,
        "session_id": payload_builders.first_text(payload, "conversation_id", "session_id"),
        "cwd": text(payload.get("cwd")) or root,
        "prompt_id": text(payload.get("generation_id")),
    }
    if event == "SessionStart":
        adapted["source"] = text(payload.get("source")) or "startup"
    elif event == "AgentMessage":
        adapted["last_assistant_message"] = text(payload.get("text"))
    elif event == "Stop" and text(payload.get("status")) == "error":
        adapted = {**adapted, "hook_event_name": "StopFailure", "error": text(payload.get("error_message")) or "error"}
    elif event == "SubagentStop":
        kind = payload_builders.first_text(payload, "subagent_type", "agent_type") or "subagent"
        summary = payload_builders.first_text(payload, "summary", "result", "last_assistant_message")
        adapted = {**adapted, "agent_type": kind, "last_assistant_message": summary}
    elif event in ("PostToolUse", "PostToolUseFailure"):
        return (_tool(event, adapted),)
    return (adapted,)


def _tool(event: str, payload: JsonObject) -> JsonObject:
    named, tool_input = text(payload.get("tool_name")), payload_builders.fields(payload.get("tool_input"))
    tool = _known_name(named)
    path = payload_builders.absolute(payload_builders.first_text(tool_input, *_PATHS), text(payload.get("cwd")))
    if event == "PostToolUseFailure":
        error = payload_builders.first_text(payload, "error_message", "error") or text(payload.get("failure_type"))
        return payload_builders.failed(
            payload, tool, {**tool_input, "file_path": path} if path else tool_input, error or "failed"
        )
    shown = payload.get("tool_output", payload.get("tool_response"))
    result = payload_builders.fields(shown)
    if tool == "Bash":
        code = result.get("exitCode", result.get("exit_code"))
        output = payload_builders.first_text(result, "stdout", "output") or ("" if result else text(shown))
        output += text(result.get("stderr"))
        return payload_builders.ran(
            payload, text(tool_input.get("command")), output, code if isinstance(code, int) else 0
        )
    if tool == "Write" and path:
        return payload_builders.written(
            payload, path, payload_builders.first_text(tool_input, "content", "contents", "code_edit")
        )
    if tool == "Edit" and path:
        old, new = (
            payload_builders.first_text(tool_input, "old_string"),
            payload_builders.first_text(tool_input, "new_string"),
        )
        return payload_builders.replaced(payload, path, old, new)
    if tool == "Delete" and path:
        return payload_builders.removed(payload, path)
    if tool == "Read" and path:
        return payload_builders.opened(payload, path, "")
    return payload_builders.called(payload, tool, tool_input, result or text(shown))


def _known_name(tool: str) -> str:
    """Return Claude Code's name of a tool. Cursor does not name the server of an MCP tool."""
    if not tool.startswith("MCP:"):
        return _SAME.get(tool, tool)
    of_server = tool.removeprefix("MCP:").strip()
    return f"mcp__{'claude-mem-lite' if of_server in _OWN_TOOLS else 'cursor'}__{of_server}"
