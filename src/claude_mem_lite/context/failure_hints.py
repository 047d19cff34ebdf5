"""A tool call that failed -> what put the same failure right before. Called while a hook waits; reads only.

How far a fix is trusted is counted from what is stored each time, never added up. docs/failures.md has the rules."""

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from claude_mem_lite.compress.rules.fix_pairing import is_usage_error
from claude_mem_lite.compress.rules.repairs import describe_fix
from claude_mem_lite.compress.toolcalls.error_fingerprints import anchors_of_step, anchors_of_words, failed_step
from claude_mem_lite.compress.toolcalls.steps import Ran
from claude_mem_lite.context.eligibility import Here
from claude_mem_lite.context.item_block import Given
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.knowledge.confidence import is_learned, is_same_way
from claude_mem_lite.models import GUIDANCE_KINDS, Memory, ToolCall
from claude_mem_lite.safety.redact import redact, redact_json
from claude_mem_lite.store import memories, memory_links, receipts
from claude_mem_lite.store.index import fts

MIN_TRUST = 0.5
"""A fix that is trusted less is not given."""
_MAX_FIXES = 2
_MAX_WARNINGS = 1
_MAX_LOOKED_AT = 40


@dataclass(slots=True)
class Way:
    """One way to put a failure right: the memories that tell of it, newest first, and what came of it."""

    told_by: list[Memory]
    anchors: frozenset[str]
    worked: dict[str, datetime] = field(default_factory=dict)
    """The sessions in which the command passed after it, and when."""
    failed: set[str] = field(default_factory=set)
    """The sessions in which it did not help, or something else did later."""

    def trust(self) -> float:
        """How likely it is to help: 0.67 when it worked once, and half when it failed as often as it worked."""
        return (len(self.worked) + 1) / (len(self.worked) + len(self.failed) + 2)

    def last(self) -> datetime:
        """When it last worked."""
        return max(self.worked.values(), default=self.told_by[0].created_at)

    def note(self) -> str:
        often = len(self.worked)
        worked = f"worked {often} times, last {self.last():%Y-%m-%d}" if often > 1 else f"worked {self.last():%Y-%m-%d}"
        vain = len(self.failed)
        return worked + (f"; did not help {vain} time{'s' if vain > 1 else ''} since" if vain else "")

    def reason(self) -> str:
        count = len(self.worked) + len(self.failed)
        return f"same failure; worked in {len(self.worked)} of {count} sessions"


def known_fixes(db: sqlite3.Connection, call: ToolCall, occasion: Occasion, told: Collection[str]) -> list[Given]:
    """What helped when this call failed the same way before, the way that worked last first; mostly nothing.

    A call whose exit code a pipe has hidden fails when its output is that of a failing run. `told` are the ids of what
    the session knows already. A failure that nobody has put right yet is not told of,
    unless somebody has written down what to know of it."""
    step = failed_step(_redacted(call), occasion.place.root)
    if step is None or (isinstance(step, Ran) and is_usage_error(step)):
        return []
    anchors = anchors_of_step(step)
    # Who writes an error down leaves out where it came up.
    as_written = {*anchors, *anchors_of_words(step)}
    rows = fts.anchored_to(db, sorted(as_written), occasion.place.project, _MAX_LOOKED_AT)
    if not rows:
        return []
    here = Here(occasion, told)
    found = [
        memory
        for _, memory in sorted(memories.by_seq(db, rows).items(), reverse=True)
        if here.holds(memory) and not as_written.isdisjoint(memory.anchors)
    ]
    fixes = [
        one for one in found if not set(anchors).isdisjoint(one.anchors) and (one.kind == "bugfix" or is_learned(one))
    ]
    written = [one for one in found if one.kind in GUIDANCE_KINDS and not is_learned(one)]
    ways = ways_of(db, fixes, anchors)
    stale = here.tellable([*fixes, *written])
    warnings = [
        Given(one, "written down for this failure", None, "guidance", is_stale=stale[one.id])
        for one in written
        if one.id in stale
    ]
    first = warnings[:_MAX_WARNINGS]
    return [*_fixes(ways, stale, told), *first, *here.opposites(db, first, "guidance")]


def _redacted(call: ToolCall) -> ToolCall:
    """A call as it would be stored: a fingerprint of an error with a secret in it is made without the secret."""
    if call.error is not None:
        return replace(call, error=redact(call.error))
    return replace(call, response=redact_json(call.response))


def ways_of(db: sqlite3.Connection, fixes: Sequence[Memory], anchors: Collection[str]) -> list[Way]:
    """The ways that fixes tell of, with what came of each, the one that worked last first."""
    ways: list[Way] = []
    # Fixes before what was learned from them: those say in which sessions it worked.
    for one in sorted(fixes, key=lambda one: one.kind != "bugfix"):
        concerned = frozenset(anchors) & set(one.anchors)
        same = next((way for way in ways if way.anchors & concerned and is_same_way(way.told_by[0], one)), None)
        if same is None:
            ways.append(Way([one], concerned))
        else:
            same.told_by.append(one)
            same.anchors |= concerned
    _count(db, ways)
    for way in ways:
        last, ours = way.last(), way.worked.keys()
        others = [other for other in ways if other is not way and other.anchors & way.anchors]
        way.failed |= {at for other in others for at, when in other.worked.items() if when > last and at not in ours}
    return sorted(ways, key=lambda way: (way.last(), way.trust()), reverse=True)


def _count(db: sqlite3.Connection, ways: Sequence[Way]) -> None:
    """Note for each way the sessions in which it worked, and those in which it was given in vain."""
    way_of = {one.id: way for way in ways for one in way.told_by}
    by_id = {one.id: one for way in ways for one in way.told_by}
    for id_, session, at in memory_links.seen_in(db, list(way_of)):
        way = way_of[id_]
        if by_id[id_].kind == "bugfix" or way.told_by[0].kind != "bugfix":
            _note(way.worked, session, at or by_id[id_].last_seen_at)
    judged = receipts.judged_for_failures(db, list(way_of))
    for id_, session, outcome, at in judged:
        if outcome == "used":
            _note(way_of[id_].worked, session, at)
    for id_, session, outcome, _ in judged:
        if outcome == "ignored" and session not in way_of[id_].worked:
            way_of[id_].failed.add(session)


def _note(worked: dict[str, datetime], session: str, at: datetime) -> None:
    worked[session] = max(at, worked.get(session, at))


def _fixes(ways: Iterable[Way], stale: Mapping[str, bool], told: Collection[str]) -> list[Given]:
    """The ways that may be told, each by the newest memory of it whose code is as it was, if there is one."""
    given: list[Given] = []
    for way in ways:
        tellable = [one for one in way.told_by if one.id in stale]
        # Who knows of a way by one memory knows it.
        if not tellable or way.trust() < MIN_TRUST or any(one.id in told for one in way.told_by):
            continue
        best = min(tellable, key=lambda one: (one.kind != "bugfix", stale[one.id], -one.last_seen_at.timestamp()))
        # The error was just seen, and who knows who wrote it: the cause, what was done and what proved it are told.
        given.append(
            Given(
                best,
                way.reason(),
                round(way.trust(), 2),
                "fix",
                way.note(),
                stale[best.id],
                told=describe_fix(best),
            )
        )
    return given[:_MAX_FIXES]
