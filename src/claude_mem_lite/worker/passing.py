"""A failure is over when its command passes later in the same session: nobody is to be told of it as a problem.

Called by the worker in the transaction that stores a turn. What another session saw is left to that session: there it
may have failed for another reason."""

import sqlite3
from datetime import datetime

from claude_mem_lite.compress.rules.fixes import is_over
from claude_mem_lite.models import Turn, TurnDigest
from claude_mem_lite.store import redoing, retirements

_MOST_MEMORIES = 200


def retire_failures(db: sqlite3.Connection, turn: Turn, digest: TurnDigest, now: datetime) -> None:
    """Retire what failed in earlier turns of the session and has passed in this one."""
    if not digest.passed:
        return
    for memory in redoing.of_session(db, turn.session, _MOST_MEMORIES, before=turn.events[0].at):
        is_users = memory.pinned or memory.made_by == "user"
        if memory.kind == "failure" and not is_users and is_over(memory.title, digest.passed):
            retirements.retire(db, memory.id, "taken up", "its command passed later in the session", now)
