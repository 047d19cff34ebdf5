"""What the user does by command, taken from the inbox like any event, so that recovery can replay it."""

import sqlite3
from contextlib import suppress
from dataclasses import asdict, fields
from datetime import datetime

from claude_mem_lite.code.freshness.code_cache import CodeCache
from claude_mem_lite.compress.lessons.reader import kind_asked, scope_asked
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_named
from claude_mem_lite.db.connection import atomic, empty_log
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.event_names import time_of
from claude_mem_lite.inbox import erase, event_findings, event_history
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import agent_notes, forget, ownership, quarantine, reconcile, remember, user_edits
from claude_mem_lite.knowledge.code_links import Tie
from claude_mem_lite.knowledge.lessons import save_links, user_verdicts
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.user_edits import named_scope
from claude_mem_lite.models import (
    KINDS,
    MAX_FILES,
    SAVED_BY_AGENT,
    TRUST,
    JsonObject,
    Kind,
    Memory,
    Passage,
    Place,
    text,
    texts,
)
from claude_mem_lite.scopes import project_of_scope
from claude_mem_lite.store import lesson_candidates, memories, model_calls, sessions, timeline, tombstones
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import passages
from claude_mem_lite.store.projects import changes, lookup, marks, rows, splits
from claude_mem_lite.store.projects.splits import SplitPlan
from claude_mem_lite.worker import event_location

AMENDING = ("edit", "pin", "confirm", "retire", "reinstate", "supersede", "approve")
FORGETTING = ("forget", "drop")
PROJECT_COMMANDS = ("merge_projects", "rename_project", "move_project", "split_project", "undo_project_change")
BY_AGENT = SAVED_BY_AGENT
"""Who gives a command when it is not the user."""
_AGENTS_CONFIDENCE = 0.7


def carry_out(
    name: str,
    payload: JsonObject,
    queue: Queue,
    model_turns: ModelTurns,
    db: sqlite3.Connection,
    code: CodeCache,
    tie: Tie,
    likeness: Likeness,
    now: datetime,
) -> list[str]:
    """Do what a command says, under the name of its event; returns the ids of the memories concerned."""
    if payload.get("command") == "remember":
        return [_remember(name, payload, queue, db, tie, likeness, now)]
    if payload.get("command") == "forget":
        return _forget(name, payload, queue, model_turns, db, now)
    if payload.get("command") == "drop":
        for id_ in texts(payload.get("ids")):
            quarantine.must_wait(memories.get(db, id_))
        return _forget(name, {"ids": payload.get("ids")}, queue, model_turns, db, now)
    if payload.get("command") in PROJECT_COMMANDS:
        return [_change_projects(name, payload, queue, db, now)]
    if payload.get("command") in user_verdicts.COMMANDS:
        return [user_verdicts.carry_out(name, payload, db, now)]
    if payload.get("command") in AMENDING:
        return [_amend(name, payload, db, code, now)]
    raise MemoryLiteError(f"unknown command {payload.get('command')!r}")


def erase_if_forgotten(payload: JsonObject, queue: Queue, db: sqlite3.Connection) -> None:
    """Remove a command that came for a memory after that was forgotten: it may say it once more."""
    given = text(payload.get("id")).strip().lstrip("#").lower()
    if forgotten := tombstones.beginning_with(db, given):
        erase.erase_telling_of(queue, forgotten)


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
            ownership.refuse_agent(db, memory, lookup.locate(db, text(payload.get("cwd"))).project, "retire")
        user_edits.retire(name, memory, payload, db, by_agent=is_agents)
    return memory.id


def _change_projects(name: str, payload: JsonObject, queue: Queue, db: sqlite3.Connection, now: datetime) -> str:
    """Merge, rename, move or split projects, or undo that; return the id of the change."""
    change, at = short_id(name), time_of(name)
    source, target = text(payload.get("source")), text(payload.get("target"))
    if payload.get("command") == "move_project":
        taken_by = _takers(name, source, target, queue, db)
    elif payload.get("command") == "split_project":
        split = _split(name, source, target, queue, db)
    with atomic(db):
        if payload.get("command") == "merge_projects":
            source, target = marks.current_id(db, source), marks.current_id(db, target)
            changes.merge(db, change, source, target, at)
        elif payload.get("command") == "rename_project":
            changes.rename(db, change, marks.current_id(db, source), target, at)
        elif payload.get("command") == "move_project":
            changes.move(db, change, source, target, at, taken_by)
        elif payload.get("command") == "split_project":
            changes.split(db, change, split, at)
        else:
            change = changes.undo(db, text(payload.get("change")), now).id
    return change


def _takers(name: str, old: str, new: str, queue: Queue, db: sqlite3.Connection) -> dict[str, str]:
    """Return the projects that take in those that move, as they were when the command was first carried out."""
    found = event_findings.of_event(queue, name).get("takers")
    if not isinstance(found, dict):
        found = dict(changes.takers(db, old, new))
        event_findings.note(queue, name, {"takers": found})
    return {folder: text(project) for folder, project in found.items()}


def _split(name: str, folder: str, called: str, queue: Queue, db: sqlite3.Connection) -> SplitPlan:
    """Return what is to be split, as it was when the command was first carried out."""
    found = event_findings.of_event(queue, name).get("split")
    if not isinstance(found, dict):
        split = splits.plan(db, folder, called)
        event_findings.note(queue, name, {"split": {**asdict(split), "elsewhere": list(split.elsewhere)}})
        return split
    told = {field.name: text(found.get(field.name)) for field in fields(SplitPlan) if field.name != "elsewhere"}
    return SplitPlan(**told, elsewhere=texts(found.get("elsewhere")))


def _remember(
    name: str,
    payload: JsonObject,
    queue: Queue,
    db: sqlite3.Connection,
    tie: Tie,
    likeness: Likeness,
    now: datetime,
) -> str:
    words = clean(text(payload.get("text"))).strip()
    named = text(payload.get("kind"))
    kind = next((known for known in KINDS if known == named), None) if named or not words else kind_asked(words)
    if kind is None or not words:
        raise MemoryLiteError("a memory needs a known kind and some text", f"kinds are {', '.join(KINDS)}")
    place = _place(name, payload, queue, db, now)
    heard_in = list(dict.fromkeys((text(payload.get("session")), text(payload.get("named")))))
    # What the user typed after our own command is the user's word, though the agent carries it here.
    is_agents = payload.get("by") == BY_AGENT and not agent_notes.was_typed(words, heard_in, queue)
    files = texts(payload.get("files"))
    # What an agent says holds where it works, whatever it wants: nobody else looked at it.
    wanted = "project" if is_agents else scope_wanted(payload, words, kind)
    scope = named_scope(db, wanted, place.project)
    at = time_of(name)
    memory = Memory(
        id=short_id(name),
        kind=kind,
        title=user_edits.title_of(words),
        summary=words,
        created_at=at,
        last_seen_at=at,
        scope=scope,
        project=project_of_scope(scope, place.project),
        files=tuple(dict.fromkeys((*files, *files_named(words))))[:MAX_FILES],
        anchors=anchors_named(words),
        tags=texts(payload.get("tags")),
        session=text(payload.get("session")) if is_agents else "",
        branch=place.branch,
        commit=place.commit,
        origin="assistant" if is_agents else "user",
        trust=TRUST["assistant" if is_agents else "user"],
        confidence=_AGENTS_CONFIDENCE if is_agents else 1.0,
        made_by=BY_AGENT if is_agents else "user",
    )
    candidate = None
    if is_agents:
        saved = memories.ids_made_by(db, memory.session, BY_AGENT) if memory.session else set()
        agent_notes.refuse_too_many_saves(len(saved - {memory.id}))
        save_links.refuse_dismissed(db, memory, likeness)
        memory = agent_notes.checked(quarantine.without_approval(memory), heard_in, queue, db)
        candidate = save_links.answered(name, memory, heard_in, queue, db, likeness)
        memory = save_links.as_users_word(memory, candidate) if candidate else memory
    memory = tie(memory, place, text(payload.get("cwd")) or place.root)
    with atomic(db):
        stored = remember.add(db, memory, name, now)
        if candidate is not None:
            lesson_candidates.put(db, candidate)
            lesson_candidates.decide(db, candidate.id, "promoted", at, stored.id)
        if payload.get("project"):  # its folder may be another's by now
            sessions.note_project(db, place.project, at)
        else:
            marks.note(db, place, at)
            rows.note_folder(db, stored.id, place)
        reconcile.settle(db, stored, name, now)
        return stored.id


def scope_wanted(payload: JsonObject, words: str, kind: Kind | None) -> str:
    """Return where the words of a user are to hold: as the command says, else as the words and the named kind do."""
    usual = "project" if payload.get("files") else scope_asked(words, kind if payload.get("kind") else None)
    return text(payload.get("scope")) or usual


def _place(name: str, payload: JsonObject, queue: Queue, db: sqlite3.Connection, now: datetime) -> Place:
    """Return where the user stands, or the place of the project that was named instead."""
    if project := text(payload.get("project")):
        return lookup.place_of(db, marks.current_id(db, project))
    where = event_location.locate(name, text(payload.get("cwd")), queue, db, now)
    if not event_findings.of_event(queue, name):
        event_findings.note(queue, name, where.found)
    return where.place


def memory_named(db: sqlite3.Connection, given: str) -> Memory:
    """One memory by its id or the beginning of it; NotFound says so when that names a turn or a session."""
    try:
        return memories.get(db, given)
    except NotFound as error:
        try:
            other = timeline.find(db, given)
        except NotFound:
            raise error from None
    if isinstance(other, Passage) and other.kind == "turn":
        what = f"a turn of session {other.session}, not a memory"
        raise NotFound(f"{given} is {what}", f"`claude-mem-lite show {given}` shows it, `forget {given}` removes it")
    session = other.session if isinstance(other, Passage) else other.id
    raise NotFound(f"{given} is a session", f"`claude-mem-lite forget --session {session}` removes all of it")


def _memory_or_turn(db: sqlite3.Connection, given: str) -> Memory | Passage:
    """What can be forgotten by its own id: a memory, or a turn with all that was made of it."""
    try:
        return memory_named(db, given)
    except NotFound:
        with suppress(NotFound):
            other = timeline.find(db, given)
            if isinstance(other, Passage) and other.kind == "turn":
                return other
        raise


def _refuse_to_agent(payload: JsonObject, queue: Queue, db: sqlite3.Connection) -> None:
    """MemoryLiteError when an agent wants more forgotten than it may, or something that is the user's."""
    ids = texts(payload.get("ids"))
    session = text(payload.get("asked_in"))
    agent_notes.refuse_too_many_forgotten(
        ids, event_history.forgotten_for(queue.db, session, BY_AGENT) if session else 0
    )
    here = lookup.locate(db, text(payload.get("cwd"))).project
    for id_ in ids:
        ownership.refuse_agent(db, memory_named(db, id_), here, "forget")


def _forget(
    name: str, payload: JsonObject, queue: Queue, model_turns: ModelTurns, db: sqlite3.Connection, now: datetime
) -> list[str]:
    """Remove memories from every table, the index and the inbox; sessions and projects with all they hold."""
    with atomic(db):
        forget.leave_replaced_again(db, name)
    if payload.get("by") == BY_AGENT:
        _refuse_to_agent(payload, queue, db)
        payload = {"ids": payload.get("ids")}
    session, project = text(payload.get("session")) or None, text(payload.get("project")) or None
    project = lookup.named(db, project) if project else None
    session = timeline.session_named(db, session) if session else None
    named = [_memory_or_turn(db, wanted) for wanted in texts(payload.get("ids"))]
    asked = {one.id: passages.source_of_turn(db, one.id) for one in named if isinstance(one, Passage)}
    ids = [one.id for one in named if isinstance(one, Memory)]
    ids += [id_ for turn in asked.values() for id_ in forget.made_in(db, turn)]
    ids = list(dict.fromkeys((*ids, *memories.ids_of(db, session=session, project=project))))
    whole = ([session] if session else []) + (sessions.ids_of_project(db, project) if project else [])
    if not ids and not asked and not any(sessions.find(db, one) for one in whole):
        raise NotFound("there is nothing to forget by that name", "`claude-mem-lite list` shows what there is")
    known_as = {project, *marks.former_ids(db, project)} if project else set()
    with atomic(db):
        gone = forget.forget(db, ids, whole, now, whole_turns=list(asked.values()), project=project, command=name)
        model_calls.forget(db, gone.turns, whole)
        # Inside: a worker that dies here finds the memories again, and with them the events to erase.
        model_turns.erase(turns=gone.turns, sessions=whole)
        erase.erase(queue, turns=gone.turns, sessions=whole)
        erase.erase_telling_of(queue, {*gone.memories, *gone.candidates, *whole})
        erase.erase_answers(queue, {*gone.turns, *gone.candidates, *whole})
        if known_as:
            erase.erase_project_changes(queue, known_as)
        erase.bury(queue.db, tombstones.since(db, now), {*gone.memories, *gone.turns, *gone.sessions})
    empty_log(db)
    return [*gone.memories, *asked]
