"""A failure is over when its command passes later: nobody is to be told of it as a problem.

Called by the worker in the transaction that stores a turn. A run of another session counts when it started in the same
folder and what failed is shown on its branch; elsewhere the same command may check something else.

What the turns before a turn left failing: it may be put right in this one, and is learned from then.

Called by the worker for every turn, before rules make memories of it. Reads the events that the inbox keeps, so that a
turn which is worked on twice is told the same."""

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime

from claude_mem_lite.compress.rules.fix_pairing import is_over, leaves_open
from claude_mem_lite.compress.toolcalls.edits import EDIT_TOOLS
from claude_mem_lite.compress.toolcalls.payload_fields import COMMAND_TOOLS
from claude_mem_lite.compress.toolcalls.tool_calls import read_steps
from claude_mem_lite.inbox.queue import Row
from claude_mem_lite.models import Event, Memory, Turn, TurnDigest
from claude_mem_lite.store import branches, memories, memory_queries, retirements, sessions

_MAX_MEMORIES = 200


def retire_failures(db: sqlite3.Connection, turn: Turn, digest: TurnDigest, branch: str) -> None:
    """Retire what failed before in the project and has passed in this turn, as of the end of the turn."""
    if not digest.passed:
        return
    began, ended = turn.events[0].at, turn.events[-1].at
    own = memory_queries.of_session(db, turn.session, _MAX_MEMORIES, before=began)
    own = [one for one in own if one.last_seen_at < began]  # the turn may be rebuilt after the user confirmed one
    _retire(db, own, digest, "its command passed later in the session", ended)
    of_others = memories.newest(
        db, project=turn.project, kinds=("failure",), without_session=turn.session, limit=_MAX_MEMORIES
    )
    is_shown = shown_on(db, turn.project, branch)
    earlier = [
        one for one in of_others if one.last_seen_at < began and is_shown(one) and ran_beside(db, one, turn.session)
    ]
    _retire(db, earlier, digest, f"its command passed in session {turn.session}", ended)


def shown_on(db: sqlite3.Connection, project: str, branch: str) -> Callable[[Memory], bool]:
    """Return what tells whether a memory is shown on a branch: one made there, or on a branch that is merged."""
    merged = {one.name: one.merged_at for one in branches.of_project(db, project)}
    return lambda one: one.branch in ("", branch) or (merged.get(one.branch) or one.created_at) > one.created_at


def ran_beside(db: sqlite3.Connection, memory: Memory, session: str) -> bool:
    """Return whether a session started in the folder of the one that a memory is of."""
    theirs, ours = sessions.find(db, memory.session), sessions.find(db, session)
    return theirs is not None and ours is not None and theirs.cwd == ours.cwd


def _retire(db: sqlite3.Connection, found: list[Memory], digest: TurnDigest, reason: str, at: datetime) -> None:
    for memory in found:
        is_users = memory.pinned or memory.made_by == "user"
        if memory.kind == "failure" and not is_users and is_over(memory.title, digest.passed):
            retirements.retire(db, memory.id, "taken up", reason, at)


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
