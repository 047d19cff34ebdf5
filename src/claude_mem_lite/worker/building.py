"""Start contexts with all that the worker knows: a look at the checkout, search, and the patience of who waits."""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.occasion import Occasion, Search
from claude_mem_lite.context.presets import Preset
from claude_mem_lite.db.connection import open_for_reading
from claude_mem_lite.models import Filters, Hit
from claude_mem_lite.worker.looking import LOOK_S
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.patience import found_until

_SHARE_OF_SEARCH = 0.6


def build_start(
    loop: Loop, occasion: Occasion, budget_tokens: int, preset: Preset, patience_s: float | None = None
) -> Context:
    """The start context for an occasion, within the time somebody waits for it; None: as long as it takes."""
    connect = loop.readers.open
    began = time.monotonic()
    until: float | None = None
    search: Search = loop.search.search
    if patience_s is not None:
        until, search = began + patience_s, patient(search, connect, began + _SHARE_OF_SEARCH * patience_s)
    # Not one that another has after us: a layer that took too long may be asking it still.
    db = open_for_reading(loop.home.memory_db)
    try:
        checkout = loop.looking.checkout(db, occasion.place, began + LOOK_S)
    except BaseException:
        db.close()
        raise
    try:
        return build(connect, replace(occasion, checkout=checkout, search=search, until=until), budget_tokens, preset)
    finally:
        with checkout.lock:
            db.close()


def patient(search: Search, connect: Callable[[], sqlite3.Connection], until: float) -> Search:
    """The same search, given up at a moment of the monotonic clock."""

    def asked(db: sqlite3.Connection, query: str, filters: Filters, now: datetime, limit: int) -> list[Hit]:  # noqa: ARG001
        return found_until(until, connect, lambda own: search(own, query, filters, now, limit))

    return asked
