"""Selection by value: the lines with the highest value per token first, as long as the value is above a floor.

The value of a line is the share of the coming work that the line is expected to help with: a worth of the line itself,
and the forecast for files not covered by earlier lines (project_setting.py). docs/context.md has the rules and the
choice of the floor."""

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from claude_mem_lite.context.layers.layer import Item, LayerCandidates
from claude_mem_lite.context.order import NO_ROOM, format_number
from claude_mem_lite.context.project_setting import Forecast
from claude_mem_lite.context.render import estimate_tokens, fits
from claude_mem_lite.context.selection import Assemble, LayerSelection, candidate_groups, covering_layer
from claude_mem_lite.context.similarity import StemmedText
from claude_mem_lite.values import frozen

FLOOR = 0.0008
"""Minimum value per token. Chosen on seven projects by cross-validation (docs/context.md)."""
_MIN_SESSIONS = 10
"""Sessions for the full floor. With fewer sessions the floor is lower in proportion: each memory is a larger part of
the knowledge."""
_NAMED_ONLY = 0.25
"""Weight of a memory about a file that so far only the headline of a session covers."""
_ASKED_FOR_SHARE = 0.5
"""Share of the budget for memories that the user wants kept; further ones are selected by value without a floor."""
_NO_FLOOR = "no floor of value: the user wants it kept"
NOT_WORTH_IT = "not worth its tokens"
REPEATED = "repeats another line"
_MOSTLY_SAME_SHARE = 0.7
_PER_THOUSAND = 1000
_DIGITS_OF_VALUE = 6


@dataclass(slots=True)
class _Group:
    """Lines that belong together, with the place among the candidates of the layer."""

    layer: int
    place: int
    items: tuple[Item, ...]
    tokens: int = field(init=False)
    _wordings: tuple[StemmedText, ...] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.tokens = estimate_tokens("\n".join(item.line for item in self.items))

    @property
    def wordings(self) -> tuple[StemmedText, ...]:
        """Words of the lines; computed when asked for, since most groups are not worth their tokens."""
        if self._wordings is None:
            self._wordings = tuple(StemmedText(item.wording) for item in self.items if item.wording)
        return self._wordings

    @property
    def is_asked_for(self) -> bool:
        return any(item.is_asked_for for item in self.items)

    @property
    def is_received(self) -> bool:
        """True if all lines are memories of teammates."""
        return all(item.is_received for item in self.items)


@frozen
class _Value:
    own: float
    of_files: float
    tokens: int
    floor: float | None
    """None for memories that the user wants kept."""

    @property
    def per_token(self) -> float:
        return (self.own + self.of_files) / max(self.tokens, 1)

    @property
    def is_too_low(self) -> bool:
        return self.floor is not None and self.per_token < self.floor

    def explained(self) -> str:
        """Return the value as a sum, with cost and floor per thousand tokens."""
        own, of_files = round(self.own, _DIGITS_OF_VALUE), round(self.of_files, _DIGITS_OF_VALUE)
        value, *parts = (format_number(number, _DIGITS_OF_VALUE) for number in (own + of_files, own, of_files))
        rate = format_number(_PER_THOUSAND * self.per_token)
        floor = (
            _NO_FLOOR
            if self.floor is None
            else f"the floor of value a thousand tokens is {format_number(_PER_THOUSAND * self.floor)}"
        )
        sum_ = f"value {value} = own {parts[0]} + files {parts[1]}"
        return f"{sum_}; {self.tokens} tokens, {rate} a thousand, {floor}"


@dataclass(slots=True)
class _ValueSelection:
    """Lines selected so far, and the files covered."""

    selections: Sequence[LayerSelection]
    forecast: Forecast
    budget: int
    assemble: Assemble
    named: set[str] = field(default_factory=set)
    """Files that headlines of sessions cover."""
    covered: set[str] = field(default_factory=set)
    """Files that one's own memories cover."""
    covered_by_team: set[str] = field(default_factory=set)
    """Files that memories of teammates cover: one's own lines do not say what a teammate found there."""
    wordings: list[StemmedText] = field(default_factory=list)
    """Words of selected lines, to detect repetition."""
    places: dict[int, list[int]] = field(default_factory=dict)
    """Places of the selected lines, by layer."""

    def value(self, group: _Group) -> _Value:
        """Return the value of a group in addition to the selected lines."""
        own = sum(item.worth for item in group.items)
        files = {file for item in group.items for file in item.files}
        if group.is_received:
            of_files = self.forecast.share(files - self.covered_by_team)
        else:
            files -= self.covered
            of_files = self.forecast.share(files - self.named)
            if any(item.memory for item in group.items):
                of_files += _NAMED_ONLY * self.forecast.share(files & self.named)
        return _Value(own, of_files, group.tokens, None if group.is_asked_for else floor_of(self.forecast))

    def repeats(self, group: _Group) -> bool:
        """Return whether selected lines say mostly the same as every line of a group."""
        is_complete = len(group.wordings) == len(group.items) and not group.is_asked_for
        return is_complete and all(
            any(wording.share_in(earlier) >= _MOSTLY_SAME_SHARE for earlier in self.wordings)
            for wording in group.wordings
        )

    def add(self, group: _Group, budget: int, why: str) -> bool:
        """Add a group if there is room, without the items that another layer already shows."""
        selection = self.selections[group.layer]
        covered_elsewhere = {item: where for item in group.items if (where := covering_layer(item, self.selections))}
        fresh = [replace(item, value=why) for item in group.items if item not in covered_elsewhere]
        selection.selected += fresh
        if fresh and not fits(self.assemble(self.selections), budget):
            del selection.selected[-len(fresh) :]
            return False
        selection.pending.remove(group.items)
        selection.left_out += [replace(item, left_out=f"shown in {where}") for item, where in covered_elsewhere.items()]
        self.places.setdefault(group.layer, []).extend([group.place] * len(fresh))
        for item in fresh:
            covered = self.covered if item.memory else self.named
            (self.covered_by_team if item.is_received else covered).update(item.files)
        self.wordings += group.wordings
        return True

    def leave_out(self, group: _Group, reason: str, value: _Value) -> None:
        """Record the reason to leave a group out; a group without room stays pending."""
        selection = self.selections[group.layer]
        if reason != NO_ROOM:
            selection.pending.remove(group.items)
        for item in group.items:
            where = covering_layer(item, self.selections)
            left_out = f"shown in {where}" if where else reason
            selection.left_out.append(replace(item, left_out=left_out, value=value.explained()))


def floor_of(forecast: Forecast) -> float:
    """Return the minimum value per token for the number of sessions in a project."""
    return FLOOR * min(max(forecast.sessions, 1), _MIN_SESSIONS) / _MIN_SESSIONS


def select_by_value(
    layers: Sequence[LayerCandidates], budget_tokens: int, assemble: Assemble, forecast: Forecast
) -> list[LayerSelection]:
    """Return the layers with the lines worth the tokens, in the order of the candidates."""
    # Value limits a layer; the maximum number of lines does not apply.
    selections = [
        LayerSelection(replace(candidates.layer, max_items=None, more_line=""), candidate_groups(candidates.items))
        for candidates in layers
    ]
    chosen = _ValueSelection(selections, forecast, budget_tokens, assemble)
    others = list(_asked_for_first(chosen))
    own = [group for group in others if not group.is_received]
    received = [group for group in others if group.is_received]
    # One after the other: memories of teammates take no room from one's own lines.
    without_room = [*_by_value(own, chosen), *_by_value(received, chosen)]
    for group, value in without_room:
        chosen.leave_out(group, NO_ROOM, value)
    for index, (selection, candidates) in enumerate(zip(selections, layers, strict=True)):
        in_order = sorted(zip(chosen.places.get(index, []), selection.selected, strict=True), key=lambda pair: pair[0])
        selection.selected = [item for _, item in in_order]
        selection.left_out += [item for item in candidates.items if item.left_out]
    return selections


def _asked_for_first(chosen: _ValueSelection) -> Iterator[_Group]:
    """Add the memories that the user wants kept, within their share of the budget; yield all other groups."""
    max_tokens = int(_ASKED_FOR_SHARE * chosen.budget)
    for index, layer_selection in enumerate(chosen.selections):
        for position, items in enumerate(list(layer_selection.pending)):
            group = _Group(index, position, items)
            if not (group.is_asked_for and chosen.add(group, max_tokens, f"{group.tokens} tokens, {_NO_FLOOR}")):
                yield group


def _by_value(groups: Sequence[_Group], chosen: _ValueSelection) -> Iterator[tuple[_Group, _Value]]:
    """Add groups while the best group is above the floor; yield the groups without room, with values.

    Values only fall as lines are added. So the first group with an unchanged value since queueing is the best."""
    heap = [(-chosen.value(group).per_token, index) for index, group in enumerate(groups)]
    heapq.heapify(heap)
    while heap:
        queued, index = heapq.heappop(heap)
        group = groups[index]
        value = chosen.value(group)
        if value.per_token < -queued:
            heapq.heappush(heap, (-value.per_token, index))
        elif value.is_too_low:
            chosen.leave_out(group, NOT_WORTH_IT, value)
        elif chosen.repeats(group):
            chosen.leave_out(group, REPEATED, value)
        elif not chosen.add(group, chosen.budget, value.explained()):
            yield group, value
