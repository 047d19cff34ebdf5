"""Layers -> the text given to an agent, never over its budget. One layer that fails costs only itself."""

import logging
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass

from claude_mem_lite.context import render
from claude_mem_lite.context.budget import estimate_tokens, fits
from claude_mem_lite.context.layers import BALANCED, Item, Layer, Occasion

_FULL_BUDGET = 2000
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Skipped:
    layer: str
    reason: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """An item that is in the text, with the layer it belongs to."""

    layer: str
    item: Item


@dataclass(frozen=True, slots=True)
class Context:
    """What would be given: empty text when there is nothing worth saying."""

    text: str
    tokens: int
    budget: int
    truncated: bool
    chosen: tuple[Chosen, ...]
    layers_skipped: tuple[Skipped, ...]
    build_ms: float

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.layer for one in self.chosen))

    @property
    def sources(self) -> tuple[str, ...]:
        """The memories and sessions that are told of, in the order of the text."""
        return tuple(dict.fromkeys(one.item.source for one in self.chosen))


def build(
    db: sqlite3.Connection, occasion: Occasion, budget_tokens: int, layers: Sequence[Layer] = BALANCED
) -> Context:
    """The start context for an occasion, deterministic for the same store, occasion and budget."""
    began = time.perf_counter()
    found, skipped = _find(db, occasion, layers)
    chosen = _choose(found, occasion, budget_tokens)
    for layer, items in found:
        if items and not chosen[layer.name]:
            skipped.append(Skipped(layer.name, "no room"))
    text = _assemble(found, chosen, occasion)
    return Context(
        text=text,
        tokens=estimate_tokens(text),
        budget=budget_tokens,
        truncated=any(len(chosen[layer.name]) < len(items) for layer, items in found),
        chosen=tuple(Chosen(layer.name, item) for layer, _ in found for item in chosen[layer.name]),
        layers_skipped=tuple(skipped),
        build_ms=round((time.perf_counter() - began) * 1000, 2),
    )


Found = list[tuple[Layer, list[Item]]]


def _find(db: sqlite3.Connection, occasion: Occasion, layers: Sequence[Layer]) -> tuple[Found, list[Skipped]]:
    found: Found = []
    skipped: list[Skipped] = []
    for layer in layers:
        try:
            items = layer.find(db, occasion)
        except Exception as error:  # noqa: BLE001  one layer must not cost the others
            log.warning("layer failed", extra={"layer": layer.name, "error": type(error).__name__})
            skipped.append(Skipped(layer.name, f"failed: {type(error).__name__}"))
            continue
        if not items:
            skipped.append(Skipped(layer.name, "nothing to say"))
        found.append((layer, items))
    return found, skipped


def _choose(found: Found, occasion: Occasion, budget_tokens: int) -> dict[str, list[Item]]:
    """As many items of each layer as its cap allows, then what room is left by order of priority."""
    chosen: dict[str, list[Item]] = {layer.name: [] for layer, _ in found}
    scale = budget_tokens / _FULL_BUDGET
    for capped in (True, False):
        for layer, items in found:
            taken = chosen[layer.name]
            for item in items[len(taken) :]:
                taken.append(item)
                over_cap = capped and _layer_tokens(layer, taken) > layer.cap_tokens * scale
                if over_cap or not fits(_assemble(found, chosen, occasion), budget_tokens):
                    taken.pop()
                    break
    return chosen


def _layer_tokens(layer: Layer, items: Sequence[Item]) -> int:
    return estimate_tokens("\n".join((layer.header, *(item.line for item in items))))


def _assemble(found: Found, chosen: dict[str, list[Item]], occasion: Occasion) -> str:
    parts = [
        "\n".join((layer.header, *(item.line for item in chosen[layer.name])))
        for layer, _ in found
        if chosen[layer.name]
    ]
    if not parts:
        return ""
    preamble = render.NEWS_PREAMBLE if occasion.since else render.PREAMBLE
    return "\n".join((render.OPENING, preamble, *parts, render.LOOK_DEEPER, render.CLOSING))
