"""Forgetting: a memory goes from every table, and what repeats it goes with it.

Called by the worker on the user's word."""

import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.knowledge import correction_context, repeated_text
from claude_mem_lite.knowledge.claims import supersession
from claude_mem_lite.knowledge.claims.claim import say_one_thing
from claude_mem_lite.knowledge.repeated_text import Echo
from claude_mem_lite.models import MAX_TITLE_LENGTH, Memory
from claude_mem_lite.store import (
    branches,
    lesson_candidates,
    memories,
    memory_links,
    memory_queries,
    rebuilds,
    receipts,
    sessions,
    symbol_changes,
    tombstones,
    turns,
)
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.store.lesson_candidates import Candidate
from claude_mem_lite.text import one_line, within

# What repeats them is looked for everywhere when no more are forgotten at once: for each that takes some milliseconds.
_MAX_SPREAD = 50
_MAX_OF_A_SESSION = 1_000


class Forgotten(NamedTuple):
    """What was forgotten: memories by their ids, what went along with them included, the turns whose events must
    go as well, and the sessions that told of it."""

    memories: list[str]
    turns: list[str]
    sessions: list[str]
    candidates: tuple[str, ...] = ()
    """The lesson candidates that went along, by their ids."""


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
    """Remove memories, and turns, sessions and a project with all that was made of them, inside the caller's
    transaction.

    What they had replaced stays so; under the name of a `command` that is noted for `leave_replaced_again`."""
    forgotten = [memories.get(db, id_) for id_ in ids]
    behind = list(dict.fromkeys((*memory_links.turns_of(db, ids), *whole_turns)))
    said = repeated_text.said_in(text for turn in behind for text in turns.texts_of(db, turn))
    said |= repeated_text.said_in(
        (text for turn in whole_turns for text in turns.texts_of(db, turn)), repeated_text.SAID_WORDS
    )
    told_in = {memory.session for memory in forgotten} | turns.of_turns(db, behind)
    versions = _versions_of(db, forgotten)
    repeated = [repeated_text.elsewhere(db, memory) for memory in forgotten] if len(forgotten) <= _MAX_SPREAD else []

    for memory in forgotten:
        tombstones.add_memory(db, memory, now)
    left = memories.remove(db, ids, now)
    tombstones.add_names(db, (*behind, *turns.prompt_ids(db, behind)), now)
    turns.forget_turns(db, behind)
    symbol_changes.forget(db, sessions=whole_sessions, turns=behind)
    for session in whole_sessions:
        # Its transcript is still there, and those of its forks: reading them must not bring the session back.
        tombstones.add_names(db, (session, *sorted(turns.names_in(db, session))), now)
        sessions.forget_session(db, session)

    echo = replace(repeated_text.of_memories(forgotten), said=said)
    seen_in = (*memory_links.memories_in(db, behind), *lesson_candidates.memories_after(db, behind, whole_sessions))
    seen = (found for id_ in dict.fromkeys(seen_in) if (found := memories.find(db, id_)))
    gone = [one.id for one in seen if _is_rewritten_away(db, one, echo)]
    gone += [one.id for one in versions if one.id not in gone]
    left += memories.remove(db, gone, now)
    if command:
        still = (one for id_ in dict.fromkeys(left) if (one := memories.find(db, id_)))
        tombstones.note_left(db, command, [(one.id, one.superseded_by or "") for one in still], now)
    correction_context.take_out(db, [*forgotten, *versions], told_in)
    for session in told_in - set(whole_sessions):
        _rewrite_summary(db, session, echo, now)
    rewritten = [one for found in repeated for one in _rewrite_elsewhere(db, *found, now)]
    repeating = [name for kind, name in rewritten if kind != "session"]
    told_in |= {name for kind, name in rewritten if kind == "session"}

    candidates = lesson_candidates.forget(
        db, turns=[*behind, *repeating], sessions=whole_sessions, memories=[*ids, *gone], project=project
    )
    candidates += lesson_candidates.forget_repetitions(db, echo.is_in_any, told_in)
    # With common words only, anything could be a repetition: nothing is looked for elsewhere.
    if telling := [elsewhere for elsewhere, _ in repeated if elsewhere.is_telling()]:
        candidates += lesson_candidates.forget_repetitions(db, lambda text: any(one.is_in_any(text) for one in telling))
    for candidate in candidates:
        _take_out_evidence(db, candidate)
    # A command on a candidate quotes it, and may be carried out once more.
    tombstones.add_names(db, [one.id for one in candidates], now)
    rebuilds.drop_summaries(db)
    receipts.forget(db, sources=[*ids, *gone], sessions=whole_sessions, project=project)
    if project is not None:
        sessions.forget_project(db, project)
    branches.drop_unused(db)
    fts.scrub(db)
    passages.scrub(db)
    candidates_gone = tuple(one.id for one in candidates)
    turns_gone = list(dict.fromkeys((*behind, *repeating)))
    return Forgotten([*ids, *gone], turns_gone, sorted({*told_in, *whole_sessions} - {""}), candidates_gone)


def forget_again(db: sqlite3.Connection, now: datetime) -> Forgotten:
    """Remove what tombstones name and is there all the same, since an older database took the place of a newer one.

    Inside the caller's transaction. A session that went on after it was forgotten keeps what came then."""
    named = "in (select memory from tombstones)"
    ids = [row[0] for row in db.execute(f"select id from memories where id {named}")]
    spoken = "(text <> '' or reply <> '' or tasks <> '' or log <> '')"
    behind = [row[0] for row in db.execute(f"select turn from prompts where turn {named} and {spoken}")]
    whole = db.execute(
        f"""select id from sessions where id {named}
              and not exists (select 1 from prompts where session = sessions.id and not turn {named})"""
    ).fetchall()
    if not ids and not behind and not whole:
        return Forgotten([], [], [])
    return forget(db, ids, [row[0] for row in whole], now, whole_turns=behind)


def leave_replaced_again(db: sqlite3.Connection, command: str) -> None:
    """What a command to forget left replaced is so again when it is done again: inside the caller's transaction.

    What had replaced it was forgotten, and with it the words and commands by which that would happen anew."""
    for id_, successor in tombstones.left_by(db, command):
        supersession.leave_replaced(db, id_, successor)


def made_in(db: sqlite3.Connection, turn: str) -> list[str]:
    """The ids of the memories that a turn made, and of those that were seen in no other."""
    made = (memory.id for memory in memory_queries.of_turn(db, turn))
    return list(dict.fromkeys((*made, *memory_links.only_in(db, turn))))


def _is_rewritten_away(db: sqlite3.Connection, memory: Memory, echo: Echo) -> bool:
    """Take what is to be forgotten out of a memory; True when nothing is left of it, and it is to be removed."""
    left = echo.out_of_memory(memory)
    if left.title and left != memory:
        memories.rewrite(db, left)
    return not left.title


def _take_out_evidence(db: sqlite3.Connection, candidate: Candidate) -> None:
    """Take the line that quotes a candidate out of the detail of the memory that it became."""
    memory = memories.find(db, candidate.memory) if candidate.memory else None
    if memory is None:
        return
    lines = memory.detail.split("\n")
    left = [line for line in lines if not _quotes(line, candidate.sentence)]
    if left != lines:
        memories.rewrite(db, replace(memory, detail="\n".join(left)))


def _quotes(line: str, sentence: str) -> bool:
    quoted = line.partition(': "')[2]
    is_cut = line.endswith("…") and sentence.startswith(quoted[:-1])  # where the detail had no more room
    return bool(quoted) and (is_cut or quoted.startswith(f'{sentence}"'))


def _rewrite_summary(db: sqlite3.Connection, session: str, echo: Echo, now: datetime) -> bool:
    """Take what is to be forgotten out of a session's summary; it is told by something else, if anything is left.

    Whether it had anything of it."""
    found = sessions.find(db, session)
    if found is None:
        return False
    left = echo.out_of_summary(found.summary, kept_files=_files_told(db, session))
    if left == found.summary:
        return False
    worth = found.headline_worth
    if found.summary.headline and left.headline != found.summary.headline:
        # The memory that gave the headline is told no more: any other may give the next.
        worth = 0.0
        left = replace(left, headline=left.headline or left.request or left.completed or _what_is_left(db, session))
    sessions.set_summary(db, session, left, now, worth)
    return True


def _files_told(db: sqlite3.Connection, session: str) -> set[str]:
    """The files that what is still known of a session tells of: other turns worked on them."""
    told = {stored.change.file for stored in symbol_changes.of_session(db, session)}
    stored = memory_queries.of_session(db, session, _MAX_OF_A_SESSION)
    return told | {file for memory in stored for file in memory.files}


def _what_is_left(db: sqlite3.Connection, session: str) -> str:
    """What a session was about, by what is still remembered of it, or was asked in it."""
    titles = (memory.title for memory in memory_queries.of_session(db, session, limit=1))
    return within(one_line(next(titles, "") or turns.last_prompt(db, session)), MAX_TITLE_LENGTH)


def _rewrite_elsewhere(
    db: sqlite3.Connection, echo: Echo, found: Iterable[tuple[str, str]], now: datetime
) -> list[tuple[str, str]]:
    """Take what is to be forgotten out of what was said in other turns and sessions; returns those that had it."""
    changed = []
    for kind, name in found:
        if kind == "session":
            changed += [(kind, name)] if _rewrite_summary(db, name, echo, now) else []
            continue
        said = turns.texts_of(db, name)
        left = asked, answered, tasks, log = tuple(echo.out_of(text) for text in said)
        if left != said:
            turns.set_texts(db, name, asked, answered, tasks, log)
            changed.append((kind, name))
    return changed


def _versions_of(db: sqlite3.Connection, forgotten: Sequence[Memory]) -> list[Memory]:
    """What these memories had replaced and is but an older version of the same statement, such as another number, with
    what that had replaced, as far as it is.

    What the user said, and what says something else, was not asked to be forgotten, nor was what came before it."""
    newer = {memory.id: memory for memory in forgotten}
    known = set(newer)
    versions: list[Memory] = []
    while newer:
        older = [
            one
            for one in supersession.replaced_by(db, list(newer))
            if one.id not in known
            and not (one.pinned or one.origin == "user" or one.made_by == "user")
            and say_one_thing(one.title, newer[one.superseded_by or ""].title)
        ]
        versions += older
        newer = {one.id: one for one in older}
        known |= set(newer)
    return versions
