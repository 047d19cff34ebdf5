"""Selection by share: each layer gets as many lines as its share and the remaining room permit."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import Item, Layer, LayerCandidates
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.render import estimate_tokens, fits

FULL_BUDGET = 2000
"""Budget that the caps of layers refer to; caps scale with the real budget."""
Assemble = Callable[[Sequence["LayerSelection"]], str]


class _WithNext(Protocol):
    @property
    def with_next(self) -> bool: ...


_Joined = TypeVar("_Joined", bound=_WithNext)


@dataclass(slots=True)
class LayerSelection:
    """Layer with its selected, pending and left-out items."""

    layer: Layer
    pending: list[tuple[Item, ...]]
    """Undecided items in order, grouped by items that belong together."""
    selected: list[Item] = field(default_factory=list)
    left_out: list[Item] = field(default_factory=list)

    def is_full(self, number: int) -> bool:
        """Return whether `number` more items would exceed the limit of the layer."""
        return self.layer.max_items is not None and len(self.selected) + number > self.layer.max_items

    def is_cut(self) -> bool:
        """Return whether room is missing for candidates."""
        return bool(self.pending) and not self.is_full(len(self.pending[0]))

    def more_lines(self) -> list[str]:
        """Return the line that counts the memories left out, if the layer has one; the line needs room too."""
        pending = sum(1 for items in self.pending for item in items if item.memory)
        return [self.layer.more_line.format(pending)] if self.selected and pending and self.layer.more_line else []


def select_by_share(layers: Sequence[LayerCandidates], budget_tokens: int, assemble: Assemble) -> list[LayerSelection]:
    """Select items of the layers within the budget.

    Layers are in order of priority. In each layer the first item without room ends the layer. The reserve is room for
    the frame and for layers with more candidates."""
    selections = [LayerSelection(candidates.layer, candidate_groups(candidates.items)) for candidates in layers]
    fill = partial(_fill, selections=selections, budget_tokens=budget_tokens, assemble=assemble)
    caps = [selection.layer.cap_tokens * budget_tokens / FULL_BUDGET for selection in selections]
    for selection, cap in zip(selections, caps, strict=True):
        fill(selection, cap=cap)
    # The user asked to remember these items: they come before more items of any layer.
    while sum(fill(selection, limit=1, asked_for_only=True) for selection in selections):
        pass
    unused = 0.0
    for selection, cap in zip(selections, caps, strict=True):
        fill(selection, cap=cap + unused)
        unused += cap - layer_tokens(selection)
    # One item each in turn, so that a layer with many candidates does not take all remaining room.
    while sum(fill(selection, limit=1) for selection in selections):
        pass
    for selection, candidates in zip(selections, layers, strict=True):
        selection.left_out += [item for item in candidates.items if item.left_out]
        why = NO_ROOM if selection.is_cut() else f"more than {selection.layer.max_items}"
        selection.left_out += [replace(item, left_out=why) for items in selection.pending for item in items]
    return selections


def candidate_groups(items: Iterable[Item]) -> list[tuple[Item, ...]]:
    """Return the items that are not left out, grouped by items that belong together."""
    return list(groups(item for item in items if not item.left_out))


def groups(items: Iterable[_Joined]) -> Iterator[tuple[_Joined, ...]]:
    """Yield items in order, grouped by items that belong together."""
    joined: list[_Joined] = []
    for item in items:
        joined.append(item)
        if not item.with_next:
            yield tuple(joined)
            joined = []
    if joined:
        yield tuple(joined)


def _fill(
    selection: LayerSelection,
    *,
    selections: Sequence[LayerSelection],
    budget_tokens: int,
    assemble: Assemble,
    cap: float | None = None,
    limit: int | None = None,
    asked_for_only: bool = False,
) -> int:
    """Select pending items of a layer while there is room; return the number of added groups."""
    added = 0
    while selection.pending and (limit is None or added < limit):
        if asked_for_only and not any(item.is_asked_for for item in selection.pending[0]):
            break
        fresh = []
        for item in selection.pending[0]:
            if where := covering_layer(item, selections):
                selection.left_out.append(replace(item, left_out=f"shown in {where}"))
            else:
                fresh.append(item)
        selection.pending[0] = tuple(fresh)
        if fresh and selection.is_full(len(fresh)):
            break
        selection.selected += fresh
        # The first item ignores the cap: in a small budget the share of a layer may be too small for any item.
        over_cap = cap is not None and len(selection.selected) > len(fresh) and layer_tokens(selection) > cap
        if fresh and (over_cap or not fits(assemble(selections), budget_tokens)):
            del selection.selected[-len(fresh) :]
            break
        selection.pending.pop(0)
        added += bool(fresh)
    return added


def covering_layer(item: Item, selections: Sequence[LayerSelection]) -> str:
    """Return the layer that already shows all memories of an item; '' for none."""
    ids = {item.memory, *item.covers} - {""}
    for selection in selections:
        if ids and ids <= {id_ for selected in selection.selected for id_ in (selected.memory, *selected.covers)}:
            return selection.layer.name
    return ""


def layer_lines(items: Sequence[Item]) -> list[str]:
    """Return the lines of a layer; fragments form a single last line."""
    fragments = "; ".join(item.line for item in items if item.is_short)
    return [
        *(item.line for item in items if not item.is_short),
        *([render.earlier_line(fragments)] if fragments else []),
    ]


def layer_tokens(selection: LayerSelection) -> int:
    """Return the size of a layer with its header; 0 for a layer without lines."""
    if not selection.selected:
        return 0
    return estimate_tokens(
        "\n".join((selection.layer.header, *layer_lines(selection.selected), *selection.more_lines()))
    )
