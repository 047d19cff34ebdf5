"""Unsure candidates of a turn, kept aside when it is stored; said in two sessions, they are promoted to a lesson.

Called by the worker for every turn, inside the transaction that stores it."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from claude_mem_lite.compress.lessons.candidates import LessonCandidate, lesson_candidates
from claude_mem_lite.compress.lessons.user_voice import spoken
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.rules.corrections import is_taught, said_by_user
from claude_mem_lite.knowledge import quarantine, remember
from claude_mem_lite.knowledge.lessons import evidence
from claude_mem_lite.knowledge.lessons.similarity import Likeness, has_same_words
from claude_mem_lite.models import UNDONE_LEAD, Draft, Memory, Turn, TurnDigest
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories, memory_links, tombstones, turns
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.text import one_line, overlap, stems, within

MAX_OF_PROMPT = 3
_MIN_SAID_ALREADY = 0.6
_MIN_WORDS_EVERYWHERE = 3
_MAX_SAYINGS_COMPARED = 10
_MAX_PROMPT_COMPARED = 20_000


def unsure(prompt: str, previous_message: str) -> list[LessonCandidate]:
    """Return the candidates of a prompt that need somebody to judge them, best first."""
    return [one for one in lesson_candidates(prompt, previous_message) if one.is_unsure][:MAX_OF_PROMPT]


def candidates_in(said: str, before: str, project: str, session: str, turn: str, at: datetime) -> list[Candidate]:
    """Return the unsure candidates of what the user said after a message of the agent, best first, without secrets."""
    after_message = redact(before[-2 * candidates.MAX_AFTER :])
    return [
        candidates.make(project, session, turn, redact(one.sentence), one.probability, at, after_message=after_message)
        for one in unsure(said, before)
    ]


def of_turn(turn: Turn, digest: TurnDigest) -> list[Candidate]:
    """Return the unsure candidates of a turn, without those that rules have made a memory of; nothing is stored."""
    taught = [draft for draft in digest.drafts if is_taught(draft)]
    found = (
        one
        for event, said, before in said_by_user(turn)
        for one in candidates_in(said, before, turn.project, turn.session, turn.key, event.at)
    )
    return [one for one in found if not _is_taught_already(one.sentence, taught)]


def keep(
    db: sqlite3.Connection, found: Sequence[Candidate], likeness: Likeness, turn: str, now: datetime
) -> list[Memory]:
    """Store candidates, and promote those that were said before; return the lessons made. What the user dismissed is
    left out."""
    promoted: list[Memory] = []
    for one in found:
        if is_dismissed(db, one.project, one.sentence, likeness):
            continue
        candidate = _as_known(db, one, likeness)
        candidates.put(db, candidate)
        if candidate.state in candidates.OPEN and (memory := _promote(db, candidate, likeness, turn, now)):
            promoted.append(memory)
    return promoted


def is_dismissed(db: sqlite3.Connection, project: str | None, text: str, likeness: Likeness) -> bool:
    """Return whether the user dismissed what a text says, or a paraphrase of it, in this project, or in any."""
    if candidates.is_dismissed(db, project, text):
        return True
    dismissed = candidates.of_project(db, project, ("dismissed",))
    return bool(likeness.repeats(text, [one.sentence for one in dismissed]))


def without_dismissed(db: sqlite3.Connection, project: str, digest: TurnDigest, likeness: Likeness) -> TurnDigest:
    """Return what rules made of a turn without lessons that the user dismissed."""
    drafts = tuple(
        draft for draft in digest.drafts if not (is_taught(draft) and _is_draft_dismissed(db, project, draft, likeness))
    )
    return digest if drafts == digest.drafts else replace(digest, drafts=drafts)


def _is_draft_dismissed(db: sqlite3.Connection, project: str, draft: Draft, likeness: Likeness) -> bool:
    if draft.summary.startswith(UNDONE_LEAD):
        # All of these are alike but for the names of what was undone.
        dismissed = candidates.of_project(db, project, ("dismissed",))
        return any(has_same_words(draft.title, one.sentence) for one in dismissed)
    return any(is_dismissed(db, project, said, likeness) for said in _said_by(draft))


def _said_by(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys((draft.title, draft.summary)))


def _is_taught_already(sentence: str, taught: Sequence[Draft]) -> bool:
    return any(overlap(said, sentence) >= _MIN_SAID_ALREADY for draft in taught for said in _said_by(draft))


def _as_known(db: sqlite3.Connection, candidate: Candidate, likeness: Likeness) -> Candidate:
    """Return a candidate as the session knows it: a question may have been asked before its turn was stored."""
    known = [one for one in candidates.of_session(db, candidate.session) if one.state != "dismissed"]
    same = next((one for one in known if one.id == candidate.id), None)
    if same is None:
        alike = likeness.repeats(candidate.sentence, [one.sentence for one in known])
        same = known[alike[0]] if alike else None
    if same is None:
        return candidate
    if turns.stored_turns(db, [same.turn]):
        return same
    return replace(same, turn=candidate.turn, project=candidate.project)


def _promote(
    db: sqlite3.Connection, candidate: Candidate, likeness: Likeness, turn: str, now: datetime
) -> Memory | None:
    """Make a lesson of a candidate that another session has said too, with both as evidence; None: it was not."""
    if not _is_own(db, candidate):
        return None
    alike = _said_here(db, candidate, likeness)
    elsewhere = _said_elsewhere(db, candidate)
    is_everywhere = _holds_everywhere(db, candidate, [*alike, *elsewhere], likeness)
    alike += elsewhere if is_everywhere else []
    if not alike:
        return None
    told = sorted((*alike, candidate), key=lambda one: (one.created_at, one.id))
    known = next((memory for one in alike if one.memory and (memory := memories.find(db, one.memory))), None)
    if known is not None and known.status != "active":
        return None
    memory = _widened(known, is_everywhere) if known else _made(db, candidate, told, is_everywhere)
    if memory is None:
        return None
    stored = _see(db, memory, told, turn, now)
    for one in told:
        if one.state in candidates.OPEN:
            candidates.decide(db, one.id, "promoted", now, stored.id)
    return stored


def _made(
    db: sqlite3.Connection, candidate: Candidate, told: Sequence[Candidate], is_everywhere: bool
) -> Memory | None:
    """Return the lesson of a candidate; None when the user has had it forgotten."""
    memory = quarantine.checked(evidence.users_words(candidate, told, is_everywhere=is_everywhere))
    return None if tombstones.repeats_forgotten(db, memory) else memory


def _widened(memory: Memory, is_everywhere: bool) -> Memory:
    return replace(memory, scope="universal") if is_everywhere and memory.scope.startswith("project:") else memory


def _see(db: sqlite3.Connection, memory: Memory, told: Sequence[Candidate], turn: str, now: datetime) -> Memory:
    """Store a memory, or see it again, in all the turns that said it."""
    if memories.find(db, memory.id) is None:
        memory = remember.add(db, memory, turn, now)
    seen = sum(memory_links.note_sighting(db, memory.id, one.turn) for one in told)
    stored = replace(
        memory,
        times_seen=memory.times_seen + seen,
        last_seen_at=max(memory.last_seen_at, *(one.created_at for one in told)),
        detail=evidence.with_more(memory.detail, evidence.detail_of(evidence.SAID_LEAD, told)),
    )
    memories.rewrite(db, stored)
    return stored


def _said_here(db: sqlite3.Connection, candidate: Candidate, likeness: Likeness) -> list[Candidate]:
    """Return what other sessions of the project say alike."""
    here = candidates.of_project(db, candidate.project, candidates.HELD)
    here = [one for one in here if one.session != candidate.session]
    found = [here[at] for at in likeness.repeats(candidate.sentence, [one.sentence for one in here])]
    found += [one for one in here if one not in found and has_same_words(one.sentence, candidate.sentence)]
    return [one for one in found if _is_another(db, one, candidate)]


def _said_elsewhere(db: sqlite3.Connection, candidate: Candidate) -> list[Candidate]:
    """Return what other projects say in the same words."""
    if len(candidates.wording_of(candidate.sentence).split()) < _MIN_WORDS_EVERYWHERE:
        return []
    found = candidates.of_wording(db, candidate.sentence, candidate.project)
    return [one for one in found if one.state in candidates.HELD and _is_another(db, one, candidate)]


def _holds_everywhere(
    db: sqlite3.Connection, candidate: Candidate, alike: Sequence[Candidate], likeness: Likeness
) -> bool:
    """Return whether two projects say something, each of them more than once or with the user's word, and none has
    dismissed it."""
    if all(one.project == candidate.project for one in alike) or is_dismissed(db, None, candidate.sentence, likeness):
        return False
    said = {one.id: one for one in candidates.of_memories(db, [one.memory for one in alike if one.memory])}
    said |= {one.id: one for one in (*alike, candidate)}
    projects = {one.project for one in said.values()}
    sure = {name for name in projects if _is_said_twice(db, [one for one in said.values() if one.project == name])}
    return candidate.project in sure and len(sure) > 1


def _is_said_twice(db: sqlite3.Connection, said: Sequence[Candidate]) -> bool:
    if any(one.state == "accepted" for one in said):
        return True
    own = [one for one in said[:_MAX_SAYINGS_COMPARED] if _is_own(db, one)]
    return any(_is_another(db, one, other) for one, other in combinations(own, 2))


def _is_another(db: sqlite3.Connection, one: Candidate, other: Candidate) -> bool:
    """Return whether the user said two things apart: not in one session or its fork, nor in one task sent twice. A
    prompt that has nothing beside the sentence is no task."""
    if one.session == other.session or one.created_at == other.created_at or not _is_own(db, one):
        return False
    prompt, again = (turns.texts_of(db, each.turn)[0][:_MAX_PROMPT_COMPARED] for each in (one, other))
    ours, theirs = _said_beside(prompt, one.sentence), _said_beside(again, other.sentence)
    return 2 * len(ours & theirs) <= min(len(ours), len(theirs))


def _is_own(db: sqlite3.Connection, candidate: Candidate) -> bool:
    """Return whether a sentence is the user's own beyond doubt: of no long paragraph, or accepted."""
    if candidate.state == "accepted":
        return True
    said = spoken(turns.texts_of(db, candidate.turn)[0])
    return any(within(one_line(redact(one)), candidates.MAX_SENTENCE) == candidate.sentence for one in said)


def _said_beside(prompt: str, sentence: str) -> set[frozenset[str]]:
    """Return the stems of each of the other sentences of a prompt."""
    own = stems(sentence).keys()
    found = {frozenset(stems(one)) for line in prompt.splitlines() for one in sentences(line)}
    return {one for one in found if not one <= own}
