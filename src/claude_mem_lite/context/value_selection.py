"""Candidates -> the lines that are told, by value: lines with most value a token first, while that is over a floor.

The value of a line is the share of the coming work that it is expected to tell of: by its files (forecast.py), as far
as no line before it tells of them, and by what it is. docs/context.md has the rules, and how the floor was chosen."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from claude_mem_lite.context.budget import estimate_tokens, fits
from claude_mem_lite.context.choosing import Assemble, Chosen, groups, told_in
from claude_mem_lite.context.finding import Found
from claude_mem_lite.context.forecast import Forecast
from claude_mem_lite.context.items import Item
from claude_mem_lite.context.order import shown

FLOOR = 0.0006
"""The least value a token. Chosen over seven projects, each left out once (docs/context.md)."""
_DEEPER = 0.25
"""A memory about a file that only the headline of a session tells of counts so much."""
_MAX_ASKED_FOR = 0.5
"""The share of the budget for what the user had remembered or pinned; what is over competes with all the rest."""
_NOT_WORTH_IT = "not worth its tokens"
_PER_THOUSAND = 1000


@dataclass(slots=True)
class _Group:
    """Lines that are told together, with their place among all candidates."""

    layer: int
    place: int
    items: tuple[Item, ...]
    tokens: int = 0

    def __post_init__(self) -> None:
        self.tokens = estimate_tokens("\n".join(item.line for item in self.items))


@dataclass(slots=True)
class _Value:
    own: float
    of_files: float
    tokens: int

    @property
    def a_token(self) -> float:
        return (self.own + self.of_files) / max(self.tokens, 1)

    def explained(self) -> str:
        """Return the value as a sum, with its cost and the floor, both for a thousand tokens."""
        value, rate = shown(self.own + self.of_files), shown(_PER_THOUSAND * self.a_token)
        sum_ = f"value {value} = own {shown(self.own)} + files {shown(self.of_files)}"
        return f"{sum_}; {self.tokens} tokens, {rate} a thousand, the floor is {shown(_PER_THOUSAND * FLOOR)}"


@dataclass(slots=True)
class _Selection:
    chosen: Sequence[Chosen]
    forecast: Forecast
    budget: int
    assemble: Assemble
    named: set[str] = field(default_factory=set)
    """Files that a session's headline stands for."""
    told: set[str] = field(default_factory=set)
    """Files that a memory tells of."""
    places: dict[int, list[int]] = field(default_factory=dict)

    def value(self, group: _Group) -> _Value:
        """Return the value of lines after those that are told."""
        own = max(item.worth for item in group.items)
        files = {file for item in group.items for file in item.files} - self.told
        if any(item.memory for item in group.items):
            of_files = self.forecast.share(files - self.named) + _DEEPER * self.forecast.share(files & self.named)
        else:
            of_files = self.forecast.share(files - self.named)
        return _Value(own, of_files, group.tokens)

    def tell(self, group: _Group, budget: float, why: str) -> bool:
        """Add lines if there is room; of those that another layer tells already nothing is added."""
        layer = self.chosen[group.layer]
        fresh = []
        for item in group.items:
            if where := told_in(item, self.chosen):
                layer.left_out.append(replace(item, left_out=f"told in {where}"))
            else:
                fresh.append(replace(item, order="; ".join(filter(None, (item.order, why)))))
        layer.told += fresh
        if fresh and not fits(self.assemble(self.chosen), int(budget)):
            del layer.told[-len(fresh) :]
            return False
        for item in fresh:
            (self.told if item.memory else self.named).update(item.files)
            self.places.setdefault(group.layer, []).append(group.place)
        return True

    def leave_out(self, group: _Group, why: str) -> None:
        self.chosen[group.layer].left_out += [
            replace(item, left_out=_NOT_WORTH_IT, order="; ".join(filter(None, (item.order, why))))
            for item in group.items
        ]


def choose_by_value(found: Sequence[Found], budget_tokens: int, assemble: Assemble, forecast: Forecast) -> list[Chosen]:
    """Return the layers with the lines that are worth their tokens, in the order of the candidates."""
    chosen = [Chosen(one.layer, []) for one in found]
    selection = _Selection(chosen, forecast, budget_tokens, assemble)
    waiting = list(_asked_for_first(found, selection))
    for group in _by_value(waiting, selection):
        chosen[group.layer].waiting.append(group.items)  # for want of room
    for at, (one, candidates) in enumerate(zip(chosen, found, strict=True)):
        in_order = sorted(zip(selection.places.get(at, []), one.told, strict=True), key=lambda pair: pair[0])
        one.told = [item for _, item in in_order]
        one.left_out += [item for item in candidates.items if item.left_out]
        one.left_out += [replace(item, left_out="no room") for items in one.waiting for item in items]
    return chosen


def _asked_for_first(found: Sequence[Found], selection: _Selection) -> Iterator[_Group]:
    """Tell what the user asked to be remembered, as far as its share goes; yields all others."""
    for layer, one in enumerate(found):
        for place, items in enumerate(groups(one.items)):
            group = _Group(layer, place, items)
            is_asked_for = any(item.is_asked_for for item in items)
            if not (is_asked_for and selection.tell(group, _MAX_ASKED_FOR * selection.budget, "asked for by the user")):
                yield group


def _by_value(waiting: Sequence[_Group], selection: _Selection) -> Iterator[_Group]:
    """Tell lines while the best is over the floor; yields those for which there is no room.

    Values only fall as more is told, so that the first whose value has not changed since it was placed is the best."""
    heap = [(-selection.value(group).a_token, at) for at, group in enumerate(waiting)]
    heapq.heapify(heap)
    while heap:
        placed, at = heapq.heappop(heap)
        group = waiting[at]
        value = selection.value(group)
        if value.a_token < -placed:
            heapq.heappush(heap, (-value.a_token, at))
        elif value.a_token < FLOOR:
            selection.leave_out(group, value.explained())
        elif not selection.tell(group, selection.budget, value.explained()):
            yield group
