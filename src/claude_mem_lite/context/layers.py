"""The layers of the start context: each finds its lines, best first, and knows nothing of the others."""

import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from claude_mem_lite.codebase.freshness import Freshness, Verdict
from claude_mem_lite.context import render
from claude_mem_lite.context.checkout import Checkout, Unseen
from claude_mem_lite.context.detect import main_language
from claude_mem_lite.models import (
    FOREIGN_ORIGINS,
    GUIDANCE_KINDS,
    MOST_OF_A_TURN,
    WORK_KINDS,
    Kind,
    Memory,
    Place,
    Session,
    SessionSummary,
)
from claude_mem_lite.store import memories, retirements, sessions, symbols
from claude_mem_lite.store.visibility import is_hidden

_MOST_SESSIONS = 10
_HANDOFF_LOOKS_BACK = 5
_MOST_LEARNINGS = 10
_MOST_OBSERVATIONS = 10
_CODE_SESSIONS = 5
_MOST_SYMBOLS = 30
_MOST_BACK = 20
_MOST_TIED = 60
_MOST_OF_A_TURN = 2
_LEAST_CONFIDENCE = 0.5
_HELD_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, "project_fact", "goal", "note")
_SEEN_KINDS: tuple[Kind, ...] = (*WORK_KINDS, "failure")


@dataclass(frozen=True, slots=True)
class Occasion:
    """For whom and when a context is built."""

    place: Place
    now: datetime
    session: str = ""
    """The session that asks; its own work is left out."""
    since: datetime | None = None
    """Only what is newer: for a session that resumes."""
    dated: bool = False
    """Dates instead of ages, for text that is kept."""
    checkout: Checkout = field(default_factory=Unseen)
    """How the code stands there now."""


@dataclass(frozen=True, slots=True)
class Item:
    """One line of a layer, the memory or session it comes from, and why it is there."""

    line: str
    source: str
    reason: str


Find = Callable[[sqlite3.Connection, Occasion], list[Item]]


@dataclass(frozen=True, slots=True)
class Layer:
    """A named part of the context with its share of a budget of 2000 tokens."""

    name: str
    header: str
    cap_tokens: int
    find: Find


def handoff(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """Where the last session stopped."""
    found = _last_sessions(db, occasion, _HANDOFF_LOOKS_BACK)
    if _are_all_elsewhere(found, occasion):
        return []  # what is open on another branch is not to be gone on with here
    gone = _without_code(db, occasion, found)
    there = [one for one in found if one.id not in gone]
    # A session that only asked something leaves standing what the one before it left to do.
    last = next((one for one in there if _leaves_something(one.summary)), there[0] if there else None)
    if last is None:
        return []
    left = memories.handoff_of(db, last.id)
    return [
        Item(line, last.id, "the newest session") for line in render.handoff_lines(last, left, occasion.place.branch)
    ]


def session_index(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """One headline for each of the last sessions."""
    found = _last_sessions(db, occasion, _MOST_SESSIONS)
    tagged = _are_all_elsewhere(found, occasion)
    gone = _without_code(db, occasion, found)
    return [
        Item(
            render.session_line(
                one, occasion.now, occasion.dated, branch=one.branch if tagged else "", is_gone=one.id in gone
            ),
            one.id,
            f"session {rank} by recency",
        )
        for rank, one in enumerate(found, 1)
    ]


def project_knowledge(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """What is known to hold in this project."""
    return _knowledge(db, occasion, f"project:{occasion.place.project}")


def universal_knowledge(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """What holds everywhere."""
    return _knowledge(db, occasion, "universal")


def language_knowledge(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """What holds for the language this project is mainly written in."""
    language = main_language(occasion.place.root)
    return _knowledge(db, occasion, f"language:{language}") if language else []


def changed_code(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """What the last sessions did to functions and classes, by file, the file that was changed last first."""
    last = _last_sessions(db, occasion, _CODE_SESSIONS)
    if _are_all_elsewhere(last, occasion):
        return []
    found = symbols.newest(db, [one.id for one in last], hidden=occasion.checkout.hidden, limit=_MOST_SYMBOLS)
    seen = [one for one in found if render.is_tellable(one.change)]
    states = occasion.checkout.states([one.change for one in seen])
    by_file: dict[str, list[Item]] = {}
    for one, now in zip(seen, states, strict=True):
        lines = by_file.setdefault(one.change.file, [])
        line = render.code_line(one.change, now)
        # The name of the file belongs to its first function: it is there when that is, and only then.
        shown = line if lines else f"{render.file_line(one.change.file)}\n{line}"
        lines.append(Item(shown, one.session, "changed in the last sessions"))
    return [item for items in by_file.values() for item in items]


def observations(db: sqlite3.Connection, occasion: Occasion) -> list[Item]:
    """The newest work in this project."""
    found = memories.newest(
        db,
        project=occasion.place.project,
        kinds=_SEEN_KINDS,
        since=occasion.since,
        without_session=occasion.session or None,
        hidden=occasion.checkout.hidden,
        limit=_MOST_OBSERVATIONS * MOST_OF_A_TURN,
    )
    found += _back_again(db, occasion, _SEEN_KINDS)
    found.sort(key=lambda memory: memory.created_at, reverse=True)
    seen = [memory for memory in _trusted(found) if memory.origin != "user" and not memory.pinned]
    told, verdicts = _still_there(seen, occasion)
    chosen = _without_crowding([memory for memory in told if not _is_handed_off(db, memory)])
    return [_item(memory, verdicts, occasion, "recent work") for memory in chosen]


BALANCED: tuple[Layer, ...] = (
    Layer("handoff", "## Where the last session stopped", 150, handoff),
    Layer("sessions", "## Last sessions", 350, session_index),
    Layer("project", "## Known about this project", 300, project_knowledge),
    Layer("universal", "## Known everywhere", 150, universal_knowledge),
    Layer("language", "## Known about its language", 150, language_knowledge),
    Layer("changed code", "## Code changed in the last sessions", 300, changed_code),
    Layer("observations", "## Recent work", 400, observations),
)


def _leaves_something(told: SessionSummary) -> bool:
    return bool(told.next_steps or told.key_decisions or told.completed or told.learned)


def _last_sessions(db: sqlite3.Connection, occasion: Occasion, limit: int) -> list[Session]:
    """The newest sessions of the project that have something to tell, without the one that asks.

    Those whose work is in this checkout; when there is none, those on other branches, so that something is known."""
    hidden = occasion.checkout.hidden
    for left_out in (hidden, ()) if hidden else ((),):
        found = sessions.newest(
            db,
            project=occasion.place.project,
            since=occasion.since,
            without=occasion.session,
            told_only=True,
            hidden=left_out,
            limit=limit,
        )
        if found:
            return found
    return []


def _are_all_elsewhere(found: list[Session], occasion: Occasion) -> bool:
    """Whether sessions are of other branches, for want of any whose work is here."""
    hidden = occasion.checkout.hidden
    return bool(found) and all(is_hidden(one.branch, one.last_event_at, hidden) for one in found)


def _without_code(db: sqlite3.Connection, occasion: Occasion, found: list[Session]) -> set[str]:
    """Those of the sessions that changed code of which nothing is here: reverted, deleted, or never brought here."""
    tied = memories.tied_to_code(db, [one.id for one in found], _MOST_TIED)
    verdicts = occasion.checkout.freshness(tied)
    left = {memory.session for memory in tied if _verdict(memory, verdicts) != "gone"}
    return {memory.session for memory in tied} - left


def _still_there(found: list[Memory], occasion: Occasion) -> tuple[list[Memory], Mapping[str, Freshness]]:
    """The memories whose code is not gone, and how it stands with that of each."""
    verdicts = occasion.checkout.freshness(found)
    return [memory for memory in found if _verdict(memory, verdicts) != "gone"], verdicts


def _back_again(db: sqlite3.Connection, occasion: Occasion, kinds: tuple[Kind, ...]) -> list[Memory]:
    """The memories that were retired because their code was gone, if it is there again as it was: the look in the
    background, which makes them active, comes after this context."""
    if occasion.since is not None:
        return []
    found = [
        memory
        for memory in retirements.newest_by_code(db, occasion.place.project, _MOST_BACK)
        if memory.kind in kinds
        and memory.scope == f"project:{occasion.place.project}"
        and memory.session != occasion.session
        and not is_hidden(memory.branch, memory.created_at, occasion.checkout.hidden)
    ]
    verdicts = occasion.checkout.freshness(found)
    return [memory for memory in found if _verdict(memory, verdicts) == "fresh"]


def _verdict(memory: Memory, verdicts: Mapping[str, Freshness]) -> Verdict:
    known = verdicts.get(memory.id)
    return known.verdict if known else "unknown"


def _item(memory: Memory, verdicts: Mapping[str, Freshness], occasion: Occasion, reason: str) -> Item:
    verdict = _verdict(memory, verdicts)
    reasons = "; ".join(verdicts[memory.id].reasons) if verdict in ("fresh", "changed") else ""
    since = reasons if verdict == "fresh" else ""
    line = render.memory_line(memory, occasion.now, occasion.dated, is_stale=verdict == "changed", since=since)
    return Item(line, memory.id, f"{reason}, {reasons}" if reasons else reason)


def _knowledge(db: sqlite3.Connection, occasion: Occasion, scope: str) -> list[Item]:
    found = memories.in_scope(
        db,
        scope,
        _HELD_KINDS,
        since=occasion.since,
        hidden=occasion.checkout.hidden,
        limit=_MOST_LEARNINGS * 2,
    )
    if scope.startswith("project:"):
        found += _back_again(db, occasion, _HELD_KINDS)
        found.sort(key=lambda memory: (memory.pinned, memory.confidence), reverse=True)
    sure = [memory for memory in _trusted(found) if memory.confidence >= _LEAST_CONFIDENCE]
    told, verdicts = _still_there(sure, occasion)
    reason = f"holds in {scope.partition(':')[0]}"
    return [_item(memory, verdicts, occasion, reason) for memory in told[:_MOST_LEARNINGS]]


def _without_crowding(found: list[Memory]) -> list[Memory]:
    """The newest few, the turns newest first; of one turn only its first two, and no second that is hardly sure."""
    by_turn: dict[tuple[str, datetime], list[Memory]] = {}
    for memory in found:
        by_turn.setdefault((memory.session, memory.created_at), []).insert(0, memory)
    told = [
        memory
        for first, *others in by_turn.values()
        for memory in (
            first,
            *(other for other in others[: _MOST_OF_A_TURN - 1] if other.confidence > _LEAST_CONFIDENCE),
        )
    ]
    return told[:_MOST_OBSERVATIONS]


def _is_handed_off(db: sqlite3.Connection, memory: Memory) -> bool:
    """Whether a failure is told with what its session left open."""
    left = memories.handoff_of(db, memory.session) if memory.kind == "failure" else None
    return left is not None and memory.title in left.summary


def _trusted(found: list[Memory]) -> list[Memory]:
    return [memory for memory in found if memory.origin not in FOREIGN_ORIGINS]
