"""Adapters of agents: hook payload of each agent to the shared event form (Claude Code's), and context to the agent's
answer.

The module of an agent has `adapt`, and `answer` if the answer differs from Claude Code's. The name in the spool carries
Claude Code's name of the event for all agents."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence

from claude_mem_lite.agents import claude_code, codex, copilot, cursor, gemini
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, KNOWN_EVENTS, TOOL_EVENTS
from claude_mem_lite.event_names import agent_of, event_of, is_past
from claude_mem_lite.models import Event, JsonObject, text
from claude_mem_lite.values import frozen

WITHIN_S = 5.0
"""Clients run the hooks of an event in parallel; the distance depends on the load of the machine."""
NUMBERED_WITHIN_S = 60.0
"""Limit for payloads with an id of their own, however slow the second hook was."""
_ONCE_A_PROMPT = ("UserPromptSubmit", "Stop")
_MARKS = ("prompt_id", "tool_use_id", "turn_id", "generation_id", "timestamp", "transcript_path")
_MORE = ("session_id", "agent_id", "source")


@frozen
class _Adapter:
    """Adapter of one agent. `adapt`: event and payload to payloads in Claude Code's form, mostly one. `triggers`:
    events at which the agent takes context. `answer`: event and context to the output of the hook. `in_claude_form`:
    the agent accepts answers in Claude Code's form. `complete`: adapted payload and time to the payload, completed from
    the files of the agent; None while the agent may still write."""

    adapt: Callable[[str, JsonObject], tuple[JsonObject, ...]]
    triggers: tuple[str, ...]
    answer: Callable[[str, str], JsonObject] = claude_code.answer
    in_claude_form: bool = True
    complete: Callable[[JsonObject, float], JsonObject | None] = lambda payload, _: payload


_OF_CLAUDE_CODE = _Adapter(lambda _, payload: (payload,), ("SessionStart", "UserPromptSubmit", *TOOL_EVENTS))
_ADAPTERS: Mapping[str, _Adapter] = {
    "codex": _Adapter(codex.adapt, codex.TRIGGERS),
    "gemini": _Adapter(gemini.adapt, gemini.TRIGGERS, gemini.answer),
    "cursor": _Adapter(cursor.adapt, cursor.TRIGGERS, cursor.answer, in_claude_form=False),
    "copilot": _Adapter(
        copilot.adapt, copilot.TRIGGERS, copilot.answer, in_claude_form=False, complete=copilot.complete
    ),
}
NAMES = (CLAUDE_CODE, *_ADAPTERS)
IMPORTED = ("codex", "copilot", "gemini", "opencode")
"""Other agents whose stored sessions can be imported; opencode has no hooks."""


def sender(name: str, payload: JsonObject) -> str:
    """Return the agent that sent an event.

    An own configuration names the agent. Cursor and Copilot also read Claude Code's settings: then the payload
    decides."""
    if (declared := agent_of(name)) in _ADAPTERS:
        return declared
    if is_past(name) or event_of(name) not in KNOWN_EVENTS:
        return CLAUDE_CODE
    if cursor.is_sender(payload):
        return "cursor"
    return "copilot" if copilot.is_sender(payload) else CLAUDE_CODE


def is_foreign(name: str, agent: str) -> bool:
    """Return whether the sender read the settings of another agent."""
    return not agent_of(name) and agent != CLAUDE_CODE


def adapted(name: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """Return a hook's payload in Claude Code's form: at least one payload, several for several tool calls. The field
    `agent` is set by this function; an incoming `agent` is dropped, except in an import, which adapts by itself."""
    if is_past(name) and text(payload.get("agent")) in IMPORTED:
        return (payload,)
    payload = {key: value for key, value in payload.items() if key != "agent"}
    agent = sender(name, payload)
    if agent == CLAUDE_CODE:
        return (payload,)
    payloads = _ADAPTERS[agent].adapt(event_of(name), payload) or (payload,)
    return tuple({**part, "agent": agent} for part in payloads)


def completed(name: str, payloads: Sequence[JsonObject], now_s: float) -> list[JsonObject] | None:
    """Return adapted payloads of a hook, completed from the files of the agent; None while the agent may write."""
    if is_past(name):
        return list(payloads)
    whole = []
    for payload in payloads:
        adapter = _ADAPTERS.get(text(payload.get("agent")), _OF_CLAUDE_CODE)
        if (found := adapter.complete(payload, now_s)) is None:
            return None
        whole.append(found)
    return whole


def takes_context(event: Event) -> bool:
    """Return whether the sender of an event takes context in answer."""
    return event_of(event.name) in _adapter_of(event).triggers


def takes_claude_form(event: Event) -> bool:
    """Return whether the sender accepts answers in Claude Code's form."""
    return _adapter_of(event).in_claude_form


def reply(event: Event, context: str) -> bytes:
    """Return the output of an event's hook, in the form of its agent. No extra key: Codex refuses an answer with
    one."""
    return _printed(_adapter_of(event).answer(event_of(event.name), context))


def claude_reply(event_name: str, context: str) -> bytes:
    """Return the output in Claude Code's form, for a hook that will have no worker to ask."""
    return _printed(claude_code.answer(event_name, context))


def _printed(answer: JsonObject) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _adapter_of(event: Event) -> _Adapter:
    return _ADAPTERS.get(event.agent, _OF_CLAUDE_CODE)


def identity(name: str, payload: JsonObject) -> tuple[str, ...] | None:
    """Return the identity of an adapted payload; None if equal payloads may be two events."""
    if not _is_marked(name, payload):
        return None
    return event_of(name), *(text(payload.get(key)) for key in (*_MARKS, *_MORE)), _content(payload)


def duplicate_within_s(name: str, payload: JsonObject) -> float:
    """Return the maximum distance of equal adapted payloads that are one event; 0 if they may be two events."""
    if not _is_marked(name, payload):
        return 0.0
    is_once = text(payload.get("prompt_id")) and event_of(name) in _ONCE_A_PROMPT
    return NUMBERED_WITHIN_S if is_once or text(payload.get("tool_use_id")) else WITHIN_S


def _is_marked(name: str, payload: JsonObject) -> bool:
    if is_past(name) or event_of(name) not in (*KNOWN_EVENTS, "AgentMessage"):
        return False
    return any(text(payload.get(key)) for key in _MARKS)


def _content(payload: JsonObject) -> str:
    """Return a digest of the content, since two prompts may share the other marks. A tool call has its own id, and is
    long."""
    if text(payload.get("tool_use_id")):
        return ""
    return hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest()
