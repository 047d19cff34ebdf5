"""Typed calls to the worker. The command line and the MCP server are built on it.

It reads and writes no database: everything it knows it was told over the socket."""

import fcntl
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast
from urllib.parse import quote

from claude_mem_lite import wire
from claude_mem_lite.errors import WorkerRefused, WorkerUnavailable
from claude_mem_lite.models import JsonObject, JsonValue
from claude_mem_lite.paths import Home

STOP_WAIT_S = 30.0
# Longer than the worker itself waits before it says that it is busy.
IMPORT_TIMEOUT_S = 660.0
EXPORT_TIMEOUT_S = 120.0
CODE_TIMEOUT_S = 60.0
BACKUP_TIMEOUT_S = 620.0
# Longer than the worker itself waits for a model.
TRY_TIMEOUT_S = 140.0
PROBE_TIMEOUT_S = 2.0
POLL_S = 0.02
_LEAST_TIMEOUT_S = 0.05


@dataclass(frozen=True, slots=True)
class Health:
    """Who answers on the socket; `told` is all it said."""

    version: str
    pid: int
    told: JsonObject


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """Events in the inbox, by status."""

    raw: int = 0
    processing: int = 0
    done: int = 0
    error: int = 0
    skipped: int = 0
    spooled: int = 0
    """Those that hooks left and nobody has taken in yet."""


@dataclass(frozen=True, slots=True)
class Drained:
    """Whether nothing was left to do when the waiting ended, and the counts at that moment."""

    drained: bool
    counts: QueueCounts


@dataclass(frozen=True, slots=True)
class Where:
    """Which memories are meant: those that hold in a folder or a project, or those of every project."""

    cwd: str
    all_projects: bool = False
    project: str = ""
    """Those of a project by its id, whatever folder is given."""

    def as_query(self) -> list[tuple[str, str]]:
        named = [("project", self.project)] if self.project else []
        return [("cwd", self.cwd), ("all_projects", "true" if self.all_projects else "false"), *named]


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a memory must be to be listed or found; None and empty ask for nothing."""

    kinds: Sequence[str] = ()
    scope: str | None = None
    file: str | None = None
    branch: str | None = None
    since: str | None = None
    until: str | None = None
    statuses: Sequence[str] = ()
    """Without any, only what holds: the active ones."""

    def as_query(self) -> list[tuple[str, str]]:
        single = {name: getattr(self, name) for name in ("scope", "file", "branch", "since", "until")}
        return [
            *(("kind", kind) for kind in self.kinds),
            *((name, value) for name, value in single.items() if value is not None),
            *(("status", status) for status in self.statuses),
        ]


@dataclass(frozen=True, slots=True)
class Asker:
    """An agent that asks for itself: where it works, and in which session as far as it knows."""

    cwd: str
    session: str = ""
    named: str = ""
    """The session that its client names, though another may be at work."""

    def as_body(self) -> JsonObject:
        return {"cwd": self.cwd, "session": self.session}


@dataclass(frozen=True, slots=True)
class ExportPage:
    """Some of the memories, how many there are in all (with the first page), and after which the next page begins."""

    memories: Sequence[JsonObject]
    total: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class ImportStart:
    """The project and the moment of an import, and the scopes it names that nobody knows, with the reason."""

    project: str
    at: str
    unknown: Mapping[str, str]


ANYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Client:
    """The worker of one home. Every call raises WorkerUnavailable when nobody answers."""

    home: Home
    until: float = math.inf
    """A moment of the monotonic clock after which nobody waits for an answer any more."""

    def health(self, timeout_s: float = PROBE_TIMEOUT_S) -> Health:
        told = self._get("/api/health", timeout_s=timeout_s)
        return Health(version=str(told.get("version", "")), pid=_whole(told, "pid"), told=told)

    def queue_counts(self) -> QueueCounts:
        return _counts(self._get("/api/queue/stats"))

    def queue_events(self, status: str) -> Sequence[JsonObject]:
        return _objects(self._get("/api/queue", [("status", status)]), "events")

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
        query = [("cwd", cwd), *([("project", project)] if project else [])]
        query += [("budget", str(budget))] if budget is not None else []
        query += [("preset", preset)] if preset is not None else []
        query += [("explain", "true")] if explain else []
        return self._get("/api/context", query)

    def prompt_context(self, cwd: str, prompt: str, *, explain: bool = False, project: str = "") -> JsonObject:
        """What a prompt typed now in a folder would be given, or in a project; nothing counts as given."""
        query = [("cwd", cwd), *([("project", project)] if project else []), ("prompt", prompt)]
        query += [("explain", "true")] if explain else []
        return self._get("/api/prompt-context", query)

    def search(self, query: str, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 10) -> Sequence[JsonObject]:
        parameters = [("query", query), *where.as_query(), *wanted.as_query(), ("limit", str(limit))]
        return _objects(self._get("/api/search", parameters), "hits")

    def memories(self, where: Where, wanted: Wanted = ANYTHING, *, limit: int = 50) -> Sequence[JsonObject]:
        """Memories, newest first."""
        parameters = [*where.as_query(), *wanted.as_query(), ("limit", str(limit))]
        return _objects(self._get("/api/memories", parameters), "memories")

    def memory(self, memory_id: str) -> JsonObject:
        """One memory by its id, or by the beginning of it when no other begins so."""
        return self._get(f"/api/memories/{_quoted(memory_id)}")

    def record(self, id_: str, cwd: str = "") -> JsonObject:
        """A memory, a turn as it was asked and answered, or a session with its summary, by the id or its beginning.

        Of a memory of the folder's project also how it stands with its code."""
        return self._get(f"/api/records/{_quoted(id_)}", [("cwd", cwd)] if cwd else ())

    def stale(self, cwd: str) -> JsonObject:
        """Which memories of a folder's project are no longer what the code says, under `memories`, and of how many
        that could be told."""
        return self._get("/api/stale", [("cwd", cwd)])

    def code(self, what: str, name: str, cwd: str, *, limit: int) -> JsonObject:
        """Symbols of a name in the code of a folder's project with their callers or callees, under `symbols`; while
        that code is still being read, how far it is, under `reading`."""
        query = [("what", what), ("name", name), ("cwd", cwd), ("limit", str(limit))]
        return self._get("/api/code", query, timeout_s=CODE_TIMEOUT_S)

    def timeline(self, id_: str, *, before: int = 5, after: int = 5) -> JsonObject:
        """What surrounds a memory or a turn, or is in a session, under `items`."""
        return self._get("/api/timeline", [("id", id_), ("before", str(before)), ("after", str(after))])

    def timeline_of_session(self, session: str, *, skip: int, limit: int) -> Sequence[JsonObject]:
        """What was asked and remembered in a session, in order: so many, after those that are skipped."""
        query = [("id", session), ("skip", str(skip)), ("limit", str(limit))]
        return _objects(self._get("/api/timeline", query), "items")

    def remember(self, kind: str, text: str, *, scope: str | None, tags: Sequence[str], cwd: str) -> JsonObject:
        """Store what the user stated; without a scope the worker applies the default of the kind."""
        return self._post("/api/memories", {"kind": kind, "text": text, "scope": scope, "tags": list(tags), "cwd": cwd})

    def change(self, memory_id: str, changes: JsonObject, *, cwd: str) -> JsonObject:
        """Change what a memory says, is or holds for; returns it as it is now."""
        return self._patch(f"/api/memories/{_quoted(memory_id)}", {**changes, "cwd": cwd})

    def pin(self, memory_id: str, *, pinned: bool) -> JsonObject:
        return self._patch(f"/api/memories/{_quoted(memory_id)}", {"pinned": pinned})

    def confirm(self, memory_id: str, *, cwd: str) -> JsonObject:
        """It holds, still or again, and so does the code of the folder's project that it tells of."""
        return self._patch(f"/api/memories/{_quoted(memory_id)}", {"status": "active", "cwd": cwd})

    def retire(self, memory_id: str, *, reason: str = "") -> JsonObject:
        """It does not hold any more."""
        return self._patch(f"/api/memories/{_quoted(memory_id)}", {"status": "retired", "reason": reason})

    def supersede(self, memory_id: str, *, successor: str) -> JsonObject:
        """Another memory holds in its place."""
        return self._patch(f"/api/memories/{_quoted(memory_id)}", {"superseded_by": successor})

    def forget(self, *, ids: Sequence[str] = (), session: str | None, project: str | None) -> Sequence[str]:
        answer = self._post("/api/forget", {"ids": list(ids), "session": session, "project": project}, timeout_s=120)
        return _strings(answer, "forgotten")

    def restore(self, memory: JsonObject) -> JsonObject:
        """Take back that a memory was forgotten, by what `memory` told of it before; returns it as it is now."""
        return self._post("/api/memories/restore", {"memory": memory})

    def ask(self, asker: Asker, *, query: str = "", scope: str = "", category: str = "") -> JsonObject:
        """What an agent is told that asks, under `text`; `sent` wants its `name` once it was told, if it has one."""
        return self._post("/api/ask", {**asker.as_body(), "query": query, "scope": scope, "category": category})

    def where_it_stands(self, asker: Asker) -> JsonObject:
        """The project of an agent and the session that is at work there; refused where nothing is given or kept."""
        return self._post("/api/ask/here", asker.as_body())

    def sent(self, name: str) -> None:
        """An answer has reached the agent that asked for it."""
        self._post("/api/ask/sent", {"name": name})

    def save(self, asker: Asker, kind: str, text: str, *, scope: str, tags: Sequence[str]) -> JsonObject:
        """Store what an agent says, as its own word."""
        body: JsonObject = {"named": asker.named, "kind": kind, "text": text, "scope": scope, "tags": list(tags)}
        return self._post("/api/ask/save", {**asker.as_body(), **body})

    def forget_for(self, asker: Asker, ids: Sequence[str]) -> JsonObject:
        """Remove memories that an agent wants gone; refused when one of them is the user's."""
        return self._post("/api/ask/forget", {**asker.as_body(), "ids": list(ids)}, timeout_s=120)

    def quarantine(self, where: Where, *, limit: int = 50) -> Sequence[JsonObject]:
        """What waits for the user's word, newest first, each with the reason."""
        return _objects(self._get("/api/quarantine", [*where.as_query(), ("limit", str(limit))]), "memories")

    def approve(self, ids: Sequence[str]) -> Sequence[str]:
        """Let memories out of quarantine; their ids."""
        return _strings(self._post("/api/quarantine/approve", {"ids": list(ids)}), "approved")

    def drop(self, ids: Sequence[str]) -> Sequence[str]:
        """Forget memories that are in quarantine for good; the ids of all that went."""
        return _strings(self._post("/api/quarantine/drop", {"ids": list(ids)}, timeout_s=120), "dropped")

    def sessions(self, where: Where, *, query: str = "", limit: int = 20) -> Sequence[JsonObject]:
        """The last sessions, newest first; with a query those that are about it, best first."""
        parameters = [*where.as_query(), *([("query", query)] if query else []), ("limit", str(limit))]
        return _objects(self._get("/api/sessions", parameters), "sessions")

    def receipts(self, where: Where, *, session: str = "", limit: int = 20) -> Sequence[JsonObject]:
        """What sessions were given, newest first: in a folder's project, everywhere, or in one session."""
        parameters = [*where.as_query(), *([("session", session)] if session else []), ("limit", str(limit))]
        return _objects(self._get("/api/receipts", parameters), "receipts")

    def hit_rates(self, where: Where) -> JsonObject:
        """What came of what was given in a folder's project, or in all, by moment and source."""
        return self._get("/api/hit-rates", where.as_query())

    def stats(self, days: int) -> JsonObject:
        """What is stored, and what was given, used and spent over the last days."""
        return self._get("/api/stats", [("days", str(days))])

    def receipt(self, id_: str) -> JsonObject:
        """One of them by its id, or by the beginning of it."""
        return self._get(f"/api/receipts/{_quoted(id_)}")

    def changes(self) -> JsonObject:
        """Counts of memory.db and of the inbox that move with every change."""
        return self._get("/api/changes", timeout_s=PROBE_TIMEOUT_S)

    def projects(self) -> Sequence[JsonObject]:
        """The projects that were last worked on, the last first."""
        return _objects(self._get("/api/projects"), "projects")

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
        query = [("limit", str(limit)), *(("origin", origin) for origin in origins), *wanted.as_query()]
        query += [(name, value) for name, value in (("project", project), ("before", before)) if value]
        return self._get("/api/feed", query)

    def story(self, memory_id: str) -> JsonObject:
        """What became of a memory: given, used, replaced, contradicted, retired, and where it was seen."""
        return self._get(f"/api/memories/{_quoted(memory_id)}/story")

    def days(self, days: int, *, project: str = "") -> Sequence[JsonObject]:
        """What happened on each of the last days, oldest first, everywhere or in a project."""
        query = [("days", str(days)), *([("project", project)] if project else [])]
        return _objects(self._get("/api/days", query), "days")

    def known_turns(self, marks: Sequence[JsonObject]) -> tuple[set[str], set[str]]:
        """The names of those past turns that are there already, and of those in folders of which nothing is kept."""
        answer = self._post("/api/import/known", {"turns": marks}, timeout_s=IMPORT_TIMEOUT_S)
        return set(_strings(answer, "known")), set(_strings(answer, "excluded"))

    def import_turns(self, turns: Sequence[JsonObject]) -> tuple[int, int]:
        """Store past turns and wait until they are worked on: how many are, and how many memories that made."""
        answer = self._post("/api/import", {"turns": turns}, timeout_s=IMPORT_TIMEOUT_S)
        return _whole(answer, "turns"), _whole(answer, "memories")

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

    def export_page(self, after: int, cwd: str | None) -> ExportPage:
        """The memories that were stored after one of them, as many as come at a time."""
        query = [("after", str(after)), *([("cwd", cwd)] if cwd is not None else [])]
        answer = self._get("/api/export", query, timeout_s=EXPORT_TIMEOUT_S)
        total, following = answer.get("total"), answer.get("next")
        return ExportPage(
            _objects(answer, "memories"),
            total if isinstance(total, int) else None,
            following if isinstance(following, int) else None,
        )

    def start_import(self, cwd: str, scopes: Sequence[str]) -> ImportStart:
        """Where and when memories of a file are imported that do not say so themselves."""
        answer = self._post("/api/import/memories/start", {"cwd": cwd, "scopes": list(scopes)})
        unknown = answer.get("unknown")
        return ImportStart(
            project=str(answer.get("project")),
            at=str(answer.get("at")),
            unknown={scope: str(why) for scope, why in unknown.items()} if isinstance(unknown, dict) else {},
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

    def stop(self, wait_s: float = STOP_WAIT_S) -> bool:
        """Ask the worker to end and wait until it has; False when none was there."""
        try:
            self._post("/api/stop", {}, timeout_s=PROBE_TIMEOUT_S)
        except WorkerUnavailable:
            if not _is_locked(self.home.worker_lock):
                return False
        if not wait_until(lambda: not self.is_there(), time.monotonic() + wait_s):
            raise WorkerUnavailable(
                f"the worker was asked to stop but is still there after {wait_s:g} s",
                f"look into {self.home.worker_log}",
            )
        return True

    def is_answering(self) -> bool:
        try:
            self.health()
        except (WorkerUnavailable, WorkerRefused):
            return False
        return True

    def is_there(self) -> bool:
        """Whether a worker has this home, be it one that does not answer yet or any more."""
        # Probing the lock while the worker still answers would be harmless but useless: look there last.
        return self.is_answering() or _is_locked(self.home.worker_lock)

    def _get(self, target: str, query: Sequence[tuple[str, str]] = (), *, timeout_s: float = 30.0) -> JsonObject:
        return wire.request(self.home.socket, "GET", target, query=query, timeout_s=self._patience(timeout_s))

    def _post(self, target: str, body: JsonObject, *, timeout_s: float = 30.0) -> JsonObject:
        return wire.request(self.home.socket, "POST", target, body=body, timeout_s=self._patience(timeout_s))

    def _patch(self, target: str, body: JsonObject) -> JsonObject:
        return wire.request(self.home.socket, "PATCH", target, body=body, timeout_s=self._patience(30.0))

    def _patience(self, timeout_s: float) -> float:
        return max(min(timeout_s, self.until - time.monotonic()), _LEAST_TIMEOUT_S)


def _is_locked(lock: Path) -> bool:
    """Whether a worker lives, by the lock it holds: a process id may be a zombie's or another program's."""
    try:
        handle = os.open(lock, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


def wait_until(holds: Callable[[], bool], deadline: float) -> bool:
    """Look again and again whether something holds, up to a moment of the monotonic clock."""
    while not holds():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_S)
    return True


def _quoted(part: str) -> str:
    return quote(part, safe="", errors="replace")


def _counts(told: JsonObject) -> QueueCounts:
    return QueueCounts(
        raw=_whole(told, "raw"),
        processing=_whole(told, "processing"),
        done=_whole(told, "done"),
        error=_whole(told, "error"),
        skipped=_whole(told, "skipped"),
        spooled=_whole(told, "spooled") if "spooled" in told else 0,  # a worker of an earlier version does not say it
    )


def _whole(told: JsonObject, key: str) -> int:
    value = told.get(key)
    if not isinstance(value, int):
        raise _unexpected(key)
    return value


def _strings(told: JsonObject, key: str) -> Sequence[str]:
    value = told.get(key)
    if not isinstance(value, list):
        raise _unexpected(key)
    return [str(each) for each in value]


def _objects(told: JsonObject, key: str) -> Sequence[JsonObject]:
    value: JsonValue = told.get(key)
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise _unexpected(key)
    return cast("Sequence[JsonObject]", value)


def _unexpected(key: str) -> WorkerRefused:
    return WorkerRefused(f"the worker's answer has no usable {key}", "run `claude-mem-lite worker stop` and try again")
