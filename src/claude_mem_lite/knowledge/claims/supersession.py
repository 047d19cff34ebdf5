"""Supersession: a newer memory about the same subject replaces the older memory, which stays readable.

Rules of the user that differ by one word replace each other only if the word is a value and the newer rule announces
a change: "run lint before commits" and "run tests before commits" hold together.

The order is the order of the statements, not of their arrival: an old session that is imported late replaces no newer
memory. If the order does not decide, both memories stay and the contradiction is recorded."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from claude_mem_lite.compress.prose.drafts import quoted_in
from claude_mem_lite.knowledge.claims.claim import contradict, found_by, shared_by_rivals
from claude_mem_lite.knowledge.claims.claim_patterns import FILLERS, NUMBER
from claude_mem_lite.lazy_regex import lazy
from claude_mem_lite.models import FOREIGN_ORIGINS, REPLACEABLE_KINDS, Kind, Memory, is_users_wording
from claude_mem_lite.store import memories, memory_links, memory_queries, retirements
from claude_mem_lite.store.index import fts
from claude_mem_lite.text import DENIALS, STOPWORDS, words_of

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
_EXCHANGEABLE_KINDS: tuple[Kind, ...] = ("preference", "rule", "convention", "correction")
_MAX_CANDIDATES = 60


def effect_of_exchange(newer: str, older: str, said: str) -> Outcome:
    """Return the effect of a newer rule on an older rule by their titles. `said` is the newer rule in the user's own
    words."""
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
    """Return the effect of an exchanged word by the word before it."""
    lead = words[at - 1] if at else ""
    is_form = lead in _FORM_LEADS and words[0] in _EXPRESSING
    if not is_form and lead not in _CHOICE_LEADS:
        return "neither"
    # "British spelling", "short answers": an adjective and a noun.
    is_of_a_thing = at + 1 < len(words) and words[at + 1] not in STOPWORDS
    if is_change and is_of_a_thing and lead != "with":
        return "replaces"
    return "conflicts" if is_change or is_form or lead == "prefer" else "neither"


def _words(title: str) -> tuple[str, ...]:
    return tuple(word for word in words_of(_SINCE.sub("", title)) if word not in FILLERS)


def _is_value(word: str) -> bool:
    """Return True if a word may be a value. Paths are locations, and `contradictions` compares numbers."""
    return word not in STOPWORDS and not any(mark in word for mark in "/.") and not NUMBER.fullmatch(word)


def resolve_contradictions(db: sqlite3.Connection, memory: Memory, now: datetime) -> None:
    """Replace the memories that a new, repeated or edited memory contradicts, or mark the memory as replaced by a newer
    one. If neither is allowed, record the contradiction."""
    opposed = contradicting(db, memory)
    said_at = {rival.id: _said_at(db, rival, now) for rival in (memory, *opposed)}
    older = [rival for rival in opposed if said_at[memory.id] > said_at[rival.id] and _may_replace(memory, rival)]
    for other in older:
        retirements.replace_by(db, other.id, memory.id)
    later = [rival for rival in opposed if said_at[rival.id] > said_at[memory.id] and _may_replace(rival, memory)]
    if later:
        retirements.replace_by(db, memory.id, max(later, key=lambda rival: (said_at[rival.id], rival.id)).id)
        return
    for other in opposed:
        if other not in older:
            memory_links.note_conflict(db, memory.id, other.id, now)
    _resolve_exchanged(db, memory, [rival.id for rival in opposed], now)


def _resolve_exchanged(db: sqlite3.Connection, memory: Memory, opposed: Sequence[str], now: datetime) -> None:
    """Compare a rule of the user with the rules that differ by one word."""
    if memory.kind not in _EXCHANGEABLE_KINDS or memory.origin != "user":
        return
    rows = memory_queries.active_rows(db, memory, _candidates(db, memory), _EXCHANGEABLE_KINDS)
    others = [memories.from_row(row) for row in rows if row["origin"] == "user"]
    for other in others:
        older, newer = sorted((other, memory), key=lambda rule: _said_at(db, rule, now))
        outcome = effect_of_exchange(newer.title, older.title, _said(newer))
        if other.id in opposed or outcome == "neither":
            continue
        is_newer = _said_at(db, newer, now) > _said_at(db, older, now)
        is_replaced = outcome == "replaces" and is_newer and _may_replace(newer, older)
        if is_replaced and retirements.replace_by(db, older.id, newer.id):
            if older.id == memory.id:
                return
        else:
            memory_links.note_conflict(db, memory.id, other.id, now)


def _said(memory: Memory) -> str:
    """Return a rule with the user's own words: the title may leave out "from now on"."""
    return "\n".join((memory.title, memory.summary, *quoted_in(memory.detail)))


def contradicting(db: sqlite3.Connection, memory: Memory) -> list[Memory]:
    """Return the active memories of the same scope that contradict a memory."""
    return [memories.from_row(row) for row in _rows_contradicting(db, memory)]


def ids_contradicting(db: sqlite3.Connection, memory: Memory) -> list[str]:
    """Return the ids of the memories that contradict a memory, without reading the rest of each row."""
    return [row["id"] for row in _rows_contradicting(db, memory)]


def _rows_contradicting(db: sqlite3.Connection, memory: Memory) -> list[sqlite3.Row]:
    if memory.kind not in REPLACEABLE_KINDS or memory.status != "active" or memory.origin in FOREIGN_ORIGINS:
        return []
    words = shared_by_rivals(memory.title, is_against=memory.kind == "anti_pattern")
    seqs = fts.with_most(db, words, memory.scope, 2 * _MAX_CANDIDATES) if words else _candidates(db, memory)
    rows = memory_queries.active_rows(db, memory, seqs, REPLACEABLE_KINDS) if seqs else []
    claim = (memory.kind, memory.title)
    return [
        row for row in rows if row["origin"] not in FOREIGN_ORIGINS and _are_opposed(claim, (row["kind"], row["title"]))
    ]


def _are_opposed(memory: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return True if two memories, given by kind and title, contradict each other."""
    against = (memory[0] == "anti_pattern", other[0] == "anti_pattern")
    return contradict(memory[1], other[1], against=against)


def _said_at(db: sqlite3.Connection, memory: Memory, now: datetime) -> datetime:
    """Return the time of the last statement of a memory; for a date in the future, the time of storing."""
    if memory.last_seen_at <= now:
        return memory.last_seen_at
    return min(retirements.stored_at(db, memory.id) or now, now)


def _may_replace(newer: Memory, older: Memory) -> bool:
    """Return True if a newer memory may replace an older one. A pinned memory is never replaced, a statement of the
    user only by a statement of the user, and a text of the user only by the user's own words. A memory of a teammate
    replaces only memories of teammates."""
    if newer.origin == "team" and older.origin != "team":
        return False
    if older.pinned or older.origin != "user":
        return not older.pinned
    return newer.origin == "user" and (older.made_by != "user" or is_users_wording(newer.made_by))


def _candidates(db: sqlite3.Connection, memory: Memory) -> list[int]:
    words = found_by(memory.title, is_against=memory.kind == "anti_pattern")
    return [
        *fts.alike(db, memory, _MAX_CANDIDATES),
        *fts.naming(db, words, memory.scope, _MAX_CANDIDATES),
    ]
