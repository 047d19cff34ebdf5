"""What layers are made of: candidates for lines, and the share of the room that a layer has."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import Score


@dataclass(frozen=True, slots=True)
class Item:
    """A candidate for a line of a layer, the memory or session it comes from, and why it is there."""

    line: str
    source: str
    reason: str
    score: Score | None = None
    """None where the layer has its own order."""
    floor: float = 0.0
    """What the score was held against."""
    order: str = ""
    """The numbers that place a line without a score, and the floor that held for it; of a scored one, what goes before
    its score."""
    left_out: str = ""
    """Why it is no candidate after all; it is shown to whoever wants the context explained."""
    memory: str = ""
    """The id of the memory that the line tells: no other layer tells it as well."""
    tells: tuple[str, ...] = ()
    """The ids of memories that the line tells besides, in other words: a decision stands with its session, too."""
    says: str = ""
    """The words by which it is left out after a line that says mostly the same; '' where it is told all the same."""
    files: tuple[str, ...] = ()
    """The files that the line is about, from the root of the project."""
    worth: float = 0.0
    """The share of the coming work that it helps with, besides by its files; less for each line before it."""
    is_asked_for: bool = False
    """The user had it remembered, pinned it, or put it as a rule: it goes before more of anything else."""
    is_users_rule: bool = False
    """It stands under the heading of the user's standing rules, whatever its layer."""
    with_next: bool = False
    """It is told together with the item after it, or not at all."""

    value: str = ""
    """The numbers by which it was chosen among the lines of all layers; '' where shares decide."""

    def explained(self) -> str:
        """Return the score as a sum with its floor, or the numbers that place a line without one; then its value."""
        order = self.score.explained(self.floor, self.order) if self.score else self.order
        return "; ".join(filter(None, (order, self.value)))


FADE = 0.8
"""Each further line of a layer is worth so much of the one before it."""
Find = Callable[[sqlite3.Connection, Occasion, Setting], list[Item]]


@dataclass(frozen=True, slots=True)
class Layer:
    """A named part of the context with its share of a budget of 2000 tokens."""

    name: str
    header: str
    cap_tokens: int
    find: Find
    most: int | None = None
    """How many of its candidates are told at most; None where that is what it finds."""
    searches: bool = False
    """It takes longest, and its search is given up before all else: it begins first."""
    more_line: str = ""
    """Its last line when memories have no room, with `{}` for how many; '' where nobody misses them."""
