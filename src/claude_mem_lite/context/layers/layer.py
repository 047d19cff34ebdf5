"""Parts of a context: layers, and the candidates for their lines."""

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import Score


@dataclass(frozen=True, slots=True)
class Item:
    """Candidate for a line of a layer, with its source (memory or session) and the reason."""

    line: str
    source: str
    reason: str
    score: Score | None = None
    """None for layers with their own order."""
    floor: float = 0.0
    """Minimum of the score."""
    order: str = ""
    """Numbers that rank a line without a score, with its floor; for a scored line, the criteria before the score."""
    left_out: str = ""
    """Reason to leave the candidate out, for explanations."""
    memory: str = ""
    """Id of the memory on the line; no other layer shows the same memory."""
    covers: tuple[str, ...] = ()
    """Ids of further memories whose content the line states in other words, such as decisions of a session."""
    wording: str = ""
    """Words of the line if a line with mostly the same words replaces it; '' for a line that is never replaced."""
    files: tuple[str, ...] = ()
    """Files of the line, relative to the root of the project."""
    worth: float = 0.0
    """Share of the coming work that the line helps with, apart from its files; less for each earlier line."""
    is_asked_for: bool = False
    """True if the user asked to remember, pinned or ruled the memory; selected before further items of any layer."""
    is_users_rule: bool = False
    """Puts the line under the heading of the user's standing rules."""
    is_short: bool = False
    """True for a fragment: the fragments of a layer form one line after its other lines."""
    with_next: bool = False
    """Shown together with the next item, or not at all."""

    value: str = ""
    """Numbers of the selection among all layers; '' for a selection by shares."""

    def explained(self) -> str:
        """Return the score as a sum with the floor, or the numbers that rank the line; then the value."""
        order = self.score.explained(self.floor, self.order) if self.score else self.order
        return "; ".join(filter(None, (order, self.value)))


FADE = 0.8
"""Worth of a line of a layer relative to the line before."""
Find = Callable[[sqlite3.Connection, ContextRequest, Setting], list[Item]]


@dataclass(frozen=True, slots=True)
class Layer:
    """Named part of a context with its share of a budget of 2000 tokens."""

    name: str
    header: str
    cap_tokens: int
    find: Find
    max_items: int | None = None
    """Maximum of selected candidates; None without a limit."""
    searches: bool = False
    """True for a layer with a search: the slowest layer starts first."""
    more_line: str = ""
    """Last line if memories have no room, with `{}` for their number; '' for none."""
