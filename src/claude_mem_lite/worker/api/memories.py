"""API that changes one memory for the user: edit, pin, confirm, retire, reinstate, supersede, forget.

API of the quarantine: list, approve, drop. Both write through the inbox."""

from contextlib import closing
from typing import Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import MAX_TEXT_LENGTH, JsonObject, Kind
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import (
    ApprovedMemories,
    DroppedMemories,
    ForgottenMemories,
    MemoryRecord,
    QuarantinedMemory,
    QuarantineList,
)
from claude_mem_lite.safety.clean_import import is_all_private
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, timeline
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.worker.api.memory_json import shown
from claude_mem_lite.worker.api.request_project import RequestProjectOrAll
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Limit, Running, Tags, wait

router = Router(prefix="/api")
_EDITED = ("title", "text", "kind", "scope", "tags", "untags")


class Change(Body):
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


@router.patch("/memories/{id_}")
def change(id_: str, wanted: Change, services: Running) -> MemoryRecord:
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
    command: JsonObject = {"command": "forget", "ids": [id_], "session": None, "project": None}
    forgotten = wait(services.commands.put(command))
    return ForgottenMemories(tuple(forgotten))


def _asked(wanted: Change, successor: str) -> list[JsonObject]:
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
