"""A prompt -> the few memories that help with it, or nothing: saying nothing is the normal case.

Called by the worker while a hook waits. `docs/moments.md` tells the rules."""

import sqlite3
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from claude_mem_lite.context.eligibility import Here
from claude_mem_lite.context.item_block import Given, block, with_relations
from claude_mem_lite.context.layers.code_state import note_since, verdict_of, why_not
from claude_mem_lite.context.prompt import keywords, scoring
from claude_mem_lite.context.prompt.answers import Ask, answers
from claude_mem_lite.context.prompt.candidates import Candidate
from claude_mem_lite.context.prompt.keywords import Keywords, Synonyms
from claude_mem_lite.context.prompt.questions import is_plainly_asked, is_question, without_opening
from claude_mem_lite.context.prompt.scoring import FLOOR, Floor, Match, Score, Shared
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import factor, is_stated
from claude_mem_lite.context.similarity import why_said_already
from claude_mem_lite.models import FOREIGN_ORIGINS, Filters, Memory, ReceiptItem, Tally, Weighed
from claude_mem_lite.store import receipts, sessions
from claude_mem_lite.store.index import fts

Weigh = Callable[[sqlite3.Connection, str, Sequence[str], Filters, int], list[Weighed]]
"""As `search.hybrid.Search.score_memories`."""
MAX_ITEMS = 3
_MAX_WEIGHED = 24
_MAX_LOOKED_AT = 8
# A prompt with less to go by fits anything; so does a memory that shares less with it, unless its title has it all.
_MIN_STRENGTH = 1.0
_MIN_SHARED = 1.3
_MIN_ASKED = 2.0
# What has nearly all that the prompt speaks of is given at half the floor: questions are short.
_MAX_WORDS, _MIN_OF_MOST = 0.75, 2.0
_WITH_MOST_WORDS = 0.5
_BELOW = "below the floor"
_OUTRANKED = "others come before it"
_NO_ROOM = "no room"
_NO_FLOOR = Floor(0.0, exception="it contradicts another that is given")
# So many memories have to be there until rarity counts as much as how many of the words were found.
_YOUNG = 50
_OLD = 200
# Reading one for its words takes half a millisecond.
_MAX_READ = 16
_OF_A_WORD, _OF_ALL_WORDS = 0.4, 0.4


@dataclass(frozen=True, slots=True)
class PromptContext:
    """What a prompt is given; no text when that is nothing, and then why."""

    text: str = ""
    items: tuple[ReceiptItem, ...] = ()
    tokens: int = 0
    build_ms: float = 0.0
    why_silent: str = ""
    asked: str = ""
    """What the words of the prompt count, as a sum with its floor; for whoever wants it explained."""
    floor: Floor = Floor(FLOOR)  # noqa: RUF009  it is frozen
    candidates: tuple[Candidate, ...] = ()
    """The best first, with those that were left out; for whoever wants it explained."""


def build_for_prompt(
    db: sqlite3.Connection,
    prompt: str,
    occasion: Occasion,
    told: Collection[str],
    budget_tokens: int,
    synonyms: Synonyms,
    weigh: Weigh,
    floor: float = FLOOR,
    ask: Ask | None = None,
) -> PromptContext:
    """What is given for a prompt, within the budget. `told` are the ids of what the session was given before.

    A prompt that asks about the past is answered by `ask`, if that is given."""
    began = time.perf_counter()
    asked, here = keywords.read(prompt, synonyms), Here(occasion, told)
    candidates: list[Candidate] = []
    in_force, not_asked = Floor(floor), ""
    if ask is not None and is_question(asked.text):
        question = keywords.read(without_opening(asked.text), synonyms).as_question()
        least = _MIN_SHARED if is_plainly_asked(asked.text) else _MIN_ASKED
        if question.strength >= least:
            asked = question
        else:
            ask, not_asked = None, f"; not taken as a question about the past: {question.strength:g} of {least:g}"
    else:
        ask = None
    if budget_tokens <= 0:
        silent = "the budget of the session is used up"
    elif asked.strength < _MIN_STRENGTH:
        silent = "the prompt says too little to go by"
    elif ask is not None:
        found = answers(db, asked, occasion, here, ask)
        in_force = Floor(found[0].floor.base) if found else in_force
        candidates = [Candidate(one.given.memory, None, one.floor, left_out=one.left_out, answer=one) for one in found]
        silent = "" if any(not one.left_out for one in found) else "nothing answers the question"
    else:
        number = fts.highest(db)
        in_force = scoring.floor_among(number, floor)
        candidates = _Choosing(db, asked, occasion, here, in_force, number).candidates(weigh)
        silent = "" if any(not one.left_out for one in candidates) else "nothing is sure enough to help"
    chosen = [one for one in candidates if not one.left_out][:MAX_ITEMS]
    given = list(map(_given, chosen))
    opposites = here.opposites(db, given, "contradiction")
    given = with_relations(db, [*given, *opposites])
    made = block(given, occasion.now, budget_tokens, root=occasion.place.root)
    candidates = _as_given(candidates, opposites, {item.source for item in made.items})
    if chosen and not made.text:
        silent = no_item_fits(budget_tokens)
    return PromptContext(
        text=made.text,
        items=made.items,
        tokens=made.tokens,
        build_ms=round((time.perf_counter() - began) * 1000, 2),
        why_silent=silent,
        asked=f"prompt {asked.explained(asked.words)}; the floor is {_MIN_STRENGTH:g}{not_asked}"
        if occasion.explained
        else "",
        floor=in_force,
        candidates=tuple(candidates),
    )


def _as_given(candidates: Sequence[Candidate], opposites: Sequence[Given], ids: Collection[str]) -> list[Candidate]:
    """The candidates as they came out: the ids that are in the text, also for what they contradict, are in."""
    beside = {one.memory.id: one.memory for one in opposites if one.memory.id in ids}
    known = {one.memory.id for one in candidates}
    unscored = [Candidate(memory, None, _NO_FLOOR) for id_, memory in beside.items() if id_ not in known]
    told = [
        replace(one, left_out="", floor=_NO_FLOOR, shared=None) if one.memory.id in beside else one
        for one in candidates
    ]
    return [
        replace(one, left_out=_NO_ROOM) if not one.left_out and one.memory.id not in ids else one
        for one in (*told, *unscored)
    ]


def no_item_fits(budget_tokens: int) -> str:
    return f"no item fits into {budget_tokens} tokens (prompt_budget_tokens)"


def _given(one: Candidate) -> Given:
    if one.answer is not None:
        return one.answer.given
    source = scoring.source_of(one.memory.kind)
    return Given(one.memory, one.reason, one.total, source, one.since, one.is_stale)


@dataclass
class _Choosing:
    """Weighs what search finds for one prompt."""

    db: sqlite3.Connection
    asked: Keywords
    occasion: Occasion
    here: Here
    floor: Floor
    number: int
    """About how many memories there are."""

    def candidates(self, weigh: Weigh) -> list[Candidate]:
        """What could be given, the best first."""
        filters = Filters(project=self.occasion.place.project)
        weighed = weigh(self.db, self.asked.text, self.asked.asked, filters, _MAX_WEIGHED)
        young = weighed[:_MAX_READ] if self.number < _OLD else []
        matches = {one.memory.id: Match(one.words, one.cosine) for one in weighed}
        matches |= {one.memory.id: self._match_among_few(one) for one in young}
        own = [one.memory for one in weighed if one.memory.origin not in FOREIGN_ORIGINS]
        support = scoring.supports([(memory.session, matches[memory.id].value) for memory in own])
        tallies = receipts.tallies_since_last_seen(self.db, list(matches), at_need=True)
        scored = [
            self._candidate(one.memory, matches[one.memory.id], support, tallies.get(one.memory.id, Tally()))
            for one in weighed
        ]
        scored.sort(key=lambda one: (-one.total, one.memory.id))
        return self._checked(scored)

    def _match_among_few(self, one: Weighed) -> Match:
        """Among few memories no word is rare: there it counts how many of the words were found."""
        found = self.asked.strength_in(self.asked.found_in(one.memory))
        by_share = found * (_OF_A_WORD + _OF_ALL_WORDS * found / self.asked.strength)
        return Match((self.number * one.words + _YOUNG * by_share) / (self.number + _YOUNG), one.cosine)

    def _candidate(self, memory: Memory, match: Match, support: Mapping[str, float], tally: Tally) -> Candidate:
        score = Score(
            weight=scoring.weight_of(memory.kind),
            recency=scoring.recency_of(memory, self.occasion.now),
            match=match,
            support=support.get(memory.session, 0.0),
            branch=scoring.branch_of(memory, self.occasion.place.branch),
            files=scoring.files_of(memory, self._at_work, self._named),
            use=factor(tally, is_stated=is_stated(memory)),
        )
        is_hopeful = score.total >= self._lowest.value
        left_out = self._why_not(memory) if is_hopeful else _BELOW
        return Candidate(memory, score, scoring.floor_of_kind(self.floor, memory.kind), left_out=left_out)

    @cached_property
    def _at_work(self) -> frozenset[str]:
        """The files that the session has read or edited, as far as its turns are over."""
        session = sessions.find(self.db, self.occasion.session) if self.occasion.session else None
        return frozenset((*session.summary.files_edited, *session.summary.files_read)) if session else frozenset()

    @cached_property
    def _named(self) -> frozenset[str]:
        return self.asked.file_names

    @cached_property
    def _lowest(self) -> Floor:
        """The floor of what has most words of the prompt, under which nothing is given."""
        return self._floor_with_most("")

    def _floor_with_most(self, numbers: str) -> Floor:
        return self.floor.times(_WITH_MOST_WORDS, f"it has most words of the prompt{numbers}")

    def _why_not(self, memory: Memory) -> str:
        """Why it may not be given, whatever its score; what became of its code is looked up later."""
        if memory.kind == "goal" and not self.asked.speaks_of_goals:
            return "a goal, and the prompt does not speak of goals"
        return self.here.why_not(memory)

    def _read(self, one: Candidate) -> Candidate:
        """The same with the words that it has, and the floors that hold for it."""
        found = tuple(self.asked.found_in(one.memory))
        shared, asked = self.asked.strength_in(found), self.asked.strength
        has_most = shared >= max(_MAX_WORDS * asked, _MIN_OF_MOST)
        floor = one.floor
        if has_most and floor.value > self._lowest.value:
            least = f"{_MAX_WORDS:g} × {asked:g}" if _MAX_WORDS * asked > _MIN_OF_MOST else f"{_MIN_OF_MOST:g}"
            floor = self._floor_with_most(f": {shared:g} of {asked:g}, from {least} on")
        return replace(one, found=found, floor=floor, shared=self._shared(found, one.memory.title))

    def _shared(self, found: Sequence[str], title: str) -> Shared:
        """What the words that were found count, and how much is needed."""
        strength = self.asked.strength_in(found)
        has_all = strength >= self.asked.strength and set(found) <= set(self.asked.words_in(title))
        exception = "its title has all words of the prompt" if has_all else ""
        return Shared(strength, self.asked.explained(found), _MIN_SHARED, exception)

    def _why_unsure(self, one: Candidate) -> str:
        """Why a score that is half as high as it should be is not enough; '' when it is."""
        if one.total < one.floor.value:
            return _BELOW
        return "" if one.shared is None or one.shared.is_enough else "it shares too few words with the prompt"

    def _why_unfinished(self, memory: Memory) -> str:
        """What a running session was asked last looks like something left open, until it answers."""
        session = sessions.find(self.db, memory.session) if memory.kind == "handoff" else None
        is_at_it = session is not None and session.status == "active"
        return "left open by a session that is still at work" if is_at_it else ""

    def _checked(self, scored: Sequence[Candidate]) -> list[Candidate]:
        """The same, with those that would be given looked at once more: their words, and the code they tell of."""
        hopeful = [one for one in scored if not one.left_out][:_MAX_LOOKED_AT]
        verdicts = self.occasion.checkout.freshness([one.memory for one in hopeful])
        checked = {one.memory.id: replace(one, left_out=one.left_out or _OUTRANKED) for one in scored}
        if self.occasion.explained:  # nobody waits: each is read, for the floor that holds for it
            for one in map(self._read, scored):
                why = one.left_out or self._why_unsure(one) or _OUTRANKED
                checked[one.memory.id] = replace(one, left_out=why)
        given: list[Memory] = []
        for one in hopeful:
            if len(given) == MAX_ITEMS:  # reading the others for their words would take as long again
                break
            read = self._read(one)
            why = why_not(one.memory, verdicts) or self._why_unsure(read) or self._why_unfinished(one.memory)
            why = why or why_said_already(one.memory, given)
            is_stale = verdict_of(one.memory, verdicts) == "changed"
            since = note_since(one.memory, verdicts)
            checked[one.memory.id] = replace(read, left_out=why, is_stale=is_stale, since=since)
            given += [] if why else [one.memory]
        return [checked[one.memory.id] for one in scored]
