"""State of the code of a memory, and the line that reports the state. Shared by the layers."""

import sqlite3
from collections.abc import Mapping, Sequence

from claude_mem_lite.code.freshness.verdicts import Freshness, Verdict
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.order import GONE
from claude_mem_lite.context.project_setting import Setting, from_root
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.user_rules import is_users_rule
from claude_mem_lite.models import FOREIGN_ORIGINS, Kind, Memory
from claude_mem_lite.store import received_memories, retirements
from claude_mem_lite.store.branches import is_hidden

MIN_CONFIDENCE = 0.5
MAX_LINE_LENGTH = 420
"""Maximum length of a memory in a line."""
_MAX_RETIRED = 20
_MAX_RECEIVED = 20


def verdict_of(memory: Memory, verdicts: Mapping[str, Freshness]) -> Verdict:
    freshness = verdicts.get(memory.id)
    return freshness.verdict if freshness else "unknown"


def relocation_of(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Return the new names and locations of the code of a memory; '' if unchanged.

    A memory with changed code is marked as stale, so only new names are returned. A foreign name may be an order and is
    not returned."""
    freshness = verdicts.get(memory.id)
    if freshness is None or freshness.verdict not in ("fresh", "changed"):
        return ""
    renamed = [f"{symbol.file}::{symbol.was} was renamed to {symbol.name}" for symbol in freshness.renamed]
    note = "; ".join(freshness.reasons if freshness.verdict == "fresh" else renamed)
    return note if render.is_safe_name(note) else ""


def relocation_note(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Return new names and locations as the note of a block item."""
    return f"since: {note}" if (note := relocation_of(memory, verdicts)) else ""


def restored_memories(db: sqlite3.Connection, request: ContextRequest, kinds: Sequence[Kind]) -> list[Memory]:
    """Return memories that were retired for missing code, if the code is back unchanged.

    The staleness scan makes the memories active later, after this context."""
    if request.since is not None:
        return []
    retired = [
        memory
        for memory in retirements.newest_by_code(db, request.location.project, _MAX_RETIRED)
        if memory.kind in kinds
        and memory.scope == f"project:{request.location.project}"
        and memory.session != request.session
        and not is_hidden(memory.branch, memory.created_at, request.checkout.hidden)
    ]
    verdicts = request.checkout.freshness(retired)
    return [memory for memory in retired if verdict_of(memory, verdicts) == "fresh"]


def received_work(
    db: sqlite3.Connection, request: ContextRequest, setting: Setting, kinds: Sequence[Kind]
) -> list[Memory]:
    """Return memories of teammates about files of the coming work, most expected first; none without a forecast."""
    if not setting.forecast.shares:
        return []
    found = received_memories.about_files(
        db,
        f"project:{request.location.project}",
        kinds,
        setting.forecast.shares,
        since=request.since,
        hidden=request.checkout.hidden,
        limit=_MAX_RECEIVED,
    )
    return sorted(found, key=lambda memory: setting.forecast.share(memory.files), reverse=True)


def without_worth(
    db: sqlite3.Connection, stored: Sequence[Memory], request: ContextRequest, setting: Setting
) -> frozenset[str]:
    """Return the ids of memories without a worth apart from their files: those of teammates that are no news.

    Otherwise the same decision would be shown in every session, whatever the session is about. If nothing is known
    about the coming work, all memories have a worth."""
    received = frozenset(memory.id for memory in stored if memory.origin == "team")
    began = setting.last_began_at
    if not received or began is None or request.since is not None or not setting.forecast.shares:
        return frozenset()
    return received - received_memories.came_since(db, sorted(received), began)


def why_not(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Return the reason to exclude a memory regardless of score; '' without a reason."""
    return why_never(memory, verdicts) or why_unsure(memory)


def why_never(memory: Memory, verdicts: Mapping[str, Freshness]) -> str:
    """Return the reason to exclude a memory everywhere, even beside a contradicting memory."""
    if memory.origin in FOREIGN_ORIGINS and not memory.pinned:
        return f"not trusted: it comes from {memory.origin}"
    return GONE if verdict_of(memory, verdicts) == "gone" else ""


def why_unsure(memory: Memory) -> str:
    is_sure = memory.confidence >= MIN_CONFIDENCE or memory.pinned
    return "" if is_sure else f"not sure enough: confidence {memory.confidence:.2f}, the floor is {MIN_CONFIDENCE:g}"


def memory_item(
    memory: Memory,
    verdicts: Mapping[str, Freshness],
    request: ContextRequest,
    reason: str,
    *,
    note: str = "",
    dated: bool = False,
    limit: int = MAX_LINE_LENGTH,
    where: str = "",
) -> Item:
    """Return a memory as a candidate, with the state of the code; `dated` shows a date instead of an age."""
    verdict = verdict_of(memory, verdicts)
    reasons = "; ".join(verdicts[memory.id].reasons) if verdict in ("fresh", "changed") else ""
    line = render.memory_line(
        memory,
        request.now,
        request.dated or dated,
        limit=limit,
        is_stale=verdict == "changed",
        since=relocation_of(memory, verdicts),
        note=note,
        where=where,
    )
    full_reason = f"{reason}, {reasons}" if reasons else reason
    return Item(
        line,
        memory.id,
        full_reason,
        memory=memory.id,
        files=tuple(from_root(memory.files, request.location.root)),
        is_asked_for=is_asked_for(memory),
        is_users_rule=is_users_rule(memory),
        is_received=memory.origin == "team",
    )


def is_asked_for(memory: Memory) -> bool:
    """Return whether the user asked to remember a memory, pinned it or stated a rule.

    Statements from the text of a prompt are less sure and do not count."""
    return memory.pinned or (memory.origin == "user" and memory.confidence >= 1.0) or is_users_rule(memory)
