"""Events of a unit, divided into usable and skipped events."""

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache

from claude_mem_lite.agents.claude_code import TURN_ENDS, event_from_payload, why_skipped
from claude_mem_lite.code.git.project_identity import find_location
from claude_mem_lite.config import Config, in_folder
from claude_mem_lite.errors import PayloadError
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.models import Event

_CLOCK_SLACK_S = 300.0


def read_events(unit: Sequence[Row], config: Config) -> list[Event]:
    """Return the usable events of a unit."""
    return list(sort_events(unit, config)[0].values())


def sort_events(unit: Sequence[Row], config: Config) -> tuple[dict[int, Event], dict[int, str]]:
    """Return the usable events of a unit, and the reasons for skipped events by row id.

    Raise PayloadError for an unreadable event that the user asked to retry."""
    kept: dict[int, Event] = {}
    skipped: dict[int, str] = {}
    said = ""
    # Most events of a turn share one folder, and finding the root is slower than reading the events.
    inside = cache(_inside)
    ignored_tools = cache(lambda cwd: in_folder(config, cwd).ignored_tools)
    for row in unit:
        payload = row.parse_payload()
        try:
            event = _in_time(event_from_payload(row.name, payload), row)
        except PayloadError as error:
            skipped[row.id] = error.message
            continue
        event = replace(event, inside=inside(event.cwd))
        if event.kind == "AgentMessage":  # from agents that do not repeat the closing message when they stop
            said = event.message or said
            skipped[row.id] = "told with the end of its turn"
            continue
        if event.kind in TURN_ENDS and not event.message:
            event = replace(event, message=said or None)
        reason = why_skipped(event, payload)
        if event.tool is not None and event.tool.tool in ignored_tools(event.cwd):
            reason = f"tool {event.tool.tool} is ignored by configuration"
        if reason is None:
            kept[row.id] = event
        else:
            skipped[row.id] = reason
    return kept, skipped


def prompt_of(events: Sequence[Event]) -> str:
    """Return the first prompt of a turn; '' without a prompt."""
    return next((event.prompt for event in events if event.prompt), "")


def reply_of(events: Sequence[Event]) -> str:
    """Return the last message of the agent in a turn, without those of its sub-agents; '' without a message."""
    return next((event.message for event in reversed(events) if event.message and not event.agent_id), "")


def _in_time(event: Event, row: Row) -> Event:
    """Return an event dated at most shortly after its arrival: with a fast clock the event would be the newest for
    years."""
    latest = datetime.fromtimestamp(row.received_at + _CLOCK_SLACK_S, UTC)
    return replace(event, at=min(event.at, latest))


def _inside(cwd: str) -> str:
    """Return the path of a folder inside the checkout: paths of memories start at the root."""
    root = find_location(cwd).root
    folder = os.path.realpath(cwd) if root else ""
    return folder[len(root) + 1 :] if folder.startswith(f"{root}/") else ""
