"""Confidence by evidence: what is seen in several sessions is surer, what is contradicted less so.

Everything here is computed from what is stored, never added up: doing it twice is as good as once."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.models import FOREIGN_ORIGINS, MAX_FACTS, Kind, Memory, without_request
from claude_mem_lite.store import memories, memory_links, retirements
from claude_mem_lite.store.ids import short_id
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import within

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
"""What may be seen again: each session that sees it is evidence."""
MOST = 0.95
FIRST, FIRST_OF_USER = 0.5, 0.8
_LEFT_OF_DOUBT = 2 / 3
_LESS_FOR_EACH_AGAINST = 0.15
LEAST = 0.3
"""What is contradicted until it is less sure than this is retired."""
_MAX_OF_AN_ERROR = 30
_MIN_SESSIONS = 2
_MIN_COMMON_FILES = 0.5
_RAN = "Fixed by running "
_MAX_TITLE_LENGTH = 160
_MAX_SUMMARY_LENGTH = 600


@dataclass(frozen=True, slots=True)
class Evidence:
    """In how many sessions something was seen, and in how many something that contradicts it."""

    sessions: int
    against: int = 0


def confidence(evidence: Evidence, *, is_users: bool) -> float:
    """0.50, 0.65, 0.75, 0.82 … for one, two, three, four sessions, 0.95 at most; the user's word goes from 0.80.

    Each session makes a third of the remaining doubt go; each one against takes 0.15."""
    first = FIRST_OF_USER if is_users else FIRST
    doubt = (MOST - first) * _LEFT_OF_DOUBT ** max(evidence.sessions - 1, 0)
    return round(max(MOST - doubt - _LESS_FOR_EACH_AGAINST * evidence.against, 0.0), 3)


def weigh(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Set how sure a memory is by its evidence; retire it when it is contradicted too often.

    What the user wrote or pinned is as sure as it was, whatever others say."""
    if memory.status != "active" or memory.pinned or memory.made_by == "user":
        return
    is_users = memory.origin == "user"
    evidence = Evidence(memory_links.sessions_of(db, _seen_as(db, memory)), 0 if is_users else _against(db, memory))
    if not evidence.against and memory.kind not in LEARNED_BY_SIGHTING:
        return
    if is_users and evidence.sessions <= 1:
        return  # as sure as what was said, or done, makes it
    sure = confidence(evidence, is_users=is_users)
    if not evidence.against:
        # Rules may have had better reasons than having seen it once.
        sure = max(sure, memory.confidence)
    if sure != memory.confidence:
        db.execute("update memories set confidence = ? where id = ?", (sure, memory.id))
    if evidence.against and sure < LEAST:
        others = memory_links.of(db, [memory.id]).get(memory.id, ())
        said_at = max(one.last_seen_at for one in (memory, *memories.by_ids(db, others)))
        reason = f"it was contradicted by {', '.join(others)}"
        retirements.retire(db, memory.id, "contradicted", reason, min(said_at, now))


def learn(db: sqlite3.Connection, memory: Memory, now: datetime) -> Memory | None:
    """What an error that came back and was put right the same way in several sessions teaches; None: nothing yet."""
    if memory.kind != "bugfix" or memory.status != "active":
        return None
    for anchor in _errors(memory):
        fixes = [memory, *(one for one in _tied_to(db, anchor, memory.scope, ("bugfix",)) if one.id != memory.id)]
        alike = [one for one in fixes if one.origin not in FOREIGN_ORIGINS and is_same_way(one, memory)]
        if memory_links.sessions_of(db, [one.id for one in alike]) >= _MIN_SESSIONS:
            return _keep(db, anchor, alike, now)
    return None


def _keep(db: sqlite3.Connection, anchor: str, fixes: Sequence[Memory], now: datetime) -> Memory | None:
    newest = max(fixes, key=lambda one: (one.created_at, one.id))
    id_ = _learned_id(newest.scope, anchor)
    known = memories.find(db, id_)
    if known is not None and known.status != "active":
        return None
    number = memory_links.sessions_of(db, [one.id for one in fixes])
    told = without_request(newest.summary)
    learned = replace(
        newest,
        id=id_,
        kind="gotcha",
        title=within(f"Comes back: {newest.title.removeprefix('Fix ')}", _MAX_TITLE_LENGTH),
        summary=within(f"Put right the same way in {number} sessions. {told}", _MAX_SUMMARY_LENGTH),
        detail="",
        facts=newest.facts[:MAX_FACTS],
        symbols=(),
        # Tied to the error alone: the code of one of the fixes may change, and the error still come back.
        anchors=tuple(one for one in newest.anchors if read_anchor(one) is None),
        confidence=confidence(Evidence(number), is_users=False),
        times_seen=number,
        last_seen_at=max(one.last_seen_at for one in fixes),
        made_by="rules",
        tokens_in=0,
        tokens_out=0,
        cost_usd=0.0,
    )
    turns = memory_links.turns_of(db, [one.id for one in fixes])
    if turns:
        memories.put(db, learned, turns[0], now)
    for turn in turns[1:]:
        memory_links.note_sighting(db, id_, turn)
    return memories.find(db, id_)


def is_learned(memory: Memory) -> bool:
    """Whether rules learned a memory from fixes, and nobody wrote it."""
    return memory.kind == "gotcha" and any(memory.id == _learned_id(memory.scope, one) for one in _errors(memory))


def _learned_id(scope: str, anchor: str) -> str:
    return short_id("learned", scope, anchor)


def is_same_way(one: Memory, other: Memory) -> bool:
    """Whether two fixes did the same: mostly the same files, or the same commands."""
    if one.id == other.id:
        return True
    ran = _commands(one)
    if ran or _commands(other):
        return ran == _commands(other)
    ours, theirs = set(one.files), set(other.files)
    return bool(ours or theirs) and len(ours & theirs) >= _MIN_COMMON_FILES * len(ours | theirs)


def _commands(fix: Memory) -> str:
    """The commands that put a failure right by themselves: files beside them are those of other work."""
    noted = next((fact for fact in fix.facts if fact.startswith(_RAN)), "" if fix.files else fix.summary)
    told = noted.partition("Fixed by ")[2].partition(". ")[0].rstrip(".")
    return "" if " and editing " in told else told


def _seen_as(db: sqlite3.Connection, memory: Memory) -> list[str]:
    """The memory, and of a failure all that have its error: the same may fail in another command."""
    if memory.kind != "failure":
        return [memory.id]
    found = [one.id for anchor in _errors(memory) for one in _tied_to(db, anchor, memory.scope, ("failure",))]
    return [memory.id, *found]


def _against(db: sqlite3.Connection, memory: Memory) -> int:
    """In how many sessions something was seen that contradicts a memory and is to be believed at least as much."""
    others = [memories.find(db, id_) for id_ in memory_links.of(db, [memory.id]).get(memory.id, ())]
    return memory_links.sessions_of(db, [one.id for one in others if one and (one.pinned or one.trust >= memory.trust)])


def _errors(memory: Memory) -> list[str]:
    return [anchor for anchor in memory.anchors if anchor.startswith("error:")]


def _tied_to(db: sqlite3.Connection, anchor: str, scope: str, kinds: Sequence[Kind]) -> list[Memory]:
    found = memories.by_seq(db, fts.with_anchor(db, anchor, scope, _MAX_OF_AN_ERROR)).values()
    return [one for one in found if one.kind in kinds and one.status == "active" and anchor in one.anchors]
