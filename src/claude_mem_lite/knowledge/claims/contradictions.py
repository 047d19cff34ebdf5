"""Comparison of two titles word by word: titles that differ by one number, by an opposite, or by the order of words."""

from collections.abc import Sequence
from functools import lru_cache

from claude_mem_lite.knowledge.claims.claim_patterns import FILLERS, NUMBER, SEVERAL_AT_ONCE, singular
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.text import DENIALS, STOPWORDS, words_of

_MIN_SHARED = 3
_NUMBER_OF_A_THING = lazy(r"(?i)(?:#|\b(?:issue|pr|ticket|pull request|line|step|part|phase|commit)\s+)\d")
# Words before the value of a setting. After any other word a number may be a name, as in `server 1`.
_BEFORE_A_VALUE = frozenset(
    """port limit timeout version size ttl level max min maximum minimum is are be to at on for of after every within
    than least most under over up by until about around exactly below above length width depth count threshold
    interval""".split()  # noqa: SIM905
)
_UNITS = frozenset(
    """second minute hour day week month year time ms s mb gb kb byte percent character char line space column worker
    thread retry retries attempt request item row token entry entries user connection""".split()  # noqa: SIM905
)
# Words before a name with a version: `runs on Node 18`.
_BEFORE_A_NAME = frozenset("use uses using on with to require requires need needs target targets".split())  # noqa: SIM905
_NUMBERED_THINGS = frozenset(
    """server node shard phase stage host worker replica machine box cluster team sprint milestone tier zone region
    slot channel queue partition group lane room building environment env runner""".split()  # noqa: SIM905
)
_BESIDE_OTHERS = SEVERAL_AT_ONCE | {"support", "supports", "supported", "also", "too", "add", "include", "includes"}
_CONTRASTS = ("before", "after", "over", "not", "never", "than", "then", "instead", "above", "under")
# "A rule is not a decision" and the reversed sentence are both true.
_SAYS_WHAT_IS = frozenset("is are was were be does do can may".split())  # noqa: SIM905

_PAIRS = (
    *(("before", "after"), ("on", "off"), ("above", "below"), ("over", "under"), ("up", "down"), ("first", "last")),
    *(("enable", "disable"), ("enabled", "disabled"), ("allow", "forbid"), ("allowed", "forbidden")),
)
OPPOSITES = {title: other for pair in _PAIRS for title, other in (pair, pair[::-1])}
"""Words with an opposite. Most of them are stop words, but an exchange reverses the meaning of a sentence."""
_MIN_BESIDEOPPOSITES = 2


def differ_by_a_number(title: str, other: str) -> bool:
    """Return True for `The test database listens on port 5433` and `… 5434`, False for two tickets or two servers."""
    ours, theirs = words_of(title), words_of(other)
    if len(ours) != len(theirs):
        return False
    differing = [at for at, (a, b) in enumerate(zip(ours, theirs, strict=True)) if a != b]
    if len(differing) != 1 or _NUMBER_OF_A_THING.search(title) or not _BESIDE_OTHERS.isdisjoint(ours):
        return False
    at = differing[0]
    shared = len({singular(a) for a, b in zip(ours, theirs, strict=True) if a == b and a not in STOPWORDS})
    if shared < _MIN_SHARED:
        return False
    return all(NUMBER.fullmatch(words[at]) for words in (ours, theirs)) and _is_value(ours, at)


def are_reversed(title: str, other: str) -> bool:
    """Return True for `Run lint before tests` and `Run tests before lint`: the same words, exchanged around one
    contrast."""
    if _content(title) != _content(other):
        return False
    ours, theirs = words_of(title), words_of(other)
    return any(
        contrast in theirs and _is_turned(_around(ours, contrast), _around(theirs, contrast))
        for contrast in _CONTRASTS
        if contrast in ours and not _SAYS_WHAT_IS & set(ours[max(ours.index(contrast) - 1, 0) : ours.index(contrast)])
    )


def differ_by_an_opposite(title: str, other: str) -> bool:
    """Return True for `Run lint before tests` and `Run lint after tests`."""
    ours, theirs = _without_fillers(title), _without_fillers(other)
    if len(ours) != len(theirs) or ours == theirs:
        return False
    beside = {a for a, b in zip(ours, theirs, strict=True) if a == b and a not in STOPWORDS}
    return len(beside) >= _MIN_BESIDEOPPOSITES and all(
        a == b or OPPOSITES.get(a) == b for a, b in zip(ours, theirs, strict=True)
    )


def in_same_order(title: str, other: str) -> bool:
    """Return True if the shared words of two sentences have the same order, and the same words with an opposite
    occur."""
    if _opposites_in(title) != _opposites_in(other):
        return False
    ours, theirs = _telling(words_of(title)), _telling(words_of(other))
    shared = set(ours) & set(theirs)
    return [word for word in dict.fromkeys(ours) if word in shared] == [
        word for word in dict.fromkeys(theirs) if word in shared
    ]


def _opposites_in(text: str) -> list[str]:
    """Return the words of a text that have an opposite, in order; without `on`, `up` and `over`, which have many
    meanings."""
    return [word for word in words_of(text) if word in OPPOSITES and word not in ("on", "up", "over")]


def _is_value(words: Sequence[str], at: int) -> bool:
    """Return True if a number is a value, False if the number names one of several things."""
    after = words[at + 1] if at + 1 < len(words) else ""
    before = words[at - 1] if at else ""
    if singular(before) in _NUMBERED_THINGS:
        return False
    if before in _BEFORE_A_VALUE or singular(after) in _UNITS:
        return True
    return at > 1 and words[at - 2] in _BEFORE_A_NAME


def _around(words: Sequence[str], contrast: str) -> tuple[list[str], list[str]]:
    at = words.index(contrast)
    return _telling(words[:at]), _telling(words[at + 1 :])


def _is_turned(ours: tuple[list[str], list[str]], theirs: tuple[list[str], list[str]]) -> bool:
    (left, right), (other_left, other_right) = ours, theirs
    if bool(DENIALS & set(left)) != bool(DENIALS & set(other_left)):
        return False
    while left and other_left and left[0] == other_left[0]:
        left, other_left = left[1:], other_left[1:]
    while right and other_right and right[-1] == other_right[-1]:
        right, other_right = right[:-1], other_right[:-1]
    return bool(left and right) and left == other_right and right == other_left


@lru_cache(maxsize=2_048)
def _without_fillers(title: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(title) if word not in FILLERS)


@lru_cache(maxsize=2_048)
def _content(title: str) -> frozenset[str]:
    return frozenset(_telling(words_of(title)))


def _telling(words: Sequence[str]) -> list[str]:
    return [singular(word) for word in words if word not in FILLERS and (word not in STOPWORDS or word in DENIALS)]
