"""Pages of one session and of one turn."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from claude_mem_lite.client.base import quoted
from claude_mem_lite.client.queries import Where
from claude_mem_lite.errors import NotFound
from claude_mem_lite.models import SessionSummary
from claude_mem_lite.responses.analytics import ShownReceipt
from claude_mem_lite.responses.records import SessionRecord, TimelineItem, TurnRecord
from claude_mem_lite.ui import templating
from claude_mem_lite.ui.repeated_text import beyond, title_and_more
from claude_mem_lite.ui.templating import Asked, View, render, shortened
from claude_mem_lite.values import frozen

_TURNS_AT_ONCE = 50
_ITEMS_AT_ONCE = 200
_MAX_RECEIPTS = 50
_PROSE = {"request": "Asked for", "investigated": "Looked into", "learned": "Learned", "completed": "Done"}
_LISTS = {
    "key_decisions": "Decided",
    "next_steps": "Next steps",
    "files_edited": "Files changed",
    "files_read": "Files read",
}
_MOMENTS = {
    "startup": "When it started",
    "resume": "When it was resumed",
    "clear": "After it was cleared",
    "compact": "After it was compacted",
    "fork": "When it was forked",
    "prompt": "With a prompt",
    "failure": "After a failed command",
    "file": "When a file was opened",
    "asked": "When the agent asked",
}


@dataclass(slots=True)
class _Turn:
    """Turn, if it is stored, with the memories after it."""

    said: View | None
    memories: list[View] = field(default_factory=list)

    @property
    def items(self) -> int:
        return len(self.memories) + (self.said is not None)


@frozen
class _Timeline:
    """Part of the turns of a session, and the address of the next part."""

    turns: Sequence[_Turn]
    next: str
    is_rest: bool
    """The part is not the first one."""


@frozen
class _Given:
    """Context that the session was given."""

    receipt: ShownReceipt
    when: str
    used: int
    is_judged: bool


def session(asked: Asked) -> str:
    """Return the page, or the next turns of its timeline."""
    record = asked.client.record(asked.path["id"])
    if not isinstance(record, SessionRecord):
        raise NotFound(f"{asked.path['id']} is not a session", "the feed leads to sessions")
    timeline = _timeline(asked, record.session)
    if asked.chosen("only") == "turns":
        return render("session_turns.html", timeline=timeline)
    receipts = asked.client.receipts(Where(""), session=record.session, limit=_MAX_RECEIPTS)
    given = [_given(receipt) for receipt in receipts]
    return render(
        "session.html",
        timeline=timeline,
        session=record,
        id=record.session,
        project=templating.find(asked.client, record.project),
        title=record.title or "A session without a headline",
        prose=_prose(record.summary),
        lists=_lists(record.summary),
        given=given[::-1],
        items=sum(len(context.receipt.items) for context in given),
        used=sum(context.used for context in given),
    )


def turn(asked: Asked) -> str:
    """Return prompt and answer of one turn, in full on request."""
    record = asked.client.record(asked.path["id"])
    if not isinstance(record, TurnRecord):
        raise NotFound(f"{asked.path['id']} is not a turn", "the page of a session leads to its turns")
    is_all = bool(asked.chosen("all"))
    question, answer = (shortened(whole, is_all=is_all) for whole in (record.asked, record.answered))
    return render("turn.html", turn=record, question=question, answer=answer)


def _timeline(asked: Asked, id_: str) -> _Timeline:
    """Return turns from the requested item on, and the address of the next ones."""
    begin = asked.chosen("from")
    start = int(begin) if begin.isascii() and begin.isdigit() and len(begin) < 9 else 0
    items = asked.client.timeline_of_session(id_, skip=start, limit=_ITEMS_AT_ONCE)
    turns = _turns(items)
    # The last turn may be incomplete: it is shown with the next ones, unless it is the only turn.
    whole = turns if len(items) < _ITEMS_AT_ONCE or len(turns) == 1 else turns[:-1]
    shown = whole[:_TURNS_AT_ONCE]
    end = start + sum(turn.items for turn in shown)
    has_more = end < start + len(items) or len(items) == _ITEMS_AT_ONCE
    following = f"/sessions/{quoted(id_)}?from={end}&only=turns" if has_more else ""
    return _Timeline(shown, following, is_rest=start > 0)


def _turns(items: Sequence[TimelineItem]) -> list[_Turn]:
    """Return turns with their memories: a memory has the time of its turn, and stands behind it."""
    found: list[_Turn] = []
    for item in items:
        if item.kind == "turn":
            found.append(_Turn(View(item, more=beyond(item.title, item.summary))))
            continue
        if not found:
            found.append(_Turn(None))
        title, more = title_and_more(item, has_prompt=found[-1].said is not None)
        found[-1].memories.append(View(item, title=title, more=more))
    return found


def _prose(summary: SessionSummary) -> dict[str, str]:
    """Return the prose of a summary by headings, without empty parts."""
    return {heading: prose for name, heading in _PROSE.items() if (prose := getattr(summary, name).strip())}


def _lists(summary: SessionSummary) -> dict[str, tuple[str, ...]]:
    """Return the lists of a summary by headings, and the notes."""
    found = {heading: items for name, heading in _LISTS.items() if (items := getattr(summary, name))}
    notes = tuple(line.strip() for line in summary.notes.splitlines() if line.strip())
    return {**found, "Notes": notes} if notes else found


def _given(receipt: ShownReceipt) -> _Given:
    outcomes = [item.outcome for item in receipt.items]
    return _Given(
        receipt,
        _MOMENTS.get(receipt.moment, f"At {receipt.moment}"),
        used=outcomes.count("used"),
        is_judged=any(outcomes),
    )
