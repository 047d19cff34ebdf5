"""Which events are one and the same, told twice: by the hooks of a plugin and of settings, or of two settings files."""

from claude_mem_lite.agents.claude_code import KNOWN_EVENTS
from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.spool_names import event_of, is_past

WITHIN_S = 5.0
"""Clients run the hooks of an event side by side; how far apart they come depends on how busy the machine is."""
_MARKS = ("prompt_id", "tool_use_id", "turn_id", "generation_id", "timestamp", "transcript_path")
_MORE = ("session_id", "agent_id", "source")


def identity(name: str, payload: JsonObject) -> tuple[str, ...] | None:
    """What tells an adapted payload from all others of a moment; None when two that look alike may well be two."""
    if is_past(name) or event_of(name) not in (*KNOWN_EVENTS, "AgentMessage"):
        return None
    marks = tuple(text(payload.get(key)) for key in _MARKS)
    return (event_of(name), *marks, *(text(payload.get(key)) for key in _MORE)) if any(marks) else None
