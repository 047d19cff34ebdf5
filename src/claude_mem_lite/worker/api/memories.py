"""The API that changes one memory on the user's word: edit, pin, confirm, retire, reinstate, supersede, forget.

Writes through the inbox."""

from contextlib import closing
from typing import Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import LONGEST_TEXT, JsonObject, Kind
from claude_mem_lite.safety.clean_import import is_all_private
from claude_mem_lite.store import memories, memory_history
from claude_mem_lite.worker.api.memory_json import shown
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Running, Tags, wait
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
        if value is not None and len(value) > LONGEST_TEXT:
            raise MemoryLiteError(f"{len(value):,} characters are no memory", f"keep it under {LONGEST_TEXT:,}")
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
