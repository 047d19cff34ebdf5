"""How it stands with the code that memories tell of, and the line that says so: what several layers share."""

import sqlite3
from collections.abc import Mapping, Sequence

from claude_mem_lite.code.freshness.verdicts import Freshness, Verdict
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.order import GONE
from claude_mem_lite.context.project_setting import from_root
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.user_rules import is_users_rule
from claude_mem_lite.models import FOREIGN_ORIGINS, Kind, Memory
from claude_mem_lite.store import retirements
from claude_mem_lite.store.branches import is_hidden

MIN_CONFIDENCE = 0.5
LONGEST = 420
"""How much of a memory is told, in characters."""
_MAX_BACK = 20


def verdict_of(memory: Memory, verdicts: Mapping[str, Freshness]) -> Verdict:
    known = verdicts.get(memory.id)
    return known.verdict if known else "unknown"


def since_of(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """What its code is called now and where it is, to be told beside a memory; '' when that is as the memory says.

    Of one that is marked as stale only the names: that it changed is said by the mark. Code of others can be named
    like an order."""
    known = verdicts.get(memory.id)
    if known is None or known.verdict not in ("fresh", "changed"):
        return ""
    renamed = [f"{one.file}::{one.was} was renamed to {one.name}" for one in known.renamed]
    told = "; ".join(known.reasons if known.verdict == "fresh" else renamed)
    return told if render.is_tellable_name(told) else ""


def note_since(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """The same as the note of a memory that is given at a moment of need."""
    return f"since: {told}" if (told := since_of(memory, verdicts)) else ""


def back_again(db: sqlite3.Connection, occasion: Occasion, kinds: Sequence[Kind]) -> list[Memory]:
    """The memories that were retired because their code was gone, if it is there again as it was: the look in the
    background, which makes them active, comes after this context."""
    if occasion.since is not None:
        return []
    found = [
        memory
        for memory in retirements.newest_by_code(db, occasion.place.project, _MAX_BACK)
        if memory.kind in kinds
        and memory.scope == f"project:{occasion.place.project}"
        and memory.session != occasion.session
        and not is_hidden(memory.branch, memory.created_at, occasion.checkout.hidden)
    ]
    verdicts = occasion.checkout.freshness(found)
    return [memory for memory in found if verdict_of(memory, verdicts) == "fresh"]


def why_not(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Why a memory is not told whatever its score; '' when it may be."""
    return why_never(memory, verdicts) or why_unsure(memory)


def why_never(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Why a memory is told nowhere, not even beside one that it contradicts."""
    if memory.origin in FOREIGN_ORIGINS and not memory.pinned:
        return f"not trusted: it comes from {memory.origin}"
    return GONE if verdict_of(memory, verdicts) == "gone" else ""


def why_unsure(memory: Memory) -> str:
    is_sure = memory.confidence >= MIN_CONFIDENCE or memory.pinned
    return "" if is_sure else f"not sure enough: confidence {memory.confidence:.2f}, the floor is {MIN_CONFIDENCE:g}"


def item_of(
    memory: Memory,
    verdicts: Mapping[str, Freshness],
    occasion: Occasion,
    reason: str,
    *,
    note: str = "",
    dated: bool = False,
    limit: int = LONGEST,
    where: str = "",
) -> Item:
    """A memory as a candidate, with what became of its code since; `dated` where its date matters more than its age."""
    verdict = verdict_of(memory, verdicts)
    reasons = "; ".join(verdicts[memory.id].reasons) if verdict in ("fresh", "changed") else ""
    line = render.memory_line(
        memory,
        occasion.now,
        occasion.dated or dated,
        limit=limit,
        is_stale=verdict == "changed",
        since=since_of(memory, verdicts),
        note=note,
        where=where,
    )
    told = f"{reason}, {reasons}" if reasons else reason
    return Item(
        line,
        memory.id,
        told,
        memory=memory.id,
        files=tuple(from_root(memory.files, occasion.place.root)),
        is_asked_for=is_asked_for(memory),
        is_users_rule=is_users_rule(memory),
    )


def is_asked_for(memory: Memory) -> bool:
    """Return whether the user had a memory remembered, pinned it, or put it as a rule.

    What was taken from a prompt in passing is less sure."""
    return memory.pinned or (memory.origin == "user" and memory.confidence >= 1.0) or is_users_rule(memory)
