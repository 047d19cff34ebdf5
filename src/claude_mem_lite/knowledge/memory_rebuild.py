"""Rebuild of memories: this version's composer processes the stored events of older turns again.

Runs in the job thread, for the command `rebuild`. Memories that the user, an agent, a model or another product changed
stay unchanged, and so do turns without events."""

import logging
import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

from claude_mem_lite.compress.rules.session_handoff import handoff, steps_of
from claude_mem_lite.compress.rules.session_summary import headline_worth, summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.rules.turn_lessons import is_taught
from claude_mem_lite.compress.toolcalls.provenance import ForeignText
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import confidence, correction_context, handoffs, remember, turn_events, turn_rewrite
from claude_mem_lite.knowledge.lessons import collection
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.turn_events import location_then, stored_turn
from claude_mem_lite.models import Draft, Location, Memory, Session, SessionSummary, Turn
from claude_mem_lite.store import (
    memories,
    memory_links,
    memory_queries,
    model_calls,
    rebuilds,
    retirements,
    sessions,
    symbol_changes,
    tombstones,
    turns,
)
from claude_mem_lite.turn_digest import TurnDigest
from claude_mem_lite.values import frozen

COMMAND = "rebuild"
_REASON = "the composer of a newer version makes no such memory of its turn"
_SAYS = ("kind", "title", "summary", "detail", "facts", "files", "symbols", "anchors", "tags", "origin")
_KEPT = (
    *("id", "project", "session", "prompt", "branch", "commit"),
    *("created_at", "last_seen_at", "times_seen", "superseded_by"),
)
log = logging.getLogger(__name__)


@frozen
class _Composed:
    """Turn with the digest of this composer."""

    session: Session
    turn: Turn
    digest: TurnDigest
    location: Location
    others: ForeignText
    received_at: datetime
    """Time at which the inbox received the last event; for a transcript not before the rebuild."""

    @property
    def at(self) -> datetime:
        """Return the end of the turn. For later sessions, the rebuilt memories are no news."""
        return self.turn.events[-1].at


def rebuild(
    db: sqlite3.Connection, queue: Queue, keys: Sequence[str], config: Config, likeness: Likeness, now: datetime
) -> set[str]:
    """Rebuild the memories of turns, one transaction per turn; return the changed projects. Turns of this composer stay
    unchanged, so a repeated call changes nothing."""
    touched = set()
    for key in keys:
        with atomic(db):
            touched.add(rebuild_turn(db, queue, key, config, likeness, now))
    return touched - {""}


def rebuild_turn(
    db: sqlite3.Connection, queue: Queue, key: str, config: Config, likeness: Likeness, now: datetime
) -> str:
    """Rebuild the memories of one turn inside the caller's transaction; return the project, or '' for a skipped
    turn."""
    session = sessions.find(db, rebuilds.session_of(db, key))
    if session is None:
        return ""
    composed = _compose(db, queue, key, session, config, likeness)
    if composed is None:
        rebuilds.note_left(db, key)
        return ""
    stored = _put_memories(db, composed, now)
    stored += collection.collect_rebuilt(db, composed.turn, composed.digest, likeness, composed.received_at)
    _put_log(db, composed)
    _put_summary(db, composed, now)
    handoffs.retire_failures(db, composed.turn, composed.digest, composed.location.branch)
    remember.reconcile_turn(db, stored, composed.turn, composed.location.branch, composed.digest, now)
    rebuilds.note_rebuilt(db, key)
    return session.project


def _compose(
    db: sqlite3.Connection, queue: Queue, key: str, session: Session, config: Config, likeness: Likeness
) -> _Composed | None:
    """Return a turn with this composer's digest; None if the events are gone, excluded or not readable."""
    rows = event_history.rows_of(queue.db, key)
    turn = stored_turn(db, key, rows, partial(event_history.calls_before, queue.db), config)
    if isinstance(turn, str):
        return None
    try:
        digest = fold(turn)
    except Exception:  # one failing turn must not stop the rebuild of others
        log.exception("turn not rebuilt", extra={"turn": key, "session": session.id})
        return None
    digest = collection.without_dismissed(db, session.project, digest, likeness)
    digest = correction_context.with_preceding_work(db, turn, digest)
    location = location_then(session, memory_queries.of_turn(db, key))
    received_at = datetime.fromtimestamp(max(row.received_at for row in rows), UTC)
    return _Composed(session, turn, digest, location, ForeignText((*turn.earlier, *turn.events)), received_at)


def _put_memories(db: sqlite3.Connection, composed: _Composed, now: datetime) -> list[Memory]:
    """Replace the memories of a turn; return new and changed memories."""
    key = composed.turn.key
    seen_before = memories.by_ids(db, memory_links.memories_in(db, [key]))
    made = [(draft, _memory(draft, composed)) for draft in composed.digest.drafts]
    made = [(draft, memory) for draft, memory in made if not tombstones.repeats_forgotten(db, memory)]
    stored, seen = _put_work(db, composed, [memory for draft, memory in made if not is_taught(draft)])
    stored += collection.put_rebuilt(db, [memory for draft, memory in made if is_taught(draft)], key, composed.at)
    seen |= {memory.id for memory in stored}
    for memory in seen_before:
        if memory.id not in seen:
            _take_back(db, memory, key, now)
    return stored


def _put_work(db: sqlite3.Connection, composed: _Composed, work: Sequence[Memory]) -> tuple[list[Memory], set[str]]:
    """Store the memories of a turn except the user's lessons; return new and changed memories, and the ids of the
    memories that stay."""
    key, old = composed.turn.key, memory_queries.of_turn(db, composed.turn.key)
    settled = {memory.id for memory in old if _is_settled(db, memory)}
    unsettled = [memory for memory in old if memory.id not in settled]
    paired = _with_first_work(turn_rewrite.pair(old, work), unsettled, work)
    ids, stored, kept = memory_queries.free_ids(db, key), [], set()
    for position, memory in enumerate(work):
        before = paired.get(position)
        if before is None or (before.id not in settled and _belongs_elsewhere(db, memory, before, old)):
            stored.append(remember.add(db, replace(memory, id=next(ids)), key, composed.at))
            continue
        kept.add(before.id)
        if before.id not in settled and (changed := _reword(db, before, memory)):
            stored.append(changed)
    return stored, kept


def _memory(draft: Draft, composed: _Composed) -> Memory:
    return turn_events.memory_of(draft, composed.turn, composed.location, 0, composed.at, composed.others)


def _is_settled(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return True if the user, an agent or a model changed a memory. The memory then stays, and no duplicate is stored.

    A lesson that rules took from a prompt is only presumably the user's statement, and does not count."""
    is_users = memory.pinned or bool(memory_links.commands_on(db, memory.id))
    if memory.made_by != "rules" or is_users or collection.is_kept(db, memory):
        return True
    retired = retirements.of(db, [memory.id]).get(memory.id)
    return retired is not None and retired.cause in ("user", "contradicted")


def _with_first_work(paired: dict[int, Memory], old: Sequence[Memory], new: Sequence[Memory]) -> dict[int, Memory]:
    """Add the first work memories of before and now as a pair, if neither has a pair."""
    taken = {memory.id for memory in paired.values()}
    was = next((memory for memory in old if turn_rewrite.place_of(memory) == "work"), None)
    now = next((at for at, memory in enumerate(new) if turn_rewrite.place_of(memory) == "work"), None)
    is_free = was is not None and was.id not in taken and now is not None and now not in paired
    return {**paired, now: was} if is_free and was is not None and now is not None else paired


def _belongs_elsewhere(db: sqlite3.Connection, memory: Memory, before: Memory, old: Sequence[Memory]) -> bool:
    """Return True if a changed memory is a memory of another turn: then this turn is a sighting."""
    if _says_the_same(before, memory):
        return False
    same = remember.find_duplicate(db, replace(memory, id=""))
    return same is not None and same.id not in {memory.id for memory in old}


def _says_the_same(before: Memory, memory: Memory) -> bool:
    # A memory that several turns saw has merged their additions.
    names = ("kind", "title", "summary") if before.times_seen > 1 else _SAYS
    return all(getattr(before, name) == getattr(memory, name) for name in names)


def _reword(db: sqlite3.Connection, before: Memory, made: Memory) -> Memory | None:
    """Replace the text of a memory; id, dates and successor stay. Return None if the text is unchanged."""
    is_back = _is_retired_in_vain(db, before, made) and retirements.revive(db, before.id)
    if _says_the_same(before, made) and not is_back:
        db.execute("update memories set prompt_version = ? where id = ?", (made.prompt_version, before.id))
        return None
    is_held = before.status in ("superseded", "retired") and not is_back
    changed = replace(
        made,
        **{name: getattr(before, name) for name in _KEPT},
        scope=before.scope if made.scope.startswith("project:") else made.scope,
        status=before.status if is_held else made.status,
    )
    memories.rewrite(db, changed)
    memory_links.drop_conflicts(db, changed.id)
    if changed.anchors != before.anchors:
        symbol_changes.forget_renames(db, changed.id)
    return changed


def _is_retired_in_vain(db: sqlite3.Connection, before: Memory, made: Memory) -> bool:
    """Return True if the cause of retirement does not concern the new text: an earlier rebuild, or a passed command for
    a memory that is no failure any more."""
    retired = retirements.of(db, [before.id]).get(before.id)
    if retired is None:
        return False
    return retired.cause == "rebuilt" or (retired.cause == "taken up" and made.kind != "failure")


def _take_back(db: sqlite3.Connection, memory: Memory, key: str, now: datetime) -> None:
    """Retire a memory that the turn no longer makes; if another turn saw the memory, remove only this turn's
    sighting."""
    is_derived = memory.kind == "handoff" or confidence.is_learned(memory)
    if memory.status != "active" or is_derived or _is_settled(db, memory):
        return
    if memory_links.is_seen_elsewhere(db, memory.id, key):
        memory_links.take_back(db, memory.id, key)
        memories.rewrite(db, replace(memory, times_seen=max(memory.times_seen - 1, 1)))
    else:
        retirements.retire(db, memory.id, "rebuilt", _REASON, now)


def _put_log(db: sqlite3.Connection, composed: _Composed) -> None:
    """Store the log of a turn for search, in place of retired memories.

    Forgetting erases the events of a turn. If something was forgotten between the turn and the arrival of the events,
    the events may come from a transcript that still has the forgotten text. The stored log then stays."""
    if tombstones.has_between(db, composed.at, composed.received_at):
        return
    asked, answered, tasks, before = turns.texts_of(db, composed.turn.key)
    made = composed.others.without_orders(composed.digest.log)
    if made != before:
        turns.set_texts(db, composed.turn.key, asked, answered, tasks, made)


def _put_summary(db: sqlite3.Connection, composed: _Composed, now: datetime) -> None:
    """Replay the summary of the session up to this turn, and store summary and handoff after the last turn. The stored
    ones stay if a turn was skipped, a model wrote them, or something was forgotten since."""
    session, turn = composed.session, composed.turn
    before = rebuilds.summary_before(db, session.id, turn.key)
    forgotten_at = tombstones.latest(db)
    if before is None or (forgotten_at is not None and forgotten_at > composed.at):
        return
    digest = composed.others.cleared_digest(composed.digest)
    known, worth = before
    listed = turns.tasks_before(db, session.id, turn.events[0].at)
    summary = composed.others.cleared(summarize(known, turn, digest, worth, listed))
    worth = max(worth, headline_worth(digest))
    if turns.latest_turn(db, session.id) != turn.key:
        rebuilds.put_summary(db, session.id, turn.key, summary, worth)
        return
    rebuilds.drop_summaries(db, session.id)
    if model_calls.has_summarized(db, session.id):
        return
    if (summary, worth) != (session.summary, session.headline_worth):
        sessions.set_summary(db, session.id, summary, composed.at, worth)
    _put_handoff(db, composed, summary, digest, now)


def _put_handoff(
    db: sqlite3.Connection, composed: _Composed, summary: SessionSummary, digest: TurnDigest, now: datetime
) -> None:
    """Store the handoff of a summary, unless the user or a later session has closed the handoff."""
    id_ = memories.handoff_id(composed.session.id)
    before = memories.find(db, id_)
    if before is not None and (_is_settled(db, before) or retirements.of(db, [id_])):
        return
    left = handoff(summary, digest, composed.location.branch)
    if left is None:
        if before is not None:
            retirements.retire(db, id_, "rebuilt", _REASON, now)
        return
    made = replace(_memory(left, composed), id=id_)
    # A later session may have cut the stored handoff down.
    if before is None or before.status != "active" or not set(steps_of(before)) <= set(steps_of(made)):
        memories.put(db, made, composed.turn.key, composed.at)
