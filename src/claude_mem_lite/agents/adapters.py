"""Agents: each one's hook payload -> the one event form (that of Claude Code), and our context -> its own answer.

An adapter is a module with two functions, `adapt` and `reply`. What hooks of a payload are called is the same for all:
the name in the spool carries Claude Code's name for the event."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from claude_mem_lite.agents import codex, copilot, cursor, gemini
from claude_mem_lite.agents.claude_code import CLAUDE_CODE, KNOWN_EVENTS, TOOL_EVENTS
from claude_mem_lite.models import Event, JsonObject, text
from claude_mem_lite.spool_names import agent_of, event_of, is_past


@dataclass(frozen=True, slots=True)
class _Adapter:
    """`adapt`: what the hook of an event told -> payloads as Claude Code would have sent, mostly one.
    `moments`: the events at which the agent takes context. `in_claude_form`: as Claude Code takes it."""

    adapt: Callable[[str, JsonObject], tuple[JsonObject, ...]]
    moments: tuple[str, ...]
    in_claude_form: bool = True


_ADAPTERS: Mapping[str, _Adapter] = {
    "codex": _Adapter(codex.adapt, codex.MOMENTS),
    "gemini": _Adapter(gemini.adapt, gemini.MOMENTS),
    "cursor": _Adapter(cursor.adapt, cursor.MOMENTS, in_claude_form=False),
    "copilot": _Adapter(copilot.adapt, copilot.MOMENTS, in_claude_form=False),
}
NAMES = (CLAUDE_CODE, *_ADAPTERS)
_MOMENTS = ("SessionStart", "UserPromptSubmit", *TOOL_EVENTS)


def sender(name: str, payload: JsonObject) -> str:
    """The agent that an event comes from.

    A configuration of its own says so. Claude Code's settings are read by Cursor and Copilot as well: there the payload
    decides."""
    told = text(payload.get("agent"))
    if told in _ADAPTERS:
        return told
    if (declared := agent_of(name)) in _ADAPTERS:
        return declared
    if is_past(name) or event_of(name) not in KNOWN_EVENTS:
        return CLAUDE_CODE
    if cursor.is_sender(payload):
        return "cursor"
    return "copilot" if copilot.is_sender(payload) else CLAUDE_CODE


def is_foreign(name: str, payload: JsonObject) -> bool:
    """Whether an agent sent this because it read the settings of another."""
    return not agent_of(name) and sender(name, payload) != CLAUDE_CODE


def adapted(name: str, payload: JsonObject) -> tuple[JsonObject, ...]:
    """A payload in the shape of Claude Code's: several when it tells of several things. Twice is as good as once."""
    agent = sender(name, payload)
    if agent == CLAUDE_CODE or text(payload.get("agent")) == agent:
        return (payload,)
    return tuple({**one, "agent": agent} for one in _ADAPTERS[agent].adapt(event_of(name), payload))


def takes(event: Event) -> bool:
    """Whether the agent that sent an event takes context in answer to it."""
    moments = _MOMENTS if event.agent == CLAUDE_CODE else _ADAPTERS[event.agent].moments
    return event_of(event.name) in moments


def takes_claude_form(event: Event) -> bool:
    """Whether its agent takes what was written for Claude Code."""
    return event.agent == CLAUDE_CODE or _ADAPTERS[event.agent].in_claude_form


def reply(event: Event, context: str) -> bytes:
    """What the hook of an event prints, in the form of its agent. Not one key more: Codex refuses an answer for it."""
    if event.agent == "cursor":
        answer = cursor.answer(context)
    elif event.agent == "copilot":
        answer = copilot.answer(context)
    else:
        fired = gemini.event_name(event_of(event.name)) if event.agent == "gemini" else event_of(event.name)
        answer = {"hookSpecificOutput": {"hookEventName": fired, "additionalContext": context}}
    return json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace")
