"""Open steps that a session's account of its work says are done, and those of which that is doubtful. Read for the
session itself and by handoffs.

Of sentences only those count that say what was done, none that deny it or take it back. A step whose file was edited,
or that a commit speaks of, is doubtful, and no longer told."""

import re
from collections.abc import Iterable
from functools import lru_cache

from claude_mem_lite.compress.prose.mentions import GENERAL_NAMES, files_named
from claude_mem_lite.models import Draft, Memory
from claude_mem_lite.text import query_words, tokens_of, words_among

_MAX_KEPT = 1_024
_MIN_SHARED = 0.7
_COMMIT = re.compile(r"^Commit [^:]*: (?:\w+(?:\([^)]*\))?!?: )?(?P<subject>.*?)(?: \(\d+ files? changed.*\))?$")
# Numbers of issues and names that only code has: two texts seldom share one by chance. `end-to-end`, `GitHub`, `macOS`
# and `e.g.` are words.
_NAME = re.compile(
    r"#\d+\b|\b[^\W\d]\w+(?:\.[^\W\d]\w+)+|\b[^\W\d_][^\W_]*(?:_+[^\W_]+)+|\b_\w{3,}|\b[a-z]{2,}(?:[A-Z][a-z\d]+)+\b"
)
_ADDRESS = re.compile(r"(?i)\.(?:com|org|net|io|dev|ai|de)$")
_MIN_WORDS = 2
# Words of any step: that one thing was added says nothing of another that is to be.
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
_UNDOING = re.compile(
    r"(?i)\b(?:remov|delet|drop|revert|undid|undo|disabl|explain|describ|discuss|plann|propos|review|postpon)\w*"
)
_IRREGULAR = frozenset("written wrote made ran built sent kept undid undone".split())  # noqa: SIM905
_NOT_PAST = frozenset("need feed speed seed proceed exceed succeed indeed embed shed red bed".split())  # noqa: SIM905
_WORD = re.compile(r"[^\W\d_]+")


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
    """Return whether a sentence that says what was done says it of this step."""
    if _UNDOING.search(sentence) and not _UNDOING.search(step):
        return False
    # One word in common is no more than a subject: the verb must be the same, too.
    verb = rf"(?i)\b{re.escape(step.split()[0])}(?:e?d|s)?\b(?!\.\w)"
    is_same_deed = len(_telling(step)) >= _MIN_WORDS or re.search(verb, sentence) is not None
    return is_same_deed and is_about(step, sentence)


def is_about(step: str, text: str) -> bool:
    """Return whether a text has most of the telling words of a step."""
    words = _telling(step)
    shared = len(words_among(words, _tokens(text)))
    return bool(words) and shared >= max(_MIN_SHARED * len(words), min(_MIN_WORDS, len(words)))


def may_be_done(step: str, files: Iterable[str], subjects: Iterable[str]) -> bool:
    """Return whether a file that a step names was edited, or a commit speaks of the step."""
    named = [file.removeprefix("./").lower() for file in files_named(step)]
    # `index.ts` or `README.md` is changed for many reasons, and there are several of it.
    ends = tuple(f"/{file}" for file in named if file not in GENERAL_NAMES)
    is_edited = any(f"/{file.lower()}".endswith(ends) for file in files)
    return is_edited or any(_speaks_of(subject, step) for subject in subjects)


def subjects_of(made: Iterable[Draft | Memory]) -> tuple[str, ...]:
    """Return the subjects of the commits that memories are built on."""
    found = (_COMMIT.match(fact) for one in made for fact in one.facts)
    return tuple(commit["subject"] for commit in found if commit)


def _speaks_of(subject: str, step: str) -> bool:
    """Return whether the subject of a commit shares a name with a step, or has most of its words."""
    return not _names(subject).isdisjoint(_names(step)) or is_done_by(step, subject)


def _names(text: str) -> set[str]:
    """Return the names of code in a text but for files, which are compared by their paths; `Node.js` looks like one."""
    for file in files_named(text):
        text = text.replace(file, " ")
    return {name.lower() for name in _NAME.findall(text) if not _ADDRESS.search(name)}


# Each sentence is compared with every step that is open, a hundred of them and more.
@lru_cache(maxsize=_MAX_KEPT)
def _tokens(text: str) -> frozenset[str]:
    return tokens_of(text)


@lru_cache(maxsize=_MAX_KEPT)
def _telling(step: str) -> list[str]:
    words = query_words(step.lower())  # `TypeScript` is one word of a step, not three
    return [word for word in words if word not in _COMMON] or words


def _is_past(word: str) -> bool:
    """Return whether a word can only be a form of the past."""
    return (word.endswith("ed") and word not in _NOT_PAST) or word in _IRREGULAR
