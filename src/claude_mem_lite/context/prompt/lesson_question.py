"""Question to the running agent: a line with a prompt that asks for a verdict on an unsure candidate.

Asked with the answer to a prompt, within the same time. Only if the tool for saving is permitted, and never twice for
the same candidate; `worker/answers/lesson_pace.py` limits the frequency."""

import sqlite3
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.agents.save_permission import may_save_in
from claude_mem_lite.compress.rules.turn_lessons import OWN_COMMANDS
from claude_mem_lite.config import Config
from claude_mem_lite.context import render
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.models import Event
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import turns
from claude_mem_lite.store.lesson_candidates import STATES, Candidate
from claude_mem_lite.text import unframed

MAX_PROMPT = 1_500
"""Maximum length of a prompt: longer prompts are mostly pasted, and scoring takes 1 ms per sentence."""
_MAX_COMPARED = 100
_MAX_QUOTE = 120


def candidate_to_ask(
    db: sqlite3.Connection, event: Event, project: str, config: Config, likeness: Likeness
) -> Candidate | None:
    """Return the candidate of a prompt for the agent to judge; None without a new candidate or without permission."""
    prompt = event.prompt or ""
    if not prompt or len(prompt) > MAX_PROMPT or event.agent_id or prompt.startswith(OWN_COMMANDS):
        return None
    if not may_save_in(config, event):
        return None
    before = turns.previous_message(db, event.session)
    unsure = collection.candidates_in(redact(prompt), before, project, event.session, event.name, event.at)
    if not unsure:
        return None
    known = [candidate.sentence for candidate in candidates.of_project(db, project, STATES, _MAX_COMPARED)]
    return next((candidate for candidate in unsure if not _is_known(db, candidate, known, likeness)), None)


def asked(candidate: Candidate, now: datetime) -> Candidate:
    """Return a candidate in the state `asked`."""
    return replace(candidate, state="asked", asked_at=now)


def question(candidate: Candidate) -> str:
    """Return the line for the context of a prompt, in its frame."""
    quote = unframed(render.safe_line(candidate.sentence, _MAX_QUOTE)).replace('"', "'")
    line = (
        f'"{quote}" may hold beyond this task. If so, save it with memory_save, in one self-contained sentence with '
        "its reason; if not, go on without a word."
    )
    return "\n".join((render.OPENING, line, render.CLOSING))


def _is_known(db: sqlite3.Connection, candidate: Candidate, known: list[str], likeness: Likeness) -> bool:
    if candidates.find(db, candidate.id) is not None:
        return True
    if likeness.repeats(candidate.sentence, known):
        return True
    return collection.is_dismissed(db, candidate.project, candidate.sentence, likeness)
