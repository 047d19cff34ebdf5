"""Start contexts rendered ahead, for hooks that find no worker in time: one file a folder, with dates."""

import contextlib
import logging
import os
import sqlite3
from collections.abc import Collection
from datetime import datetime

from claude_mem_lite.config import Config, is_excluded
from claude_mem_lite.context.builder import build
from claude_mem_lite.context.layers import Occasion
from claude_mem_lite.paths import Home
from claude_mem_lite.places import find_place
from claude_mem_lite.store import sessions
from claude_mem_lite.worker.replies import context_reply

_MOST_FOLDERS = 20
log = logging.getLogger(__name__)


def refresh(home: Home, db: sqlite3.Connection, config: Config, projects: Collection[str], now: datetime) -> None:
    """Render the folders where sessions of these projects last worked; '' stands for every project."""
    folders = {
        folder
        for project in projects
        for folder in sessions.folders(db, project=project or None, limit=_MOST_FOLDERS)
        if not is_excluded(config, folder)
    }
    for folder in sorted(folders):
        context = build(db, Occasion(find_place(folder), now, dated=True), config.budget_tokens)
        try:
            _write(home, folder, context_reply("SessionStart", context.text) if context.text else b"")
        except OSError as error:  # a full disk, say; the answer over the socket does not depend on the file
            log.warning("context not rendered", extra={"error": type(error).__name__})


def clear(home: Home) -> None:
    """Remove what was rendered: it may hold what is to be forgotten."""
    for path in home.rendered.iterdir() if home.rendered.is_dir() else ():
        with contextlib.suppress(OSError):  # a folder, say: not of our making
            path.unlink()


def _write(home: Home, folder: str, reply: bytes) -> None:
    path = home.rendered_for(folder)
    if not reply or "\n" in folder:
        path.unlink(missing_ok=True)
        return
    fresh = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        fresh.unlink()
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with open(descriptor, "wb") as file:
        file.write(os.fsencode(folder) + b"\n" + reply)
    fresh.rename(path)
