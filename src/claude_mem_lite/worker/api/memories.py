"""API of memories: remember, edit, pin, confirm, retire, reinstate, supersede, forget; and of the quarantine: list,
approve, drop."""

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.config import is_excluded
from claude_mem_lite.errors import InvalidRequest, MemoryLiteError, NotFound
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import MAX_FILES, MAX_TEXT_LENGTH, JsonObject, Kind, Memory, Tally
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import (
    ApprovedMemories,
    DroppedMemories,
    ForgottenMemories,
    MemoryBrief,
    MemoryRecord,
    MemoryRelations,
    QuarantinedMemory,
    QuarantineList,
    RememberedMemory,
)
from claude_mem_lite.safety.clean_import import has_private, is_all_private
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import guards, memories, memory_links, receipts, retirements, timeline
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.api.request_project import RequestProjectOrAll
from claude_mem_lite.worker.api.routing import SETTINGS_READ_S, Body, Limit, Router, Running, wait
from claude_mem_lite.worker.commands import scope_wanted
from claude_mem_lite.worker.services import Services

router = Router(prefix="/api")
_EDITED = ("title", "text", "kind", "scope", "tags", "untags")


Tags = Annotated[list[Annotated[str, Field(min_length=1, max_length=100)]], Field(max_length=20)]
Files = Annotated[list[Annotated[str, Field(min_length=1, max_length=4096)]], Field(max_length=MAX_FILES)]


def related(db: sqlite3.Connection, found: Sequence[Memory]) -> dict[str, MemoryRelations]:
    """Return the relations of memories by their ids."""
    ids = [memory.id for memory in found]
    against = memory_links.of(db, ids)
    retired = retirements.of(db, [memory.id for memory in found if memory.status == "retired"])
    given = receipts.tallies(db, ids)
    relations: dict[str, MemoryRelations] = {}
    for memory in found:
        retirement = retired.get(memory.id)
        others = [other for id_ in against.get(memory.id, ()) if (other := memories.find(db, id_))]
        successor = memories.find(db, memory.superseded_by) if memory.superseded_by else None
        relations[memory.id] = MemoryRelations(
            retired_at=retirement.at.isoformat() if retirement else None,
            retired_cause=retirement.cause if retirement else None,
            retired_because=retirement.reason if retirement else "",
            replaced_by=brief(successor) if successor else None,
            replaced=tuple(brief(older) for older in retirements.replaced_by(db, [memory.id])),
            conflicts=tuple(brief(other) for other in others),
            given=given.get(memory.id, Tally()),
        )
    return relations


def shown(db: sqlite3.Connection, memory: Memory) -> MemoryRecord:
    """Return a memory with its relations."""
    return response_from(MemoryRecord, memory, related(db, [memory])[memory.id])


def brief(memory: Memory) -> MemoryBrief:
    times = {"created_at": memory.created_at.isoformat(), "last_seen_at": memory.last_seen_at.isoformat()}
    return response_from(MemoryBrief, memory, **times)


class Remember(Body):
    kind: Kind | None = None
    """Kind of the memory; guessed if None."""
    text: str
    scope: str | None = None
    tags: Tags = Field(default_factory=list)
    files: Files = Field(default_factory=list)
    """Files that the memory is about, relative to the root of the project."""
    cwd: str | None = None
    """Current folder of the user."""
    project: str | None = None
    """Project by id or name, in place of the folder's project."""


class Forget(Body):
    ids: list[str] = Field(default_factory=list)
    session: str | None = None
    project: str | None = None


class MemoryEdit(Body):
    """Changes of a memory; a field that is not named stays as it is."""

    model_config = ConfigDict(extra="forbid")

    title: str | None = None
    text: str | None = None
    kind: Kind | None = None
    scope: str | None = None
    tags: Tags = Field(default_factory=list)
    untags: Tags = Field(default_factory=list)
    pinned: bool | None = None
    status: Literal["active", "retired"] | None = None
    """`active`: it holds, still or again; `retired`: it does not."""
    reason: str = ""
    """Why it is retired."""
    reinstated: bool = False
    """Undo a retirement, without a word on whether the memory holds."""
    superseded_by: str | None = None
    """The memory that holds in its place."""
    cwd: str | None = None
    """Where the user stands: the project that `project` means, and the code that is confirmed. '' is nowhere; when it
    is not named, where the memory's own project was last worked on."""


@router.post("/memories")
def remember(wanted: Remember, services: Running) -> RememberedMemory:
    if len(wanted.text) > MAX_TEXT_LENGTH:
        raise MemoryLiteError(f"{len(wanted.text):,} characters are no memory", f"keep it under {MAX_TEXT_LENGTH:,}")
    require_words(wanted.text)
    if wanted.cwd is None and wanted.project is None:
        raise InvalidRequest("Field required", "body", "cwd")
    command = wanted.model_dump(exclude_none=True)
    if wanted.project is not None:
        with closing(services.readers.open()) as db:
            command["project"] = lookup.find(db, wanted.project)
    excluded = wanted.project is None and _is_excluded(services, wanted.cwd or "")
    if excluded:
        _refuse_for_excluded(services, command, wanted)
    (id_,) = wait(services.commands.put({"command": "remember", **command}))
    with closing(services.readers.open()) as db:
        memory = memories.get(db, id_)
        guard = guards.of_memory(db, id_)
        return response_from(
            RememberedMemory,
            shown(db, memory),
            is_guessed=wanted.kind is None,
            is_repeat=memory.times_seen > 1,
            is_redacted=redact(wanted.text) != wanted.text,
            has_private=has_private(wanted.text),
            is_excluded=excluded,
            guard=guard.id if guard is not None and guard.status == "proposed" else "",
        )


@router.post("/forget")
def forget_all(wanted: Forget, services: Running) -> ForgottenMemories:
    """Remove memories, a session or a project for good."""
    forgotten = wait(services.commands.put({"command": "forget", **wanted.model_dump()}))
    return ForgottenMemories(tuple(forgotten))


def require_words(given: str) -> None:
    """Refuse a text that is empty without its private passages."""
    if is_all_private(given):
        raise MemoryLiteError("there is no text to remember", "text in <private> is never stored")


def _is_excluded(services: Services, folder: str) -> bool:
    if not services.settings.is_current():
        services.passes.wait_until_idle(SETTINGS_READ_S)
    return is_excluded(services.settings.config, folder)


def _refuse_for_excluded(services: Services, command: JsonObject, wanted: Remember) -> None:
    """Refuse a memory of an excluded folder's project: nothing would inject the memory."""
    with closing(services.readers.open()) as db:
        here = lookup.locate(db, wanted.cwd or "").project
        scope = named_scope(db, scope_wanted(command, clean(wanted.text), wanted.kind), here)
    if scope == f"project:{here}":
        raise MemoryLiteError(
            "this folder is excluded: nothing of it is kept, and nothing given here",
            "if it holds elsewhere too, say so by --scope universal or --scope language:NAME",
        )


@router.patch("/memories/{id_}")
def change(id_: str, wanted: MemoryEdit, services: Running) -> MemoryRecord:
    """Change a memory and return it as it is now."""
    for value in (wanted.title, wanted.text):
        if value is not None and is_all_private(value):
            raise MemoryLiteError("a memory needs a title and some text", "`claude-mem-lite forget` removes one")
        if value is not None and len(value) > MAX_TEXT_LENGTH:
            raise MemoryLiteError(f"{len(value):,} characters are no memory", f"keep it under {MAX_TEXT_LENGTH:,}")
    with closing(services.readers.open()) as db:
        memory = memories.get(db, id_)
        cwd = wanted.cwd if wanted.cwd is not None else timeline.own_project(db, memory.project).root
        successor = memories.get(db, wanted.superseded_by).id if wanted.superseded_by else ""
    asked = _asked(wanted, successor)
    if not asked:
        raise MemoryLiteError("no change is given", "name a field to change")
    for one in asked:
        # By its whole id: the beginning may fit another one when this is replayed.
        wait(services.commands.put({**one, "id": memory.id, "cwd": cwd}))
    with closing(services.readers.open()) as db:
        return shown(db, memories.get(db, memory.id))


@router.delete("/memories/{id_}")
def forget(id_: str, services: Running) -> ForgottenMemories:
    """Remove one memory for good."""
    return forget_all(Forget(ids=[id_]), services)


def _asked(wanted: MemoryEdit, successor: str) -> list[JsonObject]:
    """Return the commands of a change, in order."""
    body = wanted.model_dump()
    asked: list[JsonObject] = []
    if any(body[name] for name in _EDITED):
        asked.append({"command": "edit", **{name: body[name] for name in _EDITED}})
    if wanted.status == "active":
        asked.append({"command": "confirm"})
    if wanted.pinned is not None:
        asked.append({"command": "pin", "pinned": wanted.pinned})
    if wanted.status == "retired":
        asked.append({"command": "retire", "reason": wanted.reason})
    if wanted.reinstated:
        asked.append({"command": "reinstate"})
    if successor:
        asked.append({"command": "supersede", "successor": successor})
    return asked


class NamedMemories(Body):
    """Memories by their ids or the beginnings of ids."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str]


@router.get("/quarantine")
def waiting(services: Running, project: RequestProjectOrAll, limit: Limit = 50) -> QuarantineList:
    """Return the quarantined memories of all projects or of a folder's project, newest first, with the reasons."""
    wanted = Filters(project=project.id, statuses=("quarantined",))
    with closing(services.readers.open()) as db:
        found = listed(db, wanted, limit)
    return QuarantineList(
        tuple(response_from(QuarantinedMemory, memory, reason=quarantine.reason_of(memory)) for memory in found)
    )


@router.post("/quarantine/approve")
def approve(named: NamedMemories, services: Running) -> ApprovedMemories:
    """Release memories from quarantine."""
    ids = _in_quarantine(named, services)
    for id_ in ids:
        wait(services.commands.put({"command": "approve", "id": id_}))
    return ApprovedMemories(tuple(ids))


@router.post("/quarantine/drop")
def drop(named: NamedMemories, services: Running) -> DroppedMemories:
    """Forget quarantined memories for good; skip unknown ids."""
    ids = _in_quarantine(named, services, may_be_gone=True)
    dropped = wait(services.commands.put({"command": "drop", "ids": list(ids)}))
    return DroppedMemories(tuple(dropped))


def _in_quarantine(named: NamedMemories, services: Running, *, may_be_gone: bool = False) -> list[str]:
    """Return whole ids: the beginning of an id may fit another memory when the command is replayed."""
    if not named.ids:
        raise MemoryLiteError("no memory is named", "`claude-mem-lite quarantine` lists the ids")
    with closing(services.readers.open()) as db:
        found = []
        for id_ in dict.fromkeys(named.ids):
            try:
                found.append(memories.get(db, id_))
            except NotFound as error:
                if not may_be_gone:
                    raise NotFound(error.message, "`claude-mem-lite quarantine` lists the ids") from error
    for memory in found:
        quarantine.must_wait(memory)
    return [memory.id for memory in found]
