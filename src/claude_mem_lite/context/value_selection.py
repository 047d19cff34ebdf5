"""Candidates -> the lines that are told, by value: lines with most value a token first, while that is over a floor.

The value of a line is the share of the coming work that it is expected to tell of: by its files (forecast.py), as far
as no line before it tells of them, and by what it is. docs/context.md has the rules, and how the floor was chosen."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from claude_mem_lite.context.forecast import Forecast
from claude_mem_lite.context.layer_runner import Found
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.order import NO_ROOM, shown
from claude_mem_lite.context.render import estimate_tokens, fits
from claude_mem_lite.context.selection import Assemble, Chosen, candidates, told_in
from claude_mem_lite.context.similarity import Said

FLOOR = 0.0008
"""The least value a token. Chosen over seven projects, each left out once (docs/context.md)."""
_MIN_SESSIONS = 10
"""In a project with fewer sessions the floor is lower by as much: each thing that is known is more of all there is."""
_DEEPER = 0.25
"""A memory about a file that only the headline of a session tells of counts so much."""
_MAX_ASKED_FOR = 0.5
"""The share of the budget for what the user wants kept; what is over comes by its value, whatever the floor."""
_NO_FLOOR = "no floor of value: the user wants it kept"
NOT_WORTH_IT = "not worth its tokens"
REPEATED = "said by a line that is told"
_SAYS_MOST = 0.7
_PER_THOUSAND = 1000
_DIGITS_OF_VALUE = 6


@dataclass(slots=True)
class _Group:
    """Lines that are told together, with their place among the candidates of their layer."""

    layer: int
    place: int
    items: tuple[Item, ...]
    tokens: int = field(init=False)
    said: tuple[Said, ...] = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = estimate_tokens("\n".join(item.line for item in self.items))
        self.said = tuple(Said(item.says) for item in self.items if item.says)

    @property
    def is_asked_for(self) -> bool:
        return any(item.is_asked_for for item in self.items)


@dataclass(frozen=True, slots=True)
class _Value:
    own: float
    of_files: float
    tokens: int
    floor: float | None
    """None for what the user wants kept."""

    @property
    def a_token(self) -> float:
        return (self.own + self.of_files) / max(self.tokens, 1)

    @property
    def is_too_low(self) -> bool:
        return self.floor is not None and self.a_token < self.floor

    def explained(self) -> str:
        """Return the value as a sum, with its cost and the floor, both for a thousand tokens."""
        own, of_files = round(self.own, _DIGITS_OF_VALUE), round(self.of_files, _DIGITS_OF_VALUE)
        value, *parts = (shown(one, _DIGITS_OF_VALUE) for one in (own + of_files, own, of_files))
        rate = shown(_PER_THOUSAND * self.a_token)
        floor = (
            _NO_FLOOR
            if self.floor is None
            else f"the floor of value a thousand tokens is {shown(_PER_THOUSAND * self.floor)}"
        )
        sum_ = f"value {value} = own {parts[0]} + files {parts[1]}"
        return f"{sum_}; {self.tokens} tokens, {rate} a thousand, {floor}"


@dataclass(slots=True)
class _Selection:
    """The lines that are told so far, and the files that they tell of."""

    chosen: Sequence[Chosen]
    forecast: Forecast
    budget: int
    assemble: Assemble
    named: set[str] = field(default_factory=set)
    """Files that a session's headline stands for."""
    told: set[str] = field(default_factory=set)
    """Files that a memory tells of."""
    said: list[Said] = field(default_factory=list)
    """What the lines say that others may repeat."""
    places: dict[int, list[int]] = field(default_factory=dict)
    """The place of each line that is told, by its layer."""

    def value(self, group: _Group) -> _Value:
        """Return the value of lines after those that are told."""
        own = sum(item.worth for item in group.items)
        files = {file for item in group.items for file in item.files} - self.told
        of_files = self.forecast.share(files - self.named)
        if any(item.memory for item in group.items):
            of_files += _DEEPER * self.forecast.share(files & self.named)
        return _Value(own, of_files, group.tokens, None if group.is_asked_for else floor_of(self.forecast))

    def repeats(self, group: _Group) -> bool:
        """Return whether every line of a group says mostly what one that is told says."""
        is_any = len(group.said) == len(group.items) and not group.is_asked_for
        return is_any and all(any(one.share_in(told) >= _SAYS_MOST for told in self.said) for one in group.said)

    def tell(self, group: _Group, budget: int, why: str) -> bool:
        """Add lines if there is room; of those that another layer tells already nothing is added."""
        layer = self.chosen[group.layer]
        told_elsewhere = {item: where for item in group.items if (where := told_in(item, self.chosen))}
        fresh = [replace(item, value=why) for item in group.items if item not in told_elsewhere]
        layer.told += fresh
        if fresh and not fits(self.assemble(self.chosen), budget):
            del layer.told[-len(fresh) :]
            return False
        layer.waiting.remove(group.items)
        layer.left_out += [replace(item, left_out=f"told in {where}") for item, where in told_elsewhere.items()]
        self.places.setdefault(group.layer, []).extend([group.place] * len(fresh))
        for item in fresh:
            (self.told if item.memory else self.named).update(item.files)
        self.said += group.said
        return True

    def leave_out(self, group: _Group, reason: str, value: _Value) -> None:
        """Note why lines are not told; those that have no room are still waiting for it."""
        layer = self.chosen[group.layer]
        if reason != NO_ROOM:
            layer.waiting.remove(group.items)
        for item in group.items:
            where = told_in(item, self.chosen)
            why = f"told in {where}" if where else reason
            layer.left_out.append(replace(item, left_out=why, value=value.explained()))


def floor_of(forecast: Forecast) -> float:
    """Return the least value a token in a project with so many sessions."""
    return FLOOR * min(max(forecast.sessions, 1), _MIN_SESSIONS) / _MIN_SESSIONS


def choose_by_value(found: Sequence[Found], budget_tokens: int, assemble: Assemble, forecast: Forecast) -> list[Chosen]:
    """Return the layers with the lines that are worth their tokens, in the order of the candidates."""
    # The value bounds a layer, not a number of lines.
    chosen = [Chosen(replace(one.layer, most=None, more_line=""), candidates(one.items)) for one in found]
    selection = _Selection(chosen, forecast, budget_tokens, assemble)
    without_room = list(_by_value(list(_asked_for_first(selection)), selection))
    for group, value in without_room:
        selection.leave_out(group, NO_ROOM, value)
    for at, (one, of_layer) in enumerate(zip(chosen, found, strict=True)):
        in_order = sorted(zip(selection.places.get(at, []), one.told, strict=True), key=lambda pair: pair[0])
        one.told = [item for _, item in in_order]
        one.left_out += [item for item in of_layer.items if item.left_out]
    return chosen


def _asked_for_first(selection: _Selection) -> Iterator[_Group]:
    """Tell what the user wants kept, as far as its share of the budget goes; yields all others."""
    share = int(_MAX_ASKED_FOR * selection.budget)
    for layer, one in enumerate(selection.chosen):
        for place, items in enumerate(list(one.waiting)):
            group = _Group(layer, place, items)
            if not (group.is_asked_for and selection.tell(group, share, f"{group.tokens} tokens, {_NO_FLOOR}")):
                yield group


def _by_value(waiting: Sequence[_Group], selection: _Selection) -> Iterator[tuple[_Group, _Value]]:
    """Tell lines while the best is over the floor; yields those for which there is no room, with their value.

    Values only fall as more is told, so that the first whose value has not changed since it was placed is the best."""
    heap = [(-selection.value(group).a_token, at) for at, group in enumerate(waiting)]
    heapq.heapify(heap)
    while heap:
        placed, at = heapq.heappop(heap)
        group = waiting[at]
        value = selection.value(group)
        if value.a_token < -placed:
            heapq.heappush(heap, (-value.a_token, at))
        elif value.is_too_low:
            selection.leave_out(group, NOT_WORTH_IT, value)
        elif selection.repeats(group):
            selection.leave_out(group, REPEATED, value)
        elif not selection.tell(group, selection.budget, value.explained()):
            yield group, value
