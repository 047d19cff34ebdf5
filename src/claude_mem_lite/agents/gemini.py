"""Gemini CLI 0.61: own names, tools and answers; injected context is part of its prompts."""

import re

from claude_mem_lite.agents import claude_code, payload_builders
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import JsonObject, JsonValue, text

TRIGGERS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
# PreCompress is not used: it runs before every request to the model, with or without compression.
EVENTS = {
    "SessionStart": "SessionStart",
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
    "SessionEnd": "SessionEnd",
}
"""Claude Code's names of events, with Gemini CLI's."""
IGNORED_TOOLS = ("glob", "grep_search", "search_file_content", "list_directory", "activate_skill", "update_topic")
_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"
_HOOK_CONTEXT = lazy(rf"\s*{_CONTEXT}.*?{_CONTEXT_END}\s*", re.DOTALL)
_UNTRUSTED = lazy(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>", re.DOTALL)
_BEFORE_OUTPUT = lazy(r"\A(?:Command: .*?\nDirectory: [^\n]*\n)?Output: ", re.DOTALL)
_BEHIND_OUTPUT = lazy(
    r"(?:\nError: \(none\))?(?:\nExit Code: (\d{1,9}|\(none\)))?(?:\nSignal: [^\n]*)?"
    r"(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\Z"
)
"""Lines that Gemini CLI appends to the output of a command: some of these, in this order. A command may print such
lines too, so only the last lines count."""
_SAME = {"glob": "Glob", "grep_search": "Grep", "search_file_content": "Grep", "list_directory": "LS", "web_fetch": "WebFetch", "google_web_search": "WebSearch", "invoke_agent": "Agent", "activate_skill": "Skill"}  # fmt: skip  # noqa: E501
"""Tools with another name in Claude Code, and with unused input."""


def answer(event: str, context: str) -> JsonObject:
    """Return Claude Code's answer with Gemini CLI's name of the event."""
    return claude_code.answer(EVENTS.get(event, event), context)


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """Return a Gemini CLI payload in Claude Code's form."""
    adapted = {key: value for key, value in payload.items() if key not in ("prompt", "prompt_response")}
    adapted["hook_event_name"] = event
    if event == "UserPromptSubmit":
        adapted["prompt"] = typed_prompt(text(payload.get("prompt")))
    elif event == "Stop":
        adapted["last_assistant_message"] = text(payload.get("prompt_response"))
    elif event == "PostToolUse":
        return (_tool(adapted),)
    return (adapted,)


def typed_prompt(prompt: str) -> str:
    """Return a prompt without the context of hooks before and after it. Brackets in the context are escaped, so its end
    is certain."""
    start, end = 0, len(prompt)
    while context := _HOOK_CONTEXT.match(prompt, start):
        start = context.end()
    last = _without_space(prompt, start, end)
    while prompt.endswith(_CONTEXT_END, start, last) and (at := prompt.rfind(_CONTEXT, start, last)) >= 0:
        end = last = _without_space(prompt, start, at)
    return prompt[start:end]


def _without_space(written: str, start: int, end: int) -> int:
    while end > start and written[end - 1].isspace():
        end -= 1
    return end


def _tool(payload: JsonObject) -> JsonObject:
    tool, tool_input = text(payload.get("tool_name")), payload_builders.fields(payload.get("tool_input"))
    response = payload_builders.fields(payload.get("tool_response"))
    shown, content = payload_builders.fields(response.get("returnDisplay")), response.get("llmContent")
    path = payload_builders.absolute(
        payload_builders.first_text(tool_input, "file_path", "absolute_path", "path"), text(payload.get("cwd"))
    )
    if tool == "run_shell_command":
        return _command(payload, text(tool_input.get("command")), content, response)
    known = _known_name(tool, payload_builders.fields(payload.get("mcp_context")))
    file = {"file_path": path}
    if error := payload_builders.fields(response.get("error")):
        named = {"write_file": "Write", "replace": "Edit", "read_file": "Read"}.get(tool, known)
        return payload_builders.failed(
            payload, named, file if path else tool_input, text(error.get("message")) or _plain(content)
        )
    original = text(shown.get("originalContent"))
    if tool == "write_file":
        return payload_builders.written(payload, path, text(tool_input.get("content")), original)
    if tool == "replace":
        return payload_builders.replaced(
            payload, path, text(tool_input.get("old_string")), text(tool_input.get("new_string")), original
        )
    if tool == "read_file":
        return payload_builders.opened(payload, path, _plain(content))
    if tool == "write_todos":
        return payload_builders.called(payload, "TodoWrite", {"todos": _todos(tool_input.get("todos"))}, {})
    return payload_builders.called(payload, known, tool_input, _plain(content))


def _command(payload: JsonObject, command: str, content: JsonValue, response: JsonObject) -> JsonObject:
    output, code = _ended(_plain(content), is_error=bool(response.get("error")))
    if response.get("error") and not code:
        return payload_builders.failed(payload, "Bash", {"command": command}, output)
    return payload_builders.ran(payload, command, output, code)


def _ended(shown: str, *, is_error: bool) -> tuple[str, int]:
    """Return output and exit code of a command. A cancelled or summarised command has no frame."""
    begins = _BEFORE_OUTPUT.match(shown)
    if not begins:
        return shown, 0
    shown = shown.rstrip("\n")
    behind = _BEHIND_OUTPUT.search(shown, begins.end())
    code = behind[1] if behind else None
    output = shown[begins.end() : behind.start() if behind else None]
    if is_error:
        output = output.rpartition("\nError: ")[0] or output
    return output.rstrip("\n"), int(code) if code and code.isdigit() else 0


def _plain(content: JsonValue) -> str:
    """Return the text of a tool result, without the marks of untrusted content."""
    if isinstance(content, list):
        content = "\n".join(text(part.get("text")) for part in content if isinstance(part, dict))
    joined = text(content)
    return untrusted[1] if (untrusted := _UNTRUSTED.match(joined)) else joined


def _known_name(tool: str, server: JsonObject) -> str:
    name, of_server = text(server.get("server_name")), text(server.get("tool_name"))
    return f"mcp__{name}__{of_server}" if name and of_server else _SAME.get(tool, tool)


def _todos(items: JsonValue) -> list[JsonObject]:
    todos = [payload_builders.fields(item) for item in items] if isinstance(items, list) else []
    return [
        {"content": payload_builders.first_text(item, "description", "content"), "status": text(item.get("status"))}
        for item in todos
    ]
