"""Calls that change memories, lessons and projects, and calls of imports, exports and rebuilds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import EXPORT_TIMEOUT_S, IMPORT_TIMEOUT_S, BaseClient, query_of, quoted, read
from claude_mem_lite.client.queries import Asker, Where
from claude_mem_lite.models import JsonObject
from claude_mem_lite.responses.encoding import from_json

_CHANGE_TIMEOUT_S = 70.0


class MemoryWrites(BaseClient):
    """Calls that change memories, lessons and projects, for the user or for an agent."""

    __slots__ = ()

    def remember(
        self,
        kind: str | None,
        text: str,
        *,
        scope: str | None,
        tags: Sequence[str],
        files: Sequence[str] = (),
        cwd: str | None = None,
        project: str | None = None,
    ) -> responses.memories.RememberedMemory:
        """Store a statement of the user for a folder or a project; without a scope the worker derives the scope."""
        stated: JsonObject = {"kind": kind, "text": text, "scope": scope, "tags": list(tags), "files": list(files)}
        body = {**stated, **({"cwd": cwd} if project is None else {"project": project})}
        return from_json(responses.memories.RememberedMemory, self._post("/api/memories", body))

    def change(self, memory_id: str, changes: JsonObject, *, cwd: str | None = None) -> responses.memories.MemoryRecord:
        """Change fields of a memory, seen from a folder or from its own, and return the memory."""
        return self._change(memory_id, {**changes, "cwd": cwd})

    def pin(self, memory_id: str, *, pinned: bool) -> responses.memories.MemoryRecord:
        return self._change(memory_id, {"pinned": pinned})

    def confirm(self, memory_id: str, *, cwd: str | None = None) -> responses.memories.MemoryRecord:
        """Make a memory active, and anchor it to the code as found in a folder or in its own."""
        return self._change(memory_id, {"status": "active", "cwd": cwd})

    def retire(self, memory_id: str, *, reason: str = "") -> responses.memories.MemoryRecord:
        return self._change(memory_id, {"status": "retired", "reason": reason})

    def reinstate(self, memory_id: str) -> responses.memories.MemoryRecord:
        """Undo a retirement and change nothing else."""
        return self.change(memory_id, {"reinstated": True})

    def supersede(self, memory_id: str, *, successor: str) -> responses.memories.MemoryRecord:
        """Replace a memory by another memory."""
        return self._change(memory_id, {"superseded_by": successor})

    def _change(self, memory_id: str, body: JsonObject) -> responses.memories.MemoryRecord:
        return from_json(responses.memories.MemoryRecord, self._patch(f"/api/memories/{quoted(memory_id)}", body))

    def forget(self, *, ids: Sequence[str] = (), session: str | None, project: str | None) -> Sequence[str]:
        """Remove memories, a session or a project for good, and return the ids of all removed memories and turns."""
        body: JsonObject = {"ids": list(ids), "session": session, "project": project}
        return read(responses.memories.ForgottenMemories, self._post("/api/forget", body, timeout_s=120)).forgotten

    def approve(self, ids: Sequence[str]) -> Sequence[str]:
        """Release memories from quarantine, and return their ids."""
        return read(
            responses.memories.ApprovedMemories, self._post("/api/quarantine/approve", {"ids": list(ids)})
        ).approved

    def drop(self, ids: Sequence[str]) -> Sequence[str]:
        """Forget quarantined memories for good, and return the ids of all removed ones."""
        response = self._post("/api/quarantine/drop", {"ids": list(ids)}, timeout_s=120)
        return read(responses.memories.DroppedMemories, response).dropped

    def accept_lessons(self, ids: Sequence[str]) -> responses.lessons.AcceptedLessons:
        return from_json(responses.lessons.AcceptedLessons, self._post("/api/lessons/accept", {"ids": list(ids)}))

    def dismiss_lessons(self, ids: Sequence[str]) -> responses.lessons.DismissedLessons:
        """Drop lessons and block their paraphrases."""
        return from_json(responses.lessons.DismissedLessons, self._post("/api/lessons/dismiss", {"ids": list(ids)}))

    def edit_lesson(self, id_: str, words: str) -> str:
        """Accept a lesson in other words, and return the id of its memory."""
        return read(responses.lessons.EditedLesson, self._post("/api/lessons/edit", {"id": id_, "text": words})).edited[
            0
        ]

    def change_projects(
        self, what: Literal["merge", "rename", "move", "split", "undo"], body: JsonObject
    ) -> responses.project.ProjectSplit:
        """Change projects and return the change, whose id can undo it. Only a split has all fields of the result."""
        return read(
            responses.project.ProjectSplit, self._post(f"/api/projects/{what}", body, timeout_s=_CHANGE_TIMEOUT_S)
        )

    def ask(
        self, asker: Asker, *, query: str = "", scope: str = "", category: str = ""
    ) -> responses.memories.AgentContext:
        """Return the text for a query of an agent; `sent` confirms the `name` of the text."""
        body: JsonObject = {**asker.as_body(), "query": query, "scope": scope, "category": category}
        return from_json(responses.memories.AgentContext, self._post("/api/ask", body))

    def locate_agent(self, asker: Asker) -> responses.memories.AgentLocation:
        """Return the project and the session of an agent; refused in excluded folders."""
        return from_json(responses.memories.AgentLocation, self._post("/api/ask/here", asker.as_body()))

    def sent(self, name: str) -> None:
        """Confirm that an agent has received a text."""
        self._post("/api/ask/sent", {"name": name})

    def save(
        self, asker: Asker, kind: str | None, text: str, *, scope: str, tags: Sequence[str], files: Sequence[str] = ()
    ) -> responses.memories.SavedMemory:
        """Store a note of an agent."""
        body: JsonObject = {"named": asker.named, "kind": kind, "text": text, "scope": scope, "tags": list(tags)}
        body = {**body, **({"files": list(files)} if files else {})}
        return from_json(responses.memories.SavedMemory, self._post("/api/ask/save", {**asker.as_body(), **body}))

    def forget_for(self, asker: Asker, ids: Sequence[str]) -> responses.memories.ForgottenByAgent:
        """Remove memories for an agent; refused for a memory of the user."""
        body: JsonObject = {**asker.as_body(), "ids": list(ids)}
        return from_json(responses.memories.ForgottenByAgent, self._post("/api/ask/forget", body, timeout_s=120))

    def retire_for(self, asker: Asker, memory_id: str, *, reason: str = "") -> responses.memories.MemoryRecord:
        """Retire a memory for an agent; refused for a memory of the user."""
        body: JsonObject = {**asker.as_body(), "id": memory_id, "reason": reason}
        return from_json(responses.memories.MemoryRecord, self._post("/api/ask/retire", body))


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

    def stale_sessions(self, where: Where) -> Sequence[responses.imports.StaleSession]:
        """Return the sessions with turns whose memories an older version made, oldest first."""
        answer = self._get("/api/rebuild/memories", where.as_query(), timeout_s=EXPORT_TIMEOUT_S)
        return read(responses.imports.StaleSessions, answer).sessions

    def stale_turns(self, session: str) -> Sequence[responses.imports.StaleTurn]:
        """Return the stale turns of a session, in order."""
        answer = self._get("/api/rebuild/memories/turns", [("session", session)], timeout_s=EXPORT_TIMEOUT_S)
        return read(responses.imports.StaleTurns, answer).turns

    def rebuild_turns(self, body: JsonObject) -> responses.imports.DryRunReport:
        """Rebuild the memories of some turns of a session; only the response of a dry run has `so_far`."""
        return read(
            responses.imports.DryRunReport, self._post("/api/rebuild/memories", body, timeout_s=IMPORT_TIMEOUT_S)
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
