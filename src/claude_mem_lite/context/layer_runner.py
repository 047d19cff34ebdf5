"""Execution of layers: in sequence in one thread; layers behind a slow layer then run in parallel.

A layer that fails or takes too long costs only itself. Running all layers in parallel took 20 to 33 % more processor
time and finished no sooner (docs/context.md)."""

import logging
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass

from claude_mem_lite.context.layers.layer import Item, Layer
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest

Connect = Callable[[], sqlite3.Connection]
OVERTIME = "overtime"
_SHARE_OF_TURNS = 0.3
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
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
        wait(begun.values(), turns_s(request))
        futures = [beside.submit(run, layer) if (future := begun[layer.name]).cancel() else future for layer in layers]
        wait(futures, request.deadline.timeout_s())
    candidates = [_outcome(layer, future) for layer, future in zip(layers, futures, strict=True)]
    with using:
        for result in candidates:
            if result.problem == OVERTIME and result.layer.name in open_now:
                open_now[result.layer.name].interrupt()
    return candidates


def turns_s(request: ContextRequest) -> float:
    """Return the time for running layers in sequence."""
    return min(request.deadline.share(_SHARE_OF_TURNS).left_s(), request.limits.turns_s)


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
