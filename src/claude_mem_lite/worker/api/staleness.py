"""The API that tells which memories are no longer what the code says, and how it stands with those of an answer."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from claude_mem_lite.code.freshness.time_budget import LookTime
from claude_mem_lite.code.freshness.verdicts import Freshness, is_anchored
from claude_mem_lite.config import is_excluded
from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store import memories, memory_queries, retirements
from claude_mem_lite.store.branches import Hidden, is_hidden
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.api.memory_json import brief
from claude_mem_lite.worker.api.routing import Router
from claude_mem_lite.worker.api.status import Running
from claude_mem_lite.worker.loop import Loop

_MAX_S = 10.0
_ANSWER_S, _ANSWER_WITHIN_S = 0.02, 0.06
_AT_ONCE = 50
_MAX_RETIRED = 1_000
router = Router(prefix="/api")


@dataclass(frozen=True, slots=True)
class State:
    """How it stands with a memory in the folder that is asked from."""

    freshness: Freshness | None = None
    """None when nothing ties it to code of this project, or there was no time to look."""
    elsewhere: str = ""
    """The branch it was made on, when the work of that is not here."""

    def shown(self) -> dict[str, object]:
        return {
            "freshness": _told(self.freshness) if self.freshness else None,
            "elsewhere": self.elsewhere,
        }

    def why(self) -> Iterator[str]:
        """What a person who wonders about it should know, a line each."""
        if self.freshness and self.freshness.reasons:
            lead = {"changed": "may be stale", "gone": "its code is gone"}.get(self.freshness.verdict, "still there")
            yield f"{lead}: {'; '.join(self.freshness.reasons)}"
        if self.elsewhere:
            yield f"made on branch {self.elsewhere}, whose work is not here"


UNKNOWN = State()


def answer_time() -> LookTime:
    """The time that an answer to the user may take to look at code."""
    return LookTime(_ANSWER_S, _ANSWER_WITHIN_S)


def states(
    loop: Loop, db: sqlite3.Connection, cwd: str, found: Sequence[Memory], look_time: LookTime | None = None
) -> dict[str, State]:
    """How it stands with memories, as far as that can be told at once, seen from a folder; '' is no folder."""
    place = lookup.locate(db, cwd) if cwd else None
    own = [memory for memory in found if place and memory.project == place.project]
    told: dict[str, Freshness] = {}
    elsewhere: dict[str, str] = {}
    # A folder that is gone, or is another machine's, says nothing of its code.
    if own and place and os.path.isdir(place.root) and not is_excluded(loop.config, cwd):
        checkout = loop.looking.checkout(db, place, look_time or answer_time())
        told = checkout.freshness([memory for memory in own if is_anchored(memory)])
        elsewhere = {memory.id: memory.branch for memory in own if _is_elsewhere(memory, checkout.hidden)}
    return {memory.id: State(_known(told.get(memory.id)), elsewhere.get(memory.id, "")) for memory in found}


@router.get("/stale")
def stale(loop: Running, cwd: str) -> dict[str, object]:
    """The memories of a folder's project whose code changed or is gone, and those that were retired for it.

    What there was no time to look at is counted in `unchecked`."""
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, cwd)
        if is_excluded(loop.config, cwd):
            return {"project": place.project, "excluded": True, "memories": [], "checked": 0, "unchecked": 0}
        found, checked, unchecked = _look_through(loop, db, place)
        retired = retirements.of_project(db, place.project, _MAX_RETIRED)
        read = memories.by_seq(db, [one.seq for one in retired])
        found += [_shown(read[one.seq], "retired", (one.reason,)) for one in retired if one.seq in read]
    return {
        "project": place.project,
        "excluded": False,
        "memories": found,
        "checked": checked,
        "unchecked": unchecked,
    }


def _look_through(loop: Loop, db: sqlite3.Connection, place: Place) -> tuple[list[dict[str, object]], int, int]:
    """What is stale among the active memories of a project; how many were looked at, and how many were not."""
    look_time = LookTime(_MAX_S, _MAX_S)
    checkout = loop.looking.checkout(db, place, look_time)
    found: list[dict[str, object]] = []
    checked = unchecked = 0
    for seqs in _tied(db, place.project):
        if look_time.is_over():
            unchecked += len(seqs)
            continue
        some = [one for one in memories.by_seq(db, seqs).values() if not _is_elsewhere(one, checkout.hidden)]
        told = checkout.freshness(some)
        missed = sum(told[memory.id].verdict == "unknown" for memory in some)
        checked, unchecked = checked + len(some) - missed, unchecked + missed
        found += [
            _shown(memory, told[memory.id].verdict, told[memory.id].reasons)
            for memory in some
            if told[memory.id].verdict in ("changed", "gone")
        ]
    return found, checked, unchecked


def _tied(db: sqlite3.Connection, project: str) -> Iterator[list[int]]:
    """The numbers of all active memories of a project that are tied to code, some at a time, newest first."""
    for page in memory_queries.pages(db, project):
        for start in range(0, len(page.anchored), _AT_ONCE):
            yield [row.seq for row in page.anchored[start : start + _AT_ONCE]]


def _shown(memory: Memory, verdict: str, reasons: Sequence[str]) -> dict[str, object]:
    return {**brief(memory), "branch": memory.branch, "verdict": verdict, "reasons": list(reasons)}


def _told(freshness: Freshness) -> dict[str, object]:
    return {"verdict": freshness.verdict, "reasons": freshness.reasons}


def _is_elsewhere(memory: Memory, hidden: Hidden) -> bool:
    """Whether the work that a memory tells of is not here. What the user said or pinned holds everywhere."""
    is_held = memory.pinned or memory.origin == "user"
    return not is_held and is_hidden(memory.branch, memory.created_at, hidden)


def _known(told: Freshness | None) -> Freshness | None:
    return told if told and told.verdict != "unknown" else None
