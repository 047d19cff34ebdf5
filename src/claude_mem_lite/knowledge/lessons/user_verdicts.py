"""Verdicts of the user on lessons: accept, dismiss and edit, for candidates and for learned lessons.

The commands come from the inbox; a repeated command changes nothing."""

import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.lessons.reader import kind_asked
from claude_mem_lite.compress.lessons.statement import is_question, stands_alone
from claude_mem_lite.compress.prose.clean import clean
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.errors import MemoryLiteError, NotFound
from claude_mem_lite.event_names import time_of
from claude_mem_lite.knowledge import remember, user_edits
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.collection import candidate_from_json, candidate_to_json
from claude_mem_lite.knowledge.lessons.similarity import has_same_words
from claude_mem_lite.models import GUIDANCE_KINDS, TRUST, JsonObject, Memory, is_revert, is_users_wording, text
from claude_mem_lite.responses.lessons import DismissedLesson
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories, memory_links, retirements, tombstones
from claude_mem_lite.store.lesson_candidates import Candidate

ACCEPT, DISMISS, EDIT = "accept_lesson", "dismiss_lesson", "edit_lesson"
COMMANDS = (ACCEPT, DISMISS, EDIT)
MAX_SAID = 20
"""Maximum number of sentences of a lesson in a command."""
_DISMISSED = "the user dismissed it"


def named(db: sqlite3.Connection, given: str) -> Candidate | Memory:
    """Return the candidate or memory of an id or id prefix."""
    try:
        return candidates.get(db, given)
    except NotFound:
        found = _lesson(db, given)
    if found.origin != "user":
        raise MemoryLiteError(
            f"{found.id} is no lesson of the user", "`claude-mem-lite retire` and `edit` change other memories"
        )
    return found


def _lesson(db: sqlite3.Connection, given: str) -> Memory:
    try:
        return memories.get(db, given)
    except NotFound as error:
        raise NotFound(f"there is no lesson {given}", "`claude-mem-lite lessons` shows the ids") from error


def description_of(db: sqlite3.Connection, subject: Candidate | Memory) -> JsonObject:
    """Return the part of a command that describes the lesson, so that a replay needs no stored lesson.

    A replayed command may come before the turn with the sentence, or before a model words the lesson."""
    memory = memories.find(db, subject.memory) if isinstance(subject, Candidate) else subject
    said = [subject] if isinstance(subject, Candidate) else []
    said += [saying for saying in candidates.of_memories(db, [memory.id]) if saying not in said] if memory else []
    own = _own_words(memory, said, memory.created_at) if memory else []
    worded = {"summary": memory.summary, "made_by": memory.made_by} if memory else {}
    return {"said": [candidate_to_json(saying) for saying in (*said[: MAX_SAID - 1], *own)], **worded}


def why_no_rule(subject: Candidate | Memory) -> str:
    """Return the reason why a lesson needs other words to be a rule; '' if the words suffice."""
    if isinstance(subject, Memory) or subject.memory or stands_alone(subject.sentence):
        return ""
    return "is a question" if is_question(subject.sentence) else "cannot be understood without its conversation"


def dismissal(db: sqlite3.Connection, subject: Candidate | Memory) -> DismissedLesson:
    """Return the sentence to dismiss, and True if the lesson was dismissed before."""
    if isinstance(subject, Candidate):
        return DismissedLesson(subject.id, subject.sentence, already=subject.state == "dismissed")
    retired = retirements.of(db, [subject.id]).get(subject.id)
    is_dismissed = retired is not None and retired.reason == _DISMISSED
    return DismissedLesson(subject.id, subject.title, already=is_dismissed)


def carry_out(name: str, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> str:
    """Carry out a command about a lesson; return the id of the memory, or of a candidate without one."""
    id_ = text(payload.get("id"))
    said = _described_in(payload, db)
    try:
        subject = named(db, id_)
    except NotFound:
        if not said or tombstones.is_buried(db, id_):
            raise
        return _carry_out_without_subject(name, payload, said, db, now)
    with atomic(db):
        if payload.get("command") == DISMISS:
            concerned = _dismiss(name, subject, db)
            _put_dismissed(name, said, db)
            return concerned
        words = clean(text(payload.get("text"))).strip()
        if isinstance(subject, Memory):
            return _hold(name, subject, words, db, now)
        known = memories.find(db, subject.memory) if subject.memory else None
        if known is not None:
            return _hold(name, known, words, db, now)
        return _accept(name, subject, words, db, now)


def _carry_out_without_subject(
    name: str, payload: JsonObject, said: Sequence[Candidate], db: sqlite3.Connection, now: datetime
) -> str:
    """Carry out a command by the described sentences; the lesson is stored later, or never."""
    with atomic(db):
        if payload.get("command") == DISMISS:
            _put_dismissed(name, said, db)
            return text(payload.get("id"))
        if candidates.find(db, said[0].id) is None:
            candidates.put(db, said[0])
        for saying in said:
            candidates.decide(db, saying.id, "accepted", time_of(name))
        words = clean(text(payload.get("text"))).strip()
        made_by = "user" if words else text(payload.get("made_by")) or "user"
        return _accept(name, said[0], words or text(payload.get("summary")), db, now, made_by)


def _described_in(payload: JsonObject, db: sqlite3.Connection) -> list[Candidate]:
    """Return the sentences of a command without forgotten ones."""
    sentences = payload.get("said")
    found: list[Candidate] = []
    for saying in sentences if isinstance(sentences, list) else ():
        with suppress(ValueError):
            found += [candidate_from_json(saying, "unsure")] if isinstance(saying, dict) else []
    return [saying for saying in found if not tombstones.is_buried(db, saying.id, saying.turn, saying.session)]


def _put_dismissed(name: str, said: Sequence[Candidate], db: sqlite3.Connection) -> None:
    for saying in said:
        if candidates.find(db, saying.id) is None:
            candidates.put(db, saying)
        candidates.decide(db, saying.id, "dismissed", time_of(name))


def _own_words(memory: Memory, said: Sequence[Candidate], at: datetime) -> list[Candidate]:
    """Return the text of a lesson as a sentence to dismiss: an agent may have worded the lesson, or the user edited it.
    None if a sentence of the user has the same words."""
    words = memory.title if is_revert(memory) else memory.summary
    if any(has_same_words(words, saying.sentence) for saying in said):
        return []
    own = candidates.make(memory.project, memory.session, "", words, 1.0, at)
    return [replace(own, memory=memory.id)]


def _accept(
    name: str, candidate: Candidate, words: str, db: sqlite3.Connection, now: datetime, made_by: str = "user"
) -> str:
    """Make a lesson of a candidate, in the words of the command or of the prompt."""
    made = collection.users_words(candidate, [candidate])
    if words:
        made = replace(made, kind=kind_asked(words), title=user_edits.title_of(words), summary=words)
    memory = _as_rule(replace(made, trust=TRUST["user"], confidence=1.0, made_by=made_by, last_seen_at=time_of(name)))
    known = remember.find_duplicate(db, memory)
    stored = remember.add(db, memory, candidate.turn or name, now)
    memory_links.note_sighting(db, stored.id, name)
    candidates.decide(db, candidate.id, "accepted", time_of(name), stored.id)
    remember.reconcile(db, stored, name, now)
    if not words:
        _date(db, stored.id, max(made.last_seen_at, known.last_seen_at) if known else made.last_seen_at)
    return stored.id


def _hold(name: str, memory: Memory, words: str, db: sqlite3.Connection, now: datetime) -> str:
    """Confirm a learned lesson on the user's word, with a new text if given."""
    if memory.status == "quarantined":
        raise MemoryLiteError(
            f"{memory.id} is in quarantine", f"`claude-mem-lite quarantine approve {memory.id}` lets it out"
        )
    if memory.status == "retired":
        retirements.revive(db, memory.id)
    held = replace(memory, status="active", superseded_by=None, trust=TRUST["user"], confidence=1.0)
    held = replace(held, last_seen_at=max(memory.last_seen_at, time_of(name)))
    if words:
        held = replace(held, title=user_edits.title_of(words), summary=words, made_by="user")
    held = _as_rule(held)
    memory_links.note_sighting(db, memory.id, name)
    memories.rewrite(db, held)
    for saying in candidates.of_memories(db, [memory.id]):
        candidates.decide(db, saying.id, "accepted", time_of(name))
    remember.reconcile(db, held, name, now)
    if not words and is_users_wording(memory.made_by):
        _date(db, memory.id, memory.last_seen_at)
    return memory.id


def _date(db: sqlite3.Connection, id_: str, said_at: datetime) -> None:
    """Date an accepted lesson by the statement, after reconciliation by the time of acceptance: the lesson replaces
    statements made in between."""
    if (stored := memories.find(db, id_)) is not None:
        memories.rewrite(db, replace(stored, last_seen_at=said_at))


def _as_rule(memory: Memory) -> Memory:
    """Return an accepted lesson as a rule, unless the words show another kind."""
    return memory if memory.kind in GUIDANCE_KINDS else replace(memory, kind="rule")


def _dismiss(name: str, subject: Candidate | Memory, db: sqlite3.Connection) -> str:
    """Retire a lesson, and keep the sentences so that neither the sentences nor paraphrases come back."""
    at = time_of(name)
    memory = memories.find(db, subject.memory) if isinstance(subject, Candidate) else subject
    said = candidates.of_memories(db, [memory.id]) if memory else []
    if isinstance(subject, Candidate):
        said = [subject, *(saying for saying in said if saying.id != subject.id)]
    if memory is not None:
        for own in _own_words(memory, said, memory.created_at):
            candidates.put(db, own)
            said.append(own)
        memory_links.note_sighting(db, memory.id, name)
        if not retirements.retire(db, memory.id, "user", _DISMISSED, at) and memory.status == "retired":
            retirements.note(db, memory.id, "user", _DISMISSED, at)
    for saying in said:
        candidates.decide(db, saying.id, "dismissed", at)
    return memory.id if memory else subject.id
