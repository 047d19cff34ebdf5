"""Unsure candidates of a turn, stored with the turn, and promoted to a lesson if two sessions have them.

Called for every turn, inside the transaction that stores the turn. A memory has the user's sentences as evidence in the
detail, and events have the candidate as JSON. A memory in the user's own words has the `origin` user and is made by
rules or the user. A memory worded by an agent or a model has the `origin` user too, but the author and trust of the
agent or model: it is no standing rule before the user accepts it."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import combinations

from claude_mem_lite.compress.lessons.candidates import ScoredSentence, lesson_candidates
from claude_mem_lite.compress.lessons.reader import kind_asked
from claude_mem_lite.compress.lessons.statement import statement_of
from claude_mem_lite.compress.lessons.user_voice import own_sentences
from claude_mem_lite.compress.prose.drafts import SAID_LEAD, quote_line
from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.compress.prose.mentions import files_named
from claude_mem_lite.compress.rules.turn_lessons import is_taught, user_statements
from claude_mem_lite.event_names import is_past
from claude_mem_lite.knowledge import quarantine, remember
from claude_mem_lite.knowledge.confidence import FIRST_OF_USER
from claude_mem_lite.knowledge.lessons.similarity import Likeness, has_same_words
from claude_mem_lite.models import (
    MAX_DETAIL_LENGTH,
    MAX_FILES,
    MAX_TITLE_LENGTH,
    TRANSCRIPT_TRUST,
    TRUST,
    Draft,
    JsonObject,
    Memory,
    Turn,
    is_revert,
    text,
)
from claude_mem_lite.safety.redact import redact
from claude_mem_lite.store import lesson_candidates as candidates
from claude_mem_lite.store import memories, memory_links, retirements, tombstones, turns
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.lesson_candidates import Candidate, State
from claude_mem_lite.text import one_line, overlap, stems, within
from claude_mem_lite.timestamps import text_to_time, time_to_text
from claude_mem_lite.turn_digest import TurnDigest

SAVED_BY_AGENT_LEAD = "Saved by the agent after the user said"
WORDED_BY_MODEL_LEAD = "Worded by a model after the user said"
_MAX_BEFORE = 200
_PLAIN = ("id", "project", "session", "turn", "sentence", "after_message", "probability")
MAX_OF_PROMPT = 3
_MIN_SAID_ALREADY = 0.6
_MIN_WORDS_EVERYWHERE = 3
_MAX_SAYINGS_COMPARED = 10
_MAX_PROMPT_COMPARED = 20_000


def unsure(prompt: str, previous_message: str) -> list[ScoredSentence]:
    """Return the unsure candidates of a prompt, best first."""
    found = lesson_candidates(prompt, previous_message)
    return [candidate for candidate in found if candidate.is_unsure][:MAX_OF_PROMPT]


def candidates_in(said: str, before: str, project: str, session: str, turn: str, at: datetime) -> list[Candidate]:
    """Return the unsure candidates of the user's sentences after a message of the agent, best first, without
    secrets."""
    after_message = redact(before[-2 * candidates.MAX_AFTER :])
    return [
        candidates.make(
            project, session, turn, redact(found.sentence), found.probability, at, after_message=after_message
        )
        for found in unsure(said, before)
    ]


def of_turn(turn: Turn, digest: TurnDigest) -> list[Candidate]:
    """Return the unsure candidates of a turn, without those that became memories by rules; nothing is stored."""
    taught = [draft for draft in digest.drafts if is_taught(draft)]
    found = (
        candidate
        for event, said, before in user_statements(turn)
        for candidate in candidates_in(said, before, turn.project, turn.session, turn.key, event.at)
    )
    return [candidate for candidate in found if not _is_taught_already(candidate.sentence, taught)]


def keep(
    db: sqlite3.Connection, found: Sequence[Candidate], likeness: Likeness, turn: str, now: datetime
) -> list[Memory]:
    """Store candidates and promote repeated ones; return the new lessons. Dismissed sentences are left out."""
    promoted: list[Memory] = []
    for saying in found:
        if is_dismissed(db, saying.project, saying.sentence, likeness):
            continue
        candidate = _as_known(db, saying, likeness)
        candidates.put(db, candidate)
        if candidate.state in candidates.OPEN and (memory := _promote(db, candidate, likeness, turn, now)):
            promoted.append(memory)
    return promoted


def is_dismissed(db: sqlite3.Connection, project: str | None, text: str, likeness: Likeness) -> bool:
    """Return True if the user dismissed a text or a paraphrase, in this project or in any."""
    if candidates.is_dismissed(db, project, text):
        return True
    dismissed = candidates.of_project(db, project, ("dismissed",))
    return bool(likeness.repeats(text, [saying.sentence for saying in dismissed]))


def without_dismissed(db: sqlite3.Connection, project: str, digest: TurnDigest, likeness: Likeness) -> TurnDigest:
    """Return a digest without lessons that the user dismissed."""
    drafts = tuple(
        draft for draft in digest.drafts if not (is_taught(draft) and _is_draft_dismissed(db, project, draft, likeness))
    )
    return digest if drafts == digest.drafts else replace(digest, drafts=drafts)


def _is_draft_dismissed(db: sqlite3.Connection, project: str, draft: Draft, likeness: Likeness) -> bool:
    if is_revert(draft):
        # These drafts differ only by the names of the reverted code.
        dismissed = candidates.of_project(db, project, ("dismissed",))
        return any(has_same_words(draft.title, saying.sentence) for saying in dismissed)
    return any(is_dismissed(db, project, said, likeness) for said in _said_by(draft))


def _said_by(draft: Draft) -> tuple[str, ...]:
    return tuple(dict.fromkeys((draft.title, draft.summary)))


def _is_taught_already(sentence: str, taught: Sequence[Draft]) -> bool:
    return any(overlap(said, sentence) >= _MIN_SAID_ALREADY for draft in taught for said in _said_by(draft))


def _as_known(db: sqlite3.Connection, candidate: Candidate, likeness: Likeness) -> Candidate:
    """Return the stored version of a candidate: the question may come before the turn is stored."""
    known = [saying for saying in candidates.of_session(db, candidate.session) if saying.state != "dismissed"]
    same = next((saying for saying in known if saying.id == candidate.id), None)
    if same is None:
        alike = likeness.repeats(candidate.sentence, [saying.sentence for saying in known])
        same = known[alike[0]] if alike else None
    if same is None:
        return candidate
    if turns.stored_turns(db, [same.turn]):
        return same
    return replace(same, turn=candidate.turn, project=candidate.project)


def _promote(
    db: sqlite3.Connection, candidate: Candidate, likeness: Likeness, turn: str, now: datetime
) -> Memory | None:
    """Promote a candidate that another session repeats, with both sentences as evidence; None without a repetition."""
    if not _is_own(db, candidate):
        return None
    alike = _said_here(db, candidate, likeness)
    elsewhere = _said_elsewhere(db, candidate)
    is_everywhere = _holds_everywhere(db, candidate, [*alike, *elsewhere], likeness)
    alike += elsewhere if is_everywhere else []
    if not alike:
        return None
    sayings = sorted((*alike, candidate), key=lambda saying: (saying.created_at, saying.id))
    known = next((memory for saying in alike if saying.memory and (memory := memories.find(db, saying.memory))), None)
    if known is not None and known.status != "active":
        return None
    memory = _widened(known, is_everywhere) if known else _made(db, candidate, sayings, is_everywhere)
    if memory is None:
        return None
    stored = _see(db, memory, sayings, turn, now)
    for saying in sayings:
        if saying.state in candidates.OPEN:
            candidates.decide(db, saying.id, "promoted", now, stored.id)
    return stored


def _made(
    db: sqlite3.Connection, candidate: Candidate, sayings: Sequence[Candidate], is_everywhere: bool
) -> Memory | None:
    """Return the lesson of a candidate; None if the user had the lesson forgotten."""
    memory = quarantine.checked(users_words(candidate, sayings, is_everywhere=is_everywhere))
    return None if tombstones.repeats_forgotten(db, memory) else memory


def _widened(memory: Memory, is_everywhere: bool) -> Memory:
    return replace(memory, scope="universal") if is_everywhere and memory.scope.startswith("project:") else memory


def _see(db: sqlite3.Connection, memory: Memory, sayings: Sequence[Candidate], turn: str, now: datetime) -> Memory:
    """Store a memory, or count sightings, for all turns with the sentence."""
    if memories.find(db, memory.id) is None:
        memory = remember.add(db, memory, turn, now)
    seen = sum(memory_links.note_sighting(db, memory.id, saying.turn) for saying in sayings)
    stored = replace(
        memory,
        times_seen=memory.times_seen + seen,
        last_seen_at=max(memory.last_seen_at, *(saying.created_at for saying in sayings)),
        detail=with_more(memory.detail, detail_of(sayings)),
    )
    memories.rewrite(db, stored)
    return stored


def _said_here(db: sqlite3.Connection, candidate: Candidate, likeness: Likeness) -> list[Candidate]:
    """Return similar sentences of other sessions of the project."""
    here = candidates.of_project(db, candidate.project, candidates.HELD)
    here = [saying for saying in here if saying.session != candidate.session]
    found = [here[at] for at in likeness.repeats(candidate.sentence, [saying.sentence for saying in here])]
    found += [saying for saying in here if saying not in found and has_same_words(saying.sentence, candidate.sentence)]
    return [saying for saying in found if _is_another(db, saying, candidate)]


def _said_elsewhere(db: sqlite3.Connection, candidate: Candidate) -> list[Candidate]:
    """Return equal sentences of other projects."""
    if len(candidates.wording_of(candidate.sentence).split()) < _MIN_WORDS_EVERYWHERE:
        return []
    found = candidates.of_wording(db, candidate.sentence, candidate.project)
    return [saying for saying in found if saying.state in candidates.HELD and _is_another(db, saying, candidate)]


def _holds_everywhere(
    db: sqlite3.Connection, candidate: Candidate, alike: Sequence[Candidate], likeness: Likeness
) -> bool:
    """Return True if two projects have a sentence, each of them repeatedly or accepted by the user, and none has
    dismissed the sentence."""
    is_only_here = all(saying.project == candidate.project for saying in alike)
    if is_only_here or is_dismissed(db, None, candidate.sentence, likeness):
        return False
    promoted = candidates.of_memories(db, [saying.memory for saying in alike if saying.memory])
    by_id = {saying.id: saying for saying in (*promoted, *alike, candidate)}
    by_project: dict[str, list[Candidate]] = {}
    for saying in by_id.values():
        by_project.setdefault(saying.project, []).append(saying)
    sure = {project for project, sayings in by_project.items() if _is_said_twice(db, sayings)}
    return candidate.project in sure and len(sure) > 1


def _is_said_twice(db: sqlite3.Connection, said: Sequence[Candidate]) -> bool:
    if any(saying.state == "accepted" for saying in said):
        return True
    own = [saying for saying in said[:_MAX_SAYINGS_COMPARED] if _is_own(db, saying)]
    return any(_is_another(db, saying, other) for saying, other in combinations(own, 2))


def _is_another(db: sqlite3.Connection, saying: Candidate, other: Candidate) -> bool:
    """Return True if two sentences are independent: not of one session or a fork, and not of one task that was sent
    twice. A prompt with only the sentence is no task."""
    if saying.session == other.session or saying.created_at == other.created_at or not _is_own(db, saying):
        return False
    prompt, again = (turns.texts_of(db, turn)[0][:_MAX_PROMPT_COMPARED] for turn in (saying.turn, other.turn))
    ours, theirs = _said_beside(prompt, saying.sentence), _said_beside(again, other.sentence)
    return 2 * len(ours & theirs) <= min(len(ours), len(theirs))


def _is_own(db: sqlite3.Connection, candidate: Candidate) -> bool:
    """Return True if a sentence is certainly the user's own: from a short paragraph, or accepted."""
    if candidate.state == "accepted":
        return True
    said = own_sentences(turns.texts_of(db, candidate.turn)[0])
    return any(within(one_line(redact(sentence)), candidates.MAX_SENTENCE) == candidate.sentence for sentence in said)


def _said_beside(prompt: str, sentence: str) -> set[frozenset[str]]:
    own = stems(sentence).keys()
    found = {frozenset(stems(other)) for line in prompt.splitlines() for other in sentences(line)}
    return {other for other in found if not other <= own}


def is_kept(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return True if a lesson has evidence beyond the turn: code that the user reverted, or candidates of several
    sessions."""
    return memory.origin == "user" and (is_revert(memory) or bool(candidates.of_memories(db, [memory.id])))


def put_rebuilt(db: sqlite3.Connection, made: Sequence[Memory], turn: str, at: datetime) -> list[Memory]:
    """Store the present lessons of a turn, also those that an earlier rebuild retired."""
    stored = []
    for memory in made:
        known = remember.add(db, memory, turn, at)
        retired = retirements.of(db, [known.id]).get(known.id)
        if retired is not None and retired.cause == "rebuilt" and retirements.revive(db, known.id):
            known = memories.find(db, known.id) or known
        stored.append(known)
    return stored


def collect_rebuilt(
    db: sqlite3.Connection, turn: Turn, digest: TurnDigest, likeness: Likeness, received_at: datetime
) -> list[Memory]:
    """Store the unsure candidates of a turn; return the promoted lessons.

    Nothing is collected if something was forgotten before the events arrived: a transcript still has the text."""
    at = turn.events[-1].at
    if tombstones.has_between(db, at, received_at):
        return []
    return keep(db, of_turn(turn, digest), likeness, turn.key, at)


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
