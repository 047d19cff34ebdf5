"""Files that others wrote: packages that were installed, and what lies outside of the checkout."""

import posixpath
from collections.abc import Iterable

from claude_mem_lite.compress.toolcalls import shell
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS, READ_TOOLS, typed_command
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import Event, ToolCall, text

_INSTALLED = lazy(
    r"(?:^|/)(?:node_modules|site-packages|dist-packages|vendor|\.venv|venv|\.cargo/registry|bower_components|\.m2)/"
)
_WRITTEN = lazy(r"(?:>{1,2}|\btee(?:\s+-a)?)\s*[\"']?([^\s\"';&|<>()]+)")
# What the agent or its programs noted for themselves.
_OWN_NOTES = lazy(r"/\.claude/|\.(?:log|out|err|tap)$|^/(?:dev|proc|sys)/")


def calls_reading_others(events: Iterable[Event]) -> list[ToolCall]:
    """The calls that showed a file which others wrote. What the turn itself has written is none."""
    found: list[ToolCall] = []
    own: set[str] = set()
    for event in events:
        call = event.tool
        if call is None:
            continue
        if call.tool in COMMAND_TOOLS:
            command = typed_command(call)
            if not shell.fetches(command):
                own.update(_WRITTEN.findall(command[:20_000]))
            shown = shell.showing(command)
            paths = [word.strip("\"'") for part in shown for word in part.split()[1:] if "/" in word]
        else:
            path = text(call.input.get("file_path")) or text(call.input.get("path"))
            paths = [path] if call.tool in READ_TOOLS else []
            if path and not paths:
                own.add(path)
        if any(path not in own and _is_others(path, event) for path in paths):
            found.append(call)
    return found


def _is_others(path: str, event: Event) -> bool:
    if _INSTALLED.search(path):
        return True
    root = event.cwd.rstrip("/").removesuffix(event.inside).rstrip("/")
    if not root or _OWN_NOTES.search(path):
        return False
    whole = posixpath.normpath(posixpath.join(event.cwd, path))
    return path.startswith("~") or not f"{whole}/".startswith(f"{root}/")
