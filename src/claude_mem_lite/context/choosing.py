"""Candidates -> what is told: of each layer as much as its share allows, and the room that those before it left."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from claude_mem_lite.context.budget import estimate_tokens, fits
from claude_mem_lite.context.finding import Found
from claude_mem_lite.context.items import Item, Layer
from claude_mem_lite.words import overlap

FULL_BUDGET = 2000
"""The budget that the caps of the layers are made for; they grow and shrink with the real one."""
_SAME_WORDS = 0.9
Assemble = Callable[[Sequence["Chosen"]], str]


@dataclass(slots=True)
class Chosen:
    """A layer with what is told of it, and what is not."""

    layer: Layer
    waiting: list[tuple[Item, ...]]
    """What is not decided on yet, in order; those that are told together in one."""
    told: list[Item] = field(default_factory=list)
    left_out: list[Item] = field(default_factory=list)

    def is_full(self, more: int) -> bool:
        """Whether it may not tell so many more, whatever room there is."""
        return self.layer.most is not None and len(self.told) + more > self.layer.most

    def is_cut(self) -> bool:
        """Whether candidates are left out for want of room."""
        return bool(self.waiting) and not self.is_full(len(self.waiting[0]))


def choose(found: Sequence[Found], budget_tokens: int, assemble: Assemble) -> list[Chosen]:
    """What of the candidates is told. The order of the layers is their priority, and the order within each its own:
    what does not fit ends its layer. The reserve is no layer: it is room for the frame and for what flows on."""
    chosen = [Chosen(one.layer, list(_together(one.items))) for one in found]
    scale = budget_tokens / FULL_BUDGET
    unused = 0.0
    for one in chosen:
        cap = one.layer.cap_tokens * scale + unused
        _fill(one, chosen, cap, budget_tokens, assemble)
        unused = cap - layer_tokens(one)
    for one in chosen:
        _fill(one, chosen, None, budget_tokens, assemble)
    for one, candidates in zip(chosen, found, strict=True):
        one.left_out += [item for item in candidates.items if item.left_out]
        why = "no room" if one.is_cut() else f"more than {one.layer.most}"
        one.left_out += [replace(item, left_out=why) for items in one.waiting for item in items]
    return chosen


def _together(items: Sequence[Item]) -> Iterator[tuple[Item, ...]]:
    joined: list[Item] = []
    for item in items:
        if item.left_out:
            continue
        joined.append(item)
        if not item.with_next:
            yield tuple(joined)
            joined = []
    if joined:
        yield tuple(joined)


def _fill(one: Chosen, chosen: Sequence[Chosen], cap: float | None, budget_tokens: int, assemble: Assemble) -> None:
    while one.waiting:
        fresh = []
        for item in one.waiting[0]:
            if where := _told_in(item, chosen):
                one.left_out.append(replace(item, left_out=f"told in {where}"))
            else:
                fresh.append(item)
        one.waiting[0] = tuple(fresh)
        if fresh and one.is_full(len(fresh)):
            return
        one.told += fresh
        over_cap = cap is not None and layer_tokens(one) > cap
        if fresh and (over_cap or not fits(assemble(chosen), budget_tokens)):
            del one.told[-len(fresh) :]
            return
        one.waiting.pop(0)


def _told_in(item: Item, chosen: Sequence[Chosen]) -> str:
    """The layer that tells the memory of an item already."""
    if not item.memory:
        return ""
    return next((one.layer.name for one in chosen if any(_is_same(item, told) for told in one.told)), "")


def _is_same(item: Item, told: Item) -> bool:
    if told.memory or not told.says:
        return item.memory == told.memory
    return overlap(item.says, told.says) >= _SAME_WORDS


def layer_tokens(one: Chosen) -> int:
    """The size of a layer with its header; nothing when it tells nothing."""
    if not one.told:
        return 0
    return estimate_tokens("\n".join((one.layer.header, *(item.line for item in one.told))))
