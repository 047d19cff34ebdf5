"""Which memories may be told unasked at a moment of need: what failing commands and opened files share."""

from collections.abc import Collection, Iterable, Mapping
from functools import cached_property

from claude_mem_lite.context.languages import main_language
from claude_mem_lite.context.layers.standing import verdict_of, why_not
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.git.repository import open_repository
from claude_mem_lite.models import FOREIGN_ORIGINS, Memory
from claude_mem_lite.store.visibility import is_hidden


class Here:
    """The place of an occasion, asked which memories hold there; it is looked at no more than that takes."""

    def __init__(self, occasion: Occasion) -> None:
        self._occasion = occasion

    def holds(self, memory: Memory) -> bool:
        """Whether a memory is to be believed and is of this project, of its language, or of no project."""
        if memory.status != "active" or (memory.origin in FOREIGN_ORIGINS and not memory.pinned):
            return False
        if memory.scope.startswith("language:"):
            return memory.scope == f"language:{self._language}"
        return memory.scope in ("universal", f"project:{self._occasion.place.project}")

    def tellable(self, found: Iterable[Memory], told: Collection[str]) -> Mapping[str, bool]:
        """The ids of those that may be told now, each with whether its code has changed since."""
        session = self._occasion.session
        new = [
            one
            for one in found
            if one.id not in told and not (session and one.session == session) and not why_not(one, {})
        ]
        if not new:
            return {}
        checkout = self._occasion.checkout
        hidden = checkout.hidden
        here = [
            one
            for one in new
            if one.origin == "user" or one.pinned or not is_hidden(one.branch, one.created_at, hidden)
        ]
        verdicts = checkout.freshness(here)
        return {one.id: verdict_of(one, verdicts) == "changed" for one in here if not why_not(one, verdicts)}

    @cached_property
    def _language(self) -> str:
        root = self._occasion.place.root
        repository = open_repository(root) if root else None
        return main_language(root, repository.entries() if repository else None) if root else ""
