"""The memories of stored turns, made anew by the composer of this version from the events that the inbox has of them.

Runs in the job thread, for the command `rebuild`. It changes nothing that the user, an agent, a model or another
product had a hand in, and of a turn without events nothing at all."""

import logging
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import count

from claude_mem_lite.compress.rules.corrections import is_taught
from claude_mem_lite.compress.rules.session_handoff import handoff, steps_of
from claude_mem_lite.compress.rules.session_summary import headline_worth, summarize
from claude_mem_lite.compress.rules.turn import fold
from claude_mem_lite.compress.toolcalls.provenance import Hearsay
from claude_mem_lite.config import Config
from claude_mem_lite.db.connection import atomic
from claude_mem_lite.inbox import event_history
from claude_mem_lite.inbox.queue import Queue
from claude_mem_lite.knowledge import (
    confidence,
    correction_context,
    rebuild_pairs,
    reconcile,
    remember,
    resolved_failures,
    turn_memories,
)
from claude_mem_lite.knowledge.lessons import collection, rebuilt
from claude_mem_lite.knowledge.lessons.similarity import Likeness
from claude_mem_lite.knowledge.turn_events import place_then, stored_turn
from claude_mem_lite.models import Draft, Memory, Place, Session, SessionSummary, Turn, TurnDigest
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
from claude_mem_lite.store.ids import short_id

COMMAND = "rebuild"
_REASON = "the composer of a newer version makes no such memory of its turn"
_SAYS = ("kind", "title", "summary", "detail", "facts", "files", "symbols", "anchors", "tags", "origin")
_KEPT = (
    *("id", "project", "session", "prompt", "branch", "commit"),
    *("created_at", "last_seen_at", "times_seen", "superseded_by"),
)
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Composed:
    """A turn as this composer tells it."""

    session: Session
    turn: Turn
    digest: TurnDigest
    place: Place
    others: Hearsay
    received_at: datetime
    """When the inbox took in the last of its events: those of a transcript not before the rebuild."""

    @property
    def at(self) -> datetime:
        """The end of the turn: a memory that is made now was not news to sessions after that."""
        return self.turn.events[-1].at


def rebuild(
    db: sqlite3.Connection, queue: Queue, keys: Sequence[str], config: Config, likeness: Likeness, now: datetime
) -> set[str]:
    """Make the memories of turns anew, each turn in a transaction of its own; return the projects concerned. A turn of
    this composer stays as it is: twice is as good as once."""
    touched = set()
    for key in keys:
        with atomic(db):
            touched.add(rebuild_turn(db, queue, key, config, likeness, now))
    return touched - {""}


def rebuild_turn(
    db: sqlite3.Connection, queue: Queue, key: str, config: Config, likeness: Likeness, now: datetime
) -> str:
    """Make the memories of one turn anew inside the caller's transaction; return its project, '' when it was left."""
    session = sessions.find(db, rebuilds.session_of(db, key))
    if session is None:
        return ""
    composed = _compose(db, queue, key, session, config, likeness)
    if composed is None:
        rebuilds.note_left(db, key)
        return ""
    stored = _put_memories(db, composed, now)
    stored += rebuilt.collect(db, composed.turn, composed.digest, likeness, composed.received_at)
    _put_log(db, composed)
    _put_summary(db, composed, now)
    resolved_failures.retire_failures(db, composed.turn, composed.digest, composed.place.branch)
    reconcile.settle_turn(db, stored, composed.turn, composed.place.branch, composed.digest, now)
    rebuilds.note_rebuilt(db, key)
    return session.project


def _compose(
    db: sqlite3.Connection, queue: Queue, key: str, session: Session, config: Config, likeness: Likeness
) -> _Composed | None:
    """Return a turn as this composer tells it; None when its events are gone, excluded by now or beyond it."""
    rows = event_history.rows_of(queue.db, key)
    turn = stored_turn(db, key, rows, partial(event_history.calls_before, queue.db), config)
    if isinstance(turn, str):
        return None
    try:
        digest = fold(turn)
    except Exception:  # one turn that trips the composer must not keep the others from being made anew
        log.exception("turn not rebuilt", extra={"turn": key, "session": session.id})
        return None
    digest = collection.without_dismissed(db, session.project, digest, likeness)
    digest = correction_context.with_occasion(db, turn, digest)
    place = place_then(session, memory_queries.of_turn(db, key))
    received_at = datetime.fromtimestamp(max(row.received_at for row in rows), UTC)
    return _Composed(session, turn, digest, place, Hearsay((*turn.earlier, *turn.events)), received_at)


def _put_memories(db: sqlite3.Connection, composed: _Composed, now: datetime) -> list[Memory]:
    """Put the memories of a turn in the place of those before; return the new and the changed ones."""
    key = composed.turn.key
    seen_before = memories.by_ids(db, memory_links.memories_in(db, [key]))
    made = [(draft, _memory(draft, composed)) for draft in composed.digest.drafts]
    made = [(draft, memory) for draft, memory in made if not tombstones.repeats_forgotten(db, memory)]
    stored, seen = _put_work(db, composed, [memory for draft, memory in made if not is_taught(draft)])
    stored += rebuilt.put(db, [memory for draft, memory in made if is_taught(draft)], key, composed.at)
    seen |= {memory.id for memory in stored}
    for memory in seen_before:
        if memory.id not in seen:
            _take_back(db, memory, key, now)
    return stored


def _put_work(db: sqlite3.Connection, composed: _Composed, work: Sequence[Memory]) -> tuple[list[Memory], set[str]]:
    """Store what a turn tells besides the user's lessons; return the new and the changed memories, and the ids of
    those that keep their place."""
    key, old = composed.turn.key, memory_queries.of_turn(db, composed.turn.key)
    settled = {memory.id for memory in old if _is_settled(db, memory)}
    paired = _with_first_work(rebuild_pairs.pair(old, work), [one for one in old if one.id not in settled], work)
    ids, stored, kept = _free_ids(db, key), [], set()
    for position, memory in enumerate(work):
        before = paired.get(position)
        if before is None or (before.id not in settled and _is_told_elsewhere(db, memory, before, old)):
            stored.append(remember.add(db, replace(memory, id=next(ids)), key, composed.at))
            continue
        kept.add(before.id)
        if before.id not in settled and (changed := _reword(db, before, memory)):
            stored.append(changed)
    return stored, kept


def _memory(draft: Draft, composed: _Composed) -> Memory:
    return turn_memories.memory_of(draft, composed.turn, composed.place, 0, composed.at, composed.others)


def _is_settled(db: sqlite3.Connection, memory: Memory) -> bool:
    """Return whether somebody has a hand in a memory: then it stays, and what says the same is not told beside it.

    A lesson that rules took from a prompt in passing is the user's word only by their guess."""
    is_users = memory.pinned or bool(memory_links.commands_on(db, memory.id))
    if memory.made_by != "rules" or is_users or rebuilt.is_kept(db, memory):
        return True
    retired = retirements.of(db, [memory.id]).get(memory.id)
    return retired is not None and retired.cause in ("user", "contradicted")


def _with_first_work(paired: dict[int, Memory], old: Sequence[Memory], new: Sequence[Memory]) -> dict[int, Memory]:
    """Add the first work of a turn to the pairs, when it has no pair before and now."""
    taken = {memory.id for memory in paired.values()}
    was = next((one for one in old if rebuild_pairs.place_of(one) == "work"), None)
    now = next((at for at, one in enumerate(new) if rebuild_pairs.place_of(one) == "work"), None)
    is_free = was is not None and was.id not in taken and now is not None and now not in paired
    return {**paired, now: was} if is_free and was is not None and now is not None else paired


def _is_told_elsewhere(db: sqlite3.Connection, memory: Memory, before: Memory, old: Sequence[Memory]) -> bool:
    """Return whether another turn has told a memory whose words have changed: then this turn only saw it again."""
    if _says_the_same(before, memory):
        return False
    same = remember.find_same(db, replace(memory, id=""))
    return same is not None and same.id not in {one.id for one in old}


def _free_ids(db: sqlite3.Connection, key: str) -> Iterator[str]:
    """Yield ids of the turn that no memory has or had."""
    ids = (short_id(key, str(position)) for position in count())
    return (id_ for id_ in ids if memories.find(db, id_) is None and not tombstones.is_buried(db, id_))


def _says_the_same(before: Memory, memory: Memory) -> bool:
    # One that several turns saw has taken in what each of them told.
    names = ("kind", "title", "summary") if before.times_seen > 1 else _SAYS
    return all(getattr(before, name) == getattr(memory, name) for name in names)


def _reword(db: sqlite3.Connection, before: Memory, made: Memory) -> Memory | None:
    """Have a memory say what is made of its turn now; it keeps its id, its dates and what replaced it. None when it
    says the same already."""
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
    """Return whether what retired a memory says nothing of what it is now: an earlier rebuild, or for what is no
    failure any more, a command that passed."""
    retired = retirements.of(db, [before.id]).get(before.id)
    if retired is None:
        return False
    return retired.cause == "rebuilt" or (retired.cause == "taken up" and made.kind != "failure")


def _take_back(db: sqlite3.Connection, memory: Memory, key: str, now: datetime) -> None:
    """Retire a memory that its turn no longer makes, unless another turn saw it; then only this turn did not."""
    is_derived = memory.kind == "handoff" or confidence.is_learned(memory)
    if memory.status != "active" or is_derived or _is_settled(db, memory):
        return
    if memory_links.is_seen_elsewhere(db, memory.id, key):
        memory_links.take_back(db, memory.id, key)
        memories.rewrite(db, replace(memory, times_seen=max(memory.times_seen - 1, 1)))
    else:
        retirements.retire(db, memory.id, "rebuilt", _REASON, now)


def _put_log(db: sqlite3.Connection, composed: _Composed) -> None:
    """Keep what was done in a turn where search finds it, in the place of the memories that are taken back.

    Forgetting erases the events of a turn that it cuts. Where something was forgotten between the turn and the arrival
    of its events, they may be from a transcript, which still has what was cut: then the log stays as it is."""
    if tombstones.has_between(db, composed.at, composed.received_at):
        return
    asked, answered, tasks, before = turns.texts_of(db, composed.turn.key)
    made = composed.others.without_orders(composed.digest.log)
    if made != before:
        turns.set_texts(db, composed.turn.key, asked, answered, tasks, made)


def _put_summary(db: sqlite3.Connection, composed: _Composed, now: datetime) -> None:
    """Tell the session anew up to this turn; after its last one the summary and the handoff take the place of those
    before. Both stay when a turn was left, a model told them, or something was forgotten since."""
    session, turn = composed.session, composed.turn
    before = rebuilds.summary_before(db, session.id, turn.key)
    forgotten_at = tombstones.latest(db)
    if before is None or (forgotten_at is not None and forgotten_at > composed.at):
        return
    told = composed.others.cleared_digest(composed.digest)
    known, worth = before
    listed = turns.tasks_before(db, session.id, turn.events[0].at)
    summary = composed.others.cleared(summarize(known, turn, told, worth, listed))
    worth = max(worth, headline_worth(told))
    if turns.latest_turn(db, session.id) != turn.key:
        rebuilds.put_summary(db, session.id, turn.key, summary, worth)
        return
    rebuilds.drop_summaries(db, session.id)
    if model_calls.has_summarized(db, session.id):
        return
    if (summary, worth) != (session.summary, session.headline_worth):
        sessions.set_summary(db, session.id, summary, composed.at, worth)
    _put_handoff(db, composed, summary, told, now)


def _put_handoff(
    db: sqlite3.Connection, composed: _Composed, summary: SessionSummary, told: TurnDigest, now: datetime
) -> None:
    """Leave open what the summary says is open, unless the user or a later session has settled that."""
    id_ = memories.handoff_id(composed.session.id)
    before = memories.find(db, id_)
    if before is not None and (_is_settled(db, before) or retirements.of(db, [id_])):
        return
    left = handoff(summary, told, composed.place.branch)
    if left is None:
        if before is not None:
            retirements.retire(db, id_, "rebuilt", _REASON, now)
        return
    made = replace(_memory(left, composed), id=id_)
    # One that tells less was cut down by a later session, which did the rest.
    if before is None or before.status != "active" or not set(steps_of(before)) <= set(steps_of(made)):
        memories.put(db, made, composed.turn.key, composed.at)
