"""The API that memories leave and come back by, one by one as they are: what `export` and `import jsonl` are built on.

An import begins with `start`, sends its memories in batches, each stored whole in one transaction, and ends with
`finish`. Checking and cleaning happen here, beside the job thread, so that hooks do not wait for them."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from typing import Annotated, cast

from pydantic import AwareDatetime, Field
from starlette.responses import Response

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.export_format import to_object, values_of
from claude_mem_lite.knowledge import quarantine, transfer
from claude_mem_lite.knowledge.user_edits import named_scope, resolve_scope
from claude_mem_lite.models import FOREIGN_ORIGINS, TRUST, JsonObject, Kind, Memory, Origin
from claude_mem_lite.safety.clean_import import cleaned
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.projects import lookup, marks
from claude_mem_lite.worker import maintenance
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Running, project_of, wait

PAGE_BYTES = 1024 * 1024
_BACKUP_WAIT_S = 60.0
_CLAIMS = frozenset(("origin", "trust", "pinned", "made_by", "confidence"))
router = Router(prefix="/api")


class Start(Body):
    cwd: str = ""
    project: str = ""
    """The project that is meant, by its id or name, in place of a folder's."""
    scopes: list[str] = Field(default_factory=list)


class Line(Body):
    memory: dict[str, object]
    nth: int = 0
    """How many lines before it, without an id, are the same."""


class Batch(Body):
    project: str
    """Of those that name none."""
    at: AwareDatetime
    """When those were made that do not say."""
    lines: list[Line]
    trust: bool = False
    """The file is the user's own: what it says to be their word, or pinned, is."""


@router.get("/export")
def export(
    loop: Running,
    after: Annotated[int, Field(ge=0, lt=2**63)] = 0,
    limit: Annotated[int, Field(ge=1, le=10_000)] = 1_000,
    cwd: str = "",
    all_projects: bool = True,
    project: str = "",
) -> Response:
    """Memories in the order of storing, as many as fit a page; `next` says after which the next page begins."""
    meant = project_of(loop, cwd, all_projects and not cwd, project)
    found: list[str] = []
    size, last, more = 0, after, False
    with closing(loop.readers.open()) as db:
        total = transfer.count(db, meant) if not after else None
        for seq, memory in transfer.all_after(db, after, meant):
            if len(found) == limit or size >= PAGE_BYTES:
                more = True
                break
            found.append(json.dumps(to_object(memory)))
            size, last = size + len(found[-1]), seq
    page = json.dumps({"total": total, "next": last if more else None})
    return Response(f'{{"memories": [{", ".join(found)}], {page[1:]}', media_type="application/json")


@router.post("/import/memories/start")
def start(wanted: Start, loop: Running) -> dict[str, object]:
    """Where and when an import happens, and which of the scopes that its lines name cannot be told."""
    unknown: dict[str, str] = {}
    with closing(loop.readers.open()) as db:
        project = lookup.find(db, wanted.project) if wanted.project else lookup.locate(db, wanted.cwd).project
        for scope in wanted.scopes:
            try:
                named_scope(db, scope, project)
            except MemoryLiteError as error:
                unknown[scope] = str(error)
    return {"project": project, "at": loop.clock().isoformat(), "unknown": unknown}


@router.post("/import/memories")
def take_in(batch: Batch, loop: Running) -> dict[str, object]:
    """Store those of the memories that are new; nothing is merged, and nothing that is there is changed."""
    with closing(loop.readers.open()) as db:
        lines = [read(db, line, batch) for line in batch.lines]
    redacted = sum(one.cleaned for one in lines)
    given = [one.given for one in lines]
    taken = wait(loop.call(lambda db: transfer.take_in(db, given, loop.clock())))
    scopes = {one.memory.scope for one in given}
    projects = sorted(scope.removeprefix("project:") for scope in scopes if scope.startswith("project:"))
    quarantined = sum(one.memory.status == "quarantined" for one in given)
    return {
        **asdict(taken),
        "redacted": redacted,
        "quarantined": quarantined,
        "disbelieved": sum(one.disbelieved for one in lines),
        "projects": projects,
    }


@router.post("/import/memories/finish")
def finish(loop: Running) -> dict[str, bool]:
    """Everything is sent: contexts that were rendered before it follow, and a backup has what no inbox has."""
    wait(loop.render_all())
    made = loop.backing_up.make_soon()
    loop.wake()
    with suppress(MemoryLiteError, TimeoutError):  # told by `status`, and tried again
        made.result(_BACKUP_WAIT_S)
    maintenance.give_back_memory()
    return {"finished": True}


@dataclass(frozen=True, slots=True)
class Taken:
    """A line as it is stored."""

    given: transfer.Given
    cleaned: int
    """How many of its values were."""
    disbelieved: bool
    """It said to be the user's word, or pinned, and that was not taken over."""


def read(db: sqlite3.Connection, line: Line, batch: Batch) -> Taken:
    """The memory of a line, what is not said filled in and what is not to be believed left out."""
    told = cast("JsonObject", line.memory)  # what comes from JSON is JSON
    values, problems = values_of(told)
    if problems:
        raise MemoryLiteError(f"a memory cannot be imported: {problems[0]}")
    believed = _believed(values, batch.trust)
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
        values["id"] = _id_of(told, scope, line.nth)
    memory = Memory(**{**defaults, **values, "scope": scope, "project": project})  # type: ignore[arg-type]  # checked
    memory, changed = cleaned(memory)
    memory = quarantine.without_approval(quarantine.checked(memory))
    # What is there by the same id may have been said by the user, or pinned since.
    compared = frozenset(told) - _CLAIMS if believed else frozenset(told)
    is_claimed = not batch.trust and not believed.keys().isdisjoint(("origin", "pinned", "made_by"))
    return Taken(transfer.Given(memory, compared), changed, is_claimed)


def _believed(values: Mapping[str, object], trust: bool) -> dict[str, object]:
    """What a memory says of who stated it, in place of what it claims: whoever wrote the file can claim anything.

    What pages and foreign tools said is pinned by nobody but the user, one by one."""
    believed: dict[str, object] = {}
    if values.get("pinned") and (not trust or values.get("origin") in FOREIGN_ORIGINS):
        believed["pinned"] = False
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
    """The scope and the project of a memory. Where it names its project, its scope is taken as it is written."""
    scope, kind = str(values.get("scope", "")), cast("Kind", values["kind"])
    if (given := values.get("project")) is not None:
        own = marks.current_id(db, str(given))
        if not scope or scope == "project":
            return resolve_scope(db, scope, kind, own), own
        named = project_of_scope(scope, "")
        return f"project:{marks.current_id(db, named)}" if named else scope, own
    scope = resolve_scope(db, scope, kind, project)
    return scope, project_of_scope(scope, project)


def _id_of(told: JsonObject, scope: str, nth: int) -> str:
    """An id that the same line gets whenever it is imported to hold in the same place."""
    return short_id("jsonl", scope, json.dumps(told, sort_keys=True), str(nth))
