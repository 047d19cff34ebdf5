"""How the code stands in the checkout that a context is for, as the layers ask for it."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, Protocol

from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.code.syntax.values import CodeChange
from claude_mem_lite.models import Memory
from claude_mem_lite.store.visibility import Hidden


class RenamedSince(NamedTuple):
    """A function has another name by now, whatever else was done to it."""

    name: str


ChangeState = Literal["as told", "changed since", "gone since", "undone since", "unknown"] | RenamedSince


class Checkout(Protocol):
    """What a look at the working tree tells, within the time there is."""

    @property
    def hidden(self) -> Hidden:
        """The branches whose work is not here."""

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:
        """Whether the code that memories tell of is still as they tell it, by their ids."""

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        """Whether functions are still as a session left them, one answer a change."""


class Unseen:
    """No checkout to look at: everything is taken as it was told."""

    hidden: Hidden = ()

    def freshness(self, memories: Sequence[Memory]) -> Mapping[str, Freshness]:  # noqa: ARG002
        return {}

    def states(self, changes: Sequence[CodeChange]) -> Sequence[ChangeState]:
        return ["unknown"] * len(changes)
