"""Failed tool call -> fixes of the same failure in the past. Called while a hook waits; reads only.

The trust in a fix is counted from stored outcomes each time, never accumulated. docs/failures.md has the rules."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from claude_mem_lite.authors import author_name
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, anchors_of_words, failed_step
from claude_mem_lite.compress.toolcalls.fix_pairing import is_usage_error
from claude_mem_lite.compress.toolcalls.repairs import describe_fix
from claude_mem_lite.compress.toolcalls.steps import Ran
from claude_mem_lite.context.eligibility import Eligibility
from claude_mem_lite.context.item_block import BlockItem
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.knowledge.confidence import is_learned, is_same_way
from claude_mem_lite.models import GUIDANCE_KINDS, Memory, ToolCall
from claude_mem_lite.safety.redact import redact, redact_json
from claude_mem_lite.store import memories, memory_links, receipts
from claude_mem_lite.store.index import fts

MIN_TRUST = 0.5
"""Minimum trust of an injected fix."""
_MAX_FIXES = 2
_MAX_WARNINGS = 1
_MAX_READ = 40


@dataclass(slots=True)
class Fix:
    """Fix of a failure with outcomes, and the memories that report the fix, newest first."""

    memories: list[Memory]
    anchors: frozenset[str]
    worked: dict[str, datetime] = field(default_factory=dict)
    """Sessions in which the command passed after the fix, with the time."""
    failed: set[str] = field(default_factory=set)
    """Sessions in which the fix did not help, or another fix worked later."""

    def trust(self) -> float:
        """Return the probability of success: 0.67 after one success, 0.5 for equal numbers of successes and
        failures."""
        return (len(self.worked) + 1) / (len(self.worked) + len(self.failed) + 2)

    def last(self) -> datetime:
        """Return the time of the last success."""
        return max(self.worked.values(), default=self.memories[0].created_at)

    @property
    def author(self) -> str:
        """Return the teammate who alone reports the fix; '' for a fix of one's own."""
        is_received = all(memory.origin == "team" for memory in self.memories)
        return author_name(self.memories[0].author) if is_received else ""

    def note(self) -> str:
        if self.author and not self.worked and not self.failed:
            return f"worked for {self.author} {self.last():%Y-%m-%d}"
        times = len(self.worked)
        worked = f"worked {times} times, last {self.last():%Y-%m-%d}" if times > 1 else f"worked {self.last():%Y-%m-%d}"
        failures = len(self.failed)
        return worked + (f"; did not help {failures} time{'s' if failures > 1 else ''} since" if failures else "")

    def reason(self) -> str:
        count = len(self.worked) + len(self.failed)
        if self.author:
            here = f"; worked here in {len(self.worked)} of {count} sessions" if count else ""
            return f"same failure; received from {self.author}'s device, so below fixes of one's own{here}"
        return f"same failure; worked in {len(self.worked)} of {count} sessions"


def known_fixes(
    db: sqlite3.Connection, call: ToolCall, request: ContextRequest, already_given: Collection[str]
) -> list[BlockItem]:
    """Return the fixes of the same failure, latest success first, and written warnings; usually nothing.

    A call with an exit code hidden by a pipe counts as failed if the output is from a failing run. `already_given` has
    the ids known to the session. A failure without a fix gives nothing, unless a memory warns about the failure."""
    step = failed_step(_redacted(call), request.location.root)
    if step is None or (isinstance(step, Ran) and is_usage_error(step)):
        return []
    anchors = anchors_of_step(step)
    # People write an error down without its location.
    as_written = {*anchors, *anchors_of_words(step)}
    rows = fts.anchored_to(db, sorted(as_written), request.location.project, _MAX_READ)
    if not rows:
        return []
    eligibility = Eligibility(request, already_given)
    applicable = [
        memory
        for _, memory in sorted(memories.by_seq(db, rows).items(), reverse=True)
        if eligibility.applies(memory) and not as_written.isdisjoint(memory.anchors)
    ]
    fix_memories = [
        memory
        for memory in applicable
        if not set(anchors).isdisjoint(memory.anchors) and (memory.kind == "bugfix" or is_learned(memory))
    ]
    written = [memory for memory in applicable if memory.kind in GUIDANCE_KINDS and not is_learned(memory)]
    written.sort(key=lambda memory: memory.origin == "team")
    fixes = fixes_from(db, fix_memories, anchors)
    stale = eligibility.eligible([*fix_memories, *written])
    warnings = [
        BlockItem(memory, "written down for this failure", None, "guidance", is_stale=stale[memory.id])
        for memory in written
        if memory.id in stale
    ]
    first = warnings[:_MAX_WARNINGS]
    return [*_fixes(fixes, stale, already_given), *first, *eligibility.opposites(db, first, "guidance")]


def _redacted(call: ToolCall) -> ToolCall:
    """Return a call in stored form: a fingerprint must not depend on a secret."""
    if call.error is not None:
        return replace(call, error=redact(call.error))
    return replace(call, response=redact_json(call.response))


def fixes_from(db: sqlite3.Connection, fix_memories: Sequence[Memory], anchors: Collection[str]) -> list[Fix]:
    """Return the fixes reported by memories, with outcomes: one's own before a teammate's, then the latest success."""
    fixes: list[Fix] = []
    # Bugfixes before learned memories: bugfixes know the sessions of their successes.
    for memory in sorted(fix_memories, key=lambda memory: memory.kind != "bugfix"):
        shared = frozenset(anchors) & set(memory.anchors)
        same = next((fix for fix in fixes if fix.anchors & shared and is_same_way(fix.memories[0], memory)), None)
        if same is None:
            fixes.append(Fix([memory], shared))
        else:
            same.memories.append(memory)
            same.anchors |= shared
    _count(db, fixes)
    for fix in fixes:
        last, ours = fix.last(), fix.worked.keys()
        others = [other for other in fixes if other is not fix and other.anchors & fix.anchors]
        fix.failed |= {
            session for other in others for session, time in other.worked.items() if time > last and session not in ours
        }
    return sorted(fixes, key=lambda fix: (not fix.author, fix.last(), fix.trust()), reverse=True)


def _count(db: sqlite3.Connection, fixes: Sequence[Fix]) -> None:
    """Record for each fix the sessions with success, and the sessions with an injection in vain."""
    fix_of = {memory.id: fix for fix in fixes for memory in fix.memories}
    by_id = {memory.id: memory for fix in fixes for memory in fix.memories}
    for id_, session, at in memory_links.seen_in(db, list(fix_of)):
        fix = fix_of[id_]
        if by_id[id_].origin == "team" and at is None:
            continue  # the receipt of an entry is no session in which the fix worked here
        if by_id[id_].kind == "bugfix" or fix.memories[0].kind != "bugfix":
            _note(fix.worked, session, at or by_id[id_].last_seen_at)
    judged = receipts.judged_for_failures(db, list(fix_of))
    for id_, session, outcome, at in judged:
        if outcome == "used":
            _note(fix_of[id_].worked, session, at)
    for id_, session, outcome, _ in judged:
        if outcome == "ignored" and session not in fix_of[id_].worked:
            fix_of[id_].failed.add(session)


def _note(worked: dict[str, datetime], session: str, at: datetime) -> None:
    worked[session] = max(at, worked.get(session, at))


def _fixes(fixes: Iterable[Fix], stale: Mapping[str, bool], already_given: Collection[str]) -> list[BlockItem]:
    """Return the items of trusted fixes, each by its newest memory, preferably with unchanged code."""
    items: list[BlockItem] = []
    for fix in fixes:
        candidates = [memory for memory in fix.memories if memory.id in stale]
        # One memory of a fix is enough for a session to know the fix.
        if not candidates or fix.trust() < MIN_TRUST or any(memory.id in already_given for memory in fix.memories):
            continue
        best = min(
            candidates, key=lambda memory: (memory.kind != "bugfix", stale[memory.id], -memory.last_seen_at.timestamp())
        )
        # The agent has just seen the error, whose author is unknown: only cause, fix and proof are shown.
        items.append(
            BlockItem(
                best,
                fix.reason(),
                round(fix.trust(), 2),
                "fix",
                fix.note(),
                stale[best.id],
                line=describe_fix(best),
            )
        )
    return items[:_MAX_FIXES]
