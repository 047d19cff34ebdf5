"""Agents: each one's hook payload -> the one event form (that of Claude Code), and our context -> its own answer.

The module of an agent has `adapt`, for the one, and `answer`, for the other where that is not as Claude Code has it.
What the hooks of a payload are called is the same for all: the name in the spool carries Claude Code's name for the
event."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from claude_mem_lite.agents import claude_code, codex, copilot, cursor, gemini
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, KNOWN_EVENTS, TOOL_EVENTS
from claude_mem_lite.event_names import agent_of, event_of, is_past
from claude_mem_lite.models import Event, JsonObject


@dataclass(frozen=True, slots=True)
class _Adapter:
    """`adapt`: what the hook of an event told -> payloads as Claude Code would have sent, mostly one.
    `moments`: the events at which the agent takes context. `answer`: event and context -> what its hook prints.
    `in_claude_form`: whether it takes what was written for Claude Code."""

    adapt: Callable[[str, JsonObject], tuple[JsonObject, ...]]
    moments: tuple[str, ...]
    answer: Callable[[str, str], JsonObject] = claude_code.answer
    in_claude_form: bool = True


_OF_CLAUDE_CODE = _Adapter(lambda _, payload: (payload,), ("SessionStart", "UserPromptSubmit", *TOOL_EVENTS))
_ADAPTERS: Mapping[str, _Adapter] = {
    "codex": _Adapter(codex.adapt, codex.MOMENTS),
    "gemini": _Adapter(gemini.adapt, gemini.MOMENTS, gemini.answer),
    "cursor": _Adapter(cursor.adapt, cursor.MOMENTS, cursor.answer, in_claude_form=False),
    "copilot": _Adapter(copilot.adapt, copilot.MOMENTS, copilot.answer, in_claude_form=False),
}
NAMES = (CLAUDE_CODE, *_ADAPTERS)


def sender(name: str, payload: JsonObject) -> str:
    """The agent that an event comes from.

    A configuration of its own says so. Claude Code's settings are read by Cursor and Copilot as well: there the payload
    decides."""
    if (declared := agent_of(name)) in _ADAPTERS:
        return declared
    if is_past(name) or event_of(name) not in KNOWN_EVENTS:
        return CLAUDE_CODE
    if cursor.is_sender(payload):
        return "cursor"
    return "copilot" if copilot.is_sender(payload) else CLAUDE_CODE


def is_foreign(name: str, agent: str) -> bool:
    """Whether the agent that sent an event did so because it read the settings of another."""
    return not agent_of(name) and agent != CLAUDE_CODE


def adapted(name: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """What a hook told in the shape of Claude Code's: at least one payload, several when it tells of several things.
    The member `agent` is ours: what the inbox keeps has it from here, and one that came in says nothing."""
    payload = {key: value for key, value in payload.items() if key != "agent"}
    agent = sender(name, payload)
    if agent == CLAUDE_CODE:
        return (payload,)
    told = _ADAPTERS[agent].adapt(event_of(name), payload) or (payload,)
    return tuple({**one, "agent": agent} for one in told)


def takes(event: Event) -> bool:
    """Whether the agent that sent an event takes context in answer to it."""
    return event_of(event.name) in _adapter_of(event).moments


def takes_claude_form(event: Event) -> bool:
    """Whether its agent takes what was written for Claude Code."""
    return _adapter_of(event).in_claude_form


def reply(event: Event, context: str) -> bytes:
    """What the hook of an event prints, in the form of its agent. Not one key more: Codex refuses an answer for it."""
    return _printed(_adapter_of(event).answer(event_of(event.name), context))


def claude_reply(event_name: str, context: str) -> bytes:
    """The same in the form of Claude Code, for a hook that will have no worker to ask."""
    return _printed(claude_code.answer(event_name, context))


def _printed(answer: JsonObject) -> bytes:
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")


def _adapter_of(event: Event) -> _Adapter:
    return _ADAPTERS.get(event.agent, _OF_CLAUDE_CODE)
