"""Claims of titles: the value to use, the value to avoid, and the subject. Rules read the claims, without a model.

The rules prefer precision. Two titles contradict each other only if one plainly replaces the other; a sentence that no
pattern matches makes no claim."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from claude_mem_lite.knowledge.claims.claim_patterns import (
    ABOUT,
    EXCLUSIVE_VALUES,
    FILLERS,
    FORMS,
    GENERAL,
    NUMBER,
    PLACES,
    ROLES,
    SAME_NAMES,
    SEVERAL_AT_ONCE,
    TAIL,
    VERB_OF,
    singular,
)
from claude_mem_lite.knowledge.claims.contradictions import (
    OPPOSITES,
    are_reversed,
    differ_by_a_number,
    differ_by_an_opposite,
)
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import DENIALS, STOPWORDS, denies, share, share_of_both, words_of
from claude_mem_lite.values import frozen

Words = frozenset[str]

_MAX_VALUE_WORDS = 4
_MIN_SAME_SUBJECT = 0.75
# Words before the end of a clause do not deny the words behind the end.
_CLAUSE_END = lazy(r"[,;.!?]|\b(?:so|but|and|then)\b", re.I)
_BESIDE_A_DENIAL = frozenset(("do", "longer", "always"))
"""Words that come and go with a denial: "always run it", "no longer run it", "do not run it"."""
_NOT_SHARED = STOPWORDS | FILLERS | GENERAL | DENIALS | _BESIDE_A_DENIAL | OPPOSITES.keys()
_MAX_PLAIN_LENGTH = 60
_MIN_SHARED_BY_RIVALS = 2
_COLON_AFTER_DENIAL = lazy(r"(?i)\b(never|not|don't|avoid|stop)\s*:\s*")


@frozen
class Claim:
    """Content of a sentence such as "keep config in YAML" or "use pnpm instead of npm for the website"."""

    value: Words = frozenset()
    drops: Words = frozenset()
    """Value to avoid from now on."""
    subject: Words = frozenset()
    """Object and purpose; empty if the claim holds for everything in the scope."""
    verb: str = ""
    """Verb that places the object in the value: keep, store, deploy. Empty for `use` and for `is`."""
    is_role: bool = False
    """True if only one value can fill the subject: `for the store`, not `for tests`."""
    is_place: bool = False
    """True if the subject is a location, as in `inside Docker`. The claim may be an exception to a general claim."""

    @property
    def is_placement(self) -> bool:
        """Return True if the claim can be compared only with other claims that have a verb."""
        return bool(self.verb) and not self.is_role

    def words(self) -> list[str]:
        """Return words for a search of claims about the same subject."""
        groups = [group.names for group in EXCLUSIVE_VALUES if group.is_choice and group.names & self.value]
        rivals = {name for names in groups for name in names}
        return sorted(self.value | self.drops) + sorted(self.subject) + sorted(rivals - self.value - self.drops)


NOTHING = Claim()


@lru_cache(maxsize=2_048)
def claim_of(sentence: str, *, is_against: bool = False) -> Claim:
    """Return the claim of a sentence. `is_against` is for titles of anti-patterns: such a title names a value to
    avoid."""
    plain = " ".join(re.sub(r"[`\"“”*]", "", sentence).replace("’", "'").split())
    plain = _COLON_AFTER_DENIAL.sub(r"\1 ", plain)
    for form in FORMS:
        if found := form.search(plain):
            claim = _read(found.groupdict())
            if claim == NOTHING or (is_against and claim.is_placement):
                continue
            if not claim.drops and denies(_CLAUSE_END.split(plain[: found.start()])[-1]):
                return NOTHING  # "never again use npm"
            is_bare = is_against and not claim.drops
            return replace(claim, value=frozenset(), drops=claim.value) if is_bare else claim
    return NOTHING


def contradict(title: str, other: str, *, against: tuple[bool, bool] = (False, False)) -> bool:
    """Return True if two titles cannot both hold."""
    ours, theirs = claim_of(title, is_against=against[0]), claim_of(other, is_against=against[1])
    if not any(against) and (are_reversed(title, other) or differ_by_an_opposite(title, other)):
        return True
    if ours.is_placement or theirs.is_placement:
        is_opposed = _place_differently(ours, theirs)
    elif ours.value and theirs.value and _is_same_value(ours.value, theirs.value):
        return False
    else:
        is_opposed = _drops(ours, theirs) or _drops(theirs, ours) or _are_rivals(ours, theirs)
    return is_opposed or differ_by_a_number(title, other) or _differ_by_a_denial(title, other, against)


def agree(title: str, other: str) -> bool:
    """Return True if two titles plainly make the same claim, in whatever words."""
    ours, theirs = claim_of(title), claim_of(other)
    if ours == NOTHING or ours.is_placement or theirs.is_placement:
        return False
    if share_of_both(ours.subject, theirs.subject) < _MIN_SAME_SUBJECT:
        return False
    if ours.value or theirs.value:
        return ours.value == theirs.value and (not ours.drops or not theirs.drops or ours.drops == theirs.drops)
    return ours.drops == theirs.drops


def say_one_thing(title: str, other: str) -> bool:
    """Return True if two titles are the same statement, apart from numbers and spelling."""
    return denies(title) == denies(other) and _names(content_words(title)) == _names(content_words(other))


def found_by(title: str, *, is_against: bool) -> list[str]:
    """Return the search words for memories about the same subject as a title."""
    claim = claim_of(title, is_against=is_against)
    return (not claim.is_placement and claim.words()) or sorted(content_words(title))


def shared_by_rivals(title: str, *, is_against: bool) -> list[str]:
    """Return words that every contradicting title has too; none if too few are certain.

    A title without a claim is contradicted only by its own words in another order, or with another number, opposite
    or denial. Only plain words are certain: the word index splits others, and stems `ties` and `tie` differently."""
    if claim_of(title, is_against=is_against) != NOTHING:
        return []
    plain = [
        word
        for word in dict.fromkeys(words_of(title))
        if word.isascii() and word.isalpha() and len(word) <= _MAX_PLAIN_LENGTH and word not in _NOT_SHARED
        and singular(word) not in _NOT_SHARED and not singular(word).endswith("ie")
    ]  # fmt: skip
    return plain if len(plain) >= _MIN_SHARED_BY_RIVALS else []


def content_words(text: str) -> Words:
    """Return the words of a text without plural endings, stop words and general words."""
    return frozenset(word for word in map(singular, words_of(text)) if word not in STOPWORDS and word not in GENERAL)


def _read(parts: dict[str, str | None]) -> Claim:
    taken, tail, lead = _cut(parts.get("take") or "")
    dropped, drop_tail, drop_lead = _cut(parts.get("drop") or "")
    verb = (parts.get("verb") or parts.get("store") or parts.get("keep") or "").lower()
    if not tail:
        tail, lead = drop_tail, drop_lead or lead
    role = parts.get("role") or parts.get("kept") or parts.get("cached") or ""
    subject = content_words(f"{parts.get('about') or ''} {parts.get('object') or ''} {role} {tail}")
    value, drops = _value(taken), _value(dropped)
    is_role = bool(role) or lead == "as" or _names_a_role(tail)
    if parts.get("take") and not value and not drops:
        return NOTHING
    if parts.get("object") is not None:
        # "log to stdout and stderr" names several values, or one value and another step
        is_one_value = value and lead not in ("and", "or")
        return Claim(value, drops - value, subject, verb) if is_one_value else NOTHING
    is_place = lead in PLACES and not is_role
    verb = VERB_OF.get(verb, verb)
    return Claim(value, drops - value, subject, verb, is_role and bool(subject), is_place and bool(subject))


def _names_a_role(text: str) -> bool:
    words = words_of(text)
    return bool(words) and singular(words[-1]) in ROLES


def _cut(text: str) -> tuple[str, str, str]:
    """Split a text into value and purpose, and return the word between them as the third part."""
    found = TAIL.search(text)
    if found is None:
        return text, "", ""
    lead = (found["by"] or "").lower()
    if lead not in ABOUT:
        return text[: found.start()], "", lead
    rest = text[found.end() :]
    end = re.search(r"\s+(?:because|since|so|until|but|which)\s|\s*[,;:.(](?:\s|$)", rest, re.I)
    return text[: found.start()], rest[: end.start()] if end else rest, lead


def _value(text: str) -> Words:
    """Return the words of a value; none if the text is too long for a name."""
    words = [SAME_NAMES.get(word, word) for word in words_of(text) if word not in FILLERS]
    parts = [part for word in words for part in _name_and_version(word)]
    return frozenset(parts) if 0 < len(parts) <= _MAX_VALUE_WORDS else frozenset()


def _name_and_version(word: str) -> list[str]:
    """Return `postgres15` as name and number."""
    found = re.fullmatch(r"([a-z]{3,})(\d[\d.]*)", word)
    return [SAME_NAMES.get(found[1], found[1]), found[2]] if found else [word]


def _numbers(words: Iterable[str]) -> Words:
    return frozenset(word.lstrip("v") for word in words if NUMBER.fullmatch(word))


def _names(words: Words) -> Words:
    return frozenset(word for word in words if not NUMBER.fullmatch(word))


def _is_same_value(value: Words, other: Words) -> bool:
    """Return True if two values are equal, or one value is the more exact form of the other."""
    numbers, other_numbers = _numbers(value), _numbers(other)
    if numbers and other_numbers and numbers != other_numbers:
        return False
    names, other_names = _names(value), _names(other)
    return bool(names and other_names) and (names <= other_names or other_names <= names)


def _covers(general: Words, special: Words) -> bool:
    """Return True if a claim about one subject also holds for the other: a claim about everything, or about most of
    the same words."""
    return not general or share(general, special) > 0.5


def _drops(claim: Claim, other: Claim) -> bool:
    """Return True if a claim forbids the value of the other. In one location the value may be allowed all the same."""
    if other.is_place and not claim.subject:
        return False
    is_dropped = bool(claim.drops and other.value) and _is_same_value(claim.drops, other.value)
    return is_dropped and _covers(claim.subject, other.subject)


def _place_differently(claim: Claim, other: Claim) -> bool:
    """Return True if two claims place one object in values that exclude each other."""
    verbs = {claim.verb, other.verb}
    if claim.subject != other.subject or not all(verbs) or (not claim.subject and len(verbs) > 1):
        return False
    if len(verbs) == 1 and (other.value == claim.drops or claim.value == other.drops):
        return True
    return any(
        verbs <= group.verbs and _are_exclusive(claim.value, other.value, group.names) for group in EXCLUSIVE_VALUES
    )


def _are_rivals(claim: Claim, other: Claim) -> bool:
    """Return True if two claims set different values for a subject with room for one value."""
    if not (claim.value and other.value) or share_of_both(claim.subject, other.subject) < _MIN_SAME_SUBJECT:
        return False
    if claim.is_role and other.is_role and not claim.value & other.value:
        return True
    numbers, other_numbers = _numbers(claim.value), _numbers(other.value)
    if numbers and other_numbers and numbers != other_numbers and _names(claim.value) == _names(other.value):
        return bool(_names(claim.value) or claim.subject) and not claim.subject & SEVERAL_AT_ONCE
    return any(
        _are_choices(claim.value, other.value, group.names)
        if group.is_choice
        else group.is_for_purpose and bool(claim.subject) and _are_exclusive(claim.value, other.value, group.names)
        for group in EXCLUSIVE_VALUES
    )


def _are_choices(value: Words, other: Words, names: Words) -> bool:
    """Return True for `single quotes` and `double quotes`, False for `single sign-on` and `double opt-in`."""
    if not (value & names and other & names) or value & other & names:
        return False
    rest, other_rest = _names(value - names), _names(other - names)
    return rest <= other_rest or other_rest <= rest


def _are_exclusive(value: Words, other: Words, names: Words) -> bool:
    """Return True if two values are different names of a group, and nothing else."""
    ours, theirs = (frozenset(word if word in names else singular(word) for word in words) for words in (value, other))
    return bool(ours and theirs) and ours <= names and theirs <= names and not ours & theirs


def _differ_by_a_denial(title: str, other: str, against: tuple[bool, bool]) -> bool:
    """Return True for `Run migrations at start` and `Don't run migrations at start`."""
    if (denies(title) or against[0]) == (denies(other) or against[1]):
        return False
    ours, theirs = (" ".join(word for word in words_of(text) if word not in DENIALS) for text in (title, other))
    if are_reversed(ours, theirs):
        return False  # "lint before tests" and "never tests before lint"
    bare, other_bare = content_words(ours) - _BESIDE_A_DENIAL, content_words(theirs) - _BESIDE_A_DENIAL
    return len(bare) >= 2 and bare == other_bare
