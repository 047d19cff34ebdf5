"""API of `export` and `import jsonl`: memories with all their fields.

An import begins with `start`, sends its memories in batches of one transaction each, and ends with `finish`. Checking
and cleaning run outside the job thread, so that hooks do not wait for them."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import Annotated, cast

from pydantic import AwareDatetime, Field

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import to_object, values_of
from claude_mem_lite.knowledge import quarantine, remember
from claude_mem_lite.knowledge.user_edits import named_scope, resolve_scope
from claude_mem_lite.models import FOREIGN_ORIGINS, TRUST, JsonObject, Kind, Memory, Origin
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.imports import Finished, ImportedMemories, ImportStart
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store import memory_queries
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import marks
from claude_mem_lite.values import frozen
from claude_mem_lite.worker import background
from claude_mem_lite.worker.api.request_project import choose_project
from claude_mem_lite.worker.api.routing import Body, Router, Running, wait
from claude_mem_lite.worker.http.messages import HttpResponse

PAGE_BYTES = 1024 * 1024
_BACKUP_WAIT_S = 60.0
_CLAIMS = frozenset(("origin", "author", "trust", "pinned", "made_by", "confidence"))
router = Router(prefix="/api")


class Start(Body):
    cwd: str = ""
    project: str = ""
    """Project by id or name, in place of the folder's project."""
    scopes: list[str] = Field(default_factory=list)


class Line(Body):
    memory: dict[str, object]
    nth: int = 0
    """Number of earlier equal lines without an id."""


class Batch(Body):
    project: str
    """Project of memories that name none."""
    at: AwareDatetime
    """Time of memories that name none."""
    lines: list[Line]
    trust: bool = False
    """True if the user vouches for the file: its claims to be the user's word, or pinned, are kept."""


@router.get("/export")
def export(
    services: Running,
    after: Annotated[int, Field(ge=0, lt=2**63)] = 0,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000,
    cwd: str = "",
    all_projects: bool = True,
    project: str = "",
) -> HttpResponse:
    """Return one page of memories in the order of storing. `next` is the `after` of the next page."""
    chosen = choose_project(services, cwd, all_projects and not cwd, project).id
    found: list[str] = []
    size, last, more = 0, after, False
    with closing(services.readers.open()) as db:
        total = memory_queries.count_all(db, chosen) if not after else None
        for seq, memory in memory_queries.all_after(db, after, chosen):
            if len(found) == limit or size >= PAGE_BYTES:
                more = True
                break
            found.append(json.dumps(to_object(memory)))
            size, last = size + len(found[-1]), seq
    page = json.dumps({"total": total, "next": last if more else None})
    return HttpResponse(body=f'{{"memories": [{", ".join(found)}], {page[1:]}'.encode())


@router.post("/import/memories/start")
def start(wanted: Start, services: Running) -> ImportStart:
    """Return project and time of an import, and the scopes of its lines that are unknown."""
    unknown: dict[str, str] = {}
    project = choose_project(services, wanted.cwd, project=wanted.project).id or ""
    with closing(services.readers.open()) as db:
        for scope in wanted.scopes:
            try:
                named_scope(db, scope, project)
            except MemoryLiteError as error:
                unknown[scope] = str(error)
    return ImportStart(project, services.clock().isoformat(), unknown)


@router.post("/import/memories")
def take_in(batch: Batch, services: Running) -> ImportedMemories:
    """Store the new memories of a batch. Stored memories are neither merged nor changed."""
    with closing(services.readers.open()) as db:
        lines = [read(db, line, batch) for line in batch.lines]
    given = [line.given for line in lines]
    taken = wait(services.writes.execute_write(lambda db: remember.import_memories(db, given, services.clock())))
    scopes = {line.memory.scope for line in given}
    return response_from(
        ImportedMemories,
        taken,
        redacted=sum(line.cleaned for line in lines),
        quarantined=sum(line.memory.status == "quarantined" for line in given),
        disbelieved=sum(line.disbelieved for line in lines),
        projects=tuple(sorted(scope.removeprefix("project:") for scope in scopes if scope.startswith("project:"))),
    )


@router.post("/import/memories/finish")
def finish(services: Running) -> Finished:
    """End an import: render the contexts again, and back up what no inbox has."""
    wait(services.render_all())
    made = services.backups.make_soon()
    services.writes.wake()
    with suppress(MemoryLiteError, TimeoutError):  # `status` shows the problem, and the worker tries again
        made.result(_BACKUP_WAIT_S)
    background.give_back_memory()
    return Finished()


@frozen
class CheckedLine:
    """Line in the form in which it is stored."""

    given: remember.ImportedMemory
    cleaned: int
    """Number of redacted values."""
    disbelieved: bool
    """True if the line claimed to be the user's word, or pinned, and is stored as imported."""


def read(db: sqlite3.Connection, line: Line, batch: Batch) -> CheckedLine:
    """Return the memory of a line, with defaults for missing fields and without untrusted claims."""
    fields = cast("JsonObject", line.memory)  # parsed from JSON
    values, problems = values_of(fields)
    if problems:
        raise MemoryLiteError(f"a memory cannot be imported: {problems[0]}")
    believed = _believed(values, batch.trust)
    is_users = values.get("origin") == "user"
    values |= believed
    scope, project = _where(db, values, batch.project)
    made_at = values.get("created_at", batch.at)
    origin = cast("Origin", values.get("origin", "import"))
    defaults: dict[str, object] = {
        "summary": "",
        "created_at": made_at,
        "last_seen_at": made_at,
        "origin": origin,
        "trust": TRUST[origin],
        "made_by": "import",
    }
    if "id" not in values:
        values["id"] = _id_of(fields, scope, line.nth)
    memory = Memory(**{**defaults, **values, "scope": scope, "project": project})  # type: ignore[arg-type]  # checked
    memory, changed = cleaned(memory)
    memory = quarantine.without_approval(quarantine.checked(memory))
    # The user may have stated or pinned the stored memory of the same id since.
    compared = frozenset(fields) - _CLAIMS if believed else frozenset(fields)
    is_claimed = not batch.trust and (
        ("origin" in believed and is_users) or not believed.keys().isdisjoint(("pinned", "made_by"))
    )
    return CheckedLine(remember.ImportedMemory(memory, compared), changed, is_claimed)


def _believed(values: Mapping[str, object], trust: bool) -> Mapping[str, str | float]:
    """Return the values that replace untrusted claims of a memory about its source: a file can claim anything.

    Text of pages and foreign tools is never pinned by an import. Only the database of a team names authors."""
    believed: dict[str, str | float] = {}
    if values.get("pinned") and (not trust or values.get("origin") in FOREIGN_ORIGINS):
        believed["pinned"] = False
    if values.get("author"):
        believed["author"] = ""
    if values.get("origin") == "team":
        believed["origin"] = "import"
    if trust:
        return believed
    if values.get("origin") == "user":
        believed["origin"] = "import"
    most = TRUST[cast("Origin", believed.get("origin", values.get("origin", "import")))]
    if cast("float", values.get("trust", 0.0)) > most:
        believed["trust"] = most
    if values.get("made_by") == "user":
        believed["made_by"] = "import"
    return believed


def _where(db: sqlite3.Connection, values: Mapping[str, object], project: str) -> tuple[str, str]:
    """Return scope and project of a memory. The scope of a memory that names its project stays as written."""
    scope, kind = str(values.get("scope", "")), cast("Kind", values["kind"])
    if (given := values.get("project")) is not None:
        own = marks.current_id(db, str(given))
        if not scope or scope == "project":
            return resolve_scope(db, scope, kind, own), own
        named = project_of_scope(scope, "")
        return f"project:{marks.current_id(db, named)}" if named else scope, own
    scope = resolve_scope(db, scope, kind, project)
    return scope, project_of_scope(scope, project)


def _id_of(fields: JsonObject, scope: str, nth: int) -> str:
    """Return an id that is the same whenever a line is imported into the same scope."""
    return short_id("jsonl", scope, json.dumps(fields, sort_keys=True), str(nth))
