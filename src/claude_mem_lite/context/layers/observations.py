"""Layer of earlier work: the work most similar to the present work, then the newest, then work of teammates."""

import logging
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import NamedTuple

from claude_mem_lite.authors import received_note, team_factor
from claude_mem_lite.code.freshness.verdicts import Freshness
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import (
    MIN_CONFIDENCE,
    memory_item,
    received_work,
    relocation_of,
    restored_memories,
    verdict_of,
    why_not,
)
from claude_mem_lite.context.layers.contradictions import AnnotatedMemory, grouped_items
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import MAX_SESSIONS, UNUSED, last_sessions, memory_factors
from claude_mem_lite.context.order import GONE, OUTRANKED, confidence_floor, format_number, newest_first
from claude_mem_lite.context.project_setting import Setting, branch_words
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import NEUTRAL, SILENT, is_stated
from claude_mem_lite.context.similarity import is_left_failing
from claude_mem_lite.models import MAX_MEMORIES_PER_TURN, WORK_KINDS, Kind, Memory, without_request
from claude_mem_lite.search_values import Filters
from claude_mem_lite.store import memories, memory_links
from claude_mem_lite.store.branches import is_hidden
from claude_mem_lite.values import frozen

_KINDS: tuple[Kind, ...] = (*WORK_KINDS, "failure")
# More than are shown: decisions among them may appear in another layer.
_MAX_CANDIDATES = 16
_MAX_RECEIVED = 3
_MAX_HITS = 80
_MAX_READ = 10 * MAX_MEMORIES_PER_TURN
_MAX_OF_A_TURN = 2
_MAX_LENGTH = 160
"""Maximum length of a line; `show ID` has the rest."""
# The most similar work is selected regardless of its files.
_BY_RELEVANCE_ALONE = 1
_RELEVANCE_ALONE, _MAX_NEW_FILES = 0.2, 3
_WORTH = 0.025
_STALE = 0.5
"""Factor for work on code that has changed since."""
log = logging.getLogger(__name__)


def observations(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return the work that search finds for the last summary, branch and files, then the newest work."""
    similar = _similar_work(db, request, setting)
    spread, candidates, selected = _selected(db, request, similar)
    if len(selected) < _MAX_CANDIDATES or request.explained:
        candidates += _recent(db, request, setting, {hit.memory.id for hit in similar})
        selected = _without_crowding([*selected, *candidates])
    received = _received(db, request, setting)
    candidates += received
    selected += [candidate for candidate in received if not candidate.left_out][:_MAX_RECEIVED]
    admitted = [candidate.memory for candidate in candidates if not candidate.left_out]
    if request.explained:
        candidates = [_outranked(spread.placed(candidate), selected) for candidate in candidates]
    by_id = {candidate.memory.id: candidate for candidate in (*candidates, *selected)}
    first = [candidate.memory for candidate in selected]

    def item(annotated: AnnotatedMemory) -> Item:
        return by_id[annotated.memory.id].item(request, annotated)

    items = list(grouped_items(db, first, admitted, item))
    if not request.explained:
        return items
    listed = {item.source for item in items}
    others = [candidate for candidate in candidates if candidate.memory.id not in listed]
    return items + [replace(candidate.item(request), left_out=candidate.left_out) for candidate in others]


class _SimilarWork(NamedTuple):
    """Search hit with its score and the best score of the same query."""

    memory: Memory
    score: float
    best: float

    @property
    def share(self) -> float:
        return self.score / self.best


@frozen
class _WorkCandidate:
    memory: Memory
    verdicts: Mapping[str, Freshness]
    reason: str
    left_out: str
    usefulness: float = NEUTRAL
    order: str = ""
    """Numbers that rank the candidate."""
    worth: float = 0.0

    @property
    def turn(self) -> tuple[str, datetime]:
        return self.memory.session, self.memory.created_at

    def item(self, request: ContextRequest, annotated: AnnotatedMemory | None = None) -> Item:
        note, dated = (annotated.note, annotated.is_dated) if annotated else ("", False)
        item = memory_item(self.memory, self.verdicts, request, self.reason, note=note, dated=dated, limit=_MAX_LENGTH)
        floor = confidence_floor(self.memory.confidence, MIN_CONFIDENCE, is_pinned=self.memory.pinned)
        is_stale = verdict_of(self.memory, self.verdicts) == "changed"
        # No other line has notes about contradictions, or about changed or moved code.
        is_marked = is_stale or note or relocation_of(self.memory, self.verdicts)
        words = render.safe_line(f"{self.memory.title}. {without_request(self.memory.summary)}", _MAX_LENGTH)
        wording = "" if is_marked else words
        certainty = self.memory.confidence * (_STALE if is_stale else 1.0)
        return replace(item, wording=wording, worth=self.worth * certainty, order=f"{self.order}; {floor}")


def _selected(
    db: sqlite3.Connection, request: ContextRequest, similar: Sequence[_SimilarWork]
) -> tuple["_Spread", list[_WorkCandidate], list[_WorkCandidate]]:
    """Return the ranking, the candidates among search hits, and the selected of them.

    Only selected work and work that contradicts it has its code checked, unless all is to be explained: most hits are
    not selected, and a check of all would use up the time of a context."""
    hits, known_files = {hit.memory.id: hit for hit in similar}, _known_files(db, request)
    work = _own_work([hit.memory for hit in similar], request)
    verdicts = dict(request.checkout.freshness(work if request.explained else []))
    candidates = _with_verdicts(db, work, verdicts, "like the work at hand")
    gone: set[str] = set()
    while True:
        candidates = [
            replace(candidate, left_out=GONE) if candidate.memory.id in gone else candidate for candidate in candidates
        ]
        spread = _Spread(hits, set(known_files))
        selected = spread.select(candidates)
        gone = _add_verdicts(db, request, verdicts, candidates, selected)
        if not gone:
            return spread, candidates, selected


def _add_verdicts(
    db: sqlite3.Connection,
    request: ContextRequest,
    verdicts: dict[str, Freshness],
    candidates: Sequence[_WorkCandidate],
    selected: Sequence[_WorkCandidate],
) -> set[str]:
    """Check the code of selected candidates, and of candidates that contradict them; return the ids with code gone."""
    ids = [candidate.memory.id for candidate in selected]
    shown = {*ids, *(other for against in memory_links.of(db, ids).values() for other in against)}
    unchecked = [
        candidate.memory
        for candidate in candidates
        if candidate.memory.id in shown and not candidate.left_out and candidate.memory.id not in verdicts
    ]
    verdicts.update(request.checkout.freshness(unchecked) if unchecked else {})
    return {memory.id for memory in unchecked if verdict_of(memory, verdicts) == "gone"}


def _candidates(
    db: sqlite3.Connection, found_memories: Sequence[Memory], request: ContextRequest, reason: str
) -> list[_WorkCandidate]:
    """Return work with reasons to leave some out."""
    work = _own_work(found_memories, request)
    return _with_verdicts(db, work, request.checkout.freshness(work), reason)


def _own_work(found_memories: Sequence[Memory], request: ContextRequest) -> list[Memory]:
    """Return work without statements of the user, and memories with a wider scope: other layers show both, and the
    latter may be about another language."""
    scope = f"project:{request.location.project}"
    return [memory for memory in found_memories if memory.scope == scope and not is_stated(memory)]


def _with_verdicts(
    db: sqlite3.Connection, work: Sequence[Memory], verdicts: Mapping[str, Freshness], reason: str
) -> list[_WorkCandidate]:
    factors = memory_factors(db, [memory.id for memory in work])

    def why_left_out(memory: Memory) -> str:
        return _handed_off(db, memory) or why_not(memory, verdicts) or ("" if factors[memory.id] > SILENT else UNUSED)

    return [_WorkCandidate(memory, verdicts, reason, why_left_out(memory), factors[memory.id]) for memory in work]


def _similar_work(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[_SimilarWork]:
    """Return the best hits of the project, best first; empty without search or after an error.

    The branch is a separate query, because a few words would count little among the words of a summary. A resumed
    session needs only news, so no search."""
    if request.search is None or request.since is not None:
        return []
    filters = Filters(project=request.location.project, kinds=_KINDS)
    best: dict[str, _SimilarWork] = {}
    for query in filter(None, (setting.query, branch_words(request.location.branch))):
        try:
            hits = request.search(db, query, filters, request.now, _MAX_HITS)
        except Exception as error:  # noqa: BLE001  the newest work is enough
            log.warning("no search for the context", extra={"error": type(error).__name__})
            continue
        hits = [hit for hit in hits if not isinstance(hit.found, Memory) or _is_by_similarity(hit.found, setting)]
        for hit in hits:
            if not isinstance(hit.found, Memory):
                continue
            work = _SimilarWork(hit.found, hit.score, hits[0].score)
            if work.share > (best[work.memory.id].share if work.memory.id in best else 0):
                best[work.memory.id] = work
    visible = [
        work
        for work in best.values()
        if (not request.session or work.memory.session != request.session)
        and not is_hidden(work.memory.branch, work.memory.created_at, request.checkout.hidden)
    ]
    return sorted(visible, key=lambda work: (-work.share, work.memory.id))


def _is_by_similarity(memory: Memory, setting: Setting) -> bool:
    """Return whether similarity and recency select a memory; if there is a forecast, files select work of teammates."""
    return memory.origin != "team" or not setting.forecast.shares


def _known_files(db: sqlite3.Connection, request: ContextRequest) -> set[str]:
    """Return the files of the sessions in the session index."""
    last = last_sessions(db, request, MAX_SESSIONS)
    return {file for session in last for file in session.summary.files_edited}


@dataclass
class _Spread:
    """Ranking of search hits: the best by relevance, then work on files that no earlier line covers.

    In recorded sessions this order covers more of the files touched next (benchmarks/README.md)."""

    similar: Mapping[str, _SimilarWork]
    seen: set[str]
    """Files covered so far."""

    def select(self, candidates: Sequence[_WorkCandidate]) -> list[_WorkCandidate]:
        pool = [candidate for candidate in candidates if not candidate.left_out]
        selected: list[_WorkCandidate] = []
        while pool and len(selected) < _MAX_CANDIDATES:
            by_relevance = len(selected) < _BY_RELEVANCE_ALONE
            best = max(pool, key=self._relevance if by_relevance else self._value)
            pool.remove(best)
            if len(_without_crowding([*selected, best])) > len(selected):
                place = f"place {len(selected) + 1}{', by relevance alone' if by_relevance else ''}"
                order = f"{self._sum(best, by_relevance=by_relevance)}; {place}"
                worth = _WORTH * self._relevance(best) * FADE ** len(selected)
                selected.append(replace(best, order=order, worth=worth))
                self.seen |= set(best.memory.files)
        return selected

    def placed(self, candidate: _WorkCandidate) -> _WorkCandidate:
        """Return an unselected candidate with the rank after the selection."""
        if candidate.order or candidate.memory.id not in self.similar:
            return candidate
        return replace(candidate, order=f"{self._sum(candidate, by_relevance=False)}; no place")

    def _relevance(self, candidate: _WorkCandidate) -> float:
        return self.similar[candidate.memory.id].share * candidate.usefulness

    def _value(self, candidate: _WorkCandidate) -> float:
        return self._relevance(candidate) * (_RELEVANCE_ALONE + self._new_files(candidate))

    def _new_files(self, candidate: _WorkCandidate) -> int:
        return min(len(set(candidate.memory.files) - self.seen), _MAX_NEW_FILES)

    def _sum(self, candidate: _WorkCandidate, *, by_relevance: bool) -> str:
        """Return the rank as a product, with the files covered so far."""
        similar = self.similar[candidate.memory.id]
        value = self._relevance(candidate) if by_relevance else self._value(candidate)
        use = f" × use {format_number(candidate.usefulness)}" if candidate.usefulness != NEUTRAL else ""
        files = "" if by_relevance else f" × ({format_number(_RELEVANCE_ALONE)} + files {self._new_files(candidate)})"
        share = f"score {format_number(similar.score)} / best {format_number(similar.best)}"
        return f"rank {format_number(value)} = {share}{use}{files}"


def _recent(
    db: sqlite3.Connection, request: ContextRequest, setting: Setting, similar: set[str]
) -> list[_WorkCandidate]:
    """Return the newest work not found by search, with ranks."""
    newest = [
        memory for memory in _newest(db, request) if memory.id not in similar and _is_by_similarity(memory, setting)
    ]
    candidates = _candidates(db, newest, request, "recent work")
    return [
        replace(
            candidate,
            order=newest_first(rank, len(candidates), candidate.memory.created_at),
            worth=_WORTH * candidate.usefulness * team_factor(candidate.memory.origin) * FADE**rank,
        )
        for rank, candidate in enumerate(candidates, 1)
    ]


def _received(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[_WorkCandidate]:
    """Return work of teammates on the files of the coming session, most expected first."""
    candidates = _candidates(db, received_work(db, request, setting, _KINDS), request, "about the coming work")
    return [
        replace(
            candidate,
            reason=f"{candidate.reason}{received_note(candidate.memory.origin, candidate.memory.author)}",
            order=f"share of the coming work {format_number(setting.forecast.share(candidate.memory.files))}: "
            f"{rank} of {len(candidates)}",
        )
        for rank, candidate in enumerate(candidates, 1)
    ]


def _outranked(candidate: _WorkCandidate, selected: Sequence[_WorkCandidate]) -> _WorkCandidate:
    """Return an unselected candidate with the numbers of the candidates before."""
    if candidate.left_out:
        return candidate
    of_turn = sum(1 for other in selected if other.turn == candidate.turn)
    before = f"{len(selected)} before it, {_MAX_CANDIDATES} at most"
    if of_turn >= _MAX_OF_A_TURN:
        before = f"{of_turn} of its turn before it, {_MAX_OF_A_TURN} at most"
    elif of_turn and candidate.memory.confidence <= MIN_CONFIDENCE:
        minimum = format_number(MIN_CONFIDENCE)
        before = f"{of_turn} of its turn before it, and the next needs a confidence over {minimum}"
    return replace(candidate, left_out=OUTRANKED, order=f"{candidate.order}; {before}")


def _newest(db: sqlite3.Connection, request: ContextRequest) -> list[Memory]:
    newest = memories.newest(
        db,
        project=request.location.project,
        kinds=_KINDS,
        since=request.since,
        without_session=request.session or None,
        hidden=request.checkout.hidden,
        limit=_MAX_READ,
    )
    newest += restored_memories(db, request, _KINDS)
    newest.reverse()  # within a turn the main memory comes first
    return sorted(newest, key=lambda memory: memory.created_at, reverse=True)


def _without_crowding(candidates: Sequence[_WorkCandidate]) -> list[_WorkCandidate]:
    """Return the first candidates, each once, at most two per turn; a second needs more confidence."""
    of_turn: Counter[tuple[str, datetime]] = Counter()
    selected: dict[str, _WorkCandidate] = {}
    for candidate in candidates:
        turn = candidate.turn
        is_second = 0 < of_turn[turn] < _MAX_OF_A_TURN and candidate.memory.confidence > MIN_CONFIDENCE
        if not candidate.left_out and candidate.memory.id not in selected and (not of_turn[turn] or is_second):
            of_turn[turn] += 1
            selected[candidate.memory.id] = candidate
    return list(selected.values())[:_MAX_CANDIDATES]


def _handed_off(db: sqlite3.Connection, memory: Memory) -> str:
    """Return a reason if the handoff of the session reports a failure; otherwise ''."""
    handoff = memories.handoff_of(db, memory.session) if memory.kind == "failure" else None
    return "shown in handoff" if handoff is not None and is_left_failing(memory, handoff) else ""
