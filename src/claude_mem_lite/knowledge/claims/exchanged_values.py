"""Rules of the user that are the same but for one word: a value that was exchanged, or another rule beside the first.

Read by supersession. One word alone does not tell ("run lint before commits" and "run tests before commits" hold
together), so a rule replaces another only where the word stands for a value and the newer says that things change."""

from typing import Literal

from claude_mem_lite.knowledge.claims.claim_patterns import FILLERS, NUMBER
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.sentence_words import DENIALS, words_of
from claude_mem_lite.text import STOPWORDS

Outcome = Literal["replaces", "conflicts", "neither"]

_MIN_SHARED = 2
_SINCE = lazy(
    r"(?i)\b(?:from (?:now|here|today) on(?:wards?)?|from now|going forward|henceforth|as of (?:now|today)"
    r"|starting (?:now|today)|i(?:'ve| have) changed my mind|ab (?:jetzt|sofort)|von (?:jetzt|nun) an)\b[\s,:]*"
)
_INSTEAD = lazy(r"(?i)\binstead\b(?! of)|\bno longer\b")
_DROPPED = lazy(r"(?i)[\s,]+(?:instead of|rather than|and not|not|no longer)\s+(?:in\s+|as\s+|with\s+)?(?P<drop>.+)$")
# Verbs of expression take one form at a time with "in" or "as"; after other verbs "in" names a location.
_EXPRESSING = frozenset(
    """write rewrite spell name answer reply respond format document comment log print report label phrase word style
    draft express title date number""".split()  # noqa: SIM905
)
_FORM_LEADS = ("in", "as")
_CHOICE_LEADS = ("prefer", "use", "using", "choose", "want", "with")


def outcome(newer: str, older: str, said: str) -> Outcome:
    """Return what a newer rule does to an older one by their titles; `said` is the newer in the user's own words."""
    dropped = _DROPPED.search(newer)
    ours, theirs = _words(newer[: dropped.start()] if dropped else newer), _words(older)
    if len(ours) != len(theirs):
        return "neither"
    differing = [at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    if len(differing) != 1 or not (_is_value(ours[differing[0]]) and _is_value(theirs[differing[0]])):
        return "neither"
    at = differing[0]
    shared = {word for word in (*ours[:at], *ours[at + 1 :]) if word not in STOPWORDS}
    if len(shared) < _MIN_SHARED or not DENIALS.isdisjoint((*ours, *theirs)):
        return "neither"
    if dropped:
        return "replaces" if theirs[at] in words_of(dropped["drop"]) else "neither"
    return "replaces" if _INSTEAD.search(said) else _by_slot(ours, at, is_change=_SINCE.search(said) is not None)


def _by_slot(words: tuple[str, ...], at: int, *, is_change: bool) -> Outcome:
    """Return what an exchanged word does by where it stands."""
    lead = words[at - 1] if at else ""
    is_form = lead in _FORM_LEADS and words[0] in _EXPRESSING
    if not is_form and lead not in _CHOICE_LEADS:
        return "neither"
    # "British spelling", "short answers": both rules are about one thing, and each says of which sort it is.
    is_of_a_thing = at + 1 < len(words) and words[at + 1] not in STOPWORDS
    if is_change and is_of_a_thing and lead != "with":
        return "replaces"
    return "conflicts" if is_change or is_form or lead == "prefer" else "neither"


def _words(title: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(_SINCE.sub("", title)) if word not in FILLERS)


def _is_value(word: str) -> bool:
    """Return whether a word may be a value: no path, which is a location, and no number, which stances compare."""
    return word not in STOPWORDS and not any(mark in word for mark in "/.") and not NUMBER.fullmatch(word)
