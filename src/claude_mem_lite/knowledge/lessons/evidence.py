"""Memory of a candidate, with the user's sentences as evidence in the detail, and the candidate as JSON in events.

A memory in the user's own words has the `origin` user and is made by rules or the user. A memory worded by an agent or
a model has the `origin` user too, but the author and trust of the agent or model: it is no standing rule before the
user accepts it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.compress.lessons.reader import kind_asked
from claude_mem_lite.compress.lessons.statement import statement_of
from claude_mem_lite.compress.prose.drafts import SAID_LEAD, quote_line
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.event_names import is_past
from claude_mem_lite.knowledge.confidence import FIRST_OF_USER
from claude_mem_lite.models import (
    MAX_DETAIL_LENGTH,
    MAX_FILES,
    MAX_TITLE_LENGTH,
    TRANSCRIPT_TRUST,
    TRUST,
    JsonObject,
    Memory,
    text,
)
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.lesson_candidates import Candidate, State
from claude_mem_lite.text import within
from claude_mem_lite.timestamps import text_to_time, time_to_text

SAVED_BY_AGENT_LEAD = "Saved by the agent after the user said"
WORDED_BY_MODEL_LEAD = "Worded by a model after the user said"
_MAX_BEFORE = 200
_PLAIN = ("id", "project", "session", "turn", "sentence", "after_message", "probability")


def memory_id(candidate: Candidate) -> str:
    """Return the id of the memory of a candidate."""
    return short_id("lesson memory", candidate.id)


def users_words(candidate: Candidate, evidence: Sequence[Candidate], *, is_everywhere: bool = False) -> Memory:
    """Return the memory of a candidate in the user's own words, with all sentences as evidence."""
    said = statement_of(candidate.sentence)
    is_past_word = any(is_past(saying.turn) for saying in evidence)
    return Memory(
        id=memory_id(candidate),
        kind=kind_asked(said),
        title=within(said.rstrip("."), MAX_TITLE_LENGTH),
        summary=said,
        detail=detail_of(evidence),
        files=tuple(files_named(candidate.sentence))[:MAX_FILES],
        created_at=candidate.created_at,
        last_seen_at=max(saying.created_at for saying in evidence),
        scope="universal" if is_everywhere else f"project:{candidate.project}",
        project=candidate.project,
        session=candidate.session,
        origin="user",
        trust=TRANSCRIPT_TRUST if is_past_word else TRUST["user"],
        confidence=FIRST_OF_USER,
    )


def in_other_words(memory: Memory, candidate: Candidate, lead: str) -> Memory:
    """Return a memory worded by an agent or a model as a statement of the user, with the user's sentence as
    evidence."""
    return replace(
        memory,
        detail=with_more(memory.detail, detail_of([candidate], lead)),
        origin="user",
        trust=TRUST["assistant"],
        confidence=FIRST_OF_USER,
    )


def detail_of(evidence: Sequence[Candidate], lead: str = SAID_LEAD) -> str:
    """Return one line for each sentence: time, words, and the answered message."""
    quotes = ((saying, quote_line(saying.sentence, lead, f"{saying.created_at:%Y-%m-%d}")) for saying in evidence)
    lines = [f"{quote}{_answering(saying)}" for saying, quote in quotes]
    return within("\n".join(dict.fromkeys(lines)), MAX_DETAIL_LENGTH)


def with_more(detail: str, more: str) -> str:
    """Return a detail with further lines, each once, within the limit."""
    lines = dict.fromkeys(line for line in (*detail.split("\n"), *more.split("\n")) if line)
    return within("\n".join(lines), MAX_DETAIL_LENGTH)


def _answering(candidate: Candidate) -> str:
    end = candidate.after_message[-_MAX_BEFORE:].partition(" ")[2]
    return f' (in answer to: "…{end}")' if end else ""


def candidate_to_json(candidate: Candidate) -> JsonObject:
    """Return the sentence, place and time of a candidate, without the state."""
    return {
        **{name: getattr(candidate, name) for name in _PLAIN},
        "created_at": time_to_text(candidate.created_at),
        "asked_at": time_to_text(candidate.asked_at) if candidate.asked_at else "",
        "memory": candidate.memory,
    }


def candidate_from_json(noted: JsonObject, state: State) -> Candidate:
    """Return the candidate of an object, in a given state; raise ValueError for an object without a time."""
    probability = noted.get("probability")
    made = candidates.make(
        text(noted.get("project")),
        text(noted.get("session")),
        text(noted.get("turn")),
        text(noted.get("sentence")),
        float(probability) if isinstance(probability, int | float) else 0.0,
        text_to_time(text(noted.get("created_at"))),
        after_message=text(noted.get("after_message")),
        state=state,
    )
    return replace(made, asked_at=_time(text(noted.get("asked_at"))), memory=text(noted.get("memory")))


def _time(noted: str) -> datetime | None:
    return text_to_time(noted) if noted else None
