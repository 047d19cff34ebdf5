"""What a sentence lays down: what it takes, what it drops, and for what. Read by rules from titles, without a model.

Precise rather than eager: two sentences contradict each other only where one plainly takes the place of the other.
What is not understood lays down nothing."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from claude_mem_lite.knowledge.claims import claim_patterns
from claude_mem_lite.knowledge.claims.claim_patterns import (
    ABOUT,
    FAMILIES,
    FILLERS,
    FORMS,
    GENERAL,
    NUMBER,
    PLACES,
    ROLES,
    SAME_NAMES,
    SEVERAL_AT_ONCE,
    TAIL,
    stem,
)
from claude_mem_lite.knowledge.claims.contradictions import are_reversed, differ_by_a_number, differ_by_an_opposite
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.sentence_words import DENIALS, denies, words_of
from claude_mem_lite.text import STOPWORDS

Words = frozenset[str]

_MAX_OF_A_VALUE = 4
# Where what stands before it no longer has a say in what follows.
_CLAUSE_END = lazy(r"[,;.!?]|\b(?:so|but|and|then)\b", re.I)
_COLON_AFTER_DENIAL = lazy(r"(?i)\b(never|not|don't|avoid|stop)\s*:\s*")


@dataclass(frozen=True, slots=True)
class Stance:
    """What one sentence lays down."""

    takes: Words = frozenset()
    drops: Words = frozenset()
    """What it says is not, or no longer, to be used."""
    subject: Words = frozenset()
    """For what; empty: for all of where it holds."""
    is_role: bool = False
    """Whether the subject is one place that only one thing can fill: `for the store`, not `for tests`."""
    is_place: bool = False
    """Whether the subject says where it holds, as `inside Docker` does: then it may be an exception to what is said in
    general, while `for dates` says what the thing is for."""

    def words(self) -> list[str]:
        """What another one about the same is found by."""
        rivals = {rival for family in FAMILIES if family & self.takes for rival in family}
        return sorted(self.takes | self.drops) + sorted(self.subject) + sorted(rivals - self.takes - self.drops)


NOTHING = Stance()


@lru_cache(maxsize=2_048)
def stance_of(sentence: str, *, is_against: bool = False) -> Stance:
    """What a sentence lays down; `is_against`: it names what is to be avoided, as the title of an anti-pattern may."""
    plain = " ".join(re.sub(r"[`\"“”*]", "", sentence).replace("’", "'").split())
    plain = _COLON_AFTER_DENIAL.sub(r"\1 ", plain)
    for form in FORMS:
        if found := form.search(plain):
            stance = _read(found.groupdict())
            if stance == NOTHING:
                continue
            if not stance.drops and denies(_CLAUSE_END.split(plain[: found.start()])[-1]):
                return NOTHING  # "never again use npm": what is said against it is not understood
            is_bare = is_against and not stance.drops
            return replace(stance, takes=frozenset(), drops=stance.takes) if is_bare else stance
    return NOTHING


def contradict(one: str, other: str, *, against: tuple[bool, bool] = (False, False)) -> bool:
    """Whether two sentences cannot both hold."""
    ours, theirs = stance_of(one, is_against=against[0]), stance_of(other, is_against=against[1])
    if not any(against) and (are_reversed(one, other) or differ_by_an_opposite(one, other)):
        return True
    if not any(against) and claim_patterns.differ(claim_patterns.way_of(one), claim_patterns.way_of(other)):
        return True
    if ours.takes and theirs.takes and _is_same(ours.takes, theirs.takes):
        return False
    if _drops(ours, theirs) or _drops(theirs, ours) or _are_rivals(ours, theirs):
        return True
    return differ_by_a_number(one, other) or _differ_by_a_denial(one, other, against)


def agree(one: str, other: str) -> bool:
    """Whether two sentences plainly lay down the same, in whatever words."""
    ours, theirs = stance_of(one), stance_of(other)
    if ours == NOTHING or not _is_same_subject(ours.subject, theirs.subject):
        return False
    if ours.takes or theirs.takes:
        return ours.takes == theirs.takes and (not ours.drops or not theirs.drops or ours.drops == theirs.drops)
    return ours.drops == theirs.drops


def say_one_thing(one: str, other: str) -> bool:
    """Whether two sentences are one statement, numbers and spelling aside."""
    return denies(one) == denies(other) and _names(content_words(one)) == _names(content_words(other))


def found_by(title: str, *, is_against: bool) -> list[str]:
    """The words by which what is about the same as a title is found."""
    return stance_of(title, is_against=is_against).words() or sorted(content_words(title))


def content_words(text: str) -> Words:
    """The words of a text that tell something, without endings for several."""
    return frozenset(word for word in map(stem, words_of(text)) if word not in STOPWORDS and word not in GENERAL)


def _read(parts: dict[str, str | None]) -> Stance:
    take, tail, by = _cut(parts.get("take") or "")
    drop, drop_tail, drop_by = _cut(parts.get("drop") or "")
    if not tail:
        tail, by = drop_tail, drop_by
    about = parts.get("about") or ""
    role = parts.get("role") or parts.get("kept") or parts.get("cached") or ""
    subject = content_words(f"{about} {role} {tail}")
    takes, drops = _value(take), _value(drop)
    if parts.get("take") and not takes and not drops:
        return NOTHING
    is_role = bool(role) or by == "as" or _names_a_role(tail)
    is_place = by in PLACES and not is_role
    return Stance(takes, drops - takes, subject, is_role and bool(subject), is_place and bool(subject))


def _names_a_role(text: str) -> bool:
    words = words_of(text)
    return bool(words) and stem(words[-1]) in ROLES


def _cut(text: str) -> tuple[str, str, str]:
    """A value without what follows it, then what it is for, and the word that says so."""
    found = TAIL.search(text)
    if found is None:
        return text, "", ""
    by = (found["by"] or "").lower()
    if by not in ABOUT:
        return text[: found.start()], "", ""
    rest = text[found.end() :]
    end = re.search(r"\s+(?:because|since|so|until|but|which)\s|\s*[,;:.(](?:\s|$)", rest, re.I)
    return text[: found.start()], rest[: end.start()] if end else rest, by


def _value(text: str) -> Words:
    """The words of what is taken or dropped; nothing when it is too long to be the name of something."""
    words = [SAME_NAMES.get(word, word) for word in words_of(text) if word not in FILLERS]
    split = [part for word in words for part in _apart(word)]
    return frozenset(split) if 0 < len(split) <= _MAX_OF_A_VALUE else frozenset()


def _apart(word: str) -> list[str]:
    """`postgres15` as the name and the number."""
    found = re.fullmatch(r"([a-z]{3,})(\d[\d.]*)", word)
    return [SAME_NAMES.get(found[1], found[1]), found[2]] if found else [word]


def _numbers(words: Iterable[str]) -> Words:
    return frozenset(word.lstrip("v") for word in words if NUMBER.fullmatch(word))


def _names(words: Words) -> Words:
    return frozenset(word for word in words if not NUMBER.fullmatch(word))


def _is_same(one: Words, other: Words) -> bool:
    """Whether two values are one, or one says more exactly what the other says."""
    ours, theirs = _numbers(one), _numbers(other)
    if ours and theirs and ours != theirs:
        return False
    names, others = _names(one), _names(other)
    return bool(names and others) and (names <= others or others <= names)


def _is_same_subject(one: Words, other: Words) -> bool:
    return one == other or (bool(one and other) and len(one & other) >= 0.75 * len(one | other))


def _covers(general: Words, special: Words) -> bool:
    """Whether what is said of one subject is said of the other, too: of all, or of most of the same words."""
    return not general or 2 * len(general & special) > len(general)


def _drops(one: Stance, other: Stance) -> bool:
    """Whether one says that what the other takes is not to be used; in one place, it may be used for all that."""
    if other.is_place and not one.subject:
        return False
    return bool(one.drops and other.takes) and _is_same(one.drops, other.takes) and _covers(one.subject, other.subject)


def _are_rivals(one: Stance, other: Stance) -> bool:
    """Whether both take something for the same, where there is room for one."""
    if not (one.takes and other.takes) or not _is_same_subject(one.subject, other.subject):
        return False
    if one.is_role and other.is_role and not one.takes & other.takes:
        return True
    numbers, others = _numbers(one.takes), _numbers(other.takes)
    if numbers and others and numbers != others and _names(one.takes) == _names(other.takes):
        return bool(_names(one.takes) or one.subject) and not one.subject & SEVERAL_AT_ONCE
    if one.subject and any(
        claim_patterns.are_of_one_sort(one.takes, other.takes, sort)
        for sort in (claim_patterns.FORMATS, claim_patterns.NUMBERS)
    ):
        return True
    return any(_are_of_one_family(one.takes, other.takes, family) for family in FAMILIES)


def _are_of_one_family(one: Words, other: Words, family: Words) -> bool:
    """`single quotes` and `double quotes`; not `single sign-on` and `double opt-in`."""
    if not (one & family and other & family) or one & other & family:
        return False
    rest, others = _names(one - family), _names(other - family)
    return rest <= others or others <= rest


def _differ_by_a_denial(one: str, other: str, against: tuple[bool, bool]) -> bool:
    """`Run migrations at start` and `Don't run migrations at start`."""
    if (denies(one) or against[0]) == (denies(other) or against[1]):
        return False
    ours, theirs = (" ".join(word for word in words_of(text) if word not in DENIALS) for text in (one, other))
    if are_reversed(ours, theirs):
        return False  # "lint before tests" and "never tests before lint"
    ignored = {"do", "longer", "always"}
    bare, others = content_words(ours) - ignored, content_words(theirs) - ignored
    return len(bare) >= 2 and bare == others
