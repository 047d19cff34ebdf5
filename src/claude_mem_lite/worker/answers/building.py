"""Start contexts with all that the worker knows: a look at the checkout, search, and the patience of who waits."""

import time
from dataclasses import replace

from claude_mem_lite.code.freshness.scanner import time_for_context
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import Preset
from claude_mem_lite.context.request import Occasion, Search
from claude_mem_lite.search.search_timeout import patient
from claude_mem_lite.worker.loop import Loop

_SHARE_OF_SEARCH = 0.6


def build_start(
    loop: Loop, occasion: Occasion, budget_tokens: int, preset: Preset, patience_s: float | None = None
) -> Context:
    """The start context for an occasion, within the time somebody waits for it; None: as long as it takes."""
    connect = loop.readers.open
    began = time.monotonic()
    until: float | None = None
    search: Search = loop.search.unexplained
    if patience_s is not None:
        until, search = began + patience_s, patient(search, connect, began + _SHARE_OF_SEARCH * patience_s)
    # Not one that another has after us: a layer that took too long may be asking it still.
    db = loop.readers.open_apart()
    try:
        checkout = loop.looking.checkout(db, occasion.place, time_for_context(patience_s))
    except BaseException:
        db.close()
        raise
    try:
        return build(connect, replace(occasion, checkout=checkout, search=search, until=until), budget_tokens, preset)
    finally:
        with checkout.lock:
            db.close()
