"""What a model makes of a turn or a session: what it is asked, what becomes of its answer. Runs in the job thread."""

import sqlite3
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.compress.model.request import MAX_MATERIAL, Told, TurnRequest, instructions_of, joined, message_of
from claude_mem_lite.compress.model.turn_digest import MAX_DIGEST, digest_of
from claude_mem_lite.compress.prose.clean import clip
from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.compress.rules.session_handoff import handoff
from claude_mem_lite.compress.rules.turn import anchored, fold
from claude_mem_lite.compress.toolcalls.provenance import Hearsay
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox.model_queue import ModelTurns
from claude_mem_lite.knowledge import reconcile, turn_memories, turn_replacement
from claude_mem_lite.knowledge.lessons import collection, model_verdicts
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.turn_events import place_then, stored_turn
from claude_mem_lite.models import WORK_KINDS, Draft, Memory, Place, Session, Turn, TurnDigest
from claude_mem_lite.store import memory_queries, retirements, sessions, turns
from claude_mem_lite.store.memories import find, handoff_id
from claude_mem_lite.text import within

_MAX_KNOWN = 30
_MAX_PROMPT_LENGTH = 600
_MAX_REPLY_LENGTH = 900
_MIN_TRUST = 0.5


@dataclass(frozen=True, slots=True)
class Question:
    """A turn as a model is asked about it, with what rules made of it."""

    turn: Turn
    digest: TurnDigest
    request: TurnRequest

    @property
    def sent(self) -> str:
        """All that is sent."""
        return f"{instructions_of(self.request)}\n{message_of(self.request)}"


def question_about(
    turn: str, inbox: ModelTurns, db: sqlite3.Connection, config: Config, limit: int = MAX_DIGEST
) -> Question | str:
    """Return the question about a turn, from its events as they stand in the inbox; or why none may be asked."""
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
        sentences=tuple(one.sentence for one in model_verdicts.open_in(db, turn)),
        previous_message=whole.previous_message,
    )
    return Question(whole, digest, request)


def store(
    db: sqlite3.Connection, question: Question, told: Told, made_by: str, likeness: Likeness, now: datetime
) -> None:
    """Put what a model told in the place of what rules made of the turn, all at once."""
    with atomic(db):
        session = sessions.find(db, question.turn.session)
        if session is None:
            return
        turn = replace(question.turn, project=session.project)  # which may have been merged while the model was asked
        by_rules_now = collection.without_dismissed(db, turn.project, question.digest, likeness)
        question = replace(question, turn=turn, digest=by_rules_now)
        place, others = (
            place_then(session, memory_queries.of_turn(db, turn.key)),
            Hearsay((*turn.earlier, *turn.events)),
        )
        by_rules = set(question.digest.drafts)
        drafts = [
            draft if draft in by_rules else _tied(draft, question)
            for draft in joined(question.digest.drafts, told.drafts)
        ]
        memories = []
        for position, draft in enumerate(drafts):
            made = turn_memories.memory_of(draft, turn, place, position, turn.events[-1].at, others)
            is_by_rules = draft in by_rules
            if is_by_rules and is_taught(draft) and (known := find(db, made.id)):
                made = replace(made, files=known.files, anchors=known.anchors)  # tied to the code of then
            memories.append(made if is_by_rules else replace(made, made_by=made_by, prompt_version=told.prompt_version))
        stored = turn_replacement.retell(db, turn.key, memories, told.usage, now)
        stored += model_verdicts.keep(db, turn, told, place, made_by, likeness, now)
        for memory in stored:
            reconcile.settle(db, memory, turn.key, now)
        summary = others.cleared(told.summary) if told.summary is not None else None
        if summary is not None and turn_replacement.retell_session(db, turn.session, turn.key, summary, now):
            _retell_handoff(db, question, place, others, now)


def _retell_handoff(db: sqlite3.Connection, question: Question, place: Place, others: Hearsay, now: datetime) -> None:
    """Leave open what the session's summary says is open, now that a model has told it."""
    session = sessions.find(db, question.turn.session)
    settled = retirements.of(db, [handoff_id(question.turn.session)])
    # What the user retired, or another session took up meanwhile, is not open again for being told in other words.
    if session is not None and not settled:
        left = handoff(session.summary, others.cleared_digest(question.digest), place.branch)
        turn_memories.keep_handoff(db, left, question.turn, place, others, now)


def material_of(db: sqlite3.Connection, session: Session) -> str:
    """What is known of a session, for a model to summarise: what was asked, answered and remembered, in order."""
    lines = [f"Asked first: {session.summary.request}"]
    for prompt, reply in turns.turns_of(db, session.id, _MIN_TRUST):
        lines += [f"User: {within(prompt, _MAX_PROMPT_LENGTH)}"] if prompt else []
        lines += [f"Assistant: {within(reply, _MAX_REPLY_LENGTH)}"] if reply else []
    lines += (f"Remembered ({one.kind}): {one.title}. {one.summary}" for one in _known(db, session))
    return clip("\n".join(lines), MAX_MATERIAL)


def _known(db: sqlite3.Connection, session: Session, before: datetime | None = None) -> list[Memory]:
    """What the session has stored, without what pages and foreign tools said: retold, that would be trusted."""
    return [one for one in memory_queries.of_session(db, session.id, _MAX_KNOWN, before) if one.trust >= _MIN_TRUST]


def _tied(draft: Draft, question: Question) -> Draft:
    """A model's draft with anchors to the code it tells of, if it has none from the rules' draft that it retells."""
    has_some = any(map(read_anchor, draft.anchors))
    return draft if has_some else anchored(draft, question.digest.code)
