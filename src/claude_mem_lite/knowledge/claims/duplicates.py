"""Duplicates: a new memory that adds nothing to a stored memory is a sighting of the stored memory.

In doubt two memories are different: a lost fact is worse than a repeated fact."""

from dataclasses import replace

from claude_mem_lite.code.syntax.changes import read_anchor
from claude_mem_lite.compress.toolcalls.fix_pairing import failed_command
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
from claude_mem_lite.text import DENIALS, STOPWORDS, denials, denies, share_of_both

STATED_KINDS: tuple[Kind, ...] = ("preference", "rule", "correction", "convention", "anti_pattern")
"""Kinds of statements of the user. The same statement may get one kind today and another kind tomorrow."""
_MAY_REPEAT: tuple[Kind, ...] = ("failure", "project_fact")
"""Kinds that describe a machine or a project and make no claim."""
_MIN_SHARED = 0.85
_MIN_SHARED_TITLE = 0.8
# Text from the web or from a foreign tool must not be merged with trusted text.
_OWN_ORIGINS = frozenset(("assistant", "code", "command"))

_WORD = lazy(r"\w+(?:[./:_-]\w+)*")
_VARYING = lazy(r"\b\d[\d:.,/-]*(?:ms|s|m|h|d|%|[kmg]b)?\b")
_NUMBER = lazy(r"\d+")
_NAME = lazy(r"\S*(?:[a-z][A-Z]|\w[_./]\w|\(\))\S*")
_COMMIT = lazy(r"^Commit ([0-9a-f]{6,40})\b")


def is_duplicate(known: Memory, new: Memory) -> bool:
    """Return True if a new memory adds nothing to a known memory of the same kind and scope, or only parts that
    `merged` can add."""
    if known.kind not in _MAY_REPEAT and contradict(known.title, new.title):
        return False  # the same words may say the opposite: "tabs over spaces"
    if _is_stated_again(known, new):
        return True
    if (known.kind, known.scope, known.status) != (new.kind, new.scope, "active"):
        return False
    if not _may_be_merged(known, new) or _commits(known) != _commits(new):
        return False
    if new.kind == "failure" and _is_same_failure(known, new):
        return True
    if not _agree(known.title, new.title) or _shared(known.title, new.title) < _MIN_SHARED_TITLE:
        return False
    if new.kind not in _MAY_REPEAT and not in_same_order(known.title, new.title):
        return False
    text, new_text = text_without_request(known), text_without_request(new)
    if _shared(text, new_text) < _MIN_SHARED or denials(text) != denials(new_text):
        return False
    if new.kind in WORK_KINDS and new.kind not in ("decision", "discovery"):
        return _is_same_work(known, new)
    return set(known.files) <= set(new.files) or set(new.files) <= set(known.files)


def _is_stated_again(known: Memory, new: Memory) -> bool:
    """Return True if the user repeats an earlier statement in other words. Only the claims are compared."""
    if {known.origin, new.origin} != {"user"} or not {known.kind, new.kind} <= set(STATED_KINDS):
        return False
    if (known.scope, known.status) != (new.scope, "active") or not _may_be_merged(known, new):
        return False
    if (known.kind == "anti_pattern") != (new.kind == "anti_pattern"):
        return False
    # The text of `remember` may have more than one line.
    below = new.summary.partition("\n")[2]
    if new.made_by == "user" and not content_words(below) <= content_words(text_without_request(known)):
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


def first_word(title: str) -> str:
    """Return the first word of a title in lower case. Duplicates begin with the same word, except statements of the
    user in other words and failures of the same command."""
    return title.split(" ", 1)[0].lower()


def merged(known: Memory, new: Memory) -> Memory:
    """Return the known memory with the additions of the new sighting."""
    if new.made_by == "user" and content_words(text_without_request(known)) < content_words(text_without_request(new)):
        # "use pnpm instead of npm" after "use pnpm": of two texts of the user, the longer stays.
        known = replace(known, title=new.title, summary=new.summary)
    if new.origin == known.origin == "user" and known.trust < new.trust:
        # The known text is from a transcript or an agent; the new text is certainly the user's.
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


def _may_be_merged(known: Memory, new: Memory) -> bool:
    """Return True if both memories have the same trust, and the merged lists stay within the limits."""
    if known.origin != new.origin and not {known.origin, new.origin} <= _OWN_ORIGINS:
        return False
    return (
        len(_union(known.facts, new.facts)) <= MAX_FACTS
        and len(_union(known.files, new.files)) <= MAX_FILES
        and len(_anchors(known, new)) <= MAX_ANCHORS
    )


def _is_same_failure(known: Memory, new: Memory) -> bool:
    """Return True for the same command with the same error, whatever else the command printed."""
    errors = {anchor for anchor in known.anchors if read_anchor(anchor) is None}
    return failed_command(known.title) == failed_command(new.title) and not errors.isdisjoint(new.anchors)


def _is_same_work(known: Memory, new: Memory) -> bool:
    """Return True for equal descriptions of work, as from a forked session.

    Two edits of one function on one day often have the same title, and are two pieces of work."""
    return (
        without_request(known.summary) == without_request(new.summary)
        and set(known.files) == set(new.files)
        and set(known.symbols) == set(new.symbols)
        and set(known.facts) == set(new.facts)
    )


def _agree(title: str, other: str) -> bool:
    """Return True if two titles have the same first word, names and numbers."""
    return (
        first_word(title) == first_word(other)
        and set(_NAME.findall(title)) == set(_NAME.findall(other))
        and _NUMBER.findall(title) == _NUMBER.findall(other)
    )


def _shared(text: str, other: str) -> float:
    """Return the share of words that two texts have in common; all numbers and dates count as one word."""
    return share_of_both(_words(text), _words(other))


def _words(text: str) -> set[str]:
    words = set(_WORD.findall(_VARYING.sub("0", text.lower())))
    return words - STOPWORDS or words


def text_without_request(memory: Memory) -> str:
    """Return title and summary of a memory without the request: the same work may be requested in other words."""
    return f"{memory.title}\n{without_request(memory.summary)}"


def _commits(memory: Memory) -> set[str]:
    return {found[1] for fact in memory.facts if (found := _COMMIT.match(fact))}


def _anchors(known: Memory, new: Memory) -> tuple[str, ...]:
    """Return the anchors of both memories; of two anchors to the same code, only the newer."""
    texts = (*known.anchors, *new.anchors)
    code = {(anchor.file, anchor.name): text for text in texts if (anchor := read_anchor(text))}
    others = [text for text in dict.fromkeys(texts) if read_anchor(text) is None]
    return (*others, *code.values())


def _union(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *second)))
