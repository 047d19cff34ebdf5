"""Whether what a session tells of its work says that an open step is done. Read for the session itself and by handoffs.

In doubt it does not: only sentences count that say what was done, none that deny it, take it back or talk about it."""

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from claude_mem_lite.compress.tools.shell import GIT_OPTIONS
from claude_mem_lite.words import query_words, tokens_of, words_among

_MAX_KEPT = 1_024
_LEAST_SHARED = 0.6
_LEAST_WORDS = 2
# What any step may say: that one was added says nothing of another that is to be.
_COMMON = frozenset(
    "add fix update write implement make create run check change finish continue next step".split()  # noqa: SIM905
)
_CLAUSE_END = re.compile(
    r"(?<=[.!?;:])\s+|[\n;]+|,?\s+(?:but|however|although|though|while|aber|jedoch)\s+"
    r"|,\s+(?:so|because|which|and|then|yet)\s+",
    re.I,
)
_BESIDES = re.compile(r"(?i)\b(?:without|instead of|rather than|except|apart from|leaving out|ohne|statt)\b")
_DENIED = re.compile(
    r"(?i)\b(?:not|nor|never|cannot|left (?:out|open|for)|leaves?|skip(?:s|ped|ping)?|later|to-?do|next steps?"
    r"|remain(?:s|ing)?|missing|pending|outstanding|postponed?|deferred|unable|failed to|still|tried|nicht|kein\w*|noch"
    r"|nie)\b|\b\w+n['’]t\b|\bno (?!longer\b)|没有|还没|未|不"
)
# What speaks of work that may be done, or of what would be if it were.
_PROPOSED = re.compile(
    r"(?i)\?\W*$|^\W*(?:if|unless|once|when|whenever|ideally|maybe|perhaps)\b"
    r"|\b(?:should|could|would|will|wants?|shall|might|recommend\w*|suggest\w*|propos\w+)\b|\b\w+['’](?:ll|d)\b"
)
# What takes the thing away, or only speaks of it.
_UNDOING = frozenset(
    """remove delete drop revert undo disable undid rollback explain describe discuss plan propose outline investigate
    research review mention consider postpone note look read""".split()  # noqa: SIM905
)
_IRREGULAR = {
    "written": "write",
    "wrote": "write",
    "made": "make",
    "ran": "run",
    "built": "build",
    "sent": "send",
    "set": "set",
    "split": "split",
    "kept": "keep",
    "undid": "undo",
    "undone": "undo",
    "read": "read",
}
_NOT_PAST = frozenset("need feed speed seed proceed exceed succeed indeed embed shed red bed".split())  # noqa: SIM905
_BEFORE_A_VERB = frozenset(
    "i we please then also now finally have has had and to the just already it need needs should must".split()  # noqa: SIM905
)
# What git does, and the steps that nothing but that is to be done for.
_DONE_BY_GIT = tuple(
    (
        re.compile(rf"git {GIT_OPTIONS}{verb}\b"),
        re.compile(
            rf"(?i)(?:(?:\bun|(?:\bnot|n't) (?:yet |been )*){past_form}|^{verb})\b"
            r"(?!.*\b(?:and|or|then|deploy\w*|publish\w*|releas\w*)\b)"
        ),
    )
    for verb, past_form in (("commit", "commit(?:ted)?"), ("push", "push(?:ed)?"))
)
_WORD = re.compile(r"[^\W\d_]+")
# A word with a capital inside a sentence, but for acronyms: those are mostly kinds of things.
_NAME = re.compile(r"(?<=[^\s.:;!?]\s)[A-Z][a-z]\w*\b")


def told_apart(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split the sentences of texts into those that report work done and those that deny it; leave out questions."""
    done: list[str] = []
    denied: list[str] = []
    for clause in (one.strip() for text in texts for one in _CLAUSE_END.split(text) if one.strip()):
        before, *besides = _BESIDES.split(clause, maxsplit=1)
        if _DENIED.search(before):
            denied.append(before.strip())
        elif not _PROPOSED.search(clause):
            done.append(before.strip())
        denied += besides
    return tuple(one for one in done if one), tuple(denied)


def in_the_past(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the sentences with a verb in the past: an entry of a list without one may be a plan."""
    return tuple(one for one in told_apart(texts)[0] if any(map(_is_past, _WORD.findall(one.lower()))))


def is_done_by(step: str, sentence: str) -> bool:
    """Whether a sentence that says what was done says it of this step."""
    verbs, leading = _verbs(sentence), _leading(step)
    if verbs & _UNDOING - _verbs(step):
        return False
    if not is_about(step, sentence):
        return False
    # One word in common is no more than a subject: what is done to it must be the same, too.
    return len(_telling(step)) >= _LEAST_WORDS or leading in verbs


def is_done_by_git(step: str, passed: Sequence[str]) -> bool:
    """Whether commands that went well have committed or pushed what a step says is not."""
    return any(left.search(step) and any(map(command.match, passed)) for command, left in _DONE_BY_GIT)


def is_about(step: str, text: str) -> bool:
    """Whether a text has most of the telling words of a step, and names nothing else in the place of what it names."""
    words = _telling(step)
    if not words or _names_another(step, text):
        return False
    return len(words_among(words, _tokens(text))) >= max(_LEAST_SHARED * len(words), min(_LEAST_WORDS, len(words)))


def _names_another(step: str, text: str) -> bool:
    """Return whether two texts name different things: the Swiss table is not updated when the German one is."""
    ours, theirs = _names(step), _names(text)
    return bool(ours and theirs) and ours.isdisjoint(theirs)


# Each sentence is compared with every step that is open, a hundred of them and more.
@lru_cache(maxsize=_MAX_KEPT)
def _names(text: str) -> frozenset[str]:
    return frozenset(name.lower() for name in _NAME.findall(text))


@lru_cache(maxsize=_MAX_KEPT)
def _tokens(text: str) -> frozenset[str]:
    return tokens_of(text)


@lru_cache(maxsize=_MAX_KEPT)
def _telling(step: str) -> list[str]:
    words = query_words(step)
    return [word for word in words if word not in _COMMON] or words


@lru_cache(maxsize=_MAX_KEPT)
def _verbs(sentence: str) -> set[str]:
    """What a sentence may say was done: its first word, and what has the form of the past; as the bare verbs."""
    words = [word.lower() for word in _WORD.findall(sentence)]
    past = {word for word in words if word.endswith("ed") or word in _IRREGULAR}
    return {bare for word in (*past, _leading(sentence)) for bare in _bare(word)}


def _is_past(word: str) -> bool:
    """Return whether a word can only be a form of the past."""
    is_regular = word.endswith("ed") and word not in _NOT_PAST
    return is_regular or _IRREGULAR.get(word, word) != word


def _leading(text: str) -> str:
    words = (word.lower() for word in _WORD.findall(text))
    return next((word for word in words if word not in _BEFORE_A_VERB), "")


def _bare(word: str) -> set[str]:
    """The verbs that a form of the past may be of: `added` of `add`, `removed` of `remove`, `dropped` of `drop`."""
    found = {word, _IRREGULAR.get(word, word)}
    for ending in ("ed", "ing"):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            stem = word.removesuffix(ending)
            found |= {stem, f"{stem}e", *([stem[:-1]] if stem[-1] == stem[-2] else ())}
    return found
