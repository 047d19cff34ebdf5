"""Chats of Gemini CLI (0.61): head of the session, and steps with the payloads of the hooks' adapter.

A newer client appends lines, of which a later one replaces an earlier message; an older one writes a JSON file."""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from claude_mem_lite.agents import gemini, payload_builders
from claude_mem_lite.importers.agent_session import (
    NO_FOLDER,
    OF_SUBAGENT,
    AgentSession,
    AgentStep,
    captured,
    joined_text,
)
from claude_mem_lite.importers.jsonl_reader import open_plain
from claude_mem_lite.importers.transcript_entries import blocks, time_ns, without_injected, word
from claude_mem_lite.models import JsonObject, JsonValue, text

AGENT = "gemini"
_MAX_PROJECTS_BYTES = 4 * 1024 * 1024
_NOT_TYPED = ("<session_context>", "This is the Gemini CLI. We are setting up the context", "/", "?")
"""Beginnings of user messages that are the client's context or its own commands."""


def is_head(line: JsonObject) -> bool:
    return "projectHash" in line and "sessionId" in line


def head(line: JsonObject, path: Path) -> AgentSession:
    """Return the session of a first line; the folder is noted beside the chats."""
    cwd = _folder(path, word(line.get("projectHash")))
    reason = OF_SUBAGENT if text(line.get("kind")) == "subagent" else "" if cwd else NO_FOLDER
    began_ns = time_ns(text(line.get("startTime")))
    return AgentSession(AGENT, word(line.get("sessionId")), cwd, began_ns=began_ns, unusable=reason)


def steps(lines: Iterable[JsonObject], session: AgentSession) -> Iterator[AgentStep]:
    """Yield the steps of a chat."""
    at_ns = session.began_ns
    for number, message in enumerate(_messages(lines)):
        at_ns = max(time_ns(text(message.get("timestamp"))), at_ns)
        id_ = word(message.get("id")) or f"{session.id}:{number}"
        if at_ns and message.get("type") == "user":
            yield from _prompt(message, AgentStep("prompt", at_ns, id_, session.cwd))
        elif at_ns and message.get("type") == "gemini":
            calls = message.get("toolCalls")
            for call in blocks(calls) if isinstance(calls, list) else []:
                at_ns = max(time_ns(text(call.get("timestamp"))), at_ns)
                ended = captured(_ended(call, session))
                if ended:
                    yield AgentStep("tool", at_ns, word(call.get("id")) or id_, session.cwd, calls=ended)
            said = joined_text(message.get("content")).strip()
            if said and not calls:
                yield AgentStep("reply", at_ns, id_, session.cwd, said)


def _messages(lines: Iterable[JsonObject]) -> list[JsonObject]:
    """Return the messages as they are in the end."""
    kept: dict[str, JsonObject] = {}
    for number, line in enumerate(lines):
        changed = payload_builders.fields(line.get("$set")) or line
        if isinstance(written := changed.get("messages"), list):
            kept = {word(one.get("id")) or f"#{at}": one for at, one in enumerate(written) if isinstance(one, dict)}
        elif rewound := word(line.get("$rewindTo")):
            while rewound in kept:  # from the end: a copy for each of many such lines takes hours
                kept.popitem()
        elif "type" in line:
            kept[word(line.get("id")) or f"#{number}"] = line
    return list(kept.values())


def _prompt(message: JsonObject, step: AgentStep) -> Iterator[AgentStep]:
    (adapted,) = gemini.adapt("UserPromptSubmit", {"prompt": joined_text(message.get("content"))})
    typed = without_injected(text(adapted.get("prompt")))
    if typed and not typed.startswith(_NOT_TYPED):
        yield replace(step, text=typed)


def _ended(call: JsonObject, session: AgentSession) -> tuple[JsonObject, ...]:
    """Return a finished call as the hook reports it."""
    name, status = word(call.get("name")), text(call.get("status"))
    if name in gemini.IGNORED_TOOLS or status not in ("success", "error"):
        return ()
    content, error = _result(call.get("result"))
    response: dict[str, JsonValue] = {"llmContent": content or error, "returnDisplay": call.get("resultDisplay")}
    if status == "error":
        response["error"] = {"message": error or content}
    payload: JsonObject = {
        "session_id": session.id,
        "cwd": session.cwd,
        "tool_use_id": word(call.get("id")),
        "tool_name": name,
        "tool_input": call.get("args"),
        "tool_response": response,
    }
    return gemini.adapt("PostToolUse", payload)


def _result(parts: JsonValue) -> tuple[str, str]:
    """Return output and error of a call."""
    responses = [
        payload_builders.fields(payload_builders.fields(part.get("functionResponse")).get("response"))
        for part in (blocks(parts) if isinstance(parts, list) else [])
    ]
    output = "\n".join(text(one.get("output")) for one in responses if one.get("output"))
    return output, "\n".join(text(one.get("error")) for one in responses if one.get("error"))


def _folder(path: Path, digest: str) -> str:
    """Return the folder of a chat: noted beside the chats, or found in the client's list of projects."""
    beside = path.parent.parent
    noted = _read(beside / ".project_root", 4096).strip()
    if os.path.isabs(noted):
        return noted
    try:
        known = payload_builders.fields(json.loads(_read(beside.parent.parent / "projects.json", _MAX_PROJECTS_BYTES)))
    except (ValueError, RecursionError):
        return ""
    projects = payload_builders.fields(known.get("projects"))
    return next((folder for folder, name in projects.items() if name == beside.name or _hash(folder) == digest), "")


def _hash(folder: str) -> str:
    return hashlib.sha256(folder.encode("utf-8", "replace")).hexdigest()


def _read(path: Path, max_bytes: int) -> str:
    try:
        with open_plain(path) as file:
            return file.read(max_bytes).decode("utf-8", "replace")
    except OSError:
        return ""
