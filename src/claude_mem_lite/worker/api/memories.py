"""The API that changes one memory on the user's word: edit, pin, confirm, retire, reinstate, supersede, forget.

Writes through the inbox.

The API of the quarantine: what waits there for the user's word, and that word. Writes through the inbox."""

from contextlib import closing
from dataclasses import asdict
from typing import Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.knowledge import quarantine
from claude_mem_lite.models import MAX_TEXT_LENGTH, Filters, JsonObject, Kind
from claude_mem_lite.safety.clean_import import is_all_private
from claude_mem_lite.store import memories, memory_history
from claude_mem_lite.store.memory_queries import listed
from claude_mem_lite.worker.api.memory_json import shown
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Limit, Running, Tags, project_of, wait
from claude_mem_lite.worker.loop import Loop

router = Router(prefix="/api")
_EDITED = ("title", "text", "kind", "scope", "tags", "untags")


class Change(Body):
    """What is to be another; what is not named stays as it is."""

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
def change(id_: str, wanted: Change, loop: Running) -> dict[str, object]:
    """Change a memory and return it as it is now."""
    for value in (wanted.title, wanted.text):
        if value is not None and is_all_private(value):
            raise MemoryLiteError("a memory needs a title and some text", "`claude-mem-lite forget` removes one")
        if value is not None and len(value) > MAX_TEXT_LENGTH:
            raise MemoryLiteError(f"{len(value):,} characters are no memory", f"keep it under {MAX_TEXT_LENGTH:,}")
    with closing(loop.readers.open()) as db:
        memory = memories.get(db, id_)
        cwd = wanted.cwd if wanted.cwd is not None else memory_history.own_project(db, memory.project).root
        successor = memories.get(db, wanted.superseded_by).id if wanted.superseded_by else ""
    asked = _asked(wanted, successor)
    if not asked:
        raise MemoryLiteError("nothing is to be changed", "name what is to be another")
    for one in asked:
        # By its whole id: the beginning may fit another one when this is replayed.
        wait(loop.command({**one, "id": memory.id, "cwd": cwd}))
    return _shown(loop, memory.id)


@router.delete("/memories/{id_}")
def forget(id_: str, loop: Running) -> dict[str, object]:
    """Remove one memory for good."""
    return {"forgotten": wait(loop.command({"command": "forget", "ids": [id_], "session": None, "project": None}))}


def _shown(loop: Loop, id_: str) -> dict[str, object]:
    """A memory as it is now."""
    with closing(loop.readers.open()) as db:
        return shown(db, memories.get(db, id_))


def _asked(wanted: Change, successor: str) -> list[JsonObject]:
    """The commands that a change comes to, in order."""
    told = wanted.model_dump()
    asked: list[JsonObject] = []
    if any(told[name] for name in _EDITED):
        asked.append({"command": "edit", **{name: told[name] for name in _EDITED}})
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


class Named(Body):
    """The memories that are meant, by their ids or the beginnings of them."""

    model_config = ConfigDict(extra="forbid")

    ids: list[str]


@router.get("/quarantine")
def waiting(
    loop: Running, cwd: str = "", all_projects: bool = True, project: str = "", limit: Limit = 50
) -> dict[str, object]:
    """What waits, newest first, each with the reason: of all projects, or what holds in a folder's."""
    wanted = Filters(project=project_of(loop, cwd, all_projects, project), statuses=("quarantined",))
    with closing(loop.readers.open()) as db:
        found = listed(db, wanted, limit)
    return {"memories": [{**asdict(one), "reason": quarantine.reason_of(one)} for one in found]}


@router.post("/quarantine/approve")
def approve(named: Named, loop: Running) -> dict[str, object]:
    """Let them out: they are found and told when asked."""
    ids = _in_quarantine(named, loop)
    for id_ in ids:
        wait(loop.command({"command": "approve", "id": id_}))
    return {"approved": ids}


@router.post("/quarantine/drop")
def drop(named: Named, loop: Running) -> dict[str, object]:
    """Forget them for good; those that are gone already are passed over."""
    ids = _in_quarantine(named, loop, may_be_gone=True)
    return {"dropped": wait(loop.command({"command": "drop", "ids": list(ids)}))}


def _in_quarantine(named: Named, loop: Running, *, may_be_gone: bool = False) -> list[str]:
    """Their whole ids: the beginning of one may fit another when the command is replayed."""
    if not named.ids:
        raise MemoryLiteError("no memory is named", "`claude-mem-lite quarantine` lists what waits")
    with closing(loop.readers.open()) as db:
        found = []
        for id_ in dict.fromkeys(named.ids):
            try:
                found.append(memories.get(db, id_))
            except NotFound:
                if not may_be_gone:
                    raise
    for memory in found:
        quarantine.must_wait(memory)
    return [memory.id for memory in found]
