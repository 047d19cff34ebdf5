"""API of stale memories, and the state of memories in a checkout for other responses."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.freshness.verdicts import Freshness, is_anchored
from claude_mem_lite.config import is_excluded
from claude_mem_lite.models import Location, Memory
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import CodeFreshness, MemoryState, StaleMemory, StaleResponse
from claude_mem_lite.store import memories, memory_queries, retirements
from claude_mem_lite.store.branches import Hidden, is_hidden
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.api.memories import brief
from claude_mem_lite.worker.api.routing import Router, Running
from claude_mem_lite.worker.services import Services

_AT_ONCE = 50
_MAX_RETIRED = 1_000
router = Router(prefix="/api")


UNKNOWN = MemoryState()


def reasons(state: MemoryState) -> Iterator[str]:
    """Return the state of a memory as lines for a person."""
    if state.freshness and state.freshness.reasons:
        lead = {"changed": "may be stale", "gone": "its code is gone"}.get(state.freshness.verdict, "still there")
        yield f"{lead}: {'; '.join(state.freshness.reasons)}"
    if state.elsewhere:
        yield f"made on branch {state.elsewhere}, whose work is not here"


def answer_time(services: Services) -> CpuBudget:
    """Return the limit of time for the freshness check of one response."""
    return CpuBudget(services.limits.answer_check_s, services.limits.answer_check_within_s)


def states(
    services: Services, db: sqlite3.Connection, cwd: str, found: Sequence[Memory], cpu_budget: CpuBudget | None = None
) -> dict[str, MemoryState]:
    """Return the states of memories by id, in the checkout of a folder, within a limit of time; '' is no folder."""
    location = lookup.locate(db, cwd) if cwd else None
    own = [memory for memory in found if location and memory.project == location.project]
    verdicts: dict[str, Freshness] = {}
    elsewhere: dict[str, str] = {}
    # A folder that is gone, or is another machine's, says nothing of its code.
    if own and location and os.path.isdir(location.root) and not is_excluded(services.settings.config, cwd):
        checkout = services.scanner.checkout(db, location, cpu_budget or answer_time(services))
        verdicts = checkout.freshness([memory for memory in own if is_anchored(memory)])
        elsewhere = {memory.id: memory.branch for memory in own if _is_elsewhere(memory, checkout.hidden)}
    return {memory.id: MemoryState(_known(verdicts.get(memory.id)), elsewhere.get(memory.id, "")) for memory in found}


@router.get("/stale")
def stale(services: Running, cwd: str) -> StaleResponse:
    """Return memories of a folder's project with changed or missing code, and memories retired for either reason."""
    with closing(services.readers.open()) as db:
        location = lookup.locate(db, cwd)
        if is_excluded(services.settings.config, cwd):
            return StaleResponse(location.project, excluded=True)
        found, checked, unchecked = _stale_among(services, db, location)
        retired = retirements.of_project(db, location.project, _MAX_RETIRED)
        read = memories.by_seq(db, [row.seq for row in retired])
        found += [_stale(read[row.seq], "retired", (row.reason,)) for row in retired if row.seq in read]
    return StaleResponse(location.project, excluded=False, memories=tuple(found), checked=checked, unchecked=unchecked)


def _stale_among(services: Services, db: sqlite3.Connection, location: Location) -> tuple[list[StaleMemory], int, int]:
    """Return the stale ones of the active memories of a project, and the numbers of checked and other memories."""
    cpu_budget = CpuBudget(services.limits.stale_s, services.limits.stale_s)
    checkout = services.scanner.checkout(db, location, cpu_budget)
    found: list[StaleMemory] = []
    checked = unchecked = 0
    for seqs in _tied(db, location.project):
        if cpu_budget.is_over():
            unchecked += len(seqs)
            continue
        batch = [memory for memory in memories.by_seq(db, seqs).values() if not _is_elsewhere(memory, checkout.hidden)]
        verdicts = checkout.freshness(batch)
        missed = sum(verdicts[memory.id].verdict == "unknown" for memory in batch)
        checked, unchecked = checked + len(batch) - missed, unchecked + missed
        found += [
            _stale(memory, verdicts[memory.id].verdict, verdicts[memory.id].reasons)
            for memory in batch
            if verdicts[memory.id].verdict in ("changed", "gone")
        ]
    return found, checked, unchecked


def _tied(db: sqlite3.Connection, project: str) -> Iterator[list[int]]:
    """Return the numbers of all active anchored memories of a project in batches, newest first."""
    for page in memory_queries.pages(db, project):
        for start in range(0, len(page.anchored), _AT_ONCE):
            yield [row.seq for row in page.anchored[start : start + _AT_ONCE]]


def _stale(memory: Memory, verdict: str, why: Sequence[str]) -> StaleMemory:
    return response_from(StaleMemory, brief(memory), branch=memory.branch, verdict=verdict, reasons=tuple(why))


def _is_elsewhere(memory: Memory, hidden: Hidden) -> bool:
    """Return whether a memory belongs to a hidden branch. Memories of the user and pinned ones hold everywhere."""
    is_held = memory.pinned or memory.origin == "user"
    return not is_held and is_hidden(memory.branch, memory.created_at, hidden)


def _known(freshness: Freshness | None) -> CodeFreshness | None:
    if freshness is None or freshness.verdict == "unknown":
        return None
    return CodeFreshness(freshness.verdict, freshness.reasons)
