"""Lines of a start context that do not hold alone: a later statement on the same code has another value, or one without
a clear order has.

Raw text counts too, as for questions that name code: most statements are no memories. `docs/context.md` has the
rules."""

import sqlite3
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from claude_mem_lite.compress.prose import verbs
from claude_mem_lite.compress.prose.sentence_types import states_decision
from claude_mem_lite.context.assertions import Assertion, assertions_in, marks_of
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.selection import LayerSelection
from claude_mem_lite.context.statements import OUTDATED, Statement, said, texts_of
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import REPLACEABLE_KINDS, Memory, Passage
from claude_mem_lite.store import memories
from claude_mem_lite.store.index import fts, passages
from claude_mem_lite.text import index_text, share, stems
from claude_mem_lite.values import frozen

CONTESTED = "contradicted by a statement that no line has"
_FRAME = lazy(r"^- (?:\[[^\]\n]*\] )?(?:[A-Z][a-z ]+: )?|(?: \([^()\n]*\))?(?: \[[^\]\n]*\])?(?: #\w+)?$")
_MAX_DOCUMENTS = 20
_MAX_SOURCES = 3
_MAX_READ = 12_000
_MIN_SHARED = 0.7
_MIN_TELLING_LENGTH = 3


@frozen
class _Stated:
    """Statement in a document."""

    assertion: Assertion
    document: Memory | Passage
    is_users: bool


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


def leave_out_contested(db: sqlite3.Connection, project: str, selections: Sequence[LayerSelection]) -> None:
    """Take lines out of a selection that a later statement replaces, and lines that another statement contradicts
    without a clear order, unless a line has that one too. Pinned memories stay, and memories of the user yield to the
    user alone."""
    rivals = _Rivals(db, project)
    lines = (rivals.contested(selection, item) for selection in selections for item in selection.selected)
    contested = [line for line in lines if line is not None]
    while found := next(((line, why) for line in contested if (why := line.why_not(contested))), None):
        line, why = found
        line.selection.selected.remove(line.item)
        line.selection.left_out.append(replace(line.item, left_out=why))
        contested = [other for other in contested if other.item is not line.item]


class _Rivals:
    """Statements of a project that exclude those of lines."""

    def __init__(self, db: sqlite3.Connection, project: str) -> None:
        self._db = db
        self._project = project

    def contested(self, selection: LayerSelection, item: Item) -> _ContestedLine | None:
        """Return a line whose statement has rivals; None for any other."""
        text = item.wording or _FRAME.sub("", item.line)
        shown = {mark.text for mark in marks_of(text) if mark.text in item.line.lower()}
        own = self._stated_by(item, text, shown) if shown else None
        if own is None:
            return None
        known = self._alike(own, shown)
        rivals = [one for one in known if (value := one.assertion.value_in(own.assertion)) and value.text in shown]
        if item.memory and own.is_users:
            rivals = [one for one in rivals if one.is_users]
        if not rivals:
            return None
        holding = [one.assertion for one in rivals if not self._is_outdated(one, [own, *known])]
        return _ContestedLine(selection, item, own.assertion, tuple(holding), self._is_outdated(own, rivals))

    def _stated_by(self, item: Item, text: str, marks: Collection[str]) -> _Stated | None:
        """Return the statement of a line in full: a line leaves out words of its source."""
        stated = [one for document in self._sources(item, text, marks) for one in _statements(document, marks)]
        line = stems(text).keys() if stated else ()
        shared = [_shared(stems(one.assertion.text).keys(), line) for one in stated]
        best = max(shared, default=0.0)
        return stated[shared.index(best)] if best >= _MIN_SHARED else None

    def _sources(self, item: Item, text: str, marks: Collection[str]) -> Sequence[Memory | Passage]:
        """Return the memory of a line, or the turns of its session that have the longest of its marks."""
        if item.memory:
            found = memories.find(self._db, item.memory)
            return [found] if found and found.kind in REPLACEABLE_KINDS and not found.pinned else []
        longest = max(marks, key=lambda mark: (len(mark), mark))
        if len(longest) < _MIN_TELLING_LENGTH or _is_work(text):
            return []
        return passages.stating(self._db, (), [_phrase(longest)], self._project, _MAX_SOURCES, session=item.source)

    def _alike(self, own: _Stated, values: Collection[str]) -> list[_Stated]:
        """Return statements on the same code with the same words, whatever their value."""
        documents: dict[str, Memory | Passage] = {}
        for value in (mark for mark in own.assertion.marks if mark.text in values):
            words = own.assertion.words_beside(value)
            names = [mark.text for mark in own.assertion.marks if mark.is_code and mark is not value]
            if words and names:
                phrases = list(map(_phrase, names))
                seqs = fts.stating(self._db, words, phrases, REPLACEABLE_KINDS, self._project, _MAX_DOCUMENTS)
                stored = memories.by_seq(self._db, seqs).values()
                documents |= {memory.id: memory for memory in stored if memory.status == "active"}
                turns = passages.stating(self._db, words, phrases, self._project, _MAX_DOCUMENTS)
                documents |= {turn.id: turn for turn in turns}
        names = [mark.text.rpartition("/")[2] for mark in own.assertion.marks if mark.is_code]
        return [one for document in documents.values() for one in _statements(document, names)]

    def _is_outdated(self, stated: _Stated, others: Sequence[_Stated]) -> bool:
        return any(
            stated.assertion.value_in(other.assertion) and self._said(other).outdates(self._said(stated))
            for other in others
        )

    def _said(self, stated: _Stated) -> Statement:
        return said(self._db, stated.document, stated.assertion.text, is_users=stated.is_users)


def _values(assertions: Sequence[Assertion], own: Assertion) -> set[str]:
    """Return the values that exclude that of a statement."""
    return {value.text for one in assertions if (value := own.value_in(one))}


def _statements(document: Memory | Passage, names: Collection[str]) -> Iterator[_Stated]:
    """Yield the statements of a document that have one of these names."""
    for text, is_users in texts_of(document):
        for assertion in assertions_in(text[:_MAX_READ], names):
            yield _Stated(assertion, document, is_users)


def _is_work(text: str) -> bool:
    """Return whether a headline tells of work: "Add a flag" and "Added a flag" exclude nothing."""
    verb = text.split(" ", 1)[0].lower()
    return (verb in verbs.BASES or bool(verbs.base_of(verb))) and not states_decision(text)


def _shared(sentence: Collection[str], line: Collection[str]) -> float:
    """Return the share of the shorter one of a sentence and a line that the other has too."""
    shorter, longer = sorted((sentence, line), key=len)
    return share(shorter, longer)


def _phrase(name: str) -> str:
    """Return the index words of a command, or the first index word of any other name: of an identifier the whole. Names
    are in lower case here, and the index splits some at their capitals."""
    return index_text(name) if " " in name else index_text(name.rpartition("/")[2]).partition(" ")[0]
