"""Removal of start context lines that a later statement replaces, or that an unordered statement contradicts.

Both lines stay unless both state a single value (`assertions.py`) and hold in this checkout. A line without a value
costs no query. Raw text counts too, as for questions that name code: most statements are no memories.
`docs/context.md` has the rules."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from claude_mem_lite.compress.prose import verbs
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.context.assertions import Assertion, Term, assertions_in, terms_in, values_in
from claude_mem_lite.context.layers.code_state import why_not
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.layers.sessions import not_here
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import is_stated
from claude_mem_lite.context.selection import LayerSelection
from claude_mem_lite.context.statements import OUTDATED, Statement, statement_of, texts_of
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import OUTSIDE_ORIGINS, REPLACEABLE_KINDS, Kind, Memory, Passage
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import index_text, one_line, share, stems
from claude_mem_lite.values import frozen

CONTESTED = "contradicted by a statement that no line has"
_FRAME = lazy(r"^- (?:\[[^\]\n]*\] )?(?:[A-Z][a-z ]+: )?|(?: \([^()\n]*\))?(?: \[[^\]\n]*\])?(?: #\w+)?$")
_MAX_DOCUMENTS = 20
_MAX_SOURCES = 3
_MAX_READ = 12_000
_MAX_LINE_LENGTH = 2000
"""Characters of a line in which a value is searched; lines of a start context are far shorter."""
_MAX_COMPARED = 50
"""Statements that a line is searched in, and statements that its value is compared with."""
_MANY_AT_A_TIME: tuple[Kind, ...] = ("rule", "convention", "anti_pattern", "gotcha", "correction", "preference")
"""Kinds that hold beside each other: only their numbers and dates exclude each other."""
_MIN_SHARED = 0.7
_MIN_TELLING_LENGTH = 3


@frozen
class _Quote:
    """Assertion with its document."""

    assertion: Assertion
    document: Memory | Passage
    is_users: bool
    value: str = ""
    """Value of a rival; '' for the value of the line."""


@frozen
class _ContestedLine:
    """Line with a statement, and the statements of another value that still hold."""

    selection: LayerSelection
    item: Item
    own: Assertion
    rivals: tuple[Assertion, ...]
    is_outdated: bool

    def why_not(self, others: Sequence["_ContestedLine"]) -> str:
        """Return the reason to leave a line out beside other contested lines; '' to keep it."""
        if self.is_outdated:
            return OUTDATED
        shown = _values([other.own for other in others], self.own)
        return "" if _values(self.rivals, self.own) <= shown else CONTESTED


def leave_out_contested(db: sqlite3.Connection, request: ContextRequest, selections: Sequence[LayerSelection]) -> None:
    """Take lines out of a selection that a later statement replaces, and lines that another statement contradicts
    without a clear order, unless a line has that one too. Pinned memories stay, and memories of the user yield to the
    user alone. Lines that are not compared before the deadline stay."""
    rivals = _Rivals(db, request)
    lines = (rivals.contested(selection, item) for selection in selections for item in selection.selected)
    contested = [line for line in lines if line is not None]
    while found := next(((line, why) for line in contested if (why := line.why_not(contested))), None):
        line, why = found
        line.selection.selected.remove(line.item)
        line.selection.left_out.append(replace(line.item, left_out=why))
        contested = [other for other in contested if other.item is not line.item]


class _Rivals:
    """Search for statements of a project that exclude the statement of a line."""

    def __init__(self, db: sqlite3.Connection, request: ContextRequest) -> None:
        self._db = db
        self._request = request
        self._project = request.location.project
        self._known_statements: dict[tuple[str, bool], Statement] = {}

    def contested(self, selection: LayerSelection, item: Item) -> _ContestedLine | None:
        """Return a line with rivals of its statement; None without rivals."""
        text = item.wording or _FRAME.sub("", item.line)
        own = self._own_quote(item, text)
        if own is None:
            return None
        for value in own.assertion.values():
            if value.text in item.line.lower() and (found := self._rivals_of(own, value)):
                rivals, agreeing = found
                quotes = [own, *agreeing, *rivals]
                left = tuple(rival.assertion for rival in rivals if not self._is_outdated(rival, quotes))
                return _ContestedLine(selection, item, own.assertion, left, self._is_outdated(own, rivals))
        return None

    def _own_quote(self, item: Item, text: str) -> _Quote | None:
        """Return the statement of a line in full: a line leaves out words of its source."""
        if self._request.deadline.is_past() or not (item.memory or not _is_work(text)):
            return None
        text = text[:_MAX_LINE_LENGTH]
        values, shown = values_in(text), item.line.lower()
        terms = [term for term in terms_in(text) if term.text in shown] if values else []
        is_named = any(term.is_code for term in terms) or not item.memory
        if values.isdisjoint(term.text for term in terms) or not is_named:
            return None
        names = {term.text for term in terms}
        found = (quote for document in self._sources(item, names) for quote in _quotes_in(document, names))
        quotes = list(islice(found, _MAX_COMPARED))
        line = stems(text).keys() if quotes else ()
        shared = [_shared(stems(quote.assertion.text).keys(), line) for quote in quotes]
        best = max(shared, default=0.0)
        return quotes[shared.index(best)] if best >= _MIN_SHARED else None

    def _sources(self, item: Item, terms: Collection[str]) -> Sequence[Memory | Passage]:
        """Return the memory of a line, or the turns of its session with the longest of its terms."""
        if item.memory:
            found = memories.find(self._db, item.memory)
            return [found] if found and found.kind in REPLACEABLE_KINDS and not found.pinned else []
        longest = max(terms, key=lambda term: (len(term), term))
        if len(longest) < _MIN_TELLING_LENGTH:
            return []
        return passages.stating(self._db, (), [_phrase(longest)], self._project, _MAX_SOURCES, session=item.source)

    def _rivals_of(self, own: _Quote, value: Term) -> tuple[list[_Quote], list[_Quote]] | None:
        """Return the valid statements with another value, and the repetitions of the value; None without a rival, and
        after the deadline."""
        rivals, agreeing = [], []
        for quote in islice(self._alike(own, value), _MAX_COMPARED):
            if self._request.deadline.is_past():
                return None
            if quote.assertion.value_in(own.assertion) == value and (other := own.assertion.value_in(quote.assertion)):
                rivals.append(replace(quote, value=other.text))
            elif quote.assertion.repeats(own.assertion):
                agreeing.append(quote)
        is_of_user = isinstance(own.document, Memory) and own.is_users
        rivals = [rival for rival in rivals if _may_differ(rival, own, value) and (not is_of_user or _is_typed(rival))]
        holding = self._holding([*rivals, *agreeing], own) if rivals else ()
        rivals = [rival for rival in rivals if rival.document.id in holding]
        return (rivals, [quote for quote in agreeing if quote.document.id in holding]) if rivals else None

    def _alike(self, own: _Quote, value: Term) -> Iterator[_Quote]:
        """Yield statements on the same code with the same words, whatever their value: memories, then turns, the
        newest of each first."""
        words = own.assertion.words_beside(value)
        names = [term.text for term in own.assertion.terms if term.is_code and term is not value]
        if not words or not names:
            return
        phrases = list(map(_phrase, names))
        ends = [name.rpartition("/")[2] for name in names]
        seqs = fts.stating(self._db, words, phrases, REPLACEABLE_KINDS, self._project, _MAX_DOCUMENTS)
        found = memories.by_seq(self._db, seqs).values()
        for memory in sorted(found, key=lambda memory: memory.last_seen_at, reverse=True):
            if memory.status == "active":
                yield from _quotes_in(memory, ends)
        for turn in passages.stating(self._db, words, phrases, self._project, _MAX_DOCUMENTS):
            yield from _quotes_in(turn, ends)

    def _holding(self, quotes: Sequence[_Quote], own: _Quote) -> Collection[str]:
        """Return the ids of the documents that hold in this checkout; for a line of the project's own work, without
        documents from outside."""
        documents = {quote.document.id: quote.document for quote in quotes}.values()
        is_own_outside = _is_outside(own.document)
        stored = [
            memory
            for memory in documents
            if isinstance(memory, Memory)
            and (is_own_outside or not _is_outside(memory))
            and (is_stated(memory) or not self._request.is_unmerged(memory.branch, memory.created_at))
        ]
        verdicts = self._request.checkout.freshness(stored) if stored else {}
        turns = [turn for turn in documents if isinstance(turn, Passage)]
        elsewhere = not_here(self._db, self._request, {turn.session for turn in turns})
        ids = [memory.id for memory in stored if not why_not(memory, verdicts)]
        return {*ids, *(turn.id for turn in turns if turn.session not in elsewhere)}

    def _is_outdated(self, quote: _Quote, others: Sequence[_Quote]) -> bool:
        """Return whether a later statement has another value."""
        return any(
            other.value != quote.value and self._statement(other).outdates(self._statement(quote), self._request.now)
            for other in others
        )

    def _statement(self, quote: _Quote) -> Statement:
        """Return the speaker and the time of a statement, read once for each document."""
        key = quote.document.id, quote.is_users
        if key not in self._known_statements:
            self._known_statements[key] = statement_of(
                self._db, quote.document, quote.assertion.text, is_users=quote.is_users
            )
        return self._known_statements[key]


def _may_differ(rival: _Quote, own: _Quote, value: Term) -> bool:
    """Return whether two documents may have two values of the same: rules hold beside each other."""
    kinds = {quote.document.kind for quote in (rival, own) if isinstance(quote.document, Memory)}
    return value.is_number or kinds.isdisjoint(_MANY_AT_A_TIME)


def _is_typed(quote: _Quote) -> bool:
    """Return whether a statement is the user's own: of a prompt the first paragraph, because pages and logs are pasted
    below it."""
    if not quote.is_users or isinstance(quote.document, Memory):
        return quote.is_users
    first = quote.document.asked.strip().partition("\n\n")[0]
    return "```" not in first and quote.assertion.text in one_line(first)


def _is_outside(document: Memory | Passage) -> bool:
    return isinstance(document, Memory) and document.origin in OUTSIDE_ORIGINS


def _values(assertions: Sequence[Assertion], own: Assertion) -> set[str]:
    """Return the values that exclude the value of a statement."""
    return {value.text for assertion in assertions if (value := own.value_in(assertion))}


def _quotes_in(document: Memory | Passage, names: Collection[str]) -> Iterator[_Quote]:
    """Yield the statements of a document with any of these names."""
    for text, is_users in texts_of(document):
        for assertion in assertions_in(text[:_MAX_READ], names):
            yield _Quote(assertion, document, is_users)


def _is_work(text: str) -> bool:
    """Return whether a headline tells of work: "Add a flag" and "Added a flag" exclude nothing."""
    verb = text.split(" ", 1)[0].lower()
    return (verb in verbs.BASES or bool(verbs.base_of(verb))) and not states_decision(text)


def _shared(sentence: Collection[str], line: Collection[str]) -> float:
    """Return the share of words of the shorter text, a sentence or a line, in the longer text."""
    shorter, longer = sorted((sentence, line), key=len)
    return share(shorter, longer)


def _phrase(name: str) -> str:
    """Return the index words of a command, or the first index word of any other name: of an identifier the whole. Names
    are in lower case here, and the index splits some at their capitals."""
    return index_text(name) if " " in name else index_text(name.rpartition("/")[2]).partition(" ")[0]
