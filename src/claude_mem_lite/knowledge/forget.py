"""Forgetting on request of the user: memories leave every table, together with the texts that repeat them."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.compress.prose.drafts import is_quote_of
from claude_mem_lite.knowledge import correction_context, repeated_text
from claude_mem_lite.knowledge.claims.claim import say_one_thing
from claude_mem_lite.knowledge.repeated_text import RepetitionMatcher
from claude_mem_lite.models import MAX_TITLE_LENGTH, Memory
from claude_mem_lite.store import (
    branches,
    guard_ledger,
    guards,
    lesson_candidates,
    memories,
    memory_links,
    memory_queries,
    rebuilds,
    receipts,
    retirements,
    sessions,
    symbol_changes,
    tombstones,
    turns,
)
from claude_mem_lite.store.experiment import arms
from claude_mem_lite.store.experiment import outcomes as experiment_outcomes
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.text import one_line, within

# Up to this number of memories, repetitions are searched everywhere; each memory takes some milliseconds.
_MAX_SPREAD = 50
_MAX_OF_A_SESSION = 1_000


class Forgotten(NamedTuple):
    """Ids of forgotten memories, of the turns whose events must be erased, and of the sessions that mentioned the
    memories."""

    memories: list[str]
    turns: list[str]
    sessions: list[str]
    candidates: tuple[str, ...] = ()
    """Ids of the removed lesson candidates."""


def forget(
    db: sqlite3.Connection,
    ids: Sequence[str],
    whole_sessions: Sequence[str],
    now: datetime,
    *,
    whole_turns: Sequence[str] = (),
    project: str | None = None,
    command: str = "",
) -> Forgotten:
    """Remove memories, and turns, sessions and a project with everything made from them, inside the caller's
    transaction.

    Memories that a removed memory had replaced stay replaced. With a `command`, `leave_replaced_again` can repeat
    that."""
    forgotten = [memories.get(db, id_) for id_ in ids]
    behind = list(dict.fromkeys((*memory_links.turns_of(db, ids), *whole_turns)))
    said = repeated_text.said_in(text for turn in behind for text in turns.texts_of(db, turn))
    said |= repeated_text.said_in(
        (text for turn in whole_turns for text in turns.texts_of(db, turn)), repeated_text.SAID_WORDS
    )
    mentioned_in = {memory.session for memory in forgotten} | turns.of_turns(db, behind)
    versions = _versions_of(db, forgotten)
    repeated = [repeated_text.elsewhere(db, memory) for memory in forgotten] if len(forgotten) <= _MAX_SPREAD else []

    for memory in forgotten:
        tombstones.add_memory(db, memory, now)
    left = memories.remove(db, ids, now)
    prompts = turns.prompt_ids(db, behind)
    tombstones.add_names(db, (*behind, *prompts), now)
    guard_ledger.forget(db, sessions=whole_sessions, turns=prompts)
    turns.forget_turns(db, behind)
    symbol_changes.forget(db, sessions=whole_sessions, turns=behind)
    for session in whole_sessions:
        # The transcripts of the session and its forks still exist: an import must not bring the session back.
        tombstones.add_names(db, (session, *sorted(turns.names_in(db, session))), now)
        sessions.forget_session(db, session)

    matcher = replace(repeated_text.of_memories(forgotten), said=said)
    guard_ledger.forget_repetitions(db, matcher.is_in_any)
    seen_in = (*memory_links.memories_in(db, behind), *lesson_candidates.memories_after(db, behind, whole_sessions))
    seen = (found for id_ in dict.fromkeys(seen_in) if (found := memories.find(db, id_)))
    gone = [memory.id for memory in seen if _is_rewritten_away(db, memory, matcher)]
    gone += [memory.id for memory in versions if memory.id not in gone]
    left += memories.remove(db, gone, now)
    if command:
        still = [memories.find(db, id_) for id_ in dict.fromkeys(left)]
        tombstones.note_left(db, command, [(memory.id, memory.superseded_by or "") for memory in still if memory], now)
    correction_context.remove_quotes(db, [*forgotten, *versions], mentioned_in)
    for session in mentioned_in - set(whole_sessions):
        _rewrite_summary(db, session, matcher, now)
    rewritten = [place for found in repeated for place in _rewrite_elsewhere(db, *found, now)]
    repeating = [name for kind, name in rewritten if kind != "session"]
    mentioned_in |= {name for kind, name in rewritten if kind == "session"}

    candidates = lesson_candidates.forget(
        db, turns=[*behind, *repeating], sessions=whole_sessions, memories=[*ids, *gone], project=project
    )
    candidates += lesson_candidates.forget_repetitions(db, matcher.is_in_any, mentioned_in)
    # Common words alone would match unrelated texts: no search elsewhere.
    if telling := [elsewhere for elsewhere, _ in repeated if elsewhere.has_enough_rare_words()]:
        candidates += lesson_candidates.forget_repetitions(
            db, lambda text: any(repetition.is_in_any(text) for repetition in telling)
        )
    for candidate in candidates:
        _take_out_evidence(db, candidate)
    # A command about a candidate quotes the sentence and may be replayed.
    tombstones.add_names(db, [candidate.id for candidate in candidates], now)
    rebuilds.drop_summaries(db)
    receipts.forget(db, sources=[*ids, *gone], sessions=whole_sessions, project=project)
    arms.forget(db, whole_sessions)
    experiment_outcomes.forget(db, whole_sessions)
    if project is not None:
        sessions.forget_project(db, project)
        guards.forget_project(db, project)
    branches.drop_unused(db)
    fts.scrub(db)
    passages.scrub(db)
    candidates_gone = tuple(candidate.id for candidate in candidates)
    turns_gone = list(dict.fromkeys((*behind, *repeating)))
    return Forgotten([*ids, *gone], turns_gone, sorted({*mentioned_in, *whole_sessions} - {""}), candidates_gone)


def forget_again(db: sqlite3.Connection, now: datetime) -> Forgotten:
    """Remove forgotten things that are stored again because an older database replaced a newer one.

    Runs inside the caller's transaction. A session that continued after the forgetting keeps the later turns."""
    found = tombstones.still_stored(db)
    if not any(found):
        return Forgotten([], [], [])
    return forget(db, found.memories, found.sessions, now, whole_turns=found.turns)


def leave_replaced_again(db: sqlite3.Connection, command: str) -> None:
    """Mark the memories as replaced that a forget command left replaced, inside the caller's transaction.

    The replacing memories were forgotten, together with the texts and commands that would replace the memories
    again."""
    for id_, successor in tombstones.left_by(db, command):
        retirements.leave_replaced(db, id_, successor)


def made_in(db: sqlite3.Connection, turn: str) -> list[str]:
    """Return the ids of the memories that a turn made, and of those that no other turn saw."""
    made = (memory.id for memory in memory_queries.of_turn(db, turn))
    return list(dict.fromkeys((*made, *memory_links.only_in(db, turn))))


def _is_rewritten_away(db: sqlite3.Connection, memory: Memory, matcher: RepetitionMatcher) -> bool:
    """Remove the forgotten text from a memory; return True if no title is left and the memory must be removed."""
    left = matcher.out_of_memory(memory)
    if left.title and left != memory:
        memories.rewrite(db, left)
    return not left.title


def _take_out_evidence(db: sqlite3.Connection, candidate: Candidate) -> None:
    """Remove the line that quotes a candidate from the detail of the candidate's memory."""
    memory = memories.find(db, candidate.memory) if candidate.memory else None
    if memory is None:
        return
    lines = memory.detail.split("\n")
    left = [line for line in lines if not is_quote_of(line, candidate.sentence)]
    if left != lines:
        memories.rewrite(db, replace(memory, detail="\n".join(left)))


def _rewrite_summary(db: sqlite3.Connection, session: str, matcher: RepetitionMatcher, now: datetime) -> bool:
    """Remove the forgotten text from the summary of a session; return False if the summary had none of the text."""
    found = sessions.find(db, session)
    if found is None:
        return False
    left = matcher.out_of_summary(found.summary, kept_files=_files_left(db, session))
    if left == found.summary:
        return False
    worth = found.headline_worth
    if found.summary.headline and left.headline != found.summary.headline:
        # The memory behind the headline is gone: any other memory may provide the next headline.
        worth = 0.0
        left = replace(left, headline=left.headline or left.request or left.completed or _headline_left(db, session))
    sessions.set_summary(db, session, left, now, worth)
    return True


def _files_left(db: sqlite3.Connection, session: str) -> set[str]:
    files = {stored.change.file for stored in symbol_changes.of_session(db, session)}
    stored = memory_queries.of_session(db, session, _MAX_OF_A_SESSION)
    return files | {file for memory in stored for file in memory.files}


def _headline_left(db: sqlite3.Connection, session: str) -> str:
    """Return a headline from the remaining memories or prompts of a session."""
    titles = (memory.title for memory in memory_queries.of_session(db, session, limit=1))
    return within(one_line(next(titles, "") or turns.last_prompt(db, session)), MAX_TITLE_LENGTH)


def _rewrite_elsewhere(
    db: sqlite3.Connection, matcher: RepetitionMatcher, found: Iterable[tuple[str, str]], now: datetime
) -> list[tuple[str, str]]:
    """Remove the forgotten text from other turns and sessions; return the changed ones by kind and name."""
    changed = []
    for kind, name in found:
        if kind == "session":
            changed += [(kind, name)] if _rewrite_summary(db, name, matcher, now) else []
            continue
        said = turns.texts_of(db, name)
        left = asked, answered, tasks, log = tuple(matcher.out_of(text) for text in said)
        if left != said:
            turns.set_texts(db, name, asked, answered, tasks, log)
            changed.append((kind, name))
    return changed


def _versions_of(db: sqlite3.Connection, forgotten: Sequence[Memory]) -> list[Memory]:
    """Return the replaced memories that are older versions of forgotten statements, such as another number,
    recursively.

    Statements of the user and other statements stay, with everything that they replaced."""
    newer = {memory.id: memory for memory in forgotten}
    known = set(newer)
    versions: list[Memory] = []
    while newer:
        older = [
            version
            for version in retirements.replaced_by(db, list(newer))
            if version.id not in known
            and not (version.pinned or version.origin == "user" or version.made_by == "user")
            and say_one_thing(version.title, newer[version.superseded_by or ""].title)
        ]
        versions += older
        newer = {version.id: version for version in older}
        known |= set(newer)
    return versions
