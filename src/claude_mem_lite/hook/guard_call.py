"""Tool call in the forms of each agent, and answers to it in the agent's own form. Imported by `guard_check`."""

from _json import encode_basestring_ascii as quoted

import guard_json  # type: ignore[import-not-found]
import guard_match  # type: ignore[import-not-found]

Members = dict[str, object]
Edit = tuple[str, list[tuple[str, str]]]
"""Written file, and each written text with the text that it replaces."""

SHELL_TOOLS = ("Bash", "run_shell_command")
EDIT_TOOLS = (*guard_match.EDIT_TOOLS, "write_file", "replace")
PATCH_TOOL = "apply_patch"
AFTER = "AfterTool"
"""Event of Gemini CLI behind a call: the only one at which it takes a reminder."""
MAX_TEXT = 1_500


def command_of(call: Members) -> str:
    """Return the line that a call runs in a shell; '' for other calls."""
    is_shell = guard_json.word(call, "tool_name") in SHELL_TOOLS
    line: str = guard_json.word(guard_json.members(call.get("tool_input")), "command") if is_shell else ""
    return line


def folder_of(call: Members) -> str:
    """Return the folder in which a call works; a command of Gemini CLI may name one of its own."""
    folder: str = guard_json.word(call, "cwd")
    own = guard_json.word(guard_json.members(call.get("tool_input")), "dir_path")
    return absolute(own, folder) if own and command_of(call) else folder


def edits_of(call: Members) -> list[Edit]:
    """Return the files that a call writes, with their texts."""
    tool, given = guard_json.word(call, "tool_name"), guard_json.members(call.get("tool_input"))
    folder: str = guard_json.word(call, "cwd")
    if tool == PATCH_TOOL:
        return patched(guard_json.word(given, "command") or guard_json.word(given, "input"), folder)
    if tool not in EDIT_TOOLS:
        return []
    return [(absolute(guard_match.written_path(given), folder), guard_match.written_texts(given))]


def patched(patch: str, folder: str) -> list[Edit]:
    """Return the files of a patch of Codex CLI, with the added and the removed lines of each."""
    found: list[Edit] = []
    added: list[str] = []
    removed: list[str] = []
    path = ""
    for line in [*patch.split("\n"), "*** End Patch"]:
        if not line.startswith("*** "):
            added += [line[1:]] if line.startswith("+") else []
            removed += [line[1:]] if line.startswith("-") else []
            continue
        if line.startswith("*** Move to: "):
            found.append((absolute(path, folder), []))
            path = line[len("*** Move to: ") :].strip()
        elif " File: " in line or line.startswith("*** End Patch"):
            if path:
                found.append((absolute(path, folder), [("\n".join(added), "\n".join(removed))]))
            added, removed = [], []
            path = line.partition(" File: ")[2].strip()
    return found


def absolute(path: str, folder: str) -> str:
    """Return a path as seen from a folder."""
    return path if path.startswith("/") else f"{folder}/{path}"


def decided(mode: str, agent: str, attended: bool) -> str:
    """Return what to do about a call: remind, ask or deny, or the next weaker that the agent knows."""
    if mode == "deny":
        return "deny"
    # Only Claude Code lets a hook ask: Codex CLI rejects the answer, Gemini CLI without a terminal waits for ever.
    is_asking = agent == "claude" and (mode == "ask" or (mode == "auto" and attended))
    return "ask" if is_asking else "remind"


def reason_of(guard: Members) -> str:
    """Return the text of a guard that fired: the rule with its date, what to do instead, how to stop the guard."""
    number, date, instead = (guard_json.word(guard, key) for key in ("id", "date", "instead"))
    said = f"Rule of the user{f' of {date}' if date else ''} (guard {number}): {guard_json.word(guard, 'reason')}"
    parts = [said if said.endswith((".", "!", "?")) else f"{said}.", f"Instead: {instead}." if instead else ""]
    parts.append(f"The user can stop this guard: claude-mem-lite guards pause {number}")
    return " ".join(part for part in parts if part)


def answer(agent: str, event: str, decision: str, reasons: list[str]) -> bytes:
    """Return the output of a hook in the agent's form; b"" if the agent takes none at this event."""
    text = "\n".join(reasons)[:MAX_TEXT]
    if decision == "remind":
        text = f"A guard let this call pass with a reminder. {text}"
    shown = quoted(text)
    if agent == "gemini":
        if decision == "remind":
            return in_form(f'"hookEventName":"{AFTER}","additionalContext":{shown}') if event == AFTER else b""
        return f'{{"decision":"deny","reason":{shown}}}'.encode() if event != AFTER else b""
    if decision == "remind":
        return in_form(f'"hookEventName":"PreToolUse","additionalContext":{shown}')
    decided = f'"permissionDecision":"{decision}","permissionDecisionReason":{shown}'
    return in_form(f'"hookEventName":"PreToolUse",{decided}')


def in_form(members: str) -> bytes:
    """Return members of an answer in Claude Code's form."""
    return f'{{"hookSpecificOutput":{{{members}}}}}'.encode()


def trial(numbers: list[str]) -> bytes:
    """Return the output of a trial: the guards that fired."""
    return f'{{"fired":[{",".join(map(quoted, numbers))}]}}'.encode()


def note(members: dict[str, str], ms: float) -> bytes:
    """Return the note of a guard that fired."""
    texts = ",".join([f'"{key}":{quoted(value)}' for key, value in members.items()])
    return f'{{"hook_event_name":"GuardFired",{texts},"ms":{ms:.2f}}}'.encode()
