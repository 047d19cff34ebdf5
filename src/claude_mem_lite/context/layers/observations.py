"""Work of earlier sessions: what is most like the work at hand, or else the newest."""

import logging
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import MIN_CONFIDENCE, back_again, item_of, since_of, verdict_of, why_not
from claude_mem_lite.context.layers.contradictions import Told, items_of
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import MAX_SESSIONS, UNUSED, last_sessions, memory_factors
from claude_mem_lite.context.order import OUTRANKED, confidence_floor, newest_first, shown
from claude_mem_lite.context.project_setting import Setting, branch_words
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import NEUTRAL, SILENT, is_stated
from claude_mem_lite.context.similarity import is_left_failing
from claude_mem_lite.models import MAX_OF_A_TURN, WORK_KINDS, Filters, Kind, Memory, without_request
from claude_mem_lite.store import memories
from claude_mem_lite.store.branches import is_hidden

_SEEN_KINDS: tuple[Kind, ...] = (*WORK_KINDS, "failure")
# More than are told: decisions among them may stand in another layer.
_MAX_CANDIDATES = 16
_MAX_FOUND = 80
_MAX_READ = 10 * MAX_OF_A_TURN
_MAX_OF_A_TURN = 2
_LONGEST = 160
"""Of more work less is told of each: its id leads to the rest."""
# What is most like the work at hand is told whatever files it is about.
_BY_RELEVANCE_ALONE = 1
_RELEVANCE_ALONE, _MAX_NEW_FILES = 0.2, 3
_WORTH = 0.025
log = logging.getLogger(__name__)


def observations(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """The work that search finds for the last summary, the branch and the files at hand, then the newest."""
    alike = _alike(db, occasion, setting)
    candidates = _candidates(db, [hit.memory for hit in alike], occasion, "like the work at hand")
    spread = _Spread({hit.memory.id: hit for hit in alike}, _known_files(db, occasion))
    told = spread.told(candidates)
    if len(told) < _MAX_CANDIDATES or occasion.explained:
        candidates += _recent(db, occasion, {hit.memory.id for hit in alike})
        told = _without_crowding([*told, *candidates])
    admitted = [one.memory for one in candidates if not one.left_out]
    if occasion.explained:
        candidates = [_outranked(spread.placed(one), told) for one in candidates]
    by_id = {one.memory.id: one for one in (*candidates, *told)}
    first = [one.memory for one in told]
    items = list(items_of(db, first, admitted, lambda one: by_id[one.memory.id].item(occasion, one)))
    if not occasion.explained:
        return items
    listed = {item.source for item in items}
    others = [one for one in candidates if one.memory.id not in listed]
    return items + [replace(one.item(occasion), left_out=one.left_out) for one in others]


class _Alike(NamedTuple):
    """What search found, with its score and the best score of the same query."""

    memory: Memory
    score: float
    best: float

    @property
    def share(self) -> float:
        return self.score / self.best


@dataclass(frozen=True, slots=True)
class _Candidate:
    memory: Memory
    verdicts: Mapping[str, Freshness]
    reason: str
    left_out: str
    usefulness: float = NEUTRAL
    order: str = ""
    """The numbers that place it."""
    worth: float = 0.0

    @property
    def turn(self) -> tuple[str, datetime]:
        return self.memory.session, self.memory.created_at

    def item(self, occasion: Occasion, told: Told | None = None) -> Item:
        note, dated = (told.note, told.is_dated) if told else ("", False)
        made = item_of(self.memory, self.verdicts, occasion, self.reason, note=note, dated=dated, limit=_LONGEST)
        floor = confidence_floor(self.memory.confidence, MIN_CONFIDENCE, is_pinned=self.memory.pinned)
        words = render.safe_line(f"{self.memory.title}. {without_request(self.memory.summary)}", _LONGEST)
        # That its code has changed or moved since is said by no other line.
        is_marked = verdict_of(self.memory, self.verdicts) == "changed" or since_of(self.memory, self.verdicts)
        says = "" if is_marked or note else words
        return replace(made, says=says, worth=self.worth * self.memory.confidence, order=f"{self.order}; {floor}")


def _candidates(db: sqlite3.Connection, found: Sequence[Memory], occasion: Occasion, reason: str) -> list[_Candidate]:
    """Work with why it may not be told. What the user stated is told elsewhere, and what holds for a language or
    everywhere too: it may have been decided here and be about another language."""
    scope = f"project:{occasion.place.project}"
    work = [memory for memory in found if memory.scope == scope and not is_stated(memory)]
    verdicts = occasion.checkout.freshness(work)
    loud = memory_factors(db, [memory.id for memory in work])

    def why_left_out(memory: Memory) -> str:
        return _handed_off(db, memory) or why_not(memory, verdicts) or ("" if loud[memory.id] > SILENT else UNUSED)

    return [_Candidate(memory, verdicts, reason, why_left_out(memory), loud[memory.id]) for memory in work]


def _alike(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[_Alike]:
    """The best hits of this project, best first; nothing when there is no search, or it fails.

    The branch is asked for by itself as well: among the words of a summary its few would count for little. Of a session
    that resumes only news are wanted, and they are few."""
    if occasion.search is None or occasion.since is not None:
        return []
    filters = Filters(project=occasion.place.project, kinds=_SEEN_KINDS)
    found: dict[str, _Alike] = {}
    for query in filter(None, (setting.query, branch_words(occasion.place.branch))):
        try:
            hits = occasion.search(db, query, filters, occasion.now, _MAX_FOUND)
        except Exception as error:  # noqa: BLE001  the newest will do
            log.warning("no search for the context", extra={"error": type(error).__name__})
            continue
        for hit in hits:
            if not isinstance(hit.found, Memory):
                continue
            one = _Alike(hit.found, hit.score, hits[0].score)
            if one.share > (found[one.memory.id].share if one.memory.id in found else 0):
                found[one.memory.id] = one
    here = [
        one
        for one in found.values()
        if (not occasion.session or one.memory.session != occasion.session)
        and not is_hidden(one.memory.branch, one.memory.created_at, occasion.checkout.hidden)
    ]
    return sorted(here, key=lambda one: (-one.share, one.memory.id))


def _known_files(db: sqlite3.Connection, occasion: Occasion) -> set[str]:
    """The files that the session index tells of."""
    found = last_sessions(db, occasion, MAX_SESSIONS)
    return {file for session in found for file in session.summary.files_edited}


@dataclass
class _Spread:
    """Places what search found: the best by relevance; of the rest, work on files that nothing before it tells of comes
    before more about the same ones. On recorded sessions that covers more of what a session will touch
    (benchmarks/README.md)."""

    alike: Mapping[str, _Alike]
    seen: set[str]
    """The files that are told of."""

    def told(self, found: Sequence[_Candidate]) -> list[_Candidate]:
        pool = [one for one in found if not one.left_out]
        told: list[_Candidate] = []
        while pool and len(told) < _MAX_CANDIDATES:
            alone = len(told) < _BY_RELEVANCE_ALONE
            best = max(pool, key=self._relevance if alone else self._value)
            pool.remove(best)
            if len(_without_crowding([*told, best])) > len(told):
                place = f"place {len(told) + 1}, by relevance alone" if alone else f"place {len(told) + 1}"
                order = f"{self._sum(best, alone=alone)}; {place}"
                told.append(replace(best, order=order, worth=_WORTH * self._relevance(best) * FADE ** len(told)))
                self.seen |= set(best.memory.files)
        return told

    def placed(self, one: _Candidate) -> _Candidate:
        """Return a candidate that was not chosen with its value after those that were."""
        if one.order or one.memory.id not in self.alike:
            return one
        return replace(one, order=f"{self._sum(one, alone=False)}; no place")

    def _relevance(self, one: _Candidate) -> float:
        return self.alike[one.memory.id].share * one.usefulness

    def _value(self, one: _Candidate) -> float:
        return self._relevance(one) * (_RELEVANCE_ALONE + self._new_files(one))

    def _new_files(self, one: _Candidate) -> int:
        return min(len(set(one.memory.files) - self.seen), _MAX_NEW_FILES)

    def _sum(self, one: _Candidate, *, alone: bool) -> str:
        """Return the value as a product, as the files told of so far make it."""
        alike, value = self.alike[one.memory.id], self._relevance(one) if alone else self._value(one)
        use = f" × use {shown(one.usefulness)}" if one.usefulness != NEUTRAL else ""
        files = "" if alone else f" × ({shown(_RELEVANCE_ALONE)} + files {self._new_files(one)})"
        return f"rank {shown(value)} = score {shown(alike.score)} / best {shown(alike.best)}{use}{files}"


def _recent(db: sqlite3.Connection, occasion: Occasion, known: set[str]) -> list[_Candidate]:
    """Return the newest work that search did not find, with its places."""
    newest = [memory for memory in _newest(db, occasion) if memory.id not in known]
    found = _candidates(db, newest, occasion, "recent work")
    return [
        replace(
            one,
            order=newest_first(rank, len(found), one.memory.created_at),
            worth=_WORTH * one.usefulness * FADE**rank,
        )
        for rank, one in enumerate(found, 1)
    ]


def _outranked(one: _Candidate, told: Sequence[_Candidate]) -> _Candidate:
    """Return a candidate that is not told with the numbers of those before it."""
    if one.left_out:
        return one
    of_turn = sum(1 for other in told if other.turn == one.turn)
    before = f"{len(told)} before it, {_MAX_CANDIDATES} at most"
    if of_turn >= _MAX_OF_A_TURN:
        before = f"{of_turn} of its turn before it, {_MAX_OF_A_TURN} at most"
    elif of_turn and one.memory.confidence <= MIN_CONFIDENCE:
        before = f"{of_turn} of its turn before it, and the next needs a confidence over {shown(MIN_CONFIDENCE)}"
    return replace(one, left_out=OUTRANKED, order=f"{one.order}; {before}")


def _newest(db: sqlite3.Connection, occasion: Occasion) -> list[Memory]:
    found = memories.newest(
        db,
        project=occasion.place.project,
        kinds=_SEEN_KINDS,
        since=occasion.since,
        without_session=occasion.session or None,
        hidden=occasion.checkout.hidden,
        limit=_MAX_READ,
    )
    found += back_again(db, occasion, _SEEN_KINDS)
    found.reverse()  # of one turn the first comes first: what it was about stands before what else it did
    return sorted(found, key=lambda memory: memory.created_at, reverse=True)


def _without_crowding(found: Sequence[_Candidate]) -> list[_Candidate]:
    """The first few, each once; of one turn only two, and no second that is hardly sure."""
    of_turn: Counter[tuple[str, datetime]] = Counter()
    told: dict[str, _Candidate] = {}
    for one in found:
        turn = one.turn
        is_second = 0 < of_turn[turn] < _MAX_OF_A_TURN and one.memory.confidence > MIN_CONFIDENCE
        if not one.left_out and one.memory.id not in told and (not of_turn[turn] or is_second):
            of_turn[turn] += 1
            told[one.memory.id] = one
    return list(told.values())[:_MAX_CANDIDATES]


def _handed_off(db: sqlite3.Connection, memory: Memory) -> str:
    """Whether a failure is told with what its session left open."""
    left = memories.handoff_of(db, memory.session) if memory.kind == "failure" else None
    return "told in handoff" if left is not None and is_left_failing(memory, left) else ""
