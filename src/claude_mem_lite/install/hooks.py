"""The one source of the hook configuration: what `install` writes, `hooks` prints and `doctor` compares.

Nothing here touches a file."""

import re
import shlex
from collections.abc import Mapping

from claude_mem_lite.agents import IGNORED_TOOLS, OWN_TOOL, TOOL_EVENTS
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home

# Seconds the client waits. Its own default is 600; at the end of a session it allows 1.5 unless told more.
TIMEOUTS_S: Mapping[str, int] = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PostToolUse": 5,
    "PostToolUseFailure": 5,
    "PreCompact": 5,
    "SubagentStop": 5,
    "Stop": 5,
    "StopFailure": 5,
    "SessionEnd": 2,
}
_PROGRAM_ENDING = "claude_mem_lite/hook/hook.py"


def tool_matcher() -> str:
    """A matcher for every tool but those never captured.

    The client searches with it anywhere in a tool's name (2.1.325): without the `^` the lookahead would
    hold at some later letter of any name, and leave nothing out."""
    ignored = "|".join(map(re.escape, IGNORED_TOOLS))
    return f"^(?!({ignored})$|{OWN_TOOL})"


def hook_groups(home: Home) -> dict[str, JsonObject]:
    """Event -> the one entry we want under it in an agent's `hooks`."""
    return {event: _group(event, hook_command(home, event)) for event in TIMEOUTS_S}


def hook_settings(home: Home) -> JsonObject:
    """The configuration as it stands in a settings file that holds nothing else."""
    return {"hooks": {event: [group] for event, group in hook_groups(home).items()}}


def hook_command(home: Home, event: str) -> str:
    """The shell command of one event."""
    command = f"{shlex.quote(str(home.hook_python))} -I -S {shlex.quote(str(home.hook_program))} {event}"
    # The client ends this hook with SIGTERM some 10 ms after it started, before Python could ignore the signal:
    # 12 of 20 events were lost without the trap, none of 12 with it.
    return f'trap "" TERM; exec {command}' if event == "StopFailure" else command


def is_ours(hook: JsonValue) -> bool:
    """Whether an entry of a group's `hooks` runs our hook program, of whatever version or place."""
    command = hook.get("command") if isinstance(hook, dict) else None
    if not isinstance(command, str) or _PROGRAM_ENDING not in command:
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    return len(words) >= 3 and words[-2].endswith(f"/{_PROGRAM_ENDING}") and words[-1].isalnum()


def _group(event: str, command: str) -> JsonObject:
    hook: JsonObject = {"type": "command", "command": command, "timeout": TIMEOUTS_S[event]}
    return {"matcher": tool_matcher(), "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}
