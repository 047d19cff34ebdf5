"""In which checkout memories were made: only there does an untouched file say that its code is as they tell."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store import sessions


def made_here(db: sqlite3.Connection, place: Place, memories: Sequence[Memory]) -> set[str]:
    """The ids of those of a project's memories that were made in this checkout, on the branch that it is on.

    Worktrees and clones of a repository are one project; that the branch is the same tells worktrees apart that stand
    inside of each other."""
    if not place.branch and place.commit:  # detached: several worktrees may be
        return set()
    # What was seen again may have been so in another checkout.
    own = [memory for memory in memories if memory.branch == place.branch and memory.times_seen == 1]
    here = {id_ for id_ in {memory.session for memory in own} if id_ and _worked_in(db, id_, place.root)}
    return {memory.id for memory in own if memory.session in here}


def _worked_in(db: sqlite3.Connection, session: str, root: str) -> bool:
    found = sessions.find(db, session)
    return found is not None and f"{found.cwd}/".startswith(f"{root.rstrip('/')}/")
