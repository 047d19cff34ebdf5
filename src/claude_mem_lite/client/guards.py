"""Calls about guards: lists, trials and the user's changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import BaseClient, query_of, quoted, read
from claude_mem_lite.client.queries import Where
from claude_mem_lite.models import JsonObject


class GuardCalls(BaseClient):
    """Guards of the worker's home."""

    __slots__ = ()

    def guards(self, where: Where, *, every: bool = False) -> responses.guards.GuardList:
        """Return the guards of a project or of all; `every`: also dismissed and removed ones."""
        query = [*where.as_query(), *query_of(every=every)]
        return read(responses.guards.GuardList, self._get("/api/guards", query))

    def guard(self, id_: str, *, limit: int = 100) -> responses.guards.GuardDetail:
        """Return one guard with its replay and ledger."""
        return read(responses.guards.GuardDetail, self._get(f"/api/guards/{quoted(id_)}", query_of(limit=limit)))

    def try_guard(
        self, id_: str, given: str, *, tool: str = "", cwd: str = "", branch: str = ""
    ) -> responses.guards.GuardTrial:
        """Return whether a guard would fire on a call."""
        query = query_of(given=given, tool=tool, cwd=cwd, branch=branch)
        return read(responses.guards.GuardTrial, self._get(f"/api/guards/{quoted(id_)}/try", query))

    def add_guard(
        self,
        where: Where,
        *,
        sentence: str = "",
        rule: Mapping[str, Sequence[str]] | None = None,
        reason: str = "",
        instead: str = "",
        mode: str | None = None,
    ) -> responses.guards.GuardChange:
        """Add a guard by a sentence, or by the parts of its rule, and put it in force."""
        body: JsonObject = {
            "cwd": where.cwd,
            "project": where.project,
            "sentence": sentence,
            "rule": {name: list(words) for name, words in (rule or {}).items()},
            "reason": reason,
            "instead": instead,
            "mode": mode,
        }
        return read(responses.guards.GuardChange, self._post("/api/guards/add", body))

    def change_guard(
        self, id_: str, change: str, *, mode: str | None = None, cwd: str = ""
    ) -> responses.guards.GuardChange:
        """Accept, dismiss, pause, resume or remove a guard, or say that its last firing was wrong."""
        body: JsonObject = {"id": id_, "change": change, "mode": mode, "cwd": cwd}
        return read(responses.guards.GuardChange, self._post("/api/guards/change", body))
