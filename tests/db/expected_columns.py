"""Writer of the columns of the databases: `python -m tests.db.expected_columns`, after a new migration."""

import json
from pathlib import Path

from claude_mem_lite.db import integrity
from claude_mem_lite.db.migrations import INBOX_MIGRATIONS, MEMORY_MIGRATIONS

FILE = Path(integrity.__file__).parent / "expected_columns.json"


def made_by_migrations() -> str:
    """Return the content of the file: tables and columns by the last migration of each database."""
    columns: dict[str, dict[str, list[str]]] = {}
    for steps in (INBOX_MIGRATIONS, MEMORY_MIGRATIONS):
        tables = columns.setdefault(steps[-1].__name__, {})
        for table, column in integrity.columns_after(steps):
            tables.setdefault(table, []).append(column)
    return json.dumps(columns, indent=1) + "\n"


if __name__ == "__main__":
    FILE.write_text(made_by_migrations())
