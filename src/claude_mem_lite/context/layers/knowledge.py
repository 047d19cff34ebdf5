"""What is known to hold: in the project, in its language, everywhere. Scored, with a floor, best first."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.codebase.freshness import Freshness
from claude_mem_lite.context.detect import Setting
from claude_mem_lite.context.items import Item
from claude_mem_lite.context.layers.conflicting import side_by_side
from claude_mem_lite.context.layers.standing import back_again, item_of, why_not
from claude_mem_lite.context.occasion import Occasion
from claude_mem_lite.context.scores import ALWAYS, AT_START, Score, passes, score
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory, Tally
from claude_mem_lite.store import memories, receipts

# Decisions are work, but what was decided holds on: it is what must not be missed.
_HELD_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, "project_fact", "goal", "note", "decision")
_MOST_TOLD = 10
_MOST_CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    score: Score
    left_out: str
    is_low: bool
    """Left out for its score alone: it may stand beside a memory that it contradicts."""


def project_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What is known to hold in this project."""
    return _knowledge(db, occasion, setting, [f"project:{occasion.place.project}"], _HELD_KINDS, AT_START)


def universal_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What holds everywhere."""
    return _knowledge(db, occasion, setting, ["universal"], _HELD_KINDS, AT_START)


def language_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What holds for the language this project is mainly written in."""
    return _knowledge(db, occasion, setting, _of_language(setting), _HELD_KINDS, AT_START)


def learnings(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """Guidance of every scope that holds here in one list: its confidence counts, so the lowest floor will do."""
    scopes = [f"project:{occasion.place.project}", *_of_language(setting), "universal"]
    return _knowledge(db, occasion, setting, scopes, GUIDANCE_KINDS, ALWAYS)


def _of_language(setting: Setting) -> list[str]:
    return [f"language:{setting.language}"] if setting.language else []


def _knowledge(
    db: sqlite3.Connection,
    occasion: Occasion,
    setting: Setting,
    scopes: Sequence[str],
    kinds: Sequence[Kind],
    floor: float,
) -> list[Item]:
    found = _found(db, occasion, scopes, kinds)
    verdicts = occasion.checkout.freshness(found)
    tallies = receipts.tallies(db, [memory.id for memory in found])
    candidates = []
    for memory in found:
        made = score(memory, occasion.now, setting.task, tallies.get(memory.id, Tally()))
        barred = _why_not_here(memory, occasion) or why_not(memory, verdicts)
        below = "" if passes(made, floor) else f"below the floor of {floor}"
        candidates.append(_Candidate(memory, made, barred or below, is_low=not barred and bool(below)))
    candidates.sort(key=_rank)
    return _items(db, candidates, verdicts, occasion)


def _items(
    db: sqlite3.Connection, candidates: Sequence[_Candidate], verdicts: Mapping[str, Freshness], occasion: Occasion
) -> list[Item]:
    """The first few that may be told, those that contradict them beside them; then the others, if they are wanted."""
    by_id = {one.memory.id: one for one in candidates}
    good = [one.memory for one in candidates if not one.left_out]
    items: list[Item] = []
    for group in side_by_side(db, good, [one.memory for one in candidates if not one.left_out or one.is_low]):
        left_out = f"more than {_MOST_TOLD}" if len(items) + len(group) > _MOST_TOLD else ""
        if left_out and not occasion.explained:
            break
        for told in group:
            reason = f"holds in {told.memory.scope.partition(':')[0]}"
            made = item_of(told.memory, verdicts, occasion, reason, note=told.note, dated=told.is_dated)
            scored = replace(made, score=by_id[told.memory.id].score, left_out=left_out)
            items.append(replace(scored, with_next=told is not group[-1]))
    if not occasion.explained:
        return items
    shown = {item.source for item in items}
    others = [one for one in candidates if one.memory.id not in shown]
    return items + [
        replace(item_of(one.memory, verdicts, occasion, ""), score=one.score, left_out=one.left_out) for one in others
    ]


def _found(db: sqlite3.Connection, occasion: Occasion, scopes: Sequence[str], kinds: Sequence[Kind]) -> list[Memory]:
    found = []
    for scope in scopes:
        found += memories.in_scope(
            db, scope, kinds, since=occasion.since, hidden=occasion.checkout.hidden, limit=_MOST_CANDIDATES
        )
        if scope.startswith("project:"):
            found += back_again(db, occasion, kinds)
    return found


def _why_not_here(memory: Memory, occasion: Occasion) -> str:
    is_own = occasion.since is not None and memory.session != "" and memory.session == occasion.session
    return "made in this session" if is_own else ""


def _rank(one: _Candidate) -> tuple[bool, float, float, str]:
    """What the user stated before all else, so that no number of newer decisions takes its room."""
    return not one.score.is_stated, -one.score.total, -one.memory.last_seen_at.timestamp(), one.memory.id
