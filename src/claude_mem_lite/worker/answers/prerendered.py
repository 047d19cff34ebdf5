"""Start contexts rendered ahead, for hooks that get no answer in time: a file for each folder, with dates."""

import contextlib
import json
import logging
import os
import re
import sqlite3
from collections.abc import Callable, Collection
from dataclasses import asdict
from datetime import datetime

from claude_mem_lite import private_files
from claude_mem_lite.agents.adapters import claude_reply
from claude_mem_lite.code.freshness.checkout_view import Checkout
from claude_mem_lite.code.freshness.scanner import context_budget
from claude_mem_lite.code.freshness.time_budget import CpuBudget
from claude_mem_lite.config import Config, in_folder, is_excluded
from claude_mem_lite.context.builder import Context, build
from claude_mem_lite.context.presets import find_preset
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.hook.kernel import folder_identity
from claude_mem_lite.limits import LIMITS, Limits
from claude_mem_lite.models import Event, JsonObject, JsonValue, Location, Receipt, ReceiptItem, text, texts
from claude_mem_lite.paths import Home, entries_of
from claude_mem_lite.store import sessions
from claude_mem_lite.store.projects.lookup import locate
from claude_mem_lite.store.projects.rows import project_folders as folders_of_project

_MAX_FOLDERS = 20
_NAME = re.compile(r"[0-9a-f]{8}(?:\.new|\.tmp)?")  # .tmp: unfinished, of a killed worker of an earlier version
Connect = Callable[[], sqlite3.Connection]
See = Callable[[sqlite3.Connection, Location, CpuBudget], Checkout]
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
    limits: Limits = LIMITS,
) -> None:
    """Render the folders where sessions of these projects last worked; '' stands for every project."""
    folders = {folder for project in projects for folder in _folders(db, project or None)}
    for excluded in [folder for folder in folders if is_excluded(config, folder)]:
        folders.discard(excluded)
        with contextlib.suppress(OSError):  # rendered before the folder was excluded
            home.rendered_for(excluded).unlink()
    cpu_budget = context_budget(limits)  # for all folders together, because requests wait for the job thread
    for folder in sorted(folders):
        identity = _identity(folder)  # first: the folder may be replaced meanwhile
        place = locate(db, folder)
        here = in_folder(config, folder)
        checkout = see(db, place, cpu_budget)
        # Without the line about saving: the agent and its permissions are not known yet.
        # During an experiment with the pinned memories alone: the arm of the session is not known either.
        context_request = ContextRequest(
            place,
            now,
            dated=True,
            checkout=checkout,
            search=search,
            pinned_only=config.experiment > 0,
            limits=limits,
        )
        context = build(connect, context_request, here.budget_tokens, find_preset(here))
        try:
            _write(home, folder, identity, context, now)
        except OSError as error:  # a full disk, say; the answer over the socket does not depend on the file
            log.warning("context not rendered", extra={"error": type(error).__name__})


def _folders(db: sqlite3.Connection, project: str | None) -> list[str]:
    """Return the folders where sessions of a project last worked, then its other folders, as after a move."""
    worked_in = sessions.folders(db, project=project, limit=_MAX_FOLDERS)
    inside = [f"{folder}/" for folder in worked_in]
    all_folders = folders_of_project(db, project)
    others = [folder for folder in all_folders if not any(path.startswith(f"{folder}/") for path in inside)]
    return [*worked_in, *others[:_MAX_FOLDERS]]


def clear(home: Home) -> None:
    """Remove all rendered contexts: they may hold memories that are to be forgotten."""
    for path in entries_of(home.rendered):
        if _NAME.fullmatch(path.name):
            with contextlib.suppress(OSError):  # a folder of the user, say
                path.unlink()


def receipt_of(header: JsonObject, event: Event, place: Location, given_at: datetime) -> Receipt:
    """Return the receipt of a rendered context, from the header of its file that the hook left in its note."""
    try:
        built_at = datetime.fromisoformat(text(header.get("built_at")))
    except ValueError:
        built_at = given_at
    tokens, budget = header.get("tokens"), header.get("budget")
    return Receipt(
        spool_name=event.name,
        session=event.session,
        project=place.project,
        moment=event.source or "startup",
        items=_items(header.get("items")),
        layers=texts(header.get("layers")),
        layers_skipped=texts(header.get("layers_skipped")),
        tokens=tokens if isinstance(tokens, int) else 0,
        budget=budget if isinstance(budget, int) else 0,
        build_ms=0.0,
        created_at=built_at,
        given_at=given_at,
    )


def _items(given: JsonValue) -> tuple[ReceiptItem, ...]:
    """Return the items of a header; invalid items are left out, because a file may be damaged."""
    found = []
    for item in given if isinstance(given, list) else ():
        if isinstance(item, dict) and text(item.get("source")):
            tokens, score = item.get("tokens"), item.get("score")
            found.append(
                ReceiptItem(
                    source=text(item.get("source")),
                    layer=text(item.get("layer")),
                    reason=text(item.get("reason")),
                    tokens=tokens if isinstance(tokens, int) else 0,
                    score=float(score) if isinstance(score, int | float) else None,
                )
            )
    return tuple(found)


def is_there(home: Home, folder: str) -> bool:
    """Return whether a context is rendered for a folder and its current repository."""
    return _read_header(home, folder) is not None


def sources_for(home: Home, folder: str) -> list[str]:
    """Return the sources of the items that are rendered for a folder and its current repository."""
    return [item.source for item in _items((_read_header(home, folder) or {}).get("items"))]


def _read_header(home: Home, folder: str) -> JsonObject | None:
    """Return the header of a file that belongs to a folder and its current repository; None without such a file."""
    try:
        with home.rendered_for(folder).open("rb") as file:
            if [file.readline(), file.readline()] != [b"%b\n" % os.fsencode(folder), b"%b\n" % _identity(folder)]:
                return None
            header = json.loads(file.readline())
    except (OSError, ValueError):
        return None
    return header if isinstance(header, dict) else None


def _identity(folder: str) -> bytes:
    """Return the identity that the hook compares, so that another project in the same folder gets nothing; b"" if
    the folder has none."""
    try:
        return folder_identity(os.fsencode(folder))
    except (OSError, ValueError):
        return b""


def _write(home: Home, folder: str, identity: bytes, context: Context, now: datetime) -> None:
    """Write a file of four parts: folder, identity, header for the receipt, bytes to print."""
    path = home.rendered_for(folder)
    if not context.text or not identity or "\n" in folder:
        path.unlink(missing_ok=True)
        return
    header = {
        "built_at": now.isoformat(),
        "items": [asdict(item) for item in context.items],
        "layers": context.layers,
        "layers_skipped": [layer.to_text() for layer in context.layers_skipped],
        "tokens": context.tokens,
        "budget": context.budget,
    }
    parts = os.fsencode(folder), identity, json.dumps(header).encode(), claude_reply("SessionStart", context.text)
    private_files.replace(path, b"\n".join(parts), is_synced=False)
