"""The API that changes one memory on the user's word: edit, pin, confirm, retire, forget. Writes through the inbox."""

from contextlib import closing
from dataclasses import asdict
from typing import Literal

from pydantic import ConfigDict, Field

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.models import JsonObject, Kind
from claude_mem_lite.store import memories
from claude_mem_lite.worker.api import LONGEST_MEMORY, Running, Tags, wait
from claude_mem_lite.worker.relations import related
from claude_mem_lite.worker.routing import Body, Router

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
    cwd: str = ""
    """Where the user stands: the project that `project` means, and the code that is confirmed."""


@router.patch("/memories/{id_}")
def change(id_: str, wanted: Change, loop: Running) -> dict[str, object]:
    """Change a memory and return it as it is now."""
    for value in (wanted.title, wanted.text):
        if value is not None and not value.strip():
            raise MemoryLiteError("a memory needs a title and some text", "`claude-mem-lite forget` removes one")
        if value is not None and len(value) > LONGEST_MEMORY:
            raise MemoryLiteError(f"{len(value):,} characters are no memory", f"keep it under {LONGEST_MEMORY:,}")
    with closing(loop.readers.open()) as db:
        whole = memories.get(db, id_).id  # by its whole id: the beginning may fit another one when this is replayed
    asked = _asked(wanted)
    if not asked:
        raise MemoryLiteError("nothing is to be changed", "name what is to be another")
    for one in asked:
        wait(loop.command({**one, "id": whole, "cwd": wanted.cwd}))
    with closing(loop.readers.open()) as db:
        memory = memories.get(db, whole)
        return {**asdict(memory), **related(db, [memory])[whole]}


@router.delete("/memories/{id_}")
def forget(id_: str, loop: Running) -> dict[str, object]:
    """Remove one memory for good."""
    return {"forgotten": wait(loop.command({"command": "forget", "ids": [id_], "session": None, "project": None}))}


def _asked(wanted: Change) -> list[JsonObject]:
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
    return asked
