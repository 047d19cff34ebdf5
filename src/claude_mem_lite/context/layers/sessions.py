"""What the last sessions were about, and where the newest one stopped.

What earlier sessions made of candidates for the start: what they had no use for sinks, until it is silent."""

import sqlite3
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import verdict_of
from claude_mem_lite.context.layers.headlines import told_as
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.still_valid import Held, held
from claude_mem_lite.context.order import GONE, NO_FLOOR, newest_first, shown, use_floor
from claude_mem_lite.context.project_setting import Setting, from_root
from claude_mem_lite.context.request import Occasion
from claude_mem_lite.context.scoring import NEUTRAL, SILENT, factor, is_stated, start_factor
from claude_mem_lite.context.similarity import Said
from claude_mem_lite.models import Memory, Session
from claude_mem_lite.store import memories, receipts, sessions
from claude_mem_lite.store.branches import is_hidden

UNUSED = "no session had use for it"


def memory_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """What the relevance of memories is multiplied by; 1 where nothing is known."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: start_factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def session_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the use of sessions; one at 0 is not told of any more. Of sessions much more is used than of memories, and
    each is told to few before newer ones take its place: the rule of moments of need fits."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def is_unused(use: float) -> bool:
    return use <= SILENT


MAX_SESSIONS = 10
_MAX_CANDIDATES = 60
_MAX_FILES = 2
_WORTH_OF_NEWEST, _FADE_OF_SESSIONS = 0.1, 0.92
_WORTH_LEFT_OPEN = 0.02
_HANDOFF_LOOKS_BACK = 5
MAX_OPEN_SESSIONS = 3
"""What a session left open is told until so many sessions after it have changed files: by then one comes back to few of
such steps (docs/context.md)."""
_SAYS_ALL = 1.0
_SAID = "said by a newer one"
_CAME_TO_NOTHING = "came to nothing"
_MAX_TIED = 60


def handoff(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """Where the last session stopped, then what the few before it left open and nobody has done since."""
    found = last_sessions(db, occasion, _HANDOFF_LOOKS_BACK)
    if are_all_elsewhere(found, occasion):
        return []  # what is open on another branch is not to be gone on with here
    still_open = open_handoffs(db, occasion)
    gone = without_code(db, occasion, [*(one.id for one in found), *(left.session for left in still_open)])
    there = held(db, occasion, setting, [one for one in found if one.id not in gone])
    # A session that only asked something leaves standing what the one before it left to do.
    leaving = [one for one in there if _leaves_something(one)]
    here = [one for one in leaving if one.session.branch == occasion.place.branch]
    last = next(iter((*here, *leaving, *there)), None)
    rank = next((place for place, one in enumerate(found, 1) if last and one.id == last.session.id), 0)
    stopped = _stopped(occasion, last, rank, len(found)) if last else []
    told = [last.left] if last and last.left else []
    return stopped + _still_open(occasion, [left for left in still_open if left not in told], told, gone)


def _stopped(occasion: Occasion, last: Held, rank: int, number: int) -> list[Item]:
    session = last.session
    age = render.when(session.last_event_at, occasion.now, occasion.dated)
    lines = render.handoff_lines(session, last.left, occasion.place.branch, age)
    why = "none left anything"
    if _leaves_something(last):
        is_here = session.branch == occasion.place.branch
        why = "the first of this branch that left something" if is_here else "the first that left something"
    return [
        Item(
            line.text,
            session.id,
            "where work stopped",
            tells=tuple(filter(None, (last.decided.get(line.decision),))),
            says=line.says,
            worth=line.worth * FADE ** (place - 1),
            order=newest_first(rank, number, session.last_event_at, why, f"line {place} of {len(lines)}", NO_FLOOR),
        )
        for place, line in enumerate(lines, 1)
    ]


def open_handoffs(db: sqlite3.Connection, occasion: Occasion) -> list[Memory]:
    """What the last few of other sessions left open here and nobody has taken up since, the newest first."""
    found = memories.left_open(
        db,
        occasion.place.project,
        since=occasion.since,
        without_session=occasion.session,
        hidden=occasion.checkout.hidden,
    )
    if not found:
        return []
    at_work = [one for one in last_sessions(db, occasion, _MAX_CANDIDATES) if one.summary.files_edited]
    # What the user stated or pinned is told in a layer of its own.
    return [left for left in found if not is_stated(left) and _told_since(left, at_work) < MAX_OPEN_SESSIONS]


def _told_since(left: Memory, sessions_at_work: Sequence[Session]) -> int:
    """Return how many sessions have changed files since what was left open."""
    return sum(one.last_event_at > left.last_seen_at and one.id != left.session for one in sessions_at_work)


def _still_open(
    occasion: Occasion, others: Sequence[Memory], told: Sequence[Memory], gone: Collection[str]
) -> list[Item]:
    """A line for each thing left open; of two that say the same the newer is told."""
    said = [Said(left.summary) for left in told]
    items = []
    for rank, left in enumerate(others, 1):
        words = Said(left.summary)
        repeated = max((words.shared_with(newer) for newer in said), default=0)
        is_said = repeated >= _SAYS_ALL * len(words) > 0
        said.append(words)
        items.append(
            Item(
                f"- [{render.when(left.last_seen_at, occasion.now, occasion.dated)}] {render.earlier_open_line(left)}",
                left.session,
                "left open earlier, and not taken up since",
                left_out=GONE if left.session in gone else _SAID if is_said else "",
                memory=left.id,
                worth=_WORTH_LEFT_OPEN * FADE ** (rank - 1),
                order=newest_first(rank, len(others), left.last_seen_at, _repeated(repeated, len(words)), NO_FLOOR),
            )
        )
    return items


def _repeated(shared: int, words: int) -> str:
    """Return the share of a text that the newer one nearest to it says too."""
    words = max(words, 1)
    return f"repeated {shown(shared / words)} = {shared} / {words} (words of a newer one); out at {shown(_SAYS_ALL)}"


def session_index(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:  # noqa: ARG001
    """One headline for each of the last sessions."""
    return _headlines(db, occasion, MAX_SESSIONS, tuple)


def sessions_by_value(db: sqlite3.Connection, occasion: Occasion, setting: Setting) -> list[Item]:
    """Headlines of past sessions with the files that tell most of the coming work; the newest are worth most."""
    return _headlines(db, occasion, _MAX_CANDIDATES, lambda files: setting.forecast.telling(files, _MAX_FILES))


def _headlines(
    db: sqlite3.Connection, occasion: Occasion, limit: int, named: Callable[[Sequence[str]], Sequence[str]]
) -> list[Item]:
    """Return a line for each of the last sessions, with those of its files that are to be named."""
    found = last_sessions(db, occasion, limit)
    tagged = are_all_elsewhere(found, occasion)
    # Only of the newest: to look at the code of all of them takes longer than all the rest.
    gone = without_code(db, occasion, [one.id for one in found[:MAX_SESSIONS]])
    use = session_factors(db, [one.id for one in found])
    headlines = told_as([one.summary for one in found])
    items = []
    for rank, (one, headline) in enumerate(zip(found, headlines, strict=True), 1):
        files = tuple(from_root(one.summary.files_edited, occasion.place.root))
        branch = one.branch if tagged else ""
        is_nothing = headline.is_only_asked and rank > 1 and not files
        why_not = _CAME_TO_NOTHING if is_nothing else "" if headline.text else _SAID
        left_out = UNUSED if is_unused(use[one.id]) else why_not
        told = replace(one, summary=replace(one.summary, headline=headline.text or one.summary.headline))
        shown_files = () if headline.names_files else named(files)
        items.append(
            Item(
                render.session_line(
                    told, occasion.now, occasion.dated, branch=branch, is_gone=one.id in gone, files=shown_files
                ),
                one.id,
                f"session {rank} by recency",
                left_out=left_out,
                says=headline.text,
                files=files,
                worth=_WORTH_OF_NEWEST * _FADE_OF_SESSIONS ** (rank - 1),
                order=newest_first(rank, len(found), one.last_event_at, use_floor(use[one.id])),
            )
        )
    return items


def last_sessions(db: sqlite3.Connection, occasion: Occasion, limit: int) -> list[Session]:
    """The newest sessions of the project that have something to tell, without the one that asks.

    Those whose work is in this checkout; when there is none, those on other branches, so that something is known."""
    hidden = occasion.checkout.hidden
    for left_out in (hidden, ()) if hidden else ((),):
        found = sessions.newest(
            db,
            project=occasion.place.project,
            since=occasion.since,
            without=occasion.session,
            with_headline=True,
            hidden=left_out,
            limit=limit,
        )
        if found:
            return found
    return []


def are_all_elsewhere(found: list[Session], occasion: Occasion) -> bool:
    """Whether sessions are of other branches, for want of any whose work is here."""
    hidden = occasion.checkout.hidden
    return bool(found) and all(is_hidden(one.branch, one.last_event_at, hidden) for one in found)


def without_code(db: sqlite3.Connection, occasion: Occasion, found: Sequence[str]) -> set[str]:
    """Those of the sessions that changed code of which nothing is here: reverted, deleted, or never brought here."""
    tied = memories.anchored_to_code(db, list(dict.fromkeys(found)), _MAX_TIED)
    verdicts = occasion.checkout.freshness(tied)
    left = {memory.session for memory in tied if verdict_of(memory, verdicts) != "gone"}
    return {memory.session for memory in tied} - left


def _leaves_something(one: Held) -> bool:
    told = one.session.summary
    return bool(one.left or told.next_steps or told.key_decisions or told.completed or told.learned)
