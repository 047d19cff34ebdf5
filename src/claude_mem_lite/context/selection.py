"""Candidates -> what is told by share: each layer tells as much as its share and the room that is left allow."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Protocol, TypeVar

from claude_mem_lite.context.layer_runner import Found
from claude_mem_lite.context.layers.layer import Item, Layer
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.render import estimate_tokens, fits

FULL_BUDGET = 2000
"""The budget that the caps of the layers are made for; they grow and shrink with the real one."""
Assemble = Callable[[Sequence["Chosen"]], str]


class _WithNext(Protocol):
    @property
    def with_next(self) -> bool: ...


_Joined = TypeVar("_Joined", bound=_WithNext)


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

    def more_lines(self) -> list[str]:
        """The line that counts the memories that are not told, where the layer has one; it takes room like others."""
        waiting = sum(1 for items in self.waiting for item in items if item.memory)
        return [self.layer.more_line.format(waiting)] if self.told and waiting and self.layer.more_line else []


def choose(found: Sequence[Found], budget_tokens: int, assemble: Assemble) -> list[Chosen]:
    """What of the candidates is told. The order of the layers is their priority, and the order within each its own:
    what does not fit ends its layer. The reserve is no layer: it is room for the frame and for what flows on."""
    chosen = [Chosen(one.layer, candidates(one.items)) for one in found]
    fill = partial(_fill, chosen=chosen, budget_tokens=budget_tokens, assemble=assemble)
    caps = [one.layer.cap_tokens * budget_tokens / FULL_BUDGET for one in chosen]
    for one, cap in zip(chosen, caps, strict=True):
        fill(one, cap=cap)
    # What the user asked to be remembered is not to be missed: it goes before more of anything else.
    while sum(fill(one, most=1, asked_for_only=True) for one in chosen):
        pass
    unused = 0.0
    for one, cap in zip(chosen, caps, strict=True):
        fill(one, cap=cap + unused)
        unused += cap - layer_tokens(one)
    # In rounds, so that one layer with much to say does not take all that is left.
    while sum(fill(one, most=1) for one in chosen):
        pass
    for one, of_layer in zip(chosen, found, strict=True):
        one.left_out += [item for item in of_layer.items if item.left_out]
        why = NO_ROOM if one.is_cut() else f"more than {one.layer.most}"
        one.left_out += [replace(item, left_out=why) for items in one.waiting for item in items]
    return chosen


def candidates(items: Iterable[Item]) -> list[tuple[Item, ...]]:
    """Return the items that are not left out, those that are told together in one."""
    return list(groups(item for item in items if not item.left_out))


def groups(items: Iterable[_Joined]) -> Iterator[tuple[_Joined, ...]]:
    """Yield items in their order, those that are told together in one."""
    joined: list[_Joined] = []
    for item in items:
        joined.append(item)
        if not item.with_next:
            yield tuple(joined)
            joined = []
    if joined:
        yield tuple(joined)


def _fill(
    one: Chosen,
    *,
    chosen: Sequence[Chosen],
    budget_tokens: int,
    assemble: Assemble,
    cap: float | None = None,
    most: int | None = None,
    asked_for_only: bool = False,
) -> int:
    """Tell what waits in a layer, as far as there is room; returns how much was added."""
    added = 0
    while one.waiting and (most is None or added < most):
        if asked_for_only and not any(item.is_asked_for for item in one.waiting[0]):
            break
        fresh = []
        for item in one.waiting[0]:
            if where := told_in(item, chosen):
                one.left_out.append(replace(item, left_out=f"told in {where}"))
            else:
                fresh.append(item)
        one.waiting[0] = tuple(fresh)
        if fresh and one.is_full(len(fresh)):
            break
        one.told += fresh
        # The first is told whatever the cap: of a small budget the share of a layer may be too small for any.
        over_cap = cap is not None and len(one.told) > len(fresh) and layer_tokens(one) > cap
        if fresh and (over_cap or not fits(assemble(chosen), budget_tokens)):
            del one.told[-len(fresh) :]
            break
        one.waiting.pop(0)
        added += bool(fresh)
    return added


def told_in(item: Item, chosen: Sequence[Chosen]) -> str:
    """The layer that tells all memories of an item already."""
    wanted = {item.memory, *item.tells} - {""}
    for one in chosen:
        if wanted and wanted <= {id_ for told in one.told for id_ in (told.memory, *told.tells)}:
            return one.layer.name
    return ""


def layer_tokens(one: Chosen) -> int:
    """The size of a layer with its header; nothing when it tells nothing."""
    if not one.told:
        return 0
    return estimate_tokens("\n".join((one.layer.header, *(item.line for item in one.told), *one.more_lines())))
