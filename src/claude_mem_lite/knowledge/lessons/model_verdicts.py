"""Judgement of a configured model on the unsure candidates of a turn, stored with the rest of its answer."""

import sqlite3
from datetime import datetime

from claude_mem_lite.compress.model.lesson_verdicts import ModelLesson
from claude_mem_lite.compress.model.request import Told, load
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.knowledge import quarantine, remember, user_edits
from claude_mem_lite.knowledge.lessons import collection, evidence
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import MAX_FILES, TRUST, Memory, Place, Turn
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import tombstones
from claude_mem_lite.store.lesson_candidates import Candidate


def open_in(db: sqlite3.Connection, turn: str) -> list[Candidate]:
    """Return the candidates of a turn that nobody has judged, the most probable first."""
    return [one for one in candidates.of_turn(db, turn) if one.state in candidates.OPEN]


def keep(
    db: sqlite3.Connection, turn: Turn, told: Told, place: Place, made_by: str, likeness: Likeness, now: datetime
) -> list[Memory]:
    """Store the lessons of a model's answer, each with the user's sentence as evidence; return them.

    What reads like an order to agents, and what the user dismissed or had forgotten, stays a candidate."""
    kept = []
    by_sentence = {one.sentence: one for one in open_in(db, turn.key)}
    for lesson in told.lessons:
        candidate = by_sentence.get(lesson.sentence)
        if candidate is None or collection.is_dismissed(db, turn.project, lesson.lesson, likeness):
            continue
        memory = quarantine.checked_save(_memory(lesson, candidate, turn, place, made_by))
        if memory.status != "active" or tombstones.repeats_forgotten(db, memory):
            continue
        worded = evidence.in_other_words(memory, candidate, evidence.WORDED_BY_MODEL_LEAD)
        stored = remember.add(db, worded, turn.key, now)
        candidates.decide(db, candidate.id, "promoted", now, stored.id)
        kept.append(stored)
    return kept


def _memory(lesson: ModelLesson, candidate: Candidate, turn: Turn, place: Place, made_by: str) -> Memory:
    return Memory(
        id=evidence.memory_id(candidate),
        kind=lesson.kind,
        title=user_edits.title_of(lesson.lesson.rstrip(".")),
        summary=lesson.lesson,
        files=tuple(files_named(lesson.lesson))[:MAX_FILES],
        created_at=candidate.created_at,
        last_seen_at=candidate.created_at,
        scope=f"project:{turn.project}",
        project=turn.project,
        session=turn.session,
        branch=place.branch,
        commit=place.commit,
        origin="assistant",
        trust=TRUST["assistant"],
        made_by=made_by,
        prompt_version=load("lessons").version,
    )
