"""Claude Code's hook payload -> the one event form. The payloads of other agents are brought into its shape first."""

import re

from claude_mem_lite.errors import PayloadError
from claude_mem_lite.event_names import time_of
from claude_mem_lite.models import Event, JsonObject, ToolCall, text

CLAUDE_CODE = "claude-code"
TOOL_EVENTS = ("PostToolUse", "PostToolUseFailure")
TURN_ENDS = ("Stop", "StopFailure", "SessionEnd")
KNOWN_EVENTS = ("SessionStart", "UserPromptSubmit", *TOOL_EVENTS, "PreCompact", "SubagentStop", *TURN_ENDS)

# Searching and listing leave nothing worth remembering; our own MCP tools would feed memory to itself.
IGNORED_TOOLS = ("Glob", "Grep", "LS", "ListMcpResourcesTool", "ToolSearch", "TodoRead")
OWN_TOOL = r"mcp__(?:claude[-_]mem[-_]lite__|plugin_.*claude[-_]mem[-_]lite_)"
"""How the names of our own MCP tools begin, under our server's name or a plugin's; in a form that clients take, too."""


def event_from_payload(name: str, payload: JsonObject) -> Event:
    """The event a Claude Code payload describes; PayloadError when it names no event or no session."""
    kind = text(payload.get("hook_event_name"))
    if not kind:
        raise PayloadError("the payload names no hook_event_name")
    session = text(payload.get("session_id"))
    if not session:
        raise PayloadError("the payload names no session_id")
    return Event(
        name=name,
        kind=kind,
        session=session,
        at=time_of(name),
        cwd=text(payload.get("cwd")),
        prompt_id=text(payload.get("prompt_id")) or None,
        agent_id=text(payload.get("agent_id")) or None,
        prompt=text(payload.get("prompt")) if kind == "UserPromptSubmit" else None,
        tool=_tool_call(kind, payload),
        message=text(payload.get("last_assistant_message")) or None,
        source=text(payload.get("source")) or None,
        reason=text(payload.get("reason")) or text(payload.get("error")) or None,
        branch=text(payload.get("git_branch")),
        imported=payload.get("imported") is True,
        agent=text(payload.get("agent")) or CLAUDE_CODE,
        transcript=text(payload.get("transcript_path")),
        permission_mode=text(payload.get("permission_mode")),
    )


def answer(event: str, context: str) -> JsonObject:
    """Context as the hook of an event prints it."""
    return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": context}}


def is_own_tool(name: str) -> bool:
    """Whether a tool is one of our own MCP server's."""
    return re.match(OWN_TOOL, name) is not None


def why_skipped(event: Event, payload: JsonObject) -> str | None:
    """Why an event is not worth a place in a turn, or None when it is."""
    if event.kind not in KNOWN_EVENTS:
        return f"unknown event {event.kind}"
    if event.kind == "UserPromptSubmit" and (event.prompt or "").lstrip().startswith("<task-notification>"):
        return "a background task's notification, not a prompt"
    if event.kind == "SubagentStop" and not text(payload.get("agent_type")):
        return "the client's own helper, not a sub-agent"
    if event.kind in TOOL_EVENTS:
        if event.tool is None or not event.tool.tool:
            return "a tool event that names no tool"
        if event.tool.tool in IGNORED_TOOLS or is_own_tool(event.tool.tool):
            return f"tool {event.tool.tool} is not captured"
    return None


def _tool_call(kind: str, payload: JsonObject) -> ToolCall | None:
    if kind not in TOOL_EVENTS:
        return None
    given = payload.get("tool_input")
    return ToolCall(
        tool=text(payload.get("tool_name")),
        input=given if isinstance(given, dict) else {},
        response=payload.get("tool_response"),
        error=(text(payload.get("error")) or "failed") if kind == "PostToolUseFailure" else None,
    )
