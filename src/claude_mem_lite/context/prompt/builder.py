"""Prompt -> the few memories that help, or nothing: silence is the normal case.

Called by the worker while a hook waits. `docs/moments.md` has the rules."""

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from claude_mem_lite.authors import team_factor
from claude_mem_lite.context.eligibility import Eligibility
from claude_mem_lite.context.item_block import BlockItem, block, with_relations
from claude_mem_lite.context.layers.code_state import relocation_note, verdict_of, why_not
from claude_mem_lite.context.layers.sessions import MAX_OPEN_SESSIONS, editing_sessions, is_outlived
from claude_mem_lite.context.order import NO_ROOM, OUTRANKED
from claude_mem_lite.context.prompt import keywords, scoring
from claude_mem_lite.context.prompt.answers import (
    AnswerCandidate,
    answers,
    is_plainly_asked,
    is_question,
    without_opening,
)
from claude_mem_lite.context.prompt.keywords import Keywords, Synonyms
from claude_mem_lite.context.prompt.named_question import named_question
from claude_mem_lite.context.prompt.scoring import FLOOR, Floor, Match, NamedFiles, PromptScore, Shared
from claude_mem_lite.context.request import ContextRequest, Search
from claude_mem_lite.context.scoring import factor, is_stated
from claude_mem_lite.context.similarity import why_repeated
from claude_mem_lite.models import FOREIGN_ORIGINS, Memory, ReceiptItem, Session, Tally
from claude_mem_lite.search_values import Filters, ScoredMemory
from claude_mem_lite.store import receipts, sessions
from claude_mem_lite.store.index import fts
from claude_mem_lite.values import frozen


@frozen
class CandidateMemory:
    """Memory with its score, and a reason if left out."""

    memory: Memory
    score: PromptScore | None
    """None for a memory that only contradicts a chosen memory."""
    floor: Floor
    found: tuple[str, ...] = ()
    """Words of the prompt in the memory."""
    shared: Shared | None = None
    """Strength of the found words; None before the memory was read."""
    left_out: str = ""
    is_stale: bool = False
    since: str = ""
    """Note about new names and locations of the code."""
    answer: AnswerCandidate | None = None
    """Evidence if the prompt is a question; then `score` is None."""

    @property
    def total(self) -> float:
        return self.value or 0.0

    @property
    def value(self) -> float | None:
        """Return the number to compare with the floor; None for a memory that only contradicts another."""
        return self.answer.sure if self.answer else self.score.total if self.score else None

    def parts(self) -> Mapping[str, float]:
        return self.answer.parts if self.answer else self.score.parts() if self.score else {}

    @property
    def reason(self) -> str:
        return f"{scoring.source_of(self.memory.kind)}, score {self.total:.2f}, words {', '.join(self.found[:5])}"

    def explained(self) -> tuple[str, ...]:
        """Return score, match, floor and shared words, each as a line that can be checked by hand."""
        if self.answer is not None:
            return (self.answer.explained(),)
        scored = (self.score.explained(), self.score.match.explained()) if self.score else ()
        return (*scored, self.floor.explained(), *((self.shared.explained(),) if self.shared else ()))


ScoreMemories = Callable[[sqlite3.Connection, str, Sequence[str], Filters, int], list[ScoredMemory]]
"""Signature of `search.hybrid.Search.score_memories`."""
MAX_ITEMS = 3
_MAX_SCORED = 24
_MAX_CHECKED = 8
# A prompt with less strength matches anything, and so does a memory with fewer shared words, unless its title has all
# words of the prompt.
_MIN_STRENGTH = 1.0
_MIN_SHARED = 1.3
_MIN_ASKED = 2.0
# A memory with most words of the prompt needs half the floor: questions are short.
_MANY_WORDS_SHARE, _MIN_MANY_WORDS = 0.75, 2.0
_MANY_WORDS_FACTOR = 0.5
_BELOW = "below the floor"
_NO_FLOOR = Floor(0.0, exception="it contradicts another that is given")
# Number of memories at which rarity of words counts as much as their number.
_FEW_MEMORIES = 50
_MANY_MEMORIES = 200
# Reading a memory for its words takes 0.5 ms.
_MAX_READ = 16
_OF_A_WORD, _OF_ALL_WORDS = 0.4, 0.4


@frozen
class PromptContext:
    """Text for a prompt; without text, the reason for silence."""

    text: str = ""
    items: tuple[ReceiptItem, ...] = ()
    tokens: int = 0
    build_ms: float = 0.0
    why_silent: str = ""
    asked: str = ""
    """Strength of the words of the prompt as a sum with its floor, for an explanation."""
    floor: Floor = Floor(FLOOR)
    candidates: tuple[CandidateMemory, ...] = ()
    """Candidates, best first, also those left out, for an explanation."""


def build_for_prompt(
    db: sqlite3.Connection,
    prompt: str,
    request: ContextRequest,
    already_given: Collection[str],
    budget_tokens: int,
    synonyms: Synonyms,
    score_memories: ScoreMemories,
    floor: float = FLOOR,
    search: Search | None = None,
) -> PromptContext:
    """Build the context of a prompt within the budget.

    `already_given` has the ids known to the session. `search` answers a prompt that asks about the past."""
    began = time.perf_counter()
    asked, eligibility = keywords.read(prompt, synonyms), Eligibility(request, already_given)
    candidates: list[CandidateMemory] = []
    in_force, not_asked = Floor(floor), ""
    question = None
    if search is not None and is_question(asked.text):
        question, not_asked = _question(asked, synonyms)
        asked = question or asked
    if budget_tokens <= 0:
        silent = "the budget of the session is used up"
    elif asked.strength < _MIN_STRENGTH:
        silent = "the prompt says too little to go by"
    elif search is not None and question is not None:
        candidates = list(map(_from_answer, answers(db, asked, request, eligibility, search)))
        in_force = Floor(candidates[0].floor.base) if candidates else in_force
        silent = "nothing answers the question"
    else:
        number = fts.highest(db)
        in_force = scoring.floor_among(number, floor)
        candidates = _PromptSelection(db, asked, request, eligibility, in_force, number).candidates(score_memories)
        silent = "nothing is sure enough to help"
    chosen = [candidate for candidate in candidates if not candidate.left_out][:MAX_ITEMS]
    silent = "" if chosen else silent
    items = list(map(_item, chosen))
    opposites = eligibility.opposites(db, items, "contradiction")
    items = with_relations(db, [*items, *opposites])
    built = block(items, request.now, budget_tokens, root=request.location.root)
    candidates = _as_injected(candidates, opposites, {item.source for item in built.items})
    if chosen and not built.text:
        silent = no_item_fits(budget_tokens)
    explained = f"prompt {asked.explained(asked.words)}; the floor is {_MIN_STRENGTH:g}{not_asked}"
    return PromptContext(
        text=built.text,
        items=built.items,
        tokens=built.tokens,
        build_ms=round((time.perf_counter() - began) * 1000, 2),
        why_silent=silent,
        asked=explained if request.explained else "",
        floor=in_force,
        candidates=tuple(candidates),
    )


def _question(asked: Keywords, synonyms: Synonyms) -> tuple[Keywords | None, str]:
    """Return the keywords of a question about the past; None with a note for a question with too few words."""
    question = keywords.read(without_opening(asked.text), synonyms).as_question()
    minimum = _MIN_SHARED if is_plainly_asked(asked.text) else _MIN_ASKED
    named = named_question(question.text)
    if question.strength >= minimum or (named is not None and named.is_closed):
        return question, ""
    return None, f"; not taken as a question about the past: {question.strength:g} of {minimum:g}"


def _from_answer(answer: AnswerCandidate) -> CandidateMemory:
    return CandidateMemory(answer.item.memory, None, answer.floor, left_out=answer.left_out, answer=answer)


def _as_injected(
    candidates: Sequence[CandidateMemory], opposites: Sequence[BlockItem], ids: Collection[str]
) -> list[CandidateMemory]:
    """Return the candidates after the block was built: items in the text, also contradicting ones, are not left out."""
    contradicting = {item.memory.id: item.memory for item in opposites if item.memory.id in ids}
    candidate_ids = {candidate.memory.id for candidate in candidates}
    unscored = [
        CandidateMemory(memory, None, _NO_FLOOR) for id_, memory in contradicting.items() if id_ not in candidate_ids
    ]
    updated = [
        replace(candidate, left_out="", floor=_NO_FLOOR, shared=None)
        if candidate.memory.id in contradicting
        else candidate
        for candidate in candidates
    ]
    return [
        replace(candidate, left_out=NO_ROOM) if not candidate.left_out and candidate.memory.id not in ids else candidate
        for candidate in (*updated, *unscored)
    ]


def no_item_fits(budget_tokens: int) -> str:
    return f"no item fits into {budget_tokens} tokens (prompt_budget_tokens)"


def _item(candidate: CandidateMemory) -> BlockItem:
    if candidate.answer is not None:
        return candidate.answer.item
    source = scoring.source_of(candidate.memory.kind)
    return BlockItem(candidate.memory, candidate.reason, candidate.total, source, candidate.since, candidate.is_stale)


@dataclass
class _PromptSelection:
    """Selection among the memories that search finds for a prompt."""

    db: sqlite3.Connection
    asked: Keywords
    request: ContextRequest
    eligibility: Eligibility
    floor: Floor
    number: int
    """Approximate number of memories."""

    def candidates(self, score_memories: ScoreMemories) -> list[CandidateMemory]:
        """Return the candidates, best first."""
        filters = Filters(project=self.request.location.project)
        scored = score_memories(self.db, self.asked.text, self.asked.asked, filters, _MAX_SCORED)
        young = scored[:_MAX_READ] if self.number < _MANY_MEMORIES else []
        matches = {hit.memory.id: Match(hit.words, hit.cosine) for hit in scored}
        matches |= {hit.memory.id: self._match_among_few(hit) for hit in young}
        own = [hit.memory for hit in scored if hit.memory.origin not in FOREIGN_ORIGINS]
        support = scoring.supports([(memory.session, matches[memory.id].value) for memory in own])
        tallies = receipts.tallies_since_last_seen(self.db, list(matches), at_need=True)
        named = scoring.named_files(self.asked.named_files, (file for hit in scored for file in hit.memory.files))
        candidates = [
            self._candidate(hit.memory, matches[hit.memory.id], support, tallies.get(hit.memory.id, Tally()), named)
            for hit in scored
        ]
        candidates.sort(key=lambda candidate: (-candidate.total, candidate.memory.id))
        return self._checked(candidates)

    def _match_among_few(self, scored: ScoredMemory) -> Match:
        """Return a match by the number of shared words, since no word is rare among few memories."""
        found = self.asked.strength_in(self.asked.found_in(scored.memory))
        by_share = found * (_OF_A_WORD + _OF_ALL_WORDS * found / self.asked.strength)
        words = (self.number * scored.words + _FEW_MEMORIES * by_share) / (self.number + _FEW_MEMORIES)
        return Match(words, scored.cosine)

    def _candidate(
        self, memory: Memory, match: Match, support: Mapping[str, float], tally: Tally, named: NamedFiles
    ) -> CandidateMemory:
        score = PromptScore(
            weight=scoring.weight_of(memory.kind),
            recency=scoring.recency_of(memory, self.request.now),
            match=match,
            support=support.get(memory.session, 0.0),
            branch=scoring.branch_of(memory, self.request.location.branch),
            files=scoring.files_of(memory, self._at_work, named),
            use=factor(tally, is_stated=is_stated(memory)),
            team=team_factor(memory.origin),
        )
        is_hopeful = score.total >= self._lowest.value
        left_out = self._why_not(memory) if is_hopeful else _BELOW
        return CandidateMemory(memory, score, scoring.floor_of_kind(self.floor, memory.kind), left_out=left_out)

    @cached_property
    def _at_work(self) -> frozenset[str]:
        """Return the files that the session has read or edited in finished turns."""
        session = sessions.find(self.db, self.request.session) if self.request.session else None
        return frozenset((*session.summary.files_edited, *session.summary.files_read)) if session else frozenset()

    @cached_property
    def _lowest(self) -> Floor:
        """Return the floor of memories with most words of the prompt, the lowest of all."""
        return self._floor_with_most("")

    def _floor_with_most(self, numbers: str) -> Floor:
        return self.floor.times(_MANY_WORDS_FACTOR, f"it has most words of the prompt{numbers}")

    def _why_not(self, memory: Memory) -> str:
        """Return the reason to exclude a memory regardless of score; the state of the code is checked later."""
        if memory.kind == "goal" and not self.asked.speaks_of_goals:
            return "a goal, and the prompt does not speak of goals"
        return self.eligibility.why_not(memory)

    def _read(self, candidate: CandidateMemory) -> CandidateMemory:
        """Return a candidate with shared words and floor."""
        found = tuple(self.asked.found_in(candidate.memory))
        shared, asked = self.asked.strength_in(found), self.asked.strength
        has_most = shared >= max(_MANY_WORDS_SHARE * asked, _MIN_MANY_WORDS)
        floor = candidate.floor
        if has_most and floor.value > self._lowest.value:
            is_by_share = _MANY_WORDS_SHARE * asked > _MIN_MANY_WORDS
            minimum = f"{_MANY_WORDS_SHARE:g} × {asked:g}" if is_by_share else f"{_MIN_MANY_WORDS:g}"
            floor = self._floor_with_most(f": {shared:g} of {asked:g}, from {minimum} on")
        return replace(candidate, found=found, floor=floor, shared=self._shared(found, candidate.memory.title))

    def _shared(self, found: Sequence[str], title: str) -> Shared:
        """Return the strength of shared words, with the minimum."""
        strength = self.asked.strength_in(found)
        has_all = strength >= self.asked.strength and set(found) <= set(self.asked.words_in(title))
        exception = "its title has all words of the prompt" if has_all else ""
        return Shared(strength, self.asked.explained(found), _MIN_SHARED, exception)

    def _why_unsure(self, candidate: CandidateMemory) -> str:
        """Return the reason if score or shared words are too low; '' if sufficient."""
        if candidate.total < candidate.floor.value:
            return _BELOW
        is_enough = candidate.shared is None or candidate.shared.is_enough
        return "" if is_enough else "it shares too few words with the prompt"

    def _why_no_handoff(self, memory: Memory) -> str:
        """Return a reason for the handoff of a running session, whose last request looks like open work, and for a
        handoff that contexts no longer show."""
        if memory.kind != "handoff":
            return ""
        session = sessions.find(self.db, memory.session)
        if session is not None and session.status == "active":
            return "left open by a session that is still at work"
        is_old = not is_stated(memory) and is_outlived(memory, self._editing)
        return f"left open, and {MAX_OPEN_SESSIONS} later sessions changed files" if is_old else ""

    @cached_property
    def _editing(self) -> list[Session]:
        return editing_sessions(self.db, self.request)

    def _checked(self, scored: Sequence[CandidateMemory]) -> list[CandidateMemory]:
        """Return the candidates; check words and code of possible injections."""
        hopeful = [candidate for candidate in scored if not candidate.left_out][:_MAX_CHECKED]
        verdicts = self.request.checkout.freshness([candidate.memory for candidate in hopeful])
        checked = {
            candidate.memory.id: replace(candidate, left_out=candidate.left_out or OUTRANKED) for candidate in scored
        }
        if self.request.explained:  # an explanation has no deadline: read all candidates
            for candidate in map(self._read, scored):
                why = candidate.left_out or self._why_unsure(candidate) or OUTRANKED
                checked[candidate.memory.id] = replace(candidate, left_out=why)
        chosen: list[Memory] = []
        for candidate in hopeful:
            if len(chosen) == MAX_ITEMS:  # reading the rest would double the time
                break
            read, memory = self._read(candidate), candidate.memory
            why = why_not(memory, verdicts) or self._why_unsure(read) or self._why_no_handoff(memory)
            why = why or why_repeated(memory, chosen)
            is_stale = verdict_of(memory, verdicts) == "changed"
            checked[memory.id] = replace(read, left_out=why, is_stale=is_stale, since=relocation_note(memory, verdicts))
            chosen += [] if why else [memory]
        return [checked[candidate.memory.id] for candidate in scored]
