"""Eligibility of memories for injection at a prompt, a failure or an opened file; contradicting memories."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property

from claude_mem_lite.context.item_block import BlockItem
from claude_mem_lite.context.layers.code_state import relocation_note, verdict_of, why_not
from claude_mem_lite.context.order import ALREADY_GIVEN, OWN_SESSION, UNMERGED
from claude_mem_lite.context.project_setting import language_of
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import is_stated
from claude_mem_lite.models import FOREIGN_ORIGINS, Memory, Passage
from claude_mem_lite.store import memories, memory_links

_CONTRADICTS = "contradicts another that is given"


class Eligibility:
    """Rules for the memories that a request may get; reads the checkout only as far as needed."""

    def __init__(self, request: ContextRequest, already_given: Collection[str]) -> None:
        self._request = request
        self._already_given = already_given

    def applies(self, memory: Memory) -> bool:
        """Return whether a memory is trusted and holds for the project, the language or everywhere."""
        if memory.status != "active" or (memory.origin in FOREIGN_ORIGINS and not memory.pinned):
            return False
        if memory.scope.startswith("language:"):
            return memory.scope == f"language:{self._language}"
        return memory.scope in ("universal", f"project:{self._request.location.project}")

    def why_not(self, memory: Memory) -> str:
        """Return the reason to exclude a memory, apart from the state of its code; '' if eligible."""
        session = self._request.session
        if memory.id in self._already_given:
            return ALREADY_GIVEN
        if session and memory.session == session:
            return OWN_SESSION
        if why := why_not(memory, {}):
            return why
        if not self.applies(memory):
            return "it does not hold here"
        # Last, because the check reads git. Statements of the user hold on every branch.
        is_unmerged = not is_stated(memory) and self._request.is_unmerged(memory.branch, memory.created_at)
        return UNMERGED if is_unmerged else ""

    def why_not_raw(self, passage: Passage) -> str:
        """Return the reason to exclude raw text; '' if eligible."""
        if passage.id in self._already_given:
            return ALREADY_GIVEN
        session = self._request.session
        return OWN_SESSION if session and passage.session == session else ""

    def eligible(self, stored: Iterable[Memory]) -> Mapping[str, bool]:
        """Return the ids of eligible memories, each with whether its code has changed since."""
        candidates = [memory for memory in stored if not self.why_not(memory)]
        verdicts = self._request.checkout.freshness(candidates) if candidates else {}
        return {
            memory.id: verdict_of(memory, verdicts) == "changed"
            for memory in candidates
            if not why_not(memory, verdicts)
        }

    def since(self, memory: Memory) -> str:
        """Return a note if the code of a memory has another name or location now."""
        return relocation_note(memory, self._request.checkout.freshness([memory]))

    def opposites(self, db: sqlite3.Connection, chosen: Sequence[BlockItem], source: str) -> list[BlockItem]:
        """Return eligible memories that contradict chosen items, so that a reader sees both sides."""
        ids = [item.memory.id for item in chosen]
        others = {other for against in memory_links.of(db, ids).values() for other in against} - set(ids)
        stored = [memory for id_ in sorted(others) if (memory := memories.find(db, id_))]
        stale = self.eligible(stored)
        return [
            BlockItem(memory, _CONTRADICTS, None, source, self.since(memory), is_stale=stale[memory.id])
            for memory in stored
            if memory.id in stale
        ]

    @cached_property
    def _language(self) -> str:
        return language_of(self._request.location.root)
