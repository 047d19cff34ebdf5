"""Calls of imports, exports and rebuilds of memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import EXPORT_TIMEOUT_S, IMPORT_TIMEOUT_S, BaseClient, query_of, read
from claude_mem_lite.client.queries import Where
from claude_mem_lite.models import JsonObject


class Transfers(BaseClient):
    """Calls of imports, exports and rebuilds of memories."""

    __slots__ = ()

    def known_turns(self, marks: Sequence[JsonObject]) -> responses.imports.PastTurns:
        """Return the names of past turns that an import does not store, by reason."""
        return read(
            responses.imports.PastTurns, self._post("/api/import/known", {"turns": marks}, timeout_s=IMPORT_TIMEOUT_S)
        )

    def import_turns(self, turns: Sequence[JsonObject]) -> responses.imports.ImportedTurns:
        """Store past turns and wait until their memories are made."""
        return read(
            responses.imports.ImportedTurns, self._post("/api/import", {"turns": turns}, timeout_s=IMPORT_TIMEOUT_S)
        )

    def stale_sessions(self, where: Where) -> Sequence[responses.memory_rebuild.StaleSession]:
        """Return the sessions with turns whose memories an older version made, oldest first."""
        answer = self._get("/api/rebuild/memories", where.as_query(), timeout_s=EXPORT_TIMEOUT_S)
        return read(responses.memory_rebuild.StaleSessions, answer).sessions

    def stale_turns(self, session: str) -> Sequence[responses.memory_rebuild.StaleTurn]:
        """Return the stale turns of a session, in order."""
        answer = self._get("/api/rebuild/memories/turns", [("session", session)], timeout_s=EXPORT_TIMEOUT_S)
        return read(responses.memory_rebuild.StaleTurns, answer).turns

    def rebuild_turns(self, body: JsonObject) -> responses.memory_rebuild.DryRunReport:
        """Rebuild the memories of some turns of a session; only the response of a dry run has `so_far`."""
        return read(
            responses.memory_rebuild.DryRunReport, self._post("/api/rebuild/memories", body, timeout_s=IMPORT_TIMEOUT_S)
        )

    def export_page(self, after: int, where: Where) -> responses.imports.ExportPage:
        """Return the page of an export after a cursor."""
        answer = self._get("/api/export", [*where.as_query(), *query_of(after=after)], timeout_s=EXPORT_TIMEOUT_S)
        return read(responses.imports.ExportPage, answer)

    def start_import(self, where: Where, scopes: Sequence[str]) -> responses.imports.ImportStart:
        """Return project and time for imported memories without their own."""
        body: JsonObject = {"cwd": where.cwd, "project": where.project, "scopes": list(scopes)}
        return read(responses.imports.ImportStart, self._post("/api/import/memories/start", body))

    def import_memories(
        self, start: responses.imports.ImportStart, lines: Sequence[JsonObject], *, trust: bool = False
    ) -> responses.imports.ImportedMemories:
        """Store memories unchanged. Without `trust` no memory counts as the user's own word."""
        body: JsonObject = {"project": start.project, "at": start.at, "lines": lines, "trust": trust}
        return read(
            responses.imports.ImportedMemories, self._post("/api/import/memories", body, timeout_s=IMPORT_TIMEOUT_S)
        )

    def finish_import(self) -> None:
        """Have the worker render contexts again and make a backup."""
        self._post("/api/import/memories/finish", {}, timeout_s=IMPORT_TIMEOUT_S)

    def known_of_claude_mem(self, sessions: Sequence[str], names: Sequence[str]) -> responses.imports.KnownOfClaudeMem:
        """Return the known sessions of claude-mem, and the projects whose names are unique."""
        body: JsonObject = {"sessions": sessions, "names": names}
        return read(
            responses.imports.KnownOfClaudeMem,
            self._post("/api/import/claude-mem/known", body, timeout_s=IMPORT_TIMEOUT_S),
        )

    def import_claude_mem_sessions(self, rows: Sequence[JsonObject]) -> responses.imports.ImportedSessions:
        """Store sessions of claude-mem."""
        answer = self._post("/api/import/claude-mem/sessions", {"sessions": rows}, timeout_s=IMPORT_TIMEOUT_S)
        return read(responses.imports.ImportedSessions, answer)

    def import_claude_mem_rows(
        self, what: Literal["said", "observations"], rows: Sequence[JsonObject]
    ) -> responses.imports.ImportedRows:
        """Store prompts and summaries, or observations, of claude-mem."""
        answer = self._post(f"/api/import/claude-mem/{what}", {what: rows}, timeout_s=IMPORT_TIMEOUT_S)
        return read(responses.imports.ImportedRows, answer)
