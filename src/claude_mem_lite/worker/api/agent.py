"""The API of what agents ask for themselves: context within the budgets of a session, and what they save and forget.

An agent may have read anything a moment ago: what it says is its own word, never the user's, and what the user said
is not its to remove."""

from contextlib import closing
from typing import Annotated

from pydantic import ConfigDict, Field

from claude_mem_lite.config import is_excluded
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge.agent_notes import MAX_FORGOTTEN
from claude_mem_lite.models import Kind
from claude_mem_lite.safety.clean_import import has_private
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.scopes import written_scope
from claude_mem_lite.store import memories, sessions
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers import agent_query
from claude_mem_lite.worker.answers.reply import mark_printed, record
from claude_mem_lite.worker.api.memory_json import related, shown
from claude_mem_lite.worker.api.routing import Body, Router
from claude_mem_lite.worker.api.status import Files, Running, Tags, require_settings, require_words, wait
from claude_mem_lite.worker.commands import BY_AGENT, memory_named
from claude_mem_lite.worker.loop import Loop

MAX_SAVED_LENGTH = 2_000
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
    named: str = ""
    """The session that the agent's client names, when another was found to be at work: what that heard counts too."""
    kind: Kind | None = None
    """Guessed when it is not given."""
    text: str
    scope: str = ""
    tags: Tags = Field(default_factory=list)
    files: Files = Field(default_factory=list)


class Forget(Asker):
    ids: Annotated[list[str], Field(min_length=1, max_length=MAX_FORGOTTEN)]


class Retire(Asker):
    id: str
    reason: str = ""


class Sent(Body):
    name: str


@router.post("/here")
def here(wanted: Asker, loop: Running) -> dict[str, object]:
    """Where an agent stands; refused where nothing is to be given or kept."""
    _refuse_excluded(loop, wanted.cwd)
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, wanted.cwd)
        return {"project": place.project, "session": sessions.at_work(db, wanted.session, wanted.cwd, place.project)}


@router.post("")
def context(wanted: Ask, loop: Running) -> dict[str, object]:
    """What a session is told about its question, or at its start. It counts as given once `sent` says so."""
    _refuse_excluded(loop, wanted.cwd)
    now = loop.clock()
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, wanted.cwd)
        session = sessions.at_work(db, wanted.session, wanted.cwd, place.project)
        asker = agent_query.Asker(session, place, now, agent_query.asked(loop.on_their_way.known(db, session)))
        if wanted.query.strip():
            told = agent_query.about(loop, db, asker, wanted.query, wanted.scope, wanted.category)
        else:
            told = agent_query.start(loop, asker)
    receipt = told.receipt
    if receipt is not None:
        wait(record(loop, receipt))
    return {
        "text": told.text,
        "tokens": receipt.tokens if receipt else 0,
        "items": [item.source for item in receipt.items] if receipt else [],
        "name": receipt.spool_name if receipt else "",
    }


@router.post("/sent")
def sent(wanted: Sent, loop: Running) -> dict[str, object]:
    """An answer has reached the agent: now it counts as given."""
    wait(mark_printed(loop, wanted.name))
    return {"sent": True}


@router.post("/save")
def save(wanted: Save, loop: Running) -> dict[str, object]:
    """Store what the agent says, as its word."""
    _refuse_excluded(loop, wanted.cwd)
    if len(wanted.text) > MAX_SAVED_LENGTH:
        raise MemoryLiteError(
            f"{len(wanted.text):,} characters are no memory", f"say it in a few sentences, under {MAX_SAVED_LENGTH:,}"
        )
    require_words(wanted.text)
    told = wanted.model_dump()
    with closing(loop.readers.open()) as db:
        place = lookup.locate(db, wanted.cwd)
        asked_scope = _wider_scope(wanted.scope, place.project)
        told["session"] = sessions.at_work(db, wanted.session, wanted.cwd, place.project)
    (id_,) = wait(loop.command({"command": "remember", "by": BY_AGENT, **told}))
    with closing(loop.readers.open()) as db:
        memory = memories.get(db, id_)
        return {
            "id": memory.id,
            "kind": memory.kind,
            "status": memory.status,
            "title": memory.title,
            "scope": memory.scope,
            "asked_scope": asked_scope,
            "origin": memory.origin,
            "times_seen": memory.times_seen,
            "is_redacted": redact(wanted.text) != wanted.text,
            "has_private": has_private(wanted.text),
            **related(db, [memory])[memory.id],
        }


@router.post("/forget")
def forget(wanted: Forget, loop: Running) -> dict[str, object]:
    """Remove memories for good, but none of the user's; what was removed by title, and how many went along."""
    _refuse_excluded(loop, wanted.cwd)
    with closing(loop.readers.open()) as db:
        found = {memory.id: memory for memory in (memories.get(db, id_) for id_ in wanted.ids)}
        session = sessions.at_work(db, wanted.session, wanted.cwd, lookup.locate(db, wanted.cwd).project)
    # By their whole ids: the beginning of one may fit another when this is replayed.
    command = {"command": "forget", "by": BY_AGENT, "asked_in": session, "ids": list(found), "cwd": wanted.cwd}
    gone = wait(loop.command(command))
    named = [{"id": one.id, "kind": one.kind, "title": one.title} for one in found.values() if one.id in gone]
    return {"forgotten": named, "others": len(set(gone) - set(found)), "ids": gone}


@router.post("/retire")
def retire(wanted: Retire, loop: Running) -> dict[str, object]:
    """Retire a memory that is not the user's, and return it as it is now."""
    _refuse_excluded(loop, wanted.cwd)
    with closing(loop.readers.open()) as db:
        id_ = memory_named(db, wanted.id).id
    command = {"command": "retire", "by": BY_AGENT, "id": id_, "reason": wanted.reason, "cwd": wanted.cwd}
    wait(loop.command(command))
    with closing(loop.readers.open()) as db:
        return shown(db, memories.get(db, id_))


def _wider_scope(scope: str, project: str) -> str:
    """The scope that an agent wants beyond its own project, '' when none: it does not get it, and is told so."""
    meant = written_scope(scope) if scope else "project"
    if meant is None:
        raise MemoryLiteError(f"{scope[:40]!r} is no scope", "leave it out: what you save holds in this project")
    if meant in ("project", f"project:{project}"):
        return ""
    if meant.startswith("project:"):
        raise MemoryLiteError(
            "an agent saves for the project in which it works, and for no other", "leave out the scope"
        )
    return meant


def _refuse_excluded(loop: Loop, cwd: str) -> None:
    require_settings(loop, "nothing is given")
    if is_excluded(loop.config, cwd):
        raise MemoryLiteError(
            "this folder is excluded from memory: nothing of it is kept, and nothing given here",
            "go on without; the user can change `exclude` in config.toml, or in the project's own file",
        )
