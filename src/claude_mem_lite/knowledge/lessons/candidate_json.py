"""Candidates as JSON: in commands and in what was found for them, so that a database made anew has them again."""

from dataclasses import replace
from datetime import datetime

from claude_mem_lite.models import JsonObject, text
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store.lesson_candidates import Candidate, State
from claude_mem_lite.timestamps import text_to_time, time_to_text


def written(candidate: Candidate) -> JsonObject:
    """Return where and when a candidate was said, without what became of it."""
    return {
        "id": candidate.id,
        "project": candidate.project,
        "session": candidate.session,
        "turn": candidate.turn,
        "sentence": candidate.sentence,
        "after_message": candidate.after_message,
        "probability": candidate.probability,
        "created_at": time_to_text(candidate.created_at),
        "asked_at": time_to_text(candidate.asked_at) if candidate.asked_at else "",
        "memory": candidate.memory,
    }


def read(noted: JsonObject, state: State) -> Candidate:
    """Return the candidate that was written, in a state; ValueError when that tells no time."""
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
