"""The API of what agents ask for themselves: context within the budgets of a session, and what they save and forget.

An agent may have read anything a moment ago: what it says is its own word, never the user's, and what the user said
is not its to remove."""

import logging
import sqlite3
from typing import Annotated

from pydantic import ConfigDict, Field

from claude_mem_lite.config import is_excluded
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import ConfigError, MemoryLiteError
from claude_mem_lite.models import Kind, Receipt
from claude_mem_lite.places import find_place
from claude_mem_lite.store import memories, receipts
from claude_mem_lite.store.asking import asked, session_at_work
from claude_mem_lite.worker import asking
from claude_mem_lite.worker.api import Running, Tags, opened, wait
from claude_mem_lite.worker.commands import BY_AGENT, MOST_FORGOTTEN
from claude_mem_lite.worker.loop import Loop
from claude_mem_lite.worker.relations import related
from claude_mem_lite.worker.routing import Body, Router

LONGEST_SAVED = 2_000
_CONFIG_LOOK_S = 1.0
log = logging.getLogger(__name__)
router = Router(prefix="/api/ask")


class Asker(Body):
    model_config = ConfigDict(extra="forbid")

    cwd: str
    session: str = ""
    """The session that asks, as its agent names it; it may be over, and another at work."""


class Ask(Asker):
    query: str = ""
    scope: str = ""
    category: str = ""


class Save(Asker):
    kind: Kind
    text: str
    scope: str = ""
    tags: Tags = Field(default_factory=list)


class Forget(Asker):
    ids: Annotated[list[str], Field(min_length=1, max_length=MOST_FORGOTTEN)]


class Sent(Body):
    name: str


@router.post("/here")
def here(wanted: Asker, loop: Running) -> dict[str, object]:
    """Where an agent stands; refused where nothing is to be given or kept."""
    _refuse_excluded(loop, wanted.cwd)
    place = find_place(wanted.cwd)
    with opened(loop.home.memory_db) as db:
        return {"project": place.project, "session": session_at_work(db, wanted.session, wanted.cwd, place.project)}


@router.post("")
def context(wanted: Ask, loop: Running) -> dict[str, object]:
    """What a session is told about its question, or at its start. It counts as given once `sent` says so."""
    _refuse_excluded(loop, wanted.cwd)
    place, now = find_place(wanted.cwd), loop.clock()
    with opened(loop.home.memory_db) as db:
        session = session_at_work(db, wanted.session, wanted.cwd, place.project)
        asker = asking.Asker(session, place, now, asked(db, session))
        if wanted.query.strip():
            told = asking.about(loop, db, asker, wanted.query, wanted.scope, wanted.category)
        else:
            told = asking.start(loop, asker)
    receipt = told.receipt
    if receipt is not None:
        wait(loop.call(lambda db: _record(db, receipt)))
    return {
        "text": told.text,
        "tokens": receipt.tokens if receipt else 0,
        "items": [item.source for item in receipt.items] if receipt else [],
        "name": receipt.spool_name if receipt else "",
    }


@router.post("/sent")
def sent(wanted: Sent, loop: Running) -> dict[str, object]:
    """An answer has reached the agent: now it counts as given."""
    now = loop.clock()

    def mark(db: sqlite3.Connection) -> None:
        with atomic(db):
            receipts.mark_given(db, wanted.name, now)

    wait(loop.call(mark))
    return {"sent": True}


@router.post("/save")
def save(wanted: Save, loop: Running) -> dict[str, object]:
    """Store what the agent says, as its word."""
    _refuse_excluded(loop, wanted.cwd)
    if len(wanted.text) > LONGEST_SAVED:
        raise MemoryLiteError(
            f"{len(wanted.text):,} characters are no memory", f"say it in a few sentences, under {LONGEST_SAVED:,}"
        )
    told = wanted.model_dump()
    place = find_place(wanted.cwd)
    with opened(loop.home.memory_db) as db:
        told["session"] = session_at_work(db, wanted.session, wanted.cwd, place.project)
    (id_,) = wait(loop.command({"command": "remember", "by": BY_AGENT, **told}))
    with opened(loop.home.memory_db) as db:
        memory = memories.get(db, id_)
        return {
            "id": memory.id,
            "kind": memory.kind,
            "status": memory.status,
            "title": memory.title,
            "scope": memory.scope,
            "times_seen": memory.times_seen,
            **related(db, [memory])[memory.id],
        }


@router.post("/forget")
def forget(wanted: Forget, loop: Running) -> dict[str, object]:
    """Remove memories for good, but none of the user's; what was removed by title, and how many went along."""
    _refuse_excluded(loop, wanted.cwd)
    with opened(loop.home.memory_db) as db:
        found = {memory.id: memory for memory in (memories.get(db, id_) for id_ in wanted.ids)}
    # By their whole ids: the beginning of one may fit another when this is replayed.
    command = {"command": "forget", "by": BY_AGENT, "ids": list(found), "cwd": wanted.cwd}
    gone = wait(loop.command(command))
    named = [{"id": one.id, "kind": one.kind, "title": one.title} for one in found.values() if one.id in gone]
    return {"forgotten": named, "others": len(set(gone) - set(found))}


def _refuse_excluded(loop: Loop, cwd: str) -> None:
    if loop.problem or not loop.knows_settings():
        loop.settle(_CONFIG_LOOK_S)  # they were changed just now
    if loop.problem:
        raise ConfigError(f"the configuration is broken: {loop.problem}", "until it is mended, nothing is given")
    if is_excluded(loop.config, cwd):
        raise MemoryLiteError(
            "this folder is excluded from memory: nothing of it is kept, and nothing given here",
            "go on without; the user can change `exclude` in config.toml",
        )


def _record(db: sqlite3.Connection, receipt: Receipt) -> None:
    with atomic(db):
        receipts.add(db, receipt)
    log.info(
        "context built",
        extra={"session": receipt.session, "tokens": receipt.tokens, "ms": receipt.build_ms, "cost_usd": 0.0},
    )
