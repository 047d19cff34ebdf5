"""Handoff layer: the state in which the last session stopped, then the handoffs of earlier sessions."""

import re
import sqlite3
from collections.abc import Collection, Sequence
from typing import NamedTuple

from claude_mem_lite.authors import team_factor
from claude_mem_lite.compress.rules.session_handoff import FAILING, OPEN
from claude_mem_lite.context import render
from claude_mem_lite.context.layers.code_state import without_worth
from claude_mem_lite.context.layers.layer import FADE, Item
from claude_mem_lite.context.layers.sessions import (
    REPEATED,
    are_all_elsewhere,
    last_sessions,
    open_handoffs,
    without_code,
)
from claude_mem_lite.context.layers.still_valid import ValidSession, valid_sessions
from claude_mem_lite.context.order import GONE, NO_FLOOR, format_number, newest_first
from claude_mem_lite.context.project_setting import Setting, from_root
from claude_mem_lite.context.request import ContextRequest
from claude_mem_lite.context.similarity import StemmedText
from claude_mem_lite.models import Memory, Session

_MAX_SESSIONS = 5
_MAX_OPEN_LENGTH = 240
"""A longer line of open work would not be worth its tokens, and would be left out."""
_WORTH_OPEN, _WORTH_DECIDED, _WORTH_OF_REST = 0.09, 0.045, 0.022
_WORTH_OF_EARLIER = 0.02
_SAME_SHARE = 1.0
# "Decided: Decided to keep …": the text has its own label.
_LABELLED = re.compile(r"^Decided: (?=Decided )")


class HandoffLine(NamedTuple):
    """Line of a handoff with the share of the coming work that the line helps with."""

    text: str
    worth: float
    decision: str = ""
    """Decision that the line reports."""
    wording: str = ""
    """Words of the line if a line with mostly the same words replaces it."""


def handoff_items(db: sqlite3.Connection, request: ContextRequest, setting: Setting) -> list[Item]:
    """Return the state in which the last session stopped, then the open handoffs of earlier sessions."""
    past = last_sessions(db, request, _MAX_SESSIONS)
    if are_all_elsewhere(past, request):
        return []  # open work of another branch does not continue here
    still_open = open_handoffs(db, request)
    ids = [*(session.id for session in past), *(handoff.session for handoff in still_open if handoff.session)]
    gone = without_code(db, request, ids)
    present = valid_sessions(db, request, setting, [session for session in past if session.id not in gone])
    # A session that only asked a question does not end the open work of the session before.
    leaving = [valid for valid in present if _leaves_something(valid)]
    here = [valid for valid in leaving if valid.session.branch == request.location.branch]
    last = next(iter((*here, *leaving, *present)), None)
    rank = next((place for place, session in enumerate(past, 1) if last and session.id == last.session.id), 0)
    stopped = _stopped(request, last, rank, len(past)) if last else []
    shown = [last.handoff] if last and last.handoff else []
    worthless = without_worth(db, still_open, request, setting)
    earlier = [handoff for handoff in still_open if handoff not in shown]
    return stopped + _earlier(request, earlier, shown, gone, worthless)


def _leaves_something(valid: ValidSession) -> bool:
    summary = valid.session.summary
    return bool(valid.handoff or summary.next_steps or summary.key_decisions or summary.completed or summary.learned)


def _stopped(request: ContextRequest, last: ValidSession, rank: int, number: int) -> list[Item]:
    session = last.session
    age = render.when(session.last_event_at, request.now, request.dated)
    lines = handoff_lines(session, last.handoff, request.location.branch, age)
    why = "none left anything"
    if _leaves_something(last):
        is_here = session.branch == request.location.branch
        why = "the first of this branch that left something" if is_here else "the first that left something"
    return [
        Item(
            line.text,
            session.id,
            "where work stopped",
            covers=tuple(filter(None, (last.decided.get(line.decision),))),
            wording=line.wording,
            worth=line.worth * FADE ** (place - 1),
            order=newest_first(rank, number, session.last_event_at, why, f"line {place} of {len(lines)}", NO_FLOOR),
        )
        for place, line in enumerate(lines, 1)
    ]


def handoff_lines(session: Session, handoff: Memory | None, branch: str, age: str) -> list[HandoffLine]:
    """Return the lines about a session that stopped, most important first: open work, decisions, the rest.

    If the session was on another branch, every line names the branch, since each may be the only line shown."""
    summary = session.summary
    if handoff:
        # The agent knows the branch of the checkout, and every line of a session of another branch names it.
        facts = [fact for fact in handoff.facts if not (branch and fact.startswith("Branch: "))]
        open_work = [open_line(handoff), *map(render.safe_line, facts)]
    else:
        steps = (render.safe_line(step, _MAX_OPEN_LENGTH) for step in summary.next_steps)
        open_work = [render.labelled_once(f"Next: {step}") for step in steps]
    lines = [HandoffLine(text, _WORTH_OPEN) for text in open_work]
    for decision in summary.key_decisions:
        lines.append(HandoffLine(_LABELLED.sub("", f"Decided: {render.safe_line(decision)}"), _WORTH_DECIDED, decision))
    rest = (("Learned", summary.learned), ("Done", summary.completed), ("Asked", summary.request))
    safe = ((label, render.safe_line(text)) for label, text in rest if text)
    lines += [HandoffLine(f"{label}: {text}", _WORTH_OF_REST, wording=text) for label, text in safe]
    where = f"{age}{render.branch_note(session.branch)}" if branch and session.branch not in ("", branch) else age
    return [line._replace(text=f"- [{where}] {line.text}") for line in lines if not render.gives_orders(line.text)]


def open_line(handoff: Memory) -> str:
    """Return the summary of a handoff with the id; a command that failed then may pass now."""
    summary = handoff.summary.replace(FAILING, "Was failing when it stopped: ")
    return f"{render.labelled_once(render.safe_line(summary, _MAX_OPEN_LENGTH))} #{handoff.id}"


def _earlier(
    request: ContextRequest,
    handoffs: Sequence[Memory],
    shown: Sequence[Memory],
    gone: Collection[str],
    worthless: Collection[str],
) -> list[Item]:
    """Return a line for each earlier handoff; a handoff that repeats a newer handoff is left out."""
    newer = [StemmedText(handoff.summary) for handoff in shown]
    items = []
    for rank, handoff in enumerate(handoffs, 1):
        text = StemmedText(handoff.summary)
        shared = max((text.shared_with(other) for other in newer), default=0)
        is_repeated = shared >= _SAME_SHARE * len(text) > 0
        newer.append(text)
        age = render.when(handoff.last_seen_at, request.now, request.dated)
        source = f"{render.origin_label(handoff)} " if handoff.origin == "team" else ""
        worth = _WORTH_OF_EARLIER * team_factor(handoff.origin) * FADE ** (rank - 1)
        items.append(
            Item(
                f"- [{source}{age}] Left open earlier: {open_line(handoff).removeprefix(OPEN)}",
                handoff.session or handoff.id,
                "left open earlier, and not taken up since",
                left_out=GONE if handoff.session in gone else REPEATED if is_repeated else "",
                memory=handoff.id,
                files=tuple(from_root(handoff.files, request.location.root)) if handoff.origin == "team" else (),
                is_received=handoff.origin == "team",
                worth=0.0 if handoff.id in worthless else worth,
                order=newest_first(rank, len(handoffs), handoff.last_seen_at, _repeated(shared, len(text)), NO_FLOOR),
            )
        )
    return items


def _repeated(shared: int, words: int) -> str:
    """Return the share of a text that the most similar newer text repeats."""
    words = max(words, 1)
    share = format_number(shared / words)
    return f"repeated {share} = {shared} / {words} (words of a newer one); out at {format_number(_SAME_SHARE)}"
