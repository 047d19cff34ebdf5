"""Start contexts rendered ahead, for hooks that find no worker in time: one file a folder, with dates."""

import contextlib
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Collection
from datetime import datetime

from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.checkout import Checkout
from claude_mem_lite.context.layers import Occasion
from claude_mem_lite.models import Event, JsonObject, Place, Receipt, text, texts
from claude_mem_lite.paths import Home
from claude_mem_lite.places import find_place
from claude_mem_lite.store import sessions
from claude_mem_lite.worker.looking import LOOK_S
from claude_mem_lite.worker.replies import context_reply

_MOST_FOLDERS = 20
See = Callable[[sqlite3.Connection, Place, float], Checkout]
log = logging.getLogger(__name__)


def refresh(
    home: Home, db: sqlite3.Connection, config: Config, projects: Collection[str], now: datetime, see: See
) -> None:
    """Render the folders where sessions of these projects last worked; '' stands for every project."""
    folders = {
        folder
        for project in projects
        for folder in sessions.folders(db, project=project or None, limit=_MOST_FOLDERS)
        if not is_excluded(config, folder)
    }
    until = time.monotonic() + LOOK_S  # for all of them: whoever waits for the job thread waits for this
    for folder in sorted(folders):
        place = find_place(folder)
        occasion = Occasion(place, now, dated=True, checkout=see(db, place, until))
        context = build(db, occasion, config.budget_tokens)
        try:
            _write(home, folder, context, now)
        except OSError as error:  # a full disk, say; the answer over the socket does not depend on the file
            log.warning("context not rendered", extra={"error": type(error).__name__})


def clear(home: Home) -> None:
    """Remove what was rendered: it may hold what is to be forgotten."""
    for path in home.rendered.iterdir() if home.rendered.is_dir() else ():
        with contextlib.suppress(OSError):  # a folder, say: not of our making
            path.unlink()


def receipt_of(told: JsonObject, event: Event, place: Place, given_at: datetime) -> Receipt:
    """The receipt of a rendered context, from what the hook found beside it and left in its note."""
    try:
        built_at = datetime.fromisoformat(text(told.get("built_at")))
    except ValueError:
        built_at = given_at
    tokens, budget = told.get("tokens"), told.get("budget")
    return Receipt(
        spool_name=event.name,
        session=event.session,
        project=place.project,
        moment=event.source or "startup",
        items=texts(told.get("items")),
        layers=texts(told.get("layers")),
        layers_skipped=texts(told.get("layers_skipped")),
        tokens=tokens if isinstance(tokens, int) else 0,
        budget=budget if isinstance(budget, int) else 0,
        build_ms=0.0,
        created_at=built_at,
        given_at=given_at,
    )


def _write(home: Home, folder: str, context: Context, now: datetime) -> None:
    """Three parts: the folder, what the receipt will say, and the bytes to print."""
    path = home.rendered_for(folder)
    if not context.text or "\n" in folder:
        path.unlink(missing_ok=True)
        return
    told = {
        "built_at": now.isoformat(),
        "items": context.sources,
        "layers": context.layers,
        "layers_skipped": [one.layer for one in context.layers_skipped],
        "tokens": context.tokens,
        "budget": context.budget,
    }
    fresh = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        reply = context_reply("SessionStart", context.text)
        file.write(b"\n".join((os.fsencode(folder), json.dumps(told).encode(), reply)))
    fresh.rename(path)
