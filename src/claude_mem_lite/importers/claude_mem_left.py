"""Which tables of claude-mem's database hold something that is not imported, and why."""

import re
from dataclasses import dataclass

from claude_mem_lite.importers.claude_mem_db import TABLES, Kept

# Its own bookkeeping, and what is read along with the rows that are imported.
_NOTHING_TO_TAKE = re.compile(
    r"sqlite_\w+|schema_versions|\w+_fts(?:_\w+)?|sync_\w+|telegram_\w+|sdk_sessions|sessions|server_sessions|"
    r"streaming_sessions|projects|teams|team_members|api_keys|audit_log|memory_sources|file_context_injections"
)
_REASONS = {
    "tool_uses": "raw tool calls; what came of them is in the observations",
    "pending_messages": "not worked on by claude-mem yet",
    "observation_queue": "not worked on by claude-mem yet",
    "transcript_events": "raw events; `import transcripts` reads the transcripts themselves",
    "agent_events": "raw events; what came of them is in the observations",
    "diagnostics": "messages about claude-mem itself",
    "memory_items": "copies of what is in its other tables",
}


@dataclass(frozen=True, slots=True)
class LeftTable:
    table: str
    rows: int
    reason: str


def left_tables(kept: Kept) -> list[LeftTable]:
    """Every table with rows that nobody takes."""
    taken = {table for tables in TABLES.values() for table in tables} - {"memory_items"}
    left = []
    for table in sorted(kept.tables):
        if table in taken or _NOTHING_TO_TAKE.fullmatch(table):
            continue
        rows = kept.count_all(table) - (kept.count_of(table) if table == "memory_items" else 0)
        if rows:
            left.append(LeftTable(table, rows, _REASONS.get(table, "a table that this version does not know")))
    return left
