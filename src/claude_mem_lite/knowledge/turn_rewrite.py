"""Memories of a turn by a model: the request, the answer, and the replacement of the rules' memories. Runs in the job
thread, inside the worker's transaction.

Memories that the user changed or another turn saw stay unchanged. A rebuild pairs old and new memories likewise."""

import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import Any

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.compress.model.request import (
    MAX_MATERIAL,
    TurnRequest,
    instructions_of,
    merge_drafts,
    message_of,
)
from claude_mem_lite.compress.model.turn_answer import TurnAnswer
from claude_mem_lite.compress.model.turn_digest import MAX_DIGEST, digest_of
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.turn import anchored, fold
from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.knowledge import remember, turn_events
from claude_mem_lite.knowledge.claims.duplicates import text_without_request
from claude_mem_lite.knowledge.lessons import collection, model_verdicts
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.turn_events import location_then, stored_turn
from claude_mem_lite.models import WORK_KINDS, Draft, Location, Memory, Session, SessionSummary, Turn
from claude_mem_lite.providers import Usage
from claude_mem_lite.store import memory_links, memory_queries, retirements, sessions, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.memories import find, handoff_id
from claude_mem_lite.store.memory_queries import BESIDE, MAX_POSITIONS
from claude_mem_lite.text import share, share_of_both, stems, within
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen

_BY_RULES = ("files_read", "files_edited")
MIN_SHARED = 0.5
"""Minimum share of words, files or anchors of two memories with the same subject."""
_MAX_KNOWN = 30
_MAX_PROMPT_LENGTH = 600
_MAX_REPLY_LENGTH = 900
_MIN_TRUST = 0.5


@frozen
class TurnQuestion:
    """Turn for a request to a model, with the digest of the rules."""

    turn: Turn
    digest: TurnDigest
    request: TurnRequest

    @property
    def sent(self) -> str:
        """Return the complete text of the request."""
        return f"{instructions_of(self.request)}\n{message_of(self.request)}"


def question_about(
    turn: str, inbox: ModelTurns, db: sqlite3.Connection, config: Config, limit: int = MAX_DIGEST
) -> TurnQuestion | str:
    """Return the request about a turn, made from the stored events; or the reason for no request."""
    whole = stored_turn(db, turn, inbox.rows_of(turn), inbox.calls_before, config)
    if isinstance(whole, str):
        return whole
    session = sessions.get(db, whole.session)
    digest = fold(whole)
    known = _known(db, session, before=whole.events[-1].at)
    request = TurnRequest(
        goal=session.summary.request,
        titles=tuple(memory.title for memory in known if memory.kind in WORK_KINDS),
        digest=digest_of(whole, digest, limit=limit),
        files_edited=digest.files_edited,
        prompt=whole.prompt,
        sentences=tuple(candidate.sentence for candidate in model_verdicts.open_in(db, turn)),
        previous_message=whole.previous_message,
    )
    return TurnQuestion(whole, digest, request)


def store(
    db: sqlite3.Connection, question: TurnQuestion, answer: TurnAnswer, made_by: str, likeness: Likeness, now: datetime
) -> None:
    """Replace the rules' memories of a turn by the answer of a model, in one transaction."""
    with atomic(db):
        session = sessions.find(db, question.turn.session)
        if session is None:
            return
        turn = replace(question.turn, project=session.project)  # the project may have been merged meanwhile
        by_rules_now = collection.without_dismissed(db, turn.project, question.digest, likeness)
        question = replace(question, turn=turn, digest=by_rules_now)
        location, others = (
            location_then(session, memory_queries.of_turn(db, turn.key)),
            ForeignText((*turn.earlier, *turn.events)),
        )
        by_rules = set(question.digest.drafts)
        drafts = [
            draft if draft in by_rules else _tied(draft, question)
            for draft in merge_drafts(question.digest.drafts, answer.drafts)
        ]
        memories = []
        for position, draft in enumerate(drafts):
            made = turn_events.memory_of(draft, turn, location, position, turn.events[-1].at, others)
            is_by_rules = draft in by_rules
            if is_by_rules and is_taught(draft) and (known := find(db, made.id)):
                made = replace(
                    made, files=known.files, anchors=known.anchors
                )  # anchors to the code at the time of the turn
            memories.append(
                made if is_by_rules else replace(made, made_by=made_by, prompt_version=answer.prompt_version)
            )
        stored = retell(db, turn.key, memories, answer.usage, now)
        stored += model_verdicts.keep(db, turn, answer, location, made_by, likeness, now)
        for memory in stored:
            remember.reconcile(db, memory, turn.key, now)
        summary = others.cleared(answer.summary) if answer.summary is not None else None
        if summary is not None and retell_session(db, turn.session, turn.key, summary, now):
            _retell_handoff(db, question, location, others, now)


def _retell_handoff(
    db: sqlite3.Connection, question: TurnQuestion, location: Location, others: ForeignText, now: datetime
) -> None:
    """Store the handoff that follows from a model's summary."""
    session = sessions.find(db, question.turn.session)
    settled = retirements.of(db, [handoff_id(question.turn.session)])
    # A handoff that the user retired or another session closed stays closed.
    if session is not None and not settled:
        left = handoff(session.summary, others.cleared_digest(question.digest), location.branch)
        turn_events.keep_handoff(db, left, question.turn, location, others, now)


def material_of(db: sqlite3.Connection, session: Session) -> str:
    """Return the prompts, replies and memories of a session in order, for a model's summary."""
    lines = [f"Asked first: {session.summary.request}"]
    for prompt, reply in turns.turns_of(db, session.id, _MIN_TRUST):
        lines += [f"User: {within(prompt, _MAX_PROMPT_LENGTH)}"] if prompt else []
        lines += [f"Assistant: {within(reply, _MAX_REPLY_LENGTH)}"] if reply else []
    lines += (f"Remembered ({memory.kind}): {memory.title}. {memory.summary}" for memory in _known(db, session))
    return clip("\n".join(lines), MAX_MATERIAL)


def _known(db: sqlite3.Connection, session: Session, before: datetime | None = None) -> list[Memory]:
    """Return the stored memories of a session without those from pages and foreign tools: a summary would make them
    trusted."""
    known = memory_queries.of_session(db, session.id, _MAX_KNOWN, before)
    return [memory for memory in known if memory.trust >= _MIN_TRUST]


def _tied(draft: Draft, question: TurnQuestion) -> Draft:
    """Return a model's draft with anchors to the named code, unless the draft has the anchors of a rules' draft."""
    has_some = any(map(read_anchor, draft.anchors))
    return draft if has_some else anchored(draft, question.digest.code)


def retell(db: sqlite3.Connection, turn: str, new: Sequence[Memory], usage: Usage, now: datetime) -> list[Memory]:
    """Replace the memories of a turn, and return the stored memories. The first stored memory carries tokens and cost
    of the call.

    A memory that must stay keeps its id, and the new memory gets another id."""
    before = memory_queries.of_turn(db, turn)
    kept = {memory.id for memory in before if _is_to_be_left_alone(db, memory, turn)}
    stored_at = min([retirements.discard(db, memory.id) for memory in before if memory.id not in kept], default=now)
    counted = False
    stored = []
    for position, memory in enumerate(new[:MAX_POSITIONS]):
        beside = short_id(turn, str(position), BESIDE)
        version = replace(memory, id=beside) if memory.id in kept else memory
        # With the time of the first storing, the new text is no news for a session that got the rules' text.
        stored.append(remember.add(db, version, turn, stored_at))
        counted = counted or retirements.add_usage(db, version.id, usage)
    return stored


def retell_session(db: sqlite3.Connection, session: str, turn: str, summary: SessionSummary, now: datetime) -> bool:
    """Merge a model's summary into the summary of the rules, unless a later turn is stored."""
    found = sessions.find(db, session)
    if found is None or turns.latest_turn(db, session) != turn:
        return False
    sessions.set_summary(db, session, over(found.summary, summary), now)
    return True


def over(rules: SessionSummary, summary: SessionSummary) -> SessionSummary:
    """Return a model's summary, with the rules' text for empty fields and the files of the rules."""
    chosen: dict[str, Any] = {
        field.name: getattr(summary, field.name)
        for field in fields(SessionSummary)
        if field.name not in _BY_RULES and getattr(summary, field.name)
    }
    return replace(rules, **chosen)


def _is_to_be_left_alone(db: sqlite3.Connection, memory: Memory, turn: str) -> bool:
    if memory.pinned or memory.status != "active" or memory.times_seen > 1 or memory.made_by == "user":
        return True
    if retirements.replaced_by(db, [memory.id]):
        return True
    return memory_links.is_seen_elsewhere(db, memory.id, turn)


def pair(old: Sequence[Memory], new: Sequence[Memory]) -> dict[int, Memory]:
    """Return the old memory for new memories by position, best match first."""
    likeness = {
        (was, now): shared
        for was, before in enumerate(old)
        for now, after in enumerate(new)
        if (shared := alike(before, after))
    }
    found: dict[int, int] = {}
    for was, now in sorted(likeness, key=lambda both: (-likeness[both], both)):
        if now not in found and was not in found.values():
            found[now] = was
    return {now: old[was] for now, was in found.items()}


def alike(memory: Memory, other: Memory) -> float:
    """Return the similarity of two memories of one turn, from `MIN_SHARED` to 2; 0 for different subjects."""
    if place_of(memory) != place_of(other):
        return 0.0
    smaller, larger = sorted((stems(text_without_request(memory)), stems(text_without_request(other))), key=len)
    words = share(smaller, larger)
    shared = max(words, _shared(memory.files, other.files), _shared(memory.anchors, other.anchors))
    if shared < MIN_SHARED:
        return 0.0
    return shared + (memory.title.lower() == other.title.lower()) + words / 100  # words decide between equal files


def place_of(memory: Memory) -> str:
    """Return the place of a memory in a turn: one place for all kinds of work, else the kind."""
    return "work" if memory.kind in (*WORK_KINDS, "failure") else memory.kind


def _shared(items: Sequence[str], others: Sequence[str]) -> float:
    return share_of_both(set(items), set(others)) if items or others else 0.0
