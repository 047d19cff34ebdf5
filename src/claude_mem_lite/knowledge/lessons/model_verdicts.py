"""Verdicts of a model on the unsure candidates of a turn, and saves by which an agent answers a question about them.

A save without a relation to the user's sentence stays the agent's own, and so does a repetition of a page, a tool
result or an order."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from claude_mem_lite.compress.model.request import load
from claude_mem_lite.compress.model.turn_answer import ModelLesson, TurnAnswer
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import quarantine, remember, user_edits
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.collection import candidate_from_json, candidate_to_json
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import MAX_FILES, TRUST, Location, Memory, Turn
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import tombstones
from claude_mem_lite.store.lesson_candidates import Candidate

MAX_PROMPTS_AFTER = 1
"""Maximum number of prompts between question and save."""
_FOUND = "lesson"


def open_in(db: sqlite3.Connection, turn: str) -> list[Candidate]:
    """Return the open candidates of a turn, the most probable first."""
    return [candidate for candidate in candidates.of_turn(db, turn) if candidate.state in candidates.OPEN]


def keep(
    db: sqlite3.Connection,
    turn: Turn,
    answer: TurnAnswer,
    location: Location,
    made_by: str,
    likeness: Likeness,
    now: datetime,
) -> list[Memory]:
    """Store the lessons of a model's answer, each with the user's sentence as evidence; return the lessons.

    Texts that read like orders to agents, and dismissed or forgotten texts, stay candidates."""
    kept = []
    by_sentence = {candidate.sentence: candidate for candidate in open_in(db, turn.key)}
    for lesson in answer.lessons:
        candidate = by_sentence.get(lesson.sentence)
        if candidate is None or collection.is_dismissed(db, turn.project, lesson.lesson, likeness):
            continue
        memory = quarantine.checked_save(_memory(lesson, candidate, turn, location, made_by))
        if memory.status != "active" or tombstones.repeats_forgotten(db, memory):
            continue
        worded = collection.in_other_words(memory, candidate, collection.WORDED_BY_MODEL_LEAD)
        stored = remember.add(db, worded, turn.key, now)
        candidates.decide(db, candidate.id, "promoted", now, stored.id)
        kept.append(stored)
    return kept


def _memory(lesson: ModelLesson, candidate: Candidate, turn: Turn, location: Location, made_by: str) -> Memory:
    return Memory(
        id=collection.memory_id(candidate),
        kind=lesson.kind,
        title=user_edits.title_of(lesson.lesson.rstrip(".")),
        summary=lesson.lesson,
        files=tuple(files_named(lesson.lesson))[:MAX_FILES],
        created_at=candidate.created_at,
        last_seen_at=candidate.created_at,
        scope=f"project:{turn.project}",
        project=turn.project,
        session=turn.session,
        branch=location.branch,
        commit=location.commit,
        origin="assistant",
        trust=TRUST["assistant"],
        made_by=made_by,
        prompt_version=load("lessons").version,
    )


def answered(
    name: str, memory: Memory, sessions: Sequence[str], queue: Queue, db: sqlite3.Connection, likeness: Likeness
) -> Candidate | None:
    """Return the candidate that a save answers, in the state of the first execution; None for an independent save.

    Only an unquarantined save in the agent's own words is an answer, in the turn of the question or the next turn."""
    if memory.status != "active" or memory.origin != "assistant":
        return None
    found = event_history.findings_of(queue, name)
    if isinstance(noted := found.get(_FOUND), dict):
        return candidate_from_json(noted, "asked")
    asked = [candidate for session in sessions if session for candidate in candidates.of_session(db, session)]
    related = (
        candidate
        for candidate in asked
        if candidate.state == "asked"
        and event_history.count_prompts(queue.db, candidate.session, candidate.turn, name) <= MAX_PROMPTS_AFTER
        and likeness.is_related(memory.summary, candidate.sentence, candidate.after_message)
    )
    candidate = next(related, None)
    if candidate is not None:
        event_history.note_findings(queue, name, {**found, _FOUND: candidate_to_json(candidate)})
    return candidate


def as_users_word(memory: Memory, candidate: Candidate) -> Memory:
    """Return a save as the user's statement in the agent's words, with the user's sentence as evidence."""
    return collection.in_other_words(memory, candidate, collection.SAVED_BY_AGENT_LEAD)


def refuse_dismissed(db: sqlite3.Connection, memory: Memory, likeness: Likeness) -> None:
    """Raise MemoryLiteError if the user dismissed the text of a save."""
    if collection.is_dismissed(db, memory.project, memory.title, likeness):
        raise MemoryLiteError(
            "the user dismissed this as a lesson, so it was not saved", "go on without, and do not save it again"
        )
