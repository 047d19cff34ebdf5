"""Freshness of code in one checkout, as seen by one context or one answer, within a time budget.

`Checkout` is the interface for context layers. `CheckoutView` implements the interface with the code cache."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from typing import Literal, NamedTuple, Protocol

from claude_mem_lite.code.freshness.anchor_check import AnchorCheck, AnchorResult, check_anchors
from claude_mem_lite.code.freshness.anchored_files import CheckLimits
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.moves import KnownRenames
from claude_mem_lite.code.freshness.relocation import RelocationSearch
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.code.freshness.verdicts import Freshness, VerdictCache, judge
from claude_mem_lite.code.syntax.changes import ABSENT, CodeAnchor, CodeChange, anchor_of
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.models import Location, Memory
from claude_mem_lite.store import sessions
from claude_mem_lite.store.branches import Hidden
from claude_mem_lite.values import frozen


class RenamedSince(NamedTuple):
    """State of a renamed function, changed or not."""

    name: str


ChangeState = Literal["unchanged", "changed since", "gone since", "undone since", "unknown"] | RenamedSince


class Checkout(Protocol):
    """Read access to the state of a working tree, within a time budget."""

    @property
    def hidden(self) -> Hidden:
        """Branches with work missing from the checkout."""

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        """Return the freshness of the code behind memories, by memory id."""

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        """Compare functions with the state after a session; return an answer for each change."""


class NoCheckout:
    """Missing checkout: all recorded states count as true."""

    hidden: Hidden = ()

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:  # noqa: ARG002
        return {}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return ["unknown"] * len(changes)


@frozen
class CheckoutView:
    """Checkout, opened for one request: the budget covers all questions of the request. Layers ask from several
    threads; a lock serialises the answers, because the threads share a connection and the cached findings."""

    db: sqlite3.Connection
    cache: CodeCache
    location: Location
    relocation: RelocationSearch | None
    cpu_budget: CpuBudget
    verdict_cache: VerdictCache
    hidden: Hidden = ()
    known: dict[str, Freshness] = field(default_factory=dict)
    """Verdicts found so far: several layers ask about the same memories."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def freshness(self, memories: Sequence[Memory]) -> dict[str, Freshness]:
        """Return the freshness of the code behind the memories of the project, by memory id.

        Without time for a memory, the verdict of the last background scan counts. If the scan knows nothing of a
        missing part, the memory may be stale."""
        requested = [memory for memory in memories if memory.project == self.location.project]
        with self.lock:
            return self._freshness(requested)

    def _freshness(self, requested: Sequence[Memory]) -> dict[str, Freshness]:
        verdicts = self._judged([memory for memory in requested if memory.id not in self.known])
        self.known.update((id_, found) for id_, found in verdicts.items() if not _is_unknown(found))
        unknown = [memory for memory in requested if memory.id not in self.known]
        found = {memory.id: self.known.get(memory.id) or verdicts[memory.id] for memory in requested}
        found |= self.verdict_cache.find(self.location, unknown)
        in_doubt = {id_: replace(known, verdict="changed") for id_, known in found.items() if known.is_in_doubt}
        return found | in_doubt

    def _judged(self, own: Sequence[Memory]) -> dict[str, Freshness]:
        here = _made_here(self.db, self.location, own)
        # Code of retired memories is checked only at the recorded path, without a search.
        retired = [memory for memory in own if memory.status == "retired"]
        others = [memory for memory in own if memory.status != "retired"]

        verdicts: dict[str, Freshness] = {}

        def check(deadline: Deadline) -> bool:
            """Judge the memories without a verdict; return True if any is left."""
            for batch, relocation in ((others, self.relocation), (retired, None)):
                left = [memory for memory in batch if _is_unknown(verdicts.get(memory.id))]
                verdicts.update(judge(self.cache, self.location.root, left, self._limits(deadline, relocation), here))
            return any(map(_is_unknown, verdicts.values()))

        self.cpu_budget.run(check, lacks_time=bool)
        return verdicts

    def states(self, changes: Sequence[CodeChange]) -> list[ChangeState]:
        """Compare functions with the state after a session; return an answer for each change."""
        anchors = list(map(anchor_of, changes))
        checks = list(map(AnchorCheck, anchors))

        def check(deadline: Deadline) -> list[AnchorResult]:
            return check_anchors(self.cache, self.location.root, checks, self._limits(deadline, self.relocation))

        with self.lock:
            results = self.cpu_budget.run(check, lacks_time=_has_unknown)
        return [_change_state(result, anchor) for result, anchor in zip(results, anchors, strict=True)]

    def _limits(self, deadline: Deadline, relocation: RelocationSearch | None) -> CheckLimits:
        renames = KnownRenames(self.db, self.location.project) if relocation else None
        return CheckLimits(deadline, keeps_time=True, relocation=relocation, renames=renames)


def _is_unknown(found: Freshness | None) -> bool:
    return found is None or found.verdict == "unknown"


def _has_unknown(results: Sequence[AnchorResult]) -> bool:
    return any(result.state == "unknown" for result in results)


def _change_state(result: AnchorResult, anchor: CodeAnchor) -> ChangeState:
    found = result.state
    if result.name_now:
        return RenamedSince(result.name_now)
    if found in ("same", "unknown"):
        return "unchanged" if found == "same" else "unknown"
    if found == "undone" and ABSENT not in (anchor.before, anchor.after):
        return "undone since"
    is_absent = found == "gone" or (found == "undone" and anchor.before == ABSENT)
    return "gone since" if is_absent else "changed since"


def _made_here(db: sqlite3.Connection, location: Location, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of the memories made in this checkout, on the present branch: only in their own checkout does an
    untouched file prove unchanged code.

    Worktrees and clones of a repository share a project. The branch tells apart worktrees nested in each other."""
    if not location.branch and location.commit:  # detached: several worktrees may be detached
        return set()
    # A memory seen more than once may have been seen in another checkout.
    own = [memory for memory in memories if memory.branch == location.branch and memory.times_seen == 1]
    folders = sessions.folders_of(db, {memory.session for memory in own})
    here = {id_ for id_, folder in folders.items() if f"{folder}/".startswith(f"{location.root.rstrip('/')}/")}
    return {memory.id for memory in own if memory.session in here}
