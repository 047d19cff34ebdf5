"""Knowledge layers: memories that hold in the project, for the main language or everywhere; scored, best first."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import replace

from claude_mem_lite.authors import received_note
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context.layers.code_state import (
    is_asked_for,
    memory_item,
    received_work,
    restored_memories,
    why_never,
    why_unsure,
    without_worth,
)
from claude_mem_lite.context.layers.contradictions import AnnotatedMemory, grouped_items
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import UNUSED, last_sessions
from claude_mem_lite.context.project_setting import Setting
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import ALWAYS, AT_START, Score, passes, score
from claude_mem_lite.context.user_rules import MIN_RULE_CONFIDENCE
from claude_mem_lite.models import GUIDANCE_KINDS, Kind, Memory, Tally
from claude_mem_lite.store import memories, receipts
from claude_mem_lite.values import frozen

# Decisions are work too, but they keep holding and must not be missed.
_ASIDES: tuple[Kind, ...] = ("project_fact", "goal", "note")
_KINDS: tuple[Kind, ...] = (*GUIDANCE_KINDS, *_ASIDES, "decision")
_GUIDING: tuple[Kind, ...] = (*GUIDANCE_KINDS, "decision")
_GROUPS = ("pinned", "stated guidance", "stated, no guidance", "not stated")
"""Groups in order of rank, before the score."""
_MAX_WRITTEN = 30
_WORTH_OF_LESSON, _WORTH_OF_DECISION = 0.08, 0.05
_MAX_CANDIDATES = 60


@frozen
class _KnowledgeCandidate:
    memory: Memory
    score: Score
    left_out: str
    is_low: bool
    """True if only score or confidence is too low: the memory may appear beside a memory that it contradicts."""


def project_knowledge(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return the memories that hold in the project.

    Without past sessions facts from manifests are left out as no news."""
    kinds = _KINDS if last_sessions(db, request, 1) else [kind for kind in _KINDS if kind != "project_fact"]
    return _knowledge(db, request, setting, [f"project:{request.location.project}"], kinds, AT_START)


def universal_knowledge(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return the memories that hold everywhere."""
    return _knowledge(db, request, setting, ["universal"], _KINDS, AT_START)


def language_knowledge(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return the memories that hold for the main language of the project."""
    return _knowledge(db, request, setting, _of_language(setting), _KINDS, AT_START)


def learnings(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return guidance of all scopes in a single list, each with the scope, above the lowest floor."""
    scopes = [f"project:{request.location.project}", *_of_language(setting), "universal"]
    return _knowledge(db, request, setting, scopes, GUIDANCE_KINDS, ALWAYS, with_scopes=True)


def _of_language(setting: Setting) -> list[str]:
    return [f"language:{setting.language}"] if setting.language else []


def _knowledge(
    db: sqlite3.Connection,
    request: ContextRequest,
    setting: Setting,
    scopes: Sequence[str],
    kinds: Sequence[Kind],
    floor: float,
    *,
    with_scopes: bool = False,
) -> list[Item]:
    stored = _read(db, request, setting, scopes, kinds)
    verdicts = request.checkout.freshness(stored)
    tallies = receipts.tallies_since_last_seen(db, [memory.id for memory in stored], at_need=False)
    candidates = []
    for memory in stored:
        memory_score = score(memory, request.now, setting.task, tallies.get(memory.id, Tally()))
        barred = _why_own(memory, request) or why_never(memory, verdicts)
        low = why_unsure(memory) or _why_low(memory_score, floor)
        candidates.append(_KnowledgeCandidate(memory, memory_score, barred or low, is_low=not barred and bool(low)))
    candidates.sort(key=_rank)
    return _items(db, candidates, verdicts, request, setting, floor, with_scopes=with_scopes)


def _items(
    db: sqlite3.Connection,
    candidates: Sequence[_KnowledgeCandidate],
    verdicts: Mapping[str, Freshness],
    request: ContextRequest,
    setting: Setting,
    floor: float,
    *,
    with_scopes: bool,
) -> list[Item]:
    """Return the eligible memories with their contradictions; for an explanation also all others."""
    by_id = {candidate.memory.id: candidate for candidate in candidates}
    good = [candidate.memory for candidate in candidates if not candidate.left_out]
    worthless = without_worth(db, good, request, setting)
    places = _places([memory for memory in good if _worth(by_id[memory.id])])

    def item(annotated: AnnotatedMemory) -> Item:
        candidate, id_ = by_id[annotated.memory.id], annotated.memory.id
        where = _where(annotated.memory.scope) if with_scopes else ""
        reason = _reason(candidate)
        worth = 0.0 if candidate.left_out or id_ in worthless else _worth(candidate) * FADE ** places.get(id_, 0)
        note, dated = annotated.note, annotated.is_dated
        line = memory_item(candidate.memory, verdicts, request, reason, note=note, dated=dated, where=where)
        return replace(line, score=candidate.score, floor=floor, worth=worth, order=_order(candidate))

    if not request.explained:
        good = good[:_MAX_WRITTEN]  # a line takes 0.5 ms to write, and no budget has room for more
    admitted = [candidate.memory for candidate in candidates if not candidate.left_out or candidate.is_low]
    items = list(grouped_items(db, good, admitted, item))
    if not request.explained:
        return items
    shown = {item.source for item in items}
    for candidate in candidates:
        if candidate.memory.id not in shown:
            line = memory_item(candidate.memory, verdicts, request, "")
            order, why = _order(candidate), candidate.left_out
            items.append(replace(line, score=candidate.score, floor=floor, order=order, left_out=why))
    return items


def _reason(candidate: _KnowledgeCandidate) -> str:
    low = candidate.left_out
    beside = f", shown beside what it contradicts although it is {low}" if low else ""
    memory = candidate.memory
    return f"holds in {memory.scope.partition(':')[0]}{received_note(memory.origin, memory.author)}{beside}"


def _places(good: Sequence[Memory]) -> dict[str, int]:
    """Return the places by which worth fades; memories that the user asked for, and those of teammates, are counted
    separately."""
    first = [memory.id for memory in good if is_asked_for(memory)]
    received = [memory.id for memory in good if memory.origin == "team" and memory.id not in first]
    others = [memory.id for memory in good if memory.id not in first and memory.id not in received]
    return {id_: place for ids in (first, others, received) for place, id_ in enumerate(ids)}


def _worth(candidate: _KnowledgeCandidate) -> float:
    """Return the worth of a memory, by its score.

    Lessons, decisions and lasting statements of the user have a worth. Other facts, and remarks made once, appear only
    on demand."""
    memory = candidate.memory
    is_lasting = memory.kind not in _ASIDES or memory.times_seen > 1 or memory.confidence >= MIN_RULE_CONFIDENCE
    is_stated = (candidate.score.is_stated and is_lasting) or is_asked_for(memory)
    if is_stated or memory.kind in GUIDANCE_KINDS:
        return _WORTH_OF_LESSON * candidate.score.rank
    worth = _WORTH_OF_DECISION if memory.kind == "decision" else 0.0
    return worth * candidate.score.rank


def _where(scope: str) -> str:
    """Return the scope of a memory if wider than the project."""
    sort, _, name = scope.partition(":")
    return "everywhere" if sort == "universal" else name if sort == "language" else ""


def _read(
    db: sqlite3.Connection, request: ContextRequest, setting: Setting, scopes: Sequence[str], kinds: Sequence[Kind]
) -> list[Memory]:
    stored: list[Memory] = []
    for scope in scopes:
        stored += memories.in_scope(
            db, scope, kinds, since=request.since, hidden=request.checkout.hidden, limit=_MAX_CANDIDATES
        )
        if scope.startswith("project:"):
            stored += restored_memories(db, request, kinds)
            known = {memory.id for memory in stored}
            expected = received_work(db, request, setting, kinds)
            stored += [memory for memory in expected if memory.id not in known]
    return stored


def _why_own(memory: Memory, request: ContextRequest) -> str:
    is_own = memory.session != "" and memory.session == request.session
    return "made in this session" if is_own else ""


def _why_low(memory_score: Score, floor: float) -> str:
    if memory_score.is_silent():
        return UNUSED
    return "" if passes(memory_score, floor) else f"below the floor of {floor}"


def _rank(candidate: _KnowledgeCandidate) -> tuple[int, float, float, str]:
    """Return the sort key: statements of the user first, ahead of any number of newer decisions; then the score."""
    return (
        _group(candidate),
        -candidate.score.rank,
        -candidate.memory.last_seen_at.timestamp(),
        candidate.memory.id,
    )


def _group(candidate: _KnowledgeCandidate) -> int:
    """Return the group of a candidate: pinned, stated guidance, other statements, the rest."""
    if candidate.memory.pinned:
        return 0
    if not candidate.score.is_stated:
        return len(_GROUPS) - 1
    return 1 if candidate.memory.kind in _GUIDING else 2


def _order(candidate: _KnowledgeCandidate) -> str:
    group = _group(candidate)
    return f"group {group + 1} of {len(_GROUPS)}: {_GROUPS[group]}"
