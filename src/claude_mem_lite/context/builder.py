"""Layers -> the text given to an agent, never over its budget. One layer that fails costs only itself."""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

from claude_mem_lite.context import render
from claude_mem_lite.context.layer_runner import OVERTIME, Connect, Found, find
from claude_mem_lite.context.layers.layer import Item, Layer
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.presets import BALANCED, LAST_RESORT, Preset
from claude_mem_lite.context.project_setting import Setting, detect
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.selection import Chosen, choose
from claude_mem_lite.context.value_selection import NOT_WORTH_IT, choose_by_value
from claude_mem_lite.models import ReceiptItem

_NEVER_EMPTY_FROM = 300
_SHARE_OF_DETECTION = 0.4
_UNKNOWN = Setting()
_LAST_NAMES = frozenset(layer.name for layer in LAST_RESORT)
_BESIDES = "told with its session"
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Skipped:
    """A layer that is not in the text."""

    layer: str
    reason: str

    def written(self) -> str:
        """As a receipt keeps it."""
        return f"{self.layer}: {self.reason}"

    @classmethod
    def read(cls, written: str) -> "Skipped":
        layer, _, reason = written.partition(": ")
        return cls(layer, reason)


@dataclass(frozen=True, slots=True)
class Placed:
    """A candidate with the layer it belongs to."""

    layer: str
    item: Item


@dataclass(frozen=True, slots=True)
class Context:
    """What would be given: empty text when there is nothing worth saying."""

    text: str
    tokens: int
    budget: int
    preset: str
    truncated: bool
    chosen: tuple[Placed, ...]
    left_out: tuple[Placed, ...]
    """The candidates that are not in the text; each says why."""
    layers_skipped: tuple[Skipped, ...]
    build_ms: float

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(one.layer for one in self.chosen))

    @property
    def items(self) -> tuple[ReceiptItem, ...]:
        """What is told of, for the receipt: one for each memory or session of a layer, in the order of the text, then
        the memories that are told in the words of a session: they need not be given again."""
        of_source: dict[tuple[str, str], list[Item]] = {}
        for one in self.chosen:
            of_source.setdefault((one.layer, one.item.source), []).append(one.item)
        sources = {source for _, source in of_source}
        besides = {id_: one.layer for one in self.chosen for id_ in one.item.tells if id_ not in sources}
        return (*self._told(of_source), *(ReceiptItem(id_, layer, _BESIDES, 0) for id_, layer in besides.items()))

    @staticmethod
    def _told(of_source: Mapping[tuple[str, str], Sequence[Item]]) -> tuple[ReceiptItem, ...]:
        return tuple(
            ReceiptItem(
                source,
                layer,
                items[0].reason,
                estimate_tokens("\n".join(item.line for item in items)),
                items[0].score.total if items[0].score else None,
            )
            for (layer, source), items in of_source.items()
        )


def build(connect: Connect, occasion: Occasion, budget_tokens: int, preset: Preset = BALANCED) -> Context:
    """The start context for an occasion, deterministic for the same store, occasion, budget and preset.

    `connect` opens the memory.db for reading, once for each layer."""
    began = time.perf_counter()
    setting = _setting(connect, occasion) if preset.layers else _UNKNOWN
    found = _found(connect, occasion, setting, preset.layers)

    def assemble(chosen: Sequence[Chosen]) -> str:
        return _assemble(chosen, occasion)

    if preset.by_value:
        chosen = choose_by_value(found, budget_tokens, assemble, setting.forecast)
    else:
        chosen = choose(found, budget_tokens, assemble)
    if preset.layers and budget_tokens >= _NEVER_EMPTY_FROM and not any(one.told for one in chosen):
        # A preset may have nothing to say where there was work: what it was is better than nothing, in few words.
        others = [one for one in found if one.layer.name not in _LAST_NAMES]
        last = _last_resort(connect, occasion, setting, found)
        chosen = [one for one in chosen if one.layer.name not in _LAST_NAMES]
        chosen += choose(last, _NEVER_EMPTY_FROM, assemble)
        found = [*others, *last]
    skipped = _skipped(found, chosen)
    text = assemble(chosen) or _standing_line(occasion, budget_tokens, preset, skipped)
    return Context(
        text=text,
        tokens=estimate_tokens(text),
        budget=budget_tokens,
        preset=preset.name,
        truncated=any(one.is_cut() for one in chosen),
        chosen=tuple(Placed(one.layer.name, item) for one in chosen for item in one.told),
        left_out=tuple(Placed(one.layer.name, item) for one in chosen for item in one.left_out),
        layers_skipped=skipped,
        build_ms=round((time.perf_counter() - began) * 1000, 2),
    )


def _standing_line(occasion: Occasion, budget_tokens: int, preset: Preset, skipped: Sequence[Skipped]) -> str:
    """Return the context of a project that has nothing to tell: the first lesson is said in a new one.

    Nothing of a preset without layers, and nothing when time ran out: what was written ahead tells more."""
    is_late = any(one.reason == OVERTIME for one in skipped)
    if not (preset.layers and occasion.may_save) or occasion.since or is_late:
        return ""
    text = "\n".join((render.OPENING, render.SAVE_LESSONS, render.CLOSING))
    return text if estimate_tokens(text) <= budget_tokens else ""


def _setting(connect: Connect, occasion: Occasion) -> Setting:
    """What the folder and the last session are about; nothing when that cannot be told."""
    now = time.monotonic()
    until = now + _SHARE_OF_DETECTION * max(occasion.until - now, 0) if occasion.until is not None else None
    try:
        with closing(connect()) as db:
            return detect(db, occasion.place, occasion.session, until)
    except Exception as error:  # noqa: BLE001  the layers that do not need it are told all the same
        log.warning("setting not detected", extra={"error": type(error).__name__})
        return _UNKNOWN


def _found(connect: Connect, occasion: Occasion, setting: Setting, layers: Sequence[Layer]) -> list[Found]:
    found = find(connect, occasion, setting, layers)
    root = occasion.place.root
    return [
        replace(one, items=[replace(item, line=render.without_places(item.line, root)) for item in one.items])
        for one in found
    ]


def _last_resort(connect: Connect, occasion: Occasion, setting: Setting, found: Sequence[Found]) -> list[Found]:
    """The candidates that are told where a preset has nothing to say; what was found is not looked for again."""
    known = {one.layer.name: one for one in found}
    missing = [layer for layer in LAST_RESORT if layer.name not in known]
    known |= {one.layer.name: one for one in _found(connect, occasion, setting, missing)}
    return [known[layer.name] for layer in LAST_RESORT]


def _skipped(found: Sequence[Found], chosen: Sequence[Chosen]) -> tuple[Skipped, ...]:
    skipped = []
    for candidates, one in zip(found, chosen, strict=True):
        if candidates.problem:
            skipped.append(Skipped(one.layer.name, candidates.problem))
        elif not one.told:
            weighed = any(item.left_out == NOT_WORTH_IT for item in one.left_out)
            reason = NO_ROOM if one.is_cut() else "nothing worth its tokens" if weighed else "nothing to say"
            skipped.append(Skipped(one.layer.name, reason))
    return tuple(skipped)


def _assemble(chosen: Sequence[Chosen], occasion: Occasion) -> str:
    """The text: the user's standing rules of all layers first, then everything else as notes for reference."""
    rules = [item.line for one in chosen for item in one.told if item.is_users_rule]
    notes = []
    for one in chosen:
        if lines := [item.line for item in one.told if not item.is_users_rule]:
            notes += [one.layer.header, *lines, *one.more_lines()]
    if notes:
        preamble = render.NEWS_PREAMBLE if occasion.since else render.PREAMBLE
        notes = [*([render.NOTES_HEADER] if rules else []), preamble, *notes]
    if rules:
        rules = [render.RULES_HEADER, render.RULES_PREAMBLE, *rules]
    told = (*rules, *notes)
    # News go to a session that has the line already.
    save = [render.SAVE_LESSONS] if occasion.may_save and not occasion.since else []
    return "\n".join((render.OPENING, *told, render.LOOK_DEEPER, *save, render.CLOSING)) if told else ""
