"""What a sentence lays down: what it takes, what it drops, and for what. Read by rules from titles, without a model.

Precise rather than eager: two sentences contradict each other only where one plainly takes the place of the other.
What is not understood lays down nothing."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from claude_mem_lite.store.alternatives import FAMILIES, ROLES, SAME_NAMES
from claude_mem_lite.words import STOPWORDS

Words = frozenset[str]

_MOST_OF_A_VALUE = 4
_FILLERS = frozenset(
    """the a an our your my this that these only always just please version instead now again ever any all plain simply
    anymore more everywhere here they it is are""".split()  # noqa: SIM905
)
_GENERAL = frozenset(
    "project projects repo repository codebase code everything everywhere here now always".split()  # noqa: SIM905
)
_DENIALS = frozenset(
    "not no never don't dont doesn't won't cannot without avoid stop nicht kein keine keinen nie".split()  # noqa: SIM905
)

_TAKE = r"(?:use|uses|using|used|prefer|prefers|choose|chose|chosen|pick|picked|adopt|adopted|adopting|go with"
_TAKE += r"|went with|stick (?:with|to)|stay (?:with|on)|keep using|want|take|nutze|nutzen|benutze|benutzen"
_TAKE += r"|verwende|verwenden|nimm)"
_GO = r"(?:switch|switched|switching|move|moved|moving|migrate|migrated|migrating|change|changed|changing|go|going|went"
_GO += r"|convert|converted|wechsle|wechseln)"
# Where something is put, or as what: that is one place, and only one thing can be there.
_STORE = r"(?:stor|sav|cach|persist|represent|encod|serializ)(?:e|es|ed|ing|s)?"
_KEEP = rf"(?:{_STORE}\s+(?P<role>.+?)\s+(?:as|in|into|on|under)|(?:keep|kept|hold|held)s?\s+(?P<kept>.+?)\s+as)"
_NOT = r"(?:do not|don['’]?t|dont|never|must not|mustn['’]t|should not|shouldn['’]t|no longer|stop|quit|not)"
_FORMS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(form, re.I)
    for form in (
        rf"\b{_GO}\b(?P<about>[^,;]*?)\bfrom\s+(?P<drop>.+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        r"\b(?:replac\w+|swap\w*|substitut\w+)\s+(?P<drop>.+?)\s+(?:with|by|for)\s+(?P<take>.+)",
        rf"\binstead of\s+(?P<drop>[^,;]+?)\s*[,;]\s*{_TAKE}\s+(?P<take>.+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>[^,;]+?)(?:\s*[,;]|\.\s|\s+but)\s*(?:{_TAKE}\s+)?"
        r"(?P<take>[^,;]+)",
        r"\bnot\s+(?P<drop>[^,;]+?)\s*,?\s+but\s+(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>[^;]+?)\s*,?\s+"
        r"(?:instead of|rather than|and not|not|never|no longer|statt|anstatt|nicht)"
        rf"\s+(?:{_TAKE}\s+)?(?P<drop>.+)",
        r"\b(?:prefer|prefers|choose|chose|pick|picked)\s+(?P<take>.+?)\s+over\s+(?P<drop>.+)",
        r"(?:改用|换成|使用|用)\s*(?P<take>[\w.+#-]+?)\s*[,，]?\s*(?:而不是|不要用|别用|不用|代替)\s*(?P<drop>[\w.+#-]+)",
        r"(?:不要|别|不再|禁止)(?:再)?(?:使用|用)\s*(?P<drop>[\w.+#-]+)",
        r"(?:改用|换成|改回|用回|使用|用)\s*(?P<take>[\w.+#-]+)",
        rf"\b{_NOT}\s+(?:ever\s+)?{_TAKE}\s+(?P<drop>.+)",
        r"^(?:avoid|drop|dropped|stop with)\s+(?:using\s+)?(?P<drop>.+)",
        r"\bkeine?n?\s+(?P<drop>\S+)\s+(?:mehr\s+)?(?:nutzen|verwenden|benutzen)",
        rf"\b(?:{_GO}\s+(?:back\s+|over\s+)?to|back to|zurück zu)\s+(?P<take>.+)",
        rf"\b(?:{_GO}|set|sets|setting)\s+(?P<role>[^,;]+?)\s+(?:over\s+|back\s+)?to\s+(?P<take>.+)",
        rf"\b{_KEEP}\s+(?P<take>[^,;]+?)\s+"
        r"(?:instead of|rather than|and not|not|statt)\s+(?P<drop>.+)",
        rf"\b{_KEEP}\s+(?P<take>.+)",
        r"^(?P<role>.+?)\s+(?:listens? on|lives? in|defaults? to|is set to|are set to|is stored in)\s+"
        r"(?P<take>.+)",
        rf"\b{_TAKE}\s+(?P<take>.+)",
        r"^(?P<about>.+?)\s+(?:is|are|must be|should be)\s+(?P<take>.+)",
    )
)
_TAIL = re.compile(
    r"\s+(?P<by>for|in|on|as|inside|within|when|für|because|since|so|with|from|by|to|until|via|and|or|but|which|that)\s+"
    r"|\s*[,;:.(!?–—](?:\s|$)|\s-\s",
    re.I,
)
_ABOUT = ("for", "in", "on", "as", "inside", "within", "when", "für")
_WORD = re.compile(r"[\w+#][\w.+#/@'’-]*[\w+#]|\w")
_NUMBER = re.compile(r"v?\d[\d.]*[a-z%]{0,3}")
_NUMBER_OF_A_THING = re.compile(r"(?i)(?:#|\b(?:issue|pr|ticket|pull request|line|step|part|phase|commit)\s+)\d")


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

    def words(self) -> list[str]:
        """What another one about the same is found by."""
        rivals = {rival for family in FAMILIES if family & self.takes for rival in family}
        return sorted(self.takes | self.drops) + sorted(self.subject) + sorted(rivals - self.takes - self.drops)


NOTHING = Stance()


@lru_cache(maxsize=2_048)
def stance_of(sentence: str, *, is_against: bool = False) -> Stance:
    """What a sentence lays down; `is_against`: it names what is to be avoided, as the title of an anti-pattern may."""
    plain = " ".join(re.sub(r"[`\"“”*]", "", sentence).split())
    for form in _FORMS:
        if found := form.search(plain):
            stance = _read(found.groupdict())
            if stance == NOTHING:
                continue
            is_bare = is_against and not stance.drops
            return Stance(frozenset(), stance.takes, stance.subject, stance.is_role) if is_bare else stance
    return NOTHING


def contradict(one: str, other: str, *, against: tuple[bool, bool] = (False, False)) -> bool:
    """Whether two sentences cannot both hold."""
    ours, theirs = stance_of(one, is_against=against[0]), stance_of(other, is_against=against[1])
    if ours.takes and theirs.takes and _is_same(ours.takes, theirs.takes):
        return False
    if _drops(ours, theirs) or _drops(theirs, ours) or _are_rivals(ours, theirs):
        return True
    return _differ_by_a_number(one, other) or _differ_by_a_denial(one, other, against)


def agree(one: str, other: str) -> bool:
    """Whether two sentences plainly lay down the same, in whatever words."""
    ours, theirs = stance_of(one), stance_of(other)
    if ours == NOTHING or not _is_same_subject(ours.subject, theirs.subject):
        return False
    if ours.takes or theirs.takes:
        return ours.takes == theirs.takes and (not ours.drops or not theirs.drops or ours.drops == theirs.drops)
    return ours.drops == theirs.drops


def content_words(text: str) -> Words:
    """The words of a text that tell something, without endings for several."""
    return frozenset(word for word in map(_stem, _words(text)) if word not in STOPWORDS and word not in _GENERAL)


def _read(parts: dict[str, str | None]) -> Stance:
    take, tail, by = _cut(parts.get("take") or "")
    drop, drop_tail, drop_by = _cut(parts.get("drop") or "")
    if not tail:
        tail, by = drop_tail, drop_by
    about = parts.get("about") or ""
    role = parts.get("role") or parts.get("kept") or ""
    subject = content_words(f"{about} {role} {tail}")
    takes, drops = _value(take), _value(drop)
    if parts.get("take") and not takes and not drops:
        return NOTHING
    is_role = bool(role) or by == "as" or _names_a_role(tail)
    return Stance(takes, drops - takes, subject, is_role and bool(subject))


def _names_a_role(text: str) -> bool:
    words = _words(text)
    return bool(words) and _stem(words[-1]) in ROLES


def _cut(text: str) -> tuple[str, str, str]:
    """A value without what follows it, then what it is for, and the word that says so."""
    found = _TAIL.search(text)
    if found is None:
        return text, "", ""
    by = (found["by"] or "").lower()
    if by not in _ABOUT:
        return text[: found.start()], "", ""
    rest = text[found.end() :]
    end = re.search(r"\s+(?:because|since|so|until|but|which)\s|\s*[,;:.(](?:\s|$)", rest, re.I)
    return text[: found.start()], rest[: end.start()] if end else rest, by


def _value(text: str) -> Words:
    """The words of what is taken or dropped; nothing when it is too long to be the name of something."""
    words = [SAME_NAMES.get(word, word) for word in _words(text) if word not in _FILLERS]
    split = [part for word in words for part in _apart(word)]
    return frozenset(split) if 0 < len(split) <= _MOST_OF_A_VALUE else frozenset()


def _apart(word: str) -> list[str]:
    """`postgres15` as the name and the number."""
    found = re.fullmatch(r"([a-z]{3,})(\d[\d.]*)", word)
    return [SAME_NAMES.get(found[1], found[1]), found[2]] if found else [word]


def _words(text: str) -> list[str]:
    return [word.lower().replace("’", "'").rstrip(".") for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word


def _numbers(words: Iterable[str]) -> Words:
    return frozenset(word.lstrip("v") for word in words if _NUMBER.fullmatch(word))


def _names(words: Words) -> Words:
    return frozenset(word for word in words if not _NUMBER.fullmatch(word))


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
    """Whether one says that what the other takes is not to be used."""
    return bool(one.drops and other.takes) and _is_same(one.drops, other.takes) and _covers(one.subject, other.subject)


def _are_rivals(one: Stance, other: Stance) -> bool:
    """Whether both take something for the same, where there is room for one."""
    if not (one.takes and other.takes) or not _is_same_subject(one.subject, other.subject):
        return False
    if one.is_role and other.is_role and not one.takes & other.takes:
        return True
    numbers, others = _numbers(one.takes), _numbers(other.takes)
    if numbers and others and numbers != others and _names(one.takes) == _names(other.takes):
        return bool(_names(one.takes) or one.subject)
    return any(_are_of_one_family(one.takes, other.takes, family) for family in FAMILIES)


def _are_of_one_family(one: Words, other: Words, family: Words) -> bool:
    """`single quotes` and `double quotes`; not `single sign-on` and `double opt-in`."""
    if not (one & family and other & family) or one & other & family:
        return False
    rest, others = _names(one - family), _names(other - family)
    return rest <= others or others <= rest


def _differ_by_a_number(one: str, other: str) -> bool:
    """`The test database listens on port 5433` and `… 5434`; not two tickets, nor two steps of a plan."""
    ours, theirs = _words(one), _words(other)
    if len(ours) != len(theirs) or _NUMBER_OF_A_THING.search(one):
        return False
    differing = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    shared = len({_stem(a) for a, b in zip(ours, theirs, strict=True) if a == b and a not in STOPWORDS})
    return len(differing) == 1 and shared >= 3 and all(_NUMBER.fullmatch(word) for word in differing[0])


def _differ_by_a_denial(one: str, other: str, against: tuple[bool, bool]) -> bool:
    """`Run migrations at start` and `Don't run migrations at start`."""
    ours, theirs = set(_words(one)), set(_words(other))
    if (bool(ours & _DENIALS) or against[0]) == (bool(theirs & _DENIALS) or against[1]):
        return False
    bare, others = content_words(" ".join(ours - _DENIALS)), content_words(" ".join(theirs - _DENIALS))
    ignored = {"do", "longer", "always"}
    return len(bare - ignored) >= 2 and bare - ignored == others - ignored
