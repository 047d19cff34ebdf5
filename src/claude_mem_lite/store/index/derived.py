"""The table `derived_by`: which version made which part of the index. Another one has that part made anew."""

import sqlite3
from typing import Literal

Part = Literal["words", "vectors"]


def version_of(db: sqlite3.Connection, part: Part) -> str:
    """What a part of the index was made by; '' when it never was."""
    row = db.execute("select version from derived_by where part = ?", (part,)).fetchone()
    return "" if row is None else str(row["version"])


def set_version(db: sqlite3.Connection, part: Part, version: str) -> None:
    db.execute(
        "insert or replace into derived_by (part, version) values (:part, :version)",
        {"part": part, "version": version},
    )
