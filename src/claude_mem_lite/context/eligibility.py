"""Which memories may be told unasked at a moment of need, and what belongs beside them."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from claude_mem_lite.context.item_block import Given
from claude_mem_lite.context.layers.code_state import note_since, verdict_of, why_not
from claude_mem_lite.context.project_setting import language_of
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import is_stated
from claude_mem_lite.models import FOREIGN_ORIGINS, Memory, Passage
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.branches import is_hidden

_CONTRADICTS = "contradicts another that is given"


class Here:
    """The place of an occasion, asked which memories may be told there; it is looked at no more than that takes."""

    def __init__(self, occasion: Occasion, told: Collection[str]) -> None:
        self._occasion = occasion
        self._told = told

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is to be believed and is of this project, of its language, or of no project."""
        if memory.status != "active" or (memory.origin in FOREIGN_ORIGINS and not memory.pinned):
            return False
        if memory.scope.startswith("language:"):
            return memory.scope == f"language:{self._language}"
        return memory.scope in ("universal", f"project:{self._occasion.place.project}")

    def why_not(self, memory: Memory) -> str:
        """Why a memory may not be told, whatever became of its code; '' when it may."""
        session = self._occasion.session
        if memory.id in self._told:
            return "given in this session before"
        if session and memory.session == session:
            return "of this session itself"
        if why := why_not(memory, {}):
            return why
        if not self.holds(memory):
            return "it does not hold here"
        # Last, because it takes a look at git. What the user said holds on every branch.
        is_of_another = memory.branch not in ("", self._occasion.place.branch) and not is_stated(memory)
        if is_of_another and is_hidden(memory.branch, memory.created_at, self._occasion.checkout.hidden):
            return "of a branch that is not merged here"
        return ""

    def why_not_raw(self, passage: Passage) -> str:
        """Why raw text may not be told; '' when it may."""
        if passage.id in self._told:
            return "given in this session before"
        session = self._occasion.session
        return "of this session itself" if session and passage.session == session else ""

    def tellable(self, found: Iterable[Memory]) -> Mapping[str, bool]:
        """The ids of those that may be told now, each with whether its code has changed since."""
        here = [one for one in found if not self.why_not(one)]
        verdicts = self._occasion.checkout.freshness(here) if here else {}
        return {one.id: verdict_of(one, verdicts) == "changed" for one in here if not why_not(one, verdicts)}

    def since(self, memory: Memory) -> str:
        """What is to be said of the code that a memory tells of, if that has another name or place by now."""
        return note_since(memory, self._occasion.checkout.freshness([memory]))

    def opposites(self, db: sqlite3.Connection, chosen: Sequence[Given], source: str) -> list[Given]:
        """What contradicts something that is given and may be told too: one side alone would pass for what holds."""
        ids = [one.memory.id for one in chosen]
        others = {other for against in memory_links.of(db, ids).values() for other in against} - set(ids)
        found = [memory for id_ in sorted(others) if (memory := memories.find(db, id_))]
        stale = self.tellable(found)
        return [
            Given(memory, _CONTRADICTS, None, source, self.since(memory), is_stale=stale[memory.id])
            for memory in found
            if memory.id in stale
        ]

    @cached_property
    def _language(self) -> str:
        return language_of(self._occasion.place.root)
