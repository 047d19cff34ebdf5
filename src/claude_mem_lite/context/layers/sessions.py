"""Past sessions of a project: the newest, open handoffs, their use to later sessions, and the layers of headlines.

Headlines state outcomes rather than requests, and no two have the same words."""

import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from claude_mem_lite.compress.prose.markdown import sentences
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import verdict_of
from claude_mem_lite.context.layers.layer import Item
from claude_mem_lite.context.order import GONE, UNMERGED, newest_first, use_floor
from claude_mem_lite.context.project_setting import Setting, from_root
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.scoring import NEUTRAL, SILENT, factor, is_stated, start_factor
from claude_mem_lite.models import REQUEST_LEAD, Memory, Session, SessionSummary, is_request
from claude_mem_lite.store import memories, receipts, sessions
from claude_mem_lite.store.branches import is_hidden

MAX_SESSIONS = 10
MAX_CANDIDATES = 60
MAX_OPEN_SESSIONS = 3
"""Sessions with edits after which a handoff is no longer shown: later sessions rarely return to its steps
(docs/context.md)."""
UNUSED = "no session had use for it"
REPEATED = "said by a newer one"
_MAX_ANCHORED = 60


def last_sessions(db: sqlite3.Connection, request: ContextRequest, limit: int) -> list[Session]:
    """Return the newest sessions of the project with a headline, except the session of the request.

    Sessions of branches outside of the checkout are returned only without any others."""
    hidden = request.checkout.hidden
    for excluded in (hidden, ()) if hidden else ((),):
        newest = sessions.newest(
            db,
            project=request.location.project,
            since=request.since,
            without=request.session,
            with_headline=True,
            hidden=excluded,
            limit=limit,
        )
        if newest:
            return newest
    return []


def are_all_elsewhere(past: Sequence[Session], request: ContextRequest) -> bool:
    """Return whether all sessions are of branches outside of the checkout."""
    hidden = request.checkout.hidden
    return bool(past) and all(is_hidden(session.branch, session.last_event_at, hidden) for session in past)


def without_code(db: sqlite3.Connection, request: ContextRequest, ids: Sequence[str]) -> set[str]:
    """Return the sessions with all changed code missing in the checkout: reverted, deleted or never merged."""
    by_session: dict[str, list[Memory]] = {}
    for memory in memories.anchored_to_code(db, list(dict.fromkeys(ids)), _MAX_ANCHORED):
        by_session.setdefault(memory.session, []).append(memory)
    # In turn: the first memory shows of most sessions that code of theirs is present.
    gone = by_session.keys() - _present(request, [made[0] for made in by_session.values()])
    return gone - _present(request, [memory for session in sorted(gone) for memory in by_session[session][1:]])


def not_here(db: sqlite3.Connection, request: ContextRequest, ids: Collection[str]) -> dict[str, str]:
    """Return the sessions whose raw text does not hold in this checkout, each with the reason."""
    excluded = dict.fromkeys(without_code(db, request, list(ids)), GONE)
    for session in filter(None, (sessions.find(db, id_) for id_ in ids)):
        if request.is_unmerged(session.branch, session.last_event_at):
            excluded[session.id] = UNMERGED
    return excluded


def _present(request: ContextRequest, anchored: Sequence[Memory]) -> set[str]:
    """Return the sessions of memories with code that is not gone."""
    verdicts = request.checkout.freshness(anchored) if anchored else {}
    return {memory.session for memory in anchored if verdict_of(memory, verdicts) != "gone"}


def open_handoffs(db: sqlite3.Connection, request: ContextRequest) -> list[Memory]:
    """Return the open handoffs of other sessions, newest first."""
    handoffs = memories.left_open(
        db,
        request.location.project,
        since=request.since,
        without_session=request.session,
        hidden=request.checkout.hidden,
    )
    if not handoffs:
        return []
    editing = editing_sessions(db, request)
    # Memories that the user stated or pinned appear in another layer.
    return [handoff for handoff in handoffs if not is_stated(handoff) and not is_outlived(handoff, editing)]


def editing_sessions(db: sqlite3.Connection, request: ContextRequest) -> list[Session]:
    """Return the newest sessions that changed files, except the session of the request."""
    return [session for session in last_sessions(db, request, MAX_CANDIDATES) if session.summary.files_edited]


def is_outlived(handoff: Memory, editing: Sequence[Session]) -> bool:
    """Return whether so many other sessions changed files after a handoff that its steps are no longer expected."""
    later = sum(session.last_event_at > handoff.last_seen_at and session.id != handoff.session for session in editing)
    return later >= MAX_OPEN_SESSIONS


def memory_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the factors for the relevance of memories, by their outcomes; 1 without outcomes."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: start_factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def session_factors(db: sqlite3.Connection, ids: Sequence[str]) -> dict[str, float]:
    """Return the use of sessions by their outcomes; a session with 0 is not shown any more.

    Uses the faster curve of prompts and failures: sessions are used more often than memories, and each is shown only
    a few times until newer sessions replace it."""
    tallies = receipts.tallies_since_last_seen(db, ids, at_need=False)
    return {id_: factor(tallies[id_]) if id_ in tallies else NEUTRAL for id_ in ids}


def is_unused(use: float) -> bool:
    return use <= SILENT


_MAX_FILES = 2
_OWN_LINES = 5
"""Sessions with a line each; a reader has use for 5 % of the older sessions (docs/context.md)."""
_WORTH_OF_NEWEST, _FADE_OF_SESSIONS = 0.1, 0.92
_CAME_TO_NOTHING = "came to nothing"
_WORD = re.compile(r"\w+")


class Headline(NamedTuple):
    """Headline of a session; '' if newer sessions have all its possible headlines."""

    text: str
    names_files: bool = False
    is_stated: bool = False
    """True for the headline of the summary; other headlines are made from its sentences and files."""

    @property
    def is_only_asked(self) -> bool:
        """True if the headline states no outcome."""
        return is_request(self.text)


def session_index(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:  # noqa: ARG001
    """Return a headline for each of the last sessions."""
    return _items(db, request, MAX_SESSIONS, tuple)


def sessions_by_value(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return headlines of past sessions with the files that the next session will most probably touch."""
    choose_files = partial(setting.forecast.most_expected, limit=_MAX_FILES)
    return _items(db, request, MAX_CANDIDATES, choose_files, own_lines=_OWN_LINES)


def _items(
    db: sqlite3.Connection,
    request: ContextRequest,
    limit: int,
    choose_files: Callable[[Sequence[str]], Sequence[str]],
    own_lines: int = MAX_CANDIDATES,
) -> list[Item]:
    """Return a line for each of the last sessions, with the chosen files.

    The newest session and the newest `own_lines` sessions that state an outcome have a line each, others a fragment."""
    is_short_allowed = own_lines < limit
    past = last_sessions(db, request, limit)
    is_elsewhere = are_all_elsewhere(past, request)
    # Only for the newest: a check of all their code takes longer than the rest of the layer.
    gone = without_code(db, request, [session.id for session in past[:MAX_SESSIONS]])
    uses = session_factors(db, [session.id for session in past])
    items = []
    headlines = headlines_of([session.summary for session in past])
    for rank, (session, headline) in enumerate(zip(past, headlines, strict=True), 1):
        files, use = tuple(from_root(session.summary.files_edited, request.location.root)), uses[session.id]
        left_out = UNUSED if is_unused(use) else _why_left_out(headline, files, rank)
        is_short = is_short_allowed and rank > 1 and (own_lines == 0 or rank > MAX_SESSIONS or not headline.is_stated)
        own_lines -= not (is_short or left_out)
        age = "" if is_short else render.when(session.last_event_at, request.now, request.dated)
        branch = session.branch if is_elsewhere else ""
        shown_files = () if headline.names_files else choose_files(files)
        items.append(
            Item(
                _line(session, headline, age, branch, shown_files, is_gone=session.id in gone),
                session.id,
                f"session {rank} by recency",
                left_out=left_out,
                wording="" if headline.names_files else headline.text,  # lists of files look alike, and differ
                is_short=is_short,
                files=files,
                worth=_WORTH_OF_NEWEST * _FADE_OF_SESSIONS ** (rank - 1),
                order=newest_first(rank, len(past), session.last_event_at, use_floor(use)),
            )
        )
    return items


def _why_left_out(headline: Headline, files: Sequence[str], rank: int) -> str:
    if headline.is_only_asked and rank > 1 and not files:
        return _CAME_TO_NOTHING
    return "" if headline.text else REPEATED


def _line(session: Session, headline: Headline, age: str, branch: str, files: Sequence[str], *, is_gone: bool) -> str:
    """Return the line of a session, or a fragment if `age` is empty."""
    text = headline.text or session.summary.headline
    if not age:
        return render.session_fragment(text, branch=branch, is_gone=is_gone, files=files)
    return render.session_line(text, age, branch=branch, is_gone=is_gone, files=files)


def headlines_of(summaries: Sequence[SessionSummary]) -> list[Headline]:
    """Return a headline for each session, newest first, no two with the same words."""
    counts = Counter(file for summary in summaries for file in {*summary.files_edited, *summary.files_read})
    used: set[tuple[str, ...]] = set()
    headlines = []
    for summary in summaries:
        unused = (
            headline for headline in _candidates(summary, counts) if headline.text and _words(headline) not in used
        )
        chosen = next(unused, Headline(""))
        used.add(_words(chosen))
        headlines.append(chosen)
    return headlines


def _candidates(summary: SessionSummary, counts: Counter[str]) -> Iterator[Headline]:
    """Yield possible headlines, best first; `counts` has the number of sessions that changed or read each file."""
    stated = Headline(summary.headline, is_stated=True)
    yield from () if stated.is_only_asked else (stated,)
    from claude_mem_lite.compress.compose.headline import of_report  # late: few sessions have no headline

    yield from map(Headline, filter(None, map(of_report, sentences(summary.completed))))
    verb, files = ("Changed", summary.files_edited) if summary.files_edited else ("Read", summary.files_read)
    rarest_first = sorted(dict.fromkeys(files), key=lambda file: counts[file])
    yield Headline(render.session_by_files(verb, rarest_first), names_files=True)
    yield stated._replace(is_stated=False)


def _words(headline: Headline) -> tuple[str, ...]:
    return tuple(_WORD.findall(headline.text.removeprefix(REQUEST_LEAD).lower()))
