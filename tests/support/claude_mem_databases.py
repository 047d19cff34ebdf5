"""Databases of claude-mem for the tests of their import: the samples, and what is added to them."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.support.data_files import DATA

SAMPLES = DATA / "claude_mem"
NEWEST = "13.25.3"
SHOP_SESSION = "5a3f7a52-0c51-4a8e-9d0e-3f1f5f0a0001"
SHOP_MEMORY = "9b1d2c64-77aa-4c11-8a55-1d2e3f4a0001"
BLOG_SESSION = "5a3f7a52-0c51-4a8e-9d0e-3f1f5f0a0003"
BLOG_MEMORY = "9b1d2c64-77aa-4c11-8a55-1d2e3f4a0003"


def load(path: Path, sample: str = NEWEST) -> Path:
    """A database as a version of claude-mem makes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma synchronous=off")  # a transaction for each of its lines
        db.executescript((SAMPLES / f"{sample}.sql").read_text("utf-8"))
    return path


def observe(path: Path, title: str, **more: Any) -> None:
    """One more observation; in the session of the blog unless said otherwise."""
    values = {
        "memory_session_id": BLOG_MEMORY,
        "project": "blog",
        "type": "discovery",
        "title": title,
        "created_at": "2026-01-05T09:00:00.000Z",
        "created_at_epoch": 1767603600000,
        **more,
    }
    add(path, "observations", **values)


def add(path: Path, table: str, **values: Any) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        names = ", ".join(values)
        db.execute(f"insert into {table} ({names}) values ({', '.join('?' * len(values))})", list(values.values()))


def rows(path: Path, statement: str) -> list[dict[str, Any]]:
    with closing(sqlite3.connect(path)) as db:
        db.row_factory = sqlite3.Row
        return [dict(row) for row in db.execute(statement)]
