"""What of the summary of a session still holds: its words stay as they were written, whatever became of what it decided
and left open since."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.context.layers.code_state import verdict_of, why_not
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.render import unlabelled
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import is_stated
from claude_mem_lite.context.similarity import Said
from claude_mem_lite.models import REQUEST_LEAD, Memory, Session, SessionSummary
from claude_mem_lite.store import memories, memory_links, memory_queries, tombstones

_SAYS_IT, _SAYS_MOST_OF_IT = 0.8, 0.6
# "Decided to …" has one word more than what was decided.
_REPEATS_IT = 0.7
_MAX_STATED = 60


@dataclass(frozen=True, slots=True)
class Held:
    """A session with only that in its summary which holds, and the memories of its decisions by their words there."""

    session: Session
    decided: dict[str, str]
    left: Memory | None
    """What it left open, while it is."""


def held(db: sqlite3.Connection, occasion: Occasion, setting: Setting, found: Sequence[Session]) -> list[Held]:
    """The sessions as they may be told of now."""
    by_session = memory_queries.of_sessions(db, found)
    standing = _standing(db, occasion, [memory for made in by_session.values() for memory in made])
    is_asked_for = any(one.summary.key_decisions or one.summary.learned for one in found)
    stated = _stated(db, occasion, setting) if is_asked_for else []
    compare = _Compare()
    told = []
    for one in found:
        made, left = by_session[one.id], memories.handoff_of(db, one.id)
        decided = {
            text: id_
            for text in one.summary.key_decisions
            if (id_ := _decision_in(text, made, compare)) in standing
            and not compare.is_said(text, stated, _SAYS_MOST_OF_IT)
        }
        open_ = _with_what_is_open(db, one, left, compare)
        laid_down = [*one.summary.key_decisions, *map(_words, made)]
        new = compare.without_decisions(open_.learned, laid_down)
        learned = " ".join(text for text in new if not compare.is_said(text, stated, _SAYS_IT))
        done = compare.without_decisions(open_.completed, laid_down)
        completed = " ".join(text for text in done if not compare.is_said(text, [learned], _SAYS_IT))
        summary = replace(open_, key_decisions=tuple(decided), learned=learned, completed=completed)
        told.append(Held(replace(one, summary=summary), decided, left))
    return told


def _standing(db: sqlite3.Connection, occasion: Occasion, made: Sequence[Memory]) -> set[str]:
    """The decisions that may be told in the words of a session: they hold as they were made, nothing has to be said
    beside them, and the user has not put them in other words."""
    verdicts = occasion.checkout.freshness(made)
    against = memory_links.of(db, [memory.id for memory in made])
    return {
        memory.id
        for memory in made
        if memory.status == "active"
        and not is_stated(memory)
        and memory.made_by != "user"
        and memory.id not in against
        and verdict_of(memory, verdicts) != "changed"
        and not why_not(memory, verdicts)
    }


def _stated(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[str]:
    """What the user stated or pinned that holds here: it is told in those words, in a layer of its own."""
    language = [f"language:{setting.language}"] if setting.language else []
    scopes = [f"project:{occasion.place.project}", *language, "universal"]
    found = [one for scope in scopes for one in memories.in_scope(db, scope, (), since=None, limit=_MAX_STATED)]
    return [_words(memory) for memory in found if memory.kind != "handoff"]


class _Compare:
    """Compares texts, and finds the words of each but once."""

    def __init__(self) -> None:
        self._said: dict[str, Said] = {}

    def share(self, part: str, text: str) -> float:
        for one in (part, text):
            if one not in self._said:
                self._said[one] = Said(one)
        return self._said[part].share_in(self._said[text])

    def is_said(self, part: str, texts: Sequence[str], least: float) -> bool:
        return any(self.share(part, text) >= least for text in texts)

    def without_decisions(self, text: str, laid_down: Sequence[str]) -> list[str]:
        """The sentences of a text that do not repeat what was decided; what was done about it is no repetition."""
        return [one for one in sentences(text) if not any(self._repeats(one, decision) for decision in laid_down)]

    def _repeats(self, sentence: str, decision: str) -> bool:
        if self.share(sentence, decision) < _REPEATS_IT:
            return False
        return states_decision(sentence) or self.share(decision, sentence) >= _SAYS_IT


def _decision_in(text: str, made: Sequence[Memory], compare: _Compare) -> str:
    """The id of the decision that a line of a summary is about: of the one that says most of it. All are asked,
    because one that was replaced may say more of it than what replaced it."""
    shares = {memory.id: compare.share(text, _words(memory)) for memory in made}
    best = max(shares, key=lambda id_: shares[id_], default="")
    return best if best and shares[best] >= _SAYS_IT else ""


def _with_what_is_open(
    db: sqlite3.Connection, session: Session, left: Memory | None, compare: _Compare
) -> SessionSummary:
    """The summary with the steps and hindrances that are left; where there never was a handoff, with all of them."""
    told = session.summary
    if left is not None:
        steps = tuple(step for step in told.next_steps if compare.is_said(step, [left.summary], _SAYS_MOST_OF_IT))
        notes = [text for text in sentences(told.notes) if compare.is_said(text, [left.summary], _SAYS_MOST_OF_IT)]
        return replace(told, next_steps=steps if steps or notes else (unlabelled(left.summary),), notes=" ".join(notes))
    id_ = memories.handoff_id(session.id)
    if memories.find(db, id_) is None and not tombstones.is_buried(db, id_):
        return told
    return replace(told, next_steps=(), notes="")


def _words(memory: Memory) -> str:
    return f"{memory.title}. {memory.summary.partition(REQUEST_LEAD)[0]}"
