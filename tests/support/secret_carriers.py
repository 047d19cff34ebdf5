"""Events as hooks send them, each of which carries a text in another place that an agent reads, writes or says."""

import html
import json
import shlex
from collections.abc import Callable

from claude_mem_lite.models import JsonValue

Json = dict[str, JsonValue]


def _event(name: str, **more: JsonValue) -> Json:
    return {"session_id": "s-1", "cwd": "/home/dev/shop", "hook_event_name": name, **more}


def _tool(name: str, given: Json, response: JsonValue) -> Json:
    return _event("PostToolUse", tool_name=name, tool_input=given, tool_response=response)


def _bash(stdout: str, stderr: str = "", command: str = "make check") -> Json:
    return _tool("Bash", {"command": command}, {"stdout": stdout, "stderr": stderr})


def _lines(text: str, form: str) -> str:
    return "\n".join(form.format(number, line) for number, line in enumerate(text.split("\n"), 1))


def _patch(text: str) -> Json:
    lines: list[JsonValue] = [" before", *(f"+{line}" for line in text.split("\n")), " after"]
    return {
        "filePath": "/home/dev/shop/a.conf",
        "originalFile": "before\nafter\n",
        "structuredPatch": [{"lines": lines}],
    }


def _dump(value: JsonValue) -> str:
    return json.dumps(value)


CARRIERS: dict[str, Callable[[str], Json]] = {
    "prompt": lambda text: _event("UserPromptSubmit", prompt=f"Please look at this:\n{text}"),
    "closing message": lambda text: _event("Stop", last_assistant_message=f"I set it up:\n\n{text}\n\nDone."),
    "standard output": lambda text: _bash(f"start\n{text}\nend"),
    "standard error": lambda text: _bash("", f"warning: seen\n{text}"),
    "output without line ends around it": _bash,
    "command": lambda text: _bash("ok", command=text),
    "heredoc": lambda text: _bash("", command=f"cat > a.conf <<'EOF'\n{text}\nEOF"),
    "commit message": lambda text: _bash("", command=f"git commit -m {shlex.quote(text)}"),
    "written file": lambda text: _tool(
        "Write", {"file_path": "/home/dev/shop/a.conf", "content": f"# settings\n{text}\n"}, {"type": "create"}
    ),
    "old and new of an edit": lambda text: _tool(
        "Edit", {"file_path": "/home/dev/shop/a.conf", "old_string": "x", "new_string": text}, {"originalFile": text}
    ),
    "lines of a patch": lambda text: _tool("Edit", {"file_path": "/home/dev/shop/a.conf"}, _patch(text)),
    "diff": lambda text: _bash(_lines(text, "+{1}")),
    "numbered file": lambda text: _tool(
        "Read", {"file_path": "/home/dev/shop/a.conf"}, {"type": "text", "file": {"content": _lines(text, "{0:6}→{1}")}}
    ),
    "numbered by tabs": lambda text: _bash(_lines(text, "{0:6}\t{1}"), command="cat -n a.conf"),
    "search": lambda text: _bash(_lines(text, "conf/a.conf:{0}:{1}"), command="grep -rn x conf"),
    "log": lambda text: _bash(_lines(text, "2026-03-01T10:00:0{0} INFO app: {1}")),
    "container log": lambda text: _bash(_lines(text, "web-1  | {1}")),
    "JSON in JSON": lambda text: _bash(_dump({"body": _dump({"text": text})})),
    "JSON thrice": lambda text: _bash(_dump(_dump(_dump([text])))),
    "Python repr": lambda text: _bash(f"Row(id=1, note={text!r})"),
    "HTML": lambda text: _tool("WebFetch", {"url": "https://shop.test"}, {"result": f"<pre>{html.escape(text)}</pre>"}),
    "reply of a tool": lambda text: _tool("mcp__shop__get", {"id": 1}, [{"type": "text", "text": text}]),
    "arguments of a tool": lambda text: _tool("mcp__shop__set", {"note": text, "all": ["a", text]}, "ok"),
    "error": lambda text: _event(
        "PostToolUseFailure", tool_name="Bash", tool_input={"command": "make"}, error=f"Exit code 2\n{text}"
    ),
    "quoted mail": lambda text: _event("UserPromptSubmit", prompt=_lines(text, "> {1}")),
    "Markdown list": lambda text: _event("UserPromptSubmit", prompt=f"- first\n{_lines(text, '- {1}')}\n- last"),
    "code block": lambda text: _event("Stop", last_assistant_message=f"```\n{text}\n```"),
    "indented": lambda text: _bash(_lines(text, "        {1}")),
    "list of lines": lambda text: _tool("mcp__shop__tail", {}, {"lines": ["a", *text.split("\n"), "b"]}),
    "subagent": lambda text: _tool("Agent", {"prompt": f"Look up\n{text}"}, {"content": [{"text": f"It is\n{text}"}]}),
}
"""By name: a text to an event that carries it."""
