"""Cursor, by its documentation: events in camelCase, a conversation for a session, and results as JSON in a string."""

from claude_mem_lite.agents import payload_builders
from claude_mem_lite.models import JsonObject, JsonValue, text

MOMENTS = ("SessionStart", "PostToolUse")
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
"""Claude Code's names of events, and Cursor's. Of the closing words it has an event of its own."""
_OWN_TOOLS = ("memory_context", "memory_search", "memory_timeline", "memory_get", "memory_save", "memory_forget")
_SAME = {"Shell": "Bash", "Terminal": "Bash", "StrReplace": "Edit", "EditFile": "Edit", "Task": "Agent"}
_PATHS = ("file_path", "path", "target_file", "filePath")


def is_sender(payload: JsonObject) -> bool:
    """Whether a payload is Cursor's: nobody else has these members."""
    return bool(text(payload.get("cursor_version")) or text(payload.get("generation_id")))


def answer(_event: str, context: str) -> JsonObject:
    return {"additional_context": context}


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """What a hook of Cursor told, in Claude Code's shape."""
    roots = payload.get("workspace_roots")
    root = text(roots[0]) if isinstance(roots, list) and roots else ""
    told: dict[str, JsonValue] = {
        **payload,
        "hook_event_name": event,
        "session_id": payload_builders.first_text(payload, "conversation_id", "session_id"),
        "cwd": text(payload.get("cwd")) or root,
        "prompt_id": text(payload.get("generation_id")),
    }
    if event == "SessionStart":
        told["source"] = text(payload.get("source")) or "startup"
    elif event == "AgentMessage":
        told["last_assistant_message"] = text(payload.get("text"))
    elif event == "Stop" and text(payload.get("status")) == "error":
        told = {**told, "hook_event_name": "StopFailure", "error": text(payload.get("error_message")) or "error"}
    elif event == "SubagentStop":
        kind = payload_builders.first_text(payload, "subagent_type", "agent_type") or "subagent"
        said = payload_builders.first_text(payload, "summary", "result", "last_assistant_message")
        told = {**told, "agent_type": kind, "last_assistant_message": said}
    elif event in ("PostToolUse", "PostToolUseFailure"):
        return (_tool(event, told),)
    return (told,)


def _tool(event: str, told: JsonObject) -> JsonObject:
    named, given = text(told.get("tool_name")), payload_builders.fields(told.get("tool_input"))
    tool = _known_name(named)
    path = payload_builders.absolute(payload_builders.first_text(given, *_PATHS), text(told.get("cwd")))
    if event == "PostToolUseFailure":
        error = payload_builders.first_text(told, "error_message", "error") or text(told.get("failure_type"))
        return payload_builders.failed(told, tool, {**given, "file_path": path} if path else given, error or "failed")
    shown = told.get("tool_output", told.get("tool_response"))
    result = payload_builders.fields(shown)
    if tool == "Bash":
        code = result.get("exitCode", result.get("exit_code"))
        output = payload_builders.first_text(result, "stdout", "output") or ("" if result else text(shown))
        output += text(result.get("stderr"))
        return payload_builders.ran(told, text(given.get("command")), output, code if isinstance(code, int) else 0)
    if tool == "Write" and path:
        return payload_builders.written(
            told, path, payload_builders.first_text(given, "content", "contents", "code_edit")
        )
    if tool == "Edit" and path:
        old, new = payload_builders.first_text(given, "old_string"), payload_builders.first_text(given, "new_string")
        return payload_builders.replaced(told, path, old, new)
    if tool == "Delete" and path:
        return payload_builders.removed(told, path)
    if tool == "Read" and path:
        return payload_builders.opened(told, path, "")
    return payload_builders.called(told, tool, given, result or text(shown))


def _known_name(tool: str) -> str:
    """The name that Claude Code would have for a tool. Of MCP tools Cursor does not tell whose they are."""
    if not tool.startswith("MCP:"):
        return _SAME.get(tool, tool)
    of_server = tool.removeprefix("MCP:").strip()
    return f"mcp__{'claude-mem-lite' if of_server in _OWN_TOOLS else 'cursor'}__{of_server}"
