"""Freshness of code in one checkout, as seen by one context or one answer, within a time budget.

`Checkout` is the interface for context layers. `CheckoutView` implements the interface with the code cache."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol

from claude_mem_lite.code.freshness.anchor_check import AnchorFound, Tie, check_anchors
from claude_mem_lite.code.freshness.anchored_files import Effort
from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.code.freshness.moves import KnownRenames
from claude_mem_lite.code.freshness.relocation import Elsewhere
from claude_mem_lite.code.freshness.time_budget import LookTime
from claude_mem_lite.code.freshness.verdicts import Freshness, LastVerdicts, judge
from claude_mem_lite.code.syntax.anchors import CodeAnchor, anchor_of
from claude_mem_lite.code.syntax.changes import ABSENT, CodeChange
from claude_mem_lite.models import Memory, Place
from claude_mem_lite.store import sessions
from claude_mem_lite.store.branches import Hidden


class RenamedSince(NamedTuple):
    """State of a renamed function, changed or not."""

    name: str


ChangeState = Literal["as told", "changed since", "gone since", "undone since", "unknown"] | RenamedSince


class Checkout(Protocol):
    """Read access to the state of a working tree, within a time budget."""

    @property
    def hidden(self) -> Hidden:
        """Branches with work missing from the checkout."""

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        """Return the freshness of the code behind memories, by memory id."""

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        """Compare functions with the state after a session; return an answer for each change."""


class Unseen:
    """Missing checkout: all recorded states count as true."""

    hidden: Hidden = ()

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:  # noqa: ARG002
        return {}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return ["unknown"] * len(changes)


@dataclass(frozen=True, slots=True)
class SeenCheckout:
    """Checkout, opened for one request: the budget covers all questions of the request. Layers ask from several
    threads; a lock serialises the answers, because the threads share a connection and the cached findings."""

    db: sqlite3.Connection
    cache: CodeCache
    place: Place
    elsewhere: Elsewhere | None
    look_time: LookTime
    last_verdicts: LastVerdicts
    hidden: Hidden = ()
    known: dict[str, Freshness] = field(default_factory=dict)
    """Verdicts found so far: several layers ask about the same memories."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def freshness(self, memories: Sequence[Memory]) -> dict[str, Freshness]:
        """Return the freshness of the code behind the memories of the project, by memory id.

        Without time for a memory, the verdict of the last background scan counts. If the scan knows nothing of a
        missing part, the memory may be stale."""
        wanted = [memory for memory in memories if memory.project == self.place.project]
        with self.lock:
            return self._freshness(wanted)

    def _freshness(self, wanted: Sequence[Memory]) -> dict[str, Freshness]:
        told = self._judged([memory for memory in wanted if memory.id not in self.known])
        self.known.update((id_, one) for id_, one in told.items() if one.verdict != "unknown")
        unknown = [memory for memory in wanted if memory.id not in self.known]
        found = {memory.id: self.known.get(memory.id) or told[memory.id] for memory in wanted}
        found |= self.last_verdicts.find(self.place, unknown)
        return {id_: replace(one, verdict="changed") if one.is_in_doubt else one for id_, one in found.items()}

    def _judged(self, own: Sequence[Memory]) -> dict[str, Freshness]:
        here = _made_here(self.db, self.place, own)
        # Code of retired memories is checked only at the recorded path, without a search.
        retired = [memory for memory in own if memory.status == "retired"]
        others = [memory for memory in own if memory.status != "retired"]

        told: dict[str, Freshness] = {}

        def look(deadline: float) -> bool:
            """Judge the memories without a verdict; return True if any is left."""
            for some, elsewhere in ((others, self.elsewhere), (retired, None)):
                left = [memory for memory in some if _is_unknown(told.get(memory.id))]
                told.update(judge(self.cache, self.place.root, left, self._effort(deadline, elsewhere), here))
            return any(map(_is_unknown, told.values()))

        self.look_time.spend(look, lacks_time=bool)
        return told

    def states(self, changes: Sequence[CodeChange]) -> list[ChangeState]:
        """Compare functions with the state after a session; return an answer for each change."""
        anchors = list(map(anchor_of, changes))
        ties = list(map(Tie, anchors))

        def look(deadline: float) -> list[AnchorFound]:
            return check_anchors(self.cache, self.place.root, ties, self._effort(deadline, self.elsewhere))

        with self.lock:
            told = self.look_time.spend(look, lacks_time=lambda told: any(one.state == "unknown" for one in told))
        return [_as_told(one, anchor) for one, anchor in zip(told, anchors, strict=True)]

    def _effort(self, deadline: float, elsewhere: Elsewhere | None) -> Effort:
        renames = KnownRenames(self.db, self.place.project) if elsewhere else None
        return Effort(deadline, keeps_time=True, elsewhere=elsewhere, renames=renames)


def _is_unknown(told: Freshness | None) -> bool:
    return told is None or told.verdict == "unknown"


def _as_told(told: AnchorFound, anchor: CodeAnchor) -> ChangeState:
    found = told.state
    if told.name_now:
        return RenamedSince(told.name_now)
    if found in ("same", "unknown"):
        return "as told" if found == "same" else "unknown"
    if found == "undone" and ABSENT not in (anchor.before, anchor.after):
        return "undone since"
    is_absent = found == "gone" or (found == "undone" and anchor.before == ABSENT)
    return "gone since" if is_absent else "changed since"


def _made_here(db: sqlite3.Connection, place: Place, memories: Sequence[Memory]) -> set[str]:
    """Return the ids of the memories made in this checkout, on the present branch: only in their own checkout does an
    untouched file prove unchanged code.

    Worktrees and clones of a repository share a project. The branch tells apart worktrees nested in each other."""
    if not place.branch and place.commit:  # detached: several worktrees may be detached
        return set()
    # A memory seen more than once may have been seen in another checkout.
    own = [memory for memory in memories if memory.branch == place.branch and memory.times_seen == 1]
    folders = sessions.folders_of(db, {memory.session for memory in own})
    here = {id_ for id_, folder in folders.items() if f"{folder}/".startswith(f"{place.root.rstrip('/')}/")}
    return {memory.id for memory in own if memory.session in here}
