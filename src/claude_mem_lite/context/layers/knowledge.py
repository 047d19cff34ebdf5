"""What is known to hold: in the project, in its language, everywhere. Scored, with a floor, best first."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context.layers.code_state import back_again, is_asked_for, item_of, why_never, why_unsure
from claude_mem_lite.context.layers.contradictions import Told, items_of
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import UNUSED, last_sessions
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import ALWAYS, AT_START, Score, passes, score
from claude_mem_lite.context.user_rules import MIN_RULE_CONFIDENCE
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory, Tally
from claude_mem_lite.store import memories, receipts

# Decisions are work, but what was decided holds on: it is what must not be missed.
_ASIDES: tuple[Kind, ...] = ("project_fact", "goal", "note")
_HELD_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, *_ASIDES, "decision")
_GUIDING: tuple[Kind, ...] = (*GUIDANCE_KINDS, "decision")
_GROUPS = ("pinned", "stated guidance", "stated, no guidance", "not stated")
"""All of one group come before those of the next, whatever their scores."""
_MAX_WRITTEN = 30
_WORTH_OF_LESSON, _WORTH_OF_DECISION = 0.08, 0.05
_MAX_CANDIDATES = 60


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    score: Score
    left_out: str
    is_low: bool
    """Left out for its score or confidence alone: it may stand beside a memory that it contradicts."""


def project_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What is known to hold in this project. Where nobody has worked yet, what its manifests say is no news."""
    kinds = _HELD_KINDS if last_sessions(db, occasion, 1) else [kind for kind in _HELD_KINDS if kind != "project_fact"]
    return _knowledge(db, occasion, setting, [f"project:{occasion.place.project}"], kinds, AT_START)


def universal_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What holds everywhere."""
    return _knowledge(db, occasion, setting, ["universal"], _HELD_KINDS, AT_START)


def language_knowledge(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """What holds for the language this project is mainly written in."""
    return _knowledge(db, occasion, setting, _of_language(setting), _HELD_KINDS, AT_START)


def learnings(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """Guidance of every scope that holds here in one list, each with its scope: its confidence counts, so the lowest
    floor will do."""
    scopes = [f"project:{occasion.place.project}", *_of_language(setting), "universal"]
    return _knowledge(db, occasion, setting, scopes, GUIDANCE_KINDS, ALWAYS, with_scopes=True)


def _of_language(setting: Setting) -> list[str]:
    return [f"language:{setting.language}"] if setting.language else []


def _knowledge(
    db: sqlite3.Connection,
    occasion: Occasion,
    setting: Setting,
    scopes: Sequence[str],
    kinds: Sequence[Kind],
    floor: float,
    *,
    with_scopes: bool = False,
) -> list[Item]:
    found = _found(db, occasion, scopes, kinds)
    verdicts = occasion.checkout.freshness(found)
    tallies = receipts.tallies_since_last_seen(db, [memory.id for memory in found], at_need=False)
    candidates = []
    for memory in found:
        made = score(memory, occasion.now, setting.task, tallies.get(memory.id, Tally()))
        barred = _why_not_here(memory, occasion) or why_never(memory, verdicts)
        low = why_unsure(memory) or _why_low(made, floor)
        candidates.append(_Candidate(memory, made, barred or low, is_low=not barred and bool(low)))
    candidates.sort(key=_rank)
    return _items(db, candidates, verdicts, occasion, floor, with_scopes=with_scopes)


def _items(
    db: sqlite3.Connection,
    candidates: Sequence[_Candidate],
    verdicts: Mapping[str, Freshness],
    occasion: Occasion,
    floor: float,
    *,
    with_scopes: bool,
) -> list[Item]:
    """Those that may be told, what contradicts them beside them; then the others, if they are wanted."""
    by_id = {one.memory.id: one for one in candidates}
    good = [one.memory for one in candidates if not one.left_out]
    places = _places([memory for memory in good if _worth(by_id[memory.id])])

    def item(told: Told) -> Item:
        memory, low = told.memory, by_id[told.memory.id].left_out
        beside = f", told beside what it contradicts though it is {low}" if low else ""
        made = item_of(
            memory,
            verdicts,
            occasion,
            f"holds in {memory.scope.partition(':')[0]}{beside}",
            note=told.note,
            dated=told.is_dated,
            where=_where(memory.scope) if with_scopes else "",
        )
        own = by_id[memory.id]
        worth = 0.0 if low else _worth(own) * FADE ** places.get(memory.id, 0)
        return replace(made, score=own.score, floor=floor, worth=worth, order=_order(own))

    if not occasion.explained:
        good = good[:_MAX_WRITTEN]  # writing a line takes half a millisecond, and no budget has room for more
    items = list(items_of(db, good, [one.memory for one in candidates if not one.left_out or one.is_low], item))
    if not occasion.explained:
        return items
    shown = {item.source for item in items}
    others = [one for one in candidates if one.memory.id not in shown]
    return items + [
        replace(
            item_of(one.memory, verdicts, occasion, ""),
            score=one.score,
            floor=floor,
            order=_order(one),
            left_out=one.left_out,
        )
        for one in others
    ]


def _places(good: Sequence[Memory]) -> dict[str, int]:
    """Return the places by which worths fade. What is asked for is told first, and takes no place of the others."""
    first = [memory.id for memory in good if is_asked_for(memory)]
    others = [memory.id for memory in good if memory.id not in first]
    return {id_: place for ids in (first, others) for place, id_ in enumerate(ids)}


def _worth(one: _Candidate) -> float:
    """Return the worth of what holds: lessons and decisions by their score, and what the user had remembered, pinned or
    confirmed; what else is known, and what a prompt said once in passing, is told where asked."""
    is_repeated = one.memory.times_seen > 1
    is_lasting = one.memory.kind not in _ASIDES or is_repeated or one.memory.confidence >= MIN_RULE_CONFIDENCE
    is_stated = (one.score.is_stated and is_lasting) or is_asked_for(one.memory)
    if is_stated or one.memory.kind in GUIDANCE_KINDS:
        return _WORTH_OF_LESSON * one.score.total * one.score.usefulness
    return _WORTH_OF_DECISION * one.score.total * one.score.usefulness if one.memory.kind == "decision" else 0.0


def _where(scope: str) -> str:
    """How far it holds, if farther than this project."""
    sort, _, name = scope.partition(":")
    return "everywhere" if sort == "universal" else name if sort == "language" else ""


def _found(db: sqlite3.Connection, occasion: Occasion, scopes: Sequence[str], kinds: Sequence[Kind]) -> list[Memory]:
    found = []
    for scope in scopes:
        found += memories.in_scope(
            db, scope, kinds, since=occasion.since, hidden=occasion.checkout.hidden, limit=_MAX_CANDIDATES
        )
        if scope.startswith("project:"):
            found += back_again(db, occasion, kinds)
    return found


def _why_not_here(memory: Memory, occasion: Occasion) -> str:
    is_own = memory.session != "" and memory.session == occasion.session
    return "made in this session" if is_own else ""


def _why_low(made: Score, floor: float) -> str:
    if made.is_silent():
        return UNUSED
    return "" if passes(made, floor) else f"below the floor of {floor}"


def _rank(one: _Candidate) -> tuple[int, float, float, str]:
    """What the user stated before all else, so that no number of newer decisions takes its room; then by score."""
    return _group(one), -one.score.total * one.score.usefulness, -one.memory.last_seen_at.timestamp(), one.memory.id


def _group(one: _Candidate) -> int:
    """Of what the user stated: what is pinned, then what says how to work, before notes and goals."""
    if one.memory.pinned:
        return 0
    if not one.score.is_stated:
        return len(_GROUPS) - 1
    return 1 if one.memory.kind in _GUIDING else 2


def _order(one: _Candidate) -> str:
    group = _group(one)
    return f"group {group + 1} of {len(_GROUPS)}: {_GROUPS[group]}"
