"""Calls that read: contexts, memories, records, code, lessons, sessions, receipts, projects and the feed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from claude_mem_lite.client import lazy_responses as responses
from claude_mem_lite.client.base import PROBE_TIMEOUT_S, BaseClient, query_of, quoted, read
from claude_mem_lite.client.queries import ANYTHING, Wanted, Where
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import JsonValue
from claude_mem_lite.responses.encoding import from_json

_MAX_REPLACED = 500
CODE_TIMEOUT_S = 60.0


class MemoryReads(BaseClient):
    """Calls that read: contexts, memories, records, code, lessons, sessions, receipts, projects and the feed."""

    __slots__ = ()

    def context(
        self, cwd: str, budget: int | None, preset: str | None = None, *, explain: bool = False, project: str = ""
    ) -> responses.context.ContextResponse:
        """Return the context of a new session in a folder, or in the folder where a project was last worked on."""
        query = query_of(cwd=cwd, project=project, budget=budget, preset=preset, explain=explain)
        return from_json(responses.context.ContextResponse, self._get("/api/context", query))

    def prompt_context(
        self, cwd: str, prompt: str, *, explain: bool = False, project: str = ""
    ) -> responses.context.PromptContextResponse:
        """Return the text that a prompt would get now in a folder or a project."""
        query = [("prompt", prompt), *query_of(cwd=cwd, project=project, explain=explain)]
        return from_json(responses.context.PromptContextResponse, self._get("/api/prompt-context", query))

    def search(
        self, query: str, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 10
    ) -> Sequence[responses.records.SearchHit]:
        """Return memories and passages about a query, best first."""
        parameters = [("query", query), *where.as_query(), *wanted.as_query(), *query_of(limit=limit)]
        return read(responses.records.SearchResponse, self._get("/api/search", parameters)).hits

    def memories(
        self, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 50
    ) -> Sequence[responses.memories.MemoryRecord]:
        """Return memories, newest first."""
        parameters = [*where.as_query(), *wanted.as_query(), *query_of(limit=limit)]
        return read(responses.memories.MemoryList, self._get("/api/memories", parameters)).memories

    def memory(self, memory_id: str) -> responses.memories.MemoryRecord:
        """Return a memory by its id, or by an unambiguous beginning of the id."""
        return from_json(responses.memories.MemoryRecord, self._get(f"/api/memories/{quoted(memory_id)}"))

    def replaced_before(self, memory: responses.memories.MemoryRecord) -> list[responses.memories.MemoryRecord]:
        """Return the chain of memories that a memory replaced, newest first, without forgotten ones."""
        found: dict[str, responses.memories.MemoryRecord] = {}
        waiting = [older.id for older in memory.replaced]
        while waiting and len(found) < _MAX_REPLACED:
            id_ = waiting.pop(0)
            if id_ in found:
                continue
            try:
                found[id_] = self.memory(id_)
            except NotFound:
                continue
            waiting += [older.id for older in found[id_].replaced]
        return list(found.values())

    def record(self, id_: str, cwd: str | None = None) -> responses.records.Record:
        """Return a memory, a turn or a session, by its id or the beginning of the id.

        A memory of the folder's project comes with the state of its code. '' is no folder; None is the folder where the
        memory's own project was last worked on."""
        record = self._get(f"/api/records/{quoted(id_)}", [("cwd", cwd)] if cwd is not None else ())
        classes: dict[JsonValue, type[responses.records.Record]] = {
            "turn": responses.records.TurnRecord,
            "session": responses.records.SessionRecord,
        }
        return from_json(classes.get(record.get("kind"), responses.memories.MemoryRecord), record)

    def stale(self, cwd: str) -> responses.memories.StaleResponse:
        """Return the memories of a folder's project that do not fit the code, and the number of checked memories."""
        return from_json(responses.memories.StaleResponse, self._get("/api/stale", [("cwd", cwd)]))

    def code(self, what: str, name: str, where: Where, *, limit: int) -> responses.code.CodeResponse:
        """Return the symbols of a name with their callers or callees, or the progress while the worker reads code."""
        query = [("what", what), ("name", name), *where.as_query(), *query_of(limit=limit)]
        return from_json(responses.code.CodeResponse, self._get("/api/code", query, timeout_s=CODE_TIMEOUT_S))

    def timeline(self, id_: str, *, before: int = 5, after: int = 5) -> responses.records.TimelineResponse:
        """Return the neighbours of a memory or a turn, or the items of a session."""
        query = [("id", id_), *query_of(before=before, after=after)]
        return from_json(responses.records.TimelineResponse, self._get("/api/timeline", query))

    def timeline_of_session(self, session: str, *, skip: int, limit: int) -> Sequence[responses.records.TimelineItem]:
        """Return turns and memories of a session in order, up to a limit after the skipped ones."""
        query = [("id", session), *query_of(skip=skip, limit=limit)]
        return read(responses.records.TimelineResponse, self._get("/api/timeline", query)).items

    def quarantine(self, where: Where, *, limit: int = 50) -> Sequence[responses.memories.QuarantinedMemory]:
        """Return the memories in quarantine, newest first, with the reasons."""
        response = self._get("/api/quarantine", [*where.as_query(), *query_of(limit=limit)])
        return read(responses.memories.QuarantineList, response).memories

    def lessons(self, where: Where, *, limit: int = 50) -> responses.lessons.LessonList:
        """Return learned lessons and unsure candidates, newest first."""
        return from_json(
            responses.lessons.LessonList, self._get("/api/lessons", [*where.as_query(), *query_of(limit=limit)])
        )

    def lesson(self, id_: str) -> responses.lessons.LessonCandidate:
        """Return a lesson candidate by its id or the beginning of the id."""
        return from_json(responses.lessons.LessonCandidate, self._get(f"/api/lessons/{quoted(id_)}"))

    def sessions(self, where: Where, *, query: str = "", limit: int = 20) -> Sequence[responses.records.SessionRecord]:
        """Return the last sessions, newest first; with a query the sessions about it, best first."""
        parameters = [*where.as_query(), *query_of(query=query, limit=limit)]
        return read(responses.records.SessionList, self._get("/api/sessions", parameters)).sessions

    def receipts(
        self, where: Where, *, session: str = "", limit: int = 20
    ) -> Sequence[responses.analytics.ShownReceipt]:
        """Return injections, newest first: in a folder's project, everywhere, or in one session."""
        parameters = [*where.as_query(), *query_of(session=session, limit=limit)]
        return read(responses.analytics.Receipts, self._get("/api/receipts", parameters)).receipts

    def receipt(self, id_: str) -> responses.analytics.ShownReceipt:
        """Return a receipt by its id or the beginning of its id."""
        return read(responses.analytics.ShownReceipt, self._get(f"/api/receipts/{quoted(id_)}"))

    def hit_rates(self, where: Where) -> responses.analytics.HitRates:
        """Return the outcomes of injections in a folder's project, or in all, by trigger and source."""
        return read(responses.analytics.HitRates, self._get("/api/hit-rates", where.as_query()))

    def stats(self, days: int) -> responses.analytics.Stats:
        """Return statistics of all projects over the last days."""
        return read(responses.analytics.Stats, self._get("/api/stats", query_of(days=days)))

    def experiment(self, where: Where) -> responses.experiment.Experiment:
        """Return the user's experiment in a project or in all."""
        return read(responses.experiment.Experiment, self._get("/api/experiment", where.as_query()))

    def changes(self) -> responses.feed.ChangeCounts:
        """Return counters of memory.db and of the inbox that move with every change."""
        return from_json(responses.feed.ChangeCounts, self._get("/api/changes", timeout_s=PROBE_TIMEOUT_S))

    def projects(self) -> Sequence[responses.project.ListedProject]:
        """Return the projects that hold anything, those last worked on first."""
        return read(responses.project.ProjectList, self._get("/api/projects")).projects

    def project_names(self) -> Mapping[str, str]:
        """Return the name of every project by id."""
        return read(responses.project.ProjectNames, self._get("/api/projects/names")).names

    def project_of(self, cwd: str) -> str:
        """Return the id of the project that a folder belongs to; '' when the project has no active memory."""
        found = from_json(responses.feed.FolderProject, self._get("/api/place", query_of(cwd=cwd)))
        return found.project if found.has_memories else ""

    def project_changes(self) -> Sequence[responses.project.ProjectChange]:
        """Return the last changes to projects, newest first."""
        return read(responses.project.ProjectChanges, self._get("/api/projects/changes")).changes

    def feed(
        self,
        wanted: Wanted = ANYTHING,
        *,
        project: str = "",
        origins: Sequence[str] = (),
        before: str = "",
        limit: int = 50,
    ) -> responses.feed.FeedResponse:
        """Return memories, newest first, with their turns and sessions; `next` is the `before` of the next page."""
        query = [*(("origin", origin) for origin in origins), *wanted.as_query()]
        parameters = [*query, *query_of(project=project, before=before, limit=limit)]
        return from_json(responses.feed.FeedResponse, self._get("/api/feed", parameters))

    def history(self, memory_id: str) -> responses.feed.MemoryHistory:
        """Return the injections, sightings, session and turn of a memory."""
        return from_json(responses.feed.MemoryHistory, self._get(f"/api/memories/{quoted(memory_id)}/story"))

    def days(self, days: int, *, project: str = "") -> Sequence[responses.analytics.Day]:
        """Return the figures of each of the last days, oldest first, everywhere or in a project."""
        return read(responses.analytics.Days, self._get("/api/days", query_of(days=days, project=project))).days
