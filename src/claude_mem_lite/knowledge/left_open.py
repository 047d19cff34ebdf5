"""What the turns before a turn left failing: it may be put right in this one, and is learned from then.

Called by the worker for every turn, before rules make memories of it. Reads the events that the inbox keeps, so that a
turn which is worked on twice is told the same."""

from collections.abc import Callable, Sequence

from claude_mem_lite.compress.rules.fix_pairing import leaves_open
from claude_mem_lite.compress.toolcalls.edits import EDIT_TOOLS
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.models import Event

TOOLS = (*COMMAND_TOOLS, *EDIT_TOOLS)
"""Those whose calls fail, and put right."""
Read = Callable[[Sequence[Row]], Sequence[Event]]


def earlier(events: Sequence[Event], before: Callable[[], Sequence[Row]], read: Read) -> tuple[Event, ...]:
    """The commands and edits of the turns before one with these events, when they left something failing; mostly none.

    `before` finds them, and `read` reads them as those of any turn."""
    if not any(map(_is_command, events)):
        return ()  # nothing was run that could pass
    found = [event for event in read(before()) if event.at <= events[0].at]
    commands = [step for event in found if _is_command(event) for step in read_steps(event)]
    return tuple(found) if leaves_open(commands) else ()


def _is_command(event: Event) -> bool:
    return event.tool is not None and event.tool.tool in COMMAND_TOOLS
