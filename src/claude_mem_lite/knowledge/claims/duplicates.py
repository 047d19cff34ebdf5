"""When two memories say the same: then the newer one is a sighting of the older, not a memory of its own.

In doubt they do not: a fact that is lost is worse than one that is told twice."""

from dataclasses import replace

from claude_mem_lite.code.syntax.anchors import read_anchor
from claude_mem_lite.knowledge.claims.claim import agree, content_words, contradict
from claude_mem_lite.knowledge.claims.contradictions import in_same_order
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import (
    MAX_ANCHORS,
    MAX_DETAIL_LENGTH,
    MAX_FACTS,
    MAX_FILES,
    WORK_KINDS,
    Kind,
    Memory,
    without_request,
)
from claude_mem_lite.sentence_words import DENIALS, denials, denies
from claude_mem_lite.text import STOPWORDS

TOLD_KINDS: tuple[Kind, ...] = ("preference", "rule", "correction", "convention", "anti_pattern")
"""What the user lays down: the same is said of one kind today and of another tomorrow."""
_MAY_REPEAT: tuple[Kind, ...] = ("failure", "project_fact")
"""What is told of a machine: its words lay nothing down that could be turned around."""
_MIN_SHARED = 0.85
_MIN_SHARED_TITLE = 0.8
# Text from the web or from somebody else's tool must not be joined to what can be believed.
_OWN_ORIGINS = frozenset(("assistant", "code", "command"))

_WORD = lazy(r"\w+(?:[./:_-]\w+)*")
_VARYING = lazy(r"\b\d[\d:.,/-]*(?:ms|s|m|h|d|%|[kmg]b)?\b")
_NUMBER = lazy(r"\d+")
_NAME = lazy(r"\S*(?:[a-z][A-Z]|\w[_./]\w|\(\))\S*")
_COMMIT = lazy(r"^Commit ([0-9a-f]{6,40})\b")


def say_the_same(known: Memory, new: Memory) -> bool:
    """Whether a new memory tells nothing that a known one of its kind and scope does not tell, or could not take in."""
    if known.kind not in _MAY_REPEAT and contradict(known.title, new.title):
        return False  # all of the same words may say the opposite: "tabs over spaces"
    if _is_told_again(known, new):
        return True
    if (known.kind, known.scope, known.status) != (new.kind, new.scope, "active"):
        return False
    if not _may_be_joined(known, new) or _commits(known) != _commits(new):
        return False
    if new.kind == "failure" and _is_same_failure(known, new):
        return True
    if not _agree(known.title, new.title) or _shared(known.title, new.title) < _MIN_SHARED_TITLE:
        return False
    if new.kind not in _MAY_REPEAT and not in_same_order(known.title, new.title):
        return False
    if _shared(_told(known), _told(new)) < _MIN_SHARED or denials(_told(known)) != denials(_told(new)):
        return False
    if new.kind in WORK_KINDS and new.kind not in ("decision", "discovery"):
        return _is_same_work(known, new)
    return _is_within(known.files, new.files)


def _is_told_again(known: Memory, new: Memory) -> bool:
    """Whether the user lays down what the user laid down before, in other words: only what it comes to counts."""
    if {known.origin, new.origin} != {"user"} or not {known.kind, new.kind} <= set(TOLD_KINDS):
        return False
    if (known.scope, known.status) != (new.scope, "active") or not _may_be_joined(known, new):
        return False
    if (known.kind == "anti_pattern") != (new.kind == "anti_pattern"):
        return False
    # What was written for being remembered may go on below its first line.
    below = new.summary.partition("\n")[2]
    if new.made_by == "user" and not content_words(below) <= content_words(_told(known)):
        return False
    if agree(known.title, new.title):
        return True
    ours, theirs = content_words(known.title) - DENIALS, content_words(new.title) - DENIALS
    return (
        ours == theirs
        and in_same_order(known.title, new.title)
        and denies(known.title) == denies(new.title)
        and _NUMBER.findall(known.title) == _NUMBER.findall(new.title)
    )


def joined(known: Memory, new: Memory) -> Memory:
    """The known memory with all that the new sighting adds to it."""
    if new.made_by == "user" and content_words(_told(known)) < content_words(_told(new)):
        # "use pnpm instead of npm" after "use pnpm": written down by the user, the fuller words stand.
        known = replace(known, title=new.title, summary=new.summary)
    if new.origin == known.origin == "user" and known.trust < new.trust:
        # Known by a transcript or in an agent's words, and said now: the words of now are surely the user's.
        known = replace(known, title=new.title, summary=new.summary, trust=new.trust, made_by=new.made_by)
    is_users = new.made_by == "user" or new.origin == known.origin == "user"
    lines = dict.fromkeys((*known.detail.split("\n"), *new.detail.split("\n")))
    detail = "\n".join(line for line in lines if line)
    return replace(
        known,
        facts=_union(known.facts, new.facts),
        files=_union(known.files, new.files),
        symbols=tuple(dict.fromkeys((*known.symbols, *new.symbols))),
        anchors=_anchors(known, new),
        tags=_union(known.tags, new.tags),
        detail=detail if len(detail) <= MAX_DETAIL_LENGTH else known.detail,
        last_seen_at=max(known.last_seen_at, new.last_seen_at),
        confidence=max(known.confidence, new.confidence) if is_users else known.confidence,
        made_by="user" if new.made_by == "user" else known.made_by,
    )


def _may_be_joined(known: Memory, new: Memory) -> bool:
    """Whether both are equally to be believed, and nothing of either would have to go."""
    if known.origin != new.origin and not {known.origin, new.origin} <= _OWN_ORIGINS:
        return False
    return (
        len(_union(known.facts, new.facts)) <= MAX_FACTS
        and len(_union(known.files, new.files)) <= MAX_FILES
        and len(_anchors(known, new)) <= MAX_ANCHORS
    )


def _is_same_failure(known: Memory, new: Memory) -> bool:
    """The same command with the same error, whatever else it printed."""
    command, _, _ = new.title.partition(" fails: ")
    errors = {anchor for anchor in known.anchors if read_anchor(anchor) is None}
    return known.title.startswith(f"{command} fails: ") and not errors.isdisjoint(new.anchors)


def _is_same_work(known: Memory, new: Memory) -> bool:
    """Work is the same when it is told alike to the last fact, as a session that was forked tells it again.

    Two edits of one function on one day have the same title more often than not, and are two pieces of work."""
    return (
        without_request(known.summary) == without_request(new.summary)
        and set(known.files) == set(new.files)
        and set(known.symbols) == set(new.symbols)
        and set(known.facts) == set(new.facts)
    )


def _agree(title: str, other: str) -> bool:
    """Whether two titles begin alike, and name the same things and numbers."""
    first, second = title.split(" ", 1)[0].lower(), other.split(" ", 1)[0].lower()
    return (
        first == second
        and set(_NAME.findall(title)) == set(_NAME.findall(other))
        and _NUMBER.findall(title) == _NUMBER.findall(other)
    )


def _shared(text: str, other: str) -> float:
    """The share of all words of two texts that both have; numbers and dates count as one word."""
    ours, theirs = _words(text), _words(other)
    return len(ours & theirs) / len(ours | theirs) if ours or theirs else 1.0


def _words(text: str) -> set[str]:
    words = set(_WORD.findall(_VARYING.sub("0", text.lower())))
    return words - STOPWORDS or words


def _told(memory: Memory) -> str:
    return f"{memory.title}\n{without_request(memory.summary)}"


def _commits(memory: Memory) -> set[str]:
    return {found[1] for fact in memory.facts if (found := _COMMIT.match(fact))}


def _is_within(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether one of two lists holds all of the other."""
    return set(first) <= set(second) or set(second) <= set(first)


def _anchors(known: Memory, new: Memory) -> tuple[str, ...]:
    """The anchors of both; to code that both are tied to, only the newer."""
    tied = {(one.file, one.name): text for text in (*known.anchors, *new.anchors) if (one := read_anchor(text))}
    others = [text for text in _union(known.anchors, new.anchors) if read_anchor(text) is None]
    return (*others, *tied.values())


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
