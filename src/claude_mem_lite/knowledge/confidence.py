"""Confidence by evidence: sightings in several sessions raise the confidence of a memory, contradictions lower it.

All values are computed from stored rows and never accumulated, so a repeated call changes nothing."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.compress.toolcalls.repairs import recorded_commands
from claude_mem_lite.models import FOREIGN_ORIGINS, MAX_FACTS, Kind, Memory, without_request
from claude_mem_lite.store import memories, memory_links, retirements
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import share_of_both, within
from claude_mem_lite.values import frozen

LEARNED_BY_SIGHTING: tuple[Kind, ...] = (
    "gotcha",
    "failure",
    "convention",
    "correction",
    "pattern",
    "anti_pattern",
    "preference",
    "rule",
)
"""Kinds for which each session that sees a memory again is evidence."""
MOST = 0.95
FIRST, FIRST_OF_USER = 0.5, 0.8
_LEFT_OF_DOUBT = 2 / 3
_LESS_FOR_EACH_AGAINST = 0.15
LEAST = 0.3
"""A contradicted memory below this confidence is retired."""
_MAX_OF_AN_ERROR = 30
_MIN_SESSIONS = 2
_MIN_COMMON_FILES = 0.5
_MAX_TITLE_LENGTH = 160
_MAX_SUMMARY_LENGTH = 600


@frozen
class SightingCounts:
    """Numbers of sessions that saw a memory, and of sessions that saw a contradiction."""

    sessions: int
    against: int = 0


def confidence(evidence: SightingCounts, *, is_users: bool) -> float:
    """Return 0.50, 0.65, 0.75, 0.82 … for one, two, three, four sessions, at most 0.95; statements of the user start at
    0.80.

    Each session removes a third of the remaining doubt; each contradicting session subtracts 0.15."""
    first = FIRST_OF_USER if is_users else FIRST
    doubt = (MOST - first) * _LEFT_OF_DOUBT ** max(evidence.sessions - 1, 0)
    return round(max(MOST - doubt - _LESS_FOR_EACH_AGAINST * evidence.against, 0.0), 3)


def weigh(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Set the confidence of a memory by its evidence; retire a memory with too many contradictions.

    The confidence of pinned memories and of texts of the user stays unchanged."""
    if memory.status != "active" or memory.pinned or memory.made_by == "user":
        return
    is_users = memory.origin == "user"
    evidence = SightingCounts(
        memory_links.sessions_of(db, _seen_as(db, memory)), 0 if is_users else _against(db, memory)
    )
    if not evidence.against and memory.kind not in LEARNED_BY_SIGHTING:
        return
    if is_users and evidence.sessions <= 1:
        return  # the statement or the work decides
    sure = confidence(evidence, is_users=is_users)
    if not evidence.against:
        # Rules may have had more evidence than one sighting.
        sure = max(sure, memory.confidence)
    if sure != memory.confidence:
        db.execute("update memories set confidence = ? where id = ?", (sure, memory.id))
    if evidence.against and sure < LEAST:
        others = memory_links.of(db, [memory.id]).get(memory.id, ())
        said_at = max(statement.last_seen_at for statement in (memory, *memories.by_ids(db, others)))
        reason = f"it was contradicted by {', '.join(others)}"
        retirements.retire(db, memory.id, "contradicted", reason, min(said_at, now))


def may_teach(memory: Memory) -> bool:
    """Return whether a memory without sightings may change what is known: an error ties it to others."""
    return memory.kind in ("bugfix", "failure") and bool(_errors(memory))


def learn(db: sqlite3.Connection, memory: Memory, now: datetime) -> Memory | None:
    """Return the gotcha of an error that several sessions fixed in the same way; None without enough fixes."""
    if memory.kind != "bugfix" or memory.status != "active":
        return None
    for anchor in _errors(memory):
        fixes = [memory, *(fix for fix in _tied_to(db, anchor, memory.scope, ("bugfix",)) if fix.id != memory.id)]
        # A teammate's fix is no evidence of this machine.
        alike = [fix for fix in fixes if fix.origin not in (*FOREIGN_ORIGINS, "team") and is_same_way(fix, memory)]
        if memory_links.sessions_of(db, [fix.id for fix in alike]) >= _MIN_SESSIONS:
            return _keep(db, anchor, alike, now)
    return None


def _keep(db: sqlite3.Connection, anchor: str, fixes: Sequence[Memory], now: datetime) -> Memory | None:
    newest = max(fixes, key=lambda fix: (fix.created_at, fix.id))
    id_ = _learned_id(newest.scope, anchor)
    known = memories.find(db, id_)
    if known is not None and known.status != "active":
        return None
    number = memory_links.sessions_of(db, [fix.id for fix in fixes])
    summary = without_request(newest.summary)
    learned = replace(
        newest,
        id=id_,
        kind="gotcha",
        title=within(f"Comes back: {newest.title.removeprefix('Fix ')}", _MAX_TITLE_LENGTH),
        summary=within(f"Put right the same way in {number} sessions. {summary}", _MAX_SUMMARY_LENGTH),
        detail="",
        facts=newest.facts[:MAX_FACTS],
        symbols=(),
        # Anchored to the error only: the code of a fix may change, and the error can still come back.
        anchors=tuple(anchor for anchor in newest.anchors if read_anchor(anchor) is None),
        confidence=confidence(SightingCounts(number), is_users=False),
        times_seen=number,
        last_seen_at=max(fix.last_seen_at for fix in fixes),
        made_by="rules",
        tokens_in=0,
        tokens_out=0,
        cost_usd=0.0,
    )
    turns = memory_links.turns_of(db, [fix.id for fix in fixes])
    if turns:
        memories.put(db, learned, turns[0], now)
    for turn in turns[1:]:
        memory_links.note_sighting(db, id_, turn)
    return memories.find(db, id_)


def is_learned(memory: Memory) -> bool:
    """Return True if rules learned a memory from fixes."""
    return memory.kind == "gotcha" and any(memory.id == _learned_id(memory.scope, anchor) for anchor in _errors(memory))


def _learned_id(scope: str, anchor: str) -> str:
    return short_id("learned", scope, anchor)


def is_same_way(fix: Memory, other: Memory) -> bool:
    """Return True if two fixes did the same: mostly the same files, or the same commands."""
    if fix.id == other.id:
        return True
    ran, other_ran = recorded_commands(fix), recorded_commands(other)
    if ran or other_ran:
        return ran == other_ran
    ours, theirs = set(fix.files), set(other.files)
    return bool(ours or theirs) and share_of_both(ours, theirs) >= _MIN_COMMON_FILES


def _seen_as(db: sqlite3.Connection, memory: Memory) -> list[str]:
    """Return the ids of a memory and, for a failure, of all failures with the same error in other commands."""
    if memory.kind != "failure":
        return [memory.id]
    found = [failure.id for anchor in _errors(memory) for failure in _tied_to(db, anchor, memory.scope, ("failure",))]
    return [memory.id, *found]


def _against(db: sqlite3.Connection, memory: Memory) -> int:
    """Return the number of sessions that saw a contradicting memory of at least the same trust."""
    others = [memories.find(db, id_) for id_ in memory_links.of(db, [memory.id]).get(memory.id, ())]
    trusted = [rival.id for rival in others if rival and (rival.pinned or rival.trust >= memory.trust)]
    return memory_links.sessions_of(db, trusted)


def _errors(memory: Memory) -> list[str]:
    return [anchor for anchor in memory.anchors if anchor.startswith("error:")]


def _tied_to(db: sqlite3.Connection, anchor: str, scope: str, kinds: Sequence[Kind]) -> list[Memory]:
    found = memories.by_seq(db, fts.with_anchor(db, anchor, scope, _MAX_OF_AN_ERROR)).values()
    active = (memory for memory in found if memory.kind in kinds and memory.status == "active")
    return [memory for memory in active if anchor in memory.anchors]
