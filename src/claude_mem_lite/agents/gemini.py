"""Gemini CLI 0.61: names, tools and answers of its own, and our context inside of what it calls the prompt."""

import re

from claude_mem_lite.agents import claude_code, payload_builders
from claude_mem_lite.models import JsonObject, JsonValue, text

MOMENTS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
# It has PreCompress too, but that runs before every request to the model, whether or not anything is compressed.
EVENTS = {
    "SessionStart": "SessionStart",
    "UserPromptSubmit": "BeforeAgent",
    "PostToolUse": "AfterTool",
    "Stop": "AfterAgent",
    "SessionEnd": "SessionEnd",
}
"""Claude Code's names of events, and Gemini CLI's."""
IGNORED_TOOLS = ("glob", "grep_search", "search_file_content", "list_directory", "activate_skill", "update_topic")
_CONTEXT, _CONTEXT_END = "<hook_context>", "</hook_context>"
_GIVEN = re.compile(rf"\s*{_CONTEXT}.*?{_CONTEXT_END}\s*", re.DOTALL)
_UNTRUSTED = re.compile(r"\A<untrusted_context>\n?(.*?)\n?</untrusted_context>", re.DOTALL)
_BEFORE_OUTPUT = re.compile(r"\A(?:Command: .*?\nDirectory: [^\n]*\n)?Output: ", re.DOTALL)
_BEHIND_OUTPUT = re.compile(
    r"(?:\nError: \(none\))?(?:\nExit Code: (\d{1,9}|\(none\)))?(?:\nSignal: [^\n]*)?"
    r"(?:\nBackground PIDs: [^\n]*)?(?:\nProcess Group PGID: [^\n]*)?\Z"
)
"""What it puts behind the output of a command: some of these lines, in this order. A command may print such lines too,
so only the last ones count."""
_SAME = {"glob": "Glob", "grep_search": "Grep", "search_file_content": "Grep", "list_directory": "LS", "web_fetch": "WebFetch", "google_web_search": "WebSearch", "invoke_agent": "Agent", "activate_skill": "Skill"}  # fmt: skip  # noqa: E501
"""Tools that Claude Code has under another name, and whose input nobody needs to know more of."""


def answer(event: str, context: str) -> JsonObject:
    """As Claude Code has it, but for the name of the event."""
    return claude_code.answer(EVENTS.get(event, event), context)


def adapt(event: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """What a hook of Gemini CLI told, in Claude Code's shape."""
    told = {key: value for key, value in payload.items() if key not in ("prompt", "prompt_response")}
    told["hook_event_name"] = event
    if event == "UserPromptSubmit":
        told["prompt"] = own_words(text(payload.get("prompt")))
    elif event == "Stop":
        told["last_assistant_message"] = text(payload.get("prompt_response"))
    elif event == "PostToolUse":
        return (_tool(told),)
    return (told,)


def own_words(prompt: str) -> str:
    """A prompt without what hooks put before and behind it. Brackets in that are escaped, so its end is certain."""
    start, end = 0, len(prompt)
    while found := _GIVEN.match(prompt, start):
        start = found.end()
    last = _without_space(prompt, start, end)
    while prompt.endswith(_CONTEXT_END, start, last) and (at := prompt.rfind(_CONTEXT, start, last)) >= 0:
        end = last = _without_space(prompt, start, at)
    return prompt[start:end]


def _without_space(given: str, start: int, end: int) -> int:
    while end > start and given[end - 1].isspace():
        end -= 1
    return end


def _tool(told: JsonObject) -> JsonObject:
    tool, given = text(told.get("tool_name")), payload_builders.fields(told.get("tool_input"))
    response = payload_builders.fields(told.get("tool_response"))
    shown, content = payload_builders.fields(response.get("returnDisplay")), response.get("llmContent")
    path = payload_builders.absolute(
        payload_builders.first_text(given, "file_path", "absolute_path", "path"), text(told.get("cwd"))
    )
    if tool == "run_shell_command":
        return _command(told, text(given.get("command")), content, response)
    known = _known_name(tool, payload_builders.fields(told.get("mcp_context")))
    file = {"file_path": path}
    if error := payload_builders.fields(response.get("error")):
        named = {"write_file": "Write", "replace": "Edit", "read_file": "Read"}.get(tool, known)
        return payload_builders.failed(
            told, named, file if path else given, text(error.get("message")) or _plain(content)
        )
    original = text(shown.get("originalContent"))
    if tool == "write_file":
        return payload_builders.written(told, path, text(given.get("content")), original)
    if tool == "replace":
        return payload_builders.replaced(
            told, path, text(given.get("old_string")), text(given.get("new_string")), original
        )
    if tool == "read_file":
        return payload_builders.opened(told, path, _plain(content))
    if tool == "write_todos":
        return payload_builders.called(told, "TodoWrite", {"todos": _todos(given.get("todos"))}, {})
    return payload_builders.called(told, known, given, _plain(content))


def _command(told: JsonObject, command: str, content: JsonValue, response: JsonObject) -> JsonObject:
    output, code = _ended(_plain(content), is_error=bool(response.get("error")))
    if response.get("error") and not code:
        return payload_builders.failed(told, "Bash", {"command": command}, output)
    return payload_builders.ran(told, command, output, code)


def _ended(shown: str, *, is_error: bool) -> tuple[str, int]:
    """What a command printed, and its exit code. One that was cancelled or summed up is told without a frame."""
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
    """What a tool told the model, without the marks around what is not to be trusted."""
    if isinstance(content, list):
        content = "\n".join(text(part.get("text")) for part in content if isinstance(part, dict))
    told = text(content)
    return found[1] if (found := _UNTRUSTED.match(told)) else told


def _known_name(tool: str, server: JsonObject) -> str:
    """The name that Claude Code would have for a tool."""
    name, of_server = text(server.get("server_name")), text(server.get("tool_name"))
    return f"mcp__{name}__{of_server}" if name and of_server else _SAME.get(tool, tool)


def _todos(given: JsonValue) -> list[JsonObject]:
    todos = [payload_builders.fields(one) for one in given] if isinstance(given, list) else []
    return [
        {"content": payload_builders.first_text(one, "description", "content"), "status": text(one.get("status"))}
        for one in todos
    ]
