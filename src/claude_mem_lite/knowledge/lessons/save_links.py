"""Link between what an agent saves and the question that it was asked: then its words stand for those of the user.

Called while a save of an agent is carried out. What has nothing to do with the user's sentence stays the agent's own
word, and so does what repeats a page, a tool or an order."""

import sqlite3
from collections.abc import Sequence

from claude_mem_lite.errors import MemoryLiteError
from claude_mem_lite.inbox import event_findings, event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge.lessons import collection, evidence
from claude_mem_lite.knowledge.lessons.candidate_json import read, written
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import Memory
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store.lesson_candidates import Candidate

MAX_PROMPTS_AFTER = 1
"""The number of prompts after the asked one until which a save may be the answer."""
_FOUND = "lesson"


def answered(
    name: str, memory: Memory, sessions: Sequence[str], queue: Queue, db: sqlite3.Connection, likeness: Likeness
) -> Candidate | None:
    """Return the candidate that a save answers, as it was when the save was first carried out; None: it answers none.

    Only what is the agent's own word and waits in no quarantine can be an answer, in the turn that was asked or the
    one after it."""
    if memory.status != "active" or memory.origin != "assistant":
        return None
    found = event_findings.of_event(queue, name)
    if isinstance(noted := found.get(_FOUND), dict):
        return read(noted, "asked")
    asked = [one for session in sessions if session for one in candidates.of_session(db, session)]
    related = (
        one
        for one in asked
        if one.state == "asked"
        and event_history.count_prompts(queue.db, one.session, one.turn, name) <= MAX_PROMPTS_AFTER
        and likeness.is_related(memory.summary, one.sentence, one.after_message)
    )
    candidate = next(related, None)
    if candidate is not None:
        event_findings.note(queue, name, {**found, _FOUND: written(candidate)})
    return candidate


def as_users_word(memory: Memory, candidate: Candidate) -> Memory:
    """Return a save as the user's word in the agent's wording, with the user's sentence as evidence."""
    return evidence.in_other_words(memory, candidate, evidence.SAVED_BY_AGENT_LEAD)


def refuse_dismissed(db: sqlite3.Connection, memory: Memory, likeness: Likeness) -> None:
    """MemoryLiteError when the user dismissed what an agent wants to save."""
    if collection.is_dismissed(db, memory.project, memory.title, likeness):
        raise MemoryLiteError(
            "the user dismissed this as a lesson, so it was not saved", "go on without, and do not save it again"
        )
