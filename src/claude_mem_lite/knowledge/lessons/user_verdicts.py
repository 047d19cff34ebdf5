"""The user's last word on lessons: accept, dismiss and edit, for candidates and for lessons that were learned.

Carried out from the inbox like every command; twice is as good as once."""

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
from claude_mem_lite.knowledge import reconcile, remember, user_edits
from claude_mem_lite.knowledge.lessons import evidence
from claude_mem_lite.knowledge.lessons.candidate_json import read, written
from claude_mem_lite.knowledge.lessons.similarity import has_same_words
from claude_mem_lite.models import GUIDANCE_KINDS, TRUST, UNDONE_LEAD, JsonObject, Memory, is_users_wording, text
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories, memory_links, retirements, tombstones
from claude_mem_lite.store.lesson_candidates import Candidate

ACCEPT, DISMISS, EDIT = "accept_lesson", "dismiss_lesson", "edit_lesson"
COMMANDS = (ACCEPT, DISMISS, EDIT)
MAX_SAID = 20
"""The number of sentences behind a lesson that a command names."""
_DISMISSED = "the user dismissed it"


def named(db: sqlite3.Connection, given: str) -> Candidate | Memory:
    """Return the candidate or the memory that an id, or the beginning of one, names."""
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


def told_of(db: sqlite3.Connection, subject: Candidate | Memory) -> JsonObject:
    """Return what a command tells of its lesson, so that it can be carried out again without it.

    Replayed, it may come before the turn that said the sentence, or before a model words the lesson anew."""
    memory = memories.find(db, subject.memory) if isinstance(subject, Candidate) else subject
    said = [subject] if isinstance(subject, Candidate) else []
    said += [one for one in candidates.of_memories(db, [memory.id]) if one not in said] if memory else []
    own = _own_words(memory, said, memory.created_at) if memory else []
    worded = {"summary": memory.summary, "made_by": memory.made_by} if memory else {}
    return {"said": [written(one) for one in (*said[: MAX_SAID - 1], *own)], **worded}


def why_no_rule(subject: Candidate | Memory) -> str:
    """Return why a lesson needs other words before it can be a rule; '' when its own will do."""
    if isinstance(subject, Memory) or subject.memory or stands_alone(subject.sentence):
        return ""
    return "is a question" if is_question(subject.sentence) else "cannot be understood without its conversation"


def dismissal(db: sqlite3.Connection, subject: Candidate | Memory) -> JsonObject:
    """Return what a lesson says that is to be dismissed, and whether it was dismissed before."""
    if isinstance(subject, Candidate):
        return {"id": subject.id, "text": subject.sentence, "already": subject.state == "dismissed"}
    retired = retirements.of(db, [subject.id]).get(subject.id)
    return {"id": subject.id, "text": subject.title, "already": retired is not None and retired.reason == _DISMISSED}


def carry_out(name: str, payload: JsonObject, db: sqlite3.Connection, now: datetime) -> str:
    """Do what a command says about a lesson; return the id of its memory, or of the candidate that has none."""
    id_ = text(payload.get("id"))
    said = _told_in(payload, db)
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
    """Do what a command says by the sentences that it names; what says them is stored later, or by nobody."""
    with atomic(db):
        if payload.get("command") == DISMISS:
            _put_dismissed(name, said, db)
            return text(payload.get("id"))
        if candidates.find(db, said[0].id) is None:
            candidates.put(db, said[0])
        for one in said:
            candidates.decide(db, one.id, "accepted", time_of(name))
        words = clean(text(payload.get("text"))).strip()
        made_by = "user" if words else text(payload.get("made_by")) or "user"
        return _accept(name, said[0], words or text(payload.get("summary")), db, now, made_by)


def _told_in(payload: JsonObject, db: sqlite3.Connection) -> list[Candidate]:
    """Return the sentences that a command names, without those that were forgotten since."""
    told = payload.get("said")
    found: list[Candidate] = []
    for one in told if isinstance(told, list) else ():
        with suppress(ValueError):
            found += [read(one, "unsure")] if isinstance(one, dict) else []
    return [one for one in found if not tombstones.is_buried(db, one.id, one.turn, one.session)]


def _put_dismissed(name: str, said: Sequence[Candidate], db: sqlite3.Connection) -> None:
    for one in said:
        if candidates.find(db, one.id) is None:
            candidates.put(db, one)
        candidates.decide(db, one.id, "dismissed", time_of(name))


def _own_words(memory: Memory, said: Sequence[Candidate], at: datetime) -> list[Candidate]:
    """Return what a lesson says, as a sentence to be dismissed: an agent may have worded it, or the user edited it.
    Nothing when one of the user's sentences has the same words."""
    words = memory.title if memory.summary.startswith(UNDONE_LEAD) else memory.summary
    if any(has_same_words(words, one.sentence) for one in said):
        return []
    own = candidates.make(memory.project, memory.session, "", words, 1.0, at)
    return [replace(own, memory=memory.id)]


def _accept(
    name: str, candidate: Candidate, words: str, db: sqlite3.Connection, now: datetime, made_by: str = "user"
) -> str:
    """Make a lesson of a candidate, in the words of the command or in those of the prompt."""
    made = evidence.users_words(candidate, [candidate])
    if words:
        made = replace(made, kind=kind_asked(words), title=user_edits.title_of(words), summary=words)
    memory = _as_rule(replace(made, trust=TRUST["user"], confidence=1.0, made_by=made_by, last_seen_at=time_of(name)))
    known = remember.find_same(db, memory)
    stored = remember.add(db, memory, candidate.turn or name, now)
    memory_links.note_sighting(db, stored.id, name)
    candidates.decide(db, candidate.id, "accepted", time_of(name), stored.id)
    reconcile.settle(db, stored, name, now)
    if not words:
        _date(db, stored.id, max(made.last_seen_at, known.last_seen_at) if known else made.last_seen_at)
    return stored.id


def _hold(name: str, memory: Memory, words: str, db: sqlite3.Connection, now: datetime) -> str:
    """Have a lesson that was learned hold on the user's word, in other words if there are some."""
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
    for one in candidates.of_memories(db, [memory.id]):
        candidates.decide(db, one.id, "accepted", time_of(name))
    reconcile.settle(db, held, name, now)
    if not words and is_users_wording(memory.made_by):
        _date(db, memory.id, memory.last_seen_at)
    return memory.id


def _date(db: sqlite3.Connection, id_: str, said_at: datetime) -> None:
    """Date a lesson that the user accepted by when it was said. It was settled by when it was accepted: it replaces
    what was said in between."""
    if (stored := memories.find(db, id_)) is not None:
        memories.rewrite(db, replace(stored, last_seen_at=said_at))


def _as_rule(memory: Memory) -> Memory:
    """Return what the user accepts as something to be followed: of words that tell no kind, the kind is rule."""
    return memory if memory.kind in GUIDANCE_KINDS else replace(memory, kind="rule")


def _dismiss(name: str, subject: Candidate | Memory, db: sqlite3.Connection) -> str:
    """Retire a lesson, and keep its sentences so that neither they nor a paraphrase come back."""
    at = time_of(name)
    memory = memories.find(db, subject.memory) if isinstance(subject, Candidate) else subject
    said = candidates.of_memories(db, [memory.id]) if memory else []
    if isinstance(subject, Candidate):
        said = [subject, *(one for one in said if one.id != subject.id)]
    if memory is not None:
        for own in _own_words(memory, said, memory.created_at):
            candidates.put(db, own)
            said.append(own)
        memory_links.note_sighting(db, memory.id, name)
        if not retirements.retire(db, memory.id, "user", _DISMISSED, at) and memory.status == "retired":
            retirements.note(db, memory.id, "user", _DISMISSED, at)
    for one in said:
        candidates.decide(db, one.id, "dismissed", at)
    return memory.id if memory else subject.id
