"""Sentences about named code, and pairs of sentences that exclude each other: the same words about the same code, with
another value of a property with one value at a time, or with a new name.

A value is a number, a date, a name in capitals or other code. Most names stand in sentences that hold for several of
them: rules, callers, dependencies. `docs/context.md` has the rules."""

from collections.abc import Collection, Iterator
from functools import cache

from claude_mem_lite.compress.prose import verbs
from claude_mem_lite.context.statements import NAME, plain_name
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import denies, one_line, stems
from claude_mem_lite.values import frozen

_SENTENCE_END = lazy(r"(?<=[.!?])\s+")
_TERM = lazy(
    rf"{NAME.pattern}"
    r"|(?P<capitals>(?<![\w./@`-])[A-Z][a-z0-9]+[A-Z]\w+(?![\w/`]))"
    r"|(?P<person>(?<![\w.])[A-Z]\w+(?:[ ][A-Z]\w+)*)"
    r"|(?P<number>(?<![\w.#-])\d[\w.:-]*(?<![.:-]))"
)
_LISTED = lazy(r"^(?:\||[-*] \[.\] )")
_REASON = lazy(r"(?i)(?<=[^,\s])[,\s]+(?:because|since|due to|so that|in order to)\s.*$")
_PREPOSITION = (
    r"(?:by|in|on|at|to|for|from|with|as|of|than|until|till|before|after|since|under|over|during|per|via|when|if)\b"
)
# "was a stale `x` handle": all of it is the value, up to the next preposition.
_COPULA = lazy(rf"(?i)\b(?:is|are|was|were)\s+(?:(?!{_PREPOSITION})[\w-]+\s+){{0,3}}$")
# Of a name in any other place there may be several: "the owner of `x` is Ada" has one, "`x` depends on `y`" has not.
_SINGLE = lazy(
    rf"(?i)^(?:the|our|its)\s.+\s(?:of|for|in|behind)\s.+\s(?:is|was)\s+(?:(?!{_PREPOSITION}|\w+(?:ed|ing)\s)[\w-]+\s+){{0,3}}$"
    r"|\b(?:listens\s+(?:on|at)|owned\s+by|kept\s+(?:until|for))\s+(?:[\w-]+\s+){0,2}$"
)
# "The environment variable X overrides `y`": another X may do so too, unless a later sentence says that it was renamed.
_NAMED = lazy(r"(?i)^(?:the|our|its)\s+(?:[\w-]+\s+){1,3}$")
_RENAMED = lazy(r"(?i)\b(?:was|were|is|are|been)\s+(?:renamed|changed|moved)\s+to\s+(?:[\w-]+\s+){0,2}$")
_CHOSEN = lazy(r"(?i)\b(?:chose|chosen|settled\s+on|decided\s+(?:for|on))\s+(?:[\w-]+\s+){0,3}$")
_LABEL = lazy(
    r"(?i)\b(?:lines?|steps?|sections?|errors?|status|codes?|cases?|examples?|tests?|phase|part|round|pull)\s+$"
)
_OPENING = lazy(
    r"(?i)^(?:(?:since|as\s+of)\s+(?:(?:the|a|an|our|that)\s+)?[\w-]+,?\s+"
    r"|after\s+(?:another|a\s+(?:closer|second))\s+look,?\s+)"
)
_ONE_OF_SEVERAL = lazy(r"(?i)\b(?:also|too|both|other|others|additional(?:ly)?|one\s+of)\b")
_CLAUSE = lazy(r"(?i)(?:^|[,;:]\s+|\b(?:and|but|or|so|then)\s+)(?:please\s+)?(?P<first>[\w']+)")
_ORDERS = frozenset(
    """always call do don't dont ensure give keep let make never note only open pass please prefer put read remember
    run see send set stay stop take try use wait write""".split()  # noqa: SIM905
)
"""First words of orders that the verbs of work lack."""
_COMPLEMENT_END = lazy(rf"(?i)[,;:]|\s{_PREPOSITION}|$")
# Words that come and go with a change, and say nothing of the subject.
_CHANGE = "another change changed currently instead least longer mind moved most new now renamed today updated"
_MAX_TERMS = 4
"""Terms of a plain statement; a sentence with more is a list."""


@frozen
class Term:
    """Code, number or name in a sentence."""

    text: str
    """In lower case."""
    start: int
    end: int
    is_code: bool

    @property
    def is_number(self) -> bool:
        return self.text[0].isdigit()

    def is_same(self, other: "Term") -> bool:
        """Return whether two terms are the same: a path counts without its folders."""
        ours, theirs = self.text, other.text
        return ours == theirs or ours.endswith(f"/{theirs}") or theirs.endswith(f"/{ours}")


@frozen
class Assertion:
    """Sentence with its terms."""

    text: str
    terms: tuple[Term, ...]

    def value_in(self, other: "Assertion") -> Term | None:
        """Return the value of another sentence on the same code that excludes the value here; None if both may hold."""
        ours, theirs = self._beside(other), other._beside(self)
        if len(ours) != 1 or len(theirs) != 1 or ours[0].is_number != theirs[0].is_number:
            return None
        if not any(term.is_code for term in self.terms if term is not ours[0]):
            return None
        words = self._stems(ours[0])
        is_same = bool(words) and words == other._stems(theirs[0])
        return theirs[0] if is_same and self._excludes(ours[0], other, theirs[0]) else None

    def _excludes(self, ours: Term, other: "Assertion", theirs: Term) -> bool:
        """Return whether two values exclude each other: there is one at a time, or one is the new name of the other."""
        if self._has_one(ours) and other._has_one(theirs):
            return True
        is_renamed = self._is_new_name(ours) or other._is_new_name(theirs)
        return is_renamed and self._may_be_gone(ours) and other._may_be_gone(theirs)

    def repeats(self, other: "Assertion") -> bool:
        """Return whether another sentence has the same words and values."""
        is_same = not self._beside(other) and not other._beside(self) and denies(self.text) == denies(other.text)
        return is_same and stems(self.text).keys() - _change() == stems(other.text).keys() - _change()

    def values(self) -> list[Term]:
        """Return the terms that the value of another sentence may exclude."""
        return [term for term in self.terms if self._has_one(term) or self._may_be_gone(term)]

    def _has_one(self, value: Term) -> bool:
        """Return whether a term is the value of something that has one value at a time, and no order or denial."""
        before = self.text[: value.start]
        if value.is_number:
            is_single = not is_label(self.text, value)
        else:
            is_chosen = _CHOSEN.search(before) is not None and len(self._stems(value)) > 1
            is_single = is_chosen or _SINGLE.search(before) is not None
        return is_single and self._is_plain()

    def _may_be_gone(self, value: Term) -> bool:
        """Return whether a term is the subject of a sentence, by its name, or a new name."""
        is_named = _NAMED.search(self.text[: value.start]) is not None
        return not value.is_number and (is_named or self._is_new_name(value)) and self._is_plain()

    def _is_new_name(self, value: Term) -> bool:
        return _RENAMED.search(self.text[: value.start]) is not None

    def _is_plain(self) -> bool:
        """Return whether a sentence states something of one thing, and is no order or denial."""
        return not (denies(self.text) or _ONE_OF_SEVERAL.search(self.text) or _is_order(self.text))

    def words_beside(self, value: Term) -> list[str]:
        """Return the words that name the owner of a value, without names and numbers."""
        return list(self._words(value).values())

    def _beside(self, other: "Assertion") -> list[Term]:
        return [term for term in self.terms if not any(term.is_same(theirs) for theirs in other.terms)]

    def _stems(self, value: Term) -> frozenset[str]:
        return frozenset(self._words(value))

    def _words(self, value: Term) -> dict[str, str]:
        """Return the words that name the owner of a value, by stem."""
        start, end = value.start, value.end
        if copula := _COPULA.search(self.text[:start]):
            start = copula.start()
            ending = _COMPLEMENT_END.search(self.text, end)
            end = ending.start() if ending else len(self.text)
        rest, place = [], 0
        for first, last in sorted([(start, end), *((term.start, term.end) for term in self.terms)]):
            rest.append(self.text[place:first])
            place = max(place, last)
        words = stems(" ".join((*rest, self.text[place:])))
        return {stem: word for stem, word in words.items() if stem not in _change()}


def is_label(sentence: str, term: Term) -> bool:
    """Return whether a number only labels a thing: "line 30"."""
    return term.is_number and _LABEL.search(sentence[: term.start]) is not None


@cache
def _change() -> Collection[str]:
    return stems(_CHANGE).keys()


def _is_order(sentence: str) -> bool:
    """Return whether a clause of a sentence tells the reader to do something."""
    return any(
        (first := found["first"].lower()) in _ORDERS or first in verbs.BASES for found in _CLAUSE.finditer(sentence)
    )


def assertions_in(text: str, names: Collection[str]) -> Iterator[Assertion]:
    """Yield the sentences of a text that have one of these names, code, and something else that may be a value; no
    questions, and nothing of a table or a list of things to do."""
    for sentence in _sentences_with(text, names):
        if sentence.endswith("?") or _LISTED.match(sentence):
            continue
        bare = _bare(sentence)
        terms = tuple(terms_in(bare))
        if 1 < len(terms) <= _MAX_TERMS and any(term.is_code for term in terms):
            yield Assertion(bare, terms)


def values_in(text: str) -> set[str]:
    """Return the values in a text that other sentences may exclude, with or without the name of their code."""
    sentences = map(_bare, _SENTENCE_END.split(text))
    return {term.text for one in sentences for term in Assertion(one, tuple(terms_in(one))).values()}


def _bare(sentence: str) -> str:
    """Return a sentence without its reason and without a date as its opening."""
    return _OPENING.sub("", _REASON.sub("", sentence)).rstrip(".!")


def _sentences_with(text: str, names: Collection[str]) -> Iterator[str]:
    """Yield the sentences of a text with any of these names. Most lines have none, and are not read."""
    for start, end in _lines_with(text.lower(), names):
        sentences = map(one_line, _SENTENCE_END.split(text[start:end]))
        yield from (one for one in sentences if any(name in one.lower() for name in names))


def _lines_with(lowered: str, names: Collection[str]) -> list[tuple[int, int]]:
    """Return begin and end of the lines with any of these names, in order."""
    lines: set[tuple[int, int]] = set()
    for name in names:
        at = lowered.find(name) if name else -1
        while at >= 0:
            end = lowered.find("\n", at)
            end = len(lowered) if end < 0 else end
            lines.add((lowered.rfind("\n", 0, at) + 1, end))
            at = lowered.find(name, end)
    return sorted(lines)


def terms_in(sentence: str) -> Iterator[Term]:
    """Yield code, numbers and names of a sentence."""
    for found in _TERM.finditer(sentence):
        code = found["quoted"] or found["plain"] or found["capitals"]
        if code is None and found["person"] and found.start() == 0 and " " not in found[0]:
            continue  # the first word of a sentence
        text = plain_name(code) if code else found[0].lower()
        if text:
            yield Term(text, found.start(), found.end(), code is not None)
