"""Layers -> the text injected at session start, never over its budget. A layer that fails costs only itself; a failed
comparison of statements costs no line."""

import logging
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace

from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import OVERTIME, Connect, Item, Layer, LayerCandidates, run_layers
from claude_mem_lite.context.order import NO_ROOM
from claude_mem_lite.context.presets import BALANCED, LAST_RESORT, Preset
from claude_mem_lite.context.project_setting import Setting, detect
from claude_mem_lite.context.render import estimate_tokens
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.rivals import leave_out_contested
from claude_mem_lite.context.selection import LayerSelection, layer_lines, select_by_share
from claude_mem_lite.context.value_selection import NOT_WORTH_IT, select_by_value
from claude_mem_lite.deadline import NEVER, Deadline
from claude_mem_lite.models import ReceiptItem
from claude_mem_lite.store import memories
from claude_mem_lite.values import frozen

_NEVER_EMPTY_FROM = 300
_SHARE_OF_DETECTION = 0.4
_UNKNOWN = Setting()
_LAST_NAMES = frozenset(layer.name for layer in LAST_RESORT)
_WITH_SESSION = "shown with its session"
_COMPARISON = "comparison"
log = logging.getLogger(__name__)


@frozen
class LayerSkip:
    """Layer without lines in the text, or the comparison of statements, with the reason."""

    layer: str
    reason: str

    def to_text(self) -> str:
        """Return the form that receipts store."""
        return f"{self.layer}: {self.reason}"

    @classmethod
    def from_text(cls, text: str) -> "LayerSkip":
        layer, _, reason = text.partition(": ")
        return cls(layer, reason)


@frozen
class LayerItem:
    """Candidate with the name of its layer."""

    layer: str
    item: Item


@frozen
class Context:
    """Built context; the text is empty if no line is worth its tokens."""

    text: str
    tokens: int
    budget: int
    preset: str
    truncated: bool
    chosen: tuple[LayerItem, ...]
    left_out: tuple[LayerItem, ...]
    """Candidates that are not in the text, each with a reason."""
    layers_skipped: tuple[LayerSkip, ...]
    build_ms: float

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(placed.layer for placed in self.chosen))

    @property
    def items(self) -> tuple[ReceiptItem, ...]:
        """Return the items of the receipt: per layer and source, in the order of the text, then the memories that lines
        of sessions cover."""
        by_source: dict[tuple[str, str], list[Item]] = {}
        for placed in self.chosen:
            by_source.setdefault((placed.layer, placed.item.source), []).append(placed.item)
        sources = {source for _, source in by_source}
        covered = {id_: placed.layer for placed in self.chosen for id_ in placed.item.covers if id_ not in sources}
        return (
            *self._receipt_items(by_source),
            *(ReceiptItem(id_, layer, _WITH_SESSION, 0) for id_, layer in covered.items()),
        )

    @staticmethod
    def _receipt_items(by_source: Mapping[tuple[str, str], Sequence[Item]]) -> tuple[ReceiptItem, ...]:
        return tuple(
            ReceiptItem(
                source,
                layer,
                items[0].reason,
                estimate_tokens("\n".join(item.line for item in items)),
                items[0].score.total if items[0].score else None,
            )
            for (layer, source), items in by_source.items()
        )


def build(connect: Connect, request: ContextRequest, budget_tokens: int, preset: Preset = BALANCED) -> Context:
    """Build the start context; the result is deterministic for the same store, request, budget and preset.

    `connect` opens memory.db for reading, once for each layer."""
    began = time.perf_counter()
    setting = _detect_setting(connect, request) if preset.layers else _UNKNOWN
    candidates = _candidates_of(connect, request, setting, preset.layers)
    if request.pinned_only:
        candidates = _pinned(connect, candidates)

    def assemble(selections: Sequence[LayerSelection]) -> str:
        return _assemble(selections, request)

    if preset.by_value:
        selections = select_by_value(candidates, budget_tokens, assemble, setting.forecast)
    else:
        selections = select_by_share(candidates, budget_tokens, assemble)
    uncompared = _take_out_contested(connect, request, selections)
    is_empty = not any(selection.selected for selection in selections)
    if is_empty and preset.layers and not request.pinned_only and budget_tokens >= _NEVER_EMPTY_FROM:
        # The preset may select nothing although sessions exist: a few lines about them are better than no context.
        others = [result for result in candidates if result.layer.name not in _LAST_NAMES]
        last = _last_resort(connect, request, setting, candidates)
        selections = [selection for selection in selections if selection.layer.name not in _LAST_NAMES]
        selections += select_by_share(last, _NEVER_EMPTY_FROM, assemble)
        uncompared = _take_out_contested(connect, request, selections)
        candidates = [*others, *last]
    skipped = (*_skipped(candidates, selections), *uncompared)
    text = assemble(selections) or _standing_line(request, budget_tokens, preset, skipped)
    return Context(
        text=text,
        tokens=estimate_tokens(text),
        budget=budget_tokens,
        preset=preset.name,
        truncated=any(selection.is_cut() for selection in selections),
        chosen=tuple(LayerItem(selection.layer.name, item) for selection in selections for item in selection.selected),
        left_out=tuple(
            LayerItem(selection.layer.name, item) for selection in selections for item in selection.left_out
        ),
        layers_skipped=skipped,
        build_ms=round((time.perf_counter() - began) * 1000, 2),
    )


def _standing_line(request: ContextRequest, budget_tokens: int, preset: Preset, skipped: Sequence[LayerSkip]) -> str:
    """Return the context of a project without memories: a new project may get its first lesson.

    Return '' for a preset without layers, and after a timeout: the prerendered context says more."""
    is_late = any(skip.reason == OVERTIME for skip in skipped)
    if not (preset.layers and request.may_save) or request.since or is_late:
        return ""
    text = "\n".join((render.OPENING, render.SAVE_LESSONS, render.CLOSING))
    return text if estimate_tokens(text) <= budget_tokens else ""


def _detect_setting(connect: Connect, request: ContextRequest) -> Setting:
    """Return the setting of the folder and the last session; an empty setting if the detection fails."""
    deadline = Deadline.after(request.limits.detect_s)
    if request.deadline != NEVER:
        deadline = request.deadline.share(_SHARE_OF_DETECTION)
    try:
        with closing(connect()) as db:
            return detect(db, request.location, request.session, deadline)
    except Exception as error:  # noqa: BLE001  layers that need no setting still run
        log.warning("setting not detected", extra={"error": type(error).__name__})
        return _UNKNOWN


def _candidates_of(
    connect: Connect, request: ContextRequest, setting: Setting, layers: Sequence[Layer]
) -> list[LayerCandidates]:
    """Return the candidates of layers, without the path of the project in the lines."""
    root = request.location.root
    return [
        replace(result, items=[replace(item, line=render.without_root(item.line, root)) for item in result.items])
        for result in run_layers(connect, request, setting, layers)
    ]


def _pinned(connect: Connect, layers: Sequence[LayerCandidates]) -> list[LayerCandidates]:
    """Return the candidates that are memories pinned by the user, each without the memories beside it."""
    ids = [item.memory for candidates in layers for item in candidates.items if item.memory]
    with closing(connect()) as db:
        pinned = memories.pinned_among(db, ids)
    return [
        replace(
            candidates,
            items=[replace(item, covers=(), with_next=False) for item in candidates.items if item.memory in pinned],
        )
        for candidates in layers
    ]


def _take_out_contested(
    connect: Connect, request: ContextRequest, selections: Sequence[LayerSelection]
) -> tuple[LayerSkip, ...]:
    """Take out lines that do not hold beside another statement; return the failure of the comparison, if any.

    After a failure all lines stay, like lines that are not compared in time: each layer has checked its own lines, and
    most lines have no rival."""
    try:
        with closing(connect()) as db:
            leave_out_contested(db, request, selections)
    except Exception as error:  # noqa: BLE001  the lines are given without the comparison
        log.warning("statements not compared", extra={"error": type(error).__name__})
        return (LayerSkip(_COMPARISON, f"failed: {type(error).__name__}"),)
    return ()


def _last_resort(
    connect: Connect, request: ContextRequest, setting: Setting, layers: Sequence[LayerCandidates]
) -> list[LayerCandidates]:
    """Return the candidates of the last resort; reuse the candidates found before."""
    by_name = {candidates.layer.name: candidates for candidates in layers}
    missing = [layer for layer in LAST_RESORT if layer.name not in by_name]
    by_name |= {candidates.layer.name: candidates for candidates in _candidates_of(connect, request, setting, missing)}
    return [by_name[layer.name] for layer in LAST_RESORT]


def _skipped(layers: Sequence[LayerCandidates], selections: Sequence[LayerSelection]) -> tuple[LayerSkip, ...]:
    skipped = []
    for candidates, selection in zip(layers, selections, strict=True):
        if candidates.problem:
            skipped.append(LayerSkip(selection.layer.name, candidates.problem))
        elif not selection.selected:
            is_low = any(item.left_out == NOT_WORTH_IT for item in selection.left_out)
            reason = NO_ROOM if selection.is_cut() else "nothing worth its tokens" if is_low else "nothing to say"
            skipped.append(LayerSkip(selection.layer.name, reason))
    return tuple(skipped)


def _assemble(selections: Sequence[LayerSelection], request: ContextRequest) -> str:
    """Return the text: the user's standing rules of all layers first, then all other lines as notes for reference."""
    rules = [item.line for selection in selections for item in selection.selected if item.is_users_rule]
    notes = []
    for selection in selections:
        if own_lines := layer_lines([item for item in selection.selected if not item.is_users_rule]):
            notes += [selection.layer.header, *own_lines, *selection.more_lines()]
    if notes:
        preamble = render.NEWS_PREAMBLE if request.since else render.PREAMBLE
        notes = [*([render.NOTES_HEADER] if rules else []), preamble, *notes]
    if rules:
        rules = [render.RULES_HEADER, render.RULES_PREAMBLE, *rules]
    lines = (*rules, *notes)
    # A resumed session already has the line.
    save = [render.SAVE_LESSONS] if request.may_save and not request.since else []
    return "\n".join((render.OPENING, *lines, render.MORE_LINE, *save, render.CLOSING)) if lines else ""
