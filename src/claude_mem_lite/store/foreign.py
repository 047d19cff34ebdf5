"""Memories whose words are not to be taken for an agent's own: those of pages and foreign tools, and those that wait
in quarantine. Reads only."""

import json
import sqlite3

from claude_mem_lite.models import FOREIGN_ORIGINS, Memory
from claude_mem_lite.store.memory_rows import from_row


def of_project(db: sqlite3.Connection, project: str, limit: int) -> list[Memory]:
    """The newest of them that belong to a project or to none."""
    rows = db.execute(
        """select * from memories
           where (origin in (select value from json_each(:foreign)) or status = 'quarantined')
             and (project = :project or scope not like 'project:%')
           order by seq desc limit :limit""",
        {"foreign": json.dumps(FOREIGN_ORIGINS), "project": project, "limit": limit},
    )
    return [from_row(row) for row in rows]
