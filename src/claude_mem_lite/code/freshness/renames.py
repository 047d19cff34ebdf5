"""Under which names the code of memories went on, by what sessions did to it and what earlier looks found.

Asked only of what is missing: by its body alone it can be followed no further than to its next edit."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.code.syntax.anchors import CodeAnchor
from claude_mem_lite.store import renames, symbol_changes


class KnownRenames:
    """Those of one project. For the thread that its connection is for."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        self._db = db
        self._project = project

    def later(
        self, anchor: CodeAnchor, files: Sequence[str], *, memory: str, told_at: datetime | None
    ) -> list[CodeAnchor]:
        """What an anchor's symbol became, the last first: under each name with the body it had last, if that is known.

        `files` are those it may stand in; of a memory, by its id, also what looks have found counts."""
        bodies = dict.fromkeys(renames.of(self._db, memory, anchor.file, anchor.name), "") if memory else {}
        for file in files:
            bodies |= symbol_changes.became(self._db, self._project, file, anchor.name, anchor.after, told_at)
        return [
            CodeAnchor(anchor.file, name, after=body, before=anchor.before)
            for name, body in reversed(bodies.items())
            if name != anchor.name
        ]
