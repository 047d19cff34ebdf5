"""Hook configuration of every agent, the single source for `install`, `hooks` and `doctor`.

This module touches no file."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from claude_mem_lite.agents import cursor, gemini
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, IGNORED_TOOLS, OWN_TOOL, TOOL_EVENTS
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import HOOK_PROGRAM, Home
from claude_mem_lite.values import frozen

# Seconds that the client waits. The client's default is 600; at the end of a session, 1.5.
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
GUARD_EVENT = "PreToolUse"
GUARD_TIMEOUT_S = 5
GUARDED_AGENTS = (CLAUDE_CODE, "codex", "gemini")
"""Agents whose hooks can refuse a tool call, as tried with the real clients."""
_EDITS = ("Edit", "Write", "MultiEdit", "NotebookEdit")
_TOOLS: Mapping[str, Mapping[str, str]] = {
    "codex": dict.fromkeys(_EDITS, "apply_patch"),
    "gemini": {"Bash": "run_shell_command", **dict.fromkeys(_EDITS, "write_file|replace")},
}
"""Names of agents for Claude Code's tools, where they differ."""


def tool_matcher() -> str:
    """Return a matcher for every captured tool.

    The client searches the matcher anywhere in a tool's name (2.1.325): without the `^`, the lookahead would hold at a
    later letter of any name, and exclude nothing."""
    ignored = "|".join(map(re.escape, IGNORED_TOOLS))
    return f"^(?!({ignored})$|{OWN_TOOL})"


def hook_groups(home: Home, agent: str = CLAUDE_CODE) -> dict[str, JsonObject]:
    """Return our entry for each event in an agent's `hooks`, in the agent's names and form."""
    config = _AGENTS[agent]
    return {
        agent_event: config.form(event, hook_command(home, event, agent))
        for event, agent_event in config.events.items()
    }


def hook_settings(home: Home, agent: str = CLAUDE_CODE) -> JsonObject:
    """Return the configuration of a settings file with nothing else."""
    hooks = {event: [group] for event, group in hook_groups(home, agent).items()}
    return {**besides_hooks(agent), "hooks": hooks}


def besides_hooks(agent: str) -> JsonObject:
    """Return the other keys of a file with nothing but an agent's hooks."""
    return _AGENTS[agent].besides if agent in _AGENTS else {}


def hook_command(home: Home, event: str, agent: str = CLAUDE_CODE) -> str:
    """Return the shell command of one event, by Claude Code's name. Only Claude Code goes unnamed, because others read
    its settings too.

    If the Python or the program is missing or closed, the command only reads the payload: the client shows a shell's
    message about a missing Python, stops at Python's exit code for a missing program, and reports a pipe that was
    closed unread. `doctor` reports both. The words work in sh, zsh, fish and csh, since agents use any of them."""
    python, program = shlex.quote(str(home.hook_python)), shlex.quote(str(home.hook_program))
    guard = f"[ -x {python} ] && [ -r {program} ] || exec cat >/dev/null"
    command = f"{guard}; exec {python} -I -S {program} {event}"
    if agent != CLAUDE_CODE:
        return f"{command} {agent}"
    # The client ends this hook with SIGTERM some 10 ms after its start, before Python can ignore the signal: 12 of 20
    # events were lost without the trap, none of 12 with it.
    return f'trap "" TERM; {command}' if event == "StopFailure" else command


def plugin_settings() -> JsonObject:
    """Return the hooks of the plugin: the commands read the plugin's own program, which finds the home."""
    return {"hooks": {event: [_group(event, _plugin_command(event))] for event in TIMEOUTS_S}}


def _plugin_command(event: str) -> str:
    """Return the plugin's command. Not `sh FILE`: one more process, and exit code 2 if the plugin was just removed.

    The shell expands the variable: the client would write `${…}` into the text unquoted, with any character in the
    path."""
    program = '"$CLAUDE_PLUGIN_ROOT/scripts/hook.sh"'
    command = f"set -- {event}; if [ -r {program} ]; then . {program}; fi"
    return f'trap "" TERM; {command}' if event == "StopFailure" else command


def guard_groups(home: Home, agent: str, name: str, tools: Sequence[str]) -> dict[str, JsonObject]:
    """Return the entry of the guards for each event in an agent's `hooks`; none for an agent whose hooks cannot refuse.

    `name` names the file of the project's guards, and `tools` the guarded tools by Claude Code's names."""
    if agent not in GUARDED_AGENTS:
        return {}
    known = _TOOLS.get(agent, {})
    matcher = "|".join(dict.fromkeys(known.get(tool, tool) for tool in tools))
    group = {**_AGENTS[agent].form(GUARD_EVENT, hook_command(home, f"{GUARD_EVENT} {name}", agent))}
    # Gemini CLI takes a reminder only behind the call.
    events = ("BeforeTool", "AfterTool") if agent == "gemini" else (GUARD_EVENT,)
    return {event: {"matcher": f"^({matcher})$", "hooks": group["hooks"]} for event in events}


def is_guard(hook: JsonValue) -> bool:
    """Return whether an entry of a group's `hooks` runs the guards, of any version or place."""
    return _arguments(hook)[:1] == [GUARD_EVENT]


def is_ours(hook: JsonValue, home: Home | None = None) -> bool:
    """Return whether an entry of a group's `hooks` runs our hook program, of any version or place, or any program in
    the home: the entry goes with the home. Guards have hooks of their own, which no install adds or removes."""
    command = command_of(hook)
    if command is None or is_guard(hook):
        return False
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    if home is not None and any(word.startswith(f"{home.root}/") for word in _programs(words)):
        return True
    arguments = _arguments(hook)
    return len(arguments) in (1, 2) and all(word.isalnum() for word in arguments)


def _arguments(hook: JsonValue) -> list[str]:
    """Return the words behind our hook program in the command of an entry; none for other commands."""
    try:
        words = shlex.split(command_of(hook) or "")
    except ValueError:
        return []
    at = max((at for at, word in enumerate(words) if word.endswith(f"/{HOOK_PROGRAM}")), default=0)
    return words[at + 1 :] if at > 0 else []


def command_of(hook: JsonValue) -> str | None:
    """Return the command of a hook; Copilot CLI calls it `bash`."""
    value = (hook.get("command") or hook.get("bash")) if isinstance(hook, dict) else None
    return value if isinstance(value, str) else None


@frozen
class _Agent:
    """Hooks of an agent: its names of events by Claude Code's names, the form of one hook, and other keys of its
    file."""

    events: Mapping[str, str]
    form: Callable[[str, str], JsonObject]
    besides: JsonObject = field(default_factory=dict)


def _programs(words: Sequence[str]) -> Sequence[str]:
    """Return the programs of a command: its first word, and the script of a Python. Files that are only read do not
    count."""
    rest = list(words)
    while rest and rest[0] in ("trap", "["):  # our guard before the program, up to its semicolon
        rest = rest[next((at for at, word in enumerate(rest) if word.endswith(";")), len(rest)) + 1 :]
    while rest and (rest[0] in ("exec", "env") or re.match(r"\w+=", rest[0])):
        del rest[0]
    is_python = bool(rest) and re.fullmatch(r"py(thon[\d.]*)?", rest[0].rpartition("/")[2])
    scripts = [word for word in rest[1:] if not word.startswith("-")] if is_python else []
    return [*rest[:1], *scripts[:1]]


def _all_but(*missing: str) -> Mapping[str, str]:
    return {event: event for event in TIMEOUTS_S if event not in missing}


def _timeout_s(event: str) -> int:
    return TIMEOUTS_S.get(event, GUARD_TIMEOUT_S)


def _group(event: str, command: str) -> JsonObject:
    hook: JsonObject = {"type": "command", "command": command, "timeout": _timeout_s(event)}
    return {"matcher": tool_matcher(), "hooks": [hook]} if event in TOOL_EVENTS else {"hooks": [hook]}


def _of_codex(event: str, command: str) -> JsonObject:
    """Return a hook without a matcher: Codex' regular expressions cannot exclude names."""
    return {"hooks": [{"type": "command", "command": command, "timeout": _timeout_s(event)}]}


def _of_gemini(event: str, command: str) -> JsonObject:
    """Return a hook with a timeout in milliseconds and Gemini's tool names."""
    hook: JsonObject = {
        "name": "claude-mem-lite",
        "type": "command",
        "command": command,
        "timeout": _timeout_s(event) * 1000,
    }
    if event not in TOOL_EVENTS:
        return {"hooks": [hook]}
    ignored = "|".join(map(re.escape, gemini.IGNORED_TOOLS))
    return {"matcher": f"^(?!({ignored})$|mcp_+claude-mem-lite_)", "hooks": [hook]}


def _of_cursor(event: str, command: str) -> JsonObject:
    return {"command": command, "timeout": TIMEOUTS_S.get(event, TIMEOUTS_S["Stop"])}


def _of_copilot(event: str, command: str) -> JsonObject:
    return {"type": "command", "bash": command, "timeoutSec": TIMEOUTS_S[event]}


_AGENTS: Mapping[str, _Agent] = {
    CLAUDE_CODE: _Agent(_all_but(), _group),
    "codex": _Agent(_all_but("PostToolUseFailure", "StopFailure"), _of_codex),
    "gemini": _Agent(gemini.EVENTS, _of_gemini),
    "cursor": _Agent(cursor.EVENTS, _of_cursor, {"version": 1}),
    "copilot": _Agent(_all_but("StopFailure"), _of_copilot, {"version": 1}),
}
