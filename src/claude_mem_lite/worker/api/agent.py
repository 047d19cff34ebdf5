"""API for agents: context within the budgets of a session, saving, forgetting, retiring.

An agent may have read untrusted text a moment ago: a text from an agent never counts as a statement of the user, and an
agent may not remove statements of the user."""

from contextlib import closing
from typing import Annotated

from pydantic import ConfigDict, Field

from claude_mem_lite.config import is_excluded
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.knowledge.agent_notes import MAX_FORGOTTEN
from claude_mem_lite.models import Kind, Memory
from claude_mem_lite.responses.encoding import response_from
from claude_mem_lite.responses.memories import (
    AgentContext,
    AgentLocation,
    ForgottenByAgent,
    ForgottenMemory,
    MemoryRecord,
    MemoryRelations,
    SavedMemory,
    SentResponse,
)
from claude_mem_lite.safety.clean_import import has_private
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.scopes import written_scope
from claude_mem_lite.store import memories, sessions
from claude_mem_lite.store.projects import lookup
from claude_mem_lite.worker.answers import agent_query
from claude_mem_lite.worker.answers.reply import mark_printed, record
from claude_mem_lite.worker.api import agent_gate
from claude_mem_lite.worker.api.memories import Files, Tags, related, require_words, shown
from claude_mem_lite.worker.api.routing import Body, From, RoutedRequest, Router, Running, require_settings, wait
from claude_mem_lite.worker.commands import BY_AGENT, memory_named
from claude_mem_lite.worker.services import Services

MAX_SAVED_LENGTH = 2_000
router = Router(prefix="/api/ask")


def _is_control(call: RoutedRequest) -> bool:
    return agent_gate.is_control(call.request, call.services)


ControlAgent = Annotated[bool, From(_is_control)]
"""True if the agent may be a control session: it gets no word of a stored memory."""


class AgentBody(Body):
    model_config = ConfigDict(extra="forbid")

    cwd: str
    session: str = ""
    """The session that asks, as its agent names it; it may be over, and another at work."""


class Ask(AgentBody):
    query: str = ""
    scope: str = ""
    category: str = ""


class Save(AgentBody):
    named: str = ""
    """The session that the agent's client names, when another was found to be at work: what that heard counts too."""
    kind: Kind | None = None
    """Guessed when it is not given."""
    text: str
    scope: str = ""
    tags: Tags = Field(default_factory=list)
    files: Files = Field(default_factory=list)


class ForgetByAgent(AgentBody):
    ids: Annotated[list[str], Field(min_length=1, max_length=MAX_FORGOTTEN)]


class Retire(AgentBody):
    id: str
    reason: str = ""


class Sent(Body):
    name: str


@router.post("/here")
def here(wanted: AgentBody, services: Running) -> AgentLocation:
    """Return the project and the session of an agent; refuse excluded folders."""
    _refuse_excluded(services, wanted.cwd)
    with closing(services.readers.open()) as db:
        location = lookup.locate(db, wanted.cwd)
        return AgentLocation(location.project, sessions.at_work(db, wanted.session, wanted.cwd, location.project))


@router.post("")
def context(wanted: Ask, services: Running) -> AgentContext:
    """Return the text for a query, or for a session start. It counts as injected after `sent`."""
    _refuse_excluded(services, wanted.cwd)
    now = services.clock()
    with closing(services.readers.open()) as db:
        location = lookup.locate(db, wanted.cwd)
        session = sessions.at_work(db, wanted.session, wanted.cwd, location.project)
        asker = agent_query.Querier(session, location, now, agent_query.usage_of(services.in_flight.known(db, session)))
        if wanted.query.strip():
            answer = agent_query.answer_query(services, db, asker, wanted.query, wanted.scope, wanted.category)
        else:
            answer = agent_query.answer_start(services, asker)
    receipt = answer.receipt
    if receipt is not None:
        wait(record(services, receipt))
    return AgentContext(
        text=answer.text,
        tokens=receipt.tokens if receipt else 0,
        items=tuple(item.source for item in receipt.items) if receipt else (),
        name=receipt.spool_name if receipt else "",
    )


@router.post("/sent")
def sent(wanted: Sent, services: Running) -> SentResponse:
    """Mark a context as injected: the agent has received it."""
    wait(mark_printed(services, wanted.name))
    return SentResponse(sent=True)


@router.post("/save")
def save(wanted: Save, services: Running, is_control: ControlAgent) -> SavedMemory:
    """Store a note of the agent."""
    _refuse_excluded(services, wanted.cwd)
    if len(wanted.text) > MAX_SAVED_LENGTH:
        raise MemoryLiteError(
            f"{len(wanted.text):,} characters are no memory", f"say it in a few sentences, under {MAX_SAVED_LENGTH:,}"
        )
    require_words(wanted.text)
    body = wanted.model_dump()
    with closing(services.readers.open()) as db:
        location = lookup.locate(db, wanted.cwd)
        asked_scope = _wider_scope(wanted.scope, location.project)
        body["session"] = sessions.at_work(db, wanted.session, wanted.cwd, location.project)
    (id_,) = wait(services.commands.put({"command": "remember", "by": BY_AGENT, **body}))
    with closing(services.readers.open()) as db:
        memory = memories.get(db, id_)
        return response_from(
            SavedMemory,
            memory,
            MemoryRelations() if is_control else related(db, [memory])[memory.id],
            title="" if is_control and memory.times_seen > 1 else memory.title,
            asked_scope=asked_scope,
            is_redacted=redact(wanted.text) != wanted.text,
            has_private=has_private(wanted.text),
        )


@router.post("/forget")
def forget(wanted: ForgetByAgent, services: Running, is_control: ControlAgent) -> ForgottenByAgent:
    """Remove memories for good, but none of the user's."""
    _refuse_excluded(services, wanted.cwd)
    with closing(services.readers.open()) as db:
        found = {memory.id: memory for memory in (memories.get(db, id_) for id_ in wanted.ids)}
        session = sessions.at_work(db, wanted.session, wanted.cwd, lookup.locate(db, wanted.cwd).project)
    # By their whole ids: the beginning of one may fit another when this is replayed.
    command = {"command": "forget", "by": BY_AGENT, "asked_in": session, "ids": list(found), "cwd": wanted.cwd}
    gone = wait(services.commands.put(command))
    named = (
        ForgottenMemory(each.id, "" if is_control else each.kind, "" if is_control else each.title)
        for each in found.values()
        if each.id in gone
    )
    return ForgottenByAgent(forgotten=tuple(named), others=len(set(gone) - set(found)), ids=tuple(gone))


@router.post("/retire")
def retire(wanted: Retire, services: Running, is_control: ControlAgent) -> MemoryRecord:
    """Retire a memory that is not the user's, and return the memory; without its text for a control session."""
    _refuse_excluded(services, wanted.cwd)
    with closing(services.readers.open()) as db:
        id_ = memory_named(db, wanted.id).id
    command = {"command": "retire", "by": BY_AGENT, "id": id_, "reason": wanted.reason, "cwd": wanted.cwd}
    wait(services.commands.put(command))
    with closing(services.readers.open()) as db:
        memory = memories.get(db, id_)
        return _without_text(memory) if is_control else shown(db, memory)


def _without_text(memory: Memory) -> MemoryRecord:
    times = memory.created_at.isoformat(), memory.last_seen_at.isoformat()
    return MemoryRecord(memory.id, "", "", "", *times, memory.scope, memory.project, memory.status)


def _wider_scope(scope: str, project: str) -> str:
    """Return the scope that an agent asks for beyond its own project, or ''; agents do not get such a scope."""
    meant = written_scope(scope) if scope else "project"
    if meant is None:
        raise MemoryLiteError(f"{scope[:40]!r} is no scope", "leave the scope out: your notes hold in this project")
    if meant in ("project", f"project:{project}"):
        return ""
    if meant.startswith("project:"):
        raise MemoryLiteError(
            "an agent saves for the project in which it works, and for no other", "leave out the scope"
        )
    return meant


def _refuse_excluded(services: Services, cwd: str) -> None:
    require_settings(services, "nothing is given")
    if is_excluded(services.settings.config, cwd):
        raise MemoryLiteError(
            "this folder is excluded from memory: nothing of it is kept, and nothing given here",
            "go on without; the user can change `exclude` in config.toml, or in the project's own file",
        )
