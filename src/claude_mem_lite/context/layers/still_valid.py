"""Valid parts of a session's summary: the text stays as written, while decisions and open work change later."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.context.layers.code_state import verdict_of, why_not
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.render import unlabelled
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import is_stated
from claude_mem_lite.context.similarity import StemmedText
from claude_mem_lite.models import Memory, Session, SessionSummary, without_request
from claude_mem_lite.store import memories, memory_links, memory_queries, tombstones
from claude_mem_lite.values import frozen

_SAME_SHARE, _MOSTLY_SAME_SHARE = 0.8, 0.6
# "Decided to …" has one word more than the decision.
_REPEATED_SHARE = 0.7
_MAX_STATED = 60


@frozen
class ValidSession:
    """Session with a summary of the valid parts, and the memory ids of decisions by text."""

    session: Session
    decided: dict[str, str]
    handoff: Memory | None
    """Open handoff of the session."""


def valid_sessions(
    db: sqlite3.Connection, request: ContextRequest, setting: Setting, last: Sequence[Session]
) -> list[ValidSession]:
    """Return the sessions with the valid parts of their summaries."""
    by_session = memory_queries.of_sessions(db, last)
    valid_ids = _valid_decisions(db, request, [memory for made in by_session.values() for memory in made])
    is_needed = any(session.summary.key_decisions or session.summary.learned for session in last)
    stated = _user_statements(db, request, setting) if is_needed else []
    comparison = _Comparison()
    valid = []
    for session in last:
        session_memories, handoff = by_session[session.id], memories.handoff_of(db, session.id)
        decided = {
            text: id_
            for text in session.summary.key_decisions
            if (id_ := _decision_in(text, session_memories, comparison)) in valid_ids
            and not comparison.is_in(text, stated, _MOSTLY_SAME_SHARE)
        }
        open_summary = _open_summary(db, session, handoff, comparison)
        decisions = [*session.summary.key_decisions, *map(_words, session_memories)]
        new = comparison.without_decisions(open_summary.learned, decisions)
        learned = " ".join(text for text in new if not comparison.is_in(text, stated, _SAME_SHARE))
        done = comparison.without_decisions(open_summary.completed, decisions)
        completed = " ".join(text for text in done if not comparison.is_in(text, [learned], _SAME_SHARE))
        summary = replace(open_summary, key_decisions=tuple(decided), learned=learned, completed=completed)
        valid.append(ValidSession(replace(session, summary=summary), decided, handoff))
    return valid


def _valid_decisions(db: sqlite3.Connection, request: ContextRequest, decisions: Sequence[Memory]) -> set[str]:
    """Return the decisions that a session's own text may state: unchanged, without contradiction, and not reworded by
    the user."""
    verdicts = request.checkout.freshness(decisions)
    against = memory_links.of(db, [memory.id for memory in decisions])
    return {
        memory.id
        for memory in decisions
        if memory.status == "active"
        and not is_stated(memory)
        and memory.made_by != "user"
        and memory.id not in against
        and verdict_of(memory, verdicts) != "changed"
        and not why_not(memory, verdicts)
    }


def _user_statements(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[str]:
    """Return the statements of the user for the project; another layer shows the statements."""
    language = [f"language:{setting.language}"] if setting.language else []
    scopes = [f"project:{request.location.project}", *language, "universal"]
    stored = [memory for scope in scopes for memory in memories.in_scope(db, scope, (), since=None, limit=_MAX_STATED)]
    return [_words(memory) for memory in stored if memory.kind != "handoff"]


class _Comparison:
    """Comparison of texts with a cache of their stems."""

    def __init__(self) -> None:
        self._texts: dict[str, StemmedText] = {}

    def share(self, part: str, text: str) -> float:
        for content in (part, text):
            if content not in self._texts:
                self._texts[content] = StemmedText(content)
        return self._texts[part].share_in(self._texts[text])

    def is_in(self, part: str, texts: Sequence[str], minimum: float) -> bool:
        return any(self.share(part, text) >= minimum for text in texts)

    def without_decisions(self, text: str, decisions: Sequence[str]) -> list[str]:
        """Return the sentences of a text that do not repeat a decision; work that follows a decision is kept."""
        return [
            sentence
            for sentence in sentences(text)
            if not any(self._repeats(sentence, decision) for decision in decisions)
        ]

    def _repeats(self, sentence: str, decision: str) -> bool:
        if self.share(sentence, decision) < _REPEATED_SHARE:
            return False
        return states_decision(sentence) or self.share(decision, sentence) >= _SAME_SHARE


def _decision_in(text: str, decisions: Sequence[Memory], comparison: _Comparison) -> str:
    """Return the id of the decision that a line of a summary states; '' without a match.

    All decisions are compared: a replaced decision may match better than its successor."""
    shares = {memory.id: comparison.share(text, _words(memory)) for memory in decisions}
    best = max(shares, key=lambda id_: shares[id_], default="")
    return best if best and shares[best] >= _SAME_SHARE else ""


def _open_summary(
    db: sqlite3.Connection, session: Session, handoff: Memory | None, comparison: _Comparison
) -> SessionSummary:
    """Return the summary with the steps and obstacles that are still open; with all, if the session never had a
    handoff."""
    summary = session.summary
    if handoff is not None:
        is_open = partial(comparison.is_in, texts=[handoff.summary], minimum=_MOSTLY_SAME_SHARE)
        steps = tuple(step for step in summary.next_steps if is_open(step))
        notes = [text for text in sentences(summary.notes) if is_open(text)]
        next_steps = steps if steps or notes else (unlabelled(handoff.summary),)
        return replace(summary, next_steps=next_steps, notes=" ".join(notes))
    id_ = memories.handoff_id(session.id)
    if memories.find(db, id_) is None and not tombstones.is_buried(db, id_):
        return summary
    return replace(summary, next_steps=(), notes="")


def _words(memory: Memory) -> str:
    return f"{memory.title}. {without_request(memory.summary)}"
