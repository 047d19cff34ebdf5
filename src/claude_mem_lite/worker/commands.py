"""Commands of the user, taken from the inbox like any event, so that recovery can replay them."""

import sqlite3
from contextlib import suppress
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.compress.lessons.reader import kind_asked, scope_asked
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_named
from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import erase, event_history
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import agent_notes, forget, quarantine, remember, user_edits
from claude_mem_lite.knowledge.code_links import Link
from claude_mem_lite.knowledge.lessons import model_verdicts, user_verdicts
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import (
    KINDS,
    MAX_FILES,
    SAVED_BY_AGENT,
    TRUST,
    JsonObject,
    Kind,
    Location,
    Memory,
    Passage,
    text,
    texts,
)
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store import lesson_candidates, memories, model_calls, sessions, timeline, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.projects import lookup, marks, rows
from claude_mem_lite.worker import project_commands, session_job

AMENDING = ("edit", "pin", "confirm", "retire", "reinstate", "supersede", "approve")
FORGETTING = ("forget", "drop")
BY_AGENT = SAVED_BY_AGENT
"""Origin of commands that an agent gives."""
_AGENTS_CONFIDENCE = 0.7


def carry_out(
    name: str,
    payload: JsonObject,
    queue: Queue,
    model_turns: ModelTurns,
    db: sqlite3.Connection,
    code: CodeCache,
    link: Link,
    likeness: Likeness,
    now: datetime,
) -> list[str]:
    """Execute a command under the name of its event; return the ids of the memories concerned."""
    if payload.get("command") == "remember":
        return [_remember(name, payload, queue, db, link, likeness, now)]
    if payload.get("command") == "forget":
        return _forget(name, payload, queue, model_turns, db, now)
    if payload.get("command") == "drop":
        for id_ in texts(payload.get("ids")):
            quarantine.must_wait(memories.get(db, id_))
        return _forget(name, {"ids": payload.get("ids")}, queue, model_turns, db, now)
    if payload.get("command") in project_commands.COMMANDS:
        return [project_commands.carry_out(name, payload, queue, db, now)]
    if payload.get("command") in user_verdicts.COMMANDS:
        return [user_verdicts.carry_out(name, payload, db, now)]
    if payload.get("command") in AMENDING:
        return [_amend(name, payload, db, code, now)]
    raise MemoryLiteError(f"unknown command {payload.get('command')!r}")


def erase_if_forgotten(payload: JsonObject, queue: Queue, db: sqlite3.Connection) -> None:
    """Erase a command about a forgotten memory: its text may repeat the memory."""
    given = text(payload.get("id")).strip().lstrip("#").lower()
    if forgotten := tombstones.beginning_with(db, given):
        erase.erase_mentions(queue, forgotten)


def _amend(name: str, payload: JsonObject, db: sqlite3.Connection, code: CodeCache, now: datetime) -> str:
    memory = memories.get(db, text(payload.get("id")))
    command = payload.get("command")
    if command == "edit":
        user_edits.edit(name, memory, payload, db, now)
    elif command == "pin":
        user_edits.pin(name, memory, payload, db, now)
    elif command == "confirm":
        user_edits.confirm(name, memory, payload, db, code, now)
    elif command == "reinstate":
        user_edits.reinstate(name, memory, db, now)
    elif command == "supersede":
        user_edits.supersede(name, memory, payload, db)
    elif command == "approve":
        quarantine.approve(name, memory, db, now)
    else:
        is_agents = payload.get("by") == BY_AGENT
        if is_agents:
            agent_notes.refuse_agent(db, memory, lookup.locate(db, text(payload.get("cwd"))).project, "retire")
        user_edits.retire(name, memory, payload, db, by_agent=is_agents)
    return memory.id


def _remember(
    name: str,
    payload: JsonObject,
    queue: Queue,
    db: sqlite3.Connection,
    link: Link,
    likeness: Likeness,
    now: datetime,
) -> str:
    words = clean(text(payload.get("text"))).strip()
    named = text(payload.get("kind"))
    kind = next((known for known in KINDS if known == named), None) if named or not words else kind_asked(words)
    if kind is None or not words:
        raise MemoryLiteError("a memory needs a known kind and some text", f"kinds are {', '.join(KINDS)}")
    location = _location(name, payload, queue, db, now)
    heard_in = list(dict.fromkeys((text(payload.get("session")), text(payload.get("named")))))
    # Text that the user typed after a command of this program counts as the user's, though the agent sends it.
    is_agents = payload.get("by") == BY_AGENT and not agent_notes.was_typed(words, heard_in, queue)
    files = texts(payload.get("files"))
    # A memory by an agent is limited to its project: nobody has reviewed it.
    wanted = "project" if is_agents else scope_wanted(payload, words, kind)
    scope = named_scope(db, wanted, location.project)
    at = time_of(name)
    memory = Memory(
        id=short_id(name),
        kind=kind,
        title=user_edits.title_of(words),
        summary=words,
        created_at=at,
        last_seen_at=at,
        scope=scope,
        project=project_of_scope(scope, location.project),
        files=tuple(dict.fromkeys((*files, *files_named(words))))[:MAX_FILES],
        anchors=anchors_named(words),
        tags=texts(payload.get("tags")),
        session=text(payload.get("session")) if is_agents else "",
        branch=location.branch,
        commit=location.commit,
        origin="assistant" if is_agents else "user",
        trust=TRUST["assistant" if is_agents else "user"],
        confidence=_AGENTS_CONFIDENCE if is_agents else 1.0,
        made_by=BY_AGENT if is_agents else "user",
    )
    candidate = None
    if is_agents:
        saved = memories.ids_made_by(db, memory.session, BY_AGENT) if memory.session else set()
        agent_notes.refuse_too_many_saves(len(saved - {memory.id}))
        model_verdicts.refuse_dismissed(db, memory, likeness)
        memory = agent_notes.checked(quarantine.without_approval(memory), heard_in, queue, db)
        candidate = model_verdicts.answered(name, memory, heard_in, queue, db, likeness)
        memory = model_verdicts.as_users_word(memory, candidate) if candidate else memory
    memory = link(memory, location, text(payload.get("cwd")) or location.root)
    with atomic(db):
        stored = remember.add(db, memory, name, now)
        if candidate is not None:
            lesson_candidates.put(db, candidate)
            lesson_candidates.decide(db, candidate.id, "promoted", at, stored.id)
        if payload.get("project"):  # the folder may belong to another project by now
            sessions.note_project(db, location.project, at)
        else:
            marks.note(db, location, at)
            rows.note_folder(db, stored.id, location)
        remember.reconcile(db, stored, name, now)
        return stored.id


def scope_wanted(payload: JsonObject, words: str, kind: Kind | None) -> str:
    """Return the scope of a user's text: from the command, else from the text and the named kind."""
    usual = "project" if payload.get("files") else scope_asked(words, kind if payload.get("kind") else None)
    return text(payload.get("scope")) or usual


def _location(name: str, payload: JsonObject, queue: Queue, db: sqlite3.Connection, now: datetime) -> Location:
    """Return the location of the user, or of the named project."""
    if project := text(payload.get("project")):
        return lookup.location_of(db, marks.current_id(db, project))
    where = session_job.locate_event(name, text(payload.get("cwd")), queue, db, now)
    if not event_history.findings_of(queue, name):
        event_history.note_findings(queue, name, where.found)
    return where.location


def memory_named(db: sqlite3.Connection, given: str) -> Memory:
    """Return a memory by its id or the beginning of its id; NotFound says so when the id names a turn or a session."""
    try:
        return memories.get(db, given)
    except NotFound as error:
        try:
            other = timeline.find(db, given)
        except NotFound:
            raise error from None
    if isinstance(other, Passage) and other.kind == "turn":
        raise NotFound(
            f"{given} is a turn of session {other.session}, not a memory",
            f"`claude-mem-lite show {given}` shows it, `forget {given}` removes it",
        )
    session = other.session if isinstance(other, Passage) else other.id
    raise NotFound(f"{given} is a session", f"`claude-mem-lite forget --session {session}` removes all of it")


def _memory_or_turn(db: sqlite3.Connection, given: str) -> Memory | Passage:
    """Return a record that can be forgotten by its id: a memory, or a turn with all its memories."""
    try:
        return memory_named(db, given)
    except NotFound:
        with suppress(NotFound):
            other = timeline.find(db, given)
            if isinstance(other, Passage) and other.kind == "turn":
                return other
        raise


def _refuse_to_agent(payload: JsonObject, queue: Queue, db: sqlite3.Connection) -> None:
    """Raise MemoryLiteError when an agent wants to forget too much, or memories of the user."""
    ids = texts(payload.get("ids"))
    session = text(payload.get("asked_in"))
    agent_notes.refuse_too_many_forgotten(
        ids, event_history.forgotten_for(queue.db, session, BY_AGENT) if session else 0
    )
    here = lookup.locate(db, text(payload.get("cwd"))).project
    for id_ in ids:
        agent_notes.refuse_agent(db, memory_named(db, id_), here, "forget")


def _forget(
    name: str, payload: JsonObject, queue: Queue, model_turns: ModelTurns, db: sqlite3.Connection, now: datetime
) -> list[str]:
    """Remove memories from every table, the index and the inbox; sessions and projects with their contents."""
    with atomic(db):
        forget.leave_replaced_again(db, name)
    if payload.get("by") == BY_AGENT:
        _refuse_to_agent(payload, queue, db)
        payload = {"ids": payload.get("ids")}
    session, project = text(payload.get("session")) or None, text(payload.get("project")) or None
    project = lookup.named(db, project) if project else None
    session = timeline.session_named(db, session) if session else None
    named = [_memory_or_turn(db, wanted) for wanted in texts(payload.get("ids"))]
    turns = {record.id: passages.source_of_turn(db, record.id) for record in named if isinstance(record, Passage)}
    ids = [record.id for record in named if isinstance(record, Memory)]
    ids += [id_ for turn in turns.values() for id_ in forget.made_in(db, turn)]
    ids = list(dict.fromkeys((*ids, *memories.ids_of(db, session=session, project=project))))
    whole = ([session] if session else []) + (sessions.ids_of_project(db, project) if project else [])
    if not ids and not turns and not any(sessions.find(db, session_id) for session_id in whole):
        raise NotFound("there is nothing to forget by that name", "`claude-mem-lite list` shows what there is")
    known_as = {project, *marks.former_ids(db, project)} if project else set()
    with atomic(db):
        gone = forget.forget(db, ids, whole, now, whole_turns=list(turns.values()), project=project, command=name)
        model_calls.forget(db, gone.turns, whole)
        # Inside the transaction: after a crash the memories still name the events to erase.
        model_turns.erase(turns=gone.turns, sessions=whole)
        erase.erase(queue, turns=gone.turns, sessions=whole)
        erase.erase_mentions(queue, {*gone.memories, *gone.candidates, *whole})
        erase.erase_answers(queue, {*gone.turns, *gone.candidates, *whole})
        if known_as:
            erase.erase_project_changes(queue, known_as)
        erase.add_tombstones(queue.db, tombstones.since(db, now), {*gone.memories, *gone.turns, *gone.sessions})
    empty_log(db)
    return [*gone.memories, *turns]
