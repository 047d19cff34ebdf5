"""Start contexts rendered ahead, for hooks that find no worker in time: one file a folder, with dates."""

import contextlib
import json
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import asdict
from datetime import datetime

from claude_mem_lite.agents.adapters import claude_reply
from claude_mem_lite.code.freshness.checkout_view import Checkout
from claude_mem_lite.code.freshness.scanner import time_for_context
from claude_mem_lite.code.freshness.time_budget import LookTime
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import chosen
from claude_mem_lite.context.request import Occasion, Search
from claude_mem_lite.hook.kernel import folder_identity
from claude_mem_lite.models import Event, JsonObject, JsonValue, Place, Receipt, ReceiptItem, text, texts
from claude_mem_lite.paths import Home
from claude_mem_lite.store import sessions
from claude_mem_lite.store.projects.listing import folders as folders_of_project
from claude_mem_lite.store.projects.lookup import locate

_MAX_FOLDERS = 20
_NAME = re.compile(r"[0-9a-f]{8}(?:\.tmp)?")
Connect = Callable[[], sqlite3.Connection]
See = Callable[[sqlite3.Connection, Place, LookTime], Checkout]
log = logging.getLogger(__name__)


def refresh(
    home: Home,
    db: sqlite3.Connection,
    connect: Connect,
    config: Config,
    projects: Collection[str],
    now: datetime,
    see: See,
    search: Search | None = None,
) -> None:
    """Render the folders where sessions of these projects last worked; '' stands for every project."""
    folders = {folder for project in projects for folder in _folders(db, project or None)}
    for excluded in [folder for folder in folders if is_excluded(config, folder)]:
        folders.discard(excluded)
        with contextlib.suppress(OSError):  # of before it was
            home.rendered_for(excluded).unlink()
    look_time = time_for_context()  # for all of them: whoever waits for the job thread waits for this
    for folder in sorted(folders):
        identity = _identity(folder)  # first: another folder may be put in its place meanwhile
        place = locate(db, folder)
        here = in_folder(config, folder)
        checkout = see(db, place, look_time)
        # Without the line about saving: which agent will start here, and with which permissions, is not known yet.
        occasion = Occasion(place, now, dated=True, checkout=checkout, search=search)
        context = build(connect, occasion, here.budget_tokens, chosen(here))
        try:
            _write(home, folder, identity, context, now)
        except OSError as error:  # a full disk, say; the answer over the socket does not depend on the file
            log.warning("context not rendered", extra={"error": type(error).__name__})


def _folders(db: sqlite3.Connection, project: str | None) -> list[str]:
    """Return where sessions of a project last worked, and its folders where none did yet, as after a move."""
    worked_in = sessions.folders(db, project=project, limit=_MAX_FOLDERS)
    inside = [f"{folder}/" for folder in worked_in]
    others = [one for one in folders_of_project(db, project) if not any(at.startswith(f"{one}/") for at in inside)]
    return [*worked_in, *others[:_MAX_FOLDERS]]


def clear(home: Home) -> None:
    """Remove what was rendered: it may hold what is to be forgotten."""
    for path in home.rendered.iterdir() if home.rendered.is_dir() else ():
        if _NAME.fullmatch(path.name):
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
        items=_items(told.get("items")),
        layers=texts(told.get("layers")),
        layers_skipped=texts(told.get("layers_skipped")),
        tokens=tokens if isinstance(tokens, int) else 0,
        budget=budget if isinstance(budget, int) else 0,
        build_ms=0.0,
        created_at=built_at,
        given_at=given_at,
    )


def _items(given: JsonValue) -> tuple[ReceiptItem, ...]:
    """The items as they were written beside a rendered context; odd ones are left out, as a file may be damaged."""
    found = []
    for one in given if isinstance(given, list) else ():
        if isinstance(one, dict) and text(one.get("source")):
            tokens, score = one.get("tokens"), one.get("score")
            found.append(
                ReceiptItem(
                    source=text(one.get("source")),
                    layer=text(one.get("layer")),
                    reason=text(one.get("reason")),
                    tokens=tokens if isinstance(tokens, int) else 0,
                    score=float(score) if isinstance(score, int | float) else None,
                )
            )
    return tuple(found)


def is_there(home: Home, folder: str) -> bool:
    """Return whether something is rendered for a folder, and for the repository that stands there now."""
    try:
        with home.rendered_for(folder).open("rb") as file:
            return [file.readline(), file.readline()] == [b"%b\n" % os.fsencode(folder), b"%b\n" % _identity(folder)]
    except (OSError, ValueError):
        return False


def _identity(folder: str) -> bytes:
    """Return what the hook compares, lest another project in the folder's place be told of this one; b"" of none."""
    try:
        return folder_identity(os.fsencode(folder))
    except (OSError, ValueError):
        return b""


def _write(home: Home, folder: str, identity: bytes, context: Context, now: datetime) -> None:
    """Four parts: the folder, its identity, what the receipt will say, and the bytes to print."""
    path = home.rendered_for(folder)
    if not context.text or not identity or "\n" in folder:
        path.unlink(missing_ok=True)
        return
    told = {
        "built_at": now.isoformat(),
        "items": [asdict(item) for item in context.items],
        "layers": context.layers,
        "layers_skipped": [one.written() for one in context.layers_skipped],
        "tokens": context.tokens,
        "budget": context.budget,
    }
    fresh = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        reply = claude_reply("SessionStart", context.text)
        file.write(b"\n".join((os.fsencode(folder), identity, json.dumps(told).encode(), reply)))
    fresh.rename(path)
