"""Layers of a context, the candidates for their lines, and the execution of layers.

Layers run in sequence in one thread; layers behind a slow layer then run in parallel. A layer that fails or takes too
long costs only itself. Running all layers in parallel took 20 to 33 % more processor time and finished no sooner
(docs/context.md)."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager

from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import Score
from claude_mem_lite.deadline import Deadline
from claude_mem_lite.values import frozen


@frozen
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
    is_received: bool = False
    """True for a memory of a teammate: selected after one's own lines, for its files or as news."""
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


@frozen
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


Connect = Callable[[], sqlite3.Connection]
OVERTIME = "overtime"
_SHARE_OF_TURNS = 0.3
log = logging.getLogger(__name__)


@frozen
class LayerCandidates:
    """Candidates of a layer, or the problem of the layer."""

    layer: Layer
    items: list[Item]
    problem: str = ""


def run_layers(
    connect: Connect, request: ContextRequest, setting: Setting, layers: Sequence[Layer]
) -> list[LayerCandidates]:
    """Return the candidates of each layer, in the order of the layers."""
    if not layers:
        return []
    open_now: dict[str, sqlite3.Connection] = {}

    using = threading.Lock()  # no connection may close while it is interrupted

    def run(layer: Layer) -> list[Item]:
        with closing(connect()) as db:
            with using:
                open_now[layer.name] = db
            try:
                return layer.find(db, request, setting)
            finally:
                with using:
                    del open_now[layer.name]

    with _threads(1) as in_turn, _threads(len(layers)) as beside:
        begun = {
            layer.name: in_turn.submit(run, layer) for layer in sorted(layers, key=lambda result: not result.searches)
        }
        wait(begun.values(), turns_deadline(request).timeout_s())
        futures = [beside.submit(run, layer) if (future := begun[layer.name]).cancel() else future for layer in layers]
        wait(futures, request.deadline.timeout_s())
    candidates = [_outcome(layer, future) for layer, future in zip(layers, futures, strict=True)]
    with using:
        for result in candidates:
            if result.problem == OVERTIME and result.layer.name in open_now:
                open_now[result.layer.name].interrupt()
    return candidates


def turns_deadline(request: ContextRequest) -> Deadline:
    """Return the end of the time for running layers in sequence."""
    return request.deadline.share(_SHARE_OF_TURNS).at_most(request.limits.turns_s)


@contextmanager
def _threads(max_workers: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads; leave without waiting for them."""
    pool = ThreadPoolExecutor(max_workers, thread_name_prefix="layer")
    try:
        yield pool
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _outcome(layer: Layer, future: Future[list[Item]]) -> LayerCandidates:
    if future.cancelled() or not future.done():
        log.warning("layer took too long", extra={"layer": layer.name})
        return LayerCandidates(layer, [], OVERTIME)
    error = future.exception()
    if error is None:
        return LayerCandidates(layer, future.result())
    log.warning("layer failed", extra={"layer": layer.name, "error": type(error).__name__})
    return LayerCandidates(layer, [], f"failed: {type(error).__name__}")
