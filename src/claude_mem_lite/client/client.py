"""Typed calls to the worker. The command line, `doctor`, the MCP server and the page are built on it.

It reads and writes no database: everything it knows it was told over the socket."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Literal
from urllib.parse import quote

from claude_mem_lite.client import responses, transport
from claude_mem_lite.client.responses import (
    ANYTHING,
    Asker,
    Drained,
    ExportPage,
    Health,
    ImportedTurns,
    ImportStart,
    PastTurns,
    QueueCounts,
    RebuildCounts,
    StaleTurn,
    Wanted,
    Where,
)
from claude_mem_lite.errors import CommandNotAccepted, NotFound, WorkerRefused
from claude_mem_lite.models import JsonObject, JsonValue, text
from claude_mem_lite.paths import Home

# Longer than the worker itself waits before it says that it is busy.
IMPORT_TIMEOUT_S = 660.0
EXPORT_TIMEOUT_S = 120.0
CODE_TIMEOUT_S = 60.0
BACKUP_TIMEOUT_S = 620.0
# Longer than the worker itself waits for a model.
TRY_TIMEOUT_S = 140.0
PROBE_TIMEOUT_S = 2.0
_MIN_TIMEOUT_S = 0.05
_CHANGE_TIMEOUT_S = 70.0
_MAX_REPLACED = 500
MAX_WORKERS = 5
"""To turn to, one after another: of a home that is damaged again and again."""


@dataclass(frozen=True, slots=True)
class Client:
    """The worker of one home. Every call raises WorkerUnavailable when nobody answers."""

    home: Home
    until: float = math.inf
    """A moment of the monotonic clock after which nobody waits for an answer any more."""
    next_worker: Callable[[], object] | None = None
    """Have another worker answer, once the one that is ending has ended; None where that is for the caller to do."""

    def health(self, timeout_s: float = PROBE_TIMEOUT_S) -> Health:
        answer = self._get("/api/health", timeout_s=timeout_s)
        return Health(version=str(answer.get("version", "")), pid=_whole(answer, "pid"), told=answer)

    def queue_counts(self) -> QueueCounts:
        return _counts(self._get("/api/queue/stats"))

    def failed_events(self) -> Sequence[JsonObject]:
        """The events in the inbox that nobody could work on."""
        return _objects(self._get("/api/queue", [("status", "error")]), "events")

    def retry(self, event: int | None) -> tuple[int, int]:
        """Put what failed, or one of it, back to work: how many events, and how many turns for the model."""
        answer = self._post("/api/queue/retry", {"id": event})
        return _whole(answer, "events"), _whole(answer, "turns")

    def drain(self, timeout_s: float) -> Drained:
        answer = self._post("/api/drain", {"timeout_s": timeout_s}, timeout_s=timeout_s + 10)
        return Drained(drained=answer.get("drained") is True, counts=_counts(answer))

    def context(
        self, cwd: str, budget: int | None, preset: str | None = None, *, explain: bool = False, project: str = ""
    ) -> JsonObject:
        """What a new session in a folder would be told, or where a project, by its id, was last worked on."""
        query = _query(cwd=cwd, project=project, budget=budget, preset=preset, explain=explain)
        return self._get("/api/context", query)

    def prompt_context(self, cwd: str, prompt: str, *, explain: bool = False, project: str = "") -> JsonObject:
        """What a prompt typed now in a folder would be given, or in a project; nothing counts as given."""
        query = [("prompt", prompt), *_query(cwd=cwd, project=project, explain=explain)]
        return self._get("/api/prompt-context", query)

    def search(self, query: str, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 10) -> Sequence[JsonObject]:
        parameters = [("query", query), *where.as_query(), *wanted.as_query(), *_query(limit=limit)]
        return _objects(self._get("/api/search", parameters), "hits")

    def memories(self, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 50) -> Sequence[JsonObject]:
        """Memories, newest first."""
        parameters = [*where.as_query(), *wanted.as_query(), *_query(limit=limit)]
        return _objects(self._get("/api/memories", parameters), "memories")

    def memory(self, memory_id: str) -> JsonObject:
        """One memory by its id, or by the beginning of it when no other begins so."""
        return self._get(f"/api/memories/{quoted(memory_id)}")

    def replaced_before(self, memory: JsonObject) -> list[JsonObject]:
        """What a memory replaced, what that had replaced and so on, the newest first, as far as it is still there."""
        found: dict[str, JsonObject] = {}
        waiting = [str(one.get("id")) for one in _objects(memory, "replaced")]
        while waiting and len(found) < _MAX_REPLACED:
            id_ = waiting.pop(0)
            if id_ in found:
                continue
            try:
                found[id_] = self.memory(id_)
            except NotFound:
                continue
            waiting += [str(one.get("id")) for one in _objects(found[id_], "replaced")]
        return list(found.values())

    def record(self, id_: str, cwd: str | None = None) -> JsonObject:
        """A memory, a turn as it was asked and answered, or a session with its summary, by the id or its beginning.

        Of a memory of the folder's project also how it stands with its code. '' is no folder; without one, it is where
        the memory's own project was last worked on."""
        return self._get(f"/api/records/{quoted(id_)}", [("cwd", cwd)] if cwd is not None else ())

    def stale(self, cwd: str) -> JsonObject:
        """Which memories of a folder's project are no longer what the code says, under `memories`, and of how many
        that could be told."""
        return self._get("/api/stale", [("cwd", cwd)])

    def code(self, what: str, name: str, where: Where, *, limit: int) -> JsonObject:
        """Symbols of a name in the code of a project with their callers or callees, under `symbols`; while
        that code is still being read, how far it is, under `reading`."""
        query = [("what", what), ("name", name), *where.as_query(), *_query(limit=limit)]
        return self._get("/api/code", query, timeout_s=CODE_TIMEOUT_S)

    def timeline(self, id_: str, *, before: int = 5, after: int = 5) -> JsonObject:
        """What surrounds a memory or a turn, or is in a session, under `items`."""
        return self._get("/api/timeline", [("id", id_), *_query(before=before, after=after)])

    def timeline_of_session(self, session: str, *, skip: int, limit: int) -> Sequence[JsonObject]:
        """What was asked and remembered in a session, in order: so many, after those that are skipped."""
        query = [("id", session), *_query(skip=skip, limit=limit)]
        return _objects(self._get("/api/timeline", query), "items")

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
    ) -> JsonObject:
        """Store what the user stated in a folder, or of a project; without a scope the worker goes by text and kind.

        Returns it, with whether its kind was guessed, it was known already, or a secret was taken out."""
        stated: JsonObject = {"kind": kind, "text": text, "scope": scope, "tags": list(tags), "files": list(files)}
        return self._post("/api/memories", {**stated, **({"cwd": cwd} if project is None else {"project": project})})

    def change(self, memory_id: str, changes: JsonObject, *, cwd: str | None = None) -> JsonObject:
        """Change what a memory says, is or holds for, in a folder or else in its own; returns it as it is now."""
        return self._patch(f"/api/memories/{quoted(memory_id)}", {**changes, "cwd": cwd})

    def pin(self, memory_id: str, *, pinned: bool) -> JsonObject:
        return self._patch(f"/api/memories/{quoted(memory_id)}", {"pinned": pinned})

    def confirm(self, memory_id: str, *, cwd: str | None = None) -> JsonObject:
        """It holds, still or again, and so does the code that it tells of, as it stands in a folder or else in its
        own."""
        return self._patch(f"/api/memories/{quoted(memory_id)}", {"status": "active", "cwd": cwd})

    def retire(self, memory_id: str, *, reason: str = "") -> JsonObject:
        """It does not hold any more."""
        return self._patch(f"/api/memories/{quoted(memory_id)}", {"status": "retired", "reason": reason})

    def reinstate(self, memory_id: str) -> JsonObject:
        """Undo a retirement; the memory is otherwise as it was. Returns the memory as it is now."""
        return self.change(memory_id, {"reinstated": True})

    def supersede(self, memory_id: str, *, successor: str) -> JsonObject:
        """Another memory holds in its place."""
        return self._patch(f"/api/memories/{quoted(memory_id)}", {"superseded_by": successor})

    def forget(self, *, ids: Sequence[str] = (), session: str | None, project: str | None) -> Sequence[str]:
        answer = self._post("/api/forget", {"ids": list(ids), "session": session, "project": project}, timeout_s=120)
        return _strings(answer, "forgotten")

    def ask(self, asker: Asker, *, query: str = "", scope: str = "", category: str = "") -> JsonObject:
        """What an agent is told that asks, under `text`; `sent` wants its `name` once it was told, if it has one."""
        return self._post("/api/ask", {**asker.as_body(), "query": query, "scope": scope, "category": category})

    def where_it_stands(self, asker: Asker) -> JsonObject:
        """The project of an agent and the session that is at work there; refused where nothing is given or kept."""
        return self._post("/api/ask/here", asker.as_body())

    def sent(self, name: str) -> None:
        """An answer has reached the agent that asked for it."""
        self._post("/api/ask/sent", {"name": name})

    def save(
        self, asker: Asker, kind: str | None, text: str, *, scope: str, tags: Sequence[str], files: Sequence[str] = ()
    ) -> JsonObject:
        """Store what an agent says, as its own word."""
        body: JsonObject = {"named": asker.named, "kind": kind, "text": text, "scope": scope, "tags": list(tags)}
        body = {**body, **({"files": list(files)} if files else {})}
        return self._post("/api/ask/save", {**asker.as_body(), **body})

    def forget_for(self, asker: Asker, ids: Sequence[str]) -> JsonObject:
        """Remove memories that an agent wants gone; refused when one of them is the user's."""
        return self._post("/api/ask/forget", {**asker.as_body(), "ids": list(ids)}, timeout_s=120)

    def retire_for(self, asker: Asker, memory_id: str, *, reason: str = "") -> JsonObject:
        """Retire a memory that an agent says does not hold; refused when it is the user's."""
        return self._post("/api/ask/retire", {**asker.as_body(), "id": memory_id, "reason": reason})

    def quarantine(self, where: Where, *, limit: int = 50) -> Sequence[JsonObject]:
        """What waits for the user's word, newest first, each with the reason."""
        return _objects(self._get("/api/quarantine", [*where.as_query(), *_query(limit=limit)]), "memories")

    def approve(self, ids: Sequence[str]) -> Sequence[str]:
        """Let memories out of quarantine; their ids."""
        return _strings(self._post("/api/quarantine/approve", {"ids": list(ids)}), "approved")

    def drop(self, ids: Sequence[str]) -> Sequence[str]:
        """Forget memories that are in quarantine for good; the ids of all that went."""
        return _strings(self._post("/api/quarantine/drop", {"ids": list(ids)}, timeout_s=120), "dropped")

    def lessons(self, where: Where, *, limit: int = 50) -> JsonObject:
        """Return the lessons of the user under `learned` and the unsure candidates under `unsure`, newest first."""
        return self._get("/api/lessons", [*where.as_query(), *_query(limit=limit)])

    def accept_lessons(self, ids: Sequence[str]) -> JsonObject:
        """Keep lessons on the user's word; their memories' ids under `accepted`, what they say under `lessons`."""
        return self._post("/api/lessons/accept", {"ids": list(ids)})

    def lesson(self, id_: str) -> JsonObject:
        """Return a sentence that is or was unsure, with the message that it answered, by the id or its beginning."""
        return self._get(f"/api/lessons/{quoted(id_)}")

    def dismiss_lessons(self, ids: Sequence[str]) -> JsonObject:
        """Drop lessons and keep them from coming back; their ids under `dismissed`, what they say under `lessons`."""
        return self._post("/api/lessons/dismiss", {"ids": list(ids)})

    def edit_lesson(self, id_: str, words: str) -> str:
        """Keep a lesson in other words; the id of its memory."""
        return _strings(self._post("/api/lessons/edit", {"id": id_, "text": words}), "edited")[0]

    def sessions(self, where: Where, *, query: str = "", limit: int = 20) -> Sequence[JsonObject]:
        """The last sessions, newest first; with a query those that are about it, best first."""
        parameters = [*where.as_query(), *_query(query=query, limit=limit)]
        return _objects(self._get("/api/sessions", parameters), "sessions")

    def receipts(self, where: Where, *, session: str = "", limit: int = 20) -> Sequence[JsonObject]:
        """What sessions were given, newest first: in a folder's project, everywhere, or in one session."""
        parameters = [*where.as_query(), *_query(session=session, limit=limit)]
        return _objects(self._get("/api/receipts", parameters), "receipts")

    def hit_rates(self, where: Where) -> JsonObject:
        """What came of what was given in a folder's project, or in all, by moment and source."""
        return self._get("/api/hit-rates", where.as_query())

    def stats(self, days: int) -> JsonObject:
        """What is stored, and what was given, used and spent over the last days."""
        return self._get("/api/stats", _query(days=days))

    def receipt(self, id_: str) -> JsonObject:
        """One of them by its id, or by the beginning of it."""
        return self._get(f"/api/receipts/{quoted(id_)}")

    def changes(self) -> JsonObject:
        """Counts of memory.db and of the inbox that move with every change."""
        return self._get("/api/changes", timeout_s=PROBE_TIMEOUT_S)

    def projects(self) -> Sequence[JsonObject]:
        """The projects that were last worked on, the last first."""
        return _objects(self._get("/api/projects"), "projects")

    def project_names(self) -> dict[str, str]:
        """Return the name of every project by its id."""
        return {id_: text(name) for id_, name in responses.part(self._get("/api/projects/names"), "names").items()}

    def project_of(self, cwd: str) -> str:
        """Return the id of the project that a folder belongs to; '' when nothing active is remembered of it."""
        told = self._get("/api/place", _query(cwd=cwd))
        return text(told.get("project")) if told.get("has_memories") is True else ""

    def project_changes(self) -> Sequence[JsonObject]:
        """The last changes to projects, newest first."""
        return _objects(self._get("/api/projects/changes"), "changes")

    def change_projects(self, what: str, body: JsonObject) -> JsonObject:
        """Carry out `merge`, `rename`, `move`, `split` or `undo`; the change, by whose id it can be undone."""
        return self._post(f"/api/projects/{what}", body, timeout_s=_CHANGE_TIMEOUT_S)

    def feed(
        self,
        wanted: Wanted = ANYTHING,
        *,
        project: str = "",
        origins: Sequence[str] = (),
        before: str = "",
        limit: int = 50,
    ) -> JsonObject:
        """Memories of these kinds, statuses and times, newest first, under `memories`, with their `turns` and
        `sessions`; `next` is the `before` of the page that follows."""
        query = [*(("origin", origin) for origin in origins), *wanted.as_query()]
        return self._get("/api/feed", [*query, *_query(project=project, before=before, limit=limit)])

    def story(self, memory_id: str) -> JsonObject:
        """What became of a memory, beyond what `memory` tells: given, used, held back, and what it is of."""
        return self._get(f"/api/memories/{quoted(memory_id)}/story")

    def days(self, days: int, *, project: str = "") -> Sequence[JsonObject]:
        """What happened on each of the last days, oldest first, everywhere or in a project."""
        return _objects(self._get("/api/days", _query(days=days, project=project)), "days")

    def known_turns(self, marks: Sequence[JsonObject]) -> PastTurns:
        """Sort past turns by what an import has to do with them."""
        answer = self._post("/api/import/known", {"turns": marks}, timeout_s=IMPORT_TIMEOUT_S)
        return PastTurns(*(frozenset(_strings(answer, field.name)) for field in fields(PastTurns)))

    def import_turns(self, turns: Sequence[JsonObject]) -> ImportedTurns:
        """Store past turns and wait until they are worked on."""
        answer = self._post("/api/import", {"turns": turns}, timeout_s=IMPORT_TIMEOUT_S)
        return ImportedTurns(**{one.name: _whole(answer, one.name) for one in fields(ImportedTurns)})

    def settings(self, cwd: str) -> JsonObject:
        """Every setting in force in a folder, with where it comes from, under `settings`."""
        return self._get("/api/settings", [("cwd", cwd)])

    def try_model(self) -> JsonObject:
        """Have the configured model asked for one word: how long it took, or what went wrong."""
        return self._post("/api/model/try", {}, timeout_s=TRY_TIMEOUT_S)

    def damaged_words(self) -> Sequence[str]:
        """What has a damaged index of its words: memories, passages."""
        return _strings(self._get("/api/index/damage", timeout_s=EXPORT_TIMEOUT_S), "damaged")

    def rebuild(self) -> JsonObject:
        """Have everything derived made anew; how much is waiting, as `index` tells it."""
        return self._post("/api/rebuild", {}, timeout_s=120)

    def index(self) -> JsonObject:
        """How many documents wait to be indexed, of how many there are, and why there are no vectors if so."""
        return self._get("/api/index")

    def stale_sessions(self, where: Where) -> list[tuple[str, int]]:
        """Return the sessions with turns whose memories an older version made, each with their number, oldest first."""
        answer = self._get("/api/rebuild/memories", where.as_query(), timeout_s=EXPORT_TIMEOUT_S)
        return [(text(one.get("id")), _whole(one, "turns")) for one in _objects(answer, "sessions")]

    def stale_turns(self, session: str) -> list[StaleTurn]:
        """Return those turns of a session, in order."""
        answer = self._get("/api/rebuild/memories/turns", [("session", session)], timeout_s=EXPORT_TIMEOUT_S)
        return [
            StaleTurn(
                turn=text(one.get("turn")),
                prompt_id=text(one.get("prompt_id")),
                began_at=datetime.fromisoformat(text(one.get("began_at"))),
                kept_bytes=_whole(one, "kept_bytes"),
                is_left=one.get("is_left") is True,
            )
            for one in _objects(answer, "turns")
        ]

    def rebuild_turns(self, body: JsonObject) -> tuple[RebuildCounts, Sequence[JsonObject], JsonValue]:
        """Have the memories of some turns of a session made anew, or tried; return what that changes, in numbers and
        by memories, and after a try what the next one of the session goes on from."""
        answer = self._post("/api/rebuild/memories", body, timeout_s=IMPORT_TIMEOUT_S)
        counts = RebuildCounts(**{one.name: _whole(answer, one.name) for one in fields(RebuildCounts)})
        return counts, _objects(answer, "changes"), answer.get("so_far")

    def export_page(self, after: int, where: Where) -> ExportPage:
        """The memories that were stored after one of them, as many as come at a time."""
        answer = self._get("/api/export", [*where.as_query(), *_query(after=after)], timeout_s=EXPORT_TIMEOUT_S)
        return ExportPage(
            _objects(answer, "memories"),
            responses.whole_or_none(answer, "total"),
            responses.whole_or_none(answer, "next"),
        )

    def start_import(self, where: Where, scopes: Sequence[str]) -> ImportStart:
        """Where and when memories of a file are imported that do not say so themselves."""
        answer = self._post(
            "/api/import/memories/start", {"cwd": where.cwd, "project": where.project, "scopes": list(scopes)}
        )
        return ImportStart(
            project=str(answer.get("project")),
            at=str(answer.get("at")),
            unknown={scope: str(why) for scope, why in responses.part(answer, "unknown").items()},
        )

    def import_memories(self, start: ImportStart, lines: Sequence[JsonObject], *, trust: bool = False) -> JsonObject:
        """Store memories as they are: how many are new, and what became of the others.

        Without `trust` none of them is the user's own word, whatever it says."""
        body: JsonObject = {"project": start.project, "at": start.at, "lines": lines, "trust": trust}
        return self._post("/api/import/memories", body, timeout_s=IMPORT_TIMEOUT_S)

    def finish_import(self) -> None:
        self._post("/api/import/memories/finish", {}, timeout_s=IMPORT_TIMEOUT_S)

    def known_of_claude_mem(self, sessions: Sequence[str], names: Sequence[str]) -> JsonObject:
        """What is known of sessions that claude-mem kept, and which projects are the only ones of these names."""
        body: JsonObject = {"sessions": sessions, "names": names}
        return self._post("/api/import/claude-mem/known", body, timeout_s=IMPORT_TIMEOUT_S)

    def import_of_claude_mem(
        self, what: Literal["sessions", "said", "observations"], rows: Sequence[JsonObject]
    ) -> JsonObject:
        """Store what claude-mem kept: how many of it are new, and what became of the others."""
        return self._post(f"/api/import/claude-mem/{what}", {what: rows}, timeout_s=IMPORT_TIMEOUT_S)

    def backup(self) -> JsonObject:
        """Have a backup made now: where it is, how large, and what is in it."""
        return self._post("/api/backup", {}, timeout_s=BACKUP_TIMEOUT_S)

    def recoveries(self) -> Sequence[JsonObject]:
        """What was restored or could not be, oldest first."""
        return _objects(self._get("/api/recoveries"), "recoveries")

    def ask_to_stop(self) -> None:
        """It ends once it has finished what it is at; `worker_start.stop_worker` waits for that."""
        self._post("/api/stop", {}, timeout_s=PROBE_TIMEOUT_S)

    def _get(self, target: str, query: Sequence[tuple[str, str]] = (), *, timeout_s: float = 30.0) -> JsonObject:
        return transport.request(self.home.socket, "GET", target, query=query, timeout_s=self._patience(timeout_s))

    def _post(self, target: str, body: JsonObject, *, timeout_s: float = 30.0) -> JsonObject:
        return self._send("POST", target, body, timeout_s)

    def _patch(self, target: str, body: JsonObject) -> JsonObject:
        return self._send("PATCH", target, body, 30.0)

    def _send(
        self, method: str, target: str, body: JsonObject, timeout_s: float, workers: int = MAX_WORKERS
    ) -> JsonObject:
        """One request; to the next worker, up to so many, when one ended before it accepted what it was told to do."""
        try:
            return transport.request(self.home.socket, method, target, body=body, timeout_s=self._patience(timeout_s))
        except CommandNotAccepted:
            if self.next_worker is None or workers <= 1:
                raise
            self.next_worker()
        return self._send(method, target, body, timeout_s, workers - 1)

    def _patience(self, timeout_s: float) -> float:
        return max(min(timeout_s, self.until - time.monotonic()), _MIN_TIMEOUT_S)


def _query(**values: str | int | None) -> list[tuple[str, str]]:
    """The parameters of a request, without those that ask for nothing: None, an empty text and False."""
    asked = {name: value for name, value in values.items() if value is not None and value != "" and value is not False}
    return [(name, "true" if value is True else str(value)) for name, value in asked.items()]


def quoted(part: str) -> str:
    """An id as one part of a path; those of sessions are other people's and may hold anything, a slash too."""
    return quote(part, safe="", errors="replace")


def _counts(answer: JsonObject) -> QueueCounts:
    return QueueCounts(
        raw=_whole(answer, "raw"),
        processing=_whole(answer, "processing"),
        done=_whole(answer, "done"),
        error=_whole(answer, "error"),
        skipped=_whole(answer, "skipped"),
        spooled=responses.whole(answer, "spooled"),  # a worker of an earlier version does not say it
    )


def _whole(answer: JsonObject, key: str) -> int:
    if (value := responses.whole_or_none(answer, key)) is None:
        raise _unexpected(key)
    return value


def _strings(answer: JsonObject, key: str) -> Sequence[str]:
    return [str(each) for each in _list(answer, key)]


def _objects(answer: JsonObject, key: str) -> Sequence[JsonObject]:
    found = responses.objects(answer, key)
    if len(found) < len(_list(answer, key)):
        raise _unexpected(key)
    return found


def _list(answer: JsonObject, key: str) -> Sequence[JsonValue]:
    value = answer.get(key)
    if not isinstance(value, list):
        raise _unexpected(key)
    return value


def _unexpected(key: str) -> WorkerRefused:
    return WorkerRefused(f"the worker's answer has no usable {key}", "run `claude-mem-lite worker stop` and try again")
