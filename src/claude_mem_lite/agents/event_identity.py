"""Which events are one and the same, told twice: by the hooks of a plugin and of settings, or of two settings files."""

import hashlib
import json

from claude_mem_lite.agents.claude_code import KNOWN_EVENTS
from claude_mem_lite.event_names import event_of, is_past
from claude_mem_lite.models import JsonObject, text

WITHIN_S = 5.0
"""Clients run the hooks of an event side by side; how far apart they come depends on how busy the machine is."""
NUMBERED_WITHIN_S = 60.0
"""The same for what carries an id of its own, which no other event has: however slow the second hook was."""
_ONCE_A_PROMPT = ("UserPromptSubmit", "Stop")
_MARKS = ("prompt_id", "tool_use_id", "turn_id", "generation_id", "timestamp", "transcript_path")
_MORE = ("session_id", "agent_id", "source")


def identity(name: str, payload: JsonObject) -> tuple[str, ...] | None:
    """What tells an adapted payload from all others of a moment; None when two that look alike may well be two."""
    if not _is_marked(name, payload):
        return None
    return event_of(name), *(text(payload.get(key)) for key in (*_MARKS, *_MORE)), _content(payload)


def one_within_s(name: str, payload: JsonObject) -> float:
    """How far apart two of the same adapted payload may come and still be one event; 0 when they may well be two."""
    if not _is_marked(name, payload):
        return 0.0
    is_once = text(payload.get("prompt_id")) and event_of(name) in _ONCE_A_PROMPT
    return NUMBERED_WITHIN_S if is_once or text(payload.get("tool_use_id")) else WITHIN_S


def _is_marked(name: str, payload: JsonObject) -> bool:
    if is_past(name) or event_of(name) not in (*KNOWN_EVENTS, "AgentMessage"):
        return False
    return any(text(payload.get(key)) for key in _MARKS)


def _content(payload: JsonObject) -> str:
    """All that it says: the other marks may be the same in two prompts. A tool call is told by its own id, and long."""
    if text(payload.get("tool_use_id")):
        return ""
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
